# SPDX-License-Identifier: Apache-2.0
"""Shapes that ops say themselves: of weights, from the data; of results that cannot be tried out.

Unknown extents are -1, unknown shapes ``None``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from .._shapes import Shape, as_integers

Attributes = dict[str, Any]
Shapes = dict[str, Shape | None]
Complete = Callable[[Attributes, Shapes], Shapes]
Result = Callable[[Attributes, list[Shape]], list[Shape]]


def _size(extents: Shape) -> int:
    return -1 if -1 in extents else prod(extents)


# --- inputs completed from the others ---


def _filter(given: Attributes, known: Shapes, transposed: bool) -> Shapes:
    filters, groups = given["num_filter"], given.get("num_group", 1)
    kernel = as_integers(given["kernel"], "kernel")
    data = known["data"]
    last = str(given.get("layout") or "").endswith("C")
    channels = -1 if not data else data[-1 if last else 1]
    if transposed:
        weight: Shape = (channels, filters // groups, *kernel)
    else:
        inner = channels // groups if channels > 0 else -1
        weight = (filters, *kernel, inner) if last else (filters, inner, *kernel)
    return {"weight": weight, "bias": (filters,)}


def convolution(given: Attributes, known: Shapes) -> Shapes:
    """Weight and bias of Convolution."""
    return _filter(given, known, False)


def deconvolution(given: Attributes, known: Shapes) -> Shapes:
    """Weight and bias of Deconvolution."""
    return _filter(given, known, True)


_GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


def recurrent(given: Attributes, known: Shapes) -> Shapes:
    """All parameters of RNN in one vector, and the states."""
    data = known["data"]
    if not data or -1 in data:
        return {}
    units, layers = given["state_size"], given["num_layers"]
    directions = 2 if given.get("bidirectional") else 1
    gates = _GATES[given["mode"]]
    size = 0
    for layer in range(layers):
        width = data[2] if layer == 0 else units * directions
        size += directions * gates * units * (width + units + 2)
    state = (layers * directions, data[1], units)
    return {"parameters": (size,), "state": state, "state_cell": state}


def alike(given: Attributes, known: Shapes) -> Shapes:
    """Every input as the one that is known: ops on elements."""
    shapes = [shape for shape in known.values() if shape is not None]
    return dict.fromkeys(known, shapes[0]) if shapes else {}


# --- results ---


def dense_result(given: Attributes, shapes: list[Shape]) -> list[Shape]:
    """FullyConnected."""
    data, units = shapes[0], given["num_hidden"]
    return [(data[0], units) if given.get("flatten", True) else (*data[:-1], units)]


def _tuple(given: Attributes, name: str, rank: int, default: int) -> Shape:
    value = as_integers(given.get(name) or (), name)
    return value if len(value) == rank else (default,) * rank


def convolution_result(given: Attributes, shapes: list[Shape]) -> list[Shape]:
    """Convolution, channels first or last."""
    data = shapes[0]
    kernel = as_integers(given["kernel"], "kernel")
    rank = len(kernel)
    stride, dilate = _tuple(given, "stride", rank, 1), _tuple(given, "dilate", rank, 1)
    pad = _tuple(given, "pad", rank, 0)
    last = str(given.get("layout") or "").endswith("C")
    space = data[1:-1] if last else data[2:]
    if len(space) != rank:
        raise ValueError(f"data of shape {data} does not fit the kernel {kernel}")
    extents = tuple(
        (extent + 2 * pad[i] - dilate[i] * (kernel[i] - 1) - 1) // stride[i] + 1
        for i, extent in enumerate(space)
    )
    if min(extents, default=1) < 1:
        raise ValueError(f"the kernel {kernel} exceeds data of shape {data}")
    filters = given["num_filter"]
    return [(data[0], *extents, filters) if last else (data[0], filters, *extents)]


def deconvolution_result(given: Attributes, shapes: list[Shape]) -> list[Shape]:
    """Deconvolution."""
    data = shapes[0]
    kernel = as_integers(given["kernel"], "kernel")
    rank = len(kernel)
    stride, dilate = _tuple(given, "stride", rank, 1), _tuple(given, "dilate", rank, 1)
    pad, adjust = _tuple(given, "pad", rank, 0), _tuple(given, "adj", rank, 0)
    target = as_integers(given.get("target_shape") or (), "target_shape")
    extents = target or tuple(
        stride[i] * (extent - 1) + dilate[i] * (kernel[i] - 1) + 1 - 2 * pad[i] + adjust[i]
        for i, extent in enumerate(data[2:])
    )
    return [(data[0], given["num_filter"], *extents)]


def pooling_result(given: Attributes, shapes: list[Shape]) -> list[Shape]:
    """Pooling, channels first or last."""
    data = shapes[0]
    last = str(given.get("layout") or "").endswith("C")
    space = data[1:-1] if last else data[2:]
    rank = len(space)
    if given.get("global_pool"):
        extents: Shape = (1,) * rank
    else:
        kernel = _tuple(given, "kernel", rank, 1)
        stride, pad = _tuple(given, "stride", rank, 1), _tuple(given, "pad", rank, 0)
        full = given.get("pooling_convention", "valid") == "full"
        extents = tuple(
            (extent + 2 * pad[i] - kernel[i] + (stride[i] - 1 if full else 0)) // stride[i] + 1
            for i, extent in enumerate(space)
        )
    return [(data[0], *extents, data[-1]) if last else (*data[:2], *extents)]


def recurrent_result(given: Attributes, shapes: list[Shape]) -> list[Shape]:
    """RNN: the outputs, and the states if they are asked for."""
    data = shapes[0]
    directions = 2 if given.get("bidirectional") else 1
    units = given["state_size"]
    result: list[Shape] = [(data[0], data[1], units * directions)]
    if given.get("state_outputs"):
        state = (given["num_layers"] * directions, data[1], units)
        result += [state] * (2 if given["mode"] == "lstm" else 1)
    return result


def upsampling_result(given: Attributes, shapes: list[Shape]) -> list[Shape]:
    """UpSampling of one input."""
    data, scale = shapes[0], given["scale"]
    return [(*data[:2], *(extent * scale for extent in data[2:]))]


def same_result(given: Attributes, shapes: list[Shape]) -> list[Shape]:
    """As the first input."""
    return shapes[:1]


def drawn_result(given: Attributes, shapes: list[Shape]) -> list[Shape]:
    """Random numbers, which must not be drawn to find the shape."""
    if "size" in given:  # of np
        return [() if given["size"] is None else as_integers(given["size"], "size")]
    return [as_integers(given.get("shape") or (1,), "shape")]

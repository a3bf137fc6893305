# SPDX-License-Identifier: Apache-2.0
"""Convolutions: ``record_convolutions.py`` asks MXNet, the tests ask Afterglow."""

from __future__ import annotations

from typing import Any

import numpy as onp

Case = tuple[str, tuple[int, ...], dict[str, Any]]

_C, _D, _M = "Convolution", "Deconvolution", "contrib.DeformableConvolution"

#: The op, the shape of the data, the parameters.
CASES: dict[str, Case] = {
    "1-D": (_C, (2, 2, 6), {"kernel": (3,), "num_filter": 2}),
    "1-D, all": (
        _C,
        (1, 4, 9),
        {
            "kernel": (2,),
            "num_filter": 4,
            "stride": (2,),
            "dilate": (3,),
            "pad": (1,),
            "num_group": 2,
        },
    ),
    "2-D": (_C, (2, 2, 4, 5), {"kernel": (3, 2), "num_filter": 3}),
    "without bias": (_C, (1, 2, 4, 4), {"kernel": (2, 2), "num_filter": 2, "no_bias": True}),
    "pointwise": (_C, (2, 3, 3, 2), {"kernel": (1, 1), "num_filter": 4}),
    "pointwise, steps": (_C, (1, 3, 5, 4), {"kernel": (1, 1), "num_filter": 2, "stride": (2, 3)}),
    "steps": (_C, (1, 2, 6, 7), {"kernel": (3, 3), "num_filter": 2, "stride": (2, 3)}),
    "pads": (_C, (1, 2, 3, 4), {"kernel": (3, 3), "num_filter": 2, "pad": (1, 2)}),
    "distances": (_C, (1, 1, 6, 7), {"kernel": (2, 3), "num_filter": 2, "dilate": (3, 2)}),
    "all": (
        _C,
        (2, 2, 5, 6),
        {"kernel": (3, 2), "num_filter": 2, "stride": (2, 1), "dilate": (1, 2), "pad": (2, 1)},
    ),
    "groups": (_C, (1, 4, 4, 4), {"kernel": (3, 3), "num_filter": 6, "num_group": 2}),
    "depthwise": (
        _C,
        (2, 3, 4, 5),
        {"kernel": (3, 3), "num_filter": 3, "num_group": 3, "pad": (1, 1)},
    ),
    "depthwise, steps, several": (
        _C,
        (1, 2, 6, 5),
        {"kernel": (3, 3), "num_filter": 4, "num_group": 2, "pad": (1, 1), "stride": (2, 2)},
    ),
    "one place": (_C, (3, 2, 3, 3), {"kernel": (3, 3), "num_filter": 2}),
    "float64": (_C, (1, 2, 4, 4), {"kernel": (3, 3), "num_filter": 2, "pad": (1, 1)}),
    "3-D": (_C, (1, 2, 3, 4, 3), {"kernel": (2, 2, 2), "num_filter": 2}),
    "3-D, all": (
        _C,
        (1, 2, 4, 4, 5),
        {
            "kernel": (2, 3, 2),
            "num_filter": 2,
            "stride": (2, 1, 2),
            "dilate": (1, 1, 2),
            "pad": (1, 1, 0),
        },
    ),
    "transposed, 1-D": (_D, (2, 2, 4), {"kernel": (3,), "num_filter": 2}),
    "transposed, 1-D, steps": (
        _D,
        (1, 2, 4),
        {"kernel": (4,), "num_filter": 2, "stride": (2,), "pad": (1,), "no_bias": False},
    ),
    "transposed": (_D, (2, 2, 3, 2), {"kernel": (2, 3), "num_filter": 3}),
    "transposed, bias": (
        _D,
        (1, 2, 3, 3),
        {"kernel": (3, 3), "num_filter": 2, "no_bias": False, "pad": (1, 1)},
    ),
    "transposed, steps": (
        _D,
        (1, 2, 3, 3),
        {"kernel": (3, 2), "num_filter": 2, "stride": (2, 3), "pad": (1, 0), "adj": (1, 2)},
    ),
    "transposed, to a shape": (
        _D,
        (1, 2, 4, 3),
        {"kernel": (4, 4), "num_filter": 2, "stride": (2, 2), "target_shape": (8, 6)},
    ),
    "transposed, odd shape": (
        _D,
        (1, 2, 4, 3),
        {"kernel": (3, 3), "num_filter": 2, "stride": (2, 2), "target_shape": (8, 6)},
    ),
    "transposed, apart": (
        _D,
        (1, 2, 3, 3),
        {"kernel": (3, 2), "num_filter": 2, "dilate": (2, 3)},
    ),
    "transposed, groups": (_D, (1, 4, 3, 3), {"kernel": (3, 3), "num_filter": 6, "num_group": 2}),
    "transposed, depthwise": (
        _D,
        (2, 3, 3, 3),
        {"kernel": (4, 4), "num_filter": 3, "num_group": 3, "stride": (2, 2), "pad": (1, 1)},
    ),
    "transposed, pointwise": (_D, (2, 3, 2, 2), {"kernel": (1, 1), "num_filter": 2}),
    "transposed, 3-D": (
        _D,
        (1, 2, 2, 3, 2),
        {"kernel": (2, 2, 3), "num_filter": 2, "stride": (2, 1, 1)},
    ),
    "moved": (_M, (2, 2, 4, 5), {"kernel": (3, 2), "num_filter": 2}),
    "moved, all": (
        _M,
        (1, 4, 5, 5),
        {
            "kernel": (2, 2),
            "num_filter": 2,
            "stride": (2, 1),
            "dilate": (1, 2),
            "pad": (1, 1),
            "num_group": 2,
            "num_deformable_group": 2,
            "no_bias": True,
        },
    ),
}

#: Calls that MXNet refuses: the op, the shapes of the inputs, the parameters.
REFUSED: dict[str, tuple[str, list[tuple[int, ...]], dict[str, Any]]] = {
    "kernel beyond the data": (_C, [(1, 1, 2, 2), (1, 1, 3, 3), (1,)], {"kernel": (3, 3)}),
    "weight of other channels": (_C, [(1, 2, 4, 4), (1, 3, 3, 3), (1,)], {"kernel": (3, 3)}),
    "weight of another kernel": (_C, [(1, 2, 4, 4), (1, 2, 2, 3), (1,)], {"kernel": (3, 3)}),
    "bias of other length": (_C, [(1, 2, 4, 4), (1, 2, 3, 3), (2,)], {"kernel": (3, 3)}),
    "bias missing": (_C, [(1, 2, 4, 4), (1, 2, 3, 3)], {"kernel": (3, 3)}),
    "bias too much": (
        _C,
        [(1, 2, 4, 4), (1, 2, 3, 3), (1,)],
        {"kernel": (3, 3), "no_bias": True},
    ),
    "channels and groups": (
        _C,
        [(1, 3, 4, 4), (2, 1, 3, 3), (2,)],
        {"kernel": (3, 3), "num_filter": 2, "num_group": 2},
    ),
    "filters and groups": (
        _C,
        [(1, 4, 4, 4), (3, 2, 3, 3), (3,)],
        {"kernel": (3, 3), "num_filter": 3, "num_group": 2},
    ),
    "data of another rank": (_C, [(1, 2, 4), (1, 2, 3, 3), (1,)], {"kernel": (3, 3)}),
    "no kernel": (_C, [(1, 2, 4, 4), (1, 2, 3, 3), (1,)], {"kernel": ()}),
    "kernel of four axes": (
        _C,
        [(1, 1, 2, 2, 2, 2), (1, 1, 1, 1, 1, 1), (1,)],
        {"kernel": (1, 1, 1, 1)},
    ),
    "no step": (_C, [(1, 2, 4, 4), (1, 2, 3, 3), (1,)], {"kernel": (3, 3), "stride": (0, 1)}),
    "one step": (
        _C,
        [(1, 2, 4, 4), (1, 2, 3, 3), (1,)],
        {"kernel": (3, 3), "stride": (1,)},
    ),
    "no distance": (_C, [(1, 2, 4, 4), (1, 2, 3, 3), (1,)], {"kernel": (3, 3), "dilate": (1, 0)}),
    "no filters": (
        _C,
        [(1, 2, 4, 4), (1, 2, 3, 3), (1,)],
        {"kernel": (3, 3), "num_filter": 0},
    ),
    "layout": (
        _C,
        [(1, 2, 4, 4), (1, 2, 3, 3), (1,)],
        {"kernel": (3, 3), "layout": "CHWN"},
    ),
    "layout of another rank": (
        _C,
        [(1, 2, 4, 4), (1, 2, 3, 3), (1,)],
        {"kernel": (3, 3), "layout": "NCW"},
    ),
    "transposed: weight": (_D, [(1, 2, 4, 4), (1, 2, 3, 3)], {"kernel": (3, 3)}),
    "transposed: groups": (
        _D,
        [(1, 3, 4, 4), (3, 1, 3, 3)],
        {"kernel": (3, 3), "num_filter": 2, "num_group": 2},
    ),
    "transposed: as much as the step": (
        _D,
        [(1, 1, 4, 4), (1, 1, 3, 3)],
        {"kernel": (3, 3), "stride": (2, 2), "adj": (2, 0)},
    ),
    "transposed: larger than it can be": (
        _D,
        [(1, 1, 4, 4), (1, 1, 3, 3)],
        {"kernel": (3, 3), "target_shape": (7, 6)},
    ),
    "transposed: nothing is left": (
        _D,
        [(1, 1, 1, 1), (1, 1, 3, 3)],
        {"kernel": (3, 3), "pad": (2, 2)},
    ),
}


def inputs_of(name: str) -> list[onp.ndarray[Any, Any]]:
    """Return data, weight and, if there is one, the bias of a case: small fractions."""
    op, data, given = CASES[name]
    groups = given.get("num_group", 1)
    first, second = given["num_filter"], data[1] // groups
    if op == _D:
        first, second = data[1], given["num_filter"] // groups
    shapes = [data, (first, second, *given["kernel"])]
    if op == _M:
        shapes.insert(1, _offsets(data, given))
    if not given.get("no_bias", op == _D):
        shapes.append((given["num_filter"],))
    random = onp.random.RandomState(sum(map(ord, name)))
    dtype = "float64" if name == "float64" else "float32"
    return [(random.randint(-8, 9, shape) / 4).astype(dtype) for shape in shapes]


def _offsets(data: tuple[int, ...], given: dict[str, Any]) -> tuple[int, ...]:
    """Return the shape of an array that moves windows."""
    rows, columns = given["kernel"]
    places = [
        (
            data[2 + i]
            + 2 * given.get("pad", (0, 0))[i]
            - given.get("dilate", (1, 1))[i] * (size - 1)
            - 1
        )
        // given.get("stride", (1, 1))[i]
        + 1
        for i, size in enumerate(given["kernel"])
    ]
    return (data[0], 2 * rows * columns * given.get("num_deformable_group", 1), *places)


def function_of(mx: Any, name: str) -> Any:
    """Return the function of a case."""
    space = mx.nd
    for part in CASES[name][0].split("."):
        space = getattr(space, part)
    return space


def head_of(shape: tuple[int, ...], dtype: Any) -> onp.ndarray[Any, Any]:
    """Return the gradient that comes back to a result of this shape."""
    random = onp.random.RandomState(len(shape))
    return (random.randint(-8, 9, shape) / 4).astype(dtype)


def answers(mx: Any, name: str) -> dict[str, onp.ndarray[Any, Any]]:
    """Return the result of a case, and the gradients of its inputs."""
    arrays = [mx.nd.array(one, dtype=one.dtype) for one in inputs_of(name)]
    for array in arrays:
        array.attach_grad()
    with mx.autograd.record():
        result = function_of(mx, name)(*arrays, **CASES[name][2])
    result.backward(mx.nd.array(head_of(result.shape, result.dtype), dtype=result.dtype))
    names = ["data", "weight", "bias"]
    if CASES[name][0] == _M:
        names.insert(1, "offset")
    gradients = zip(names, arrays, strict=False)
    return {"result": result.asnumpy(), **{key: one.grad.asnumpy() for key, one in gradients}}

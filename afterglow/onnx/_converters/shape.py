# SPDX-License-Identifier: Apache-2.0
"""Shapes, and parts of arrays."""

from __future__ import annotations

from typing import Any

import numpy as onp

from .._graph import Call
from .elementwise import function
from .registry import Function, convert_each, converts


def _blocks(target: str) -> Function:
    return lambda call: call.add(target, call.inputs[0], blocksize=int(call.get("block_size")))


convert_each(
    {
        "Flatten": lambda call: call.add("Flatten", call.inputs[0], axis=1),
        "reshape_like": lambda call: call.add(
            "Reshape", call.inputs[0], call.add("Shape", call.inputs[1])
        ),
        "broadcast_like": lambda call: call.add(
            "Expand", call.inputs[0], call.add("Shape", call.inputs[1])
        ),
        "expand_dims": lambda call: call.add(
            "Unsqueeze", call.inputs[0], call.integers(int(call.get("axis")))
        ),
        "_npi_hstack": lambda call: call.add("Concat", *call.inputs, axis=min(call.rank - 1, 1)),
        "depth_to_space": _blocks("DepthToSpace"),
        "space_to_depth": _blocks("SpaceToDepth"),
        "shape_array": function("Shape"),
        "size_array": lambda call: call.add(
            "Reshape", call.add("Size", call.inputs[0]), call.integers(1)
        ),
    }
)


@converts("Reshape", "_np_reshape", "_npx_reshape")
def _reshape(call: Call) -> Any:
    key = "newshape" if "newshape" in call.attrs else "shape"
    wanted = call.get(key, ())
    wanted = [wanted] if isinstance(wanted, int) else list(wanted)
    plain = not call.get("reverse", False) and all(one >= -1 for one in wanted)
    # 0 keeps an extent in nd and in ONNX, in np it means none.
    if plain and not (call.is_numpy and 0 in wanted):
        return call.add("Reshape", call.inputs[0], call.integers(*wanted))
    return call.add("Reshape", call.inputs[0], call.integers(*call.static(call.output_shapes[0])))


@converts("transpose")
def _transpose(call: Call) -> Any:
    axes = call.axes("axes") or list(reversed(range(call.rank)))
    return call.add("Transpose", call.inputs[0], perm=axes)


@converts("SwapAxis")
def _swapaxes(call: Call) -> Any:
    order = list(range(call.rank))
    first, second = int(call.get("dim1", 0)), int(call.get("dim2", 0))
    order[first], order[second] = order[second], order[first]
    return call.add("Transpose", call.inputs[0], perm=order)


@converts("squeeze")
def _squeeze(call: Call) -> Any:
    axes = call.axes()
    if axes is None:
        axes = [one for one, extent in enumerate(call.static(call.shapes[0])) if extent == 1]
    result = call.add("Squeeze", call.inputs[0], call.integers(*axes))
    if len(axes) == call.rank and not call.is_numpy:
        return call.add("Reshape", result, call.integers(1))
    return result


@converts("concat", "_rnn_param_concat")
def _concat(call: Call) -> Any:
    axis = call.get("dim", call.get("axis", 0 if call.is_numpy else 1))
    return call.add("Concat", *call.inputs, axis=int(axis))


@converts("_npi_vstack")
def _vstack(call: Call) -> Any:
    rows = call.inputs
    if call.rank == 1:
        rows = [call.add("Unsqueeze", name, call.integers(0)) for name in rows]
    return call.add("Concat", *rows, axis=0)


@converts("stack")
def _stack(call: Call) -> Any:
    axis = int(call.get("axis", 0)) % (call.rank + 1)
    parts = [call.add("Unsqueeze", name, call.integers(axis)) for name in call.inputs]
    return call.add("Concat", *parts, axis=axis)


def _split_parts(call: Call, axis: int, count: int, sizes: list[int] | None) -> list[str]:
    names = [call.graph.new_name(f"{call.name}_part{number}") for number in range(count)]
    given = [] if sizes is None else [call.integers(*sizes)]
    call.add("Split", call.inputs[0], *given, outputs=names, axis=axis)
    if call.get("squeeze_axis", False):
        names = [call.add("Squeeze", name, call.integers(axis)) for name in names]
    return names


@converts("SliceChannel")
def _slice_channel(call: Call) -> Any:
    axis = int(call.get("axis", 1)) % call.rank
    return _split_parts(call, axis, int(call.get("num_outputs")), None)


@converts("_split_v2")
def _split_v2(call: Call) -> Any:
    axis = int(call.get("axis", 0)) % call.rank
    sections = int(call.get("sections", 0))
    if sections:
        return _split_parts(call, axis, sections, None)
    ends = [*list(call.get("indices"))[1:], call.static(call.shapes[0])[axis]]
    begins = [0, *ends[:-1]]
    sizes = [end - begin for begin, end in zip(begins, ends, strict=True)]
    return _split_parts(call, axis, len(sizes), sizes)


def _slices(
    call: Call, axes: list[int], begins: list[Any], ends: list[Any], steps: list[Any]
) -> Any:
    """Cut along axes; None means the end that the step comes from or goes to."""
    most = onp.iinfo("int64").max
    steps = [1 if step is None else int(step) for step in steps]
    begins = [
        (0 if step > 0 else most) if begin is None else int(begin)
        for begin, step in zip(begins, steps, strict=True)
    ]
    ends = [
        (most if step > 0 else -most) if end is None else int(end)
        for end, step in zip(ends, steps, strict=True)
    ]
    bounds = (call.integers(*numbers) for numbers in (begins, ends, axes, steps))
    return call.add("Slice", call.inputs[0], *bounds)


@converts("slice")
def _slice(call: Call) -> Any:
    begins, ends = (
        [one] if isinstance(one, int) else list(one) for one in (call.get("begin"), call.get("end"))
    )
    step = call.get("step", ())
    steps = [step] if isinstance(step, int) else list(step or ())
    steps += [None] * (len(begins) - len(steps))
    return _slices(call, list(range(len(begins))), begins, ends, steps)


@converts("slice_axis")
def _slice_axis(call: Call) -> Any:
    axis = int(call.get("axis")) % call.rank
    return _slices(call, [axis], [call.get("begin")], [call.get("end")], [1])


@converts("slice_like")
def _slice_like(call: Call) -> Any:
    axes = call.axes("axes", ()) or list(range(call.rank))
    ends = [call.static(call.shapes[1])[axis] for axis in axes]
    return _slices(call, axes, [0] * len(axes), ends, [1] * len(axes))


@converts("reverse", "_npi_flip")
def _reverse(call: Call) -> Any:
    axes = call.axes() or list(range(call.rank))
    count = len(axes)
    return _slices(call, axes, [None] * count, [None] * count, [-1] * count)


@converts("tile")
def _tile(call: Call) -> Any:
    reps = call.get("reps")
    reps = [reps] if isinstance(reps, int) else list(reps)
    data = call.inputs[0]
    if len(reps) > call.rank:
        data = call.add("Unsqueeze", data, call.integers(*range(len(reps) - call.rank)))
    reps = [1] * (call.rank - len(reps)) + reps
    return call.add("Tile", data, call.integers(*reps))


@converts("repeat")
def _repeat(call: Call) -> Any:
    """Give every element an axis of its own, repeat along it, and join it with the one before."""
    axis, count = call.get("axis"), int(call.get("repeats"))
    data, rank = call.inputs[0], call.rank
    if axis is None:
        data, rank, axis = call.add("Reshape", data, call.integers(-1)), 1, 0
    axis = int(axis) % rank
    reps = [1] * (rank + 1)
    reps[axis + 1] = count
    tiled = call.add(
        "Tile", call.add("Unsqueeze", data, call.integers(axis + 1)), call.integers(*reps)
    )
    if rank == 1:
        return call.add("Reshape", tiled, call.integers(-1))
    shape = list(call.static(call.output_shapes[0]))
    return call.add("Reshape", tiled, call.integers(*shape))


@converts("Pad", "_npi_pad")
def _pad(call: Call) -> Any:
    widths = call.get("pad_width")
    flat = [int(one) for one in onp.ravel(widths)]
    mode = call.get("mode", "constant")
    if mode not in ("constant", "edge", "reflect"):
        raise call.refuse(f"the mode {mode} is not supported")
    value = call.get("constant_value", call.get("constant_values", 0))
    pads = call.integers(*flat[0::2], *flat[1::2])
    return call.add("Pad", call.inputs[0], pads, call.constant(value), mode=mode)


@converts("copy", "Cast", "amp_cast", "broadcast_to")
def _copy(call: Call) -> Any:
    """Return the values in another type or shape, if the node says so."""
    dtype, shape = call.get("dtype"), call.get("shape")
    data = call.inputs[0] if dtype is None else call.cast(call.inputs[0], dtype)
    if shape is not None:
        # 1 stretches nothing in Expand, so that 0, which keeps an extent, becomes 1.
        return call.add("Expand", data, call.integers(*(int(one) or 1 for one in shape)))
    return call.add("Identity", data) if dtype is None else data


@converts("broadcast_axis")
def _broadcast_axis(call: Call) -> Any:
    sizes = call.get("size")
    sizes = [sizes] if isinstance(sizes, int) else list(sizes)
    shape = [1] * call.rank
    for axis, size in zip(call.axes() or (), sizes, strict=True):
        shape[axis] = int(size)
    return call.add("Expand", call.inputs[0], call.integers(*shape))

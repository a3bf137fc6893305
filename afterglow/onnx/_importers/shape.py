# SPDX-License-Identifier: Apache-2.0
"""Ops that give elements another place, and such as make new arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as onp

from .graph import Node
from .registry import imports
from .types import dtype_named
from .values import dtype_of


@imports("Reshape")
def _reshape(node: Node) -> Any:
    """0 stands for the extent that was there, unless zeros are allowed."""
    x = node[0]
    wanted = node.numbers(1, "shape") or []
    if not node.get("allowzero", 0):
        wanted = [x.shape[axis] if extent == 0 else extent for axis, extent in enumerate(wanted)]
    if -1 in wanted:
        rest = -math.prod(wanted)
        wanted[wanted.index(-1)] = math.prod(x.shape) // rest if rest else 0
    return node.f.reshape(x, tuple(wanted))


@imports("Flatten")
def _flatten(node: Node) -> Any:
    x, axis = node[0], node.get("axis", 1)
    axis = axis + len(x.shape) if axis < 0 else axis
    return node.f.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@imports("Squeeze")
def _squeeze(node: Node) -> Any:
    """Axes are an input since version 13."""
    x = node[0]
    rank = len(x.shape)
    given = node.numbers(1, "axes")
    if given is None:
        axes = {axis for axis, extent in enumerate(x.shape) if extent == 1}
    else:
        axes = {axis % rank for axis in given}
    return node.f.reshape(x, tuple(e for axis, e in enumerate(x.shape) if axis not in axes))


@imports("Unsqueeze")
def _unsqueeze(node: Node) -> Any:
    """Axes are an input since version 13."""
    x, given = node[0], node.numbers(1, "axes") or []
    rank = len(x.shape) + len(given)
    extents = iter(x.shape)
    axes = {axis % rank for axis in given}
    return node.f.reshape(x, tuple(1 if axis in axes else next(extents) for axis in range(rank)))


@imports("Transpose")
def _transpose(node: Node) -> Any:
    x = node[0]
    return node.f.transpose(x, tuple(node.get("perm") or range(len(x.shape))[::-1]))


@imports("Concat")
def _concat(node: Node) -> Any:
    values = [node[index] for index in range(len(node))]
    return values[0] if len(values) == 1 else node.f.concatenate(values, axis=node.get("axis"))


@imports("Split")
def _split(node: Node) -> Any:
    """Sizes are an input since version 13, their number since 18; the last part may be smaller."""
    x, axis = node[0], node.get("axis", 0)
    extent, count = x.shape[axis], node.get("num_outputs") or node.count
    sizes = node.numbers(1, "split")
    if sizes is None:
        size = -(-extent // count)
        sizes = [size] * (count - 1) + [extent - size * (count - 1)]
    ends = onp.cumsum(sizes).tolist()
    parts = []
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        key = [slice(None)] * len(x.shape)
        key[axis] = slice(begin, end)
        parts.append(x[tuple(key)])
    return tuple(parts)


@imports("Slice")
def _slice(node: Node) -> Any:
    """Starts and ends are inputs since version 10."""
    x = node[0]
    starts, ends = node.numbers(1, "starts") or [], node.numbers(2, "ends") or []
    axes = node.numbers(3, "axes") or range(len(starts))
    steps = node.numbers(4) or [1] * len(starts)
    key = [slice(None)] * len(x.shape)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        begin, stop, step = slice(start, end, step).indices(x.shape[axis])
        key[axis] = slice(begin, stop if stop >= 0 else None, step)
        if len(range(begin, stop, step)) == 0:
            key[axis] = slice(0, 0)
    return x[tuple(key)]


@imports("Pad")
def _pad(node: Node) -> Any:
    """Pads and the value are inputs since version 11, axes since 18; negative pads cut off."""
    x, mode = node[0], node.get("mode", "constant")
    rank = len(x.shape)
    pads = node.numbers(1, "pads") or []
    given = node.numbers(3)
    axes = range(rank) if given is None else [axis % rank for axis in given]
    sides = [(0, 0)] * rank
    for place, axis in enumerate(axes):
        sides[axis] = (pads[place], pads[place + len(pads) // 2])
    value = node.number(2, 0) if node.version >= 11 else node.get("value", 0.0)
    return padded(node.f, x, sides, mode, value)


def padded(f: Any, x: Any, sides: Any, mode: str = "constant", value: Any = 0) -> Any:
    """Return elements with others around them; negative sides cut off."""
    if any(side < 0 for pair in sides for side in pair):
        x = x[
            tuple(
                slice(max(-before, 0), extent - max(-after, 0))
                for (before, after), extent in zip(sides, x.shape, strict=True)
            )
        ]
        sides = [(max(before, 0), max(after, 0)) for before, after in sides]
    if mode == "constant":
        if not any(side for pair in sides for side in pair):
            return x
        if f.is_host:
            return onp.pad(x, sides, constant_values=onp.asarray(value).astype(x.dtype))
        if value in (0, False):
            return f.pad(x, tuple(sides), mode="constant")
        return f.pad(x, tuple(sides), mode="constant", constant_values=value)
    for axis, pair in enumerate(sides):
        if any(pair):
            places: Any = onp.pad(onp.arange(x.shape[axis]), pair, mode=mode)  # type: ignore[call-overload]
            x = f.take(x, f.value(places), axis=axis)
    return x


@imports("Expand")
def _expand(node: Node) -> Any:
    x = node[0]
    shape = onp.broadcast_shapes(x.shape, tuple(node.numbers(1) or ()))
    return node.f.broadcast_to(x, shape)


@imports("Tile")
def _tile(node: Node) -> Any:
    return node.f.tile(node[0], tuple(node.numbers(1) or ()))


@imports("Shape")
def _shape(node: Node) -> Any:
    shape = node.values[0].shape
    return onp.asarray(shape[node.get("start", 0) : node.get("end", len(shape))], "int64")


@imports("Size")
def _size(node: Node) -> Any:
    return onp.asarray(math.prod(node.values[0].shape), "int64")


@imports("DepthToSpace")
def _depth_to_space(node: Node) -> Any:
    x, size = node[0], node.get("blocksize")
    count, depth, height, width = x.shape
    kept = depth // size**2
    if node.get("mode", "DCR") == "DCR":
        parts = node.f.reshape(x, (count, size, size, kept, height, width))
        parts = node.f.transpose(parts, (0, 3, 4, 1, 5, 2))
    else:
        parts = node.f.reshape(x, (count, kept, size, size, height, width))
        parts = node.f.transpose(parts, (0, 1, 4, 2, 5, 3))
    return node.f.reshape(parts, (count, kept, height * size, width * size))


@imports("SpaceToDepth")
def _space_to_depth(node: Node) -> Any:
    x, size = node[0], node.get("blocksize")
    count, depth, height, width = x.shape
    parts = node.f.reshape(x, (count, depth, height // size, size, width // size, size))
    is_depth_last = node.get("mode", "DCR") == "DCR"
    parts = node.f.transpose(parts, (0, 3, 5, 1, 2, 4) if is_depth_last else (0, 1, 3, 5, 2, 4))
    return node.f.reshape(parts, (count, depth * size**2, height // size, width // size))


@imports("Trilu")
def _trilu(node: Node) -> Any:
    """Keep one triangle of matrices."""
    x, shift = node[0], int(node.number(1, 0))
    kept = onp.tri(x.shape[-2], x.shape[-1], shift - bool(node.get("upper", 1)), dtype=bool)
    kept = ~kept if node.get("upper", 1) else kept
    return node.f.where(node.f.value(kept), x, node.f.zeros_like(x))


# --- new arrays ---


@imports("Constant")
def _constant(node: Node) -> Any:
    for name, value in node.attributes.items():
        match name:
            case "value":
                return value
            case "value_float" | "value_floats":
                return onp.asarray(value, "float32")
            case "value_int" | "value_ints":
                return onp.asarray(value, "int64")
            case "value_string" | "value_strings":
                return onp.asarray(value, object)
    raise node.refuse(f"a constant of {list(node.attributes)}; a dense one is needed")


@imports("ConstantOfShape")
def _constant_of_shape(node: Node) -> Any:
    value = node.get("value")
    value = onp.zeros(1, "float32") if value is None else value
    return onp.full(tuple(node.numbers(0) or ()), value.ravel()[0], dtype=value.dtype)


@imports("Range", on_host=True)
def _range(node: Node) -> Any:
    start, limit, step = (node[index].ravel()[0] for index in range(3))
    count = max(math.ceil((float(limit) - float(start)) / float(step)), 0)
    return (start + onp.arange(count) * step).astype(node[0].dtype)


@imports("EyeLike")
def _eye_like(node: Node) -> Any:
    x = node.values[0]
    dtype = dtype_named(node.get("dtype")) if node.get("dtype") else dtype_of(x)
    rows, columns = x.shape
    return onp.eye(rows, columns, node.get("k", 0)).astype(dtype)


@imports("OneHot")
def _one_hot(node: Node) -> Any:
    """1 where an index says; negative ones count from the end, and what is outside names none."""
    f, places, depth = node.f, node[0], int(node.number(1))
    rank = len(places.shape) + 1
    axis = node.get("axis", -1) % rank
    row = onp.arange(depth).reshape([-1] + [1] * (rank - 1 - axis))
    wanted = f.expand_dims(f.cast(places, "int64"), axis)
    is_one = f.equal(f.where(wanted < 0, wanted + depth, wanted), f.value(row))
    off, on = node.host(2)
    return f.cast(f.where(is_one, f.value(onp.asarray(on)), f.value(onp.asarray(off))), off.dtype)

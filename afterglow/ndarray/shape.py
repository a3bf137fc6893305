# SPDX-License-Identifier: Apache-2.0
"""The same elements in another shape or order. All of these copy, as in MXNet."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from .._core import operation
from .._indexing import find_block
from .._shapes import as_integers, as_shape, expanded, legacy_reshape, normal_axis, permutation
from .._shapes import squeezed as squeezed_shape
from ..error import ArgumentError, ArrayTypeError, ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "Concat",
    "broadcast_to",
    "concat",
    "concatenate",
    "expand_dims",
    "flatten",
    "reshape",
    "reshape_like",
    "slice",
    "slice_axis",
    "squeeze",
    "stack",
    "swapaxes",
    "transpose",
]

_copy = operation("copy", True)
_concat = operation("concat", True)


def _copied(view: NDArray, out: NDArray | None) -> NDArray:
    result: NDArray = _copy(view, out=out)
    return result


def reshape(
    data: NDArray,
    shape: Any = None,
    reverse: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy in another shape; codes as for :meth:`NDArray.reshape`."""
    if shape is None:
        raise ArgumentError("Shape must be provided.")
    wanted = as_integers(shape, "shape")
    return _copied(need(data)._shaped(legacy_reshape(data.shape, wanted, reverse)), out)


def reshape_like(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return a copy of ``lhs`` in the shape of ``rhs``."""
    return reshape(need(lhs, "lhs"), need(rhs, "rhs").shape, out=out)


def flatten(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return a copy with two axes: the first one, and all others in one."""
    shape = need(data).shape
    return _copied(data._shaped((*shape[:1], prod(shape[1:]))), out)


def expand_dims(
    data: NDArray, axis: int, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return a copy with one more axis of extent 1."""
    return _copied(need(data)._shaped(expanded(data.shape, axis)), out)


def squeeze(
    data: NDArray, axis: Any = None, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return a copy without axes of extent 1."""
    return _copied(need(data)._shaped(squeezed_shape(data.shape, axis) or (1,)), out)


def transpose(
    data: NDArray,
    axes: Sequence[int] | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy with the axes in another order; reversed if none is given."""
    order = permutation(axes, need(data).shape, negative=False)
    result = data._permuted(order)
    return result if out is None else _copied(result, out)


def swapaxes(
    data: NDArray,
    dim1: int = 0,
    dim2: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy with two axes exchanged."""
    order = list(range(need(data).ndim))
    first, second = normal_axis(dim1, data.ndim), normal_axis(dim2, data.ndim)
    order[first], order[second] = order[second], order[first]
    return transpose(data, order, out=out)


def broadcast_to(
    data: NDArray, shape: Any, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return a copy stretched to a shape; 0 keeps the extent of the array."""
    wanted = as_shape(shape)
    if len(wanted) == need(data).ndim:
        pairs = zip(wanted, data.shape, strict=True)
        wanted = tuple(extent or own for extent, own in pairs)
    result: NDArray = _copy(data, shape=wanted, out=out)
    return result


def slice(
    data: NDArray,
    begin: Any,
    end: Any,
    step: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy of the block from begin to end, one entry per axis or ``None``."""
    starts, stops = _sequence(begin), _sequence(end)
    steps = _sequence(step) if step is not None else (None,) * len(starts)
    if len(starts) != len(stops) or len(starts) != len(steps):
        raise ArrayValueError(
            f"[slice] begin {begin}, end {end} and step {step} must be equally long"
        )
    key = tuple(builtins.slice(*bounds) for bounds in zip(starts, stops, steps, strict=True))
    block = find_block(need(data), key, True)
    if block is None:
        raise ArrayTypeError(f"[slice] begin {begin} and end {end} must hold integers")
    return _copied(data._block(block), out)


def _sequence(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def slice_axis(
    data: NDArray,
    axis: int,
    begin: int,
    end: int | None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy of what lies from begin to end along one axis."""
    position = normal_axis(axis, need(data).ndim)
    extent = data.shape[position]
    start = begin + extent if begin < 0 else begin
    stop = extent if end is None else end + extent if end < 0 else end
    if not 0 <= start < stop <= extent:
        raise ArrayValueError(
            f"[slice_axis] begin {begin} and end {end} name nothing of axis {axis} of shape "
            f"{data.shape}"
        )
    shape = (*data.shape[:position], stop - start, *data.shape[position + 1 :])
    strides = data._strides
    return _copied(data._view(start * strides[position], shape, strides), out)


def concat(
    *data: NDArray, dim: int = 1, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the arrays one behind the other along an axis."""
    for position, one in enumerate(data):
        need(one, f"arg{position}")
    result: NDArray = _concat(data, dim, out=out)
    return result


Concat = concat


def concatenate(arrays: Sequence[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """Return the arrays of a list one behind the other along an axis."""
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    if len({one._dtype_number for one in arrays}) > 1:
        raise ArgumentError(
            "[concatenate] the arrays must have the same type, but got "
            + ", ".join(one.dtype.__name__ for one in arrays)
        )
    return concat(*arrays, dim=axis)


def stack(
    *data: NDArray, axis: int = 0, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the arrays one behind the other along a new axis."""
    if not data:
        raise ArrayValueError("[stack] needs at least one array")
    shape = need(data[0], "arg0").shape
    for position, one in enumerate(data):
        if need(one, f"arg{position}").shape != shape:
            raise ArrayValueError(f"[stack] the shapes {shape} and {one.shape} must be equal")
    views = [one._shaped(expanded(shape, axis)) for one in data]
    return concat(*views, dim=normal_axis(axis, len(shape) + 1), out=out)

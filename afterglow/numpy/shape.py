# SPDX-License-Identifier: Apache-2.0
"""The same elements in another shape or order. All of these copy, as in MXNet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._core import operation
from .._shapes import as_integers, as_shape, expanded, normal_axis, numpy_reshape, permutation
from .._shapes import squeezed as squeezed_shape
from ..error import ArrayNotImplementedError, ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    "broadcast_to",
    "concatenate",
    "expand_dims",
    "ravel",
    "reshape",
    "squeeze",
    "stack",
    "swapaxes",
    "transpose",
]

_copy = operation("copy", False)
_concat = operation("concat", False)


def _copied(view: Any, out: ndarray | None) -> ndarray:
    result: ndarray = _copy(view, out=out)
    return result


def reshape(a: Any, newshape: Any, order: str = "C", out: ndarray | None = None) -> ndarray:
    """Return a copy in another shape; one extent may be -1."""
    if order != "C":
        raise ArrayNotImplementedError(f"[reshape] reads elements in order 'C', not {order!r}")
    wanted = as_integers(newshape, "newshape")
    return _copied(need(a)._shaped(numpy_reshape(a.shape, wanted)), out)


def ravel(x: Any, order: str = "C") -> ndarray:
    """Return a copy with one axis."""
    return reshape(x, -1, order)


def expand_dims(a: Any, axis: int) -> ndarray:
    """Return a copy with one more axis of extent 1."""
    return _copied(need(a)._shaped(expanded(a.shape, axis)), None)


def squeeze(a: Any, axis: Any = None, out: ndarray | None = None) -> ndarray:
    """Return a copy without axes of extent 1."""
    return _copied(need(a)._shaped(squeezed_shape(a.shape, axis)), out)


def transpose(a: Any, axes: Sequence[int] | None = None) -> ndarray:
    """Return a copy with the axes in another order; reversed if none is given."""
    result: ndarray = need(a)._permuted(permutation(axes, a.shape, negative=True))
    return result


def swapaxes(a: Any, axis1: int, axis2: int) -> ndarray:
    """Return a copy with two axes exchanged."""
    order = list(range(need(a).ndim))
    first, second = normal_axis(axis1, a.ndim), normal_axis(axis2, a.ndim)
    order[first], order[second] = order[second], order[first]
    return transpose(a, order)


def broadcast_to(array: Any, shape: Any) -> ndarray:
    """Return a copy stretched to a shape."""
    result: ndarray = _copy(need(array, "array"), shape=as_shape(shape))
    return result


def concatenate(seq: Sequence[Any], axis: int | None = 0, out: ndarray | None = None) -> ndarray:
    """Return the arrays one behind the other along an axis; all elements in a row for ``None``."""
    arrays = [need(one, "seq") for one in seq]
    if axis is None:
        arrays = [one._shaped((one.size,)) for one in arrays]
    result: ndarray = _concat(arrays, 0 if axis is None else axis, out=out)
    return result


def stack(arrays: Sequence[Any], axis: int = 0, out: ndarray | None = None) -> ndarray:
    """Return the arrays one behind the other along a new axis."""
    items = [need(one, "arrays") for one in arrays]
    if not items:
        raise ArrayValueError("[stack] needs at least one array")
    shape = items[0].shape
    for one in items:
        if one.shape != shape:
            raise ArrayValueError(f"[stack] the shapes {shape} and {one.shape} must be equal")
    position = normal_axis(axis, len(shape) + 1)
    return concatenate([one._shaped(expanded(shape, position)) for one in items], position, out)

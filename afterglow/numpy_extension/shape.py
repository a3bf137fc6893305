# SPDX-License-Identifier: Apache-2.0
"""Shapes by codes and the like, for ``np`` arrays."""

from __future__ import annotations

from typing import Any

from .._core import operation
from .._shapes import as_integers, extended_reshape, reshaped_like
from ..context import Context
from ..error import ArrayNotImplementedError
from ..ndarray import creation as legacy_creation
from ..ndarray import shape as legacy_shape
from ..numpy import ndarray
from ..numpy._arguments import need

__all__ = ["arange_like", "reshape", "reshape_like", "shape_array", "slice"]

_copy = operation("copy", False)


def _copied(view: Any, out: ndarray | None = None) -> ndarray:
    result: ndarray = _copy(view, out=out)
    return result


def reshape(a: Any, newshape: Any, reverse: bool = False, order: str = "C") -> ndarray:
    """Return a copy in another shape.

    -1 is found from the others, -2 keeps an extent, -3 leaves out a 1, -4 takes the rest, -5 merges
    two and -6 splits one into the two that follow; with ``reverse`` they count from the right.

    >>> npx.reshape(np.zeros((2, 3, 4)), (-5, -2)).shape
    (6, 4)
    >>> npx.reshape(np.zeros((8, 3)), (-6, 2, -1, -4)).shape
    (2, 4, 3)
    """
    if order != "C":
        raise ArrayNotImplementedError(f"[reshape] reads elements in order 'C', not {order!r}")
    wanted = as_integers(newshape, "newshape")
    return _copied(need(a)._shaped(extended_reshape(a.shape, wanted, reverse)))


def reshape_like(
    lhs: Any,
    rhs: Any,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray:
    """Return a copy of ``lhs`` in the shape of ``rhs``, or with some axes replaced by those there.

    >>> npx.reshape_like(np.zeros((6, 7)), np.zeros((2, 3, 4)), lhs_end=1, rhs_end=2).shape
    (2, 3, 7)
    """
    array, like = need(lhs, "lhs"), need(rhs, "rhs")
    shape = reshaped_like(array.shape, like.shape, lhs_begin, lhs_end, rhs_begin, rhs_end)
    return _copied(array._shaped(shape), out)


def slice(
    data: Any,
    begin: Any,
    end: Any,
    step: Any = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray:
    """Return a copy of the block from begin to end, one entry per axis or ``None``.

    >>> npx.slice(np.arange(6).reshape(2, 3), begin=(0, 1), end=(1, None))
    array([[1., 2.]])
    """
    return _copied(legacy_shape.block_of(need(data, "data"), begin, end, step), out)


def shape_array(data: Any, out: ndarray | None = None, name: str | None = None) -> ndarray:
    """Return the shape as an array of int64.

    >>> npx.shape_array(np.zeros((2, 3)))
    array([2, 3], dtype=int64)
    """
    result: ndarray = legacy_shape.shape_array(need(data, "data")).as_np_ndarray()
    return result if out is None else _copied(result, out)


def arange_like(
    data: Any,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: Context | None = None,
    axis: int | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray:
    """Return evenly spaced numbers in the shape of an array, or as many as one of its axes has.

    >>> npx.arange_like(np.zeros((2, 3)), axis=1)
    array([0., 1., 2.])
    """
    result: ndarray = legacy_creation.arange_like(
        need(data, "data"), start, step, repeat, ctx, axis
    ).as_np_ndarray()
    return result if out is None else _copied(result, out)

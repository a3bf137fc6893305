# SPDX-License-Identifier: Apache-2.0
"""Elements picked by index arrays, for ``np`` arrays."""

from __future__ import annotations

from typing import Any

from .. import _picking
from ..numpy import argwhere, ndarray
from ..numpy._arguments import need

__all__ = [
    "index_add",
    "index_update",
    "nonzero",
    "one_hot",
    "pick",
]


def pick(
    data: Any,
    index: Any,
    axis: int = -1,
    keepdims: bool = False,
    mode: str = "clip",
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray:
    """Return one element per index along an axis: the loss of each label, for example.

    >>> from afterglow import np, npx
    >>> npx.pick(np.array([[1, 2], [3, 4], [5, 6]]), np.array([0, 1, 0]))
    array([1., 4., 5.])
    """
    result: ndarray = _picking.pick(
        need(data, "data"), need(index, "index"), axis, keepdims, mode, out
    )
    return result


def one_hot(
    indices: Any,
    depth: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: Any = "float32",
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray:
    """Return a row of ``depth`` numbers for each index, with ``on_value`` where it points.

    An index outside points nowhere.

    >>> from afterglow import np, npx
    >>> npx.one_hot(np.array([1, 0]), 3)
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    result: ndarray = _picking.one_hot(
        need(indices, "indices"), depth, on_value, off_value, dtype, out
    )
    return result


def index_update(a: Any, ind: Any, val: Any) -> ndarray:
    """Return a copy with ``val`` where the columns of ``ind`` point; the last one wins.

    >>> from afterglow import np, npx
    >>> npx.index_update(np.zeros((2, 2)), np.array([[1, 0], [0, 1]]), np.array([5, 6]))
    array([[0., 6.],
           [5., 0.]])
    """
    array = need(a)
    rows = _picking.rows_of(need(ind, "ind"), "index_update", array.ndim)
    result: ndarray = _picking.scattered(array, rows, need(val, "val"))
    return result


def index_add(a: Any, ind: Any, val: Any) -> ndarray:
    """Return a copy with ``val`` added where the columns of ``ind`` point, each time they do.

    >>> from afterglow import np, npx
    >>> npx.index_add(np.zeros((2, 2)), np.array([[1, 1], [0, 0]]), np.array([5, 6]))
    array([[ 0.,  0.],
           [11.,  0.]])
    """
    array = need(a)
    rows = _picking.rows_of(need(ind, "ind"), "index_add", array.ndim)
    result: ndarray = _picking.scattered(array, rows, need(val, "val"), add=True)
    return result


def nonzero(a: Any) -> ndarray:
    """Return the indices of all elements that are not 0, a row per element. Waits.

    >>> from afterglow import np, npx
    >>> npx.nonzero(np.array([[3, 0], [0, 4]]))
    array([[0, 0],
           [1, 1]], dtype=int64)
    """
    return argwhere(a)

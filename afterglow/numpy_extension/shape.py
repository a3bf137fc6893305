# SPDX-License-Identifier: Apache-2.0
"""Shapes by codes and the like, for ``np`` arrays."""

from __future__ import annotations

from typing import Any

from .._arrays.worlds import NUMPY
from ..ndarray import shape as legacy_shape
from ..numpy import ndarray
from ..numpy._arguments import need

__all__ = ["shape_array", "slice"]


def _copied(view: Any, out: ndarray | None = None) -> ndarray:
    return NUMPY.copy(view, out=out)


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

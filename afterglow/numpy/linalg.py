# SPDX-License-Identifier: Apache-2.0
"""``np.linalg``: norms."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from .._core import operation
from .._shapes import as_axes, normal_axis
from ..error import ArrayNotImplementedError, ArrayValueError
from . import elementwise
from . import reduce as reductions
from ._arguments import need
from .reduce import reduce

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = ["norm"]

_norm1 = operation("norm1", False)
_norm2 = operation("norm2", False)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Return the norm of a vector or matrix; by default the 2-norm of all elements."""
    need(x, "x")
    axes = as_axes(axis)
    if ord is None:
        return reduce(_norm2, x, axis, keepdims)
    ndim = x.ndim if axes is None else len(axes)
    if ndim == 1:
        return _vector_norm(x, ord, axis, keepdims)
    if ndim == 2:
        return _matrix_norm(x, ord, (0, 1) if axes is None else axes, keepdims)
    raise ArrayValueError(f"[norm] ord={ord!r} needs one axis or two, not {ndim}")


def _vector_norm(x: ndarray, ord: Any, axis: Any, keepdims: bool) -> ndarray:
    if ord in (1, 2):
        return reduce(_norm1 if ord == 1 else _norm2, x, axis, keepdims)
    if ord == inf:
        return reductions.max(abs(x), axis, keepdims=keepdims)
    if ord == -inf:
        return reductions.min(abs(x), axis, keepdims=keepdims)
    if ord == 0:
        return reductions.sum(elementwise.not_equal(x, 0), axis, x.dtype, keepdims)
    if isinstance(ord, (int, float)):
        result: ndarray = reductions.sum(abs(x) ** ord, axis, keepdims=keepdims) ** (1 / ord)
        return result
    raise ArrayValueError(f"[norm] there is no norm {ord!r} of a vector")


def _matrix_norm(x: ndarray, ord: Any, axes: tuple[int, ...], keepdims: bool) -> ndarray:
    if ord in ("fro", "f"):
        return reduce(_norm2, x, axes, keepdims)
    if ord not in (1, -1, inf, -inf):
        raise ArrayNotImplementedError(f"[norm] the norm {ord!r} of a matrix is not there yet")
    rows, columns = (normal_axis(axis, x.ndim) for axis in axes)
    added, compared = (rows, columns) if ord in (1, -1) else (columns, rows)
    sums = reduce(_norm1, x, added, keepdims=True)
    choose = reductions.max if ord > 0 else reductions.min
    result = choose(sums, (added, compared), keepdims=keepdims)
    return result

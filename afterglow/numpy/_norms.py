# SPDX-License-Identifier: Apache-2.0
"""Norms of vectors and matrices other than the 2-norm, which is an op."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

from .._arrays.shapes import Shape, as_axes, normal_axis
from .._arrays.worlds import NUMPY
from .._mathematics import decompositions as _decompositions
from ..error import ArrayTypeError, ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .multiarray import ndarray


#: MXNet's words for them.
_infinities = {"inf": inf, "-inf": -inf}


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Return the norm that ``ord`` names."""
    x = need(x, "x")
    if isinstance(ord, str):
        ord = _infinities.get(ord, ord)
    if isinstance(axis, list):
        raise ArrayTypeError("[norm] axis must be None, an integer or a tuple of integers")
    axes = as_axes(axis)
    if axes is not None and len(axes) > 2:
        raise ArrayValueError(f"[norm] needs one axis or two, not {axes}")
    if ord is None:
        return NUMPY.linalg_norm(x, axes, bool(keepdims))
    if axes is None:
        axes = tuple(range(x.ndim))[-2:]
    places = tuple(normal_axis(axis, max(x.ndim, 1)) for axis in axes)
    if len(places) not in (1, 2):
        raise ArrayValueError(f"[norm] ord={ord!r} needs a vector or a matrix, not shape {x.shape}")
    find = _vector_norm if len(places) == 1 else _matrix_norm
    return find(x, ord, places, bool(keepdims))


def _vector_norm(x: ndarray, ord: Any, axis: Shape, keepdims: bool) -> ndarray:
    if ord == 1:
        return NUMPY.norm1(x, axis, keepdims)
    if ord in (2, "fro"):
        return NUMPY.norm2(x, axis, keepdims)
    if ord == inf:
        return NUMPY.max(abs(x), axis, keepdims)
    if ord == -inf:
        return NUMPY.min(abs(x), axis, keepdims)
    if ord == 0:
        different = NUMPY.not_equal(x, 0)
        return NUMPY.sum(different, axis, keepdims, dtype=x._dtype_number)
    if isinstance(ord, (int, float)):
        return NUMPY.sum(abs(x) ** ord, axis, keepdims) ** (1 / ord)
    raise ArrayValueError(f"[norm] there is no norm {ord!r} of a vector")


#: Norms that are made of singular values, and what makes them.
_of_singular_values: dict[Any, Callable[..., ndarray]] = {
    "nuc": NUMPY.sum,
    2: NUMPY.max,
    -2: NUMPY.min,
}


def _matrix_norm(x: ndarray, ord: Any, axes: Shape, keepdims: bool) -> ndarray:
    if ord in ("fro", "f"):
        return NUMPY.norm2(x, axes, keepdims)
    rows, columns = axes
    if rows == columns:
        raise ArrayValueError(f"[norm] the axes {axes} are the same")
    if ord in _of_singular_values:
        order = (*(axis for axis in range(x.ndim) if axis not in axes), rows, columns)
        matrices = x if order == tuple(range(x.ndim)) else x._permuted(order)
        values = _decompositions.singular_values(_decompositions.floating("norm", matrices))
        result = _of_singular_values[ord](values, (values.ndim - 1,))
        if not keepdims:
            return result
        shape = (1 if axis in axes else n for axis, n in enumerate(x.shape))
        return result._shaped(tuple(shape))
    if ord not in (1, -1, inf, -inf):
        raise ArrayValueError(f"[norm] there is no norm {ord!r} of a matrix")
    added, compared = (rows, columns) if ord in (1, -1) else (columns, rows)
    sums = NUMPY.norm1(x, (added,), True)
    choose = NUMPY.max if ord > 0 else NUMPY.min
    return choose(sums, (added, compared), keepdims)


RARE = {"norm": norm}

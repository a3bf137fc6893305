# SPDX-License-Identifier: Apache-2.0
"""Sums and their kin over any axes, with NumPy's shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import Operation, operation
from .._dtype import dtype_number
from .._shapes import as_axes, normal_axis
from ..error import ArrayNotImplementedError
from ._arguments import need

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = ["amax", "amin", "max", "mean", "min", "sum"]

_sum = operation("sum", False)
_mean = operation("mean", False)
_max = operation("max", False)
_min = operation("min", False)


def reduce(
    call: Operation, a: Any, axis: Any, keepdims: bool, dtype: Any = None, out: Any = None
) -> ndarray:
    """Call a reduction. An array without dimensions may be reduced over axis 0 or -1."""
    axes = as_axes(axis)
    if axes and not need(a).ndim:
        axes = tuple(axis for axis in axes if normal_axis(axis, 1) > 0)
    result: ndarray = call(
        need(a),
        axis=axes,
        keepdims=bool(keepdims),
        dtype=None if dtype is None else dtype_number(dtype),
        out=out,
    )
    return result


def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return the sum over the axes; booleans are counted in int64."""
    if initial is not None:
        raise ArrayNotImplementedError("[sum] initial is not supported yet")
    return reduce(_sum, a, axis, keepdims, dtype, out)


def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: ndarray | None = None,
    keepdims: bool = False,
) -> ndarray:
    """Return the mean over the axes; integers give float32."""
    return reduce(_mean, a, axis, keepdims, dtype, out)


def max(a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    """Return the greatest element along the axes; nan wins."""
    return reduce(_max, a, axis, keepdims, out=out)


def min(a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    """Return the smallest element along the axes; nan wins."""
    return reduce(_min, a, axis, keepdims, out=out)


amax = max
amin = min

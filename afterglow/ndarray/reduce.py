# SPDX-License-Identifier: Apache-2.0
"""Sums and their kin over any axes. Over all axes the result has shape (1,)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import Operation, operation
from .._dtype import dtype_number
from .._shapes import as_axes
from ..error import ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = ["max", "max_axis", "mean", "min", "min_axis", "norm", "sum", "sum_axis"]

_sum = operation("sum", True)
_mean = operation("mean", True)
_max = operation("max", True)
_min = operation("min", True)
_norm1 = operation("norm1", True)
_norm2 = operation("norm2", True)


def _reduce(
    call: Operation, data: NDArray, axis: Any, keepdims: bool, exclude: bool, out: NDArray | None
) -> NDArray:
    result: NDArray = call(
        need(data), axis=as_axes(axis), keepdims=bool(keepdims), exclude=bool(exclude), out=out
    )
    return result


def sum(
    data: NDArray,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the sum over the axes, or over all others with ``exclude``."""
    return _reduce(_sum, data, axis, keepdims, exclude, out)


def mean(
    data: NDArray,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the mean over the axes, in the type of the array."""
    return _reduce(_mean, data, axis, keepdims, exclude, out)


def max(
    data: NDArray,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the greatest element along the axes; nan wins."""
    return _reduce(_max, data, axis, keepdims, exclude, out)


def min(
    data: NDArray,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the smallest element along the axes; nan wins."""
    return _reduce(_min, data, axis, keepdims, exclude, out)


sum_axis = sum
max_axis = max
min_axis = min


def norm(
    data: NDArray,
    ord: int = 2,
    axis: Any = None,
    out_dtype: Any = None,
    keepdims: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the 1-norm or 2-norm of the elements along the axes."""
    if ord not in (1, 2):
        raise ArrayValueError(f"[norm] ord must be 1 or 2, but got {ord}")
    result: NDArray = (_norm1 if ord == 1 else _norm2)(
        need(data),
        axis=as_axes(axis),
        keepdims=bool(keepdims),
        dtype=None if out_dtype is None else dtype_number(out_dtype),
        out=out,
    )
    return result

# SPDX-License-Identifier: Apache-2.0
"""Sums and their kin over any axes. Over all axes the result has shape (1,)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import Operation, operation
from .._dtype import BOOL, FLOATING, INT64, dtype_number, optional_number
from .._shapes import as_axes, as_axis
from ..error import ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "argmax",
    "argmax_channel",
    "argmin",
    "cumsum",
    "max",
    "max_axis",
    "mean",
    "min",
    "min_axis",
    "moments",
    "nanprod",
    "nansum",
    "norm",
    "prod",
    "sum",
    "sum_axis",
]

_sum = operation("sum", True)
_mean = operation("mean", True)
_max = operation("max", True)
_min = operation("min", True)
_norm1 = operation("norm1", True)
_norm2 = operation("norm2", True)
_prod = operation("prod", True)
_argmax = operation("argmax", True)
_argmin = operation("argmin", True)
_cumsum = operation("cumsum", True)
_copy = operation("copy", True)
_equal = operation("equal", True)
_where = operation("where", True)
_subtract = operation("subtract", True)
_square = operation("square", True)


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
    """Return the sum over the axes, or over all others with ``exclude``.

    >>> from afterglow import nd
    >>> nd.sum(nd.array([[1, 2], [3, 4]]), axis=0).asnumpy()
    array([4., 6.], dtype=float32)
    """
    return _reduce(_sum, data, axis, keepdims, exclude, out)


def mean(
    data: NDArray,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the mean over the axes, in the type of the array.

    >>> from afterglow import nd
    >>> nd.mean(nd.array([[1, 2], [3, 4]]), axis=1, keepdims=True).asnumpy()
    array([[1.5],
           [3.5]], dtype=float32)
    """
    return _reduce(_mean, data, axis, keepdims, exclude, out)


def max(
    data: NDArray,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the greatest element along the axes; nan wins.

    >>> from afterglow import nd
    >>> nd.max(nd.array([[1, 2], [3, 4]])).asnumpy()
    array([4.], dtype=float32)
    """
    return _reduce(_max, data, axis, keepdims, exclude, out)


def min(
    data: NDArray,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the smallest element along the axes; nan wins.

    >>> from afterglow import nd
    >>> nd.min(nd.array([[1, 2], [3, 4]]), axis=1).asnumpy()
    array([1., 3.], dtype=float32)
    """
    return _reduce(_min, data, axis, keepdims, exclude, out)


def prod(
    data: NDArray,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the product over the axes.

    >>> from afterglow import nd
    >>> nd.prod(nd.array([[1, 2], [3, 4]]), axis=1).asnumpy()
    array([ 2., 12.], dtype=float32)
    """
    return _reduce(_prod, data, axis, keepdims, exclude, out)


def _without_nan(data: NDArray, value: float) -> NDArray:
    """Return the array with ``value`` for nan; integers are what they are."""
    if need(data)._dtype_number not in FLOATING:
        return data
    filler = _copy(value, shape=data.shape, dtype=data._dtype_number, ctx=data._context_numbers)
    result: NDArray = _where(_equal(data, data), data, filler)
    return result


def nansum(
    data: NDArray,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the sum over the axes; nan counts as 0.

    >>> from afterglow import nd
    >>> nd.nansum(nd.array([1, float("nan"), 2])).asnumpy()
    array([3.], dtype=float32)
    """
    return _reduce(_sum, _without_nan(data, 0), axis, keepdims, exclude, out)


def nanprod(
    data: NDArray,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the product over the axes; nan counts as 1.

    >>> from afterglow import nd
    >>> nd.nanprod(nd.array([3, float("nan"), 2])).asnumpy()
    array([6.], dtype=float32)
    """
    return _reduce(_prod, _without_nan(data, 1), axis, keepdims, exclude, out)


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
    """Return the 1-norm or 2-norm of the elements along the axes.

    >>> from afterglow import nd
    >>> nd.norm(nd.array([[3, 4], [6, 8]]), axis=1).asnumpy()
    array([ 5., 10.], dtype=float32)
    """
    if ord not in (1, 2):
        raise ArrayValueError(f"[norm] ord must be 1 or 2, but got {ord}")
    result: NDArray = (_norm1 if ord == 1 else _norm2)(
        need(data),
        axis=as_axes(axis),
        keepdims=bool(keepdims),
        dtype=optional_number(out_dtype),
        out=out,
    )
    return result


def moments(
    data: NDArray,
    axes: Any = None,
    keepdims: bool = False,
    out: Any = None,
    name: str | None = None,
) -> list[NDArray]:
    """Return mean and variance over the axes, which must be named.

    >>> from afterglow import nd
    >>> mean, variance = nd.moments(nd.array([[1, 2], [3, 6]]), axes=(0,))
    >>> mean.asnumpy(), variance.asnumpy()
    (array([2., 4.], dtype=float32), array([1., 4.], dtype=float32))
    """
    if not as_axes(axes):
        raise ArrayValueError("[moments] axes must name at least one axis")
    targets = (None, None) if out is None else out
    centre = mean(data, axes, keepdims=True)
    first = mean(data, axes, keepdims, out=targets[0])
    return [first, mean(_square(_subtract(data, centre)), axes, keepdims, out=targets[1])]


# --- along one axis ---


def _search(
    call: Operation, data: NDArray, axis: Any, keepdims: bool, out: NDArray | None
) -> NDArray:
    """Call a search along an axis; without one, in all elements."""
    result: NDArray
    if axis is not None:
        result = call(need(data), as_axis(axis), bool(keepdims), out=out)
        return result
    result = call(need(data)._shaped((data.size,)), 0)
    shape = (1,) * data.ndim if keepdims and data.ndim else (1,)
    return result if out is None and shape == (1,) else _copy(result._shaped(shape), out=out)


def argmax(
    data: NDArray,
    axis: int | None = None,
    keepdims: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return where the greatest elements along an axis are, in the type of the array.

    The first of equal ones counts, and nan as greatest.

    >>> from afterglow import nd
    >>> nd.argmax(nd.array([[1, 5, 2], [7, 0, 7]]), axis=1).asnumpy()
    array([1., 0.], dtype=float32)
    """
    return _search(_argmax, data, axis, keepdims, out)


def argmin(
    data: NDArray,
    axis: int | None = None,
    keepdims: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return where the smallest elements along an axis are, in the type of the array.

    The first of equal ones counts, and nan as smallest.

    >>> from afterglow import nd
    >>> nd.argmin(nd.array([[1, 5, 2], [7, 0, 7]]), axis=1).asnumpy()
    array([0., 1.], dtype=float32)
    """
    return _search(_argmin, data, axis, keepdims, out)


def argmax_channel(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return where the greatest elements along axis 1 are.

    >>> from afterglow import nd
    >>> nd.argmax_channel(nd.array([[1, 5, 2], [7, 0, 7]])).asnumpy()
    array([1., 0.], dtype=float32)
    """
    return argmax(data, 1, out=out)


def cumsum(
    a: NDArray,
    axis: int | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the running sums along an axis; without one, of all elements in a row.

    >>> from afterglow import nd
    >>> nd.cumsum(nd.array([[1, 2], [3, 4]]), axis=0).asnumpy()
    array([[1., 2.],
           [4., 6.]], dtype=float32)
    """
    number = need(a, "a")._dtype_number
    wanted = (INT64 if number == BOOL else number) if dtype is None else dtype_number(dtype)
    source = a if wanted == number else _copy(a, dtype=wanted)
    if axis is None:
        source, axis = source._shaped((a.size,)), 0
    result: NDArray = _cumsum(source, as_axis(axis), out=out)
    return result

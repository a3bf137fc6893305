# SPDX-License-Identifier: Apache-2.0
"""Sums and their kin over any axes, with NumPy's shapes."""

from __future__ import annotations

import builtins
from math import nan
from math import prod as product
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._core import Array, Operation, is_recording, operation
from .._dtype import (
    BOOL,
    DTYPES,
    FLOAT32,
    FLOAT64,
    FLOATING,
    INT64,
    dtype_number,
    optional_number,
)
from .._host import from_host
from .._host_calls import on_host
from .._ordering import Ordering
from .._shapes import Shape, as_axes, as_axis, as_float, normal_axis
from .._shortcut import shortcut
from .._worlds import where as choose
from ..error import ArrayValueError, as_ours
from ._arguments import need, truth

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "average",
    "count_nonzero",
    "cumsum",
    "max",
    "mean",
    "median",
    "min",
    "percentile",
    "prod",
    "ptp",
    "quantile",
    "std",
    "sum",
    "var",
]

_sum = operation("sum", False)
_mean = operation("mean", False)
_max = operation("max", False)
_min = operation("min", False)
_prod = operation("prod", False)
_argmax = operation("argmax", False)
_argmin = operation("argmin", False)
_cumsum = operation("cumsum", False)
_copy = operation("copy", False)
_add = operation("add", False)
_subtract = operation("subtract", False)
_multiply = operation("multiply", False)
_divide = operation("divide", False)
_square = operation("square", False)
_sqrt = operation("sqrt", False)
_take = operation("take", False)
_ordering = Ordering(False)
_not_equal = operation("not_equal", False)
_maximum = operation("maximum", False)
_minimum = operation("minimum", False)


def reduce(
    call: Operation, a: Any, axis: Any, keepdims: bool, dtype: Any = None, out: Any = None
) -> ndarray:
    """Call a reduction. An array without dimensions may be reduced over axis 0 or -1.

    By position ``keepdims`` comes before ``out`` in MXNet and after it in NumPy: both are taken.
    """
    if isinstance(out, bool):
        keepdims, out = out, keepdims
    axes = as_axes(axis)
    if axes and not need(a).ndim:
        axes = tuple(axis for axis in axes if normal_axis(axis, 1) > 0)
    result: ndarray = call(
        need(a),
        axis=axes,
        keepdims=bool(keepdims),
        dtype=optional_number(dtype),
        out=out,
    )
    return result


def _reduced_axes(a: ndarray, axis: Any) -> Shape:
    """Return the axes of a reduction in full, counted from the front."""
    axes = as_axes(axis)
    if axes is None:
        return tuple(range(a.ndim))
    known = [normal_axis(one, builtins.max(a.ndim, 1)) for one in axes]
    return tuple(known) if a.ndim else ()


def _count(a: ndarray, axis: Any) -> int:
    """Return how many elements are reduced into each."""
    return product(a.shape[one] for one in _reduced_axes(a, axis))


def _reduced_shape(a: ndarray, axis: Any, keepdims: bool) -> Shape:
    axes = _reduced_axes(a, axis)
    if keepdims:
        return tuple(1 if one in axes else extent for one, extent in enumerate(a.shape))
    return tuple(extent for one, extent in enumerate(a.shape) if one not in axes)


def _typed(a: Any, number: int) -> ndarray:
    """Return the array in a type; itself if it has it."""
    result: ndarray = a if a._dtype_number == number else _copy(a, dtype=number)
    return result


def _filled(value: Any, shape: Shape, number: int, like: ndarray, out: Any) -> ndarray:
    result: ndarray = _copy(value, shape=shape, dtype=number, ctx=like._context_numbers, out=out)
    return result


def _mask(where: Any, a: ndarray) -> ndarray:
    """Return which elements count, as an array of truth values that broadcasts to ``a``."""
    mask: ndarray = truth(where)
    extents = zip(reversed(mask.shape), reversed(a.shape), strict=False)
    if mask.ndim > a.ndim or builtins.any(own not in (1, extent) for own, extent in extents):
        raise ArrayValueError(f"where of shape {mask.shape} does not broadcast to {a.shape}")
    return mask


def _fold(
    call: Operation,
    combine: Operation,
    identity: Any,
    a: Any,
    axis: Any,
    keepdims: bool,
    dtype: Any,
    initial: Any,
    out: Any,
    where: Any,
) -> ndarray:
    """Call a reduction of the elements that a mask names, and of one more number."""
    if where is not True:
        if initial is None and identity is None:
            raise ArrayValueError("a mask may leave nothing: initial is needed beside where")
        a = need(a)
        outside = _copy(initial if identity is None else identity, a._dtype_number, ())
        a = choose(_mask(where, a), a, outside)
    if initial is None:
        return reduce(call, a, axis, keepdims, dtype, out)
    if isinstance(out, bool):
        keepdims, out = out, keepdims
    a = need(a)
    if identity is None and not _count(a, axis):
        shape = _reduced_shape(a, axis, keepdims)
        return _filled(initial, shape, a._dtype_number, a, out)
    result: ndarray = combine(reduce(call, a, axis, keepdims, dtype), initial, out=out)
    return result


# --- sums ---


@shortcut("sum", "array", "axes", "dtype", "boolean")
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    out: ndarray | None = None,
    where: Any = True,
) -> ndarray:
    """Return the sum over the axes, plus ``initial``; booleans are counted in int64.

    ``where`` says which elements count.

    >>> from afterglow import np
    >>> np.sum(np.array([[1, 2], [3, 4]]), axis=0)
    array([4., 6.])
    """
    return _fold(_sum, _add, 0, a, axis, keepdims, dtype, initial, out, where)


@shortcut("mean", "array", "axes", "dtype")
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    where: Any = True,
) -> ndarray:
    """Return the mean over the axes; integers give float32. ``where`` says which elements count.

    >>> from afterglow import np
    >>> np.mean(np.array([[1, 2], [3, 4]]), axis=1)
    array([1.5, 3.5])
    """
    if where is True:
        return reduce(_mean, a, axis, keepdims, dtype, out)
    a = need(a)
    mask = _mask(where, a)
    own = a._dtype_number if a._dtype_number in FLOATING else FLOAT32
    total = sum(a, axis, DTYPES[own] if dtype is None else dtype, keepdims, where=mask)
    count = sum(mask if mask.shape == a.shape else _copy(mask, shape=a.shape), axis)
    return _divide(total, count._shaped(total.shape), out=out)  # type: ignore[no-any-return]


@shortcut("prod", "array", "axes", "dtype")
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> ndarray:
    """Return the product over the axes, times ``initial``, of the elements that ``where`` names.

    >>> from afterglow import np
    >>> np.prod(np.array([[1, 2], [3, 4]]), axis=1)
    array([ 2., 12.])
    """
    return _fold(_prod, _multiply, 1, a, axis, keepdims, dtype, initial, out, where)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> ndarray:
    """Return how many elements are not 0.

    >>> from afterglow import np
    >>> np.count_nonzero(np.array([[1, 0], [3, 4]]), axis=0)
    array([2, 1], dtype=int64)
    """
    return reduce(_sum, _truth(need(a)), axis, keepdims)


def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    out: ndarray | None = None,
) -> Any:
    """Return the mean over the axes, weighted; with ``returned`` also the sum of the weights.

    Weights have the shape of the array, or one entry for each element along the axis.

    >>> from afterglow import np
    >>> np.average(np.array([[1, 2], [3, 4]]), axis=0, weights=np.array([1, 3]))
    array([2.5, 3.5])
    """
    a = need(a)
    if weights is None:
        result = mean(a, axis, out=out)
        return [result, _filled(_count(a, axis), (), FLOAT32, a, None)] if returned else result
    weights = need(weights, "weights")
    whole = weights.shape == a.shape
    factors = weights if whole else _weights_along(a, axis, weights)
    total = sum(weights, axis if whole else None)
    weighted = sum(_multiply(a, factors), axis)
    result = _divide(weighted, total, out=out)
    return [result, total] if returned else result


def _weights_along(a: ndarray, axis: Any, weights: ndarray) -> ndarray:
    """Return weights with one dimension as a view that broadcasts along an axis of ``a``."""
    if axis is None:
        raise ArrayValueError(
            f"[average] weights of shape {weights.shape} need an axis of the array {a.shape}"
        )
    position = normal_axis(as_axis(axis), a.ndim)
    if weights.shape != (a.shape[position],):
        raise ArrayValueError(
            f"[average] weights of shape {weights.shape} do not fit axis {axis} of {a.shape}"
        )
    return weights._shaped((a.shape[position],) + (1,) * (a.ndim - 1 - position))


def _variance(a: Any, axis: Any, dtype: Any, ddof: float, keepdims: bool) -> tuple[ndarray, int]:
    """Return the variance, wide enough to go on with, and the type that it is wanted in."""
    a = need(a)
    own = a._dtype_number if a._dtype_number in FLOATING else FLOAT32
    number = own if dtype is None else dtype_number(dtype)
    values = _typed(a, FLOAT64 if number == FLOAT64 else FLOAT32)
    squares = _square(_subtract(values, mean(values, axis, keepdims=True)))
    if ddof == 0:
        return mean(squares, axis, keepdims=keepdims), number
    freedom = as_float(builtins.max(_count(a, axis) - ddof, 0), "[var] ddof")
    return _divide(sum(squares, axis, keepdims=keepdims), freedom), number


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
) -> ndarray:
    """Return the mean square distance from the mean; integers give float32.

    ``ddof`` is taken off the number of elements that the sum of squares is divided by.

    >>> from afterglow import np
    >>> np.var(np.array([[1, 2], [3, 6]]), axis=0)
    array([1., 4.])
    """
    result, number = _variance(a, axis, dtype, ddof, keepdims)
    return _typed(result, number) if out is None else _copy(result, dtype=number, out=out)


@shortcut("std", parameters=2)
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
) -> ndarray:
    """Return the square root of the variance; arguments as for :func:`var`.

    >>> from afterglow import np
    >>> np.std(np.array([[1, 2], [3, 6]]), axis=0)
    array([1., 2.])
    """
    variance, number = _variance(a, axis, dtype, ddof, keepdims)
    result = _sqrt(variance)
    return _typed(result, number) if out is None else _copy(result, dtype=number, out=out)


# --- orders ---


@shortcut("max", "array", "axes", "boolean")
def max(
    a: Any,
    axis: Any = None,
    keepdims: bool = False,
    out: ndarray | None = None,
    initial: Any = None,
    where: Any = True,
) -> ndarray:
    """Return the greatest element along the axes; nan wins.

    ``initial`` is one more of them, and needed where ``where`` chooses among the others.

    >>> from afterglow import np
    >>> np.max(np.array([[1, 2], [3, 4]]), axis=0)
    array([3., 4.])
    """
    return _fold(_max, _maximum, None, a, axis, keepdims, None, initial, out, where)


@shortcut("min", "array", "axes", "boolean")
def min(
    a: Any,
    axis: Any = None,
    keepdims: bool = False,
    out: ndarray | None = None,
    initial: Any = None,
    where: Any = True,
) -> ndarray:
    """Return the smallest element along the axes; nan wins.

    ``initial`` is one more of them, and needed where ``where`` chooses among the others.

    >>> from afterglow import np
    >>> np.min(np.array([[1, 2], [3, 4]]), axis=1)
    array([1., 3.])
    """
    return _fold(_min, _minimum, None, a, axis, keepdims, None, initial, out, where)


amax = max
amin = min


def ptp(a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    """Return the distance from the smallest to the greatest element along the axes.

    >>> from afterglow import np
    >>> np.ptp(np.array([[1, 2], [3, 6]]), axis=0)
    array([2., 4.])
    """
    result: ndarray = _subtract(max(a, axis, keepdims), min(a, axis, keepdims), out=out)
    return result


def _truth(a: ndarray) -> ndarray:
    """Return which elements are not 0."""
    result: ndarray = a if a._dtype_number == BOOL else _not_equal(a, 0)
    return result


def _decide(
    call: Operation,
    nothing: bool,
    a: Any,
    axis: Any,
    keepdims: bool,
    out: ndarray | None,
    where: Any,
) -> ndarray:
    """Reduce truth values; over no elements the answer is ``nothing``."""
    a = need(a)
    if where is not True:
        a = choose(_mask(where, a), _truth(a), _copy(nothing, BOOL, ()))
    if _count(a, axis):
        return reduce(call, _truth(a), axis, keepdims, out=out)
    return _filled(nothing, _reduced_shape(a, axis, keepdims), BOOL, a, out)


@shortcut("any", parameters=3)
def any(
    a: Any,
    axis: Any = None,
    keepdims: bool = False,
    out: ndarray | None = None,
    where: Any = True,
) -> ndarray:
    """Return whether an element along the axes is not 0.

    >>> from afterglow import np
    >>> np.any(np.array([[1, 0], [3, 0]]), axis=0)
    array([ True, False])
    """
    return _decide(_max, False, a, axis, keepdims, out, where)


@shortcut("all", parameters=3)
def all(
    a: Any,
    axis: Any = None,
    keepdims: bool = False,
    out: ndarray | None = None,
    where: Any = True,
) -> ndarray:
    """Return whether no element along the axes is 0.

    >>> from afterglow import np
    >>> np.all(np.array([[1, 0], [3, 4]]), axis=0)
    array([ True, False])
    """
    return _decide(_min, True, a, axis, keepdims, out, where)


# --- along one axis ---


def _search(call: Operation, a: Any, axis: Any, out: ndarray | None) -> ndarray:
    a = need(a)
    result: ndarray
    if axis is None or not a.ndim:
        if axis is not None:
            normal_axis(as_axis(axis), 1)
        result = call(a._shaped((a.size,)), 0, out=out)
    else:
        result = call(a, as_axis(axis), out=out)
    return result


@shortcut("argmax", "ranked", "flat axis")
def argmax(a: Any, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    """Return where the greatest elements along an axis are, in int64.

    The first of equal ones counts, and nan as greatest.

    >>> from afterglow import np
    >>> np.argmax(np.array([[1, 5, 2], [7, 0, 7]]), axis=1)
    array([1, 0], dtype=int64)
    """
    return _search(_argmax, a, axis, out)


@shortcut("argmin", "ranked", "flat axis")
def argmin(a: Any, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    """Return where the smallest elements along an axis are, in int64.

    The first of equal ones counts, and nan as smallest.

    >>> from afterglow import np
    >>> np.argmin(np.array([[1, 5, 2], [7, 0, 7]]), axis=1)
    array([0, 1], dtype=int64)
    """
    return _search(_argmin, a, axis, out)


def cumsum(
    a: Any, axis: int | None = None, dtype: Any = None, out: ndarray | None = None
) -> ndarray:
    """Return the running sums along an axis; without one, of all elements in a row.

    >>> from afterglow import np
    >>> np.cumsum(np.array([[1, 2], [3, 4]]), axis=0)
    array([[1., 2.],
           [4., 6.]])
    """
    a = need(a)
    own = INT64 if a._dtype_number == BOOL else a._dtype_number
    source = _typed(a, own if dtype is None else dtype_number(dtype))
    if axis is None or not a.ndim:
        source, axis = source._shaped((a.size,)), 0 if axis is None else normal_axis(axis, 1)
    result: ndarray = _cumsum(source, as_axis(axis), out=out)
    return result


# --- quantiles ---

_interpolations = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: ndarray | None = None,
    overwrite_input: bool | None = None,
    interpolation: str = "linear",
    keepdims: bool = False,
) -> ndarray:
    """Return what the fraction ``q`` of the elements along the axes is not greater than.

    Several fractions give one result each, along a new first axis. The type is float32, or float64
    for an array of that type.

    >>> from afterglow import np
    >>> np.quantile(np.array([1, 2, 4, 8, 16]), 0.5)
    array(4.)
    """
    return _quantile("quantile", a, q, 1.0, axis, out, interpolation, keepdims)


def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: ndarray | None = None,
    overwrite_input: bool | None = None,
    interpolation: str = "linear",
    keepdims: bool = False,
) -> ndarray:
    """Return what ``q`` per cent of the elements along the axes are not greater than.

    >>> from afterglow import np
    >>> np.percentile(np.array([1, 2, 4, 8, 16]), np.array([0, 25, 100]))
    array([ 1.,  2., 16.])
    """
    return _quantile("percentile", a, q, 100.0, axis, out, interpolation, keepdims)


def median(
    a: Any,
    axis: Any = None,
    out: ndarray | None = None,
    overwrite_input: bool | None = None,
    keepdims: bool = False,
) -> ndarray:
    """Return the element in the middle of the order, or the mean of the two in the middle.

    Of nothing it is nan.

    >>> from afterglow import np
    >>> np.median(np.array([[1, 9, 2], [4, 5, 7]]), axis=1)
    array([2., 5.])
    """
    if not _count(need(a), axis):
        number = FLOAT64 if a._dtype_number == FLOAT64 else FLOAT32
        return _filled(nan, _reduced_shape(a, axis, keepdims), number, a, out)
    return _quantile("median", a, 0.5, 1.0, axis, out, "linear", keepdims)


def _quantile(
    name: str,
    a: Any,
    q: Any,
    whole: float,
    axis: Any,
    out: ndarray | None,
    interpolation: str,
    keepdims: bool,
) -> ndarray:
    """Queue a quantile; ``q`` counts from 0 to ``whole``."""
    a = need(a)
    if interpolation not in _interpolations:
        raise ArrayValueError(
            f"[{name}] interpolation is {interpolation!r}; it must be one of "
            f"{', '.join(_interpolations)}"
        )
    if not _count(a, axis):
        raise ArrayValueError(f"[{name}] there is nothing to choose from in shape {a.shape}")
    inputs = [a]
    if isinstance(q, Array):
        inputs.append(q)
    else:
        with as_ours(name):
            q = onp.asarray(q, dtype=onp.float64)
        if ((q < 0) | (q > whole)).any():
            raise ArrayValueError(f"[{name}] q must lie between 0 and {whole:g}, but is {q}")
    number = FLOAT64 if a._dtype_number == FLOAT64 else FLOAT32
    axes = None if axis is None else _reduced_axes(a, axis)
    shape = (*q.shape, *_reduced_shape(a, axis, keepdims))
    if is_recording() and not isinstance(q, Array) and a._dtype_number in FLOATING:
        result: ndarray = _sorted_quantile(a, q / whole, axes, interpolation)._shaped(shape)
        result = _copy(result, dtype=number, out=out)
        return result

    def find(values: Any, fractions: Any = q) -> Any:
        fractions = onp.asarray(fractions, dtype=onp.float64) / whole
        if not ((fractions >= 0) & (fractions <= 1)).all():
            raise ValueError(f"q must lie between 0 and {whole:g}")
        return _host_quantile(values, fractions, axes, interpolation).reshape(shape)

    result = on_host(name, find, *inputs, shape=shape, dtype=number, legacy=False)
    return result if out is None else _copy(result, out=out)


def _neighbours(q: Any, length: int, interpolation: str) -> tuple[Any, Any, Any]:
    """Return for each fraction the places below and above it in order, and the share of the latter.

    Where both are one place, the share does not matter.
    """
    place = q.ravel() * (length - 1)
    below, above = onp.floor(place), onp.ceil(place)
    if interpolation == "nearest":
        below = above = onp.rint(place)
    elif interpolation in ("lower", "higher"):
        below = above = below if interpolation == "lower" else above
    share = onp.full_like(place, 0.5) if interpolation == "midpoint" else place - below
    return below.astype(onp.int64), above.astype(onp.int64), share


def _host_quantile(values: Any, q: Any, axes: Shape | None, interpolation: str) -> Any:
    """Return quantiles on the host; those of ``q`` come first."""
    reduced = tuple(range(values.ndim)) if axes is None else axes
    kept = [axis for axis in range(values.ndim) if axis not in reduced]
    length = product(values.shape[axis] for axis in reduced)
    lines = values.transpose((*kept, *reduced)).reshape(-1, length).astype(onp.float64)
    below, above, share = _neighbours(q, length, interpolation)
    lines.partition(onp.unique([*below, *above, length - 1]))
    low, high, last = lines[:, below], lines[:, above], lines[:, -1:]
    with onp.errstate(invalid="ignore"):
        between = onp.where(low == high, low, low * (1 - share) + high * share)
    # nan is the last in order, and wins.
    return onp.where(onp.isnan(last), last, between).T


def _sorted_quantile(a: ndarray, q: Any, axes: Shape | None, interpolation: str) -> ndarray:
    """Return quantiles as a composition that has a gradient; those of ``q`` come first."""
    reduced = tuple(range(a.ndim)) if axes is None else axes
    kept = [axis for axis in range(a.ndim) if axis not in reduced]
    lines = a._permuted((*kept, *reduced))._shaped(
        (product(a.shape[axis] for axis in kept), product(a.shape[axis] for axis in reduced))
    )
    ordered = _ordering.sort(lines, 1, True)
    below, above, share = _neighbours(q, lines.shape[1], interpolation)
    first, second, weight = (
        from_host(host, a._context_numbers, False, number)
        for host, number in ((below, INT64), (above, INT64), (share, ordered._dtype_number))
    )
    low, high = (_take(ordered, index, axis=1, mode="clip") for index in (first, second))
    # nan is the last in order, and wins.
    last = ordered._view(lines.shape[1] - 1, (lines.shape[0], 1), (lines.shape[1], 1))
    between = choose(low == high, low, low * (1 - weight) + high * weight)  # may be infinite
    found = choose(last == last, between, last)
    result: ndarray = found._permuted((1, 0))
    return result

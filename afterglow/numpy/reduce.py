# SPDX-License-Identifier: Apache-2.0
"""Reductions that are more than an op, with NumPy's shapes."""

from __future__ import annotations

from math import nan
from math import prod as product
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._arrays.dtypes import FLOAT32, FLOAT64, FLOATING, INT64
from .._arrays.shapes import Shape, as_axis, normal_axis
from .._arrays.worlds import NUMPY
from .._arrays.worlds import where as choose
from .._core import Array, is_recording
from .._interoperation.host import from_host
from .._interoperation.host_calls import Host, Spec, declare_host
from ..error import ArrayValueError, as_ours
from ._arguments import need, truth
from ._ops import max, mean, min, sum
from ._rare_forms import count_of, filled, reduced_axes, reduced_shape

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    "average",
    "count_nonzero",
    "median",
    "percentile",
    "ptp",
    "quantile",
]


# --- sums ---


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> ndarray:
    """Return how many elements are not 0.

    >>> from afterglow import np
    >>> np.count_nonzero(np.array([[1, 0], [3, 4]]), axis=0)
    array([2, 1], dtype=int64)
    """
    return sum(truth(need(a)), axis, keepdims=keepdims)


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
        return [result, filled(count_of(a, axis), (), FLOAT32, a, None)] if returned else result
    weights = need(weights, "weights")
    whole = weights.shape == a.shape
    factors = weights if whole else _weights_along(a, axis, weights)
    total = sum(weights, axis if whole else None)
    weighted = sum(NUMPY.multiply(a, factors), axis)
    result = NUMPY.divide(weighted, total, out=out)
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


# --- orders ---


def ptp(a: Any, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    """Return the distance from the smallest to the greatest element along the axes.

    >>> from afterglow import np
    >>> np.ptp(np.array([[1, 2], [3, 6]]), axis=0)
    array([2., 4.])
    """
    return NUMPY.subtract(max(a, axis, keepdims), min(a, axis, keepdims), out=out)


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
    if not count_of(need(a), axis):
        number = FLOAT64 if a._dtype_number == FLOAT64 else FLOAT32
        return filled(nan, reduced_shape(a, axis, keepdims), number, a, out)  # type: ignore[no-any-return]
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
    if not count_of(a, axis):
        raise ArrayValueError(f"[{name}] there is nothing to choose from in shape {a.shape}")
    by_array = isinstance(q, Array)
    if not by_array:
        with as_ours(name):
            q = onp.asarray(q, dtype=onp.float64)
        if ((q < 0) | (q > whole)).any():
            raise ArrayValueError(f"[{name}] q must lie between 0 and {whole:g}, but is {q}")
    axes = reduced_axes(a, axis)
    shape = (*q.shape, *reduced_shape(a, axis, keepdims))
    if is_recording() and not by_array and a._dtype_number in FLOATING:
        found = _sorted_quantile(a, q / whole, axes, interpolation)._shaped(shape)
        number = FLOAT64 if a._dtype_number == FLOAT64 else FLOAT32
        return NUMPY.copy(found, dtype=number, out=out)
    result: ndarray = _host_quantiles[name](
        a,
        q if by_array else None,
        places=None if by_array else q,
        whole=whole,
        axes=axes,
        interpolation=interpolation,
        shape=shape,
        legacy=False,
    )
    return result if out is None else NUMPY.copy(result, out=out)


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


def _find_quantile(
    a: Host,
    q: Host | None = None,
    *,
    places: Any = None,
    whole: float = 1.0,
    axes: Shape = (),
    interpolation: str = "linear",
    shape: Shape = (),
) -> Any:
    """Return what ``q`` (or ``places``) of ``whole`` along the axes are not greater than."""
    fractions = onp.asarray(places if q is None else q, dtype=onp.float64) / whole
    if not ((fractions >= 0) & (fractions <= 1)).all():
        raise ValueError(f"q must lie between 0 and {whole:g}")
    kept = [axis for axis in range(a.ndim) if axis not in axes]
    length = product(a.shape[axis] for axis in axes)
    lines = a.transpose((*kept, *axes)).reshape(-1, length).astype(onp.float64)
    below, above, share = _neighbours(fractions, length, interpolation)
    lines.partition(onp.unique([*below, *above, length - 1]))
    low, high, last = lines[:, below], lines[:, above], lines[:, -1:]
    with onp.errstate(invalid="ignore"):
        between = onp.where(low == high, low, low * (1 - share) + high * share)
    # nan is the last in order, and wins.
    return onp.where(onp.isnan(last), last, between).T.reshape(shape)


def _infer_quantile(a: Spec, *_: Spec | None, shape: Shape, **__: Any) -> Spec:
    return Spec(shape, FLOAT64 if a.dtype == FLOAT64 else FLOAT32)


_host_quantiles = {
    name: declare_host(name, infer=_infer_quantile)(_find_quantile)
    for name in ("quantile", "percentile", "median")
}


def _sorted_quantile(a: ndarray, q: Any, axes: Shape, interpolation: str) -> ndarray:
    """Return quantiles as a composition that has a gradient; those of ``q`` come first."""
    kept = [axis for axis in range(a.ndim) if axis not in axes]
    extents = tuple(product(a.shape[axis] for axis in group) for group in (kept, axes))
    lines = a._permuted((*kept, *axes))._shaped(extents)
    ordered = NUMPY.sort(lines, 1)
    below, above, share = _neighbours(q, lines.shape[1], interpolation)
    first, second, weight = (
        from_host(host, a._context_numbers, False, number)
        for host, number in ((below, INT64), (above, INT64), (share, ordered._dtype_number))
    )
    low, high = (NUMPY.take(ordered, index, axis=1, mode="clip") for index in (first, second))
    # nan is the last in order, and wins.
    last = ordered._view(lines.shape[1] - 1, (lines.shape[0], 1), (lines.shape[1], 1))
    between = choose(low == high, low, low * (1 - weight) + high * weight)  # may be infinite
    found = choose(last == last, between, last)
    result: ndarray = found._permuted((1, 0))
    return result

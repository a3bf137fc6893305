# SPDX-License-Identifier: Apache-2.0
"""Orders and counts of elements: what is more than one op, and rare forms of those that are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as onp

from .._arrays.dtypes import FLOAT32, FLOATING, INT64
from .._arrays.shapes import normal_axis
from .._arrays.worlds import NUMPY
from .._core import Array, is_recording
from .._core import unique as find_unique
from .._interoperation.host import from_host
from ..error import (
    ArrayNotImplementedError,
    ArrayTypeError,
    ArrayValueError,
    MXNetError,
    as_ours,
)
from ..ndarray.sorting import count_in_bins
from ._arguments import need

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    "bincount",
    "ediff1d",
    "histogram",
    "unique",
]


# --- order: what the functions do beside calling their op ---


def sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> ndarray:
    """Leave the kind of sorting to us: equal elements keep their order."""
    _refuse_fields("sort", order)
    return NUMPY.sort(need(a), axis)


def argsort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> ndarray:
    """Leave the kind of sorting to us: equal elements keep their order."""
    _refuse_fields("argsort", order)
    return NUMPY.argsort(need(a), axis)


def _refuse_fields(name: str, order: Any) -> None:
    if order is not None:
        raise ArrayNotImplementedError(f"[{name}] order names fields, which arrays do not have")


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> ndarray:
    """Take numbers and sequences too."""
    values = v if isinstance(v, (Array, onp.ndarray)) else onp.asarray(v)
    order = None if sorter is None else need(sorter, "sorter")
    return NUMPY.searchsorted(need(a), need(values, "v"), order, side)


RARE = {"argsort": argsort, "searchsorted": searchsorted, "sort": sort}


# --- counts ---


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
) -> Any:
    """Return the different elements in order, or the different parts along an axis. Waits.

    On demand a tuple of them and of their first places, of the places in them that give the array
    back, and of how often each occurs.

    >>> from afterglow import np
    >>> np.unique(np.array([3, 1, 3]), return_counts=True)
    (array([1., 3.]), array([1, 2], dtype=int64))
    """
    if axis is not None or return_index or return_inverse or return_counts:
        return _unique_with(need(ar, "ar"), return_index, (return_inverse, return_counts), axis)
    alone = find_unique(ar)
    if alone is not None:
        return alone
    ar = need(ar, "ar")
    if is_recording():
        return _unique_with(ar, False, (False, False), None)
    return from_host(onp.unique(ar.asnumpy()), ar._context_numbers, False)


def _unique_with(ar: Any, return_index: bool, others: tuple[bool, bool], axis: int | None) -> Any:
    """Return the different elements with what else is asked for, or to be differentiated."""
    if axis is not None:
        axis = normal_axis(axis, ar.ndim)
    options: Any = (True, *others, axis)
    _, *places = onp.unique(ar.asnumpy(), *options)
    context = ar._context_numbers
    first, *more = (from_host(each.reshape(-1), context, False, INT64) for each in places)
    flat = ar._shaped((ar.size,)) if axis is None else ar
    values = NUMPY.take(flat, first, axis=axis or 0, mode="clip")
    results = (values, *([first] if return_index else []), *more)
    return results if len(results) > 1 else values


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> ndarray:
    """Return how often each number from 0 on occurs, or the sums of their weights. Waits.

    The type is that of the array, or of the weights.

    >>> from afterglow import np
    >>> np.bincount(np.array([1, 1, 3], dtype="int64"))
    array([0, 2, 0, 1], dtype=int64)
    """
    x = need(x, "x")
    if x._dtype_number in FLOATING:
        raise ArrayTypeError(f"[bincount] needs integers, not {x.dtype}")
    if x.ndim > 1 or minlength < 0:
        raise ArrayValueError(
            f"[bincount] needs one dimension and no negative minlength, but got shape {x.shape} "
            f"and {minlength}"
        )
    host = None if weights is None else need(weights, "weights").asnumpy()
    try:
        with as_ours("bincount"):
            counts = onp.bincount(x.asnumpy().reshape(-1), host, minlength)
    except MXNetError:
        raise
    except ValueError as error:
        raise ArrayValueError(f"[bincount] {error}") from None
    number = x._dtype_number if weights is None else weights._dtype_number
    result: ndarray = from_host(counts, x._context_numbers, False, number)
    if is_recording() and weights is not None:  # as a composition, which has a gradient
        zeros = NUMPY.copy(0, shape=result.shape, dtype=number, ctx=x._context_numbers)
        result = NUMPY.scatter([zeros, weights, x], add=True)
    return result


def histogram(
    a: Any,
    bins: Any = 10,
    range: Any = None,
    normed: Any = None,
    weights: Any = None,
    density: Any = None,
) -> list[ndarray]:
    """Return how many elements lie in each of the bins, and the edges of these.

    ``bins`` is their number, or an array of edges. Without a range they reach from the smallest to
    the greatest element.

    >>> from afterglow import np
    >>> np.histogram(np.array([1, 1, 3]), bins=2, range=(0, 4))
    [array([2, 1], dtype=int64), array([0., 2., 4.])]
    """
    if normed or density or weights is not None:
        raise ArrayNotImplementedError("[histogram] knows no normed, weights and density")
    a = need(a)
    edges = None
    kind = a._dtype_number if a._dtype_number in FLOATING else FLOAT32
    if not isinstance(bins, (int, onp.integer)):
        with as_ours("histogram"):
            edges = need(bins if isinstance(bins, Array) else onp.asarray(bins, dtype=onp.float32))
        bins, kind = None, edges._dtype_number
    result: list[ndarray] = count_in_bins(
        a, edges, bins=bins, range=range, dtypes=(INT64, kind), legacy=False
    )
    return result


# --- differences ---


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> ndarray:
    """Return the differences of neighbours in a row, with more elements before and behind.

    >>> from afterglow import np
    >>> np.ediff1d(np.array([[1, 4], [9, 16]]), to_end=0)
    array([3., 5., 7., 0.])
    """
    ary = need(ary, "ary")
    middle = NUMPY.diff(ary._shaped((ary.size,)))
    parts = [_part(to_begin, middle), middle, _part(to_end, middle)]
    present = [part for part in parts if part is not None]
    return middle if len(present) == 1 else NUMPY.concat(present, 0)


def _part(value: Any, like: ndarray) -> ndarray | None:
    """Return elements to put beside ``like``, in its type and in a row."""
    if value is None:
        return None
    number, context = like._dtype_number, like._context_numbers
    if isinstance(value, (int, float, onp.generic)):
        return NUMPY.copy(value, shape=(1,), dtype=number, ctx=context)
    array = need(value if isinstance(value, Array) else onp.asarray(value))
    return NUMPY.copy(array._shaped((array.size,)), dtype=number)

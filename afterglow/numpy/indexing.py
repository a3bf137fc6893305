# SPDX-License-Identifier: Apache-2.0
"""Elements picked by index arrays: take, nonzero, delete, insert and their kin.

What decides the shape of a result is waited for: the array of :func:`nonzero`, masks, the places of
:func:`delete` and :func:`insert`. All else is queued.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as onp

from .._arrays.dtypes import INT64
from .._arrays.op_functions import RareForms
from .._arrays.shapes import Shape, as_shape, normal_axis
from .._arrays.worlds import NUMPY
from .._core import Array, true_positions
from .._interoperation.host import from_host
from .._interoperation.host_calls import Host, Spec, declare_host
from ..context import current_context
from ..error import (
    ArrayIndexError,
    ArrayNotImplementedError,
    ArrayTypeError,
    ArrayValueError,
    as_ours,
)
from ._arguments import need

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    "append",
    "argwhere",
    "compress",
    "delete",
    "extract",
    "flatnonzero",
    "insert",
    "nonzero",
    "unravel_index",
]

# --- indices that are no array ---


def _take(
    a: Any, indices: Any, axis: int | None = None, mode: str = "raise", out: ndarray | None = None
) -> ndarray:
    array = need(a)
    places = _places(indices, array._context_numbers)
    return NUMPY.take(array, places, axis=axis, mode=mode, out=out)


def _take_along_axis(arr: Any, indices: Any, axis: int | None) -> ndarray:
    array = need(arr, "arr")
    places = _places(indices, array._context_numbers)
    return NUMPY.take_along_axis(array, places, axis=axis)


#: Of the ops of this family.
RARE_FORMS: RareForms = {"take": _take, "take_along_axis": _take_along_axis}


def _places(indices: Any, context: tuple[int, int]) -> Any:
    """Return indices as an array of ours."""
    if isinstance(indices, Array):
        return indices
    try:
        host = onp.asarray(indices)
        host = host.astype(onp.int64, casting="same_kind" if host.size else "unsafe")
    except (TypeError, ValueError) as error:
        raise ArrayTypeError(f"[take] indices must be integers: {error}") from None
    return from_host(host, context, False)


# --- where elements are ---


def nonzero(a: Any) -> tuple[ndarray, ...]:
    """Return the indices of all elements that are not 0, an array per axis. Waits.

    >>> from afterglow import np
    >>> np.nonzero(np.array([[3, 0], [0, 4]]))
    (array([0, 1], dtype=int64), array([0, 1], dtype=int64))
    """
    places = true_positions(a)
    return _positions(need(a)) if places is None else (places,)


def _positions(array: Any) -> tuple[ndarray, ...]:
    """Return those in an array of any number of axes."""
    host, context = array.asnumpy(), array._context_numbers
    found = (host if host.ndim else host.reshape(1)).nonzero()
    return tuple([from_host(part, context, False, INT64) for part in found])


def flatnonzero(a: Any) -> ndarray:
    """Return where in the flat array the elements are that are not 0. Waits.

    >>> from afterglow import np
    >>> np.flatnonzero(np.array([[3, 0], [0, 4]]))
    array([0, 3], dtype=int64)
    """
    array = need(a)
    result: ndarray = true_positions(array._shaped((array.size,)))
    return result


def argwhere(a: Any) -> ndarray:
    """Return the indices of all elements that are not 0, a row per element. Waits.

    >>> from afterglow import np
    >>> np.argwhere(np.array([[3, 0], [0, 4]]))
    array([[0, 0],
           [1, 1]], dtype=int64)
    """
    array = need(a)
    result: ndarray = from_host(onp.argwhere(array.asnumpy()), array._context_numbers, False, INT64)
    return result


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[ndarray, ...]:
    """Return the index along each axis of places in a flat array.

    >>> from afterglow import np
    >>> np.unravel_index(np.array([22, 41], dtype="int64"), (7, 6))
    (array([3, 6], dtype=int64), array([4, 5], dtype=int64))
    """
    if order != "C":
        raise ArrayNotImplementedError(f"[unravel_index] counts in order 'C', not {order!r}")
    extents = as_shape(shape)
    places = _places(indices, current_context().numbers)
    if not extents:
        raise ArrayValueError("[unravel_index] a shape without axes has no indices")
    return tuple(_unraveled(places, shape=extents, legacy=False))


@declare_host(
    "np_unravel_index", infer=lambda indices, shape: [Spec(indices.shape, INT64)] * len(shape)
)
def _unraveled(indices: Host, *, shape: Shape) -> Any:
    """Return the index along each axis of places in a flat array."""
    return onp.unravel_index(indices.astype(onp.int64), shape)


# --- other numbers of elements ---


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> ndarray:
    """Return what lies along an axis where a condition is not 0. Waits for the condition.

    >>> from afterglow import np
    >>> np.compress(np.array([0, 1]), np.array([[1, 2], [3, 4]]), axis=0)
    array([[3., 4.]])
    """
    return _take(a, onp.flatnonzero(_on_host(condition)), axis, out=out)


def extract(condition: Any, arr: Any) -> ndarray:
    """Return the elements where a condition is not 0, in a row. Waits for the condition.

    >>> from afterglow import np
    >>> x = np.array([[1, 2], [3, 4]])
    >>> np.extract(x > 2, x)
    array([3., 4.])
    """
    return compress(onp.ravel(_on_host(condition)), arr)


def _on_host(value: Any) -> Any:
    return value.asnumpy() if isinstance(value, Array) else onp.asarray(value)


def delete(arr: Any, obj: Any, axis: int | None = None) -> ndarray:
    """Return an array without what lies at some places along an axis, or in the flat array.

    >>> from afterglow import np
    >>> np.delete(np.array([[1, 2, 3], [4, 5, 6]]), 1, axis=1)
    array([[1., 3.],
           [4., 6.]])
    """
    array, along = _flat_unless(need(arr, "arr"), axis)
    try:
        left = onp.delete(onp.arange(array.shape[along]), _host_places(obj))
    except IndexError as error:
        raise ArrayIndexError(f"[delete] {error}") from None
    return _take(array, left, along)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> ndarray:
    """Return an array with values put in before some places along an axis, or in the flat array.

    >>> from afterglow import np
    >>> np.insert(np.array([1, 2, 3]), 1, 9)
    array([1., 9., 2., 3.])
    """
    array, along = _flat_unless(need(arr, "arr"), axis)
    extent = array.shape[along]
    places = onp.arange(extent)[obj] if isinstance(obj, slice) else onp.asarray(_host_places(obj))
    with as_ours("insert"):
        new = _values(values, array)
    if places.size == 1:
        # NumPy takes the first axis of the values for the one they go along.
        if not places.ndim:
            new = new._permuted((*range(1, along + 1), 0, *range(along + 1, new.ndim)))
        first = _checked_place(int(places.item()), extent)
        places = onp.arange(first, first + new.shape[along])
    else:
        places = onp.array([_checked_place(int(place), extent) for place in places.flat], onp.int64)
        places[onp.argsort(places, kind="stable")] += onp.arange(places.size)
    total = extent + places.size
    shape = (*array.shape[:along], total, *array.shape[along + 1 :])
    before = (slice(None),) * along
    result = NUMPY.empty(shape=shape, dtype=array._dtype_number, ctx=array._context_numbers)
    result[(*before, onp.delete(onp.arange(total), places))] = array
    result[(*before, places)] = new
    return result


def _flat_unless(array: Any, axis: int | None) -> tuple[Any, int]:
    if axis is None:
        return array._shaped((array.size,)), 0
    return array, normal_axis(axis, array.ndim)


def _host_places(obj: Any) -> Any:
    """Return places as NumPy takes them; waits for an array of ours."""
    if isinstance(obj, (int, slice, onp.integer)):
        return obj
    host = _on_host(obj)
    with as_ours("insert"):
        return host if host.dtype.kind == "b" and host.size else host.astype(onp.int64)


def _checked_place(place: int, extent: int) -> int:
    if not -extent <= place <= extent:
        raise ArrayIndexError(
            f"[insert] place {place} is out of bounds for an axis of size {extent}"
        )
    return place + extent if place < 0 else place


def _values(values: Any, array: Any) -> Any:
    """Return values in the type of the array, with as many axes at least."""
    if isinstance(values, Array):
        ours: Any = NUMPY.copy(values, dtype=array._dtype_number)
    else:
        ours = from_host(onp.asarray(values), array._context_numbers, False, array._dtype_number)
    missing = array.ndim - ours.ndim
    return ours._shaped((*(1,) * missing, *ours.shape)) if missing > 0 else ours


def append(arr: Any, values: Any, axis: int | None = None) -> ndarray:
    """Return values behind an array along an axis; all elements in a row without one.

    >>> from afterglow import np
    >>> np.append(np.array([1, 2]), np.array([[3, 4]]))
    array([1., 2., 3., 4.])
    """
    arrays = [need(arr, "arr"), need(values, "values")]
    if axis is None:
        arrays = [one._shaped((one.size,)) for one in arrays]
    return NUMPY.concat(arrays, 0 if axis is None else axis)

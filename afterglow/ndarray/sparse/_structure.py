# SPDX-License-Identifier: Apache-2.0
"""Where the elements of sparse arrays are, found with NumPy: how many there are depends on values.

What is read here are indices, never the stored values unless a dense array is searched for zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as onp

from ..._arrays.dtypes import dtype_number
from ..._core import make_sparse, sparse_parts
from ..._interoperation.host import from_host

Host = onp.ndarray[Any, Any]

INT64 = dtype_number("int64")


def from_indices(host: Any, context: tuple[int, int]) -> Any:
    """Return indices as an array."""
    return from_host(onp.ascontiguousarray(host, onp.int64), context, True, INT64)


def assemble(shape: Any, data: Any, indices: Any, indptr: Any = None) -> Any:
    """Return a sparse array of data and indices, which NumPy may hold."""
    place = data._context_numbers
    parts = [
        from_indices(one, place) if isinstance(one, onp.ndarray) else one
        for one in (indices, indptr)
    ]
    return make_sparse(tuple(int(extent) for extent in shape), data, *parts)


def indices_of(array: Any) -> Host:
    """Return the rows of a row_sparse array, or the columns of a csr array. Waits for them."""
    host: Host = sparse_parts(array)[1].asnumpy()
    return host


def indptr_of(array: Any) -> Host:
    """Return where the rows of a csr array begin and end. Waits for it."""
    host: Host = sparse_parts(array)[2].asnumpy()
    return host


def rows_of(array: Any) -> Host:
    """Return the row of each element that a csr array stores."""
    indptr = indptr_of(array)
    return onp.repeat(onp.arange(array.shape[0]), onp.diff(indptr))


def indptr_from(rows: Host, count: int) -> Host:
    """Return where each row begins and ends, of rows in order."""
    return onp.concatenate(([0], onp.cumsum(onp.bincount(rows, minlength=count)))).astype(onp.int64)


def places_of(array: Any) -> Host:
    """Return the place in the flat dense array of each element, or row, that is stored."""
    if array.stype == "row_sparse":
        return indices_of(array)
    places: Host = rows_of(array) * array.shape[1] + indices_of(array)
    return places


def from_places(like: Any, data: Any, places: Host) -> Any:
    """Return an array of the kind and shape of another from places in order."""
    if like.stype == "row_sparse":
        return assemble(like.shape, data, places)
    rows, columns = onp.divmod(places, like.shape[1])
    return assemble(like.shape, data, columns, indptr_from(rows, like.shape[0]))


def distinct(indices: Host, extent: int) -> tuple[Host, Host]:
    """Return the different ones of indices below an extent, in order, and where each is there."""
    within = extent <= 8 * len(indices) and indices.min(initial=0) >= 0
    if not within or indices.max(initial=-1) >= extent:
        found, places = onp.unique(indices, return_inverse=True)
        return found, places.reshape(-1)
    there = onp.zeros(extent, bool)  # a table is quicker than sorting while it is small
    there[indices] = True
    return onp.flatnonzero(there), (onp.cumsum(there) - 1)[indices]

# SPDX-License-Identifier: Apache-2.0
"""Sparse arrays for tests."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as onp

from .. import ndarray as nd
from .surroundings import default_context, default_dtype

__all__ = [
    "create_sparse_array",
    "create_sparse_array_zd",
    "rand_sparse_ndarray",
    "shuffle_csr_column_indices",
]

Modifier = Callable[[Any], Any] | None


def rand_sparse_ndarray(
    shape: Any,
    stype: str,
    density: float | None = None,
    dtype: Any = None,
    distribution: str | None = None,
    data_init: float | None = None,
    rsp_indices: Any = None,
    modifier_func: Modifier = None,
    shuffle_csr_indices: bool = False,
    ctx: Any = None,
) -> tuple[Any, tuple[Any, ...]]:
    """Return a random sparse array and what it is made of.

    For row_sparse that are values and rows, for csr indptr, indices and values. ``density`` is the
    share that is stored, of "uniform" places or, of csr, by "powerlaw": each row has twice as many
    as the one before.

    >>> from afterglow import test_utils
    >>> x, (values, rows) = test_utils.rand_sparse_ndarray((4, 2), "row_sparse", density=1)
    >>> print(rows)
    [0 1 2 3]
    """
    ctx = ctx or default_context()
    density = onp.random.rand() if density is None else density
    dtype = default_dtype() if dtype is None else dtype
    distribution = distribution or "uniform"
    assert stype in ("row_sparse", "csr"), "unknown storage type"
    assert 0 <= density <= 1, f"density is {density}; it must be from 0 to 1"
    if stype == "row_sparse":
        assert distribution == "uniform", f"Distribution {distribution} not supported"
        rows = rsp_indices
        if rows is None:
            rows = onp.flatnonzero(onp.random.rand(shape[0]) < density)
        rows = onp.asarray(rows).astype(onp.int64)
        values = _values((len(rows), *shape[1:]), dtype, data_init, modifier_func)
        array = nd.sparse.row_sparse_array((values, rows), shape=shape, dtype=dtype, ctx=ctx)
        return array, (values, rows)
    assert len(shape) == 2, "csr has two axes"
    if distribution == "uniform":
        count = round(density * shape[0] * shape[1])
        places = onp.sort(onp.random.choice(shape[0] * shape[1], count, replace=False))
        rows, columns = onp.divmod(places, shape[1])
        counts = onp.bincount(rows, minlength=shape[0])
        values = _values((count,), dtype, data_init, modifier_func)
    else:
        assert distribution == "powerlaw", f"Distribution not supported: {distribution}"
        total = int(shape[0] * shape[1] * density)
        counts = onp.array(_doubling_counts(shape[0], shape[1], total))
        columns = onp.concatenate([onp.arange(count) for count in counts])
        values = (1 + onp.random.uniform(0.001, 2, len(columns))).astype(dtype)
    indptr = onp.concatenate(([0], onp.cumsum(counts)))
    if shuffle_csr_indices:
        _shuffle(indptr, columns)
    csr = nd.sparse.csr_matrix((values, columns, indptr), shape=shape, dtype=dtype, ctx=ctx)
    return csr, (csr.indptr, csr.indices, csr.data)


def _values(shape: Any, dtype: Any, data_init: float | None, modifier: Modifier) -> Any:
    if data_init is not None:
        values = onp.full(shape, data_init, dtype)
    else:
        values = onp.random.rand(*shape).astype(dtype)
    if modifier is None or not values.size:
        return values
    return onp.vectorize(modifier, otypes=[values.dtype])(values)


def _doubling_counts(rows: int, columns: int, total: int) -> list[int]:
    """Return how many values each row has: one at least, then twice as many as the row before."""
    if total < 2 * rows:
        raise ValueError(
            f"not supported for this density: {total} values for this shape ({rows},{columns})"
        )
    counts, left, width = [1] * rows, total - rows, 2
    for row in range(rows):
        more = min(min(columns, width) - 1, left)
        counts[row] += more
        left -= more
        width *= 2
    if left > 0:
        raise ValueError(f"not supported: {left} of {total} values find no place")
    return counts


def _shuffle(indptr: Any, columns: Any) -> None:
    for start, stop in pairwise(indptr):
        onp.random.shuffle(columns[start:stop])


def shuffle_csr_column_indices(csr: Any) -> None:
    """Put the columns of each row of a SciPy matrix, or the like, in any order."""
    _shuffle(csr.indptr, csr.indices)


def create_sparse_array(
    shape: Any,
    stype: str,
    data_init: float | None = None,
    rsp_indices: Any = None,
    dtype: Any = None,
    modifier_func: Modifier = None,
    density: float = 0.5,
    shuffle_csr_indices: bool = False,
) -> Any:
    """Return a sparse array; the rows of row_sparse are put in order."""
    rows = None if rsp_indices is None else onp.sort(onp.asarray(rsp_indices))
    array, _ = rand_sparse_ndarray(
        shape,
        stype,
        density,
        dtype,
        data_init=data_init,
        rsp_indices=rows,
        modifier_func=modifier_func,
        shuffle_csr_indices=shuffle_csr_indices,
    )
    return array


def create_sparse_array_zd(
    shape: Any,
    stype: str,
    density: float,
    data_init: float | None = None,
    rsp_indices: Any = None,
    dtype: Any = None,
    modifier_func: Modifier = None,
    shuffle_csr_indices: bool = False,
) -> Any:
    """Return a sparse array; of row_sparse the given rows alone, none without any."""
    if stype == "row_sparse":
        density = 0.0
    return create_sparse_array(
        shape, stype, data_init, rsp_indices, dtype, modifier_func, density, shuffle_csr_indices
    )

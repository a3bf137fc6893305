# SPDX-License-Identifier: Apache-2.0
"""Sparse arrays out of what programs hold."""

from __future__ import annotations

from typing import Any

import numpy as onp

from ..._arrays.dtypes import dtype_number
from ..._arrays.shapes import Shape, as_shape
from ..._arrays.worlds import LEGACY
from ..._core import Array
from ...context import Context, context_numbers
from ...error import ArrayTypeError, ArrayValueError
from .. import creation as dense
from ._arrays import empty as _empty
from ._calls import cast, is_sparse
from ._structure import assemble, indptr_from

__all__ = ["array", "csr_matrix", "empty", "row_sparse_array", "zeros"]


def _is_scipy(value: Any) -> bool:
    return hasattr(value, "tocsr") and not isinstance(value, Array)


def _is_shape(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(
        isinstance(extent, (int, onp.integer)) for extent in value
    )


def _part(value: Any, dtype: Any, ctx: Any) -> Any:
    """Return one of the arrays that a sparse array is made of; lists are float32 if not told."""
    if isinstance(value, Array):
        if is_sparse(value):
            raise ArrayTypeError("the parts of a sparse array must be dense")
        number = dtype_number(dtype, value._dtype_number)
        return LEGACY.copy(value, dtype=number, context=context_numbers(ctx))
    if dtype is None:
        dtype = value.dtype if isinstance(value, onp.ndarray) else "float32"
    return dense.array(value, ctx, dtype)


def _checked(shape: Any, given: Shape, what: str) -> Shape:
    """Return the shape of what was given, which must be the one that is wanted."""
    if shape is not None and tuple(shape) != tuple(given):
        raise ArrayValueError(f"[{what}] the shape is {tuple(given)}; {tuple(shape)} is wanted")
    return given


def zeros(
    stype: str, shape: Any, ctx: Context | None = None, dtype: Any = None, **kwargs: Any
) -> Any:
    """Return an array of zeros in a storage type.

    >>> from afterglow import nd
    >>> nd.sparse.zeros("csr", (1, 2))
    <BLANKLINE>
    <CSRNDArray 1x2 @cpu(0)>
    """
    if stype not in ("default", "row_sparse", "csr"):
        raise ArrayValueError(f"unknown storage type {stype}: 'row_sparse' or 'csr' is needed")
    return _empty(as_shape(shape), stype, dtype_number(dtype), context_numbers(ctx))


def empty(stype: str, shape: Any, ctx: Context | None = None, dtype: Any = None) -> Any:
    """Return an array that stores nothing: zeros."""
    return zeros(stype, shape, ctx, dtype)


def csr_matrix(arg1: Any, shape: Any = None, ctx: Context | None = None, dtype: Any = None) -> Any:
    """Return a csr array.

    ``arg1`` is ``(data, indices, indptr)``, ``(data, (row, column))`` with the places of values, a
    shape, a matrix of SciPy, or an array.

    >>> from afterglow import nd
    >>> nd.sparse.csr_matrix(([1, 2, 3], [1, 0, 2], [0, 1, 3]), shape=(2, 3)).asnumpy()
    array([[0., 1., 0.],
           [2., 0., 3.]], dtype=float32)
    """
    if isinstance(arg1, tuple) and len(arg1) == 3:
        return _from_definition(*arg1, shape, ctx, dtype)
    if isinstance(arg1, tuple) and len(arg1) == 2 and not _is_shape(arg1):
        row, column = arg1[1]
        return _from_places(arg1[0], row, column, shape, ctx, dtype)
    if isinstance(arg1, tuple):
        if len(arg1) != 2:
            raise ArrayValueError(f"[csr_matrix] cannot be made of {len(arg1)} things")
        return zeros("csr", _checked(shape, tuple(arg1), "csr_matrix"), ctx, dtype)
    if _is_scipy(arg1) or isinstance(arg1, Array):
        _checked(shape, arg1.shape, "csr_matrix")
        return array(arg1, ctx, dtype) if _is_scipy(arg1) else _from_array(arg1, "csr", ctx, dtype)
    made = _from_array(_part(arg1, dtype, ctx), "csr", ctx, dtype)
    _checked(shape, made.shape, "csr_matrix")
    return made


def _from_definition(data: Any, indices: Any, indptr: Any, shape: Any, ctx: Any, dtype: Any) -> Any:
    values = _part(data, dtype, ctx)
    columns, starts = (_part(one, "int64", ctx) for one in (indices, indptr))
    if values.ndim != 1 or columns.ndim != 1 or starts.ndim != 1 or not starts.size:
        raise ArrayValueError("[csr_matrix] data, indices and indptr must have one axis")
    if shape is None:
        if not columns.size:
            raise ArrayValueError("[csr_matrix] the shape cannot be found without indices")
        shape = (starts.shape[0] - 1, int(columns.asnumpy().max()) + 1)
    extents = as_shape(shape)
    if len(extents) != 2:
        raise ArrayValueError(f"[csr_matrix] the shape is {extents}; two axes are needed")
    return assemble(extents, values, columns, starts)


def _from_places(data: Any, row: Any, column: Any, shape: Any, ctx: Any, dtype: Any) -> Any:
    """Return a csr array of values anywhere; those at one place are added up."""
    host, rows, columns = (
        one.asnumpy() if isinstance(one, Array) else onp.asarray(one) for one in (data, row, column)
    )
    rows, columns = rows.astype(onp.int64), columns.astype(onp.int64)
    if shape is None:
        if not len(rows):
            raise ArrayValueError("[csr_matrix] the shape cannot be found without indices")
        shape = (rows.max() + 1, columns.max() + 1)
    extents = as_shape(shape)
    places, found = onp.unique(rows * extents[1] + columns, return_inverse=True)
    sums = onp.zeros(len(places), host.dtype)
    onp.add.at(sums, found.reshape(-1), host)
    kind = host.dtype if dtype is None else dtype
    new_rows, new_columns = onp.divmod(places, max(1, extents[1]))
    return assemble(
        extents, dense.array(sums, ctx, kind), new_columns, indptr_from(new_rows, extents[0])
    )


def _from_array(source: Any, stype: str, ctx: Any, dtype: Any) -> Any:
    """Return an array in a storage type, on a device and of a type."""
    kind = dtype_number(dtype, source._dtype_number)
    place = context_numbers(ctx)
    made = cast(source, stype)
    return LEGACY.copy(made, dtype=kind, context=place)


def row_sparse_array(
    arg1: Any, shape: Any = None, ctx: Context | None = None, dtype: Any = None
) -> Any:
    """Return a row_sparse array.

    ``arg1`` is ``(data, indices)``, a shape, or an array.

    >>> from afterglow import nd
    >>> nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 3]), shape=(4, 2)).asnumpy()
    array([[0., 0.],
           [1., 2.],
           [0., 0.],
           [3., 4.]], dtype=float32)
    """
    if isinstance(arg1, tuple) and len(arg1) == 2 and not _is_shape(arg1):
        values, rows = _part(arg1[0], dtype, ctx), _part(arg1[1], "int64", ctx)
        if shape is None:
            if not rows.size:
                raise ArrayValueError("[row_sparse_array] no shape can be found without indices")
            shape = (int(rows.asnumpy().max()) + 1, *values.shape[1:])
        extents = as_shape(shape)
        if values.shape != (rows.size, *extents[1:]):
            raise ArrayValueError(
                f"[row_sparse_array] data of shape {values.shape} and {rows.size} indices do not "
                f"make an array of shape {extents}"
            )
        return assemble(extents, values, rows)
    if isinstance(arg1, tuple) and _is_shape(arg1):
        extents = tuple(map(int, arg1))
        return zeros("row_sparse", _checked(shape, extents, "row_sparse_array"), ctx, dtype)
    source = arg1 if isinstance(arg1, Array) else _part(arg1, dtype, ctx)
    _checked(shape, source.shape, "row_sparse_array")
    return _from_array(source, "row_sparse", ctx, dtype)


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> Any:
    """Return a sparse array like another one, or like a csr matrix of SciPy.

    >>> from afterglow import nd
    >>> nd.sparse.array(nd.sparse.zeros("row_sparse", (3, 2)))
    <BLANKLINE>
    <RowSparseNDArray 3x2 @cpu(0)>
    """
    if is_sparse(source_array):
        return _from_array(source_array, source_array.stype, ctx, dtype)
    if not _is_scipy(source_array):
        raise ArrayValueError(
            "[array] a sparse array or a matrix of SciPy is needed; mx.nd.array makes dense arrays"
        )
    matrix = source_array.tocsr().copy()
    matrix.sum_duplicates()
    matrix.sort_indices()
    kind = matrix.dtype if dtype is None else dtype
    values = dense.array(matrix.data, ctx, kind)
    starts, columns = (dense.array(one, ctx, "int64") for one in (matrix.indptr, matrix.indices))
    return assemble(matrix.shape, values, columns, starts)

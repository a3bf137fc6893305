# SPDX-License-Identifier: Apache-2.0
"""Functions of sparse arrays that graphs, and MXNet's inner namespaces, know by other names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._arrays.worlds import LEGACY
from ..._core import sparse_parts
from ._calls import (
    cast,
    getnnz,
    is_sparse,
    retain,
    rows_found,
    square_sum,
    values_beside,
    with_data,
)
from ._structure import indices_of


def _cast_storage(data: Any, stype: str) -> Any:
    """Return an array in a storage type: "default", "row_sparse" or "csr"."""
    return cast(data, stype)


def _retain(data: Any, indices: Any) -> Any:
    return retain(cast(data, "row_sparse"), indices)


def _square_sum(data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False) -> Any:
    return square_sum(data, axis, keepdims)


def _scatter_divide(lhs: Any, rhs: Any) -> Any:
    """Divide what the first array stores; of csr arrays, and dense ones, all elements."""
    if lhs.stype != "row_sparse":
        return LEGACY.divide(cast(lhs, "default"), cast(rhs, "default"))
    below = rows_found(rhs, indices_of(lhs)) if is_sparse(rhs) else values_beside(lhs, rhs)
    return with_data(lhs, LEGACY.divide(sparse_parts(lhs)[0], below))


def _scatter_add(data: Any, scalar: float) -> Any:
    """Add a number to what an array stores."""
    if not is_sparse(data):
        return LEGACY.add(data, scalar)
    return with_data(data, LEGACY.add(sparse_parts(data)[0], scalar))


def _scatter_subtract(data: Any, scalar: float) -> Any:
    return _scatter_add(data, -scalar)


#: By the name of the op in graphs: the function, and how many of its first arguments are arrays.
NAMED: dict[str, tuple[Callable[..., Any], int]] = {
    "_contrib_getnnz": (getnnz, 1),
    "_scatter_elemwise_div": (_scatter_divide, 2),
    "_scatter_minus_scalar": (_scatter_subtract, 1),
    "_scatter_plus_scalar": (_scatter_add, 1),
    "_sparse_retain": (_retain, 2),
    "_square_sum": (_square_sum, 1),
    "cast_storage": (_cast_storage, 1),
}

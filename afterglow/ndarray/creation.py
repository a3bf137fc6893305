# SPDX-License-Identifier: Apache-2.0
"""Arrays out of nothing, or out of what Python holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as onp

from .._arrays.dtypes import dtype_number
from .._arrays.shapes import as_shape
from .._arrays.worlds import LEGACY
from .._core import Array, from_plain
from .._interoperation.host import from_host, host_array
from ..context import Context, context_numbers
from ..error import ArrayTypeError, ArrayValueError
from ._arguments import need
from ._ops import stack

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "array",
    "empty",
    "full",
]


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Return an array with the values of a list, a number, a NumPy array or another array.

    The type is float32 unless one is named; another array keeps its own.

    >>> nd.array([[1, 2], [3, 4]]).asnumpy()
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    result: NDArray
    copied = from_plain(source_array, dtype, None if ctx is None else context_numbers(ctx), True)
    if copied is not None:
        result = copied
        return result
    if getattr(source_array, "stype", "default") != "default" or hasattr(source_array, "tocsr"):
        from . import sparse

        result = sparse.array(source_array, ctx, dtype)
        return result
    context = context_numbers(ctx)
    if isinstance(source_array, Array):
        number = dtype_number(dtype, source_array._dtype_number)
        return LEGACY.copy(source_array, dtype=number, context=context)
    number = dtype_number(dtype)
    if isinstance(source_array, (list, tuple)) and any(
        isinstance(item, Array) for item in source_array
    ):
        return LEGACY.copy(stack(*source_array), dtype=number, context=context)
    try:
        host = host_array(source_array, number)
    except (TypeError, ValueError) as error:
        raise ArrayTypeError(f"source_array must be array like object ({error})") from None
    result = from_host(host, context, True, number)
    return result


def empty(
    shape: Any, ctx: Context | None = None, dtype: Any = None, stype: str | None = None
) -> NDArray:
    """Return an array whose values are whatever the memory held.

    >>> nd.empty((2, 3)).shape
    (2, 3)
    """
    if stype not in (None, "default"):
        from . import sparse

        result: NDArray = sparse.empty(stype, shape, ctx, dtype)
        return result
    return LEGACY.empty(shape=as_shape(shape), dtype=dtype_number(dtype), ctx=context_numbers(ctx))


def full(
    shape: Any,
    val: float,
    ctx: Context | None = None,
    dtype: Any = onp.float32,
    out: NDArray | None = None,
) -> NDArray:
    """Return an array with the same number everywhere.

    >>> nd.full((2,), 7).asnumpy()
    array([7., 7.], dtype=float32)
    """
    extents = as_shape(shape)
    if out is None:
        number = dtype_number(dtype)
        return LEGACY.copy(val, shape=extents, dtype=number, ctx=context_numbers(ctx))
    if need(out, "out").shape != extents:
        raise ArrayValueError(f"[full] out has shape {out.shape}, not {extents}")
    out[:] = val
    return out

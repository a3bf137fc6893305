# SPDX-License-Identifier: Apache-2.0
"""Arrays out of nothing, or out of what Python holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._core import Array, operation
from .._dtype import BOOL, FLOAT16, FLOAT32, dtype_number
from .._host import from_host, host_array
from .._shapes import as_shape
from ..context import Context, context_numbers
from ..error import ArrayTypeError, ArrayValueError
from ._arguments import need
from .shape import stack

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "arange",
    "array",
    "empty",
    "eye",
    "full",
    "linspace",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]

_copy = operation("copy", True)
_empty = operation("empty", True)
_arange = operation("arange", True)


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Return an array with the values of a list, a number, a NumPy array or another array.

    The type is float32 unless one is named; another array keeps its own.
    """
    context = context_numbers(ctx)
    result: NDArray
    if isinstance(source_array, Array):
        number = dtype_number(dtype, source_array._dtype_number)
        result = _copy(source_array, dtype=number, context=context)
        return result
    number = dtype_number(dtype)
    if isinstance(source_array, (list, tuple)) and any(
        isinstance(item, Array) for item in source_array
    ):
        result = _copy(stack(*source_array), dtype=number, context=context)
        return result
    try:
        host = host_array(source_array, number)
    except (TypeError, ValueError) as error:
        raise ArrayTypeError(f"source_array must be array like object ({error})") from None
    result = from_host(host, context, True, number)
    return result


def empty(
    shape: Any, ctx: Context | None = None, dtype: Any = None, stype: str | None = None
) -> NDArray:
    """Return an array whose values are whatever the memory held."""
    result: NDArray = _empty(
        shape=as_shape(shape), dtype=dtype_number(dtype), ctx=context_numbers(ctx)
    )
    return result


def _filled(value: float, shape: Any, ctx: Context | None, dtype: Any) -> NDArray:
    result: NDArray = _copy(
        value, shape=as_shape(shape), dtype=dtype_number(dtype), ctx=context_numbers(ctx)
    )
    return result


def zeros(
    shape: Any,
    ctx: Context | None = None,
    dtype: Any = None,
    stype: str | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return an array of zeros."""
    return _filled(0, shape, ctx, dtype)


def ones(shape: Any, ctx: Context | None = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """Return an array of ones."""
    return _filled(1, shape, ctx, dtype)


def full(
    shape: Any,
    val: float,
    ctx: Context | None = None,
    dtype: Any = onp.float32,
    out: NDArray | None = None,
) -> NDArray:
    """Return an array with the same number everywhere."""
    if out is None:
        return _filled(val, shape, ctx, dtype)
    if out.shape != as_shape(shape):
        raise ArrayValueError(f"[full] out has shape {out.shape}, not {as_shape(shape)}")
    out[:] = val
    return out


def zeros_like(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return zeros of the same shape, type and place."""
    return _like(0, need(data), out)


def ones_like(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return ones of the same shape, type and place."""
    return _like(1, need(data), out)


def _like(value: float, data: NDArray, out: NDArray | None) -> NDArray:
    result: NDArray = _copy(
        value, shape=data.shape, dtype=data._dtype_number, ctx=data._context_numbers, out=out
    )
    return result


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | None = None,
    ctx: Context | None = None,
    dtype: Any = onp.float32,
) -> NDArray:
    """Return evenly spaced numbers from start up to stop, each ``repeat`` times."""
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ArrayValueError("[arange] the step must not be 0")
    count = math.ceil((stop - start) / step)
    if count <= 0:
        raise ArrayValueError(
            f"[arange] nothing lies between {start} and {stop} by steps of {step}"
        )
    number = dtype_number(dtype)
    if number == BOOL:
        raise ArrayTypeError("[arange] has no answer for type bool")
    made = FLOAT32 if number == FLOAT16 else number
    result: NDArray = _arange(start, step, count, repeat, made, ctx=context_numbers(ctx))
    return result if made == number else _copy(result, dtype=number)


def linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    ctx: Context | None = None,
    dtype: Any = onp.float32,
) -> NDArray:
    """Return ``num`` evenly spaced numbers from start to stop."""
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else 0.0
    result: NDArray = _arange(start, step, num, 1, FLOAT32, ctx=context_numbers(ctx))
    number = dtype_number(dtype)
    return result if number == FLOAT32 else _copy(result, dtype=number)


def eye(
    N: int,  # noqa: N803
    M: int = 0,  # noqa: N803
    k: int = 0,
    ctx: Context | None = None,
    dtype: Any = None,
    **kwargs: Any,
) -> NDArray:
    """Return a matrix with ones on the diagonal that starts ``k`` columns to the right."""
    rows, columns = N, M or N
    result = zeros((rows, columns), ctx, dtype)
    length = min(rows, columns - k) if k >= 0 else min(rows + k, columns)
    if length > 0:
        first = k if k >= 0 else -k * columns
        result._view(first, (length,), (columns + 1,))._assign(1)
    return result

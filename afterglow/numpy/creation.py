# SPDX-License-Identifier: Apache-2.0
"""Arrays out of nothing, or out of what Python holds. The default type is float32."""

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
    from .multiarray import ndarray

__all__ = [
    "arange",
    "array",
    "copy",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "identity",
    "linspace",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]

_copy = operation("copy", False)
_empty = operation("empty", False)
_arange = operation("arange", False)


def array(object: Any, dtype: Any = None, ctx: Context | None = None) -> ndarray:
    """Return an array with the values of a list, a number, a NumPy array or another array.

    Arrays, ours and NumPy's, keep their type; all else becomes float32 unless a type is named.
    """
    context = context_numbers(ctx)
    result: ndarray
    if isinstance(object, Array):
        if getattr(object, "_legacy", False):
            raise ArrayValueError(
                "np.array was given an nd array; as_np_ndarray() turns it into an np array"
            )
        number = dtype_number(dtype, object._dtype_number)
        result = _copy(object, dtype=number, context=context)
        return result
    if isinstance(object, (onp.ndarray, onp.generic)) and dtype is None:
        result = from_host(onp.asarray(object), context, False)
        return result
    number = dtype_number(dtype)
    if isinstance(object, (list, tuple)) and any(isinstance(item, Array) for item in object):
        result = _copy(stack(object), dtype=number, context=context)
        return result
    try:
        host = host_array(object, number)
    except (TypeError, ValueError) as error:
        raise ArrayTypeError(str(error)) from None
    result = from_host(host, context, False, number)
    return result


def copy(a: ndarray, out: ndarray | None = None) -> ndarray:
    """Return a copy."""
    result: ndarray = _copy(need(a), out=out)
    return result


def _filled(value: float, shape: Any, dtype: Any, ctx: Context | None) -> ndarray:
    result: ndarray = _copy(
        value, shape=as_shape(shape), dtype=dtype_number(dtype), ctx=context_numbers(ctx)
    )
    return result


def _check_order(order: str) -> None:
    if order != "C":
        raise NotImplementedError(f"arrays are stored in order 'C', not {order!r}")


def empty(
    shape: Any, dtype: Any = onp.float32, order: str = "C", ctx: Context | None = None
) -> ndarray:
    """Return an array whose values are whatever the memory held."""
    _check_order(order)
    result: ndarray = _empty(
        shape=as_shape(shape), dtype=dtype_number(dtype), ctx=context_numbers(ctx)
    )
    return result


def zeros(shape: Any, dtype: Any = None, order: str = "C", ctx: Context | None = None) -> ndarray:
    """Return an array of zeros."""
    _check_order(order)
    return _filled(0, shape, dtype, ctx)


def ones(
    shape: Any, dtype: Any = onp.float32, order: str = "C", ctx: Context | None = None
) -> ndarray:
    """Return an array of ones."""
    _check_order(order)
    return _filled(1, shape, dtype, ctx)


def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return an array with the same number everywhere; an array as value is broadcast."""
    _check_order(order)
    extents = as_shape(shape)
    result: ndarray
    if isinstance(fill_value, Array):
        number = dtype_number(dtype, fill_value._dtype_number)
        result = _copy(fill_value, shape=extents, dtype=number, out=out)
        return result
    number = dtype_number(dtype, BOOL if isinstance(fill_value, (bool, onp.bool_)) else FLOAT32)
    result = _copy(fill_value, shape=extents, dtype=number, ctx=context_numbers(ctx), out=out)
    return result


def _like(value: Any, a: Any, dtype: Any, ctx: Context | None, out: ndarray | None) -> ndarray:
    need(a)
    result: ndarray = _copy(
        value,
        shape=a.shape,
        dtype=dtype_number(dtype, a._dtype_number),
        ctx=a._context_numbers if ctx is None else context_numbers(ctx),
        out=out,
    )
    return result


def zeros_like(
    a: Any,
    dtype: Any = None,
    order: str = "C",
    ctx: Context | None = None,
    out: ndarray | None = None,
    **kwargs: Any,
) -> ndarray:
    """Return zeros of the same shape, type and place."""
    return _like(0, a, dtype, ctx, out)


def ones_like(
    a: Any,
    dtype: Any = None,
    order: str = "C",
    ctx: Context | None = None,
    out: ndarray | None = None,
    **kwargs: Any,
) -> ndarray:
    """Return ones of the same shape, type and place."""
    return _like(1, a, dtype, ctx, out)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    ctx: Context | None = None,
    out: ndarray | None = None,
    **kwargs: Any,
) -> ndarray:
    """Return an array like another one with the same number everywhere."""
    return _like(fill_value, a, dtype, ctx, out)


def empty_like(
    prototype: Any, dtype: Any = None, order: str = "C", subok: bool = False, shape: Any = None
) -> ndarray:
    """Return an array like another one with whatever the memory held."""
    result: ndarray = _empty(
        shape=need(prototype).shape if shape is None else as_shape(shape),
        dtype=dtype_number(dtype, prototype._dtype_number),
        ctx=prototype._context_numbers,
    )
    return result


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: Any = None,
    ctx: Context | None = None,
) -> ndarray:
    """Return evenly spaced numbers from start up to stop."""
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ZeroDivisionError("step cannot be 0")
    number = dtype_number(dtype)
    if number == BOOL:
        raise ArrayTypeError("[arange] has no answer for type bool")
    count = max(0, math.ceil((stop - start) / step))
    made = FLOAT32 if number == FLOAT16 else number
    result: ndarray = _arange(start, step, count, 1, made, ctx=context_numbers(ctx))
    return result if made == number else _copy(result, dtype=number)


def linspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    ctx: Context | None = None,
) -> Any:
    """Return ``num`` evenly spaced numbers from start to stop, and their distance on request."""
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else float("nan")
    numbers: ndarray = _arange(
        start, step if parts > 0 else 0.0, num, 1, FLOAT32, ctx=context_numbers(ctx)
    )
    number = dtype_number(dtype)
    result = numbers if number == FLOAT32 else _copy(numbers, dtype=number)
    return (result, step) if retstep else result


def eye(
    N: int,  # noqa: N803
    M: int | None = None,  # noqa: N803
    k: int = 0,
    dtype: Any = onp.float32,
    ctx: Context | None = None,
    **kwargs: Any,
) -> ndarray:
    """Return a matrix with ones on the diagonal that starts ``k`` columns to the right."""
    rows, columns = N, N if M is None else M
    result = zeros((rows, columns), dtype, ctx=ctx)
    length = min(rows, columns - k) if k >= 0 else min(rows + k, columns)
    if length > 0:
        first = k if k >= 0 else -k * columns
        result._view(first, (length,), (columns + 1,))._assign(1)
    return result


def identity(n: int, dtype: Any = None, ctx: Context | None = None) -> ndarray:
    """Return a square matrix with ones on the diagonal."""
    return eye(n, dtype=dtype, ctx=ctx)

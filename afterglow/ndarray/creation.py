# SPDX-License-Identifier: Apache-2.0
"""Arrays out of nothing, or out of what Python holds."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._core import Array, operation
from .._dtype import BOOL, FLOAT16, FLOAT32, FLOAT64, dtype_number
from .._host import from_host, host_array
from .._rearrange import diagonal, part
from .._shapes import as_float, as_shape, normal_axis, range_length
from ..context import Context, context_numbers
from ..error import ArrayNotImplementedError, ArrayTypeError, ArrayValueError
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

    >>> nd.array([[1, 2], [3, 4]]).asnumpy()
    array([[1., 2.],
           [3., 4.]], dtype=float32)
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
    """Return an array whose values are whatever the memory held.

    >>> nd.empty((2, 3)).shape
    (2, 3)
    """
    _check_stype(stype)
    result: NDArray = _empty(
        shape=as_shape(shape), dtype=dtype_number(dtype), ctx=context_numbers(ctx)
    )
    return result


def _check_stype(stype: str | None) -> None:
    if stype not in (None, "default"):
        raise ArrayNotImplementedError(f"arrays are dense, there is no storage type {stype!r}")


def _filled(
    value: float, shape: Any, ctx: Context | None, dtype: Any, out: NDArray | None = None
) -> NDArray:
    result: NDArray = _copy(
        value, shape=as_shape(shape), dtype=dtype_number(dtype), ctx=context_numbers(ctx), out=out
    )
    return result


def zeros(
    shape: Any,
    ctx: Context | None = None,
    dtype: Any = None,
    stype: str | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return an array of zeros.

    >>> nd.zeros((2,)).asnumpy()
    array([0., 0.], dtype=float32)
    """
    _check_stype(stype)
    return _filled(0, shape, ctx, dtype, out)


def ones(
    shape: Any,
    ctx: Context | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return an array of ones.

    >>> nd.ones((2,), dtype="int32").asnumpy()
    array([1, 1], dtype=int32)
    """
    return _filled(1, shape, ctx, dtype, out)


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
    if out is None:
        return _filled(val, shape, ctx, dtype)
    if need(out, "out").shape != as_shape(shape):
        raise ArrayValueError(f"[full] out has shape {out.shape}, not {as_shape(shape)}")
    out[:] = val
    return out


def zeros_like(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return zeros of the same shape, type and place.

    >>> nd.zeros_like(nd.array([1, 2])).asnumpy()
    array([0., 0.], dtype=float32)
    """
    return _like(0, need(data), out)


def ones_like(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return ones of the same shape, type and place.

    >>> nd.ones_like(nd.array([5, 6])).asnumpy()
    array([1., 1.], dtype=float32)
    """
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
    """Return evenly spaced numbers from start up to stop, each ``repeat`` times.

    The type is float32; float64 for ``dtype=None``. ``infer_range`` is accepted: the range is
    always known here.

    >>> nd.arange(1, 3, repeat=2).asnumpy()
    array([1., 1., 2., 2.], dtype=float32)
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ArrayValueError("[arange] the step must not be 0")
    count = range_length(start, stop, step)
    if count <= 0 or repeat < 1:
        raise ArrayValueError(
            f"[arange] nothing lies between {start} and {stop} by steps of {step}, {repeat} times"
        )
    return _counted(start, step, count, repeat, dtype_number(dtype, FLOAT64), ctx)


def _counted(
    start: float, step: float, count: int, repeat: int, number: int, ctx: Context | None
) -> NDArray:
    if number == BOOL:
        raise ArrayTypeError("[arange] has no answer for type bool")
    made = FLOAT32 if number == FLOAT16 else number
    if isinstance(start, int) and isinstance(step, float) and step.is_integer():
        step = int(step)  # so that integers are counted exactly
    result: NDArray = _arange(start, step, count, repeat, made, ctx=context_numbers(ctx))
    return result if made == number else _copy(result, dtype=number)


def arange_like(
    data: NDArray,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: Context | None = None,
    axis: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return evenly spaced numbers in the shape of an array, or as many as one of its axes has.

    >>> nd.contrib.arange_like(nd.zeros((2, 3)), start=1).asnumpy()
    array([[1., 2., 3.],
           [4., 5., 6.]], dtype=float32)
    """
    shape = need(data).shape if axis is None else (data.shape[normal_axis(axis, data.ndim)],)
    size = math.prod(shape)
    if repeat < 1:
        raise ArrayValueError(f"[arange_like] repeat is {repeat}; it must be positive")
    place = data.ctx if ctx is None else ctx
    numbers = _counted(start, step, -(-size // repeat), repeat, data._dtype_number, place)
    result = part(numbers, 0, 0, size)._shaped(shape)
    return result if out is None else _copy(result, out=out)


def linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    ctx: Context | None = None,
    dtype: Any = onp.float32,
) -> NDArray:
    """Return ``num`` evenly spaced numbers from start to stop.

    >>> nd.linspace(0, 1, 4, endpoint=False).asnumpy()
    array([0.  , 0.25, 0.5 , 0.75], dtype=float32)
    """
    count = operator.index(num)
    if count < 0:
        raise ArrayValueError(f"[linspace] num must not be negative, but is {count}")
    gaps = count - 1 if endpoint else count
    first, last = as_float(start, "[linspace] start"), as_float(stop, "[linspace] stop")
    step = (last - first) / as_float(gaps, "[linspace] num") if gaps > 0 else 0.0
    return _counted(first, step, count, 1, dtype_number(dtype), ctx)


def eye(
    N: int,  # noqa: N803
    M: int = 0,  # noqa: N803
    k: int = 0,
    ctx: Context | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a matrix with ones on the diagonal that starts ``k`` columns to the right.

    >>> nd.eye(2, 3, k=1).asnumpy()
    array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    result = zeros((N, M or N), ctx, dtype, out=out)
    ones_there = diagonal(result, k, 0, 1)
    if ones_there.size:
        ones_there._assign(1)
    return result

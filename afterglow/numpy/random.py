# SPDX-License-Identifier: Apache-2.0
"""``np.random``. Numbers depend on the seed and the order of the calls, on nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as onp

from .._core import Array, Operation, operation
from .._dtype import FLOATING, dtype_number
from .._shapes import Shape, as_shape
from ..context import Context, context_numbers
from ..error import ArrayTypeError, ArrayValueError

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = ["normal", "rand", "randn", "uniform"]

_uniform = operation("random_uniform", False)
_normal = operation("random_normal", False)


def uniform(
    low: Any = 0.0,
    high: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return numbers spread evenly from low up to, not including, high."""
    if isinstance(low, Array) or isinstance(high, Array):
        unit = _draw(_uniform, 0.0, 1.0, _sample_shape(low, high, size), dtype, ctx, None)
        return _finish(unit, high - low, low, out)
    return _draw(_uniform, low, high, _plain_shape(size), dtype, ctx, out)


def normal(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """Return normally distributed numbers: mean ``loc``, standard deviation ``scale``."""
    if isinstance(loc, Array) or isinstance(scale, Array):
        unit = _draw(_normal, 0.0, 1.0, _sample_shape(loc, scale, size), dtype, ctx, None)
        return _finish(unit, scale, loc, out)
    return _draw(_normal, loc, scale, _plain_shape(size), dtype, ctx, out)


def rand(*size: int, **kwargs: Any) -> ndarray:
    """Return numbers from 0 to 1 in a shape given as arguments."""
    return uniform(0.0, 1.0, size, **kwargs)


def randn(*size: int, **kwargs: Any) -> ndarray:
    """Return normally distributed numbers in a shape given as arguments."""
    return normal(0.0, 1.0, size, **kwargs)


def _draw(
    call: Operation,
    first: float,
    second: float,
    shape: Shape,
    dtype: Any,
    ctx: Context | None,
    out: ndarray | None,
) -> ndarray:
    number = dtype_number(dtype, out._dtype_number if out is not None else 0)
    if number not in FLOATING:
        raise ArrayTypeError(f"[{call.name}] gives float16, float32 or float64, not {dtype}")
    result: ndarray = call(first, second, shape, number, ctx=context_numbers(ctx), out=out)
    return result


def _plain_shape(size: Any) -> Shape:
    return () if size is None else as_shape(size)


def _sample_shape(first: Any, second: Any, size: Any) -> Shape:
    """Return the shape of draws with arrays as parameters: theirs, or ``size``."""
    shapes = [one.shape if isinstance(one, Array) else () for one in (first, second)]
    wanted = None if size is None else as_shape(size)
    try:
        together = onp.broadcast_shapes(*shapes, *([] if wanted is None else [wanted]))
    except ValueError:
        together = None
    if together is None or (wanted is not None and together != wanted):
        raise ArrayValueError(f"parameters of shapes {shapes} do not fit size {wanted}")
    return together


def _finish(unit: ndarray, factor: Any, start: Any, out: ndarray | None) -> ndarray:
    result: ndarray = unit * _as_type(factor, unit) + _as_type(start, unit)
    if out is None:
        return result
    out[:] = result
    return out


def _as_type(value: Any, like: ndarray) -> Any:
    return (
        value.astype(like.dtype) if isinstance(value, Array) and hasattr(value, "astype") else value
    )

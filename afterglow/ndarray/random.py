# SPDX-License-Identifier: Apache-2.0
"""Random numbers. They depend on the seed and the order of the calls, on nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import Array, Operation, operation
from .._dtype import FLOATING, dtype_number
from .._shapes import as_shape
from ..context import Context, context_numbers
from ..error import ArgumentError, ArrayTypeError, ArrayValueError

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = ["normal", "randn", "uniform"]

_uniform = operation("random_uniform", True)
_normal = operation("random_normal", True)


def uniform(
    low: Any = 0,
    high: Any = 1,
    shape: Any = (),
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return numbers spread evenly from low up to, not including, high."""
    if isinstance(low, Array) or isinstance(high, Array):
        _check_same(low, high)
        place = _shape_of_samples(low, shape)
        unit = _draw(_uniform, 0, 1, place[1], dtype, low.context, out)
        return _finish(unit, (high - low)._shaped(place[0]), low._shaped(place[0]), out)
    return _draw(_uniform, low, high, _scalar_shape(shape, out), dtype, ctx, out)


def normal(
    loc: Any = 0,
    scale: Any = 1,
    shape: Any = (),
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return normally distributed numbers: mean ``loc``, standard deviation ``scale``."""
    if isinstance(loc, Array) or isinstance(scale, Array):
        _check_same(loc, scale)
        place = _shape_of_samples(loc, shape)
        unit = _draw(_normal, 0, 1, place[1], dtype, loc.context, out)
        return _finish(unit, scale._shaped(place[0]), loc._shaped(place[0]), out)
    if not scale > 0:
        raise ArrayValueError(f"[random_normal] the scale must be positive, but it is {scale}")
    return _draw(_normal, loc, scale, _scalar_shape(shape, out), dtype, ctx, out)


def randn(
    *shape: int,
    loc: Any = 0,
    scale: Any = 1,
    dtype: Any = None,
    ctx: Context | None = None,
    **kwargs: Any,
) -> NDArray:
    """Return normally distributed numbers in a shape given as arguments."""
    return normal(loc, scale, shape, dtype, ctx, **kwargs)


def _draw(
    call: Operation,
    first: float,
    second: float,
    shape: tuple[int, ...],
    dtype: Any,
    ctx: Context | None,
    out: NDArray | None,
) -> NDArray:
    number = dtype_number(dtype, out._dtype_number if out is not None else 0)
    if number not in FLOATING:
        raise ArrayTypeError(f"[{call.name}] gives float16, float32 or float64, not {dtype}")
    result: NDArray = call(first, second, shape, number, ctx=context_numbers(ctx), out=out)
    return result


def _scalar_shape(shape: Any, out: NDArray | None) -> tuple[int, ...]:
    """Return the shape of draws with plain parameters; without one, that of out or (1,)."""
    if isinstance(shape, (tuple, list)) and not shape:
        return out.shape if out is not None else (1,)
    return as_shape(shape)


def _check_same(first: Any, second: Any) -> None:
    if not isinstance(first, Array) or not isinstance(second, Array):
        raise ArgumentError(
            "Distribution parameters must all have the same type, but got both "
            f"{type(first)} and {type(second)}."
        )
    if first.shape != second.shape:
        raise ArrayValueError(
            f"the parameters must have the same shape, but have {first.shape} and {second.shape}"
        )


def _shape_of_samples(parameter: NDArray, shape: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape in which parameters broadcast, and that of the result."""
    drawn = as_shape(shape)
    return parameter.shape + (1,) * len(drawn), parameter.shape + drawn


def _finish(unit: NDArray, factor: NDArray, start: NDArray, out: NDArray | None) -> NDArray:
    result = unit * factor.astype(unit.dtype) + start.astype(unit.dtype)
    if out is None:
        return result
    out[:] = result
    return out

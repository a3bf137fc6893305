# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of shapes and axes, before any op is called."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from math import prod
from typing import Any

from ..error import (
    ArrayOverflowError,
    ArrayTypeError,
    ArrayValueError,
    AxisError,
)

Shape = tuple[int, ...]

_MOST_DIMENSIONS = 32
#: More cannot be addressed, not even by an array that has an extent of 0 beside others.
_MOST_ELEMENTS = 2**48


def is_possible(shape: Shape) -> bool:
    """Tell whether an array of a shape that comes from a file can exist."""
    if len(shape) > _MOST_DIMENSIONS or any(extent < 0 for extent in shape):
        return False
    return prod(max(extent, 1) for extent in shape) < _MOST_ELEMENTS


def as_shape(shape: Any) -> Shape:
    """Return a shape given as an integer or a sequence of integers; refuse negative extents."""
    if type(shape) is int and shape >= 0:
        return (shape,)
    extents = as_integers(shape, "shape")
    if extents and min(extents) < 0:
        raise ArrayValueError(f"extents must not be negative, but the shape is {extents}")
    return extents


def as_integers(value: Any, what: str) -> Shape:
    """Return one integer or a sequence of integers as a tuple."""
    if type(value) is int:
        return (value,)
    try:
        if isinstance(value, (tuple, list)):
            return tuple(map(operator.index, value))
        if isinstance(value, Iterable) and not isinstance(value, str) and not _is_integer(value):
            return tuple(operator.index(item) for item in value)
        return (operator.index(value),)
    except TypeError:
        raise ArrayTypeError(
            f"{what} must be an integer or a tuple of integers, but got {value!r}"
        ) from None


def _is_integer(value: Any) -> bool:
    return hasattr(type(value), "__index__") and not getattr(value, "ndim", 0)


def as_float(value: Any, what: str) -> float:
    """Return a number as a float."""
    try:
        return float(value)
    except OverflowError:
        raise ArrayOverflowError(f"{what} is an integer that is too large for any type") from None
    except (TypeError, ValueError):
        raise ArrayTypeError(f"{what} must be a number, but got {value!r}") from None


def as_axes(axis: Any) -> Shape | None:
    """Return the axes of a reduction as a tuple; ``None`` stands for all of them."""
    return None if axis is None else as_integers(axis, "axis")


def as_axis(axis: Any) -> int:
    """Return the only axis of an op that works along one."""
    return as_integer(axis, "axis")


def as_integer(value: Any, what: str) -> int:
    """Return an integer, alone or in a sequence of one."""
    if type(value) is int:
        return value
    integers = as_integers(value, what)
    if len(integers) != 1:
        raise ArrayTypeError(f"{what} must be one integer, but got {value!r}")
    return integers[0]


def normal_axis(axis: int, ndim: int) -> int:
    """Return an axis counted from the front."""
    position = operator.index(axis)
    if not -ndim <= position < ndim:
        raise AxisError(f"axis {position} is out of bounds for an array of {ndim} dimensions")
    return position + ndim if position < 0 else position

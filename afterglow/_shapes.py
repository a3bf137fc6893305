# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of shapes and axes, before any op is called."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from .error import ArrayMemoryError, ArrayOverflowError, ArrayTypeError, ArrayValueError, AxisError

Shape = tuple[int, ...]
#: An extent of 0 could be cut into any number of parts.
most_parts_of_nothing = 2**16

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


def permutation(axes: Sequence[int] | None, shape: Shape, negative: bool) -> Shape:
    """Return the axes of a transposition in full; ``None`` or nothing reverses them."""
    ndim = len(shape)
    if not axes:
        return tuple(reversed(range(ndim)))
    given = as_integers(axes, "axes")
    order = tuple(axis + ndim if axis < 0 and negative else axis for axis in given)
    if sorted(order) != list(range(ndim)):
        raise ArrayValueError(
            f"[transpose] axes {given} must name every axis of shape {shape} once"
        )
    return order


def numpy_reshape(shape: Shape, wanted: Shape) -> Shape:
    """Return the new shape by NumPy's rule: one -1 is found from the others."""
    if any(extent < -1 for extent in wanted) or wanted.count(-1) > 1:
        raise ArrayValueError(f"[reshape] {wanted} may hold one -1 and no other negative extent")
    return _fill_in(shape, wanted, wanted)


def _fill_in(shape: Shape, extents: Iterable[int], wanted: Shape) -> Shape:
    """Replace -1 by what is left of the size, and check that the sizes agree."""
    result = list(extents)
    size = prod(shape)
    if -1 in result:
        known = prod(extent for extent in result if extent != -1)
        result[result.index(-1)] = size // known if known and size % known == 0 else -1
    if -1 in result or prod(result) != size:
        raise ArrayValueError(f"Cannot reshape array of size {size} into shape {wanted}")
    return tuple(result)


def legacy_reshape(shape: Shape, wanted: Shape, reverse: bool = False) -> Shape:
    """Return the new shape by the codes of ``nd``.

    0 keeps the extent at its place, -1 is found from the others, -2 takes the rest, -3 merges two
    and -4 splits one into the two that follow. ``reverse`` reads both shapes from the right.
    """
    if reverse:
        return legacy_reshape(shape[::-1], wanted[::-1])[::-1]
    result: list[int] = []
    codes = iter(wanted)
    source = _Extents(shape, wanted)
    for code in codes:
        if code == 0:
            result.append(source.take())
        elif code == -1:
            source.skip()
            result.append(-1)
        elif code == -2:
            result.extend(source.rest())
        elif code == -3:
            result.append(source.take() * source.take())
        elif code == -4:
            result.extend(_split(source.take(), next(codes, None), next(codes, None), wanted))
        elif code > 0:
            source.skip()
            result.append(code)
        else:
            raise ArrayValueError(f"[reshape] there is no code {code}, in {wanted}")
    if result.count(-1) > 1:
        raise ArrayValueError(f"[reshape] one extent can be inferred, not several: {wanted}")
    return _fill_in(shape, result, wanted)


def extended_reshape(shape: Shape, wanted: Shape, reverse: bool = False) -> Shape:
    """Return the new shape by the codes of ``npx.reshape``.

    -1 is found from the others, -2 keeps the extent at its place, -3 leaves out a 1, -4 takes the
    rest, -5 merges two and -6 splits one into the two that follow.
    """
    if reverse:
        return extended_reshape(shape[::-1], wanted[::-1])[::-1]
    result: list[int] = []
    codes = iter(wanted)
    source = _Extents(shape, wanted)
    for code in codes:
        if code >= -1:
            source.skip()
            result.append(code)
        elif code == -2:
            result.append(source.take())
        elif code == -3:
            if source.take() != 1:
                raise ArrayValueError(
                    f"[reshape] -3 must stand at an extent of 1; {shape} to {wanted}"
                )
        elif code == -4:
            result.extend(source.rest())
        elif code == -5:
            result.append(source.take() * source.take())
        elif code == -6:
            result.extend(_split(source.take(), next(codes, None), next(codes, None), wanted))
        else:
            raise ArrayValueError(f"[reshape] there is no code {code}, in {wanted}")
    if result.count(-1) > 1:
        raise ArrayValueError(f"[reshape] one extent can be inferred, not several: {wanted}")
    return _fill_in(shape, result, wanted)


def reshaped_like(
    shape: Shape,
    like: Shape,
    begin: int | None = None,
    end: int | None = None,
    like_begin: int | None = None,
    like_end: int | None = None,
) -> Shape:
    """Return ``shape`` with its axes begin:end replaced by like_begin:like_end of ``like``."""
    first, last = _range(begin, end, shape, "lhs")
    like_first, like_last = _range(like_begin, like_end, like, "rhs")
    result = shape[:first] + like[like_first:like_last] + shape[last:]
    if prod(result) != prod(shape):
        raise ArrayValueError(f"[reshape_like] shape {shape} cannot become {result}")
    return result


def _range(begin: int | None, end: int | None, shape: Shape, side: str) -> tuple[int, int]:
    """Return two bounds of axes, counted from the front."""
    ndim = len(shape)
    first = 0 if begin is None else begin + ndim if begin < 0 else begin
    last = ndim if end is None else end + ndim if end < 0 else end
    if not 0 <= first <= last <= ndim:
        raise ArrayValueError(
            f"[reshape_like] {side}_begin {begin} and {side}_end {end} must lie within {shape}"
        )
    return first, last


class _Extents:
    """The extents of the array, taken one by one as codes use them."""

    def __init__(self, shape: Shape, wanted: Shape) -> None:
        self._shape = shape
        self._wanted = wanted
        self._next = 0

    def take(self) -> int:
        if self._next >= len(self._shape):
            raise ArrayValueError(
                f"[reshape] {self._wanted} uses more dimensions than shape {self._shape} has"
            )
        self._next += 1
        return self._shape[self._next - 1]

    def skip(self) -> None:
        self._next += 1

    def rest(self) -> Shape:
        start, self._next = self._next, len(self._shape)
        return self._shape[start:]


def _split(extent: int, left: int | None, right: int | None, wanted: Shape) -> tuple[int, int]:
    if left is None or right is None or (left == -1 and right == -1):
        raise ArrayValueError(f"[reshape] -4 needs two extents behind it, one may be -1: {wanted}")
    if left == -1:
        left = extent // right if right else 0
    if right == -1:
        right = extent // left if left else 0
    if left * right != extent:
        raise ArrayValueError(f"[reshape] {extent} cannot be split into {left} and {right}")
    return left, right


def squeezed(shape: Shape, axis: Any) -> Shape:
    """Return the shape without the axes of extent 1 that are named, or without all of them."""
    if axis is None:
        return tuple(extent for extent in shape if extent != 1)
    removed = {normal_axis(one, len(shape)) for one in as_integers(axis, "axis")}
    for one in removed:
        if shape[one] != 1:
            raise ArrayValueError(f"[squeeze] axis {one} of shape {shape} is not 1")
    return tuple(extent for position, extent in enumerate(shape) if position not in removed)


def expanded(shape: Shape, axis: Any) -> Shape:
    """Return the shape with an axis of extent 1 more, or with several."""
    axes = as_integers(axis, "axis")
    ndim = len(shape) + len(axes)
    added = {normal_axis(one, ndim) for one in axes}
    if len(added) < len(axes):
        raise ArrayValueError(f"[expand_dims] the axes {axes} must be different")
    rest = iter(shape)
    return tuple(1 if position in added else next(rest) for position in range(ndim))


def moved_axes(ndim: int, source: Any, destination: Any) -> Shape:
    """Return the order of the axes after moving some of them to other places."""
    origins = [normal_axis(one, ndim) for one in as_integers(source, "source")]
    places = [normal_axis(one, ndim) for one in as_integers(destination, "destination")]
    if len(origins) != len(places):
        raise ArrayValueError(
            f"[moveaxis] source {source} and destination {destination} must be equally long"
        )
    if len(set(origins)) < len(origins) or len(set(places)) < len(places):
        raise ArrayValueError(
            f"[moveaxis] source {source} and destination {destination} must not repeat an axis"
        )
    rest = (axis for axis in range(ndim) if axis not in origins)
    moved = dict(zip(places, origins, strict=True))
    return tuple(moved[place] if place in moved else next(rest) for place in range(ndim))


def swapped_axes(ndim: int, first: int, second: int) -> Shape:
    """Return the order of the axes after two of them changed places."""
    order = list(range(ndim))
    try:
        order[first], order[second] = order[second], order[first]
    except IndexError:
        normal_axis(first, ndim)  # one of them says what is wrong
        normal_axis(second, ndim)
    return tuple(order)


def equal_parts(extent: int, parts: int) -> list[int]:
    """Return the bounds that cut an extent into equal parts."""
    if parts > max(extent, most_parts_of_nothing):
        raise ArrayMemoryError(f"[split] {parts} parts were asked for, of an extent of {extent}")
    if parts < 1 or extent % parts:
        raise ArrayValueError(
            f"[split] array split does not result in an equal division: {extent} into {parts}"
        )
    return [extent // parts * part for part in range(parts + 1)]


def parts_at(extent: int, indices: Iterable[int]) -> list[int]:
    """Return the bounds that cut an extent at some indices."""
    bounds = [0, *(operator.index(index) for index in indices), extent]
    return [max(0, bound + extent) if bound < 0 else min(bound, extent) for bound in bounds]


def range_length(start: float, stop: float, step: float) -> int:
    """Return how many numbers lie between start and stop; none gives 0 or less."""
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return -((start - stop) // step)
    try:
        return math.ceil((stop - start) / step)
    except OverflowError:
        raise ArrayOverflowError(_endless(start, stop, step)) from None
    except ValueError:  # nan
        raise ArrayValueError(_endless(start, stop, step)) from None
    except TypeError:
        raise ArrayTypeError(_endless(start, stop, step)) from None


def _endless(start: Any, stop: Any, step: Any) -> str:
    return f"[arange] from {start} to {stop} by steps of {step}: numbers that can be counted"

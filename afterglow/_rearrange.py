# SPDX-License-Identifier: Apache-2.0
"""Elements in another order, or several times over, for both classes of arrays.

A function returns the result as a view with strides of any sign where one exists; ``store`` then
copies it in one pass. Axes of a view that a result merges stand beside each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from ._array import ArrayBase
from ._core import Array, operation
from ._indexing import contiguous_strides
from ._shapes import Shape, normal_axis
from .error import ArrayTypeError, ArrayValueError

A = TypeVar("A", bound=ArrayBase)

#: Up to so many elements a pass more costs less than a few calls.
_small = 1 << 15
#: Up to so many elements any loop over them costs less than a call.
_tiny = 256

_empty = {legacy: operation("empty", legacy) for legacy in (False, True)}
_concat = {legacy: operation("concat", legacy) for legacy in (False, True)}
_folds = {
    (mode, legacy): operation(name, legacy)
    for mode, name in (("maximum", "max"), ("minimum", "min"))
    for legacy in (False, True)
}


def store(view: A, shape: Shape, out: A | None = None) -> A:
    """Copy a view into a new array of a shape with as many elements, or into ``out``."""
    if out is not None and not isinstance(out, Array):
        raise ArrayTypeError(f"out must be an array, but got {out!r}")
    if out is not None and out.shape != shape:
        raise ArrayValueError(f"[copy] out has shape {out.shape}, the result has shape {shape}")
    target = None if out is None else out._shaped(view.shape)
    axis = _short_repetition(view)
    result: A
    if axis is None:
        result = view._copy(view, out=target)
    else:
        once = part(view, axis, 0, 1)
        result = _concat[view._legacy]([once] * view.shape[axis], axis, out=target)
    if out is not None:
        return out
    return result if view.shape == shape else result._shaped(shape)


def _short_repetition(view: ArrayBase) -> int | None:
    """Return the axis along which a view repeats runs that are too short for a loop over them.

    Then a pass for every repetition, which writes elements at larger distances, takes less time.
    """
    if view.size < _tiny:
        return None
    run = 1
    shape, strides = view.shape, view._strides
    for axis in reversed(range(view.ndim)):
        run *= shape[axis]
        if not 0 < run <= 3:
            break
        if shape[axis] > 1 and strides[axis] == 0:
            return axis
    return None


def permuted(array: A, order: Sequence[int]) -> A:
    """Return a view with the axes in that order."""
    return array._reordered(order)


def flipped(array: A, axes: Iterable[int]) -> A:
    """Return a view that runs backwards along some axes."""
    offset, strides = 0, list(array._strides)
    for axis in {normal_axis(one, array.ndim) for one in axes}:
        offset += (array.shape[axis] - 1) * strides[axis]
        strides[axis] = -strides[axis]
    return array._view(offset if array.size else 0, array.shape, tuple(strides))


def tiled(array: A, counts: Shape) -> tuple[A, Shape]:
    """Return a view of an array repeated as a whole along its axes, and the shape of the result."""
    if counts and min(counts) < 0:
        raise ArrayValueError(f"[tile] reps must not be negative, but got {counts}")
    extents, steps = array.shape, array._strides
    missing = len(counts) - len(extents)
    if missing > 0:
        extents, steps = (1,) * missing + extents, (0,) * missing + steps
    elif missing < 0:
        counts = (1,) * -missing + counts
    shape: list[int] = []
    strides: list[int] = []
    result: list[int] = []
    for count, extent, step in zip(counts, extents, steps, strict=True):
        shape += (extent,) if count == 1 else (count, extent)
        strides += (step,) if count == 1 else (0, step)
        result.append(count * extent)
    return array._view(0, tuple(shape), tuple(strides)), tuple(result)


def repeated(array: A, count: int, axis: int | None) -> tuple[A, Shape]:
    """Return a view of every element repeated in place, and the shape of the result."""
    if count < 0:
        raise ArrayValueError(f"[repeat] repeats must not be negative, but got {count}")
    flat = array if axis is not None or array.ndim == 1 else array._shaped((array.size,))
    position = 0 if axis is None else normal_axis(axis, array.ndim)
    shape, strides = flat.shape, flat._strides
    view = flat._view(
        0,
        (*shape[: position + 1], count, *shape[position + 1 :]),
        (*strides[: position + 1], 0, *strides[position + 1 :]),
    )
    return view, (*shape[:position], shape[position] * count, *shape[position + 1 :])


def part(array: A, axis: int, begin: int, end: int) -> A:
    """Return a view of what lies from begin to end along one axis."""
    return array._between(axis, begin, end)


def write_part(whole: Any, view: Any, value: Any) -> None:
    """Write to a part of an array, given as a view of it; the tape knows it for a write to all."""
    whole._write(value, view._offset - whole._offset, view.shape, view._strides)


def parts(array: A, axis: int, bounds: Iterable[int]) -> list[A]:
    """Return views of the parts of one axis between every two bounds."""
    return [part(array, axis, begin, end) for begin, end in itertools.pairwise(bounds)]


def diagonal(array: A, offset: int, axis1: int, axis2: int) -> A:
    """Return a view of a diagonal: the other axes come first, the diagonal is the last one."""
    first, second = normal_axis(axis1, array.ndim), normal_axis(axis2, array.ndim)
    if first == second:
        raise ArrayValueError(f"[diag] axis1 and axis2 must be different, but both are {first}")
    shape, strides = array.shape, array._strides
    rows, columns = shape[first], shape[second]
    length = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    begin = offset * strides[second] if offset >= 0 else -offset * strides[first]
    rest = [axis for axis in range(array.ndim) if axis not in (first, second)]
    return array._view(
        begin if length and array.size else 0,
        (*(shape[axis] for axis in rest), length),
        (*(strides[axis] for axis in rest), strides[first] + strides[second]),
    )


def diagonal_matrix(array: A, offset: int) -> A:
    """Return a square matrix of zeros with a vector on one of its diagonals."""
    extent = array.size + abs(offset)
    result: A = array._copy(
        0, shape=(extent, extent), dtype=array._dtype_number, ctx=array._context_numbers
    )
    if array.size:
        write_part(result, diagonal(result, offset, 0, 1), array._shaped((array.size,)))
    return result


def mix_blocks(array: A, block: int, name: str, out: A | None = None) -> A:
    """Move blocks of the last two of four axes into the second one, or back."""
    if array.ndim != 4 or block < 1:
        raise ArrayValueError(
            f"[{name}] needs an array of 4 dimensions and a positive block_size, but got shape "
            f"{array.shape} and {block}"
        )
    count, depth, rows, columns = array.shape
    if name == "depth_to_space":
        if depth % (block * block):
            raise ArrayValueError(f"[{name}] {block * block} must divide axis 1 of {array.shape}")
        depth //= block * block
        view = array._shaped((count, block, block, depth, rows, columns))
        result = (count, depth, rows * block, columns * block)
        return store(permuted(view, (0, 3, 4, 1, 5, 2)), result, out)
    if rows % block or columns % block:
        raise ArrayValueError(f"[{name}] {block} must divide axes 2 and 3 of {array.shape}")
    rows, columns = rows // block, columns // block
    view = array._shaped((count, depth, rows, block, columns, block))
    result = (count, depth * block * block, rows, columns)
    return store(permuted(view, (0, 3, 5, 1, 2, 4)), result, out)


def padded(array: A, widths: Sequence[tuple[int, int]], mode: str, values: Sequence[Any] = ()) -> A:
    """Return an array with more elements around it.

    ``widths`` holds how many before and behind each axis, ``values`` the constants for both sides.
    """
    if len(widths) != array.ndim or any(width < 0 for pair in widths for width in pair):
        raise ArrayValueError(
            f"[pad] pad_width {tuple(widths)} must hold two numbers, not negative, per axis of "
            f"shape {array.shape}"
        )
    shape = tuple(
        before + extent + after for extent, (before, after) in zip(array.shape, widths, strict=True)
    )
    result: A
    constants = {value for pair in values for value in pair} if mode == "constant" else set()
    if len(constants) == 1 and array.size < _small:
        offset = sum(
            before * stride
            for (before, _), stride in zip(widths, contiguous_strides(shape), strict=True)
        )
        result = array._copy(
            constants.pop(), shape=shape, dtype=array._dtype_number, ctx=array._context_numbers
        )
        if array.size:
            result._write(array, offset, array.shape, result._strides)
        return result
    result = _empty[array._legacy](
        shape=shape, dtype=array._dtype_number, ctx=array._context_numbers
    )
    # Axis by axis: the earlier ones are complete, the later ones still hold the middle only.
    frame = result
    for axis, (before, _) in enumerate(widths):
        frame = part(frame, axis, before, before + array.shape[axis])
    if array.size:
        write_part(result, frame, array)
    for axis, (before, after) in enumerate(widths):
        band = result
        for later in range(axis + 1, array.ndim):
            start = widths[later][0]
            band = part(band, later, start, start + array.shape[later])
        if band.size and (before or after):
            pair = values[axis] if values else (0, 0)
            _pad_axis(result, band, axis, before, array.shape[axis], mode, pair)
    return result


def _pad_axis(
    whole: Any,
    band: Any,
    axis: int,
    before: int,
    extent: int,
    mode: str,
    constants: tuple[Any, Any],
) -> None:
    """Fill what lies before and behind the middle of one axis."""
    end, last = before + extent, band.shape[axis]
    left, right = part(band, axis, 0, before), part(band, axis, end, last)
    if mode == "constant":
        sources = constants
    elif not extent:
        raise ArrayValueError(f"[pad] an axis without elements cannot be padded by mode {mode!r}")
    elif mode == "edge" or (mode == "reflect" and extent == 1):
        sources = (part(band, axis, before, before + 1), part(band, axis, end - 1, end))
    elif (mode, band._legacy) in _folds:
        middle = band._copied(part(band, axis, before, end))
        sources = (_folds[mode, band._legacy](middle, axis=(axis,), keepdims=True),) * 2
    else:
        _pad_mirrored(whole, band, axis, before, extent, mode)
        return
    for side, source in zip((left, right), sources, strict=True):
        if side.size:
            write_part(whole, side, source)


def _pad_mirrored(whole: Any, band: Any, axis: int, before: int, extent: int, mode: str) -> None:
    """Continue the middle of one axis to both sides by "reflect", "symmetric" or "wrap"."""
    middle = part(band, axis, before, before + extent)
    mirrored = flipped(middle, (axis,))
    skipped = 1 if mode == "reflect" else 0  # the edge itself is not repeated
    period = extent - skipped
    for turned in (False, True):  # to the right, then to the left, both seen from the middle
        outside = flipped(band, (axis,)) if turned else band
        start = before + extent if not turned else band.shape[axis] - before
        onward, back = (mirrored, middle) if turned else (middle, mirrored)
        for number, begin in enumerate(range(start, band.shape[axis], period)):
            source = back if mode != "wrap" and number % 2 == 0 else onward
            length = min(period, band.shape[axis] - begin)
            target = part(outside, axis, begin, begin + length)
            write_part(whole, target, part(source, axis, skipped, skipped + length))

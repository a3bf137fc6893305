# SPDX-License-Identifier: Apache-2.0
"""The same elements in another shape or order. All of these copy, as in MXNet."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._core import Array, operation
from .._rearrange import flipped, padded, part, parts, permuted, repeated, store, tiled
from .._shapes import (
    Shape,
    as_integers,
    as_shape,
    equal_parts,
    expanded,
    most_parts_of_nothing,
    moved_axes,
    normal_axis,
    numpy_reshape,
    parts_at,
    permutation,
    swapped_axes,
)
from .._shapes import squeezed as squeezed_shape
from .._shortcut import shortcut
from ..error import (
    ArrayMemoryError,
    ArrayNotImplementedError,
    ArrayTypeError,
    ArrayValueError,
    as_ours,
)
from ._arguments import need

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    "array_split",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_to",
    "column_stack",
    "concatenate",
    "dsplit",
    "dstack",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "hsplit",
    "hstack",
    "may_share_memory",
    "moveaxis",
    "ndim",
    "pad",
    "ravel",
    "repeat",
    "reshape",
    "resize",
    "roll",
    "rollaxis",
    "rot90",
    "row_stack",
    "shape",
    "shares_memory",
    "size",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "transpose",
    "vsplit",
    "vstack",
]

_copy = operation("copy", False)
_concat = operation("concat", False)


def _copied(view: Any, out: ndarray | None = None) -> ndarray:
    result: ndarray = _copy(view, out=out)
    return result


# --- descriptions ---


def shape(a: Any) -> Shape:
    """Return the extent of every axis.

    >>> np.shape(np.zeros((2, 3)))
    (2, 3)
    """
    return a.shape if isinstance(a, Array) else onp.shape(a)


def ndim(a: Any) -> int:
    """Return the number of axes.

    >>> np.ndim(np.zeros((2, 3)))
    2
    """
    return a.ndim if isinstance(a, Array) else onp.ndim(a)


def size(a: Any, axis: int | None = None) -> int:
    """Return the number of elements, or the extent of one axis.

    >>> np.size(np.zeros((2, 3)))
    6
    >>> np.size(np.zeros((2, 3)), 1)
    3
    """
    extents = shape(a)
    return prod(extents) if axis is None else extents[normal_axis(axis, len(extents))]


def may_share_memory(a: Any, b: Any, max_work: int | None = None) -> bool:
    """Tell whether two arrays lie in the same part of memory.

    >>> x = np.zeros((2, 3))
    >>> np.may_share_memory(x, x[1]), np.may_share_memory(x[0], x[1])
    (True, False)
    """
    return bool(need(a)._shares_memory(need(b, "b")))


shares_memory = may_share_memory


# --- other shapes ---


def reshape(a: Any, newshape: Any, order: str = "C", out: ndarray | None = None) -> ndarray:
    """Return a copy in another shape; one extent may be -1.

    >>> np.reshape(np.zeros((2, 3)), (3, -1)).shape
    (3, 2)
    """
    if order != "C":
        raise ArrayNotImplementedError(f"[reshape] reads elements in order 'C', not {order!r}")
    wanted = as_integers(newshape, "newshape")
    return _copied(need(a)._shaped(numpy_reshape(a.shape, wanted)), out)


def ravel(x: Any, order: str = "C") -> ndarray:
    """Return a copy with one axis.

    >>> np.ravel(np.zeros((2, 3))).shape
    (6,)
    """
    return reshape(x, -1, order)


def expand_dims(a: Any, axis: Any) -> ndarray:
    """Return a copy with one more axis of extent 1, or several.

    >>> np.expand_dims(np.zeros((2, 3)), -1).shape
    (2, 3, 1)
    """
    return _copied(need(a)._shaped(expanded(a.shape, axis)))


def squeeze(a: Any, axis: Any = None, out: ndarray | None = None) -> ndarray:
    """Return a copy without axes of extent 1: all, or those named.

    >>> np.squeeze(np.zeros((1, 2, 1)), axis=0).shape
    (2, 1)
    """
    return _copied(need(a)._shaped(squeezed_shape(a.shape, axis)), out)


def atleast_1d(*arys: Any) -> Any:
    """Return copies with at least one axis.

    >>> np.atleast_1d(np.array(3))
    array([3.])
    """
    return _each(arys, lambda extents: extents or (1,))


def atleast_2d(*arys: Any) -> Any:
    """Return copies with at least two axes; new ones come first.

    >>> np.atleast_2d(np.zeros((3,))).shape
    (1, 3)
    """
    return _each(arys, lambda extents: (1,) * (2 - len(extents)) + extents)


def atleast_3d(*arys: Any) -> Any:
    """Return copies with at least three axes; a vector becomes the middle one.

    >>> np.atleast_3d(np.zeros((3,))).shape, np.atleast_3d(np.zeros((2, 3))).shape
    ((1, 3, 1), (2, 3, 1))
    """
    return _each(arys, _three_axes)


def _three_axes(extents: Shape) -> Shape:
    return (1, *extents, 1) if len(extents) == 1 else extents + (1,) * (3 - len(extents))


def _each(arrays: tuple[Any, ...], new_shape: Any) -> Any:
    if not arrays:
        raise ArrayValueError("[atleast] needs at least one array")
    results = [_copied(need(one)._shaped(new_shape(one.shape))) for one in arrays]
    return results if len(results) > 1 else results[0]


def resize(a: Any, new_shape: Any) -> ndarray:
    """Return the elements in another shape of any size, from the start again where they run out.

    >>> np.resize(np.array([1, 2, 3]), (2, 2))
    array([[1., 2.],
           [3., 1.]])
    """
    array, extents = need(a), as_shape(new_shape)
    total = prod(extents)
    if not array.size:
        result: ndarray = _copy(
            0, shape=extents, dtype=array._dtype_number, ctx=array._context_numbers
        )
        return result
    rounds = -(-total // array.size)
    everything: ndarray = store(*tiled(array._shaped((array.size,)), (rounds,)))
    return part(everything, 0, 0, total)._shaped(extents)


# --- other orders ---


def transpose(a: Any, axes: Sequence[int] | None = None) -> ndarray:
    """Return a copy with the axes in another order; reversed if none is given.

    >>> np.transpose(np.zeros((2, 3, 4)), (1, 0, 2)).shape
    (3, 2, 4)
    """
    return _copied(permuted(need(a), permutation(axes, a.shape, negative=True)))


@shortcut("swapaxes", parameters=3)
def swapaxes(a: Any, axis1: int, axis2: int) -> ndarray:
    """Return a copy with two axes exchanged.

    >>> np.swapaxes(np.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    array = need(a)
    result: ndarray = _copy(array._reordered(swapped_axes(array.ndim, axis1, axis2)))
    return result


def moveaxis(a: Any, source: Any, destination: Any) -> ndarray:
    """Return a copy with axes moved to other places; the others keep their order.

    >>> np.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    return _copied(permuted(need(a), moved_axes(a.ndim, source, destination)))


def rollaxis(a: Any, axis: int, start: int = 0) -> ndarray:
    """Return a copy with one axis moved before another one.

    >>> np.rollaxis(np.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    origin = normal_axis(axis, need(a).ndim)
    place = normal_axis(start, a.ndim + 1) if start >= 0 else normal_axis(start, a.ndim)
    return moveaxis(a, origin, place - 1 if origin < place else place)


@shortcut("flip", parameters=2)
def flip(m: Any, axis: Any = None, out: ndarray | None = None) -> ndarray:
    """Return the elements in reverse order along axes; along all of them by default.

    >>> np.flip(np.array([[1, 2], [3, 4]]), 1)
    array([[2., 1.],
           [4., 3.]])
    """
    array = need(m)
    axes = range(array.ndim) if axis is None else as_integers(axis, "axis")
    return _copied(flipped(array, axes), out)


def fliplr(m: Any) -> ndarray:
    """Return the columns in reverse order.

    >>> np.fliplr(np.array([[1, 2], [3, 4]]))
    array([[2., 1.],
           [4., 3.]])
    """
    return flip(m, 1)


def flipud(m: Any) -> ndarray:
    """Return the rows in reverse order.

    >>> np.flipud(np.array([1, 2, 3]))
    array([3., 2., 1.])
    """
    return flip(m, 0)


def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> ndarray:
    """Return the array turned by ``k`` right angles, from the first of two axes to the second.

    >>> np.rot90(np.array([[1, 2], [3, 4]]))
    array([[2., 4.],
           [1., 3.]])
    """
    array = need(m)
    plane = [normal_axis(one, array.ndim) for one in as_integers(axes, "axes")]
    if len(plane) != 2 or plane[0] == plane[1]:
        raise ArrayValueError(f"[rot90] needs two different axes, but got {tuple(axes)}")
    turns = k % 4
    if turns == 0:
        return _copied(array)
    if turns == 2:
        return _copied(flipped(array, plane))
    turned = flipped(array, plane[1:] if turns == 1 else plane[:1])
    return _copied(permuted(turned, swapped_axes(array.ndim, *plane)))


@shortcut("roll", parameters=3)
def roll(a: Any, shift: Any, axis: Any = None) -> ndarray:
    """Return the elements moved along axes; what leaves at one end comes in at the other.

    >>> np.roll(np.array([1, 2, 3]), 1)
    array([3., 1., 2.])
    """
    array = need(a)
    if axis is None:
        flat = array._shaped((array.size,))
        return roll(flat, sum(as_integers(shift, "shift")), 0)._shaped(array.shape)
    shifts, axes = as_integers(shift, "shift"), as_integers(axis, "axis")
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ArrayValueError(f"[roll] shift {shifts} and axis {axes} must be equally long")
    moves: dict[int, int] = {}
    for number in range(builtins.max(len(shifts), len(axes)) if shifts and axes else 0):
        position = normal_axis(axes[number % len(axes)], array.ndim)
        moves[position] = moves.get(position, 0) + shifts[number % len(shifts)]
    result = array
    for position, distance in moves.items():
        extent = array.shape[position]
        cut = extent - distance % extent if extent else 0
        if cut != extent:
            ends = parts(result, position, (cut, extent)) + parts(result, position, (0, cut))
            result = _concat(ends, position)
    return _copied(array) if result is array else result


# --- more elements ---


@shortcut("copy", "array", "shape!")
def broadcast_to(array: Any, shape: Any) -> ndarray:
    """Return a copy stretched to a shape; also a number.

    >>> np.broadcast_to(np.array([1, 2]), (2, 2))
    array([[1., 2.],
           [1., 2.]])
    """
    source = array if isinstance(array, (int, float)) else need(array, "array")
    result: ndarray = _copy(source, shape=as_shape(shape))
    return result


def broadcast_arrays(*args: Any) -> list[ndarray]:
    """Return the arrays stretched to their common shape; those that have it are not copied.

    >>> [x.shape for x in np.broadcast_arrays(np.zeros((3,)), np.zeros((2, 1)))]
    [(2, 3), (2, 3)]
    """
    arrays = [need(one) for one in args]
    try:
        common = onp.broadcast_shapes(*(one.shape for one in arrays))
    except ValueError as error:
        raise ArrayValueError(f"[broadcast_arrays] {error}") from None
    return [one if one.shape == common else broadcast_to(one, common) for one in arrays]


@shortcut("tile", parameters=2)
def tile(A: Any, reps: Any) -> Any:  # noqa: N803
    """Return the whole array several times along its axes.

    >>> np.tile(np.array([1, 2]), (2, 2))
    array([[1., 2., 1., 2.],
           [1., 2., 1., 2.]])
    """
    if isinstance(A, (int, float)):
        counts = as_integers(reps, "reps")
        with as_ours("tile"):
            return onp.full(counts, A)  # numbers stay with NumPy, as in MXNet
    return store(*tiled(need(A, "A"), as_integers(reps, "reps")))


@shortcut("repeat", parameters=3)
def repeat(a: Any, repeats: Any, axis: int | None = None) -> ndarray:
    """Return every element several times in a row; ``repeats`` is a number or one per element.

    >>> np.repeat(np.array([1, 2]), 2)
    array([1., 1., 2., 2.])
    >>> np.repeat(np.array([1, 2]), [3, 1])
    array([1., 1., 1., 2.])
    """
    array = need(a)
    counts = as_integers(repeats, "repeats")
    if len(counts) == 1:
        return store(*repeated(array, counts[0], axis))  # type: ignore[no-any-return]
    flat = array._shaped((array.size,)) if axis is None else array
    position = 0 if axis is None else normal_axis(axis, array.ndim)
    extents, strides = flat.shape, flat._strides
    if len(counts) != extents[position] or builtins.min(counts, default=0) < 0:
        raise ArrayValueError(
            f"[repeat] repeats must hold {extents[position]} numbers, not negative, but is {counts}"
        )
    still = (*strides[:position], 0, *strides[position + 1 :])
    pieces = [
        part(flat, position, index, index + 1)._view(
            0, (*extents[:position], count, *extents[position + 1 :]), still
        )
        for index, count in enumerate(counts)
    ]
    return _concat(pieces, position)  # type: ignore[no-any-return]


#: The keywords that each mode of ``pad`` takes.
_pad_keywords = {
    "constant": "constant_values",
    "edge": None,
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    "maximum": "stat_length",
    "minimum": "stat_length",
    "wrap": None,
}


class _PadError(ArrayNotImplementedError, ArrayValueError):
    """A form of ``pad`` that only NumPy has; MXNet calls it a wrong value."""


@shortcut("pad", parameters=2)
def pad(x: Any, pad_width: Any = None, mode: str = "constant", **kwargs: Any) -> ndarray:
    """Return the array with more elements around it.

    ``pad_width`` holds (before, after) for each axis, or one such pair or number for all. The new
    elements are ``constant_values``, the nearest element ("edge"), mirror images ("reflect",
    "symmetric"), the other end ("wrap"), or the greatest or smallest ("maximum", "minimum").

    >>> np.pad(np.array([1, 2, 3]), (2, 1), mode="reflect")
    array([3., 2., 1., 2., 3., 2.])
    >>> np.pad(np.array([[1, 2]]), ((0, 0), (1, 1)), constant_values=5)
    array([[5., 1., 2., 5.]])
    """
    if mode not in _pad_keywords:
        raise _PadError(f"[pad] mode must be one of {', '.join(_pad_keywords)}, but got {mode!r}")
    for key in kwargs:
        if key != _pad_keywords[mode]:
            raise ArrayValueError(f"[pad] mode {mode!r} takes no argument {key!r}")
    if kwargs.get("reflect_type", "even") != "even" or kwargs.get("stat_length") is not None:
        raise _PadError(f"[pad] there is no {kwargs} for mode {mode!r}")
    array = need(x, "x")
    widths = _pairs(pad_width, array, "pad_width")
    if not all(type(width) is int for pair in widths for width in pair):
        raise ArrayTypeError(f"[pad] pad_width must hold integers, but got {pad_width}")
    values = _pairs(kwargs.get("constant_values", 0), array, "constant_values")
    return padded(array, widths, mode, values)  # type: ignore[no-any-return]


def _pairs(given: Any, array: Any, name: str) -> list[tuple[Any, Any]]:
    """Return two numbers for each axis."""
    if type(given) is int:
        return [(given, given)] * array.ndim
    if type(given) is tuple and len(given) == array.ndim and all(map(_is_pair, given)):
        return list(given)
    numbers = onp.asarray(given)
    try:
        pairs: list[list[Any]] = onp.broadcast_to(numbers, (array.ndim, 2)).tolist()
    except ValueError:
        raise ArrayValueError(
            f"[pad] {name} of shape {numbers.shape} does not fit an array of shape {array.shape}"
        ) from None
    return [(before, after) for before, after in pairs]


def _is_pair(given: Any) -> bool:
    return type(given) is tuple and len(given) == 2 and all(type(one) is int for one in given)


# --- several arrays in one ---


@shortcut("concat", "arrays", "axis", axis=0)
def concatenate(seq: Sequence[Any], axis: int | None = 0, out: ndarray | None = None) -> ndarray:
    """Return the arrays one behind the other along an axis; all elements in a row for ``None``.

    >>> np.concatenate([np.zeros((2, 3)), np.ones((1, 3))]).shape
    (3, 3)
    """
    arrays = [need(one, "seq") for one in seq]
    if axis is None:
        arrays = [one._shaped((one.size,)) for one in arrays]
    result: ndarray = _concat(arrays, 0 if axis is None else axis, out=out)
    return result


@shortcut("stack", parameters=2)
def stack(arrays: Sequence[Any], axis: int = 0, out: ndarray | None = None) -> ndarray:
    """Return the arrays one behind the other along a new axis.

    >>> np.stack([np.zeros((3,)), np.ones((3,))], axis=1).shape
    (3, 2)
    """
    items = [need(one, "arrays") for one in arrays]
    if not items:
        raise ArrayValueError("[stack] needs at least one array")
    extents = items[0].shape
    for one in items:
        if one.shape != extents:
            raise ArrayValueError(f"[stack] the shapes {extents} and {one.shape} must be equal")
    position = normal_axis(axis, len(extents) + 1)
    shape = (*extents[:position], 1, *extents[position:])
    result: ndarray = _concat([one._shaped(shape) for one in items], position, out=out)
    return result


def vstack(arrays: Sequence[Any], out: ndarray | None = None) -> ndarray:
    """Return the arrays below each other; a vector is one row.

    >>> np.vstack([np.array([1, 2]), np.array([3, 4])])
    array([[1., 2.],
           [3., 4.]])
    """
    rows = [need(one, "arrays") for one in arrays]
    return concatenate(
        [one._shaped((1,) * (2 - one.ndim) + one.shape) if one.ndim < 2 else one for one in rows],
        0,
        out,
    )


def row_stack(arrays: Sequence[Any]) -> ndarray:
    """Return the arrays below each other: another name of :func:`vstack`.

    >>> np.row_stack([np.array([1, 2]), np.array([3, 4])]).shape
    (2, 2)
    """
    return vstack(arrays)


def hstack(arrays: Sequence[Any]) -> ndarray:
    """Return the arrays side by side: along the second axis, vectors along their only one.

    >>> np.hstack([np.array([1, 2]), np.array([3])])
    array([1., 2., 3.])
    """
    items = [need(one, "arrays") for one in arrays]
    items = [one if one.ndim else one._shaped((1,)) for one in items]
    return concatenate(items, 0 if items and items[0].ndim == 1 else 1)


def dstack(arrays: Sequence[Any]) -> ndarray:
    """Return the arrays behind each other along a third axis.

    >>> np.dstack([np.array([1, 2]), np.array([3, 4])]).shape
    (1, 2, 2)
    """
    items = [need(one, "arrays") for one in arrays]
    return concatenate([_three_deep(one) for one in items], 2)


def _three_deep(array: Any) -> Any:
    extents = array.shape
    return array._shaped(_three_axes(extents)) if len(extents) < 3 else array


def column_stack(tup: Sequence[Any]) -> ndarray:
    """Return vectors as the columns of a matrix; matrices side by side.

    >>> np.column_stack([np.array([1, 2]), np.array([3, 4])])
    array([[1., 3.],
           [2., 4.]])
    """
    items = [need(one, "tup") for one in tup]
    columns = [one._shaped((one.size, 1)) if one.ndim < 2 else one for one in items]
    return concatenate(columns, 1)


# --- parts ---


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Return a list of parts along an axis: a number of equal ones, or cut at indices.

    >>> np.split(np.array([1, 2, 3]), [1])
    [array([1.]), array([2., 3.])]
    """
    position = _split_axis(ary, axis)
    extent = ary.shape[position]
    if isinstance(indices_or_sections, (int, onp.integer)):
        return _parts(ary, position, equal_parts(extent, int(indices_or_sections)))
    return _parts(ary, position, parts_at(extent, _indices(indices_or_sections)))


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Return a list of parts along an axis; the first ones may be longer by one element.

    >>> [len(part) for part in np.array_split(np.zeros((8,)), 3)]
    [3, 3, 2]
    """
    position = _split_axis(ary, axis)
    extent = ary.shape[position]
    if not isinstance(indices_or_sections, (int, onp.integer)):
        return split(ary, indices_or_sections, axis)
    if indices_or_sections < 1:
        raise ArrayValueError(f"[array_split] cannot make {indices_or_sections} parts")
    if indices_or_sections > builtins.max(extent, most_parts_of_nothing):
        raise ArrayMemoryError(
            f"[array_split] {indices_or_sections} parts were asked for, of an extent of {extent}"
        )
    length, longer = divmod(extent, indices_or_sections)
    bounds = [part * length + builtins.min(part, longer) for part in range(indices_or_sections + 1)]
    return _parts(ary, position, bounds)


def _split_axis(ary: Any, axis: int) -> int:
    return normal_axis(axis, need(ary, "ary").ndim)


def _indices(value: Any) -> list[int]:
    if not isinstance(value, (tuple, list, set, onp.ndarray)):
        raise ArrayValueError(
            "indices_or_sections must be either int, or tuple / list / set of ints"
        )
    return sorted(value) if isinstance(value, set) else list(value)


def _parts(ary: Any, axis: int, bounds: list[int]) -> list[ndarray]:
    return [_copied(view) for view in parts(need(ary), axis, bounds)]


def hsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Return a list of parts along the second axis; of a vector along its only one.

    >>> [part.shape for part in np.hsplit(np.zeros((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    _need_axes(ary, 1, "hsplit")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Return a list of parts along the first axis.

    >>> [part.shape for part in np.vsplit(np.zeros((2, 4)), 2)]
    [(1, 4), (1, 4)]
    """
    _need_axes(ary, 2, "vsplit")
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Return a list of parts along the third axis.

    >>> [part.shape for part in np.dsplit(np.zeros((2, 3, 4)), 2)]
    [(2, 3, 2), (2, 3, 2)]
    """
    _need_axes(ary, 3, "dsplit")
    return split(ary, indices_or_sections, 2)


def _need_axes(ary: Any, count: int, name: str) -> None:
    if need(ary, "ary").ndim < count:
        raise ArrayValueError(f"{name} only works on arrays of {count} or more dimensions")

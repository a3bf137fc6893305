# SPDX-License-Identifier: Apache-2.0
"""The same elements in another shape or order. All of these copy, as in MXNet."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._core import operation
from .._host import from_host
from .._indexing import find_block
from .._rearrange import (
    diagonal,
    diagonal_matrix,
    flipped,
    mix_blocks,
    padded,
    parts,
    permuted,
    repeated,
    store,
    tiled,
)
from .._shapes import (
    as_integer,
    as_integers,
    as_shape,
    equal_parts,
    expanded,
    legacy_reshape,
    moved_axes,
    normal_axis,
    parts_at,
    permutation,
    reshaped_like,
    swapped_axes,
)
from .._shapes import squeezed as squeezed_shape
from ..error import ArgumentError, ArrayTypeError, ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "Concat",
    "Crop",
    "Pad",
    "Reshape",
    "SliceChannel",
    "SwapAxis",
    "broadcast_axes",
    "broadcast_axis",
    "broadcast_like",
    "broadcast_to",
    "concat",
    "concatenate",
    "crop",
    "depth_to_space",
    "diag",
    "expand_dims",
    "flip",
    "identity",
    "moveaxis",
    "pad",
    "repeat",
    "reshape",
    "reshape_like",
    "reverse",
    "shape_array",
    "size_array",
    "slice",
    "slice_axis",
    "slice_like",
    "space_to_depth",
    "split",
    "split_v2",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "transpose",
]

_copy = operation("copy", True)
_concat = operation("concat", True)


def _copied(view: NDArray, out: NDArray | None) -> NDArray:
    result: NDArray = _copy(view, out=out)
    return result


# --- other shapes ---


def identity(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return a copy.

    >>> nd.identity(nd.ones((2,))).asnumpy()
    array([1., 1.], dtype=float32)
    """
    return _copied(need(data), out)


def reshape(
    data: NDArray,
    shape: Any = None,
    reverse: bool = False,
    target_shape: Any = None,
    keep_highest: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy in another shape; codes as for :meth:`NDArray.reshape`.

    In ``target_shape``, the older form, 0 is found from the others, and ``keep_highest`` keeps the
    first extent.

    >>> nd.reshape(nd.zeros((2, 3, 4)), shape=(-3, 0)).shape
    (6, 4)
    """
    if shape is None and target_shape is not None:
        target = as_integers(target_shape, "target_shape")
        first = need(data).shape[:1] if keep_highest else target[:1]
        shape = tuple(extent or -1 for extent in first + target[1:])
    if shape is None:
        raise ArgumentError("Shape must be provided.")
    wanted = as_integers(shape, "shape")
    return _copied(need(data)._shaped(legacy_reshape(data.shape, wanted, reverse)), out)


Reshape = reshape


def reshape_like(
    lhs: NDArray,
    rhs: NDArray,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy of ``lhs`` in the shape of ``rhs``, or with some axes replaced by those there.

    >>> nd.reshape_like(nd.zeros((6, 7)), nd.zeros((2, 3, 4)), lhs_end=1, rhs_end=2).shape
    (2, 3, 7)
    """
    shape = reshaped_like(
        need(lhs, "lhs").shape, need(rhs, "rhs").shape, lhs_begin, lhs_end, rhs_begin, rhs_end
    )
    return _copied(lhs._shaped(shape), out)


def expand_dims(
    data: NDArray, axis: int, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return a copy with one more axis of extent 1.

    >>> nd.expand_dims(nd.zeros((2, 3)), axis=-1).shape
    (2, 3, 1)
    """
    return _copied(need(data)._shaped(expanded(data.shape, axis)), out)


def squeeze(
    data: NDArray, axis: Any = None, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return a copy without axes of extent 1: all, or those named.

    >>> nd.squeeze(nd.zeros((1, 2, 1)), axis=0).shape
    (2, 1)
    """
    return _copied(need(data)._shaped(squeezed_shape(data.shape, axis) or (1,)), out)


def shape_array(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the shape as an array of int64.

    >>> nd.shape_array(nd.zeros((2, 3))).asnumpy()
    array([2, 3])
    """
    return _integers(need(data).shape, data, out)


def size_array(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the number of elements as an array of int64.

    >>> nd.size_array(nd.zeros((2, 3))).asnumpy()
    array([6])
    """
    return _integers((need(data).size,), data, out)


def _integers(numbers: tuple[int, ...], like: NDArray, out: NDArray | None) -> NDArray:
    host = onp.array(numbers, onp.int64)
    result: NDArray = from_host(host, like._context_numbers, True)
    return result if out is None else _copied(result, out)


# --- other orders ---


def transpose(
    data: NDArray,
    axes: Sequence[int] | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy with the axes in another order; reversed if none is given.

    >>> nd.transpose(nd.zeros((2, 3, 4)), axes=(1, 0, 2)).shape
    (3, 2, 4)
    """
    return _copied(permuted(data, permutation(axes, need(data).shape, negative=False)), out)


def swapaxes(
    data: NDArray,
    dim1: int = 0,
    dim2: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy with two axes exchanged.

    >>> nd.swapaxes(nd.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    return _copied(permuted(data, swapped_axes(need(data).ndim, dim1, dim2)), out)


SwapAxis = swapaxes


def moveaxis(tensor: NDArray, source: Any, destination: Any) -> NDArray:
    """Return a copy with axes moved to other places; the others keep their order.

    >>> nd.moveaxis(nd.zeros((2, 3, 4)), 0, 2).shape
    (3, 4, 2)
    """
    order = moved_axes(need(tensor, "tensor").ndim, source, destination)
    return _copied(permuted(tensor, order), None)


def flip(data: NDArray, axis: Any, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the elements in reverse order along one axis or several.

    >>> nd.flip(nd.array([[1, 2], [3, 4]]), axis=1).asnumpy()
    array([[2., 1.],
           [4., 3.]], dtype=float32)
    """
    return _copied(flipped(need(data), as_integers(axis, "axis")), out)


reverse = flip


def depth_to_space(
    data: NDArray, block_size: int, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return blocks of pixels that were spread over the channels, as an image of fewer channels.

    >>> nd.depth_to_space(nd.zeros((1, 8, 2, 3)), 2).shape
    (1, 2, 4, 6)
    """
    result: NDArray = mix_blocks(need(data), block_size, "depth_to_space", out)
    return result


def space_to_depth(
    data: NDArray, block_size: int, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the pixels of every block as channels: the inverse of :func:`depth_to_space`.

    >>> nd.space_to_depth(nd.zeros((1, 2, 4, 6)), 2).shape
    (1, 8, 2, 3)
    """
    result: NDArray = mix_blocks(need(data), block_size, "space_to_depth", out)
    return result


def diag(
    data: NDArray,
    k: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a diagonal as the last axis of the result, or a matrix with a vector on one.

    >>> nd.diag(nd.array([[1, 2], [3, 4]])).asnumpy()
    array([1., 4.], dtype=float32)
    >>> nd.diag(nd.array([1, 2]), k=1).shape
    (3, 3)
    """
    if need(data).ndim == 1:
        matrix = diagonal_matrix(data, k)
        return matrix if out is None else _copied(matrix, out)
    return _copied(diagonal(data, k, axis1, axis2), out)


# --- more elements ---


def broadcast_to(
    data: NDArray, shape: Any, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return a copy stretched to a shape; 0 keeps the extent of the array.

    >>> nd.broadcast_to(nd.ones((1, 3)), shape=(2, 0)).shape
    (2, 3)
    """
    wanted = as_shape(shape)
    if len(wanted) == need(data).ndim:
        pairs = zip(wanted, data.shape, strict=True)
        wanted = tuple(extent or own for extent, own in pairs)
    result: NDArray = _copy(data, shape=wanted, out=out)
    return result


def broadcast_like(
    lhs: NDArray,
    rhs: NDArray,
    lhs_axes: Any = None,
    rhs_axes: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy stretched to the shape of another array, or along some axes only.

    >>> nd.broadcast_like(nd.ones((1, 3)), nd.ones((5, 7)), lhs_axes=(0,), rhs_axes=(1,)).shape
    (7, 3)
    """
    like = need(rhs, "rhs").shape
    if lhs_axes is None and rhs_axes is None:
        return broadcast_to(need(lhs, "lhs"), like, out=out)
    axes, others = as_integers(lhs_axes, "lhs_axes"), as_integers(rhs_axes, "rhs_axes")
    sizes = tuple(like[normal_axis(axis, len(like))] for axis in others)
    return broadcast_axis(need(lhs, "lhs"), axes, sizes, out=out)


def broadcast_axis(
    data: NDArray,
    axis: Any = (),
    size: Any = (),
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy with axes of extent 1 stretched to the sizes given.

    >>> nd.broadcast_axis(nd.ones((1, 3, 1)), axis=(0, 2), size=(2, 4)).shape
    (2, 3, 4)
    """
    axes, sizes = as_integers(axis, "axis"), as_integers(size, "size")
    if len(axes) != len(sizes):
        raise ArrayValueError(f"[broadcast_axis] axis {axes} and size {sizes} differ in length")
    shape = list(need(data).shape)
    for one, extent in zip(axes, sizes, strict=True):
        position = normal_axis(one, data.ndim)
        if shape[position] not in (1, extent):
            raise ArrayValueError(
                f"[broadcast_axis] axis {one} of shape {data.shape} must have extent 1"
            )
        shape[position] = extent
    result: NDArray = _copy(data, shape=tuple(shape), out=out)
    return result


broadcast_axes = broadcast_axis


def tile(data: NDArray, reps: Any, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the whole array several times along its axes.

    >>> nd.tile(nd.array([1, 2]), reps=(2, 2)).asnumpy()
    array([[1., 2., 1., 2.],
           [1., 2., 1., 2.]], dtype=float32)
    """
    result: NDArray = store(*tiled(need(data), as_integers(reps, "reps")), out)
    return result


def repeat(
    data: NDArray,
    repeats: int,
    axis: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return every element several times in a row, along an axis or in one dimension.

    >>> nd.repeat(nd.array([[1, 2]]), 2, axis=1).asnumpy()
    array([[1., 1., 2., 2.]], dtype=float32)
    """
    count = as_integers(repeats, "repeats")
    if len(count) != 1:
        raise ArrayTypeError(f"[repeat] repeats must be one integer, but got {repeats}")
    result: NDArray = store(*repeated(need(data), count[0], axis), out)
    return result


def pad(
    data: NDArray,
    mode: str,
    pad_width: Any,
    constant_value: float = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the array with more elements around it; two widths per axis in one tuple.

    The new elements are a constant, the nearest element ("edge") or a mirror image ("reflect").

    >>> x = nd.array([[[[1, 2]]]])
    >>> nd.pad(x, mode="edge", pad_width=(0, 0, 0, 0, 0, 0, 1, 2)).asnumpy()
    array([[[[1., 1., 2., 2., 2.]]]], dtype=float32)
    """
    if mode not in ("constant", "edge", "reflect"):
        raise ArrayValueError(f"[pad] mode must be constant, edge or reflect, but got {mode!r}")
    numbers = as_integers(pad_width, "pad_width")
    if len(numbers) != 2 * need(data).ndim:
        raise ArrayValueError(
            f"[pad] pad_width {numbers} must hold two numbers per axis of shape {data.shape}"
        )
    widths = list(zip(numbers[::2], numbers[1::2], strict=True))
    result = padded(data, widths, mode, [(constant_value, constant_value)] * data.ndim)
    return result if out is None else _copied(result, out)


Pad = pad


# --- parts ---


def slice(
    data: NDArray,
    begin: Any,
    end: Any,
    step: Any = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy of the block from begin to end, one entry per axis or ``None``.

    >>> nd.slice(nd.arange(6).reshape((2, 3)), begin=(0, 2), end=(None, 0), step=(1, -1)).asnumpy()
    array([[2., 1.],
           [5., 4.]], dtype=float32)
    """
    return _copied(block_of(need(data), begin, end, step), out)


crop = slice


def block_of(data: Any, begin: Any, end: Any, step: Any = None) -> Any:
    """Return a view of the block from begin to end, one entry per axis or ``None``."""
    starts, stops = _sequence(begin), _sequence(end)
    steps = (_sequence(step) if step is not None else ()) or (None,) * len(starts)
    if len(starts) != len(stops) or len(starts) != len(steps) or 0 in steps:
        raise ArrayValueError(
            f"[slice] begin {begin}, end {end} and step {step} must be equally long, steps not 0"
        )
    key = tuple(builtins.slice(*bounds) for bounds in zip(starts, stops, steps, strict=True))
    try:
        block = find_block(data, key, True)
    except TypeError:
        raise ArrayTypeError(f"[slice] begin {begin} and end {end} must hold integers") from None
    assert block is not None  # slices name a block, always
    return data._block(block)


def _sequence(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def slice_axis(
    data: NDArray,
    axis: int,
    begin: int,
    end: int | None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy of what lies from begin to end along one axis.

    >>> nd.slice_axis(nd.zeros((4, 6)), axis=-1, begin=-3, end=None).shape
    (4, 3)
    """
    position = normal_axis(axis, need(data).ndim)
    extent = data.shape[position]
    first = as_integer(begin, "[slice_axis] begin")
    last = extent if end is None else as_integer(end, "[slice_axis] end")
    start, stop = (place + extent if place < 0 else place for place in (first, last))
    if not 0 <= start < stop <= extent:
        raise ArrayValueError(
            f"[slice_axis] begin {first} and end {end} name nothing of axis {axis} of shape "
            f"{data.shape}"
        )
    return _copied(parts(data, position, (start, stop))[0], out)


def slice_like(
    data: NDArray,
    shape_like: NDArray,
    axes: Any = (),
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the beginning of the array, as long as another one along the axes (all by default).

    >>> nd.slice_like(nd.zeros((4, 6)), nd.zeros((2, 3)), axes=(1,)).shape
    (4, 3)
    """
    like = need(shape_like, "shape_like").shape
    chosen = as_integers(() if axes is None else axes, "axes")
    if not chosen and need(data).ndim != len(like):
        raise ArrayValueError(
            f"[slice_like] the shapes {data.shape} and {like} must have equally many dimensions"
        )
    shape = list(need(data).shape)
    for axis in chosen or range(data.ndim):
        position = normal_axis(axis, data.ndim)
        if position >= len(like) or like[position] > shape[position]:
            raise ArrayValueError(f"[slice_like] shape {like} must lie within shape {data.shape}")
        shape[position] = like[position]
    return _copied(data._view(0, tuple(shape), data._strides), out)


def Crop(  # noqa: N802
    *data: NDArray,
    num_args: int | None = None,
    offset: Any = (0, 0),
    h_w: Any = (0, 0),
    center_crop: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a window of images: as high and wide as a second array, or as ``h_w`` says.

    >>> nd.Crop(nd.zeros((1, 3, 6, 6)), h_w=(2, 4), offset=(1, 1)).shape
    (1, 3, 2, 4)
    """
    images = need(data[0] if data else None, "arg0")
    size = need(data[1], "arg1").shape[2:] if len(data) > 1 else as_integers(h_w, "h_w")
    if images.ndim != 4 or len(size) != 2:
        raise ArrayValueError(f"[Crop] needs images of 4 dimensions, but got shape {images.shape}")
    space = tuple(extent - wanted for extent, wanted in zip(images.shape[2:], size, strict=True))
    start = tuple(rest // 2 for rest in space) if center_crop else as_integers(offset, "offset")
    fits = all(0 <= first <= rest for first, rest in zip(start, space, strict=True))
    if not fits or any(wanted < 1 for wanted in size):
        raise ArrayValueError(
            f"[Crop] a window of {tuple(size)} at {start} must lie within shape {images.shape}"
        )
    rows, columns = parts(images, 2, (start[0], start[0] + size[0]))[0], start[1]
    return _copied(parts(rows, 3, (columns, columns + size[1]))[0], out)


def split(
    data: NDArray,
    num_outputs: int,
    axis: int = 1,
    squeeze_axis: bool = False,
    out: Any = None,
    name: str | None = None,
) -> Any:
    """Return a list of equal parts along an axis; the array itself, copied, for one part.

    >>> [part.shape for part in nd.split(nd.zeros((2, 6)), 3)]
    [(2, 2), (2, 2), (2, 2)]
    >>> [part.shape for part in nd.split(nd.zeros((2, 3)), 3, squeeze_axis=True)]
    [(2,), (2,), (2,)]
    """
    position = normal_axis(axis, need(data).ndim)
    bounds = equal_parts(data.shape[position], num_outputs)
    return _parts(data, position, bounds, squeeze_axis, out)


SliceChannel = split


def split_v2(
    ary: NDArray, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False
) -> Any:
    """Return a list of parts along an axis: a number of equal ones, or cut at indices.

    >>> [part.shape for part in nd.split_v2(nd.zeros((2, 3)), (1,), axis=1)]
    [(2, 1), (2, 2)]
    """
    position = normal_axis(axis, need(ary, "ary").ndim)
    extent = ary.shape[position]
    if isinstance(indices_or_sections, (int, onp.integer)):
        bounds = equal_parts(extent, int(indices_or_sections))
    elif isinstance(indices_or_sections, (tuple, list)):
        bounds = parts_at(extent, indices_or_sections)
    else:
        raise ArrayValueError("indices_or_sections must either int or tuple of ints")
    return _parts(ary, position, bounds, squeeze_axis, None)


def _parts(data: NDArray, axis: int, bounds: list[int], squeeze_axis: bool, out: Any) -> Any:
    views = parts(data, axis, bounds)
    targets = [None] * len(views) if out is None else out if isinstance(out, list) else [out]
    if len(targets) != len(views):
        raise ArrayValueError(f"[split] out holds {len(targets)} arrays for {len(views)} parts")
    shapes = [
        squeezed_shape(view.shape, axis) or (1,) if squeeze_axis else view.shape for view in views
    ]
    results = list(map(store, views, shapes, targets))
    return results if len(results) > 1 else results[0]


# --- several arrays in one ---


def concat(
    *data: NDArray,
    dim: int = 1,
    num_args: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the arrays one behind the other along an axis.

    >>> nd.concat(nd.zeros((2, 3)), nd.ones((2, 1)), dim=1).shape
    (2, 4)
    """
    for position, one in enumerate(data):
        need(one, f"arg{position}")
    result: NDArray = _concat(data, dim, out=out)
    return result


Concat = concat


def concatenate(arrays: Sequence[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """Return the arrays of a list one behind the other along an axis.

    >>> nd.concatenate([nd.zeros((2, 3)), nd.ones((1, 3))]).shape
    (3, 3)
    """
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    if len({need(one, "arrays")._dtype_number for one in arrays}) > 1:
        raise ArgumentError(
            "[concatenate] the arrays must have the same type, but got "
            + ", ".join(one.dtype.__name__ for one in arrays)
        )
    return concat(*arrays, dim=axis)


def stack(
    *data: NDArray,
    axis: int = 0,
    num_args: int | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the arrays one behind the other along a new axis.

    >>> nd.stack(nd.zeros((3,)), nd.ones((3,)), axis=1).shape
    (3, 2)
    """
    if not data:
        raise ArrayValueError("[stack] needs at least one array")
    shape = need(data[0], "arg0").shape
    for position, one in enumerate(data):
        if need(one, f"arg{position}").shape != shape:
            raise ArrayValueError(f"[stack] the shapes {shape} and {one.shape} must be equal")
    views = [one._shaped(expanded(shape, axis)) for one in data]
    return concat(*views, dim=normal_axis(axis, len(shape) + 1), out=out)

# SPDX-License-Identifier: Apache-2.0
"""Functions that pick elements by index arrays, for ``nd`` and ``np`` alike."""

from __future__ import annotations

from typing import Any

from ._core import operation
from ._dtype import BOOL, INT64, dtype_number
from ._shapes import Shape, as_float, as_integers, as_shape, normal_axis
from .error import ArrayTypeError, ArrayValueError

# The answers of np and of nd.
_take = (operation("take", False), operation("take", True))
_pick = (operation("pick", False), operation("pick", True))
_scatter = (operation("scatter_nd", False), operation("scatter_nd", True))
_one_hot = (operation("one_hot", False), operation("one_hot", True))
_copy = (operation("copy", False), operation("copy", True))
_concat = (operation("concat", False), operation("concat", True))


def pick(data: Any, index: Any, axis: Any, keepdims: bool, mode: str, out: Any) -> Any:
    """Return one element per index along an axis."""
    if axis is None:
        raise ArrayValueError("[pick] axis=None is not supported; name an axis")
    if mode not in ("clip", "wrap"):
        raise ArrayValueError(f"[pick] mode is {mode!r}; it must be 'clip' or 'wrap'")
    call = _pick[data._legacy]
    return call(data, index, axis=axis, keepdims=bool(keepdims), mode=mode, out=out)


def pick_labels(data: Any, labels: Any, axis: int) -> Any:
    """Return the element of each line along an axis that its label names; the axis is kept.

    A negative label names the first element. The result of one that is too great cannot be read.
    """
    index = labels._as_class(data._legacy)
    return _pick[data._legacy](data, index, axis=axis, keepdims=True, mode="label")


def one_hot(
    indices: Any, depth: int, on_value: float, off_value: float, dtype: Any, out: Any
) -> Any:
    """Return rows with one value where the index points, and another one elsewhere."""
    number = dtype_number(dtype)
    if number == BOOL:
        raise ArrayTypeError("[one_hot] dtype is bool; it must be a type of numbers")
    return _one_hot[indices._legacy](
        indices,
        depth=depth,
        on_value=as_float(on_value, "[one_hot] on_value"),
        off_value=as_float(off_value, "[one_hot] off_value"),
        dtype=number,
        out=out,
    )


def rows_of(indices: Any, name: str, ndim: int) -> list[Any]:
    """Return the index arrays that lie along the first axis, one for each axis of the data."""
    shape, strides = indices.shape, indices._strides
    if len(shape) < 2:
        raise ArrayValueError(f"[{name}] indices of shape {shape} must have two axes or more")
    if shape[0] > ndim:
        raise ArrayValueError(
            f"[{name}] {shape[0]} indices per element are too many for {ndim} dimensions"
        )
    return [indices._view(row * strides[0], shape[1:], strides[1:]) for row in range(shape[0])]


def scattered(data: Any, indices: list[Any], values: Any, add: bool = False) -> Any:
    """Return a copy with some elements replaced, or added to."""
    legacy = data._legacy
    result = _copy[legacy](data)
    if values._dtype_number != data._dtype_number:
        values = _copy[legacy](values, dtype=data._dtype_number)
    return _scatter[legacy]([result, values, *indices], add=add)


def into(result: Any, out: Any) -> Any:
    """Return the result, written into ``out`` if there is one."""
    return result if out is None else _copy[result._legacy](result, out=out)


def ravel_multi_index(data: Any, shape: Any, out: Any) -> Any:
    """Return the places in a flat array of what the columns of ``data`` name."""
    extents = _extents(shape, "ravel_multi_index")
    if data.shape[:1] != (len(extents),):
        raise ArrayValueError(
            f"[ravel_multi_index] data of shape {data.shape} must have a row for each axis of"
            f" {extents}"
        )

    whole = _copy[data._legacy](data.detach(), dtype=INT64)
    strides = whole._strides
    rows = [whole._view(row * strides[0], data.shape[1:], strides[1:]) for row in range(len(data))]
    flat = rows[0]
    for row, extent in zip(rows[1:], extents[1:], strict=True):
        flat = flat * extent + row
    return _copy[data._legacy](flat, dtype=data._dtype_number, out=out)


def unravel_index(data: Any, shape: Any, out: Any) -> Any:
    """Return the axes' indices, along a new first axis, of places in a flat array."""
    extents = _extents(shape, "unravel_index")
    rest = _copy[data._legacy](data.detach(), dtype=INT64)
    rows = []
    for extent in reversed(extents[1:]):
        place = rest % extent
        rows.append(place)
        rest = (rest - place) / extent
    lines = [row._shaped((1, *data.shape)) for row in (rest, *reversed(rows))]
    whole = _concat[data._legacy](lines, axis=0)
    return _copy[data._legacy](whole, dtype=data._dtype_number, out=out)


def _extents(shape: Any, name: str) -> Shape:
    """Return a shape whose first extent may be -1: it plays no part."""
    extents = as_integers(shape, "shape")
    if not extents:
        raise ArrayValueError(f"[{name}] shape must name one extent at least")
    as_shape(extents[1:])
    return extents


def masked(data: Any, mask: Any, axis: int) -> Any:
    """Return what lies along an axis where a mask is not 0. Waits for the mask."""
    position = normal_axis(axis, data.ndim)
    if mask.shape != (data.shape[position],):
        raise ArrayValueError(
            f"[boolean_mask] a mask of shape {mask.shape} does not fit axis {axis} of shape"
            f" {data.shape}"
        )
    key: list[Any] = [slice(None)] * position
    return data[(*key, mask.asnumpy().nonzero()[0])]

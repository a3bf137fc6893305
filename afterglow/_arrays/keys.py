# SPDX-License-Identifier: Apache-2.0
"""Where the elements are that ``x[key]`` names.

A key of integers, slices, ``...`` and ``None`` names a block: an offset, a shape and strides. Index
arrays and masks select from a block, along some of its axes.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as onp

from .._core import Array, from_buffer
from ..error import ArrayIndexError, ArrayValueError
from .dtypes import BOOL, INT64

_integers = (int, onp.integer)
_sequences = (list, tuple, range, onp.ndarray, onp.bool_, bool)
_plain = (slice, int, EllipsisType, type(None))


class Block(NamedTuple):
    """Elements at regular distances."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    contiguous: bool  #: without gaps and in order, so that a view of it is an array like any other
    scalar: bool  #: every axis was given an integer


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of an array of that shape without gaps."""
    strides = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Tell whether the elements lie one behind the other."""
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent == 0:
            return True
        if extent != 1:
            if stride != expected:
                return False
            expected *= extent
    return True


class Selection(NamedTuple):
    """Elements of a view that index arrays name, along its axes from ``axis`` on."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    axis: int
    indices: list[Any]  #: host arrays and ours; a mask stands for as many axes as it has
    axes: list[int]  #: where each axis that is indexed stands in the array

    @property
    def mask(self) -> Array | None:
        """The mask of ours that is all there is besides a block."""
        only = self.indices[0] if len(self.indices) == 1 else None
        return only if isinstance(only, Array) and only._dtype_number == BOOL else None

    def index_arrays(self, array: Any) -> list[Array]:
        """Return the indices as arrays of ours; waits for masks, and checks what the host has."""
        arrays: list[Array] = []
        for index in self.indices:
            if isinstance(index, Array) and index._dtype_number != BOOL:
                arrays.append(brought(index, array))
                continue
            host = index.asnumpy() if isinstance(index, Array) else index
            for part in host.nonzero() if host.dtype.kind == "b" else (host,):
                self._check(part, len(arrays))
                whole = onp.asarray(part, dtype=onp.int64, order="C")
                place = array._context_numbers
                arrays.append(from_buffer(whole, whole.shape, INT64, place, array._legacy))
        return arrays

    def _check(self, index: onp.ndarray[Any, Any], number: int) -> None:
        extent = self.shape[self.axis + number]
        if index.size and (_least(index, None) < -extent or _greatest(index, None) >= extent):
            outside = index[(index < -extent) | (index >= extent)].flat[0]
            _position(int(outside), extent, self.axes[number])


def brought(index: Any, array: Any) -> Any:
    """Return an index array where the array is."""
    place = array._context_numbers
    return index if index._context_numbers == place else index._copy(index, context=place)


# Half the price of the methods.
_least, _greatest = onp.minimum.reduce, onp.maximum.reduce


class _Truth(NamedTuple):
    """A truth value without axes: a new axis of one element, or of none."""

    mask: Any


def read_key(array: Array, key: Any, legacy: bool) -> Block | Selection:
    """Return what a key names, by NumPy's rules."""
    items = key if isinstance(key, tuple) else (key,)
    extents, steps = array.shape, array._strides
    ndim = len(extents)
    # Of the axes that blocks leave, and of those that index arrays name.
    shape: list[int] = []
    strides: list[int] = []
    indexed: list[tuple[int, int]] = []
    axes: list[int] = []
    indices: list[Any] = []
    offset = axis = 0
    start: int | None = None  # of the indices among the axes left
    together, in_row = True, False  # no slice stands between two indices; nor behind the last
    for place, item in enumerate(items):
        if not isinstance(item, _plain) or type(item) is bool:
            item = _index_item(item, legacy)
        if item is None:
            shape.append(1)
            strides.append(0)
            in_row = False
            continue
        if item is Ellipsis:
            stop = ndim - _axes_used(items[place + 1 :], legacy)
            shape += extents[axis:stop]
            strides += steps[axis:stop]
            axis = max(axis, stop)
            in_row = False
            continue
        if isinstance(item, slice):
            if axis >= ndim:
                raise _too_many(items, ndim, legacy)
            first, last, stride = item.indices(extents[axis])
            length = len(range(first, last, stride))
            if length:
                offset += first * steps[axis]
            shape.append(length)
            strides.append(stride * steps[axis])
            axis += 1
            in_row = False
            continue
        # NumPy counts integers beside index arrays among the indices.
        if start is None:
            start = len(shape)
        elif not in_row:
            together = False
        in_row = True
        if isinstance(item, int):
            if axis >= ndim:
                raise _too_many(items, ndim, legacy)
            offset += _position(item, extents[axis], axis) * steps[axis]
            axis += 1
        elif isinstance(item, _Truth):
            indexed.append((1, 0))
            axes.append(axis)
            indices.append(item.mask)
        else:
            masks = _is_mask(item)
            rank = item.ndim if masks else 1
            if axis + rank > ndim:
                raise _too_many(items, ndim, legacy)
            if masks:
                _match(item.shape, extents, axis)
            indexed += zip(extents[axis : axis + rank], steps[axis : axis + rank], strict=True)
            axes += range(axis, axis + rank)
            indices.append(item)
            axis += rank
    shape += extents[axis:]
    strides += steps[axis:]
    if not indices:
        whole = not shape and ndim > 0
        if is_contiguous(shape, strides):
            return Block(offset, tuple(shape), contiguous_strides(shape), True, whole)
        return Block(offset, tuple(shape), tuple(strides), False, whole)
    # Indices that stand apart put their axes in front.
    start = start if start is not None and together else 0
    shape[start:start] = [extent for extent, _ in indexed]
    strides[start:start] = [step for _, step in indexed]
    return Selection(offset, tuple(shape), tuple(strides), start, indices, axes)


def _index_item(item: Any, legacy: bool) -> Any:
    """Return an item of a key as a slice, ``None``, ``...``, an integer, an array or a truth value.

    ``nd`` takes truth values on the host for the numbers 0 and 1.
    """
    if item is None or isinstance(item, (slice, EllipsisType)):
        return item
    if isinstance(item, _integers) and (legacy or not isinstance(item, bool)):
        return int(item)
    if isinstance(item, Array):
        ours: Any = item._as_class(legacy)
        return ours if ours.ndim or ours._dtype_number != BOOL else _Truth(ours._shaped((1,)))
    if hasattr(type(item), "__index__") and not isinstance(item, (bool, _sequences)):
        return operator.index(item)
    if not isinstance(item, _sequences) or (legacy and isinstance(item, onp.bool_)):
        raise ArrayValueError(
            f"NDArray does not support slicing with key {item} of type {type(item)}."
        )
    try:
        host = onp.asarray(item)
    except ValueError as error:
        raise ArrayIndexError(str(error)) from None
    if host.dtype.kind == "b" and not legacy:
        return host if host.ndim else _Truth(host.reshape(1))
    if host.dtype.kind not in "biuf" and host.size:
        raise ArrayIndexError("arrays used as indices must be of integer (or boolean) type")
    return host.astype(onp.int64, copy=False) if host.ndim else int(host)


def _is_mask(item: Any) -> bool:
    if isinstance(item, Array):
        return item._dtype_number == BOOL
    return bool(item.dtype.kind == "b")


def _axes_used(items: tuple[Any, ...], legacy: bool) -> int:
    """Return how many axes the items behind an ellipsis use."""
    used = 0
    for item in items:
        item = _index_item(item, legacy)
        if item is Ellipsis:
            raise ArrayIndexError("Cannot use more than one ellipsis (`...`) for indexing")
        if isinstance(item, (onp.ndarray, Array)) and _is_mask(item):
            used += item.ndim
        elif item is not None and not isinstance(item, _Truth):
            used += 1
    return used


def _match(mask: tuple[int, ...], extents: tuple[int, ...], axis: int) -> None:
    for position, own in enumerate(mask, axis):
        if own != extents[position]:
            raise ArrayIndexError(
                f"boolean index did not match indexed array along dimension {position}; dimension"
                f" is {extents[position]} but corresponding boolean dimension is {own}"
            )


def _position(index: int, extent: int, axis: int) -> int:
    if not -extent <= index < extent:
        raise ArrayIndexError(f"index {index} is out of bounds for axis {axis} with size {extent}")
    return index + extent if index < 0 else index


def _too_many(items: tuple[Any, ...], ndim: int, legacy: bool) -> ArrayIndexError:
    used = _axes_used(tuple(item for item in items if item is not Ellipsis), legacy)
    return ArrayIndexError(f"too many indices ({used}) for array with {ndim} dimensions")

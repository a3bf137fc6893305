# SPDX-License-Identifier: Apache-2.0
"""Where the elements are that ``x[key]`` names.

A key of integers, slices, ``...`` and ``None`` names a block: an offset, a shape and strides. It
costs no work to find and needs no values. Every other key (lists, arrays, masks) is read first.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as onp

from ._core import Array
from .error import ArrayIndexError, ArrayValueError

_integers = (int, onp.integer)


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


def find_block(array: Array, key: Any, legacy: bool) -> Block | None:
    """Return the block that ``key`` names; ``None`` when the key holds values to be read."""
    items = key if isinstance(key, tuple) else (key,)
    expanded = _expand(items, array.ndim, legacy)
    if expanded is None:
        return None
    shape: list[int] = []
    strides: list[int] = []
    offset = axis = 0
    extents, steps = array.shape, array._strides
    for item in expanded:
        if item is None:
            shape.append(1)
            strides.append(0)
            continue
        extent, step = extents[axis], steps[axis]
        if isinstance(item, slice):
            start, stop, stride = item.indices(extent)
            length = len(range(start, stop, stride))
            if length:
                offset += start * step
            shape.append(length)
            strides.append(stride * step)
        else:
            offset += _position(int(item), extent, axis) * step
        axis += 1
    whole = all(isinstance(item, _integers) for item in expanded) and axis > 0
    if is_contiguous(shape, strides):
        return Block(offset, tuple(shape), contiguous_strides(shape), True, whole)
    return Block(offset, tuple(shape), tuple(strides), False, whole)


def _position(index: int, extent: int, axis: int) -> int:
    if not -extent <= index < extent:
        raise ArrayIndexError(f"index {index} is out of bounds for axis {axis} with size {extent}")
    return index + extent if index < 0 else index


def _expand(items: tuple[Any, ...], ndim: int, legacy: bool) -> list[Any] | None:
    """Return one item per axis, with ``None`` for new axes; ``None`` for a key with values."""
    used = 0
    ellipsis: int | None = None
    for position, item in enumerate(items):
        if item is None:
            continue
        if isinstance(item, EllipsisType):
            if ellipsis is not None:
                raise ArrayIndexError("Cannot use more than one ellipsis (`...`) for indexing")
            ellipsis = position
        elif isinstance(item, slice) or (
            isinstance(item, _integers) and (legacy or not isinstance(item, bool))
        ):
            used += 1
        elif isinstance(item, (list, tuple, range, onp.ndarray, onp.bool_, bool, Array)):
            return None
        else:
            raise ArrayValueError(
                f"NDArray does not support slicing with key {item} of type {type(item)}."
            )
    if used > ndim:
        raise ArrayIndexError(f"too many indices ({used}) for array with {ndim} dimensions")
    rest = [slice(None)] * (ndim - used)
    if ellipsis is None:
        return [*items, *rest]
    return [*items[:ellipsis], *rest, *items[ellipsis + 1 :]]


def host_key(key: Any) -> Any:
    """Return the key with every array in it read into NumPy. Waits for those arrays."""
    if isinstance(key, tuple):
        return tuple(host_key(item) for item in key)
    if isinstance(key, (list, range)):
        key = onp.asarray(key)
    elif isinstance(key, Array):
        key = key.asnumpy()
    if isinstance(key, onp.ndarray) and key.dtype.kind == "f":
        return key.astype(onp.int64)  # MXNet indexes with floats
    if isinstance(key, onp.ndarray) and key.size == 0 and key.dtype.kind != "b":
        return key.astype(onp.int64)
    return key

# SPDX-License-Identifier: Apache-2.0
"""Functions of shapes that are more than an op. All of these copy, as in MXNet."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._arrays.keys import Block, read_key
from .._arrays.worlds import LEGACY
from .._interoperation.host import from_host
from ..error import ArgumentError, ArrayTypeError, ArrayValueError
from ._arguments import need
from ._ops import concat

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "concatenate",
    "crop",
    "identity",
    "shape_array",
    "size_array",
    "slice",
    "split_v2",
]


# --- other shapes ---


def identity(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return a copy.

    >>> nd.identity(nd.ones((2,))).asnumpy()
    array([1., 1.], dtype=float32)
    """
    return LEGACY.copy(need(data), out=out)


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
    return result if out is None else LEGACY.copy(result, out=out)


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
    if need(data).stype != "default":
        from .sparse._calls import slice_block, write

        block = slice_block(data, begin, end, step)
        if block is not NotImplemented:
            return block if out is None else write(out, block) or out
        data = data.tostype("default")
    return LEGACY.copy(block_of(data, begin, end, step), out=out)


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
        block = read_key(data, key, True)
    except TypeError:
        raise ArrayTypeError(f"[slice] begin {begin} and end {end} must hold integers") from None
    assert isinstance(block, Block)  # slices name a block, always
    return data._block(block)


def _sequence(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def split_v2(
    ary: NDArray, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False
) -> Any:
    """Return a list of parts along an axis: a number of equal ones, or cut at indices.

    >>> [part.shape for part in nd.split_v2(nd.zeros((2, 3)), (1,), axis=1)]
    [(2, 1), (2, 2)]
    """
    if not isinstance(indices_or_sections, (int, onp.integer, tuple, list)):
        raise ArrayValueError("indices_or_sections must either int or tuple of ints")
    return LEGACY.split_v2(need(ary, "ary"), indices_or_sections, axis, squeeze_axis)


# --- several arrays in one ---


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

# SPDX-License-Identifier: Apache-2.0
"""Functions that make one batch of a list of samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as onp

from ... import ndarray as nd
from ... import numpy as np
from ..._arrays.dtypes import is_known
from ..._core import Array
from ..._interoperation.dlpack import take
from ...error import ArrayValueError
from ...util import is_np_array

__all__ = ["Group", "Pad", "Stack", "default_batchify_fn"]


#: Returns memory for an array of a shape and type, as a NumPy array, or None.
Place = Callable[[tuple[int, ...], Any], Any]


def make_batch(function: Any, data: Sequence[Any], place: Place | None) -> Any:
    """Return what a function makes of samples, in memory from ``place`` where it is one of ours.

    Whoever gives the memory takes it back with the batch. So functions of others, which may keep
    what they have made, do without.
    """
    if place is None:
        return function(data)
    if function is default_batchify_fn or type(function) is Stack:
        return _stacked(data, place)
    if type(function) in (Group, Pad):
        return function._make(data, place)
    return function(data)


def _array(host: onp.ndarray[Any, Any], place: Place | None = None) -> Any:
    kind = _kept(host.dtype)
    memory = None if place is None else place(host.shape, kind)
    if memory is None:
        return (np if is_np_array() else nd).array(host, dtype=kind)
    memory[...] = host
    return take(memory, legacy=not is_np_array())


def _kept(dtype: onp.dtype[Any]) -> onp.dtype[Any]:
    """Return the type that a batch of NumPy arrays has."""
    return dtype if dtype.kind != "u" or dtype.itemsize == 1 else onp.dtype("int64")


def default_batchify_fn(data: Sequence[Any]) -> Any:
    """Return samples as one array; tuples of samples as a list of arrays.

    A list of numbers is one sample: batches of ``(features, [label])`` have labels of shape (n, 1).
    """
    return _stacked(data, None)


def _stacked(data: Sequence[Any], place: Place | None) -> Any:
    first = data[0]
    if isinstance(first, tuple) or (
        isinstance(first, list) and any(isinstance(part, Array) for part in first)
    ):
        return [_stacked(column, place) for column in _columns(data)]
    if isinstance(first, Array):
        legacy = first._legacy  # type: ignore[attr-defined]
        memory = None if place is None else _memory(data, first.dtype, place)  # type: ignore[attr-defined]
        result = None if memory is None else take(memory, legacy)
        return nd.stack(*data, out=result) if legacy else np.stack(list(data), out=result)
    if place is not None and isinstance(first, onp.ndarray):
        memory = _memory(data, _kept(first.dtype), place)
        if memory is not None:
            onp.stack(data, out=memory)
            return take(memory, legacy=not is_np_array())
    try:
        host = onp.asarray(data)
    except ValueError as error:
        raise ArrayValueError(
            f"[batchify] samples of shapes {', '.join(dict.fromkeys(map(_shape, data)))}; those of "
            "a batch need one shape: gluon.data.batchify.Pad fills them up"
        ) from error
    return _array(host)


def _shape(sample: Any) -> str:
    try:
        return str(onp.shape(sample))
    except ValueError:
        return "(uneven)"


def _columns(data: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """Return the elements of samples, all first ones and so on."""
    if len(counts := dict.fromkeys(map(len, data))) > 1:
        numbers = " and ".join(map(str, counts))
        raise ArrayValueError(
            f"[batchify] samples of {numbers} elements; those of a batch need as many"
        )
    return zip(*data, strict=True)


def _memory(data: Sequence[Any], dtype: Any, place: Place) -> Any:
    """Return memory for the stack of arrays, None where there is none or they are not alike."""
    kind, shape, elements = type(data[0]), data[0].shape, data[0].dtype
    if not is_known(onp.dtype(dtype)) or any(
        type(one) is not kind or one.shape != shape or one.dtype != elements for one in data
    ):
        return None
    return place((len(data), *shape), dtype)


class Stack:
    """Stacks samples along a new first axis."""

    def __call__(self, data: Sequence[Any]) -> Any:
        """Return the batch."""
        return default_batchify_fn(data)


class Pad:
    """Stacks samples of different lengths, filled up with a value."""

    def __init__(
        self, axis: int = 0, pad_val: float = 0, ret_length: bool = False, dtype: Any = None
    ) -> None:
        self._axis = axis
        self._value = pad_val
        self._with_length = ret_length
        self._dtype = dtype

    def __call__(self, data: Sequence[Any]) -> Any:
        """Return the batch, with the lengths if asked for."""
        return self._make(data, None)

    def _make(self, data: Sequence[Any], place: Place | None) -> Any:
        hosts = [one.asnumpy() if isinstance(one, Array) else onp.asarray(one) for one in data]
        lengths = [host.shape[self._axis] for host in hosts]
        longest = max(lengths)
        padded = []
        for host, length in zip(hosts, lengths, strict=True):
            widths = [(0, 0)] * host.ndim
            widths[self._axis] = (0, longest - length)
            padded.append(onp.pad(host, widths, constant_values=self._value))
        batch = onp.stack(padded)
        result = _array(batch if self._dtype is None else batch.astype(self._dtype), place)
        return (result, _array(onp.asarray(lengths, "int32"))) if self._with_length else result


class Group:
    """Another function for every element of a sample."""

    def __init__(self, fn: Any, *more: Callable[[Sequence[Any]], Any]) -> None:
        self._functions = tuple(fn) if isinstance(fn, (list, tuple)) else (fn, *more)

    def __call__(self, data: Sequence[Any]) -> Any:
        """Return one batch for each element."""
        return self._make(data, None)

    def _make(self, data: Sequence[Any], place: Place | None) -> Any:
        return tuple(
            make_batch(function, column, place)
            for function, column in zip(self._functions, _columns(data), strict=True)
        )

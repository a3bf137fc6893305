# SPDX-License-Identifier: Apache-2.0
"""Batches out of arrays."""

from __future__ import annotations

from typing import Any

import numpy as onp

from .. import ndarray as nd
from .. import numpy as np
from .._core import Array
from ..error import ArgumentError, ArrayNotImplementedError, ArrayTypeError, ArrayValueError
from .batches import DataDesc, DataIter

__all__ = ["NDArrayIter"]

Named = list[tuple[str, Any]]


def named_arrays(source: Any, allow_empty: bool, default_name: str) -> Named:
    """Return (name, array) pairs of an array, a list of them or a dictionary."""
    if source is None:
        source = []
    if isinstance(source, Array) or hasattr(source, "__array__"):
        source = [source]
    if isinstance(source, (list, tuple)):
        if not allow_empty and not source:
            raise ArgumentError("[NDArrayIter] there is no data; an array at least is needed")
        names = (
            [default_name]
            if len(source) == 1
            else [f"_{number}_{default_name}" for number in range(len(source))]
        )
        source = dict(zip(names, source, strict=True))
    if not isinstance(source, dict):
        raise ArrayTypeError(
            "Input must be NDArray, numpy.ndarray, a list of them or dict with them as values"
        )
    return [(name, _as_array(name, source[name])) for name in sorted(source)]


def _as_array(name: str, value: Any) -> Any:
    if isinstance(value, Array):
        return value
    if hasattr(value, "tocsr"):
        return nd.sparse.array(value)
    if not isinstance(value, (list, tuple)) and not hasattr(value, "__array__"):
        raise ArrayTypeError(
            f"Invalid type '{type(value)}' for {name}, should be NDArray or numpy.ndarray"
        )
    return nd.array(value)


def _reordered(array: Any, rows: Any) -> Any:
    """Return the rows of an array in another order."""
    if array.stype == "default":
        return array[rows]
    return nd.take(array, nd.array(rows, dtype="int64"))


class NDArrayIter(DataIter):
    """Gives consecutive rows of arrays as batches.

    ``last_batch_handle`` says what happens to rows that do not fill a batch: ``"pad"`` fills it up
    from the beginning, ``"discard"`` leaves them out, ``"roll_over"`` puts them into the first
    batch after the next ``reset()``. With ``shuffle`` the rows are put into another order by every
    ``reset()``, with NumPy's generator.

    >>> from afterglow import io, nd
    >>> batches = io.NDArrayIter(nd.arange(5), batch_size=2)
    >>> [(batch.data[0].asnumpy().tolist(), batch.pad) for batch in batches]
    [([0.0, 1.0], 0), ([2.0, 3.0], 0), ([4.0, 0.0], 1)]
    """

    def __init__(
        self,
        data: Any,
        label: Any = None,
        batch_size: int = 1,
        shuffle: bool = False,
        last_batch_handle: str = "pad",
        data_name: str = "data",
        label_name: str = "softmax_label",
        layout: str = "NCHW",
    ) -> None:
        super().__init__(batch_size)
        self.data = named_arrays(data, False, data_name)
        self.label = named_arrays(label, True, label_name)
        self.data_list = [array for _, array in self.data + self.label]
        self.num_source = len(self.data_list)
        self.num_data: int = self.data_list[0].shape[0]
        for name, array in self.data + self.label:
            if array.shape[0] < self.num_data:
                raise ArrayValueError(
                    f"[NDArrayIter] {name} has {array.shape[0]} rows, {self.data[0][0]} "
                    f"{self.num_data}; every array must have a row for each"
                )
            if array.stype != "default" and last_batch_handle != "discard":
                raise ArrayNotImplementedError(
                    f"[NDArrayIter] {name} is a {array.stype} array; sparse arrays need "
                    "last_batch_handle='discard'"
                )
        self.idx = onp.arange(self.num_data)
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self.layout = layout
        self.cursor = -batch_size
        self._left_over: list[Any] = []
        self.reset()

    @property
    def provide_data(self) -> list[DataDesc]:
        """Names, shapes and types of the inputs of a batch."""
        return self._described(self.data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Names, shapes and types of the labels of a batch."""
        return self._described(self.label)

    def hard_reset(self) -> None:
        """Begin again and forget rows that were left over."""
        if self.shuffle:
            self._shuffle()
        self.cursor = -self.batch_size
        self._left_over = []

    def reset(self) -> None:
        """Begin again; rows that were left over come first with ``"roll_over"``."""
        left = self.num_data - self.cursor
        rolls = self.last_batch_handle == "roll_over" and 0 < left < self.batch_size
        if rolls:
            # The rows as they are now: shuffling moves them.
            self._left_over = [array[self.cursor :] for _, array in self.data + self.label]
        if self.shuffle:
            self._shuffle()
        self.cursor = -left if rolls else -self.batch_size
        if rolls:
            # iter_next() adds a whole batch to the cursor before the first one.
            self.cursor -= self.batch_size
        else:
            self._left_over = []

    def iter_next(self) -> bool:
        """Move on to the next batch; tell whether there is one."""
        self.cursor += self.batch_size
        if self.last_batch_handle == "pad":
            return self.cursor < self.num_data
        return self.cursor + self.batch_size <= self.num_data

    def getdata(self) -> list[Any]:
        """Return the inputs of the batch."""
        return [self._rows(number) for number in range(len(self.data))]

    def getlabel(self) -> list[Any]:
        """Return the labels of the batch."""
        return [self._rows(number) for number in range(len(self.data), self.num_source)]

    def getpad(self) -> int:
        """Return how many examples fill the batch up, or were left over from the last round."""
        if self.last_batch_handle == "pad":
            return max(self.cursor + self.batch_size - self.num_data, 0)
        if self.last_batch_handle == "roll_over" and -self.batch_size < self.cursor < 0:
            return -self.cursor
        return 0

    def _described(self, arrays: Named) -> list[DataDesc]:
        return [
            DataDesc(name, (self.batch_size, *array.shape[1:]), array.dtype, self.layout)
            for name, array in arrays
        ]

    def _rows(self, number: int) -> Any:
        """Return the rows of one array that are in the batch."""
        if self.cursor <= -self.batch_size:
            raise ArrayValueError("[NDArrayIter] there is no batch before the first iter_next()")
        array = (self.data + self.label)[number][1]
        begin, end = max(self.cursor, 0), self.cursor + self.batch_size
        parts = [self._left_over[number]] if self.cursor < 0 else []
        parts.append(array[begin : min(end, self.num_data)])
        missing = end - self.num_data
        while missing > 0:
            parts.append(array[: min(missing, self.num_data)])
            missing -= self.num_data
        if len(parts) == 1:
            return parts[0]
        return nd.concat(*parts, dim=0) if array._legacy else np.concatenate(parts, axis=0)

    def _shuffle(self) -> None:
        onp.random.shuffle(self.idx)
        self.data = [(name, _reordered(array, self.idx)) for name, array in self.data]
        self.label = [(name, _reordered(array, self.idx)) for name, array in self.label]
        self.data_list = [array for _, array in self.data + self.label]

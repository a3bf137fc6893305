# SPDX-License-Identifier: Apache-2.0
"""The order in which samples are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as onp

from ...error import ArrayValueError

__all__ = [
    "BatchSampler",
    "FilterSampler",
    "IntervalSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
]


class Sampler:
    """The base class: an iterable of indices that knows its length."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class _Listed(Sampler):
    """Indices that are known beforehand."""

    _indices: Sequence[int]

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class SequentialSampler(_Listed):
    """From ``start`` on, one after another."""

    def __init__(self, length: int, start: int = 0) -> None:
        self._indices = range(start, start + length)


class RandomSampler(_Listed):
    """In random order, each once; follows ``numpy.random.seed`` as in MXNet."""

    def __init__(self, length: int) -> None:
        self._indices = range(length)

    def __iter__(self) -> Iterator[int]:
        indices = onp.arange(len(self))
        onp.random.shuffle(indices)
        return iter(indices.tolist())


class FilterSampler(_Listed):
    """Only the samples for which a function is true."""

    def __init__(self, fn: Callable[[Any], bool], dataset: Any) -> None:
        self._indices = [index for index in range(len(dataset)) if fn(dataset[index])]


class IntervalSampler(Sampler):
    """Every so many samples; then again from the next one on, unless ``rollover`` is off."""

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        if interval > length:
            raise ArrayValueError(
                f"Interval {interval} must be smaller than or equal to length {length}"
            )
        self._length = length
        self._interval = interval
        self._rollover = rollover

    def __iter__(self) -> Iterator[int]:
        for start in range(self._interval if self._rollover else 1):
            yield from range(start, self._length, self._interval)

    def __len__(self) -> int:
        return self._length if self._rollover else len(range(0, self._length, self._interval))


class BatchSampler(Sampler):
    """Indices in batches. The last one is kept, discarded, or begins the next round."""

    def __init__(self, sampler: Any, batch_size: int, last_batch: str = "keep") -> None:
        if last_batch not in ("keep", "discard", "rollover"):
            raise ArrayValueError(
                f"last_batch must be one of 'keep', 'discard', or 'rollover', but got {last_batch}"
            )
        self._sampler = sampler
        self._batch_size = batch_size
        self._last_batch = last_batch
        self._left: list[Any] = []

    def __iter__(self) -> Iterator[list[Any]]:
        batch, self._left = self._left, []
        for index in self._sampler:
            batch.append(index)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if not batch:
            return
        if self._last_batch == "keep":
            yield batch
        elif self._last_batch == "rollover":
            self._left = batch

    def __len__(self) -> int:
        total = len(self._sampler)
        if self._last_batch == "keep":
            return (total + self._batch_size - 1) // self._batch_size
        if self._last_batch == "discard":
            return total // self._batch_size
        return (len(self._left) + total) // self._batch_size

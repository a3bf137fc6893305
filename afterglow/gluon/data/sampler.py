# SPDX-License-Identifier: Apache-2.0
"""The order in which samples are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as onp

from ...error import ArrayValueError

__all__ = [
    "BatchSampler",
    "DistributedSampler",
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

    def position(self) -> Any:
        """Return what the next round depends on beside draws, as JSON can write it."""

    def go_to(self, position: Any) -> None:
        """Let the next round be the one before which :meth:`position` returned this."""


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


class DistributedSampler(Sampler):
    """The samples of this process: those of all processes are all samples, each once.

    Every round has an order of its own, which depends on the seed and the number of the round
    alone, and of which a process takes every ``num_parts``-th. So a batch of 8 of each of 4
    processes has the samples that a process alone has in a batch of 32. Without a seed process 0
    draws one, which follows ``numpy.random.seed``. Processes may differ by one sample, and so by
    one batch: :meth:`Trainer.join` is for those that have less.

    >>> from afterglow import gluon
    >>> sampler = gluon.data.DistributedSampler(5, num_parts=2, part_index=1, shuffle=False)
    >>> list(sampler)
    [1, 3]
    """

    def __init__(
        self,
        length: int,
        num_parts: int | None = None,
        part_index: int | None = None,
        shuffle: bool = True,
        seed: int | None = None,
    ) -> None:
        from ...distributed import group

        mine = group.group()
        self._parts = mine.size if num_parts is None else num_parts
        self._part = mine.rank if part_index is None else part_index
        if not 0 <= self._part < self._parts:
            raise ArrayValueError(
                f"[DistributedSampler] got part_index {self._part} of num_parts {self._parts}; "
                "parts are numbered from 0"
            )
        if seed is None and shuffle:
            if self._parts > mine.size:
                raise ArrayValueError(
                    f"[DistributedSampler] {self._parts} parts, but the group has {mine.size} "
                    "processes: give all parts the same seed"
                )
            drawn = onp.random.randint(2**31) if mine.rank == 0 else 0
            told = mine.exchange("seed of samples", int(drawn).to_bytes(4, "little"))
            seed = int.from_bytes(told[0], "little")
        self._seed = seed
        self._length = length
        self._shuffle = shuffle
        self._round = 0

    def __iter__(self) -> Iterator[int]:
        order = onp.arange(self._length)
        if self._shuffle:
            onp.random.default_rng([self._seed or 0, self._round]).shuffle(order)
        self._round += 1
        return iter(order[self._part :: self._parts].tolist())

    def __len__(self) -> int:
        return len(range(self._part, self._length, self._parts))

    def position(self) -> Any:
        """Return the seed and the number of the next round."""
        return [self._seed, self._round]

    def go_to(self, position: Any) -> None:
        """Let the next round be one that was."""
        self._seed, self._round = position


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

    def position(self) -> Any:
        """Return what the last round left over, and the position of the sampler."""
        position = self._sampler.position() if hasattr(self._sampler, "position") else None
        return [list(self._left), position]

    def go_to(self, position: Any) -> None:
        """Begin with what was left over then."""
        self._left = list(position[0])
        if position[1] is not None:
            self._sampler.go_to(position[1])

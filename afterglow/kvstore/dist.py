# SPDX-License-Identifier: Apache-2.0
"""Stores of several processes: ``dist_sync``, ``dist_device_sync`` and ``horovod``.

There are no servers. Every process has the values; what is pushed is summed over all processes
first, so that all have the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as onp

from .._arrays.dtypes import DTYPES, FLOAT32
from ..distributed import group
from ..distributed.collectives import COMPRESSED, EXAMPLES, Asked, Collective
from ..error import ArrayTypeError, ArrayValueError
from .base import known_capability, total_of
from .kvstore import KVStore

__all__ = ["DistStore", "HorovodStore"]


class DistStore(KVStore):
    """A store whose values are sums over all processes.

    Processes call it in the same order. Nothing waits but ``barrier``, and what is sparse.
    """

    def __init__(self, kind: str = "dist_sync") -> None:
        super().__init__(kind)
        self._group = group.group()
        self._threshold: float | None = None  #: of compression
        self._left: dict[Any, Any] = {}  #: what did not travel of the gradients so far
        self._examples: Collective | None = None  #: by whose number sums are divided

    @property
    def rank(self) -> int:
        """The number of this process."""
        return self._group.rank

    @property
    def num_workers(self) -> int:
        """The number of processes."""
        return self._group.size

    def init(self, key: Any, value: Any) -> None:
        """Set the first value of a key, or of several: that of rank 0."""
        super().init(key, value)
        for one, _ in self._pairs(key, value):
            _broadcast(self._values[one], f"init {one}")

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Copy the value of rank 0 to the arrays; the store keeps it if it updates weights."""
        if self._updater is not None:
            super().broadcast(key, value, out, priority)
            return
        for (one, given), (_, targets) in zip(
            self._pairs(key, value), self._pairs(key, out), strict=True
        ):
            for target in targets:
                if target is not given[0]:
                    target[:] = given[0].as_in_context(target.context)
                _broadcast(target, f"broadcast {one}")

    def push(self, key: Any, value: Any, priority: int = 0) -> None:
        """Sum the values of all devices and processes, and hand the sum to the updater."""
        pairs = self._pairs(key, value)
        totals = [_alone(sent) for _, sent in pairs]
        self._sum([one for one, _ in pairs], totals)
        for (one, _), total in zip(pairs, totals, strict=True):
            super().push(one, total, priority)

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Write the sum over all processes to ``out``, or to the values themselves.

        Of several keys small values travel together. Where the store has an optimizer, its weights
        are updated and written instead.
        """
        if self._updater is not None:
            self.push(key, value, priority)
            self.pull(key, value if out is None else out, priority, ignore_sparse=False)
            return
        pairs = self._pairs(key, value)
        targets = [own for _, own in self._pairs(key, value if out is None else out)]
        totals = []
        for (_, sent), own in zip(pairs, targets, strict=True):
            first = own[0]
            total = total_of(sent)
            if total is not first:
                first[:] = total.as_in_context(first.context)
            totals.append(first)
        self._sum([one for one, _ in pairs], totals)
        for (one, _), own in zip(pairs, targets, strict=True):
            if one in self._values:
                self._values[one][:] = own[0].as_in_context(self._values[one].context)
            for target in own[1:]:
                target[:] = own[0].as_in_context(target.context)

    def set_gradient_compression(self, compression_params: Any) -> None:
        """Let gradients take less room on their way: ``{'type': '2bit', 'threshold': 0.5}``.

        Elements travel as the threshold, minus the threshold or 0; what is left of each is added
        to the next gradient. A group of one sends nothing, so nothing is compressed.
        """
        given = dict(compression_params)
        if given.pop("type", None) != "2bit":
            raise ArrayValueError(
                f"[set_gradient_compression] {compression_params!r}: the type must be '2bit'"
            )
        threshold = float(given.pop("threshold", 0.5))
        if given or not threshold > 0:
            raise ArrayValueError(
                f"[set_gradient_compression] {compression_params!r}: beside the type there is a "
                "threshold above 0"
            )
        self._threshold = threshold

    @contextmanager
    def dividing_by(self, examples: float) -> Iterator[None]:
        """Divide sums inside by the mean of the numbers that processes give; 0 without data."""
        channel = self._group.channel
        if channel is not None:
            self._examples = channel.submit(EXAMPLES, "", weight=float(examples))
        try:
            yield
        finally:
            self._examples = None

    def asked(self) -> Iterator[Asked]:
        """Go through what processes with data do, until none has any."""
        return self._group.asked()

    def give_nothing(self, asked: Asked, payload: bytes = b"") -> None:
        """Take part in what they do, with zeros, or with bytes."""
        self._group.give_nothing(asked, payload)

    def exchange(self, name: str, payload: bytes) -> list[bytes]:
        """Return what each process gives. Waits for all of them."""
        return self._group.exchange(name, payload)

    def barrier(self) -> None:
        """Wait until all processes are here."""
        group.barrier()

    def _barrier(self) -> None:
        self.barrier()

    def _sum(self, keys: list[Any], totals: list[Any]) -> None:
        """Replace arrays by their sums over all processes."""
        dense = [i for i, one in enumerate(totals) if one.stype == "default"]
        for i, total in enumerate(totals):
            if total.stype == "row_sparse":
                total[:] = _sum_of_rows(total, f"push {keys[i]}", self._examples)
            elif total.stype != "default":
                raise ArrayTypeError(f"[push] values are dense or row_sparse, not {total.stype}")
        if self._threshold is not None:
            for i in dense:
                self._sum_compressed(keys[i], totals[i])
            return
        group.allreduce_all(
            [totals[i] for i in dense],
            names=[f"push {keys[i]}" for i in dense],
            examples=self._examples,
        )

    def _sum_compressed(self, key: Any, total: Any) -> None:
        if total._dtype_number != FLOAT32:
            raise ArrayTypeError(
                f"[push] gradients that are compressed must be float32; that of {key!r} is "
                f"{DTYPES[total._dtype_number].name}"
            )
        channel = self._group.channel
        if channel is None:
            return
        if key not in self._left:
            self._left[key] = total.copy()
        else:
            self._left[key] += total
        left = self._left[key]
        channel.submit(
            COMPRESSED,
            f"push {key}",
            [total, left],
            threshold=self._threshold,
            examples=self._examples,
        )


class HorovodStore(DistStore):
    """What trainers need of Horovod: parameters of rank 0, and sums of gradients."""

    def __init__(self) -> None:
        super().__init__("horovod")

    @property
    def local_rank(self) -> int:
        """The number of this process among those on its machine."""
        return self._group.local_rank

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Tell that it cannot run an optimizer."""
        return not known_capability(capability)


def _alone(sent: list[Any]) -> Any:
    """Return the sum of what devices send, in memory that nobody else has."""
    total = total_of(sent)
    return total.copy() if total is sent[0] else total


def _broadcast(array: Any, name: str) -> None:
    """Replace an array by that of rank 0."""
    if array.stype == "default":
        group.broadcast_(array, 0, name)
    elif group.size() > 1:
        if array.stype != "row_sparse":
            raise ArrayTypeError(f"[init] values are dense or row_sparse, not {array.stype}")
        mine = group.group()
        has_value = mine.rank == 0
        parts = (array.indices.asnumpy().astype(onp.int64), array.data.asnumpy())
        rows = onp.frombuffer(
            mine.exchange(f"{name} rows", parts[0].tobytes() if has_value else b"")[0], onp.int64
        )
        data = onp.frombuffer(
            mine.exchange(f"{name} data", parts[1].tobytes() if has_value else b"")[0],
            array.dtype,
        )
        array[:] = _rows_of(array, rows, data.reshape(len(rows), *array.shape[1:]))


def _rows_of(like: Any, rows: Any, data: Any) -> Any:
    from ..ndarray.sparse import row_sparse_array

    return row_sparse_array((data, rows), shape=like.shape, ctx=like.context, dtype=like.dtype)


def _sum_of_rows(array: Any, name: str, examples: Collective | None) -> Any:
    """Return the sum over all processes: of rows that any of them has. Waits for row numbers."""
    if group.size() == 1:
        return array
    mine = array.indices.asnumpy().astype(onp.int64)
    given = group.allgather_object(mine.tobytes(), f"{name} rows")
    rows = onp.unique(onp.concatenate([onp.frombuffer(one, onp.int64) for one in given]))
    data = onp.zeros((len(rows), *array.shape[1:]), array.dtype)
    data[onp.searchsorted(rows, mine)] = array.data.asnumpy()
    from ..ndarray import array as new_array

    total = new_array(data, dtype=array.dtype)
    if len(rows):
        group.allreduce_all([total], names=[name], examples=examples)
    return _rows_of(array, rows, total)

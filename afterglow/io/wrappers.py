# SPDX-License-Identifier: Apache-2.0
"""Iterators around other iterators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from .._package.background import Background
from ..error import ArrayValueError
from .batches import DataBatch, DataDesc, DataIter

__all__ = ["PrefetchingIter", "ResizeIter"]


class _Wrapper(DataIter):
    """What has a batch that other iterators made."""

    current_batch: DataBatch | None = None

    def next(self) -> DataBatch:
        """Return the next batch, or raise StopIteration."""
        if not self.iter_next():
            raise StopIteration
        return self._batch()

    def getdata(self) -> Any:
        """Return the inputs of the batch."""
        return self._batch().data

    def getlabel(self) -> Any:
        """Return the labels of the batch."""
        return self._batch().label

    def getindex(self) -> Any:
        """Return the numbers of the examples, if they are known."""
        return self._batch().index

    def getpad(self) -> Any:
        """Return how many examples at the end only fill the batch up."""
        return self._batch().pad

    def _batch(self) -> DataBatch:
        if self.current_batch is None:
            kind = type(self).__name__
            raise ArrayValueError(f"[{kind}] there is no batch before the first iter_next()")
        return self.current_batch


class ResizeIter(_Wrapper):
    """Gives a certain number of batches of another iterator, which begins again where it ends.

    >>> from afterglow import io, nd
    >>> batches = io.ResizeIter(io.NDArrayIter(nd.arange(4), batch_size=2), 3)
    >>> [batch.data[0].asnumpy().tolist() for batch in batches]
    [[0.0, 1.0], [2.0, 3.0], [0.0, 1.0]]
    """

    def __init__(self, data_iter: Any, size: int, reset_internal: bool = True) -> None:
        super().__init__(data_iter.batch_size)
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self.provide_data = data_iter.provide_data
        self.provide_label = data_iter.provide_label
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key

    def reset(self) -> None:
        """Begin to count again, and with ``reset_internal`` the other iterator as well."""
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def iter_next(self) -> bool:
        """Move on to the next batch; tell whether there is one."""
        if self.cur == self.size:
            return False
        try:
            self.current_batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            self.current_batch = self.data_iter.next()
        self.cur += 1
        return True


def _next_of(iterator: Any) -> DataBatch | None:
    """Return the next batch, None at the end: StopIteration must not end a worker's task."""
    try:
        batch: DataBatch = iterator.next()
    except StopIteration:
        return None
    return batch


class PrefetchingIter(_Wrapper):
    """Reads the next batches of iterators on threads, and joins them into one batch.

    >>> from afterglow import io, nd
    >>> batches = io.PrefetchingIter(io.NDArrayIter(nd.arange(4), batch_size=2))
    >>> [batch.data[0].asnumpy().tolist() for batch in batches]
    [[0.0, 1.0], [2.0, 3.0]]
    """

    def __init__(
        self,
        iters: Any,
        rename_data: Sequence[Mapping[str, str]] | None = None,
        rename_label: Sequence[Mapping[str, str]] | None = None,
    ) -> None:
        self.iters = list(iters) if isinstance(iters, (list, tuple)) else [iters]
        if not self.iters:
            raise ArrayValueError(
                "[PrefetchingIter] there are no iterators; one at least is needed"
            )
        self.n_iter = len(self.iters)
        self.rename_data = rename_data
        self.rename_label = rename_label
        super().__init__(self.provide_data[0].shape[0])
        self._threads = Background(self.n_iter, "prefetch")
        self._coming = self._ask()

    @property
    def provide_data(self) -> list[DataDesc]:
        """Names, shapes and types of the inputs, renamed."""
        return self._described("provide_data", self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Names, shapes and types of the labels, renamed."""
        return self._described("provide_label", self.rename_label)

    def reset(self) -> None:
        """Begin again: what was read ahead is forgotten."""
        self._threads.check()
        for future in self._coming:
            future.result()
        for iterator in self.iters:
            iterator.reset()
        self._coming = self._ask()

    def iter_next(self) -> bool:
        """Move on to the next batch; tell whether there is one."""
        self._threads.check()
        batches = [future.result() for future in self._coming]
        parts = [batch for batch in batches if batch is not None]
        if len(parts) != self.n_iter:
            if parts:
                raise ArrayValueError("[PrefetchingIter] the iterators end at different batches")
            return False
        if any(batch.pad != parts[0].pad for batch in parts):
            raise ArrayValueError("[PrefetchingIter] the iterators pad their batches differently")
        self.current_batch = DataBatch(
            [array for batch in parts for array in batch.data],
            [array for batch in parts for array in batch.label or ()],
            parts[0].pad,
            parts[0].index,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )
        self._coming = self._ask()
        return True

    def _ask(self) -> list[Future[DataBatch | None]]:
        return [self._threads.submit(_next_of, iterator) for iterator in self.iters]

    def _described(self, what: str, rename: Sequence[Mapping[str, str]] | None) -> list[DataDesc]:
        names: Sequence[Mapping[str, str]] = [{}] * self.n_iter if rename is None else rename
        return [
            DataDesc(
                mapping.get(one[0], one[0]),
                one[1],
                *((one.dtype, one.layout) if isinstance(one, DataDesc) else ()),
            )
            for mapping, iterator in zip(names, self.iters, strict=True)
            for one in getattr(iterator, what)
        ]

# SPDX-License-Identifier: Apache-2.0
"""Batches of a dataset, made here, by threads, or by worker processes."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, wait
from itertools import islice
from typing import Any

from ..._arrays.base import ArrayBase
from ..._package.background import Background
from ..._package.keywords import NamedKeywords
from ..._package.namespace import tend
from ...context import Context, cpu_pinned
from ...error import ArrayTypeError, ArrayValueError
from ...util import is_np_array, is_np_shape, np_array, np_shape
from ._workers import Workers, late
from .batchify import Place, default_batchify_fn, make_batch
from .sampler import BatchSampler, RandomSampler, SequentialSampler

__all__ = ["DataLoader", "default_batchify_fn", "default_mp_batchify_fn"]

default_mp_batchify_fn = default_batchify_fn

Batchify = Callable[[list[Any]], Any]


class _Maker:
    """Makes the batch of a list of indices; a class, so that it can travel to a worker."""

    def __init__(self, dataset: Any, batchify: Batchify) -> None:
        self._dataset = dataset
        self._batchify = batchify
        self._switches = is_np_shape(), is_np_array()  # of this thread, so workers lack them

    def __call__(self, indices: Any, place: Place | None = None) -> Any:
        shape, array = self._switches
        with np_shape(shape), np_array(array):
            samples = [self._dataset[index] for index in indices]
            return make_batch(self._batchify, samples, place)


class _Threads:
    """Threads in the place of worker processes."""

    def __init__(self, make: _Maker, count: int) -> None:
        self._make = make
        self._count = count

    def start(self) -> None:
        self._threads = Background(self._count, "afterglow-loader")

    def submit(self, indices: Any) -> Future[Any]:
        return self._threads.submit(self._make, indices)

    def result(self, future: Future[Any], seconds: float) -> Any:
        self._threads.check()
        try:
            if not wait([future], seconds).done:
                raise late(seconds)
            return future.result()
        finally:
            del future  # else the error that it holds would hold it, by the traceback

    def no_more(self) -> None:
        """Threads end when they are told to."""

    def finish(self) -> None:
        """There is nothing to wait for."""

    def close(self) -> None:
        if hasattr(self, "_threads"):
            self._threads.close()


class DataLoader(NamedKeywords):
    """Iterates over batches of a dataset.

    With ``num_workers`` batches are made ahead of time in worker processes, or with
    ``thread_pool`` in threads. A worker that raises or dies is reported at once, with its
    traceback; one that takes longer than ``timeout`` seconds for a batch, then.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        shuffle: bool = False,
        sampler: Any = None,
        last_batch: str | None = None,
        batch_sampler: Any = None,
        batchify_fn: Batchify | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: float = 120,
        auto_reload: bool = False,
    ) -> None:
        self._dataset = dataset
        self._batchify_fn = batchify_fn or default_batchify_fn
        self._num_workers = max(0, num_workers)
        self._thread_pool = thread_pool
        self._timeout = timeout
        self._pin_memory, self._pin_device_id = pin_memory, pin_device_id
        assert timeout > 0, f"[DataLoader] the timeout must be positive, but it is {timeout}"
        self._prefetch = max(
            1 if self._num_workers else 0,
            2 * self._num_workers if prefetch is None else prefetch,
        )
        if batch_sampler is None:
            batch_sampler = self._batches(batch_size, shuffle, sampler, last_batch)
        elif batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ArrayValueError(
                "batch_size, shuffle, sampler and last_batch must not be specified if "
                "batch_sampler is specified."
            )
        self._batch_sampler = batch_sampler

    def _batches(
        self, batch_size: int | None, shuffle: bool, sampler: Any, last_batch: str | None
    ) -> BatchSampler:
        if batch_size is None:
            raise ArrayValueError("batch_size must be specified unless batch_sampler is specified")
        if sampler is None:
            kind = RandomSampler if shuffle else SequentialSampler
            sampler = kind(len(self._dataset))
        elif shuffle:
            raise ArrayValueError("shuffle must not be specified if sampler is specified")
        return BatchSampler(sampler, batch_size, last_batch or "keep")

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def refresh(self) -> None:
        """Do nothing: every loop begins anew, with samples as they are then."""

    def clean(self) -> None:
        """Do nothing: nothing is made ahead between loops."""

    def __iter__(self) -> Iterator[Any]:
        batches = self._made()
        if not self._pin_memory:
            yield from batches
            return
        context = cpu_pinned(self._pin_device_id)
        try:
            for batch in batches:
                yield _as_in_context(batch, context)
        finally:  # also when the loop over the batches is left early
            batches.close()

    def _made(self) -> Generator[Any]:
        make = _Maker(self._dataset, self._batchify_fn)
        if not self._num_workers:
            yield from map(make, self._batch_sampler)
        elif self._thread_pool:
            yield from self._ahead(_Threads(make, self._num_workers))
        else:
            method = multiprocessing.get_start_method()
            if method != "fork":
                _check_pickles(make, method)
            yield from self._ahead(Workers(make, self._num_workers, method))

    def _ahead(self, workers: _Threads | Workers) -> Iterator[Any]:
        """Keep some batches in the making, and hand them out in order."""
        batches = iter(self._batch_sampler)
        waiting: deque[Any] = deque()
        try:
            workers.start()
            waiting.extend(map(workers.submit, islice(batches, self._prefetch)))
            while waiting:
                more = [workers.submit(indices) for indices in islice(batches, 1)]
                waiting.extend(more)
                if not more:
                    workers.no_more()
                yield workers.result(waiting.popleft(), self._timeout)
            workers.finish()
        finally:  # also when the loop over the batches is left early
            workers.close()
            waiting.clear()  # whoever keeps the traceback does not keep batches


def _as_in_context(data: Any, ctx: Context) -> Any:
    """Return arrays, also those in nested lists, in another context."""
    if isinstance(data, ArrayBase):
        return data.as_in_ctx(ctx)
    if isinstance(data, (list, tuple)):
        return [_as_in_context(one, ctx) for one in data]
    return data


def _check_pickles(make: _Maker, method: str) -> None:
    """Refuse a dataset that workers could not read, before they die of it."""
    how = (
        f"[DataLoader] with the start method {method!r} the dataset travels to the workers as a "
        "pickle, "
    )
    advice = "Define its class in a module, or use thread_pool=True or num_workers=0"
    try:
        data = pickle.dumps(make)
    except Exception as error:
        raise ArrayTypeError(f"{how}which fails: {error}. {advice}") from error
    main = sys.modules["__main__"]
    if b"__main__" in data and not hasattr(main, "__file__"):
        raise ArrayTypeError(
            f"{how}but something in it is defined in __main__, which is no file that they "
            f"could import. {advice}"
        )


tend(__name__)

# SPDX-License-Identifier: Apache-2.0
"""Batches of a dataset, made here, by threads, or by worker processes."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any

from ... import ndarray as nd
from ... import numpy as np
from ..._core import Array
from ...error import ArrayTypeError, ArrayValueError
from .batchify import default_batchify_fn
from .sampler import BatchSampler, RandomSampler, SequentialSampler

__all__ = ["DataLoader", "default_batchify_fn", "default_mp_batchify_fn"]

default_mp_batchify_fn = default_batchify_fn

Batchify = Callable[[list[Any]], Any]


class _HostArray:
    """An array on its way between processes."""

    def __init__(self, array: Any) -> None:
        self.host = array.asnumpy()
        self.legacy = array._legacy

    def restored(self) -> Any:
        return (nd if self.legacy else np).array(self.host, dtype=self.host.dtype)


def _packed(value: Any) -> Any:
    if isinstance(value, Array):
        return _HostArray(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_packed(one) for one in value)
    if isinstance(value, dict):
        return {key: _packed(one) for key, one in value.items()}
    return value


def _unpacked(value: Any) -> Any:
    if isinstance(value, _HostArray):
        return value.restored()
    if isinstance(value, (list, tuple)):
        return type(value)(_unpacked(one) for one in value)
    if isinstance(value, dict):
        return {key: _unpacked(one) for key, one in value.items()}
    return value


# Of a worker process: what it was started with.
_dataset: Any = None
_batchify: Batchify | None = None


def _start_worker(dataset: Any, batchify: Batchify) -> None:
    global _dataset, _batchify
    _dataset, _batchify = dataset, batchify


def _make_in_worker(indices: list[int]) -> Any:
    assert _batchify is not None
    try:
        return _packed(_batchify([_dataset[index] for index in indices]))
    except Exception as error:
        _check_travels(error)
        raise


def _check_travels(error: Exception) -> None:
    """Raise what the other process can read, if an exception cannot be sent there."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        raise RuntimeError(traceback.format_exc()) from None


class DataLoader:
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

    def __iter__(self) -> Iterator[Any]:
        if not self._num_workers:
            for indices in self._batch_sampler:
                yield self._make(indices)
            return
        pool = self._pool()
        try:
            yield from self._ahead(pool)
        except BaseException:  # also when the loop over the batches is left early
            # Nobody waits for what is in the making, and a worker that hangs must not be joined.
            for process in list((getattr(pool, "_processes", None) or {}).values()):
                process.kill()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _make(self, indices: list[int]) -> Any:
        return self._batchify_fn([self._dataset[index] for index in indices])

    def _pool(self) -> Executor:
        if self._thread_pool:
            return ThreadPoolExecutor(self._num_workers, "afterglow-loader")
        if multiprocessing.get_start_method() != "fork":
            self._check_pickles()
        return ProcessPoolExecutor(
            self._num_workers,
            initializer=_start_worker,
            initargs=(self._dataset, self._batchify_fn),
        )

    def _check_pickles(self) -> None:
        """Refuse a dataset that workers could not read, before they die of it."""
        how = (
            f"[DataLoader] with the start method {multiprocessing.get_start_method()!r} the "
            "dataset travels to the workers as a pickle, "
        )
        advice = "Define its class in a module, or use thread_pool=True or num_workers=0"
        try:
            data = pickle.dumps((self._dataset, self._batchify_fn))
        except Exception as error:
            raise ArrayTypeError(f"{how}which fails: {error}. {advice}") from error
        main = sys.modules["__main__"]
        if b"__main__" in data and not hasattr(main, "__file__"):
            raise ArrayTypeError(
                f"{how}but something in it is defined in __main__, which is no file that they "
                f"could import. {advice}"
            )

    def _ahead(self, pool: Executor) -> Iterator[Any]:
        """Keep some batches in the making, and hand them out in order."""
        batches = iter(self._batch_sampler)
        task: Callable[[list[int]], Any] = self._make if self._thread_pool else _make_in_worker
        waiting: deque[Future[Any]] = deque(
            pool.submit(task, indices) for indices in islice(batches, self._prefetch)
        )
        while waiting:
            waiting.extend(pool.submit(task, indices) for indices in islice(batches, 1))
            yield self._result(waiting.popleft())

    def _result(self, future: Future[Any]) -> Any:
        try:
            made = future.result(self._timeout)
        except BrokenProcessPool as error:
            method = multiprocessing.get_start_method()
            raise RuntimeError(
                "a worker process of the DataLoader died (killed, out of memory, or a crash in "
                "the dataset)"
                + (
                    ""
                    if method == "fork"
                    else f"; with the start method {method!r} the program must make the loader "
                    'under if __name__ == "__main__", for workers import it'
                )
            ) from error
        except TimeoutError:
            if future.done():
                raise
            raise RuntimeError(
                f"a worker of the DataLoader has not made a batch within {self._timeout} seconds; "
                "give it more with timeout="
            ) from None
        return made if self._thread_pool else _unpacked(made)

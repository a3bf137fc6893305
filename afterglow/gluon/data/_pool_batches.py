# SPDX-License-Identifier: Apache-2.0
"""MXNet's iterator over what a pool of workers makes, which other packages derive loaders from.

GluonCV's ``RandomTransformDataLoader`` is one. The loaders of this package have workers of their
own kind (``_workers.py``).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from ...context import cpu_pinned
from .dataloader import _as_in_context


class PoolBatches:
    """Batches that ``worker_fn`` makes in a pool, some of them ahead, in order.

    Derived classes read and set the attributes, whose names are MXNet's, and have a ``_push_next``
    of their own.
    """

    def __init__(
        self,
        worker_pool: Any,
        batchify_fn: Callable[[list[Any]], Any],
        batch_sampler: Any,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        worker_fn: Callable[..., Any] | None = None,
        prefetch: int = 0,
        dataset: Any = None,
        data_loader: Any = None,
        timeout: float = 120,
    ) -> None:
        self._worker_pool = worker_pool
        self._batchify_fn = batchify_fn
        self._batch_sampler = batch_sampler
        self._pin_memory, self._pin_device_id = pin_memory, pin_device_id
        self._worker_fn = worker_fn
        self._dataset, self._data_loader = dataset, data_loader
        self._timeout = timeout
        self._iter = iter(batch_sampler)
        self._data_buffer: dict[int, Any] = {}
        self._sent_idx = self._rcvd_idx = 0
        for _ in range(prefetch):
            self._push_next()

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def __iter__(self) -> PoolBatches:
        return self

    def _push_next(self) -> None:
        """Let the pool make one more batch, if there is one."""
        for indices in self._iter:
            given = (indices, self._batchify_fn, self._dataset)
            self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(
                self._worker_fn, given
            )
            self._sent_idx += 1
            return

    def __next__(self) -> Any:
        """Return the next batch; a pool whose worker fails is ended."""
        self._push_next()
        if self._rcvd_idx == self._sent_idx:
            raise StopIteration
        made = self._data_buffer.pop(self._rcvd_idx)
        try:
            batch = made.get(self._timeout)
        except BaseException:
            self._worker_pool.terminate()
            self._data_buffer.clear()  # the error holds this iterator, by its traceback
            raise
        self._rcvd_idx += 1
        if self._dataset is None:  # workers have it, and send what is pickled
            batch = pickle.loads(batch)
        if self._pin_memory:
            return _as_in_context(batch, cpu_pinned(self._pin_device_id))
        return batch

    next = __next__

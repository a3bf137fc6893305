# SPDX-License-Identifier: Apache-2.0
"""Threads that read ahead, for which the end of the program does not wait."""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from ..error import MXNetError

#: Seconds that the end of the program gives to what is in the making.
_PATIENCE = 1.0

_Job = tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]
_Queue = SimpleQueue[_Job | None]
_all: weakref.WeakSet[Background] = weakref.WeakSet()
#: All that have not ended, also those of owners that are gone.
_threads: set[threading.Thread] = set()


class Background:
    """Some threads that run functions, oldest first.

    Those of an executor are joined at exit, so that one that hangs keeps the program from ending.
    """

    def __init__(self, count: int, name: str) -> None:
        self._owner = os.getpid()
        self._jobs: _Queue = SimpleQueue()
        self.threads = [
            threading.Thread(target=_work, args=(self._jobs,), name=f"{name}-{i}", daemon=True)
            for i in range(count)
        ]
        _all.add(self)
        try:
            for thread in self.threads:
                thread.start()
                _threads.add(thread)
        except RuntimeError as error:
            self.close()
            raise MXNetError(
                f"{error} to read ahead, after {sum(map(threading.Thread.is_alive, self.threads))} "
                f"of {count}; use fewer of them, or raise the limits of the process (ulimit -u)"
            ) from error

    def __del__(self) -> None:
        self.close()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a function called."""
        self.check()
        future: Future[Any] = Future()
        self._jobs.put((future, function, arguments))
        return future

    def check(self) -> None:
        """Refuse to wait for threads that a fork has not copied."""
        if os.getpid() != self._owner:
            raise MXNetError(
                "threads that read ahead belong to the process that started them, not to its fork; "
                "make the iterator there"
            )

    def close(self) -> None:
        """Let the threads end, after what they are about to do."""
        with suppress(Empty):
            while (job := self._jobs.get_nowait()) is not None:
                job[0].cancel()
        for _ in self.threads:
            self._jobs.put(None)


def _work(jobs: _Queue) -> None:
    while (job := jobs.get()) is not None:
        _run(*job)
        del job  # its results are not for this thread to keep
    _threads.discard(threading.current_thread())


def _run(future: Future[Any], function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(function(*arguments))
    except BaseException as error:
        future.set_exception(error)
        # The error knows this frame by its traceback.
        del future


@atexit.register
def _end() -> None:
    deadline = time.monotonic() + _PATIENCE
    for one in list(_all):
        one.close()
    for thread in list(_threads):
        thread.join(max(0.0, deadline - time.monotonic()))

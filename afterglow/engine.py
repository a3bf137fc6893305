# SPDX-License-Identifier: Apache-2.0
"""The engine behind the arrays: what waits, what it has done, how it is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from . import _core
from ._core import waitall
from .error import ArrayTypeError

__all__ = [
    "Event",
    "bulk",
    "instruction_set",
    "is_serial",
    "record",
    "set_bulk_size",
    "stats",
    "thread_limit",
    "waitall",
    "workers_started",
]

_bulk_size = 0


def set_bulk_size(size: int) -> int:
    """Say how many calls may be gathered before they run, and return the number set before.

    A hint: the engine gathers calls by what they cost, and values never depend on it.
    """
    global _bulk_size
    if not isinstance(size, int):
        raise ArrayTypeError(f"size must be an integer, but got {size!r}")
    previous, _bulk_size = _bulk_size, size
    return previous


@contextmanager
def bulk(size: int) -> Iterator[None]:
    """Set the bulk size in a ``with`` scope."""
    previous = set_bulk_size(size)
    try:
        yield
    finally:
        set_bulk_size(previous)


def stats() -> dict[str, int]:
    """Return counts of calls (issued, run, dropped, fused, pending) and bytes in use."""
    return _core.statistics()


class Event(NamedTuple):
    """Something the engine did with a task."""

    what: str  #: "pushed", or "started" and "finished" of one share of the work
    nanoseconds: int  #: on the clock of :func:`time.monotonic_ns`
    task: int
    op: str  #: the first op of the task
    share: int  #: -1 for "pushed"
    thread: int  #: the worker's number; -1 for a thread that helps while it waits


@contextmanager
def record() -> Iterator[list[Event]]:
    """Collect what the engine does in a ``with`` scope; the list is filled when the scope ends.

    Tiny calls that run on the thread that reads them never reach the engine and are not in it.
    """
    events: list[Event] = []
    _core.start_recording()
    try:
        yield events
    finally:
        events.extend(Event(*event) for event in _core.stop_recording())


def thread_limit() -> int:
    """Return how many threads may compute at once."""
    return _core.thread_limit()


def workers_started() -> int:
    """Return how many worker threads exist; they start when there is work for them."""
    return _core.workers_started()


def is_serial() -> bool:
    """Tell whether every call runs at once on the thread that makes it."""
    return _core.is_serial()


def instruction_set() -> str:
    """Return the instruction set of the vector kernels in use."""
    return _core.instruction_set()

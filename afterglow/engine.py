# SPDX-License-Identifier: Apache-2.0
"""The engine behind the arrays: what waits, what it has done, how it is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from . import _core
from ._core import waitall
from .error import ArrayTypeError

__all__ = [
    "bulk",
    "instruction_set",
    "is_serial",
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

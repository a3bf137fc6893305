# SPDX-License-Identifier: Apache-2.0
"""The engine behind the arrays: what waits, what it has done, how it is told."""

from __future__ import annotations

import logging
import operator
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeVar

from . import _core
from ._core import waitall
from .error import ArrayTypeError, ArrayValueError

__all__ = [
    "Event",
    "RunAhead",
    "Statistics",
    "bulk",
    "devices",
    "instruction_set",
    "is_serial",
    "passes",
    "pipeline",
    "pretend_gpus",
    "record",
    "run_ahead",
    "set_bulk_size",
    "set_devices",
    "set_pass",
    "set_run_ahead",
    "stats",
    "thread_limit",
    "waitall",
    "workers_started",
]


class _Bulk:
    """The hint of :func:`set_bulk_size`, which nobody takes."""

    size = 0


def set_bulk_size(size: int) -> int:
    """Say how many calls may be gathered before they run, and return the number set before.

    A hint: the engine gathers calls by what they cost, and values never depend on it.
    """
    if not isinstance(size, int):
        raise ArrayTypeError(f"size must be an integer, but got {size!r}")
    previous, _Bulk.size = _Bulk.size, size
    return previous


class _BulkScope(_core.Scope):
    def __init__(self, size: int) -> None:
        self._size = size

    def _enter(self) -> Any:
        return None, [(_Bulk, "size", self._size)]


def bulk(size: int) -> Any:
    """Set the bulk size in a ``with`` scope."""
    if not isinstance(size, int):
        raise ArrayTypeError(f"size must be an integer, but got {size!r}")
    return _BulkScope(size)


class Statistics(dict[str, int]):
    """What :func:`stats` returns: counts by name."""

    def _repr_html_(self) -> str:
        from .notebooks.display import figures_html, readable_bytes

        return figures_html(
            "engine.stats()",
            (
                (name, readable_bytes(count) if name.endswith("_bytes") else f"{count:,}")
                for name, count in self.items()
            ),
        )


def stats() -> Statistics:
    """Return counts of calls and bytes since the start.

    ``issued`` calls are ``run``, ``dropped`` because nobody could read their result, or still
    ``pending``. ``fused`` passes over memory ran ``fused_calls`` calls together. ``pending_bytes``
    are the results of pending calls, ``run_ahead_bytes`` what counts against the limit of
    :func:`set_run_ahead`; ``live_bytes``, ``peak_bytes`` and ``cached_bytes`` are those of
    :mod:`afterglow.memory`.
    """
    return Statistics(_core.statistics())


class RunAhead(NamedTuple):
    """How far Python may run ahead of the backend."""

    #: Bytes that exist only because unfinished calls will read them (a batch whose handle is gone),
    #: and the records of unfinished calls.
    held_bytes: float
    #: The same and the results of unfinished calls.
    bytes: float
    #: Estimated time of unfinished calls.
    seconds: float


def run_ahead() -> RunAhead:
    """Return the limits set by :func:`set_run_ahead`."""
    return RunAhead(*_core.run_ahead())


def set_run_ahead(bytes: float | RunAhead | None = None, seconds: float | None = None) -> RunAhead:
    """Limit how far Python may run ahead, and return the limits set before.

    A call that would go past a limit first waits, while it helps to compute, until the backend has
    caught up. ``None`` leaves a limit as it is, ``float("inf")`` takes it away. A limit of bytes
    holds for all that is counted (see :class:`RunAhead`); by default there is little room for held
    bytes, and much for results, which take their memory only when they are computed. What was
    returned puts all limits back: ``set_run_ahead(previous)``. The environment variables
    ``AFTERGLOW_RUN_AHEAD_BYTES`` and ``AFTERGLOW_RUN_AHEAD_SECONDS`` set limits at the start.
    """
    previous = wanted = run_ahead()
    if isinstance(bytes, RunAhead):
        wanted = bytes
    elif bytes is not None:
        wanted = wanted._replace(bytes=float(bytes), held_bytes=float(bytes))
    if seconds is not None:
        wanted = wanted._replace(seconds=float(seconds))
    for name in ("bytes", "held_bytes", "seconds"):
        limit = getattr(wanted, name)
        if not limit >= 0:
            raise ArrayValueError(f"{name} must be a number that is not negative, but got {limit}")
    _core.set_run_ahead(*wanted)
    return previous


_Item = TypeVar("_Item")


def pipeline(batches: Iterable[_Item], depth: int = 2) -> Iterator[_Item]:
    """Iterate over ``batches`` and keep at most ``depth`` of them in flight.

    A batch is all calls that this thread issues in one iteration. The iteration after the next
    ``depth`` begins when those of the first are finished, so that work overlaps with the next batch
    but never piles up::

        for batch in engine.pipeline(loader, depth=2):
            losses.append(step(batch))
    """
    if not isinstance(depth, int) or depth < 1:
        raise ArrayValueError(f"depth must be a positive integer, but got {depth!r}")
    return _pipelined(batches, depth)


def _pipelined(batches: Iterable[_Item], depth: int) -> Iterator[_Item]:
    in_flight: deque[_core.Batch] = deque()
    for item in batches:
        while len(in_flight) >= depth:
            in_flight.popleft().wait()
        batch = _core.Batch()
        in_flight.append(batch)
        batch.begin()
        try:
            yield item
        finally:
            batch.end()


def passes() -> dict[str, bool]:
    """Return the passes over held calls in their order, and which of them are on."""
    return _core.passes()


def set_pass(name: str, on: bool) -> bool:
    """Switch a pass on or off, and return what it was. Values never depend on it.

    The environment variable ``AFTERGLOW_DISABLE_PASSES`` names passes that are off from the start,
    separated by commas, or ``all``.
    """
    return _core.set_pass(name, on)


class Event(NamedTuple):
    """Something the engine did with a task."""

    what: str  #: "pushed", or "started" and "finished" of one share of the work
    nanoseconds: int  #: on the clock of :func:`time.monotonic_ns`
    task: int
    op: str  #: the first op of the task
    share: int  #: -1 for "pushed"
    thread: int  #: the worker's number; -1 for a thread that helps while it waits


def record() -> AbstractContextManager[list[Event]]:
    """Collect what the engine does in a ``with`` scope; the list is filled when the scope ends.

    Tiny calls that run on the thread that reads them never reach the engine and are not in it.
    """
    return _core.RecordScope(Event._make)


def thread_limit() -> int:
    """Return how many threads may compute at once."""
    return _core.thread_limit()


class _Devices:
    """Among how many devices the threads are divided, and whether GPUs were pretended before."""

    cpus = 0
    told = False


_CPU, _GPU = 1, 2
_MOST_DEVICES = 256  # what is looked at for every task


def _count(name: str, count: int | None) -> int:
    try:
        number = 0 if count is None else operator.index(count)
    except TypeError:
        raise ArrayTypeError(f"[{name}] a number of devices is needed, but got {count!r}") from None
    if not 0 <= number <= _MOST_DEVICES:
        raise ArrayValueError(f"[{name}] got {number} devices; there can be 0 to {_MOST_DEVICES}")
    return number


def _divide_threads(kind: int, count: int, before: int) -> None:
    """Give each of so many devices a share of the threads, and those after them no limit."""
    each, more = divmod(thread_limit(), max(1, count))
    for number in range(max(count, before)):
        share = max(1, each + (number < more)) if number < count else 0
        _core.set_share(kind, number, share)


def devices() -> int:
    """Return among how many devices the threads are divided; 0 when each may use all of them."""
    return _Devices.cpus


def set_devices(count: int | None) -> int:
    """Divide the threads among ``cpu(0)`` to ``cpu(count - 1)``; return the number set before.

    Each then computes with its share of them, beside the others, and with one thread at least; a
    thread that waits helps within the shares, too. ``None`` and 0 are the default: every device may
    use all threads. Values never depend on it. The environment variable ``AFTERGLOW_DEVICES`` sets
    the number at the start.

    >>> from afterglow import engine
    >>> engine.set_devices(2)
    0
    >>> engine.set_devices(None)
    2
    """
    number = _count("set_devices", count)
    _divide_threads(_CPU, number, _Devices.cpus)
    previous, _Devices.cpus = _Devices.cpus, number
    return previous


def pretend_gpus(count: int | None) -> int:
    """Let ``gpu(0)`` to ``gpu(count - 1)`` be devices of this machine; return the number before.

    For programs and lessons about several GPUs. The arrays live in the memory of the machine, work
    is queued for each device by itself and computed with its share of the threads. They are
    counted by ``num_gpus()``; files and pickles of their arrays say ``cpu``. ``None`` and 0 are the
    default: there are no GPUs. The environment variable ``AFTERGLOW_GPUS`` sets the number at the
    start.
    """
    number = _count("pretend_gpus", count)
    previous = _core.pretended_gpus()
    _divide_threads(_GPU, number, previous)
    _core.set_pretended_gpus(number)
    if number and not _Devices.told:
        _Devices.told = True
        logging.getLogger("afterglow").warning(
            "there are no GPUs here: gpu(0) to gpu(%d) are pretended, by shares of the processor",
            number - 1,
        )
    return previous


def workers_started() -> int:
    """Return how many worker threads exist; they start when there is work for them."""
    return _core.workers_started()


def is_serial() -> bool:
    """Tell whether every call runs at once on the thread that makes it."""
    return _core.is_serial()


def instruction_set() -> str:
    """Return the instruction set of the vector kernels in use."""
    return _core.instruction_set()

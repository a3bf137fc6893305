# SPDX-License-Identifier: Apache-2.0
"""Recording what the engine does: the core keeps events, here they become tables."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy

from .. import _core
from ..error import MXNetError
from .recording import DROPPED, PENDING, RAN, Recording, Table

#: Events that are kept by default: about 200 MB. A call takes about three.
MOST_EVENTS = 5_000_000

#: As in src/lazy/trace.h.
_EVENT = numpy.dtype(
    [
        ("begin", "i8"),
        ("end", "i8"),
        ("call", "u8"),
        ("first", "u4"),
        ("second", "u4"),
        ("layer", "i4"),
        ("kind", "u2"),
        ("share", "u2"),
    ]
)
_ISSUED, _DROPPED, _MEMBER, _RUN, _WAIT, _MEMORY = range(6)
_WAITS = ("read", "write", "waitall", "run-ahead", "pipeline", "memory")

_Array = numpy.ndarray[Any, Any]

#: Marks of the program itself, as :func:`mark` was given them, with the thread that did.
_marks: list[tuple[str, str, str, int, int, float, int]] = []
_marking = False
#: Recordings begun by now.
_started = 0

#: Names of threads that were started during the recording, by the system's number: Python forgets
#: those that have ended.
_names: dict[int, str] = {}
_start_thread: Callable[[threading.Thread], None] = threading.Thread.start


def _start_and_name(thread: threading.Thread) -> None:
    _start_thread(thread)
    if thread.native_id is not None:
        _names[thread.native_id] = thread.name


def _note_names(noted: bool) -> None:
    """Note the names of threads as they start, or no longer."""
    ways = (_start_thread, _start_and_name)
    if threading.Thread.start in ways:  # else somebody has replaced it
        threading.Thread.start = ways[noted]  # type: ignore[method-assign,assignment]


def start(most_events: int = MOST_EVENTS) -> None:
    """Begin a recording. Only one can be made at a time."""
    global _marking, _started
    if _core.is_traced():
        raise MXNetError("a recording is being made already; stop() ends it")
    _marks.clear()
    _names.clear()
    _core.start_trace(most_events)
    _note_names(True)
    _marking = True
    _started += 1


def pause() -> None:
    """Record nothing until :func:`resume`."""
    global _marking
    _core.pause_trace()
    _marking = False


def resume() -> None:
    """Go on after :func:`pause`."""
    global _marking
    _core.resume_trace()
    _marking = _core.is_traced()


def is_recording() -> bool:
    """Tell whether a recording is being made, paused or not."""
    return _core.is_traced()


def current() -> int:
    """Return the number of the recording that is being made, 0 for none."""
    return _started if _core.is_traced() else 0


def is_paused() -> bool:
    """Tell whether a recording was begun and paused."""
    return _core.is_traced() and not _marking


def mark(kind: str, name: str, domain: str, begin: int, end: int, value: float = 0) -> None:
    """Add what the program tells of itself; times are those of :func:`time.monotonic_ns`."""
    if _marking:
        _marks.append((kind, name, domain, begin, end, value, threading.get_native_id()))


def snapshot() -> Recording:
    """Return what has been recorded so far."""
    if not _core.is_traced():
        raise MXNetError("no recording is being made; start() begins one")
    return _Reader(_core.trace_events(), list(_marks)).recording()


def stop() -> Recording:
    """End the recording and return it."""
    result = snapshot()
    clear()
    return result


def clear() -> None:
    """End the recording and forget it."""
    global _marking
    _core.clear_trace()
    _note_names(False)
    _marks.clear()
    _marking = False


def _places(keys: _Array, wanted: _Array) -> tuple[_Array, _Array]:
    """Return which of the wanted are among the ascending keys, and the places of those."""
    place = numpy.searchsorted(keys, wanted)
    found = place < len(keys)
    found[found] = keys[place[found]] == wanted[found]
    return found, place[found]


class _Reader:
    """Makes tables of what the core kept."""

    def __init__(
        self, kept: dict[str, Any], marks: list[tuple[str, str, str, int, int, float, int]]
    ) -> None:
        self._kept = kept
        self._marks = marks
        self._start: int = kept["start"]
        self._texts = {"": 0}  # each text once, with its number
        self._lanes: dict[int, int] = {}  # by the system's number of the thread
        self._names: list[str] = []
        parts = [
            (thread, worker, numpy.frombuffer(events, _EVENT))
            for thread, worker, events in kept["threads"]
        ]
        python = self._name_lanes(parts)
        self._python_threads = python
        self._events = numpy.concatenate([part for _, _, part in parts] or [numpy.zeros(0, _EVENT)])
        self._threads = numpy.concatenate(
            [numpy.full(len(part), self._lanes[thread], "i4") for thread, _, part in parts]
            or [numpy.zeros(0, "i4")]
        )

    def _name_lanes(self, parts: list[tuple[int, int, _Array]]) -> int:
        """Give every thread a lane, those of Python first, and return how many those are."""
        names = dict(_names)
        names |= {one.native_id or 0: one.name for one in threading.enumerate()}
        main = threading.main_thread().native_id
        python = {thread for thread, worker, _ in parts if worker < 0}
        python |= {made[-1] for made in self._marks}
        for thread in sorted(python, key=lambda one: (one != main, one)):
            self._lanes[thread] = len(self._names)
            self._names.append(names.get(thread) or f"thread {thread}")
        for worker, thread in sorted(
            (worker, thread) for thread, worker, _ in parts if worker >= 0
        ):
            self._lanes[thread] = len(self._names)
            self._names.append(f"worker {worker}")
        return len(python)

    def recording(self) -> Recording:
        """Return all tables."""
        runs, passes = self._runs()
        return Recording(
            duration=max(1, self._kept["end"] - self._start),
            start=self._start,
            threads=self._names,
            python_threads=self._python_threads,
            lost=self._kept["lost"],
            calls=self._calls(passes),
            runs=runs,
            waits=self._waits(),
            memory=self._memory(),
            marks=self._mark_table(),
            texts=list(self._texts),
        )

    def _of(self, kind: int) -> tuple[_Array, _Array]:
        """Return the events of a kind and the lanes they came from."""
        chosen = self._events["kind"] == kind
        return self._events[chosen], self._threads[chosen]

    def _time(self, times: _Array) -> _Array:
        # What began before the recording, or was put off meanwhile, begins with it.
        since: _Array = numpy.maximum(times - self._start, 0)
        return since

    def _number(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _numbers(self, texts: list[str], chosen: _Array) -> _Array:
        """Return the numbers of texts that events refer to by places in a list of their own."""
        numbers = numpy.array([self._number(text) for text in texts] or [0], "i4")
        result: _Array = numbers[chosen]
        return result

    def _runs(self) -> tuple[Table, _Array]:
        """Return the runs, and the first calls of the passes in their order."""
        events, threads = self._of(_RUN)
        passes, numbers = numpy.unique(events["call"], return_inverse=True)
        order = numpy.lexsort((events["begin"], numbers))
        return {
            "thread": threads[order],
            "begin": self._time(events["begin"])[order],
            "end": self._time(events["end"])[order],
            "share": events["share"][order].astype("i4"),
            "pass": numbers[order].astype("i4"),
        }, passes

    def _calls(self, passes: _Array) -> Table:
        events, threads = self._of(_ISSUED)
        order = numpy.argsort(events["end"], kind="stable")
        events, threads = events[order], threads[order]
        signatures = self._kept["signatures"]
        bytes_of = numpy.array([signature[2] for signature in signatures] or [0], "i8")
        cost_of = numpy.array([signature[3] for signature in signatures] or [0], "f8")
        ran_in = self._passes_of(events["call"], passes)
        dropped = self._drops_of(events["call"])
        state = numpy.full(len(events), PENDING, "i1")
        state[dropped >= 0] = DROPPED
        state[ran_in >= 0] = RAN
        return {
            "op": self._numbers([signature[0] for signature in signatures], events["second"]),
            "site": self._numbers(self._kept["sites"], events["first"]),
            "layer": self._numbers(self._kept["layers"], events["layer"]),
            "shapes": self._numbers([signature[1] for signature in signatures], events["second"]),
            "bytes": bytes_of[events["second"]],
            "thread": threads,
            "begin": self._time(events["begin"]),
            "end": self._time(events["end"]),
            "state": state,
            "pass": ran_in,
            "dropped": dropped,
            "cost": cost_of[events["second"]],
            "device": self._numbers([signature[4] for signature in signatures], events["second"]),
            "source": self._numbers([signature[5] for signature in signatures], events["second"]),
        }

    def _drops_of(self, calls: _Array) -> _Array:
        """Return when each call was dropped, -1 for never."""
        drops, _ = self._of(_DROPPED)
        drops = drops[numpy.argsort(drops["call"])]
        times = numpy.full(len(calls), -1, "i8")
        found, place = _places(drops["call"], calls)
        times[found] = self._time(drops["begin"])[place]
        return times

    def _passes_of(self, calls: _Array, passes: _Array) -> _Array:
        """Return the number of the pass that each call ran in, -1 for none."""
        members, _ = self._of(_MEMBER)
        order = numpy.argsort(members["call"])
        followers, leaders = members["call"][order], members["begin"][order].astype("u8")
        first, numbers = calls.copy(), numpy.full(len(calls), -1, "i4")
        found, place = _places(followers, calls)
        first[found] = leaders[place]
        found, place = _places(passes, first)
        numbers[found] = place
        return numbers

    def _waits(self) -> Table:
        events, threads = self._of(_WAIT)
        order = numpy.argsort(events["begin"], kind="stable")
        events, threads = events[order], threads[order]
        return {
            "thread": threads,
            "begin": self._time(events["begin"]),
            "end": self._time(events["end"]),
            "site": self._numbers(self._kept["sites"], events["first"]),
            "what": self._numbers(list(_WAITS), events["second"]),
        }

    def _memory(self) -> Table:
        events, _ = self._of(_MEMORY)
        events = events[numpy.argsort(events["begin"], kind="stable")]
        return {"time": self._time(events["begin"]), "bytes": events["call"].astype("i8")}

    def _mark_table(self) -> Table:
        columns: list[tuple[Any, ...]] = list(zip(*self._marks, strict=True)) or [()] * 7
        kinds, names, domains, begins, ends, values, threads = columns

        def numbers(column: tuple[Any, ...], number: Callable[[Any], int]) -> _Array:
            return numpy.array([number(one) for one in column], "i4")

        return {
            "kind": numbers(kinds, self._number),
            "name": numbers(names, self._number),
            "domain": numbers(domains, self._number),
            "thread": numbers(threads, self._lanes.__getitem__),
            "begin": self._time(numpy.array(begins, "i8")),
            "end": self._time(numpy.array(ends, "i8")),
            "value": numpy.array(values, "f8"),
        }

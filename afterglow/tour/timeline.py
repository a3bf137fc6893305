# SPDX-License-Identifier: Apache-2.0
"""What Python did and what the workers did, on one clock."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from .. import engine

#: The lane of the Python thread; workers have their number.
PYTHON = -1


class Span(NamedTuple):
    """Something that took a while. Times are nanoseconds."""

    begin: int
    end: int
    #: "read", "issue" or "wait" of Python; "run" of a share of work, "other" to tell it apart.
    kind: str


@dataclass
class Timeline:
    """Spans by lane."""

    begin: int = 0
    end: int = 0
    lanes: dict[int, list[Span]] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long all of it took."""
        return (self.end - self.begin) / 1e9

    def cut(self, begin: int, end: int) -> Timeline:
        """Return the part between two moments."""
        lanes = {
            lane: [
                Span(max(begin, span.begin), min(end, span.end), span.kind)
                for span in spans
                if span.end > begin and span.begin < end
            ]
            for lane, spans in self.lanes.items()
        }
        return Timeline(begin, end, lanes)


def task_spans(events: Sequence[engine.Event]) -> list[tuple[int, int]]:
    """Return when each task that ran began and ended, in the order of issue."""
    times: dict[int, list[int]] = {}
    for event in events:
        if event.what != "pushed":
            times.setdefault(event.task, []).append(event.nanoseconds)
    return [(min(times[task]), max(times[task])) for task in sorted(times)]


class Recorder:
    """Records a timeline in a ``with`` scope; Python says what it does by :meth:`doing`."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._events: list[engine.Event] = []

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Collect the events of the workers, too."""
        with engine.record() as self._events:
            yield

    @contextmanager
    def doing(self, kind: str) -> Iterator[None]:
        """Say what Python does in the scope."""
        begin = time.monotonic_ns()
        try:
            yield
        finally:
            self._spans.append(Span(begin, time.monotonic_ns(), kind))

    def timeline(self) -> Timeline:
        """Return what was recorded. Tasks take turns in being "run" and "other"."""
        begin = self._spans[0].begin
        end = max(self._spans[-1].end, *(event.nanoseconds for event in self._events), begin)
        workers = range(engine.workers_started())
        lanes: dict[int, list[Span]] = {PYTHON: list(self._spans)} | {one: [] for one in workers}
        started: dict[tuple[int, int], int] = {}
        turns: dict[int, str] = {}
        for event in self._events:
            if event.what == "started":
                started[event.task, event.share] = event.nanoseconds
                turns.setdefault(event.task, "other" if event.task % 2 else "run")
            elif event.what == "finished" and (event.task, event.share) in started:
                span = Span(
                    started.pop((event.task, event.share)), event.nanoseconds, turns[event.task]
                )
                lanes.setdefault(event.thread, []).append(span)
        return Timeline(begin, end, lanes)

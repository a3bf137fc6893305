# SPDX-License-Identifier: Apache-2.0
"""Where the time of a recording went: by op, by layer, by line, by wait and by thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from .measures import Passes, passes, queue_waits, ran_by, readable, readable_bytes, short_site
from .recording import DROPPED, PENDING, Recording, Table

_Array = numpy.ndarray[Any, Any]


@dataclass(frozen=True)
class Cost:
    """What the calls of one op, one layer or one line cost. Times are nanoseconds."""

    #: The op, layer or line; empty for calls that have none.
    name: str
    calls: int
    #: Of all threads together. The time of a fused pass is shared out by what its
    #: calls were estimated to cost.
    run: int
    #: From the end of the issue to the first run.
    queue: int
    #: Of the results.
    bytes: int
    dropped: int
    fused: int


@dataclass(frozen=True)
class WaitPoint:
    """What one line waited for, and how long. Times are nanoseconds."""

    site: str
    what: str
    waits: int
    time: int
    longest: int
    #: Time of these waits in which the thread computed shares itself.
    helped: int


@dataclass(frozen=True)
class ThreadUse:
    """What one thread did. Times are nanoseconds."""

    name: str
    python: bool
    issue: int
    wait: int
    run: int
    #: The rest of a thread of Python's: the program's own code, between its statements of ours.
    own: int
    #: The part of the recording in which a worker ran nothing; 0 for threads of Python's.
    idle: float


@dataclass(frozen=True)
class Summary:
    """Tables, the costliest first."""

    duration: int
    calls: int
    dropped: int
    pending: int
    passes: int
    fused_passes: int
    fused_calls: int
    lost: int
    ops: list[Cost]
    layers: list[Cost]
    lines: list[Cost]
    waits: list[WaitPoint]
    threads: list[ThreadUse]

    def headline(self) -> str:
        """Return the figures of the whole in one line."""
        parts = [f"{readable(self.duration)} recorded", _counted(self.calls, "call")]
        if self.dropped:
            parts.append(f"{self.dropped:,} dropped")
        if self.pending:
            parts.append(f"{self.pending:,} pending")
        parts.append(_counted(self.passes, "pass", "es"))
        if self.fused_passes:
            parts.append(f"{self.fused_passes:,} of them fused from {self.fused_calls:,} calls")
        waits, time = sum(row.waits for row in self.waits), sum(row.time for row in self.waits)
        parts.append(f"{_counted(waits, 'wait')}, {readable(time)} in all" if waits else "no waits")
        workers = [row for row in self.threads if not row.python]
        if workers:
            busy = 1 - sum(row.idle for row in workers) / len(workers)
            parts.append(f"{_counted(len(workers), 'worker')} {busy:.0%} busy")
        if self.lost:
            parts.append(f"{_counted(self.lost, 'event')} left out: there were too many")
        return ", ".join(parts)

    def text(self, rows: int = 20) -> str:
        """Return the tables for a terminal, with so many rows each."""
        if rows < 1:
            raise ValueError(f"rows must be a positive number, but got {rows}")
        whole = sum(row.run for row in self.ops)
        parts = [self.headline()]
        for title, costs, nameless in (
            ("By op", self.ops, "(no name)"),
            ("By layer", self.layers, "(no layer)"),
            ("By line", self.lines, "(no line)"),
        ):
            if costs and any(row.name for row in costs):
                lines = [_cost_cells(row, nameless, whole) for row in costs]
                parts.append(_aligned([(title, *_COST_TITLES), *lines], rows))
        if len(parts) > 1:
            parts.append(_QUEUE_WAIT)
        if self.waits:
            lines = [_wait_cells(row) for row in self.waits]
            parts.append(_aligned([("Waits", *_WAIT_TITLES), *lines], rows))
        if self.threads:
            lines = [_thread_cells(row) for row in self.threads]
            parts.append(_aligned([("Threads", *_THREAD_TITLES), *lines], rows))
        return "\n\n".join(parts) + "\n"


_COST_TITLES = ("calls", "run time", "share", "queue wait", "bytes", "dropped", "fused")
_WAIT_TITLES = ("for", "waits", "time", "longest", "helped")
_THREAD_TITLES = ("issue", "wait", "run", "own code", "idle")

_QUEUE_WAIT = """\
Queue wait: from the end of a call's issue to its first run, summed up over the calls.
A long one says that Python was far ahead, not that time was lost."""


def _counted(number: int, noun: str, plural: str = "s") -> str:
    return f"{number:,} {noun}{'' if number == 1 else plural}"


def _cost_cells(row: Cost, nameless: str, whole: int) -> tuple[str, ...]:
    return (
        short_site(row.name) or nameless,
        f"{row.calls:,}",
        readable(row.run),
        f"{row.run / whole:.1%}" if whole else "",
        readable(row.queue),
        readable_bytes(row.bytes),
        f"{row.dropped:,}",
        f"{row.fused:,}",
    )


def _wait_cells(row: WaitPoint) -> tuple[str, ...]:
    return (
        short_site(row.site) or "(no line)",
        row.what,
        f"{row.waits:,}",
        readable(row.time),
        readable(row.longest),
        readable(row.helped),
    )


def _thread_cells(row: ThreadUse) -> tuple[str, ...]:
    times = [readable(time) for time in (row.issue, row.wait, row.run)]
    if row.python:
        return row.name, *times, readable(row.own), "-"
    return row.name, *times, "-", f"{row.idle:.1%}"


def _aligned(lines: Sequence[tuple[str, ...]], rows: int) -> str:
    shown, left_out = lines[: rows + 1], len(lines) - rows - 1
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    texts = [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in shown
    ]
    texts.insert(1, "-" * max(map(len, texts)))
    if left_out > 0:
        texts.append(f"... and {_counted(left_out, 'more row')}")
    return "\n".join(texts)


def summarize(recording: Recording) -> Summary:
    """Return where the time of a recording went."""
    by_pass = passes(recording)
    calls, texts = recording.calls, recording.texts
    fused = calls["pass"] >= 0
    fused[fused] = by_pass.members[calls["pass"][fused]] > 1
    columns = {
        "run": _run_times(recording, by_pass),
        "queue": queue_waits(recording, by_pass),
        "bytes": calls["bytes"],
        "dropped": calls["state"] == DROPPED,
        "fused": fused,
    }
    return Summary(
        duration=recording.duration,
        calls=len(calls["op"]),
        dropped=int((calls["state"] == DROPPED).sum()),
        pending=int((calls["state"] == PENDING).sum()),
        passes=int((by_pass.begin >= 0).sum()),
        fused_passes=int((by_pass.members > 1).sum()),
        fused_calls=int(fused.sum()),
        lost=recording.lost,
        ops=_costs(calls["op"], columns, texts),
        layers=_costs(calls["layer"], columns, texts),
        lines=_costs(calls["site"], columns, texts),
        waits=_wait_points(recording),
        threads=_thread_uses(recording),
    )


def _run_times(recording: Recording, by_pass: Passes) -> _Array:
    """Return the run time of each call; calls of one pass share it out by their costs."""
    ran = ran_by(recording, by_pass)
    number = recording.calls["pass"][ran]
    costs = numpy.maximum(recording.calls["cost"][ran], 1.0)
    in_pass = numpy.bincount(number, costs, len(by_pass.run))
    times = numpy.zeros(len(ran))
    times[ran] = by_pass.run[number] * costs / in_pass[number]
    return times


def _costs(key: _Array, columns: Table, texts: list[str]) -> list[Cost]:
    counts = numpy.bincount(key, minlength=len(texts))
    sums = {
        name: numpy.bincount(key, column.astype("f8"), len(texts))
        for name, column in columns.items()
    }
    used = numpy.flatnonzero(counts)
    rows = [
        Cost(texts[i], int(counts[i]), **{name: round(of[i]) for name, of in sums.items()})
        for i in used.tolist()
    ]
    return sorted(rows, key=lambda row: (-row.run, -row.calls, row.name))


def _wait_points(recording: Recording) -> list[WaitPoint]:
    waits, texts = recording.waits, recording.texts
    if not len(waits["begin"]):
        return []
    keys, place = numpy.unique(
        waits["site"].astype("i8") * len(texts) + waits["what"], return_inverse=True
    )
    lengths = waits["end"] - waits["begin"]
    longest = numpy.zeros(len(keys), "i8")
    numpy.maximum.at(longest, place, lengths)
    counts = numpy.bincount(place)
    times = numpy.bincount(place, lengths.astype("f8"))
    helped = numpy.bincount(place, _helped(recording))
    rows = [
        WaitPoint(
            texts[key // len(texts)],
            texts[key % len(texts)],
            int(counts[i]),
            round(times[i]),
            int(longest[i]),
            round(helped[i]),
        )
        for i, key in enumerate(keys.tolist())
    ]
    return sorted(rows, key=lambda row: (-row.time, row.site, row.what))


def _helped(recording: Recording) -> _Array:
    """Return the time of each wait in which its own thread ran shares."""
    waits = recording.waits
    helped = numpy.zeros(len(waits["begin"]))
    for thread in range(recording.python_threads):
        mine = waits["thread"] == thread
        begin, end = _busy(recording.runs, thread)
        if not mine.any() or not len(begin):
            continue
        # Time spent running up to a moment: a line that rises from each begin to its end.
        edges = numpy.stack([begin, end], axis=1).ravel()
        risen = numpy.cumsum(end - begin)
        spent = numpy.stack([numpy.append(0, risen[:-1]), risen], axis=1).ravel()
        until = numpy.interp(waits["end"][mine], edges, spent)
        helped[mine] = until - numpy.interp(waits["begin"][mine], edges, spent)
    return helped


def _busy(table: Table, thread: int | None = None) -> tuple[_Array, _Array]:
    """Return the spans that rows of the table (of one thread) cover, apart and in order."""
    mine = slice(None) if thread is None else table["thread"] == thread
    begin, end = table["begin"][mine], table["end"][mine]
    order = numpy.argsort(begin, kind="stable")
    begin, end = begin[order], numpy.maximum.accumulate(end[order])
    if not len(begin):
        return begin, end
    first = numpy.append(True, begin[1:] > end[:-1])
    return begin[first], end[numpy.append(first[1:], True)]


def _thread_uses(recording: Recording) -> list[ThreadUse]:
    rows = []
    tables = (recording.calls, recording.waits, recording.runs)
    for thread, name in enumerate(recording.threads):
        spans = [_busy(table, thread) for table in tables]
        issue, wait, run = (int((end - begin).sum()) for begin, end in spans)
        begin, end = _busy(
            {
                "begin": numpy.concatenate([begin for begin, _ in spans]),
                "end": numpy.concatenate([end for _, end in spans]),
            }
        )
        rest = max(0, recording.duration - int((end - begin).sum()))
        if thread < recording.python_threads:
            rows.append(ThreadUse(name, True, issue, wait, run, own=rest, idle=0.0))
        else:
            idle = rest / recording.duration if recording.duration else 0.0
            rows.append(ThreadUse(name, False, issue, wait, run, own=0, idle=idle))
    return rows

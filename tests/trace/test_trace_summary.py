# SPDX-License-Identifier: Apache-2.0
"""The summary of a recording, against sums made one event at a time and against a small one."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as onp
import pytest
from recordings import many, training

from afterglow.trace import Recording
from afterglow.trace.measures import passes, queue_depth, readable, readable_bytes, short_site
from afterglow.trace.recording import DROPPED, PENDING, RAN
from afterglow.trace.summary import summarize


def rows_of(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Turn columns into a list of rows."""
    columns = {name: column.tolist() for name, column in table.items()}
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def small() -> Recording:
    """Two fused calls, one in two shares, one dropped, one pending; waits in which Python helps."""
    recording = Recording(
        duration=1000, threads=["MainThread", "worker 0", "worker 1"], python_threads=1
    )
    recording.texts = ["", "mul", "add", "dot", "/a/b/train.py:4 in f", "c.py:9", "net.0", "read"]
    calls = [
        # op, site, layer, shapes, bytes, thread, begin, end, state, pass, dropped, cost, devices
        (1, 4, 0, 0, 8, 0, 0, 10, RAN, 0, -1, 20, 0, 0),
        (2, 4, 0, 0, 8, 0, 20, 30, RAN, 0, -1, 10, 0, 0),
        (3, 5, 6, 0, 100, 0, 40, 50, RAN, 1, -1, 500, 0, 0),
        (3, 5, 6, 0, 100, 0, 60, 70, DROPPED, -1, 75, 500, 0, 0),
        (1, 4, 0, 0, 8, 0, 900, 910, PENDING, -1, -1, 20, 0, 0),
    ]
    runs = [(1, 100, 160, 0, 0), (1, 200, 300, 0, 1), (0, 210, 290, 1, 1)]
    waits = [(0, 80, 280, 5, 7), (0, 400, 450, 5, 7)]
    for name, rows in (("calls", calls), ("runs", runs), ("waits", waits)):
        table = getattr(recording, name)
        for column, values in zip(table, zip(*rows, strict=True), strict=True):
            table[column] = onp.array(values, table[column].dtype)
    return recording


def test_costs_by_hand() -> None:
    summary = summarize(small())
    by_op = {row.name: row for row in summary.ops}
    # mul and add share the pass of 60 ns by their costs; dot has shares of 100 and 80 ns.
    assert (by_op["mul"].run, by_op["add"].run, by_op["dot"].run) == (40, 20, 180)
    assert (by_op["mul"].queue, by_op["add"].queue, by_op["dot"].queue) == (90, 70, 150)
    assert (by_op["mul"].calls, by_op["mul"].fused, by_op["mul"].bytes) == (2, 1, 16)
    assert (by_op["dot"].dropped, by_op["dot"].fused) == (1, 0)
    assert [row.name for row in summary.ops] == ["dot", "mul", "add"]
    assert {row.name: row.run for row in summary.layers} == {"net.0": 180, "": 60}
    assert {row.name: row.calls for row in summary.lines} == {
        "/a/b/train.py:4 in f": 3,
        "c.py:9": 2,
    }


def test_waits_and_threads_by_hand() -> None:
    summary = summarize(small())
    (wait,) = summary.waits
    assert (wait.site, wait.what, wait.waits, wait.time, wait.longest) == (
        "c.py:9",
        "read",
        2,
        250,
        200,
    )
    # The thread ran a share from 210 to 290 and waited until 280.
    assert wait.helped == 70
    main, first, second = summary.threads
    assert (main.issue, main.wait, main.run) == (50, 250, 80)
    # 50 issuing, 80..290 waiting or running, 400..450 waiting.
    assert (main.own, main.idle) == (1000 - (50 + 210 + 50), 0)
    assert (first.own, first.idle) == (0, pytest.approx(1 - 160 / 1000))
    assert (second.run, second.idle) == (0, 1)


def test_text_has_the_figures() -> None:
    text = summarize(small()).text()
    lines = [line.split() for line in text.splitlines()]
    assert text.splitlines()[0] == (
        "1.00 us recorded, 5 calls, 1 dropped, 1 pending, 2 passes, 1 of them fused from 2 calls, "
        "2 waits, 250 ns in all, 2 workers 8% busy"
    )
    dot = ["dot", "2", "180", "ns", "75.0%", "150", "ns", "200", "B", "1", "0"]
    assert dot in lines
    assert ["c.py:9", "read", "2", "250", "ns", "200", "ns", "70", "ns"] in lines
    assert ["train.py:4", "in", "f", "3"] in [line[:4] for line in lines]
    assert "Queue wait: from the end of a call's issue to its first run" in text
    # Threads of Python's have code of their own, workers are idle.
    assert lines[-3][-3:] == ["690", "ns", "-"]
    assert lines[-2][-2:] == ["-", "84.0%"]
    tables = [part for part in text.split("\n\n")[1:] if not part.startswith("Queue wait")]
    for table in tables:
        widths = {len(line) for line in table.splitlines()[2:]}
        assert len(widths) == 1, f"not aligned:\n{table}"


def test_text_says_what_it_leaves_out() -> None:
    text = summarize(training()).text(rows=2)
    assert "... and 7 more rows" in text
    assert "batch_dot" in text
    assert "relu " not in text
    with pytest.raises(ValueError, match="rows must be a positive number, but got 0"):
        summarize(small()).text(rows=0)


@pytest.mark.parametrize("key", ["op", "layer", "site"])
def test_costs_against_sums_one_by_one(key: str) -> None:
    recording = training(80, seed=3)
    calls, runs = rows_of(recording.calls), rows_of(recording.runs)
    members: dict[int, int] = defaultdict(int)
    costs: dict[int, float] = defaultdict(float)
    time: dict[int, int] = defaultdict(int)
    first: dict[int, int] = {}
    for call in calls:
        members[call["pass"]] += 1
        costs[call["pass"]] += call["cost"]
    for run in runs:
        time[run["pass"]] += run["end"] - run["begin"]
        first[run["pass"]] = min(first.get(run["pass"], 1 << 62), run["begin"])
    wanted: dict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0, 0, 0, 0])
    for call in calls:
        number, row = call["pass"], wanted[recording.texts[call[key]]]
        ran = number >= 0
        row[0] += 1
        row[1] += time[number] * call["cost"] / costs[number] if ran else 0
        row[2] += max(0, first[number] - call["end"]) if ran else 0
        row[3] += call["bytes"]
        row[4] += call["state"] == DROPPED
        row[5] += ran and members[number] > 1
    tables = {"op": "ops", "layer": "layers", "site": "lines"}
    summary = summarize(recording)
    got = getattr(summary, tables[key])
    assert {row.name for row in got} == set(wanted)
    for row in got:
        figures = [row.calls, row.run, row.queue, row.bytes, row.dropped, row.fused]
        assert figures == pytest.approx(wanted[row.name], abs=0.5001), row.name
    assert [row.run for row in got] == sorted((row.run for row in got), reverse=True)
    assert summary.calls == len(calls)
    assert summary.passes == len(first)


def test_queue_depth_against_counting() -> None:
    recording = training(30, seed=11)
    times, depths = queue_depth(recording, passes(recording))
    ends: dict[int, int] = defaultdict(int)
    for run in rows_of(recording.runs):
        ends[run["pass"]] = max(ends[run["pass"]], run["end"])
    spans = []
    for call in rows_of(recording.calls):
        end = recording.duration if call["state"] == PENDING else ends[call["pass"]]
        spans.append((call["begin"], call["dropped"] if call["state"] == DROPPED else end))
    assert (onp.diff(times) > 0).all()
    for time, depth in zip(times.tolist(), depths.tolist(), strict=True):
        assert depth == sum(begin <= time < end for begin, end in spans), time
    assert depths[-1] == 0
    assert depths.max() > 5


def test_runs_that_lie_within_one_another_count_once() -> None:
    recording = small()
    recording.runs = {
        "thread": onp.array([1, 1], "i4"),
        "begin": onp.array([100, 120], "i8"),
        "end": onp.array([200, 150], "i8"),
        "share": onp.array([0, 0], "i4"),
        "pass": onp.array([0, 1], "i4"),
    }
    assert summarize(recording).threads[1].run == 100


def test_nothing_recorded() -> None:
    summary = summarize(Recording())
    assert summary.ops == summary.waits == summary.threads == []
    assert summary.text() == "0 ns recorded, 0 calls, 0 passes, no waits\n"


def test_events_left_out_are_told() -> None:
    recording = small()
    recording.lost = 12345
    assert summarize(recording).headline().endswith("12,345 events left out: there were too many")


def test_generated_recordings_have_the_size_asked_for() -> None:
    recording = many(40_000)
    tables = (recording.calls, recording.runs, recording.waits)
    assert abs(sum(len(table["begin"]) for table in tables) - 40_000) < 10_000
    assert (onp.diff(recording.calls["begin"]) >= 0).all()
    assert (onp.diff(recording.runs["pass"]) >= 0).all()
    assert recording.runs["end"].max() <= recording.duration


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(0, "0 ns"), (999, "999 ns"), (999.6, "1.00 us"), (12_345, "12.3 us"), (123_456, "123 us"),
     (999_600, "1.00 ms"), (1.3e9, "1.30 s"), (100e9, "100 s")],
)  # fmt: skip
def test_readable_times(nanoseconds: float, text: str) -> None:
    assert readable(nanoseconds) == text


def test_readable_bytes_and_sites() -> None:
    assert [readable_bytes(n) for n in (0, 999, 16384, 8e6, 2.5e9)] == [
        "0 B", "999 B", "16.4 kB", "8.00 MB", "2.50 GB",
    ]  # fmt: skip
    assert short_site("/a/b c/d.py:42 in f") == "d.py:42 in f"
    assert short_site("C:\\a\\d.py:42 in <module>") == "d.py:42 in <module>"
    assert short_site("/a/deep in thought/d in e.py:4 in f") == "d in e.py:4 in f"
    assert short_site("chapter.md:3") == "chapter.md:3"
    assert short_site("") == ""

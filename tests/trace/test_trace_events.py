# SPDX-License-Identifier: Apache-2.0
"""Trace events: every one checked against the published format, and against the recording."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from recordings import training

from afterglow.trace import Recording
from afterglow.trace.events import write_events
from afterglow.trace.measures import passes, queue_depth
from afterglow.trace.recording import DROPPED, RAN

Event = dict[str, Any]

#: What each phase must have, beside ``ph``, ``pid``, ``tid``, ``ts`` and ``name``.
_REQUIRED: dict[str, dict[str, type | tuple[type, ...]]] = {
    "X": {"dur": (int, float), "cat": str},
    "M": {"args": dict},
    "C": {"args": dict},
    "i": {"s": str, "cat": str},
    "s": {"id": (int, str), "cat": str},
    "f": {"id": (int, str), "cat": str},
    "b": {"id": (int, str), "cat": str},
    "e": {"id": (int, str), "cat": str},
}


def nanoseconds(microseconds: float) -> int:
    return round(microseconds * 1000)


def validate(document: Any) -> list[Event]:
    """Check a document of trace events and return them; raises ``AssertionError``."""
    assert isinstance(document, dict)
    assert document.get("displayTimeUnit", "ms") in ("ms", "ns")
    events = document["traceEvents"]
    assert isinstance(events, list)
    last = 0.0
    for event in events:
        phase = event["ph"]
        assert phase in _REQUIRED, f"unknown phase: {event}"
        wanted = {"pid": int, "tid": int, "ts": (int, float), "name": str} | _REQUIRED[phase]
        for field, kind in wanted.items():
            assert isinstance(event.get(field), kind), f"{field} is not {kind}: {event}"
        assert event["ts"] >= last, f"not sorted: {event}"
        last = event["ts"]
        if phase == "X":
            assert event["dur"] >= 0, event
        elif phase == "i":
            assert event["s"] in ("g", "p", "t"), event
        elif phase == "C":
            assert event["args"], event
            assert all(isinstance(value, (int, float)) for value in event["args"].values()), event
        elif phase == "M":
            field = {"thread_sort_index": "sort_index"}.get(event["name"], "name")
            assert event["name"] in ("process_name", "thread_name", "thread_sort_index"), event
            assert isinstance(event["args"][field], str if field == "name" else int), event
    _validate_nesting(events)
    _validate_flows(events)
    _validate_pairs(events)
    return events


def _validate_nesting(events: list[Event]) -> None:
    """Complete events of a thread lie within one another or apart."""
    around: dict[tuple[int, int], list[int]] = defaultdict(list)
    for event in events:
        if event["ph"] != "X":
            continue
        begin = nanoseconds(event["ts"])
        end = begin + nanoseconds(event["dur"])
        stack = around[event["pid"], event["tid"]]
        while stack and stack[-1] <= begin:
            stack.pop()
        assert not stack or end <= stack[-1], f"leaves the event around it: {event}"
        stack.append(end)


def _validate_flows(events: list[Event]) -> None:
    """Each flow begins once and ends once, later, and both lie within a complete event."""
    spans: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            key = (event["pid"], event["tid"])
            spans[key].append((event["ts"], event["ts"] + event["dur"]))
    begun: dict[Any, Event] = {}
    ended: set[Any] = set()
    for event in events:
        key = (event.get("cat"), event["name"], event.get("id"))
        if event["ph"] == "s":
            assert key not in begun, f"begins twice: {event}"
            begun[key] = event
        elif event["ph"] == "f":
            assert event.get("bp") == "e", f"binds to the next event: {event}"
            assert key in begun, f"never began: {event}"
            assert key not in ended, f"ends twice: {event}"
            ended.add(key)
        else:
            continue
        place = spans[event["pid"], event["tid"]]
        assert any(a <= event["ts"] <= b for a, b in place), f"in no event: {event}"
    assert set(begun) == ended


def _validate_pairs(events: list[Event]) -> None:
    open_pairs: set[Any] = set()
    for event in events:
        key = (event.get("cat"), event.get("id"))
        if event["ph"] == "b":
            assert key not in open_pairs, event
            open_pairs.add(key)
        elif event["ph"] == "e":
            open_pairs.remove(key)
    assert not open_pairs


def written(recording: Recording, folder: Path) -> list[Event]:
    path = folder / "events.json"
    write_events(recording, path)
    return validate(json.loads(path.read_text("utf-8")))


def test_format_and_content(tmp_path: Path) -> None:
    recording = training()
    events = written(recording, tmp_path)
    calls, runs, waits = recording.calls, recording.runs, recording.waits
    issues = [event for event in events if event.get("cat") == "issue"]
    got = sorted((nanoseconds(e["ts"]), nanoseconds(e["dur"]), e["tid"], e["name"]) for e in issues)
    assert got == sorted(
        (begin, end - begin, thread + 1, recording.texts[op])
        for begin, end, thread, op in zip(
            *(calls[name].tolist() for name in ("begin", "end", "thread", "op")), strict=True
        )
    )
    assert sum(event.get("cat") == "run" for event in events) == len(runs["begin"])
    assert sum(event.get("cat") == "wait" for event in events) == len(waits["begin"])
    assert sum(event["ph"] == "s" for event in events) == (calls["state"] == RAN).sum()
    assert (
        sum(event.get("cat") == "dropped" for event in events) == (calls["state"] == DROPPED).sum()
    )
    layers = {event["args"]["layer"] for event in issues}
    assert layers == {"", "net.0.dense0", "net.1.relu0", "net.2.dense1"}
    names = {event["name"] for event in events if event.get("cat") == "run"}
    assert {"add + relu", "subtract + square + mean", "dot"} <= names
    threads = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert threads == dict(enumerate(recording.threads, 1))


def test_flows_lead_to_the_first_run(tmp_path: Path) -> None:
    recording = training()
    events = written(recording, tmp_path)
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    assert len(ends) > 100
    for call, end in ends.items():
        number = recording.calls["pass"][call]
        mine = recording.runs["pass"] == number
        assert nanoseconds(end["ts"]) == recording.runs["begin"][mine].min()
        assert nanoseconds(starts[call]["ts"]) == recording.calls["begin"][call]


def test_counters(tmp_path: Path) -> None:
    recording = training()
    counters: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for event in written(recording, tmp_path):
        if event["ph"] == "C":
            (value,) = event["args"].values()
            counters[event["name"]].append((nanoseconds(event["ts"]), value))
    times, depths = queue_depth(recording, passes(recording))
    assert counters["queue depth"] == list(zip(times.tolist(), depths.tolist(), strict=True))
    memory = zip(recording.memory["time"].tolist(), recording.memory["bytes"].tolist(), strict=True)
    assert counters["memory"] == list(memory)
    assert counters["training: loss"][1][1] == 0.5


def test_marks(tmp_path: Path) -> None:
    events = written(training(), tmp_path)
    tasks = [event for event in events if event.get("cat") == "task"]
    assert [event["ph"] for event in tasks].count("b") == 60
    assert {event["args"]["domain"] for event in tasks} == {"training"}
    assert sum(event["ph"] == "i" and event["name"] == "epoch" for event in events) == 6


def test_a_run_that_seems_to_outlast_its_wait_is_cut(tmp_path: Path) -> None:
    recording = training(20)
    wait = {name: column[0] for name, column in recording.waits.items()}
    runs = recording.runs
    helped = onp.flatnonzero((runs["thread"] == wait["thread"]) & (runs["begin"] > wait["begin"]))
    place = helped[0]
    around = onp.flatnonzero(
        (recording.waits["begin"] <= runs["begin"][place])
        & (recording.waits["end"] >= runs["end"][place])
    )
    runs["end"][place] = recording.waits["end"][around[0]] + 7
    events = written(recording, tmp_path)
    mine = [
        event
        for event in events
        if event.get("cat") == "run" and nanoseconds(event["ts"]) == runs["begin"][place]
    ]
    end = nanoseconds(mine[0]["ts"]) + nanoseconds(mine[0]["dur"])
    assert end == recording.waits["end"][around[0]]


def test_texts_are_quoted(tmp_path: Path) -> None:
    recording = training(3)
    strange = 'a "quoted" \\ name\n</script> 层'
    recording.texts[recording.texts.index("dot")] = strange
    names = {event["name"] for event in written(recording, tmp_path)}
    assert any(strange in name for name in names)


def test_empty_and_compressed(tmp_path: Path) -> None:
    assert [event["name"] for event in written(Recording(), tmp_path)] == ["process_name"]
    write_events(training(), tmp_path / "events.json")
    write_events(training(), tmp_path / "events.json.gz")
    with gzip.open(tmp_path / "events.json.gz", "rt", encoding="utf-8") as file:
        assert file.read() == (tmp_path / "events.json").read_text("utf-8")


def overlap(events: list[Event]) -> None:
    """Let the first complete event end in the middle of the next."""
    first, second, *_ = (e for e in events if e["ph"] == "X" and e["tid"] == 1)
    first["dur"] = second["ts"] + second["dur"] / 2 - first["ts"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda events: events[20].pop("ts"), "ts is not"),
        (lambda events: events.reverse(), "not sorted"),
        (lambda events: events.remove(next(e for e in events if e["ph"] == "s")), "never began"),
        (lambda events: overlap(events), "leaves"),
        (lambda events: events[30].update(ph="?"), "unknown phase"),
    ],
)
def test_the_validator_finds_faults(change: Any, problem: str, tmp_path: Path) -> None:
    write_events(training(), tmp_path / "events.json")
    document = json.loads((tmp_path / "events.json").read_text("utf-8"))
    change(document["traceEvents"])
    with pytest.raises(AssertionError, match=problem):
        validate(document)

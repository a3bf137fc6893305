# SPDX-License-Identifier: Apache-2.0
"""Recordings of several devices: a lane for each, copies as arrows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recordings import training, two_devices

import afterglow as mx
from afterglow import nd, trace
from afterglow.trace.events import write_events
from afterglow.trace.measures import device_spans, passes
from afterglow.trace.page import page


def _told(recording: Any) -> list[tuple[Any, ...]]:
    spans = device_spans(recording, passes(recording))
    names = ("device", "row", "begin", "end", "pass", "sent")
    rows = zip(*(spans[name].tolist() for name in names), strict=True)
    return [(recording.texts[device], *rest) for device, *rest in rows]


def test_bars_of_devices() -> None:
    assert _told(two_devices()) == [
        ("cpu(0)", 0, 1000, 5000, 0, -1),
        ("cpu(0)", 1, 2000, 4000, 1, -1),
        ("gpu(1)", 0, 5000, 7000, 2, 3),
        ("cpu(0)", 0, 5000, 7000, 2, -1),
        ("gpu(1)", 0, 7000, 9000, 3, -1),
        ("cpu(0)", 0, 7000, 8000, 4, -1),
        ("cpu(0)", 0, 9000, 9500, 5, 7),
        ("gpu(1)", 0, 9000, 9500, 5, -1),
    ]


def test_one_device_has_no_lane_of_its_own() -> None:
    assert _told(training()) == []
    assert '"pid":2' not in _written(training())


def _written(recording: Any) -> str:
    import io
    from unittest import mock

    kept = io.StringIO()
    kept.close = lambda: None  # type: ignore[method-assign]
    with mock.patch("afterglow.trace.events._opened", return_value=kept):
        write_events(recording, "")
    return kept.getvalue()


def test_events_have_threads_and_arrows_of_devices() -> None:
    events = [one for one in json.loads(_written(two_devices()))["traceEvents"] if one["pid"] == 2]
    threads = {one["tid"]: one["args"]["name"] for one in events if one["name"] == "thread_name"}
    assert sorted(threads.values()) == ["cpu(0)", "cpu(0), row 2", "gpu(1)"]
    bars = [one for one in events if one["ph"] == "X"]
    assert {(threads[one["tid"]], one["name"], one["ts"]) for one in bars} == {
        ("cpu(0)", "dot", 1.0),
        ("cpu(0), row 2", "exp", 2.0),
        ("gpu(1)", "copy", 5.0),
        ("cpu(0)", "copy", 5.0),
        ("gpu(1)", "dot", 7.0),
        ("cpu(0)", "tanh", 7.0),
        ("cpu(0)", "copy", 9.0),
        ("gpu(1)", "copy", 9.0),
    }
    arrows = [
        (one["ph"], one["id"], threads[one["tid"]], one["ts"])
        for one in events
        if one["ph"] in "sf"
    ]
    assert sorted(arrows, key=lambda one: (one[1], one[3])) == [
        ("s", 2, "cpu(0)", 5.0),
        ("f", 2, "gpu(1)", 6.0),
        ("s", 6, "gpu(1)", 9.0),
        ("f", 6, "cpu(0)", 9.25),
    ]


def test_a_page_can_be_made() -> None:
    assert "deviceLanes" in page(two_devices())


@pytest.mark.skipif(mx.engine.is_serial(), reason="tells which device computes what")
def test_a_program_on_two_devices(gpus: list[mx.Context], tmp_path: Path) -> None:
    x = nd.ones((200, 200), ctx=gpus[0])
    trace.start()
    there = nd.dot(x, x).as_in_context(gpus[1])
    nd.dot(there, there).wait_to_read()
    recording = trace.stop()
    calls, texts = recording.calls, recording.texts
    told = [
        (texts[op], texts[device], texts[source])
        for op, device, source in zip(
            *(calls[name].tolist() for name in ("op", "device", "source")), strict=True
        )
    ]
    assert told == [
        ("dot", "gpu(0)", ""),
        ("copy", "gpu(1)", "gpu(0)"),
        ("dot", "gpu(1)", ""),
    ]
    bars = [
        (one[0], texts[calls["op"][list(calls["pass"]).index(one[4])]]) for one in _told(recording)
    ]
    assert sorted(bars) == [
        ("gpu(0)", "copy"),
        ("gpu(0)", "dot"),
        ("gpu(1)", "copy"),
        ("gpu(1)", "dot"),
    ]
    trace.write(recording, tmp_path / "page.html")

# SPDX-License-Identifier: Apache-2.0
"""Devices with queues and shares of their own, and copies as tasks between them."""

from __future__ import annotations

import threading
from typing import Any

import numpy as onp
import pytest
from support import output_of, runs_later

import afterglow as mx
from afterglow import engine, nd
from afterglow._interoperation.host_calls import declare_host


def test_setting_and_what_is_refused() -> None:
    assert engine.devices() == 0
    assert engine.set_devices(2) == 0
    assert engine.devices() == 2
    assert engine.set_devices(None) == 2
    assert engine.set_devices(onp.int64(0)) == 0
    for wrong in (-1, 257):
        with pytest.raises(mx.MXNetError, match=rf"\[set_devices\] got {wrong}.*0 to 256"):
            engine.set_devices(wrong)
    with pytest.raises(TypeError, match=r"\[set_devices\].*2.5"):
        engine.set_devices(2.5)  # type: ignore[arg-type]
    assert engine.devices() == 0


_PROGRAM = """
from afterglow import engine, nd
def chain(ctx):
    x = nd.arange(40000, ctx=ctx).reshape((200, 200)) / 40000
    for _ in range(12):
        x = nd.dot(x, x)
        x = nd.softmax(x) + nd.random.uniform(shape=(200, 200), ctx=ctx).sum(axis=0)
    return x
mx.random.seed(3)
results = [chain(mx.cpu(i)) for i in range(3)]
moved = sum((one.as_in_context(mx.cpu(1)) for one in results), nd.zeros((200, 200), mx.cpu(1)))
print(engine.devices(), moved.asnumpy().tobytes().hex()[:4000:7])
print([float(one.sum().asscalar()).hex() for one in results])
"""


def test_bits_do_not_depend_on_shares() -> None:
    plain = output_of(_PROGRAM, AFTERGLOW_NUM_THREADS="4")
    for count in ("1", "2", "3"):
        told = output_of(_PROGRAM, AFTERGLOW_NUM_THREADS="4", AFTERGLOW_DEVICES=count)
        assert told[0].split()[0] == count
        assert [told[0].split()[1], told[1]] == [plain[0].split()[1], plain[1]]


@runs_later
def test_no_more_threads_than_the_share_compute_for_a_device() -> None:
    told = output_of(
        """
        from afterglow import engine, nd, trace
        xs = [nd.ones((600, 600), ctx=mx.cpu(i)) for i in range(2)]
        mx.nd.waitall()
        trace.start()
        for _ in range(6):
            ys = [nd.dot(x, x) for x in xs]
        mx.nd.waitall()
        recording = trace.stop()
        calls, runs = recording.calls, recording.runs
        device = dict(zip(calls["pass"].tolist(), calls["device"].tolist()))
        for name in ("cpu(0)", "cpu(1)"):
            mine = [device[one] == recording.texts.index(name) for one in runs["pass"].tolist()]
            begin, end = runs["begin"][mine], runs["end"][mine]
            print(max(((begin <= at) & (end > at)).sum() for at in begin.tolist()))
        """,
        AFTERGLOW_NUM_THREADS="4",
        AFTERGLOW_DEVICES="3",  # shares of 2, 1 and 1
    )
    assert int(told[0]) <= 2
    assert told[1] == "1"


@declare_host("when_it_opens", infer=lambda a, gate: a)
def _when_it_opens(a: Any, *, gate: threading.Event) -> Any:
    """Return the array when the gate is open."""
    assert gate.wait(30)
    return a


@runs_later
def test_a_copy_is_a_task_that_waits_for_its_source_and_for_nothing_else() -> None:
    gate = threading.Event()
    x = nd.ones((300, 300), ctx=mx.cpu(0))
    late = _when_it_opens(x, gate=gate)
    there = late.as_in_context(mx.cpu(1))  # returns although its source is not computed
    ahead = nd.dot(x.as_in_context(mx.cpu(1)), nd.ones((300, 300), ctx=mx.cpu(1)))
    assert ahead.asnumpy()[0, 0] == 300  # the other device goes on meanwhile
    assert not there.is_ready()
    gate.set()
    assert there.asnumpy().sum() == 90000
    assert there.context == mx.cpu(1)


@runs_later
def test_copies_are_tasks_of_their_own() -> None:
    x = nd.ones((500, 500), ctx=mx.cpu(0))
    x.wait_to_read()
    with engine.record() as events:
        copied = (nd.exp(x) * 2 + 1).as_in_context(mx.cpu(1))
        after = nd.exp(copied) + copied
        mx.nd.waitall()
    assert after.context == mx.cpu(1)
    assert "copy" in {event.op for event in events if event.what == "started"}

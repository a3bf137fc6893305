# SPDX-License-Identifier: Apache-2.0
"""What a recording tells is what the program did."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator

import numpy
import pytest
from support import run_child

from afterglow import autograd, engine, gluon, nd, trace
from afterglow.error import MXNetError
from afterglow.trace.recording import DROPPED, PENDING, RAN, Recording


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    yield
    if trace.is_recording():
        trace.stop()


def texts(recording: Recording, table: str, column: str) -> list[str]:
    return [recording.texts[number] for number in getattr(recording, table)[column]]


def this_line() -> str:
    frame = sys._getframe(1)
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"


def test_calls_have_ops_lines_shapes_and_bytes() -> None:
    x = nd.ones((2, 3))
    trace.start()
    y, line = x + 1, this_line()
    nd.dot(y, y, transpose_b=True).wait_to_read()
    recording = trace.stop()
    assert texts(recording, "calls", "op") == ["add", "dot"]
    assert texts(recording, "calls", "site")[0] == line
    assert texts(recording, "calls", "shapes") == [
        "(2, 3) float32, a number -> (2, 3) float32",
        "(2, 3) float32, (2, 3) float32 -> (2, 2) float32",
    ]
    assert recording.calls["bytes"].tolist() == [24, 16]
    assert recording.calls["state"].tolist() == [RAN, RAN]
    assert recording.lost == 0


def test_a_call_runs_after_it_was_issued_and_before_the_end() -> None:
    trace.start()
    y = nd.ones((300, 300))
    for _ in range(20):
        y = nd.dot(y, y) / 300
    y.wait_to_read()
    recording = trace.stop()
    calls, runs = recording.calls, recording.runs
    assert (calls["begin"] <= calls["end"]).all()
    for call in range(len(calls["op"])):
        mine = runs["pass"] == calls["pass"][call]
        assert mine.any()
        assert runs["begin"][mine].min() >= calls["end"][call]
        assert runs["end"][mine].max() <= recording.duration


def test_dropped_calls_and_passes_are_those_that_the_engine_counts() -> None:
    x = nd.ones((300, 300))
    x.wait_to_read()
    nd.waitall()
    before = engine.stats()
    trace.start()
    kept = []
    for _ in range(50):
        y = x + 1
        kept.append((x * 2).exp())
    z = y.sum()
    for one in (z, *kept):
        one.wait_to_read()
    nd.waitall()
    recording = trace.stop()
    after = engine.stats()
    states = Counter(recording.calls["state"].tolist())
    assert states[DROPPED] == after["dropped"] - before["dropped"] > 0
    assert states[RAN] == after["run"] - before["run"]
    assert states[PENDING] == 0
    sizes = Counter(recording.calls["pass"][recording.calls["state"] == RAN].tolist())
    fused = [size for size in sizes.values() if size > 1]
    assert len(fused) == after["fused"] - before["fused"]
    assert sum(fused) == after["fused_calls"] - before["fused_calls"]


def test_shares_of_a_pass_are_all_there_and_do_not_overlap_on_a_thread() -> None:
    trace.start()
    x = nd.random.normal(shape=(1500, 1500))
    (nd.dot(x, x) + 1).wait_to_read()
    recording = trace.stop()
    runs = recording.runs
    for one in set(runs["pass"].tolist()):
        shares = sorted(runs["share"][runs["pass"] == one].tolist())
        assert shares == list(range(len(shares)))
    for thread in range(len(recording.threads)):
        mine = runs["thread"] == thread
        order = numpy.argsort(runs["begin"][mine])
        begins, ends = runs["begin"][mine][order], runs["end"][mine][order]
        assert (begins[1:] >= ends[:-1]).all()


def test_waits_name_their_lines_and_what_they_wait_for() -> None:
    trace.start()
    x = nd.random.normal(shape=(600, 600))
    nd.dot(x, x).asnumpy()
    read = this_line()
    y = nd.dot(x, x)
    nd.waitall()
    every = this_line()
    y.asnumpy()
    recording = trace.stop()
    seen = dict(
        zip(texts(recording, "waits", "site"), texts(recording, "waits", "what"), strict=True)
    )
    lines = {site.rsplit(":", 1)[1].split()[0]: what for site, what in seen.items()}
    read_line = str(int(read.rsplit(":", 1)[1].split()[0]) - 1)
    every_line = str(int(every.rsplit(":", 1)[1].split()[0]) - 1)
    assert lines[read_line] == "read"
    assert lines[every_line] == "waitall"
    assert "asnumpy" in texts(recording, "calls", "op")  # copied out by a task


def test_a_value_that_is_there_is_no_wait() -> None:
    x = nd.ones((2, 2))
    x.wait_to_read()
    trace.start()
    x.wait_to_read()
    assert not len(trace.stop().waits["begin"])


def test_running_ahead_too_far_is_a_wait() -> None:
    before = engine.set_run_ahead(bytes=1 << 20)
    try:
        trace.start()
        kept = [nd.random.normal(shape=(256, 256)) for _ in range(40)]
        nd.waitall()
    finally:
        engine.set_run_ahead(bytes=before.bytes)
    assert len(kept) == 40
    recording = trace.stop()
    assert "run-ahead" in texts(recording, "waits", "what")
    # The time is not counted as that of issuing as well.
    calls, waits = recording.calls, recording.waits
    for begin, end in zip(waits["begin"], waits["end"], strict=True):
        assert not ((calls["begin"] < begin) & (calls["end"] > end)).any()


def test_threads_have_lanes_with_their_names() -> None:
    trace.start()
    issued, looked = threading.Event(), threading.Event()

    def work() -> None:
        nd.tanh(nd.ones((3,))).wait_to_read()
        issued.set()
        looked.wait(60)

    thread = threading.Thread(target=work, name="reader of batches")
    thread.start()
    assert issued.wait(60)
    nd.exp(nd.ones((1,))).wait_to_read()
    recording = trace.stop()
    looked.set()
    thread.join()
    assert recording.threads[:2] == ["MainThread", "reader of batches"]
    lanes = dict(
        zip(texts(recording, "calls", "op"), recording.calls["thread"].tolist(), strict=True)
    )
    assert (lanes["exp"], lanes["tanh"]) == (0, 1)


def test_threads_that_have_ended_keep_their_names() -> None:
    def work() -> None:
        nd.tanh(nd.ones((3,))).wait_to_read()

    ordinary = threading.Thread.start
    trace.start()
    # All alive at once, or the system would give one number to several.
    barrier = threading.Barrier(3)
    threads = [
        threading.Thread(target=lambda: (work(), barrier.wait(60)), name=f"gone {number}")
        for number in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recording = trace.stop()
    lanes = recording.threads[: recording.python_threads]
    assert sorted(lanes) == ["gone 0", "gone 1", "gone 2"]
    assert threading.Thread.start is ordinary


def test_layers_are_named_by_the_path_that_leads_to_them() -> None:
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(4, activation="relu"), gluon.nn.Dense(2))
    net.initialize()
    x = nd.ones((3, 5))
    net(x).wait_to_read()
    trace.start()
    with autograd.record():
        loss = net(x).sum()
    loss.backward()
    net[0].weight.grad().wait_to_read()
    recording = trace.stop()
    pairs = list(
        zip(texts(recording, "calls", "op"), texts(recording, "calls", "layer"), strict=True)
    )
    first, second = net[0].name, net[1].name
    assert ("dot", f"net.0.{first}") in pairs
    assert ("dot", f"net.1.{second}") in pairs
    assert ("sum", "") in pairs
    forward = pairs.index(("sum", ""))
    assert ("dot", f"net.0.{first}") in pairs[forward:]  # its gradients belong to it as well


def test_replayed_calls_keep_their_layers() -> None:
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(4, activation="relu"), gluon.nn.Dense(2))
    net.initialize()
    net.hybridize()
    x = nd.ones((3, 5))
    for _ in range(3):
        net(x).wait_to_read()
    trace.start()
    net(x).wait_to_read()
    layers = set(texts(trace.stop(), "calls", "layer"))
    assert {f"net.0.{net[0].name}", f"net.1.{net[1].name}"} <= layers


def test_errors_name_the_layer() -> None:
    class Picks(gluon.Block):
        def forward(self, x: nd.NDArray) -> nd.NDArray:
            return nd.take(nd.ones((2,)), x, mode="raise")

    net = gluon.nn.Sequential()
    net.add(Picks())
    result = net(nd.array([7]))
    with pytest.raises(IndexError, match=r"in layer net\.0\.picks\d+"):
        result.asnumpy()


def test_too_many_events_are_counted_and_left_out() -> None:
    trace.start(most_events=10)
    x = nd.ones((1,))
    for _ in range(10_000):
        x = x + 1
    x.wait_to_read()
    recording = trace.stop()
    assert recording.lost > 0
    assert len(recording.calls["op"]) < 10_000


def test_nothing_is_recorded_while_paused() -> None:
    trace.start()
    trace.pause()
    (nd.ones((1,)) + 1).wait_to_read()
    trace.resume()
    nd.zeros((1,)).wait_to_read()
    assert texts(trace.stop(), "calls", "op") == ["full"]


def test_one_recording_at_a_time() -> None:
    trace.start()
    with pytest.raises(MXNetError, match="already"):
        trace.start()
    trace.stop()
    with pytest.raises(MXNetError, match="no recording"):
        trace.stop()


def test_memory_in_use_is_sampled() -> None:
    trace.start()
    for size in (1 << 20, 1 << 22):
        x = nd.ones((size,))
        x.wait_to_read()
        time.sleep(0.001)
        (x + 1).wait_to_read()
    memory = trace.stop().memory
    assert (numpy.diff(memory["time"]) >= 0).all()
    assert memory["bytes"].max() >= 4 << 22


@pytest.mark.parametrize("kind", ["serial", "threaded"])
def test_forks_and_exit(kind: str) -> None:
    child = run_child(
        """
        import os
        from afterglow import nd, trace
        trace.start()
        x = nd.ones((100, 100))
        y = nd.dot(x, x)
        child = os.fork()
        if child == 0:
            y.wait_to_read()
            print(trace.is_recording(), flush=True)
            trace.start()
            (y + 1).wait_to_read()
            print(len(trace.stop().calls["op"]), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        y.wait_to_read()
        recording = trace.stop()
        print([recording.texts[op] for op in recording.calls["op"]], len(recording.runs["pass"]))
        trace.start()
        z = nd.dot(x, x)
        """,
        AFTERGLOW_ENGINE=kind,
    )
    assert child.code == 0, child.err
    assert child.out.splitlines() == ["False", "1", "['full', 'dot'] 2"]

# SPDX-License-Identifier: Apache-2.0
"""mx.timer: waits for what its thread issued inside, and for nothing else."""

from __future__ import annotations

import math
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from support import busy_engine, output_of

import afterglow as mx
from afterglow import _core, timing

threaded = pytest.mark.skipif(mx.engine.is_serial(), reason="a serial engine never runs ahead")


def test_everything_issued_inside_is_finished() -> None:
    x = mx.nd.ones((600, 600))
    target = mx.nd.zeros((600, 600))
    with mx.timer() as timer:
        y = mx.nd.dot(x, x)
        target[:] = y
        target += 1
        tiny = mx.nd.ones((2,)) + 1
    assert mx.engine.stats()["pending"] == 0
    assert y.is_ready()
    assert tiny.is_ready()
    assert target[0, 0].asscalar() == 601
    assert 0 <= timer.issue <= timer.total
    assert timer.run > 0


@threaded
def test_nothing_else_is_waited_for() -> None:
    with busy_engine() as others:
        with mx.timer():
            y = mx.nd.ones((3,)) + 1
        assert y.is_ready()
        assert not all(target.is_ready() for target in others)


@threaded
def test_other_threads_are_not_waited_for() -> None:
    x = mx.nd.ones((1500, 1500))
    targets: list[Any] = [mx.nd.zeros((1500, 1500)) for _ in range(2)]
    mx.nd.waitall()

    def issue() -> None:
        for number in range(40):
            mx.nd.dot(x, x, out=targets[number % 2])
        for target in targets:
            target.is_ready()  # publishes what it needs

    other = threading.Thread(target=issue)
    with mx.timer():
        other.start()
        other.join()
        y = mx.nd.ones((3,)) + 1
    assert y.is_ready()
    assert not all(target.is_ready() for target in targets)
    targets.clear()  # those that do not run yet are dropped


def test_nested_timers_end_one_after_the_other() -> None:
    x = mx.nd.ones((500, 500))
    with mx.timer() as outer:
        before = mx.nd.dot(x, x)
        with mx.timer() as inner:
            y = mx.nd.dot(x, x)
        assert y.is_ready()
        after = mx.nd.dot(y, before)
    assert after.is_ready()
    assert inner.total <= outer.issue <= outer.total


def test_times_are_taken_at_the_right_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 10.25, 13.0])
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    batch = SimpleNamespace(
        begin=lambda: None,
        end=lambda: None,
        wait=lambda: None,
        computing_nanoseconds=lambda: 4_000_000_000,
    )
    monkeypatch.setattr(timing, "_core", SimpleNamespace(Batch=lambda: batch))
    with mx.timer() as timer:
        assert math.isnan(timer.issue)
        assert math.isnan(timer.total)
        assert str(timer) == "not finished"
    assert (timer.issue, timer.total, timer.run) == (0.25, 3.0, 4.0)
    assert str(timer) == "issued in 250 ms, finished after 3 s, 4 s of computing"
    assert repr(timer) == f"<Timer: {timer}>"


@threaded
def test_a_block_that_raises_is_not_waited_for() -> None:
    with busy_engine() as others:
        timer = mx.timer()

        def work() -> None:
            with timer:
                others.append(mx.nd.dot(others[0], others[1]))
                raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            work()
        assert not others[-1].is_ready()
        assert timer.issue >= 0
        assert math.isnan(timer.total)
        assert math.isnan(timer.run)
        assert str(timer).startswith("issued in ")
        assert str(timer).endswith(", not finished")


def test_a_timer_can_be_used_again() -> None:
    x = mx.nd.ones((400, 400))
    timer = mx.timer()
    with pytest.raises(KeyError), timer:
        raise KeyError
    with timer:
        y = mx.nd.dot(x, x)
    assert y.is_ready()
    assert timer.total >= timer.issue


def test_failures_stay_with_the_array() -> None:
    x = mx.nd.ones((3,))
    x.wait_to_read()
    if mx.engine.is_serial():
        pytest.skip("raised at the call")
    with mx.timer() as timer:
        _core.inject_failure(0, 1)
        y = x + 1
    assert timer.total > 0
    with pytest.raises(ValueError, match="issued at"):
        y.asnumpy()


def test_a_running_timer_cannot_be_entered() -> None:
    timer = mx.timer()
    with pytest.raises(RuntimeError, match="running already"), timer, timer:
        pass
    with timer:
        pass
    assert timer.total >= 0


def test_a_block_without_work() -> None:
    with mx.timer() as timer:
        pass
    assert 0 <= timer.issue <= timer.total


def test_serial_engine() -> None:
    lines = output_of(
        """
        x = mx.nd.ones((200, 200))
        with mx.timer() as outer, mx.timer() as inner:
            y = mx.nd.dot(x, x)
        print(y[0, 0].asscalar(), inner.issue <= inner.total <= outer.total, outer.run > 0)
        print(mx.benchmark(mx.nd.dot, x, x, samples=3, calls=2).calls)
        """,
        AFTERGLOW_ENGINE="serial",
    )
    assert lines == ["200.0 True True", "2"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ns"),
        (12.4e-9, "12 ns"),
        (0.9994e-6, "999 ns"),
        (0.9996e-6, "1 us"),
        (2.5e-6, "2.5 us"),
        (84.12e-3, "84.1 ms"),
        (163.4e-3, "163 ms"),
        (0.99951, "1 s"),
        (99.96, "100 s"),
        (4321.0, "4321 s"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert timing._duration(seconds) == text


def test_the_import_does_not_pay_for_it() -> None:
    assert output_of(
        """
        print("afterglow.timing" in sys.modules)
        mx.timer, mx.benchmark
        print("afterglow.timing" in sys.modules, "timer" in mx.__all__, "benchmark" in mx.__all__)
        """
    ) == ["False", "True True True"]

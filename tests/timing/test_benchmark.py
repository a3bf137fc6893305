# SPDX-License-Identifier: Apache-2.0
"""mx.benchmark: nothing is dropped, everything is waited for, and the figures are those of it."""

from __future__ import annotations

import gc
import threading
from types import SimpleNamespace
from typing import Any

import numpy as onp
import pytest
from support import gained

import afterglow as mx
from afterglow import _core, timing


def test_every_call_is_computed() -> None:
    """In a loop that keeps nothing, almost all of these would be dropped."""
    x = mx.nd.ones((300, 300))
    mx.nd.waitall()
    before = mx.engine.stats()
    result = mx.benchmark(lambda: x + 1, samples=4, calls=100)
    counted = gained(before)
    assert counted["issued"] == 401
    assert counted["dropped"] == 0
    assert counted["run"] == 401
    assert (result.calls, len(result.samples)) == (100, 4)


def test_work_in_place_is_waited_for() -> None:
    w = mx.nd.zeros((500, 500))

    def update() -> None:
        nonlocal w
        w += 1

    mx.benchmark(update, samples=3, calls=7)
    assert mx.engine.stats()["pending"] == 0
    assert w[3, 4].asscalar() == 22


@pytest.mark.parametrize(
    "shape_of_result",
    [lambda y: y, lambda y: [y, (y, 1)], lambda y: {"a": y, "b": [y]}, lambda y: None],
    ids=["array", "list", "dict", "None"],
)
def test_results_of_any_form(shape_of_result: Any) -> None:
    x = mx.nd.ones((100, 100))
    made: list[Any] = []

    def work() -> Any:
        made.append(mx.nd.dot(x, x))
        return shape_of_result(made[-1])

    mx.benchmark(work, samples=2, calls=3)
    assert len(made) == 7
    assert all(y.is_ready() for y in made)


def test_results_issued_by_other_threads_are_waited_for() -> None:
    x = mx.nd.ones((700, 700))
    made: list[Any] = []

    def work() -> Any:
        other = threading.Thread(target=lambda: made.append(mx.nd.dot(x, x)))
        other.start()
        other.join()
        return made[-1]

    mx.benchmark(work, samples=2, calls=1)
    assert all(y.is_ready() for y in made)


def test_figures_are_those_of_the_samples() -> None:
    x = mx.nd.ones((200, 200))
    result = mx.benchmark(mx.nd.dot, x, x, samples=9)
    assert len(result.samples) == 9
    assert result.median == pytest.approx(onp.median(result.samples))
    assert result.quartiles == pytest.approx(tuple(onp.percentile(result.samples, [25, 75])))
    assert min(result.samples) > 0
    assert 0 < result.issue <= max(result.samples)
    assert result.run > 0


def timer_of(issue: float, total: float, run: float) -> timing.Timer:
    timer = timing.Timer()
    timer.issue, timer.total, timer.run = issue, total, run
    return timer


def test_all_figures_are_per_call() -> None:
    timers = [timer_of(0.01, 0.1, 0.16), timer_of(0.03, 0.3, 0.4), timer_of(0.02, 0.2, 0.3)]
    result = timing.Measurement("f", 10, timers)
    assert result.samples == pytest.approx([0.01, 0.03, 0.02])
    assert (result.median, result.issue, result.run) == pytest.approx((0.02, 0.002, 0.03))
    assert result.quartiles == pytest.approx((0.015, 0.025))
    assert str(result) == (
        "f: 20 ms (15 ms to 25 ms), issued in 2 ms, 30 ms of computing; 3 samples of 10 calls"
    )
    assert repr(result) == f"<Measurement of {result}>"
    one = timing.Measurement("g", 1, timers[:1])
    assert one.quartiles == (0.1, 0.1)
    assert str(one).endswith("; 1 sample of 1 call")


def test_short_calls_are_gathered_into_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock on which each call takes 10 us."""
    now = 0.0

    def work() -> None:
        nonlocal now
        now += 1e-5

    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: now))
    result = mx.benchmark(work, samples=5)
    assert 100 <= result.calls <= 1000
    assert result.samples == pytest.approx([1e-5] * 5)
    assert result.issue == pytest.approx(1e-5)


def test_slow_functions_get_few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    now, calls = 0.0, 0

    def work() -> None:
        nonlocal now, calls
        now += 2.0
        calls += 1

    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: now))
    assert len(mx.benchmark(work, seconds=1.0).samples) == 3
    assert calls == 4
    assert len(mx.benchmark(work, seconds=9.0).samples) == 5
    assert len(mx.benchmark(work, samples=2).samples) == 2


def test_failures_are_raised() -> None:
    x = mx.nd.ones((3,))

    def wrong() -> Any:
        _core.inject_failure(0, 1)
        return x + 1

    with pytest.raises(ValueError, match="issued at"):
        mx.benchmark(wrong)
    with pytest.raises(ZeroDivisionError):
        mx.benchmark(lambda: 1 // 0)
    with pytest.raises(TypeError, match="argument"):
        mx.benchmark(lambda: 1, 2)


def test_the_collector_is_as_before() -> None:
    """The collector is off in every test already."""
    running: list[bool] = []
    mx.benchmark(lambda: running.append(gc.isenabled()), samples=1, calls=1)
    assert not gc.isenabled()
    gc.enable()
    try:
        mx.benchmark(lambda: running.append(gc.isenabled()), samples=1, calls=1)
        assert gc.isenabled()
        with pytest.raises(ZeroDivisionError):
            mx.benchmark(lambda: 1 // 0)
        assert gc.isenabled()
    finally:
        gc.disable()
    assert not any(running)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"samples": 0}, "samples must be a positive integer, got 0"),
        ({"samples": 2.5}, "samples must be a positive integer, got 2.5"),
        ({"calls": -1}, "calls must be a positive integer, got -1"),
        ({"seconds": 0}, "seconds must be a positive number, got 0"),
        ({"seconds": float("nan")}, "seconds must be a positive number, got nan"),
        ({"seconds": "3"}, "seconds must be a positive number, got '3'"),
    ],
)
def test_bad_options(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        mx.benchmark(lambda: None, **options)


def test_a_result_instead_of_a_function() -> None:
    with pytest.raises(TypeError, match=r"got NDArray; needed is a function.*lambda"):
        mx.benchmark(mx.nd.ones((2,)) + 1)  # type: ignore[arg-type]

# SPDX-License-Identifier: Apache-2.0
"""The engine's figures, and that nothing is kept longer than it is needed."""

from __future__ import annotations

import gc
import threading
import time
from typing import Any

import pytest

import afterglow as mx
from afterglow import _core

FIGURES = (
    "issued",
    "run",
    "dropped",
    "fused",
    "pending",
    "pending_bytes",
    "live_bytes",
    "peak_bytes",
)


def settled(most: int = 0) -> dict[str, int]:
    """Return the figures when the live bytes have come down to ``most``, or will not any more.

    A worker releases what a call held just after the call is done, and the next call takes it back.
    """
    for _ in range(50):
        mx.nd.waitall()
        (mx.nd.ones((1,)) + 1).wait_to_read()
        stats = mx.engine.stats()
        if stats["live_bytes"] <= most:
            break
        time.sleep(0.002)
    return stats


def adds_up(stats: dict[str, int]) -> None:
    assert set(FIGURES) <= set(stats)
    assert all(isinstance(stats[name], int) and stats[name] >= 0 for name in FIGURES)
    assert stats["issued"] == stats["run"] + stats["dropped"] + stats["pending"]
    assert stats["live_bytes"] <= stats["peak_bytes"]


def test_figures_add_up_at_any_time() -> None:
    adds_up(mx.engine.stats())
    x = mx.nd.ones((100, 100))
    y = x
    for step in range(300):
        y = y + x
        if step % 10 == 0:
            y = mx.nd.dot(y, x) * 0.01
        adds_up(mx.engine.stats())
    mx.nd.waitall()
    adds_up(mx.engine.stats())


def test_counts() -> None:
    before = settled()
    x = mx.nd.ones((4,))
    kept = [x + i for i in range(9)]
    during = mx.engine.stats()
    assert during["issued"] - before["issued"] == 10
    after = settled()
    assert after["pending"] == after["pending_bytes"] == 0
    done = after["run"] + after["dropped"] - before["run"] - before["dropped"]
    assert done == after["issued"] - before["issued"]
    assert after["run"] - before["run"] >= 10  # all ten results are still held
    assert float(kept[8][0]) == 9


def test_pending_bytes() -> None:
    settled()
    x = mx.nd.ones((1000, 1000))
    products = [mx.nd.dot(x, x) for _ in range(40)]
    stats = mx.engine.stats()
    assert 0 < stats["pending_bytes"] <= 41 * 4_000_000
    assert stats["pending"] >= 1
    assert stats["pending_bytes"] <= stats["pending"] * 4_000_000
    mx.nd.waitall()
    assert mx.engine.stats()["pending_bytes"] == 0
    assert float(products[-1][0, 0]) == 1000


def test_live_bytes_follow_the_arrays() -> None:
    base = settled()["live_bytes"]
    x = mx.nd.ones((500, 1000))
    assert 2_000_000 <= settled()["live_bytes"] - base < 2_600_000
    y = x + 1
    view = y[10:20]
    assert 4_000_000 <= settled()["live_bytes"] - base < 5_200_000
    del y
    assert settled()["live_bytes"] - base >= 4_000_000  # the view holds it
    del view
    assert settled(base + 2_600_000)["live_bytes"] - base < 2_600_000
    del x
    assert settled(base)["live_bytes"] == base


def test_peak() -> None:
    base = settled()["live_bytes"]
    mx.memory.reset_peak()
    x = mx.nd.ones((500, 1000))
    x.wait_to_read()
    del x
    stats = settled(base)
    assert stats["live_bytes"] == base
    assert base + 2_000_000 <= stats["peak_bytes"] < base + 2_700_000
    mx.memory.reset_peak()
    assert mx.engine.stats()["peak_bytes"] == mx.engine.stats()["live_bytes"]


def program(front: Any) -> float:
    x = front.ones((300, 300))
    total = front.zeros((300, 300))
    for step in range(20):
        y = front.dot(x, x) * 0.001 + step
        view = y[5:50]
        view += 1
        total += y
        z = y.T.sum(axis=0)
        z[1:] = z[:-1]
    return float(total.sum())


@pytest.mark.parametrize("front", [mx.nd, mx.np])
def test_nothing_leaks(front: Any) -> None:
    program(front)
    base = settled()["live_bytes"]
    handles = _core.live_handles()
    for _ in range(5):
        program(front)
    assert settled(base)["live_bytes"] == base
    assert _core.live_handles() == handles


def test_nothing_leaks_in_a_thread() -> None:
    program(mx.nd)
    base = settled()["live_bytes"]
    threads = [threading.Thread(target=program, args=(mx.nd,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert settled(base)["live_bytes"] == base


def test_nothing_leaks_after_failures() -> None:
    base = settled()["live_bytes"]
    handles = _core.live_handles()
    for calls in range(30):
        x = mx.nd.ones((200, 200))
        _core.inject_failure(calls % 10, 0)
        for _ in range(10):
            x = x + 1
            x[3:5] = x[4:6]
        with pytest.raises(mx.MXNetError, match="injected"):
            x.asnumpy()
        del x
    assert settled(base)["live_bytes"] == base
    assert _core.live_handles() == handles


def test_a_million_calls_are_released() -> None:
    """A long chain is given back without recursion and without growth."""
    base = settled()["live_bytes"]
    x = mx.nd.zeros((2,))
    for _ in range(200_000):
        x = x + 1
    assert x.asnumpy().tolist() == [200_000] * 2
    del x
    assert settled(base)["live_bytes"] == base


def test_no_cycle_keeps_an_array_alive() -> None:
    gc.collect()
    gc.disable()
    try:
        handles = _core.live_handles()
        x = mx.nd.ones((3, 4))
        y = mx.np.ones((3, 4))
        repr(x), repr(y), x.T, y.T, x[1:], y[1:], x.sum(), y.mean(), list(x), y.tolist()
        x[1] = 2
        y += 1
        del x, y
        mx.nd.waitall()
        assert _core.live_handles() == handles
    finally:
        gc.enable()

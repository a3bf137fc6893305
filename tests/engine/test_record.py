# SPDX-License-Identifier: Apache-2.0
"""The engine's record: what ran when, and on which thread."""

import time

import pytest
from support import within_tries

import afterglow as mx

threaded = pytest.mark.skipif(
    mx.engine.is_serial() or mx.engine.thread_limit() < 2, reason="needs two computing threads"
)


def spans(events: list[mx.engine.Event], op: str) -> list[tuple[int, int, int]]:
    """Return (start, end, thread) of every share of the op."""
    starts = {
        (event.task, event.share): event
        for event in events
        if event.what == "started" and event.op == op
    }
    return [
        (starts[event.task, event.share].nanoseconds, event.nanoseconds, event.thread)
        for event in events
        if event.what == "finished" and (event.task, event.share) in starts
    ]


def test_every_task_is_pushed_started_and_finished_in_that_order() -> None:
    x = mx.nd.ones((300, 300))
    begin = time.monotonic_ns()
    with mx.engine.record() as events:
        product = mx.nd.dot(x, x)
        mx.nd.waitall()
    end = time.monotonic_ns()
    times = {
        what: [e.nanoseconds for e in events if e.what == what]
        for what in ("pushed", "started", "finished")
    }
    assert all(times.values())
    assert begin <= min(times["pushed"]) <= min(times["started"]) <= max(times["finished"]) <= end
    assert {event.op for event in events} >= {"dot"}
    assert product.is_ready()


def test_nothing_is_recorded_outside_of_the_scope() -> None:
    x = mx.nd.ones((300, 300))
    with mx.engine.record() as events:
        pass
    mx.nd.dot(x, x).wait_to_read()
    assert [event for event in events if event.op == "dot"] == []


@threaded
def test_one_product_is_shared_by_two_threads() -> None:
    x = mx.nd.ones((1200, 1200))
    x.wait_to_read()

    def attempt() -> bool:
        with mx.engine.record() as events:
            mx.nd.dot(x, x).wait_to_read()
        return len({thread for _, _, thread in spans(events, "dot")}) == 2

    within_tries(attempt, "every product was computed by one thread")


@threaded
def test_never_more_shares_at_once_than_threads_may_compute() -> None:
    x = mx.nd.ones((700, 700))
    with mx.engine.record() as events:
        kept = [mx.nd.dot(x, x) for _ in range(6)]
        mx.nd.waitall()
    assert len(kept) == 6
    running = most = 0
    for event in sorted(events, key=lambda event: event.nanoseconds):
        running += {"started": 1, "finished": -1}.get(event.what, 0)
        most = max(most, running)
    assert 1 <= most <= mx.engine.thread_limit()

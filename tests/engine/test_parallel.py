# SPDX-License-Identifier: Apache-2.0
"""What does not depend on each other runs side by side: told by the engine's record."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support import within_tries

import afterglow as mx

pytestmark = pytest.mark.skipif(
    mx.engine.is_serial() or mx.engine.thread_limit() < 2, reason="needs two computing threads"
)

Span = tuple[int, int]


def spans(
    events: list[mx.engine.Event], wanted: Callable[[mx.engine.Event], bool]
) -> list[tuple[Span, int]]:
    """Return ((start, end), task) of every share of the wanted tasks."""
    starts = {
        (event.task, event.share): event.nanoseconds
        for event in events
        if event.what == "started" and wanted(event)
    }
    return [
        ((starts[event.task, event.share], event.nanoseconds), event.task)
        for event in events
        if event.what == "finished" and (event.task, event.share) in starts
    ]


def overlaps(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def test_two_chains_run_side_by_side() -> None:
    """Products too small to be cut: each chain can use one thread only."""
    x = mx.nd.ones((120, 120)) * (1 / 120)
    x.wait_to_read()

    def attempt() -> bool:
        with mx.engine.record() as events:
            left, right = x, x
            for _ in range(40):
                left = mx.nd.dot(left, x)
                right = mx.nd.dot(right, x)
            mx.nd.waitall()
        assert float(left[0, 0]) == float(right[0, 0])
        found = spans(events, lambda event: event.op.startswith("dot"))
        return any(
            overlaps(one, other) for one, task in found for other, rival in found if task < rival
        )

    within_tries(attempt, "two independent chains never ran at the same time")


def test_calls_of_one_chain_never_overlap() -> None:
    x = mx.nd.ones((300, 300)) * (1 / 300)
    x.wait_to_read()
    with mx.engine.record() as events:
        y = x
        for _ in range(20):
            y = mx.nd.dot(y, x)
            y.is_ready()
        mx.nd.waitall()
    found = spans(events, lambda event: event.op.startswith("dot"))
    assert len({task for _, task in found}) == 20
    for one, task in found:
        for other, rival in found:
            assert task == rival or not overlaps(one, other)


def test_readers_run_side_by_side_and_a_writer_waits_for_them() -> None:
    x = mx.nd.ones((1200, 1200))
    x.wait_to_read()
    with mx.engine.record() as events:
        kept = [mx.nd.dot(x, x) for _ in range(2)]
        for product in kept:
            product.is_ready()
        x *= 2
        x.is_ready()
        after = mx.nd.dot(x, x)
        mx.nd.waitall()
    products = spans(events, lambda event: event.op.startswith("dot"))
    (writer,) = {task for _, task in spans(events, lambda event: event.op.startswith("multiply"))}
    order = {event.task: event.nanoseconds for event in events if event.what == "pushed"}
    written = [span for span, task in spans(events, lambda event: event.task == writer)]
    for span, task in products:
        for other in written:
            assert not overlaps(span, other)
            assert (span[1] <= other[0]) == (order[task] < order[writer])
    assert [float(product[0, 0]) for product in kept] == [1200, 1200]
    assert float(after[0, 0]) == 4800


def test_copy_between_contexts_overlaps_with_compute() -> None:
    """A context has a queue of its own: copies do not stand in line behind products."""
    x = mx.nd.ones((900, 900))
    data = mx.nd.ones((3000, 2000))
    mx.nd.waitall()

    def attempt() -> bool:
        with mx.engine.record() as events:
            products = [mx.nd.dot(x, x) for _ in range(6)]
            for product in products:
                product.is_ready()
            copies = [data.copyto(mx.cpu(1)) for _ in range(4)]
            for copy in copies:
                copy.is_ready()
            mx.nd.waitall()
        assert {copy.context for copy in copies} == {mx.cpu(1)}
        assert float(copies[-1][2999, 1999]) == 1
        copied = spans(events, lambda event: event.op.startswith("copy"))
        computed = spans(events, lambda event: event.op.startswith("dot"))
        return any(overlaps(one, other) for one, _ in copied for other, _ in computed)

    within_tries(attempt, "no copy ran while a product did")


def test_contexts_compute_side_by_side() -> None:
    def attempt() -> bool:
        with mx.engine.record() as events:
            results = []
            for context in (mx.cpu(0), mx.cpu(1)):
                x = mx.nd.ones((120, 120), ctx=context) * (1 / 120)
                for _ in range(40):
                    x = mx.nd.dot(x, x)
                results.append(x)
            mx.nd.waitall()
        assert [result.context for result in results] == [mx.cpu(0), mx.cpu(1)]
        assert float(results[0][0, 0]) == float(results[1][0, 0])
        found = spans(events, lambda event: "dot" in event.op)
        return any(
            overlaps(one, other) for one, task in found for other, rival in found if task < rival
        )

    within_tries(attempt, "two contexts never computed at the same time")


def test_wait_to_read_of_an_intermediate_value_returns_early() -> None:
    """It waits for what it reads, not for what was issued after it."""
    x = mx.nd.ones((1500, 1500)) * (1 / 1500)
    x.wait_to_read()
    first = mx.nd.dot(x, x)
    rest = first
    for _ in range(40):
        rest = mx.nd.dot(rest, x)
    first.wait_to_read()
    assert not rest.is_ready()
    assert first.is_ready()
    assert float(first[0, 0]) > 0
    assert not rest.is_ready()
    del rest  # what does not run yet is dropped


def test_reading_a_small_value_does_not_wait_for_large_work() -> None:
    x = mx.nd.ones((1500, 1500))
    x.wait_to_read()
    work = [mx.nd.dot(x, x) for _ in range(20)]
    for product in work:
        product.is_ready()
    small = mx.nd.ones((3,))
    assert (small * 2 + 1).asnumpy().tolist() == [3, 3, 3]
    assert not work[-1].is_ready()


def test_fused_pass_is_shared_by_threads() -> None:
    x = mx.nd.ones((3000, 3000))
    x.wait_to_read()

    def attempt() -> bool:
        with mx.engine.record() as events:
            y = mx.nd.sqrt(x * 3 + 1) * 2
            y.wait_to_read()
        assert float(y[5, 7]) == 4
        threads = {event.thread for event in events if event.what == "finished"}
        return len(threads) >= 2

    within_tries(attempt, "a pass over 36 MB was always run by one thread")


def test_never_more_at_once_than_threads_may_compute() -> None:
    x = mx.nd.ones((500, 500)) * (1 / 500)
    with mx.engine.record() as events:
        chains = [x + number for number in range(6)]
        for _ in range(4):
            chains = [mx.nd.relu(mx.nd.dot(chain, x) - 1) + 1 for chain in chains]
        mx.nd.waitall()
    running = most = 0
    for event in sorted(events, key=lambda event: event.nanoseconds):
        running += {"started": 1, "finished": -1}.get(event.what, 0)
        most = max(most, running)
    assert 1 <= most <= mx.engine.thread_limit()

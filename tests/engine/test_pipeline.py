# SPDX-License-Identifier: Apache-2.0
"""engine.pipeline: at most so many batches in flight. And the bulk size, a hint."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from support import gained, output_of

import afterglow as mx
from afterglow import _core

threaded = pytest.mark.skipif(mx.engine.is_serial(), reason="needs the threaded engine")


def finished_before_next_starts(depth: int, count: int = 12) -> None:
    """Check with the record that batch t has finished when batch t + depth begins to be issued.

    Everything of a batch depends on the product before it, so that batches run one by one and the
    record shows them in order.
    """
    x = mx.nd.ones((400, 400))
    x.wait_to_read()
    y = x
    with mx.engine.record() as events:
        for _ in mx.engine.pipeline(range(count), depth):
            y = mx.nd.dot(y, x) * (1 / 400)
            y.is_ready()  # published at once
        mx.nd.waitall()
    pushed: list[int] = []
    ended: dict[int, int] = {}
    for event in events:
        if event.op.startswith("dot") and event.what == "pushed":
            pushed.append(event.task)
        if event.what == "finished":
            ended[event.task] = max(ended.get(event.task, 0), event.nanoseconds)
    times = {event.task: event.nanoseconds for event in events if event.what == "pushed"}
    assert len(pushed) == count
    for number in range(count - depth):
        assert ended[pushed[number]] <= times[pushed[number + depth]]
    assert float(y[0, 0]) == pytest.approx(1, rel=1e-3)


@threaded
@pytest.mark.parametrize("depth", [1, 2, 3, 20])
def test_batch_has_finished_when_the_next_but_depth_starts(depth: int) -> None:
    finished_before_next_starts(depth)


@threaded
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_results_of_finished_batches_are_ready(depth: int) -> None:
    x = mx.nd.ones((300, 300))
    x.wait_to_read()
    results: list[Any] = []
    for number in mx.engine.pipeline(range(15), depth):
        if number >= depth:
            assert results[number - depth].is_ready()
        results.append(mx.nd.dot(x + number, x).sum())
    assert [float(result) for result in results] == [300**3 * (n + 1) for n in range(15)]


@threaded
def test_small_calls_are_finished_too() -> None:
    """They are never published by themselves."""
    x = mx.nd.ones((3,))
    results: list[Any] = []
    before = mx.engine.stats()
    for number in mx.engine.pipeline(range(50), 2):
        results.append(x + number)
        if number >= 2:
            assert gained(before)["run"] >= number - 2
    assert [float(result[0]) for result in results] == list(range(1, 51))


def test_items_are_handed_on_in_order() -> None:
    assert list(mx.engine.pipeline("abcd", depth=3)) == list("abcd")
    assert list(mx.engine.pipeline([])) == []
    assert list(mx.engine.pipeline(iter(()), depth=1)) == []
    objects = [object() for _ in range(4)]
    for given, found in zip(objects, mx.engine.pipeline(objects), strict=True):
        assert given is found


def test_an_iterator_is_asked_as_late_as_possible() -> None:
    """Loading a batch is not part of the batch before, and nothing is loaded ahead."""
    loaded: list[int] = []

    def loader() -> Iterator[int]:
        for number in range(6):
            loaded.append(number)
            yield number

    for number in mx.engine.pipeline(loader(), depth=2):
        assert loaded == list(range(number + 1))


@pytest.mark.parametrize("bad", [0, -1, 1.5, "2", None])
def test_bad_depth(bad: Any) -> None:
    """At the call, not at the first batch."""
    with pytest.raises(ValueError, match="depth must be a positive integer"):
        mx.engine.pipeline([1, 2], bad)


def test_bad_batches() -> None:
    with pytest.raises(TypeError):
        list(mx.engine.pipeline(3))  # type: ignore[arg-type]


@threaded
@pytest.mark.parametrize("inner_depth", [1, 2])
@pytest.mark.parametrize("outer_depth", [1, 2])
def test_nested(outer_depth: int, inner_depth: int) -> None:
    """Calls of an inner batch belong to the outer one as well."""
    x = mx.nd.ones((200, 200))
    x.wait_to_read()
    inner_results: list[list[Any]] = []
    for outer in mx.engine.pipeline(range(6), outer_depth):
        if outer >= outer_depth:
            assert all(result.is_ready() for result in inner_results[outer - outer_depth])
        results: list[Any] = []
        for inner in mx.engine.pipeline(range(5), inner_depth):
            if inner >= inner_depth:
                assert results[inner - inner_depth].is_ready()
            results.append(mx.nd.dot(x, x + inner).max())
        inner_results.append(results)
    for results in inner_results:
        assert [float(result) for result in results] == [200 * (inner + 1) for inner in range(5)]


@threaded
def test_side_by_side() -> None:
    """Two pipelines of one thread that are not nested: each keeps its own promise."""
    x = mx.nd.ones((300, 300))
    x.wait_to_read()
    results: list[Any] = []
    one, other = mx.engine.pipeline(range(12), 1), mx.engine.pipeline(range(12), 3)
    for number, _ in zip(one, other, strict=True):
        if number:
            assert results[number - 1].is_ready()
        results.append(mx.nd.dot(x, x).max() + number)
    assert [float(result) for result in results] == [300 + number for number in range(12)]


@threaded
def test_early_break_ends_the_batch() -> None:
    x = mx.nd.ones((300, 300))
    for number in mx.engine.pipeline(range(10)):
        y = mx.nd.dot(x, x)
        if number == 4:
            break
    # Later calls belong to no batch, and another pipeline knows nothing of the first.
    z = y + 1
    for _ in mx.engine.pipeline(range(3), 1):
        z = z + 1
    assert float(z[0, 0]) == 304


def test_exception_in_the_body() -> None:
    x = mx.nd.ones((300, 300))

    def body() -> None:
        for number in mx.engine.pipeline(range(10)):
            mx.nd.dot(x, x)
            if number == 3:
                raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        body()
    assert list(mx.engine.pipeline(range(3))) == [0, 1, 2]
    assert float((x + 1)[0, 0]) == 2


def test_exception_of_the_loader() -> None:
    def loader() -> Iterator[int]:
        yield 1
        raise OSError("no more files")

    seen = []

    def body() -> None:
        for number in mx.engine.pipeline(loader()):
            seen.append(number)

    with pytest.raises(OSError, match="no more files"):
        body()
    assert seen == [1]


def test_abandoned_pipeline() -> None:
    """A generator that is closed, or never ended, leaves later calls alone."""
    x = mx.nd.ones((3,))
    batches = mx.engine.pipeline(range(5))
    assert next(iter(batches)) == 0
    y = x + 1
    batches.close()  # type: ignore[attr-defined]
    kept = mx.engine.pipeline(range(5))
    next(kept)
    y = y + 1
    del kept
    assert y.asnumpy().tolist() == [3, 3, 3]


@threaded
def test_failures_are_raised_by_reads_only() -> None:
    x = mx.nd.ones((300, 300))
    x.wait_to_read()
    results = []
    for number in mx.engine.pipeline(range(6), 1):
        if number == 2:
            _core.inject_failure(0, 0)
        results.append(mx.nd.dot(x, x))
    for number, result in enumerate(results):
        if number == 2:
            with pytest.raises(mx.MXNetError, match="injected"):
                result.asnumpy()
        else:
            assert float(result[0, 0]) == 300


@threaded
@pytest.mark.parametrize("size", [3, 300])
@pytest.mark.parametrize("depth", [1, 2])
def test_dropped_calls_count_as_finished(size: int, depth: int) -> None:
    """A batch whose results nobody wants holds nobody up."""
    x = mx.nd.ones((size, size))
    x.wait_to_read()
    before = mx.engine.stats()
    for number in mx.engine.pipeline(range(40), depth):
        mx.nd.dot(x, x) + number
    mx.nd.waitall()
    change = gained(before)
    assert change["issued"] == change["run"] + change["dropped"] == 80
    assert change["dropped"] > 0


@threaded
def test_each_thread_has_its_own_pipeline() -> None:
    problems: list[str] = []
    x = mx.nd.ones((150, 150))
    x.wait_to_read()

    def work(number: int) -> None:
        try:
            depth = 1 + number % 3
            results: list[Any] = []
            for step in mx.engine.pipeline(range(25), depth):
                if step >= depth:
                    assert results[step - depth].is_ready(), (number, step)
                results.append(mx.nd.dot(x + number, x).max() + step)
            expected = [150 * (number + 1) + step for step in range(25)]
            assert [float(result) for result in results] == expected
        except BaseException as problem:
            problems.append(repr(problem))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert problems == []


@threaded
def test_calls_of_another_thread_belong_to_no_batch() -> None:
    """A batch that issues nothing itself is finished, whatever others do meanwhile."""
    x = mx.nd.ones((1200, 1200))
    x.wait_to_read()
    held: list[Any] = []

    def work() -> None:
        held.extend(mx.nd.dot(x, x) for _ in range(30))

    for number in mx.engine.pipeline(range(4), 1):
        if number == 1:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
    assert not held[-1].is_ready()


def test_memory_stays_bounded() -> None:
    (line,) = output_of(
        """
        import numpy as onp
        host = onp.ones((500, 1000), dtype="float32")
        w = mx.nd.ones((1000, 200)) * 0.001
        total = mx.nd.zeros((500, 200))
        mx.nd.waitall()
        mx.engine.set_run_ahead(float("inf"), float("inf"))
        mx.memory.reset_peak()
        base = mx.memory.active()
        for number in mx.engine.pipeline(range(100), depth=2):
            total += mx.nd.dot(mx.nd.array(host), w)
        print(mx.memory.peak() - base < 8 * 2**20, round(float(total[0, 0]), 1))
        """
    )
    assert line == "True 100.0"


@pytest.mark.parametrize("engine", ["threaded", "serial"])
def test_values_are_those_of_a_plain_loop(engine: str) -> None:
    settings = {"AFTERGLOW_ENGINE": "serial"} if engine == "serial" else {}
    lines = output_of(
        """
        def train(batches):
            mx.random.seed(1)
            w = mx.nd.random.normal(0, 1, shape=(40, 30))
            losses = []
            for number in batches:
                x = mx.nd.random.uniform(0, 1, shape=(20, 40))
                y = mx.nd.relu(mx.nd.dot(x, w))
                losses.append(mx.nd.square(y).mean())
                w -= mx.nd.dot(x.T, y) * 0.001
            return [float(loss) for loss in losses]
        plain = train(range(20))
        print([train(mx.engine.pipeline(range(20), depth)) == plain for depth in (1, 2, 7)])
        """,
        **settings,
    )
    assert lines == ["[True, True, True]"]


def test_fork_inside_a_pipeline() -> None:
    lines = output_of(
        """
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        x = mx.nd.ones((300, 300))
        results = []
        for number in mx.engine.pipeline(range(6), 2):
            results.append(mx.nd.dot(x, x) + number)
            if number == 3:
                pid = os.fork()
                if pid == 0:
                    code = 1
                    try:
                        for inner in mx.engine.pipeline(range(3), 1):
                            results.append(x + inner)
                        code = 0 if float(results[2][0, 0]) == 302 else 2
                    finally:
                        os._exit(code)
                print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        print([float(result[0, 0]) for result in results])
        """
    )
    assert lines == ["0", str([300.0 + number for number in range(6)])]


# --- bulk ---


def test_bulk_size_is_a_hint() -> None:
    first = mx.engine.set_bulk_size(15)
    try:
        assert mx.engine.set_bulk_size(3) == 15
        with mx.engine.bulk(10):
            x = mx.nd.ones((3,))
            for _ in range(20):
                x = x + 1
            assert mx.engine.set_bulk_size(10) == 10
        assert mx.engine.set_bulk_size(first) == 3
        assert x.asnumpy().tolist() == [21, 21, 21]
    finally:
        mx.engine.set_bulk_size(first)


def test_bulk_scope_ends_with_an_exception() -> None:
    first = mx.engine.set_bulk_size(7)
    try:
        with pytest.raises(RuntimeError), mx.engine.bulk(2):
            raise RuntimeError
        assert mx.engine.set_bulk_size(7) == 7
    finally:
        mx.engine.set_bulk_size(first)


def test_bad_bulk_size() -> None:
    with pytest.raises(TypeError, match="size must be an integer"):
        mx.engine.set_bulk_size("many")  # type: ignore[arg-type]

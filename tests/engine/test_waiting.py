# SPDX-License-Identifier: Apache-2.0
"""Contract 2: what waits, for what, and for how long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest
from support import output_of

import afterglow as mx
from afterglow import _core


def products(count: int, size: int = 1000) -> Any:
    """Return the last of a chain of products, which takes a while."""
    x = mx.nd.ones((size, size))
    y = x
    for _ in range(count):
        y = mx.nd.dot(y, x) * (1 / size)
    return y


def measured(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


@pytest.fixture(autouse=True)
def idle_afterwards() -> Any:
    mx.nd.waitall()
    yield
    mx.nd.waitall()


def test_timeout() -> None:
    y = products(100)
    with pytest.raises(TimeoutError):
        y.wait_to_read(timeout=0.02)
    with pytest.raises(TimeoutError):
        y.wait_to_write(timeout=0.02)
    with pytest.raises(TimeoutError):
        y.wait_to_read(timeout=0)
    assert not y.is_ready()
    y.wait_to_read()
    onp.testing.assert_allclose(y.asnumpy(), 1, rtol=1e-4)


def test_timeout_is_kept() -> None:
    y = products(60)
    start = time.perf_counter()
    with pytest.raises(TimeoutError):
        y.wait_to_read(timeout=0.05)
    assert 0.04 < time.perf_counter() - start < 0.5
    y.wait_to_read()


def test_timeout_of_what_is_ready() -> None:
    x = mx.nd.ones((2,)) + 1
    x.wait_to_read(timeout=10)
    x.wait_to_read(0)
    x.wait_to_read(timeout=None)
    x.wait_to_write(timeout=1e300)


@pytest.mark.parametrize("argument", ["soon", [1]])
def test_timeout_must_be_a_number(argument: object) -> None:
    x = mx.nd.ones((2,))
    with pytest.raises(TypeError):
        x.wait_to_read(timeout=argument)
    with pytest.raises(TypeError):
        x.wait_to_read(until=3)
    with pytest.raises(TypeError):
        x.wait_to_read(1, 2)


WAITS: dict[str, Callable[[Any], object]] = {
    "wait_to_read": lambda x: x.wait_to_read(),
    "asnumpy": lambda x: x.asnumpy(),
    "item": lambda x: x[:1, :1].reshape((1,)).item(),
    "float": lambda x: float(x[0, 0]),
    "bool": lambda x: bool(x[0, 0] > 0),
    "repr": repr,
}


@pytest.mark.parametrize("name", WAITS)
def test_waits_only_for_what_it_reads(name: str) -> None:
    x = mx.nd.ones((300, 300))
    early = x + 1
    late = products(60)
    WAITS[name](early)
    assert not late.is_ready(), "the wait took as long as the work behind it"
    later = x * 2  # issued behind the queue, but independent of it
    WAITS[name](later)
    assert not late.is_ready()
    late.wait_to_read()


def test_intermediate_does_not_wait_for_what_follows() -> None:
    x = mx.nd.ones((1000, 1000))
    middle = mx.nd.dot(x, x)
    y = middle
    for _ in range(60):
        y = mx.nd.dot(y, x) * 0.001
    assert middle.asnumpy()[0, 0] == 1000
    assert not y.is_ready()
    y.wait_to_read()


def test_reading_waits_for_no_reader_writing_does() -> None:
    x = mx.nd.ones((1000, 1000))
    x.wait_to_read()
    readers = [mx.nd.dot(x, x) for _ in range(40)]
    assert measured(x.wait_to_read) < 0.5
    assert not readers[-1].is_ready()
    x.wait_to_write()
    assert all(reader.is_ready() for reader in readers)


def test_waitall_waits_for_everything() -> None:
    arrays = [products(3, 400) for _ in range(4)] + [mx.nd.ones((2,)) + 1]
    mx.nd.waitall()
    assert all(array.is_ready() for array in arrays)
    assert mx.engine.stats()["pending"] == 0


def test_is_ready_never_blocks() -> None:
    y = products(60)
    assert min(measured(y.is_ready) for _ in range(5)) < 0.02
    assert not y.is_ready()
    y.wait_to_read()
    assert y.is_ready()


def figure_becomes(name: str, reached: Callable[[int], bool], seconds: float = 10) -> bool:
    """Tell whether a figure of the engine gets there although nobody asks for a value."""
    end = time.monotonic() + seconds
    while not reached(_core.statistics()[name]) and time.monotonic() < end:
        time.sleep(0.002)
    return reached(_core.statistics()[name])


@pytest.mark.parametrize("front", [mx.nd, mx.np])
def test_large_work_runs_although_nobody_asks(front: Any) -> None:
    x = front.ones((2000, 2000))
    x.wait_to_read()
    y = x + 1
    assert figure_becomes("pending", lambda pending: pending == 0)
    assert y.is_ready()
    assert (y.asnumpy() == 2).all()


def test_held_work_adds_up_and_runs() -> None:
    x = mx.nd.ones((100, 100))
    x.wait_to_read()
    before = _core.statistics()["run"]
    arrays = [x + i for i in range(60)]  # each is tiny, together they are worth a thread
    assert figure_becomes("run", lambda run: run - before >= 10)
    assert float(arrays[-1][0, 0]) == 60


def test_is_ready_makes_tiny_work_ready() -> None:
    x = mx.nd.ones((2,)) + 1
    for _ in range(1000):
        if x.is_ready():
            break
        time.sleep(0.001)
    assert x.is_ready()


WAITS_WITHOUT_GIL: dict[str, Callable[[Any], object]] = {
    "wait_to_read": lambda y: y.wait_to_read(),
    "wait_to_read with a timeout": lambda y: y.wait_to_read(timeout=60),
    "wait_to_write": lambda y: y.wait_to_write(),
    "waitall": lambda y: mx.nd.waitall(),
    "asnumpy": lambda y: y.asnumpy(),
    "float": lambda y: float(y[0, 0]),
}


@pytest.mark.parametrize("name", WAITS_WITHOUT_GIL)
def test_waiting_releases_the_gil(name: str) -> None:
    y = products(60)
    progress = 0
    done = threading.Event()

    def count() -> None:
        nonlocal progress
        while not done.is_set():
            progress += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    before = progress
    seconds = measured(lambda: WAITS_WITHOUT_GIL[name](y))
    during = progress - before
    done.set()
    thread.join()
    assert seconds > 0.05, "too quick to tell"
    assert during > 10


def test_two_waits_at_once() -> None:
    one, other = products(10, 600), products(12, 600)
    threads = [threading.Thread(target=array.wait_to_read) for array in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert one.is_ready()
    assert other.is_ready()


def test_helpers_stand_in_for_workers() -> None:
    """With a limit of one thread, six threads that wait compute one at a time."""
    lines = output_of(
        """
        def products():
            x = mx.nd.ones((600, 600))
            y = x
            for _ in range(20):
                y = mx.nd.dot(y, x)
            return y
        threads = [threading.Thread(target=products().wait_to_read) for _ in range(6)]
        wall, cpu = time.perf_counter(), time.process_time()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(cpu / wall)
        """,
        AFTERGLOW_NUM_THREADS="1",
    )
    assert float(lines[0]) < 1.4

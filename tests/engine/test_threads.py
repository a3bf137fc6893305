# SPDX-License-Identifier: Apache-2.0
"""Contract 6: any array from any Python thread; scopes belong to a thread."""

from __future__ import annotations

import random
import resource
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest
from support import run_child

import afterglow as mx
from afterglow import _core

THREADS = 8


def run_threads(work: Callable[[int], None]) -> None:
    """Call ``work(0)`` to ``work(7)`` at once; raises what any of them raises."""
    problems: list[str] = []
    start = threading.Barrier(THREADS)

    def run(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as problem:
            problems.append(f"thread {number}: {problem!r}")

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert problems == []


@pytest.mark.parametrize("front", [mx.nd, mx.np])
def test_private_arrays(front: Any) -> None:
    def work(number: int) -> None:
        chance = random.Random(number)
        x = front.ones((50, 60)) * number
        expected = onp.ones((50, 60)) * number
        for step in range(150):
            kind = chance.randrange(5)
            if kind == 0:
                x, expected = x + 1, expected + 1
            elif kind == 1:
                x[10:20] = step
                expected[10:20] = step
            elif kind == 2:
                x -= x[:1]
                expected = expected - expected[:1]
            elif kind == 3:
                large = front.ones((400, 400)) + step
                assert (large.asnumpy() == step + 1).all()
            else:
                onp.testing.assert_array_equal(x.asnumpy(), expected)
        onp.testing.assert_array_equal(x.asnumpy(), expected)

    run_threads(work)


def test_shared_arrays_are_read_by_all() -> None:
    shared = [mx.nd.ones((300, 300)) * i for i in range(5)]
    products = [mx.nd.dot(x, x) for x in shared]

    def work(number: int) -> None:
        for step in range(30):
            i = (number + step) % 5
            assert float(products[i][7, 9]) == 300 * i * i
            assert ((shared[i] + number).asnumpy() == i + number).all()

    run_threads(work)


def test_shared_array_is_written_by_all() -> None:
    small = mx.nd.zeros((10,))
    large = mx.nd.zeros((60_000,))
    rows = mx.nd.zeros((THREADS, 500))

    def work(number: int) -> None:
        nonlocal small, large
        row = rows[number]
        for _ in range(200):
            small += 1  # one statement is one call: nothing gets lost
            row += number
            if number % 2:
                large += 1

    run_threads(work)
    assert small.asnumpy().tolist() == [1600] * 10
    assert (large.asnumpy() == 800).all()
    for number, row in enumerate(rows.asnumpy()):
        assert (row == 200 * number).all()


def test_handed_from_thread_to_thread() -> None:
    arrays: list[Any] = [mx.nd.zeros((100, 100))]
    turn = threading.Condition()

    def work(number: int) -> None:
        for _ in range(20):
            with turn:
                turn.wait_for(lambda: (len(arrays) - 1) % THREADS == number)
                arrays.append(arrays[-1] + 1)
                turn.notify_all()

    run_threads(work)
    assert (arrays[-1].asnumpy() == 160).all()


def test_waiting_for_one_another() -> None:
    """Each thread waits for an array of its neighbour while it issues its own."""
    latest: list[Any] = [mx.nd.ones((200, 200)) for _ in range(THREADS)]

    def work(number: int) -> None:
        for _ in range(20):
            neighbour = latest[(number + 1) % THREADS]
            y = mx.nd.dot(neighbour, mx.nd.ones((200, 200))) * (1 / 200)
            latest[number] = y
            assert abs(float(y[3, 4]) - 1) < 1e-3
            if number == 0:
                mx.nd.waitall()

    run_threads(work)


def test_failures_reach_only_those_who_read_them() -> None:
    injecting = threading.Lock()
    shared = mx.nd.ones((5,))
    raised = [0] * THREADS
    injected = [0] * THREADS

    def work(number: int) -> None:
        for step in range(60):
            if number % 2 and step % 3 == 0:
                with injecting:
                    # The failure meets the next call of whichever thread, this one's at the latest.
                    _core.inject_failure(0, 1)
                    y = shared + step
                injected[number] += 1
            else:
                y = shared + step
            try:
                value = y.asnumpy().tolist()
            except ValueError:
                raised[number] += 1
            else:
                assert value == [step + 1] * 5

    run_threads(work)
    assert sum(raised) == sum(injected) == 80
    mx.nd.waitall()  # every failure was raised


def test_failure_raised_in_every_thread() -> None:
    _core.inject_failure(0, 3)
    bad = mx.nd.ones((5,))
    good = mx.nd.ones((5,)) + 1

    def work(number: int) -> None:
        for _ in range(10):
            with pytest.raises(IndexError, match="a failure was injected"):
                (bad + number).asnumpy()
            assert (good + number).asnumpy().tolist() == [number + 2] * 5

    run_threads(work)


def test_exceptions_at_the_call_in_some_threads() -> None:
    def work(number: int) -> None:
        for _ in range(50):
            if number % 2:
                with pytest.raises(ValueError, match="broadcast"):
                    mx.nd.ones((2, 3)) + mx.nd.ones((2, number + 4))
            else:
                assert float((mx.nd.ones((2, 3)) + 1).sum()) == 12

    run_threads(work)


def test_context_scopes_are_per_thread() -> None:
    entered = threading.Barrier(THREADS)

    def work(number: int) -> None:
        assert mx.current_context() == mx.cpu(0)
        with mx.cpu(number):
            entered.wait()
            assert mx.current_context() == mx.cpu(number)
            assert mx.nd.ones((2,)).context == mx.cpu(number)
            with mx.cpu(number + 1):
                entered.wait()
                assert mx.np.ones((2,)).ctx == mx.cpu(number + 1)
            assert mx.current_context() == mx.cpu(number)
            entered.wait()
        assert mx.current_context() == mx.cpu(0)

    with mx.cpu(7):
        run_threads(work)
        assert mx.current_context() == mx.cpu(7)
    assert mx.current_context() == mx.cpu(0)


def test_contexts_work_side_by_side() -> None:
    arrays = [mx.nd.ones((300, 300), ctx=mx.cpu(i)) for i in range(4)]
    for _ in range(5):
        arrays = [mx.nd.dot(a, a.as_in_context(a.context)) * (1 / 300) for a in arrays]
        arrays = [a.as_in_context(mx.cpu((i + 1) % 4)) for i, a in enumerate(arrays)]
        arrays = arrays[-1:] + arrays[:-1]
    for i, array in enumerate(arrays):
        assert array.context == mx.cpu(i)
        onp.testing.assert_allclose(array.asnumpy(), 1, rtol=1e-4)


def test_handles_released_in_other_threads() -> None:
    before = _core.live_handles()
    shared: list[Any] = [mx.nd.ones((100,)) + i for i in range(2000)]

    def work(number: int) -> None:
        while True:
            try:
                shared.pop()
            except IndexError:
                return

    run_threads(work)
    mx.nd.waitall()
    assert _core.live_handles() == before


#: No stack is as large as this limit says that the stacks of new threads are to be.
REFUSED = """
import os, resource, sys
if len(sys.argv) < 2:
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (2**50, most))
    os.execv(sys.executable, [sys.executable, "-c", {script!r}, "again"])
"""
SCRIPT = """
import os, threading
try:
    threading.Thread(target=print).start()
except RuntimeError as error:
    print(error)
import afterglow as mx
from afterglow._interoperation.host_calls import declare_host
x = mx.nd.ones((600, 600))
y = mx.nd.dot(x, x)
add = declare_host("plus_one", infer=lambda a: a)(lambda a: a + 1)
z = add(y) * 2
print(float(z[0, 0]))
mx.nd.waitall()
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")
def test_a_system_that_refuses_threads() -> None:
    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        pytest.skip("the limit cannot be raised here")
    script = REFUSED.format(script=SCRIPT)
    done = run_child(script, prelude=False, OPENBLAS_NUM_THREADS="1")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == ["can't start new thread", "1202.0", "1"]

# SPDX-License-Identifier: Apache-2.0
"""Ops whose work is a NumPy function: queued, ordered and failing like all others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as onp
import pytest
from support import output_of, raises_at_the_read, run_child, runs_later

from afterglow import MXNetError, nd, np
from afterglow._arrays.dtypes import FLOAT64, INT32, INT64
from afterglow._interoperation.host_calls import Spec, declare_host


@declare_host("function", infer=lambda a, function, cost: a, cost=lambda a, function, cost: cost)
def queued_function(a, *, function, cost=0.0):
    """Return what a function does, which keeps shape and type."""
    return function(a)


def queued(function, x, cost=0.0):
    return queued_function(x, function=function, cost=cost)


@declare_host(
    "signs_and_sizes",
    infer=lambda a: [Spec(a.shape, INT32), Spec(a.shape, FLOAT64)],
    cost=lambda a: 1e3,
)
def split(a):
    """Return signs and sizes."""
    return onp.sign(a), onp.abs(a)


@declare_host("in_order", infer=lambda a: [Spec(a.shape, INT64), a])
def sort(a):
    """Return places and values in order."""
    return onp.argsort(a), onp.sort(a)


def test_returns_before_the_function_has_run():
    go_on = threading.Event()
    x = nd.ones((3,))

    def slow(a):
        go_on.wait(10)
        return a + 1

    y = queued(slow, x)
    z = y * 2
    assert not y.is_ready()
    x[:] = 5  # after the call in program order: it still sees the ones
    go_on.set()
    assert z.asnumpy().tolist() == [4, 4, 4]
    assert isinstance(y, nd.NDArray)


def test_what_is_quick_is_computed_at_once_by_this_thread():
    x = np.array([1.0, 2.0])
    threads = []

    def add(a):
        threads.append(threading.get_ident())
        return a + 1

    y = queued(add, x + 0, cost=1e3)
    assert threads == [threading.get_ident()]
    assert y.is_ready()
    assert y.asnumpy().tolist() == [2, 3]
    sign, size = split(np.array([[-3.0, 2.0]]))
    assert sign.is_ready()
    assert size.is_ready()
    assert sign.asnumpy().tolist() == [[-1, 1]]
    assert sign.dtype == onp.int32
    assert size.asnumpy().tolist() == [[3, 2]]
    assert size.dtype == onp.float64


def test_what_is_quick_waits_for_nothing():
    go_on = threading.Event()
    x = nd.ones((2,))
    slow = queued(lambda a: (go_on.wait(10), a)[1], x)
    y = queued(lambda a: a + 1, slow, cost=1e3)
    assert not y.is_ready()
    go_on.set()
    assert y.asnumpy().tolist() == [2, 2]


def test_a_quick_call_that_fails_tells_of_it_at_the_read():
    singular = np.zeros((2, 2))
    y = np.linalg.inv(singular)
    with pytest.raises(ValueError, match=r"(?s)\[inverse\] Singular .*test_host_calls.py"):
        y.wait_to_read()
    with pytest.raises(ValueError, match="Singular"):
        np.linalg.inv(y).wait_to_read()


def test_several_results_and_types():
    x = np.array([[3.0, 1.0], [2.0, 4.0]])
    order, values = sort(x)
    assert order.asnumpy().tolist() == [[1, 0], [0, 1]]
    assert order.dtype == onp.int64
    assert values.asnumpy().tolist() == [[1, 3], [2, 4]]


@pytest.mark.parametrize("dtype", ["float16", "float64", "uint8", "int8", "int32", "int64", "bool"])
def test_sees_every_type_and_layout(dtype):
    host = onp.arange(12).reshape(3, 4).astype(dtype)
    x = np.array(host, dtype=dtype).T
    y = queued(lambda a: a, x)
    onp.testing.assert_array_equal(y.asnumpy(), host.T)


def test_an_exception_poisons_the_result():
    singular = nd.zeros((2, 2))
    y = queued(onp.linalg.inv, singular)
    z = y + 1
    with pytest.raises(ValueError, match=r"(?s)\[function\] Singular .*\(2, 2\).*test_host_calls"):
        z.asnumpy()
    assert nd.ones((1,)).asscalar() == 1


def test_an_exception_without_words_is_told_by_its_class():
    class SilentError(Exception):
        def __str__(self):
            raise LookupError

    def fail(error):
        def function(a):
            raise error

        return queued(function, nd.ones((2,)))

    for error, text in [(SilentError(), "SilentError"), (ValueError("\ud800"), "ValueError")]:
        with pytest.raises(MXNetError, match=text):
            fail(error).wait_to_read()


def test_the_array_given_cannot_be_written():
    x = nd.ones((2,))

    def write(a):
        a[0] = 5
        return a

    y = queued(write, x)
    with pytest.raises(ValueError, match="read-only"):
        y.wait_to_read()
    assert x.asnumpy().tolist() == [1, 1]


@pytest.mark.parametrize("threads", ["1", "4"])
def test_long_chains_and_exit_with_work_queued(threads):
    program = """
import time
from afterglow import nd
from afterglow._interoperation.host_calls import declare_host
add = declare_host("plus_one", infer=lambda a: a)(lambda a: a + 1)
rest = declare_host("rest", infer=lambda a: a)(lambda a: (time.sleep(0.02), a)[1])
x = nd.zeros((4,))
for _ in range(300):
    x = add(x) * 1
print(x.asnumpy().tolist(), flush=True)
kept = [rest(x) for _ in range(20)]
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "AFTERGLOW_NUM_THREADS": threads},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[300.0, 300.0, 300.0, 300.0]\n"


def test_one_thread_runs_them_all_and_it_is_none_of_those_that_wait():
    seen = []
    x = nd.ones((2,))
    for _ in range(20):
        x = queued(lambda a: (seen.append(threading.get_ident()), a)[1], x) * 1
        x.wait_to_read()
    assert len(set(seen)) == 1
    assert seen[0] != threading.get_ident()


def test_a_wait_inside_for_what_depends_on_the_function_raises():
    for plus in (0, 1):
        arrays, go_on = [], threading.Event()

        def waits(a, arrays=arrays, go_on=go_on):
            go_on.wait(10)
            arrays.pop().wait_to_read()
            return a

        x = queued(waits, nd.ones((2,)))
        arrays.append(x + plus if plus else x)
        go_on.set()
        with pytest.raises(MXNetError, match="depends on that very function"):
            x.wait_to_read()


def test_other_waits_inside_are_as_anywhere():
    x = nd.ones((2,))

    def waits(a):
        nd.waitall()
        z = queued(lambda b: b + 1, nd.ones((2,)))
        return a + z.asnumpy() + (nd.ones((300, 300)) * 2).asnumpy()[0, :2]

    y = queued(waits, x)
    assert (y + 1).asnumpy().tolist() == [6, 6]


class HandlerError(Exception):
    """What handlers of these tests raise."""


def raise_it(number, frame):
    raise HandlerError


@pytest.fixture
def handler():
    before = signal.signal(signal.SIGALRM, raise_it)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_what_a_signal_handler_raises_comes_out_of_the_wait(handler):
    y = queued(lambda a: (time.sleep(0.4), a + 1)[1], nd.ones((2,)))
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    with pytest.raises(HandlerError):
        y.wait_to_read()
    assert y.asnumpy().tolist() == [2, 2]


def test_a_signal_handler_that_raises_in_a_quick_function(handler):
    calls = []

    def interrupted(a):
        calls.append(a)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGALRM)
        return a + 1

    x = nd.ones((2,))
    with pytest.raises(HandlerError):
        queued(interrupted, x, cost=1e3)


SERIAL = """
import signal
from afterglow import nd
from afterglow._interoperation.host_calls import declare_host
@declare_host("f", infer=lambda a, function: a)
def f(a, *, function):
    return function(a)
"""


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "LookupError"])
def test_a_signal_handler_that_raises_under_the_serial_engine(error: str) -> None:
    assert output_of(
        SERIAL
        + f"""
calls = []
def handler(number, frame):
    raise {error}
def interrupted(a):
    calls.append(a)
    if len(calls) == 1:
        signal.raise_signal(signal.SIGALRM)
    return a + 1
signal.signal(signal.SIGALRM, handler)
try:
    y = f(nd.ones((2,)), function=interrupted)
except BaseException as raised:
    print(type(raised).__name__)
nd.waitall()
try:
    f(nd.ones((2,)), function=lambda a: a.nothing)
except Exception as raised:
    print(type(raised).__name__)
print(f(nd.ones((2,)), function=interrupted).asnumpy())
""",
        AFTERGLOW_ENGINE="serial",
    ) == [error, "MXNetError", "[2. 2.]"]


def test_two_threads_under_the_serial_engine():
    assert output_of(
        SERIAL
        + """
problems, calls = [], [0, 0]
def host():
    for _ in range(50):
        y = f(nd.ones((2,)), function=lambda a: (time.sleep(0.001), a)[1])
        calls[0] += 1
def plain():
    x = nd.zeros((2,))
    while calls[0] < 50:
        x = x + 1
        calls[1] += 1
threads = [threading.Thread(target=f, daemon=True) for f in (host, plain, plain)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(30)
print(calls[0], calls[1] >= 20)
""",
        AFTERGLOW_ENGINE="serial",
    ) == ["50 True"]


@pytest.mark.parametrize("engine", ["threaded", "serial"])
def test_exit_does_not_wait_for_a_running_function(engine):
    done = run_child(
        """
        from afterglow import nd
        from afterglow._interoperation.host_calls import declare_host
        running = threading.Event()
        @declare_host("slow", infer=lambda a: a)
        def slow(a):
            running.set()
            time.sleep(600)
            return a
        def issue():
            global y
            y = slow(nd.ones((2,)))
            y.wait_to_read()
        threading.Thread(target=issue, daemon=True).start()
        running.wait()
        """,
        timeout=60,
        AFTERGLOW_ENGINE=engine,
    )
    assert (done.code, done.out, done.err) == (0, "", "")


def test_exit_while_functions_come_back_for_the_lock_of_python():
    # Each lets the GIL go and wants it back every few microseconds while the interpreter ends.
    script = """
        from afterglow import nd
        from afterglow._interoperation.host_calls import declare_host
        @declare_host("rests", infer=lambda a: a)
        def rests(a):
            for _ in range(20):
                time.sleep(0.0002)
            return a
        kept = [rests(nd.ones((2,))) for _ in range(50)]
        kept[{}].wait_to_read()
        """
    for wait in range(4):
        done = run_child(script.format(wait))
        assert (done.code, done.out, done.err) == (0, "", "")


@pytest.fixture
def change():
    """Return a function that queues `change(array)` on arrays in place, as collectives are."""
    from afterglow import _core
    from afterglow.distributed import collectives

    def queue(function, *arrays, skipped=None):
        run = lambda _, hosts: [function(host) for host in hosts]  # noqa: E731
        _core.call_host_on(collectives._OP, run, skipped or (lambda why: None), list(arrays))

    return queue


@runs_later
def test_calls_that_wait_outside_keep_nobody_waiting(change):
    from afterglow import _core

    begun, go_on = threading.Semaphore(0), threading.Event()
    arrays = [nd.full((3,), i) for i in range(5)]

    def wait_and_add(host):
        begun.release()
        assert _core.wait_outside(lambda: go_on.wait(10))
        host += 1

    for array in arrays:
        change(wait_and_add, array)
    later = arrays[0] * 2
    assert queued(lambda a: a + 1, nd.ones((2,))).asnumpy().tolist() == [2, 2]
    for _ in arrays:
        assert begun.acquire(timeout=10)
    child = os.fork()
    if child == 0:  # where nobody will go on: reads raise instead of waiting
        try:
            arrays[0].asnumpy()
        except MXNetError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert not later.is_ready()
    go_on.set()
    assert [array.asnumpy().tolist() for array in arrays] == [[i + 1] * 3 for i in range(5)]
    assert later.asnumpy().tolist() == [2, 2, 2]


@runs_later
def test_what_waits_for_a_host_call_keeps_nothing_else_waiting():
    gate = threading.Event()

    def published():
        """Hand over what is pending, while another thread waits for it."""
        waiter = threading.Thread(target=nd.waitall)
        waiter.start()
        time.sleep(0.2)
        return waiter

    late = queued(lambda a: a + gate.wait(20), nd.ones((3,)))
    waiters = [published()]
    waits = late * 2
    free = nd.zeros((3,)) + 1
    mixed = free + late
    waiters.append(published())
    assert free.asnumpy().tolist() == [1, 1, 1]
    assert not waits.is_ready()
    assert not mixed.is_ready()
    gate.set()
    assert waits.asnumpy().tolist() == [4, 4, 4]
    assert mixed.asnumpy().tolist() == [3, 3, 3]
    for waiter in waiters:
        waiter.join()


def test_a_call_in_place_reads_and_writes(change):
    x, y = nd.arange(4), nd.ones((2,))
    before = x * 1

    def double(host):
        host *= 2

    change(double, x, y)
    x += 1
    assert before.asnumpy().tolist() == [0, 1, 2, 3]
    assert x.asnumpy().tolist() == [1, 3, 5, 7]
    assert y.asnumpy().tolist() == [2, 2]


@raises_at_the_read
def test_a_call_in_place_that_fails_or_cannot_run(change):
    told, x, y = [], nd.ones((2,)), nd.ones((2,))

    def fail(host):
        raise ValueError("not today")

    change(fail, x, skipped=told.append)
    with pytest.raises(ValueError, match=r"not today[^\n]*\n  issued at .*test_host_calls.py"):
        x.asnumpy()
    assert told == []
    change(lambda host: None, y, x, skipped=told.append)
    with pytest.raises(ValueError, match="not today"):
        y.asnumpy()
    assert "not today" in told[0]

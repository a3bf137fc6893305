# SPDX-License-Identifier: Apache-2.0
"""Contract 6: fork with work in flight, in parent and child; other processes."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as onp
import pytest
from support import asks_ps, output_of

import afterglow as mx

# os.fork warns in Python 3.12 and later when there are other threads: that is the point here.
FORK = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)

def in_child(function):
    "Run the function in a forked child; raises unless it returns True there within 20 s."
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if function() else 2
        finally:
            os._exit(code)
    end = time.monotonic() + 20
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0, status
            return
        if time.monotonic() > end:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            raise SystemExit("the child hangs")
        time.sleep(0.001)
"""


def forked(script: str, **settings: str) -> list[str]:
    return output_of(FORK + textwrap.dedent(script), timeout=40, **settings)


@pytest.mark.parametrize("engine", ["threaded", "serial"])
def test_tiny_calls_in_flight(engine: str) -> None:
    settings = {"AFTERGLOW_ENGINE": "serial"} if engine == "serial" else {}
    assert forked(
        """
        for round in range(50):
            x = mx.nd.ones((3,))
            y = x + round
            z = y * 2
            def right():
                values = z.asnumpy().tolist()
                return values == [2 * round + 2] * 3 and float((z + 1).sum()) == 6 * round + 9
            in_child(right)
            assert right()
        print("ok")
        """,
        **settings,
    ) == ["ok"]


def test_published_calls_in_flight() -> None:
    assert forked(
        """
        a = mx.nd.ones((300, 300))
        for round in range(50):
            y = a
            for _ in range(6):
                y = mx.nd.dot(y, a) * (1 / 300)
            z = mx.nd.ones((200, 1000)) + round
            w = (z + 1).sum()
            if round % 3 == 0:
                time.sleep(0.002)
            def right():
                return (
                    abs(y.asnumpy() - 1).max() < 1e-3
                    and (z.asnumpy() == round + 1).all()
                    and float(w) == 200000 * (round + 2)
                )
            in_child(right)
            assert right()
        print("ok")
        """
    ) == ["ok"]


def test_both_go_on_working() -> None:
    assert forked(
        """
        x = mx.nd.ones((400, 400))
        y = mx.nd.dot(x, x)
        def work():
            z = y
            for _ in range(10):
                z = mx.nd.dot(z, x) * (1 / 400)
            mx.nd.waitall()
            return abs(float(z[0, 0]) - 400) < 1 and mx.engine.stats()["pending"] == 0
        for _ in range(10):
            in_child(work)
        assert work()
        print("ok")
        """
    ) == ["ok"]


def test_writes_stay_apart() -> None:
    assert forked(
        """
        x = mx.nd.zeros((100000,))
        x += 1
        def write():
            x[:] = x + 10
            return (x.asnumpy() == 11).all()
        in_child(write)
        assert (x.asnumpy() == 1).all()
        print("ok")
        """
    ) == ["ok"]


def test_a_child_can_fork_again() -> None:
    assert forked(
        """
        x = mx.nd.ones((300, 300))
        y = mx.nd.dot(x, x)
        def generation(left):
            def run():
                if left:
                    in_child(generation(left - 1))
                return float(mx.nd.dot(y, x)[0, 0]) == 90000
            return run
        in_child(generation(4))
        assert generation(0)()
        print("ok")
        """
    ) == ["ok"]


def test_while_other_threads_wait() -> None:
    assert forked(
        """
        x = mx.nd.ones((600, 600))
        for round in range(10):
            y = x
            for _ in range(12):
                y = mx.nd.dot(y, x) * (1 / 600)
            waits = [y.wait_to_read, mx.nd.waitall, y.asnumpy, y.wait_to_write]
            threads = [threading.Thread(target=wait) for wait in waits]
            for thread in threads:
                thread.start()
            time.sleep(0.01)
            z = x + round
            def right():
                return float(z[0, 0]) == round + 1 and abs(float(y[0, 0]) - 1) < 1e-3
            if round % 2:
                in_child(lambda: float(z[0, 0]) == round + 1)
            else:
                in_child(right)
            for thread in threads:
                thread.join()
            assert right()
        print("ok")
        """
    ) == ["ok"]


def test_forks_in_several_threads() -> None:
    assert forked(
        """
        x = mx.nd.ones((500, 500))
        problems = []
        def work(number):
            try:
                for _ in range(5):
                    y = mx.nd.dot(x, x) + number
                    in_child(lambda: float(y[0, 0]) == 500 + number)
                    assert float(y[0, 0]) == 500 + number
            except BaseException as problem:
                problems.append(repr(problem))
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(problems or "ok")
        """
    ) == ["ok"]


def test_other_handlers_may_let_threads_run() -> None:
    # Handlers registered before ours run after it, and may give another thread the GIL.
    script = """
import os, threading, time, warnings
os.register_at_fork(before=lambda: time.sleep(0.005))
from afterglow import nd
warnings.simplefilter("ignore", DeprecationWarning)
stop = threading.Event()
def issue():
    x = nd.ones((300, 300))
    while not stop.is_set():
        nd.dot(x, x)
thread = threading.Thread(target=issue)
thread.start()
for _ in range(20):
    child = os.fork()
    if not child:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
thread.join()
print("ok")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "ok\n", done.stderr


def test_fork_waits_for_queued_functions() -> None:
    assert forked(
        """
        from afterglow._interoperation.host_calls import declare_host
        slow = declare_host("slow", infer=lambda a: a)(lambda a: (time.sleep(0.01), a + 1)[1])
        x = mx.nd.ones((2,))
        for _ in range(10):
            y = slow(x)
            in_child(lambda: y.asnumpy().tolist() == [2, 2])
            assert y.asnumpy().tolist() == [2, 2]
        print("ok")
        """
    ) == ["ok"]


HOST_CALLS_IN_FLIGHT = """
from afterglow._interoperation.host_calls import declare_host
import collections
x = mx.nd.ones((64, 64))
stop = threading.Event()
product = declare_host("product", infer=lambda a: a)(lambda a: a @ a)
add = declare_host("plus_one", infer=lambda a: a)(lambda a: a + 1)
def host():
    kept = collections.deque(maxlen=20)
    while not stop.is_set():
        # NumPy lets the GIL go in between.
        kept.append(product(x))
threads = [threading.Thread(target=host) for _ in range(2)]
for thread in threads:
    thread.start()
y = x
for number in range({forks}):
    if number % 5 == 0:
        y = add(x)
    in_child(lambda: float(y[0, 0]) == 2 and float((x + 1)[0, 0]) == 2)
assert float(y[0, 0]) == 2
stop.set()
for thread in threads:
    thread.join()
print("ok")
"""


@pytest.mark.parametrize("engine", ["threaded", "serial"])
@pytest.mark.parametrize("forks", [20, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_other_threads_queue_functions(engine: str, forks: int) -> None:
    script = FORK + HOST_CALLS_IN_FLIGHT.format(forks=forks)
    assert output_of(script, timeout=20 + forks, AFTERGLOW_ENGINE=engine) == ["ok"]


def test_a_captured_function_holds_no_fork_up() -> None:
    # A function of a recipe is not a call in flight: the queue is not waited for.
    assert forked(
        """
        from afterglow import gluon
        from afterglow._interoperation.host_calls import declare_host
        plus = declare_host("plus", infer=lambda a: a)(lambda a: a + 1)
        class Block(gluon.HybridBlock):
            def forward(self, x):
                return plus(x)
        block = Block()
        block.hybridize()
        for _ in range(4):
            assert block(mx.nd.ones((3,))).asnumpy().tolist() == [2, 2, 2]
        x = y = mx.nd.ones((1500, 1500))
        for _ in range(30):
            y = mx.nd.dot(y, x)
        in_child(lambda: True)
        print(y.is_ready())
        os._exit(0)
        """
    ) == ["False"]


# Python 3.13 lets the lock of imports go in the child, and aborts if nobody has it there: taken by
# PyOS_BeforeFork, which such a program does not call.
AFTER_C_FORK = """
import _imp, ctypes
def after_fork_in_child():
    _imp.acquire_lock()
    ctypes.pythonapi.PyOS_AfterFork_Child()
"""

C_FORK = """
x = mx.nd.ones((600, 600))
y = mx.nd.dot(x, x)
y.wait_to_read()
for number in range(5):
    kept = [mx.nd.dot(x, y) for _ in range(10)]
    kept[0].is_ready()
    time.sleep(0.002 * number)
    pid = ctypes.PyDLL(None).fork()
    if pid == 0:
        after_fork_in_child()
        code = 1
        try:
            code = float(kept[9][0, 0]) != 360000 or float((mx.nd.dot(x, x) + 1)[0, 0]) != 601
        finally:
            os._exit(code)
    end = time.monotonic() + 20
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.kill(pid, 9)
        time.sleep(0.001)
    assert os.waitstatus_to_exitcode(status) == 0, status
    assert float(kept[9][0, 0]) == 360000
print("ok")
"""


def test_a_fork_in_c_that_python_hears_of_only_afterwards() -> None:
    assert output_of(AFTER_C_FORK + C_FORK, timeout=60) == ["ok"]


def test_a_fork_in_c_while_a_function_runs() -> None:
    # The other thread is not in the child: what it computes is lost there, and says so.
    assert output_of(
        AFTER_C_FORK
        + textwrap.dedent("""
        from afterglow._interoperation.host_calls import declare_host
        running, go_on = threading.Event(), threading.Event()
        @declare_host("slow", infer=lambda a: a)
        def slow(a):
            running.set()
            go_on.wait(20)
            return a
        add = declare_host("plus_one", infer=lambda a: a)(lambda a: a + 1)
        y = slow(mx.nd.ones((2,)))
        z = y + 1
        y.is_ready()
        running.wait()
        pid = ctypes.PyDLL(None).fork()
        if pid == 0:
            after_fork_in_child()
            for array in (y, z):
                try:
                    array.asnumpy()
                except mx.MXNetError as error:
                    print("[slow] the process was forked" in str(error))
            print(add(mx.nd.ones((2,))).asnumpy(), flush=True)
            os._exit(0)
        os.waitpid(pid, 0)
        go_on.set()
        print(z.asnumpy())
        """)
    ) == ["True", "True", "[2. 2.]", "[2. 2.]"]


def test_failures_cross_the_fork() -> None:
    assert forked(
        """
        x = mx.nd.ones((3,))
        _core.inject_failure(0, 1)
        bad = x + 1
        good = x + 2
        def right():
            try:
                bad.asnumpy()
            except ValueError:
                return good.asnumpy().tolist() == [3, 3, 3]
            return False
        in_child(right)
        assert right()
        print("ok")
        """
    ) == ["ok"]


def test_random_streams_of_parent_and_child() -> None:
    # The state is copied: the numbers of a child are those the parent would have drawn.
    assert forked(
        """
        mx.random.seed(3)
        expected = mx.nd.random.uniform(0, 1, shape=(4,)).asnumpy().tolist()
        mx.random.seed(3)
        in_child(lambda: mx.nd.random.uniform(0, 1, shape=(4,)).asnumpy().tolist() == expected)
        assert mx.nd.random.uniform(0, 1, shape=(4,)).asnumpy().tolist() == expected
        print("ok")
        """
    ) == ["ok"]


def test_forking_does_not_wait_for_the_queue() -> None:
    assert forked(
        """
        x = mx.nd.ones((700, 700))
        y = x
        for _ in range(1000):
            y = mx.nd.dot(y, x)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            times.append(time.perf_counter() - start)
            os.waitpid(pid, 0)
        ready = y.is_ready()
        print(ready, min(times) < 0.3)
        os._exit(0)
        """
    ) == ["False True"]


@asks_ps
def test_starting_a_subprocess_waits_for_nothing() -> None:
    assert output_of(
        """
        import shutil, subprocess
        x = mx.nd.ones((700, 700))
        y = x
        for _ in range(1000):
            y = mx.nd.dot(y, x)
        times = []
        commands = [["true"], ["ps", "-o", "rss=", "-p", str(os.getpid())], ["true"]]
        for command in commands if shutil.which("ps") else commands[::2]:
            start = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            times.append(time.perf_counter() - start)
        start = time.perf_counter()
        os.popen("true").close()
        os.system("true")
        times.append(time.perf_counter() - start)
        print(y.is_ready(), min(times) < 0.5)
        os._exit(0)
        """
    ) == ["False True"]


MULTIPROCESSING = """
import multiprocessing, sys, warnings
import afterglow as mx
from worker_of_the_test import double

if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)
    context = multiprocessing.get_context(sys.argv[1])
    large = mx.nd.ones((300, 300))
    pending = mx.nd.dot(large, large)  # in flight while the processes start
    with context.Pool(2) as pool:
        arguments = [mx.nd.ones((3,)) * i for i in range(6)] + [mx.np.arange(4) + 1, pending]
        results = pool.map(double, arguments)
        assert [type(r) for r in results] == [type(a) for a in arguments]
        for argument, result in zip(arguments, results):
            assert (result.asnumpy() == 2 * argument.asnumpy()).all()
        pool.close()
        pool.join()
    process = context.Process(target=double, args=(mx.nd.ones((100000,)),))
    process.start()
    process.join(60)
    assert process.exitcode == 0, process.exitcode
    assert float(pending[0, 0]) == 300
    print("ok")
"""

WORKER = """
def double(x):
    assert (x + 0).asnumpy().tolist() == x.asnumpy().tolist()
    return x * 2
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method: str, tmp_path: Path) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    (tmp_path / "worker_of_the_test.py").write_text(WORKER)
    script = tmp_path / "main.py"
    script.write_text(MULTIPROCESSING)
    done = subprocess.run(
        [sys.executable, str(script), method],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")


def test_pickled_arrays_are_equal() -> None:
    x = mx.nd.ones((2, 3), dtype="float64", ctx=mx.cpu(1)) * 3
    y = pickle.loads(pickle.dumps(x))
    assert type(y) is type(x)
    assert y.dtype == x.dtype
    onp.testing.assert_array_equal(y.asnumpy(), x.asnumpy())

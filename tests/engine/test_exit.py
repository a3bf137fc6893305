# SPDX-License-Identifier: Apache-2.0
"""Contract 6: a process ends at once and cleanly, whatever is still pending."""

from __future__ import annotations

import textwrap
import time

import pytest
from support import Finished, run_child

#: 10^4 calls, among them a queue of products that would take far longer than the test may.
PENDING = """
mx.engine.set_run_ahead(seconds=float("inf"))
x = mx.nd.ones((4000, 4000))
y = mx.nd.ones((4, 4000))
for _ in range(2500):
    y = mx.nd.dot(y, x)
s = mx.nd.ones((2,))
kept = []
for _ in range(7500):
    s = s + 1
    kept.append(s)
"""


def child(script: str, timeout: float = 30) -> Finished:
    return run_child(PENDING + textwrap.dedent(script), timeout=timeout)


def ends_well(done: Finished, code: int = 0) -> None:
    assert (done.code, done.err) == (code, "")
    assert done.seconds < 8


def test_end_of_script() -> None:
    ends_well(child(""))


def test_end_of_script_with_reference_cycles() -> None:
    ends_well(child("kept.append(kept)"))


def test_sys_exit() -> None:
    ends_well(child("sys.exit(3)"), 3)


def test_uncaught_exception() -> None:
    done = child("raise LookupError('no way on')")
    assert done.code == 1
    lines = done.err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "LookupError: no way on"
    assert sum(not line.startswith(" ") for line in lines) == 2  # that traceback and nothing else
    assert done.seconds < 8


def test_exception_while_waiting() -> None:
    done = child(
        """
        import signal
        def stop(number, frame):
            raise LookupError("enough")
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        y.wait_to_read()
        """
    )
    assert done.code == 1
    assert done.err.splitlines()[-1] == "LookupError: enough"
    assert done.seconds < 8


@pytest.mark.parametrize(
    "wait", ["y.wait_to_read", "mx.nd.waitall", "y.asnumpy", "y.wait_to_write"]
)
def test_daemon_thread_inside_a_wait(wait: str) -> None:
    ends_well(
        child(
            f"""
            for _ in range(3):
                threading.Thread(target={wait}, daemon=True).start()
            time.sleep(0.05)
            """
        )
    )


def test_daemon_thread_that_issues() -> None:
    ends_well(
        child(
            """
            def issue():
                z = mx.nd.ones((50, 50))
                while True:
                    z = z + 1
                    z.wait_to_read()
            for _ in range(3):
                threading.Thread(target=issue, daemon=True).start()
            time.sleep(0.05)
            """
        )
    )


def test_thread_that_ends_later() -> None:
    done = child(
        """
        def work():
            time.sleep(0.2)
            print((mx.nd.ones((2,)) + 1).asnumpy().tolist())
        threading.Thread(target=work).start()
        """
    )
    ends_well(done)
    assert done.out == "[2.0, 2.0]\n"


def test_arrays_in_atexit() -> None:
    done = child(
        """
        import atexit
        atexit.register(lambda: print((mx.nd.ones((2,)) + 1).asnumpy().tolist()))
        """
    )
    ends_well(done)
    assert done.out == "[2.0, 2.0]\n"


#: What came too late says so; what is done can still be read.
READS = """
def tell(name):
    for array in (late, pending, early):
        try:
            print(name, array.asnumpy().ravel()[:2].tolist(), flush=True)
        except mx.MXNetError as error:
            print(name, "process is ending" in str(error), flush=True)
"""
VALUES = """
import afterglow as mx
x = y = mx.nd.ones((900, 900))
for _ in range(60):
    y = mx.nd.dot(y, x) * 1e-3
late = y.sum()
late.is_ready()
pending = y[0, :4] + 1
early = mx.nd.ones((2,)) + 1
early.wait_to_read()
"""


def test_values_that_come_too_late_in_an_early_handler() -> None:
    script = "import atexit\natexit.register(lambda: tell('handler'))\n" + READS + VALUES
    done = run_child(script, prelude=False)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == ["handler True", "handler True", "handler [2.0, 2.0]"]


def test_values_that_come_too_late_in_a_finalizer() -> None:
    done = run_child(
        """
        class Meter:
            def __del__(self, mx=mx, print=print):
                try:
                    print("value", self.value.asnumpy())
                except mx.MXNetError as error:
                    print("process is ending" in str(error))
        meter = Meter()
        """
        + textwrap.indent(VALUES, "        ")
        + """
        meter.value = late
        """
    )
    assert (done.code, done.out, done.err) == (0, "True\n", "")


def test_forked_child_ends_normally() -> None:
    done = child(
        """
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
        if pid == 0:
            s.wait_to_read()
            sys.exit(5)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """
    )
    ends_well(done)
    assert done.out == "5\n"


def test_forked_child_ends_by_os_exit() -> None:
    done = child(
        """
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
        if pid == 0:
            s.wait_to_read()
            os._exit(6)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """
    )
    ends_well(done)
    assert done.out == "6\n"


def test_pending_failures_are_silent() -> None:
    ends_well(
        child(
            """
            for _ in range(20):
                _core.inject_failure(0, 1)
                s = s + 1
            """
        )
    )


def test_exit_takes_under_a_second() -> None:
    # From the last statement to the end of the process, seen from outside; the best of three.
    best = 1e9
    for _ in range(3):
        done = child("print(time.monotonic(), flush=True)")
        best = min(best, time.monotonic() - float(done.out))
        ends_well(done)
    assert best < 1


def test_exit_without_having_used_an_array() -> None:
    done = run_child("")
    assert (done.code, done.out, done.err) == (0, "", "")

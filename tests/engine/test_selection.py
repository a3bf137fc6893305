# SPDX-License-Identifier: Apache-2.0
"""Which engine runs, and with how many threads."""

from __future__ import annotations

import os

import pytest
from support import output_of

SERIAL = [{"AFTERGLOW_ENGINE": "serial"}, {"MXNET_ENGINE_TYPE": "NaiveEngine"}]

#: Prints a digest of values that depend on the order and the cut of every kind of work.
PROGRAM = """
import hashlib
digest = hashlib.sha256()
def keep(array):
    digest.update(array.asnumpy().tobytes())
mx.random.seed(42)
for size in (3, 70, 601):
    x = mx.nd.random.normal(0, 1, shape=(size, size))
    y = mx.np.random.uniform(-1, 1, size=(size, size), dtype="float64")
    keep(mx.nd.exp(x) * 2 - mx.nd.tanh(x) / 3)
    keep(mx.nd.sigmoid(x).sum(axis=0))
    keep(x.sum()); keep(x.mean(axis=1)); keep(x.norm()); keep(x.max(axis=0)); keep(y.mean())
    keep(y[::2].sum(axis=1))
    x[1:] = x[:-1] + 1
    x += x
    keep(x)
    keep(mx.nd.dot(x, x)); keep(mx.nd.dot(x, x, transpose_a=True)); keep(mx.np.dot(y, y))
    keep(mx.nd.dot(x[: size // 2], x)); keep(mx.nd.dot(x, x[:, :1]))
big = mx.nd.random.uniform(0, 1, shape=(1000, 1000))
keep(big.sum()); keep(big.sum(axis=0)); keep(big.sum(axis=1)); keep(mx.nd.dot(big, big))
long = mx.nd.random.normal(shape=(16, 300000))  # cut along the summed axis, by the thread limit
keep(mx.nd.dot(long, long, transpose_b=True))
print(digest.hexdigest())
"""


@pytest.mark.parametrize("settings", SERIAL, ids=["afterglow", "mxnet"])
def test_serial_runs_at_once_on_this_thread(settings: dict[str, str]) -> None:
    lines = output_of(
        """
        before = len(os.listdir("/proc/self/task"))
        x = mx.nd.ones((1000, 1000))
        for step in range(5):
            x = x + 1
            assert x.is_ready()
            assert mx.engine.stats()["pending"] == 0
            y = mx.nd.dot(x, x)
            assert y.is_ready()
            y[2:5] = 1
            assert mx.engine.stats()["pending"] == 0
        mx.nd.waitall()
        new = len(os.listdir("/proc/self/task")) - before
        print(_core.is_serial(), _core.workers_started(), new)
        """,
        **settings,
    )
    assert lines == ["True 0 0"]


def test_threaded_runs_elsewhere() -> None:
    lines = output_of(
        """
        x = mx.nd.ones((1500, 1500))
        for _ in range(40):
            y = mx.nd.dot(x, x)
        print(_core.is_serial(), mx.engine.stats()["pending"] > 0, _core.workers_started() > 0)
        """
    )
    assert lines == ["False True True"]


@pytest.mark.parametrize("settings", SERIAL, ids=["afterglow", "mxnet"])
def test_serial_raises_at_the_call(settings: dict[str, str]) -> None:
    lines = output_of(
        """
        x = mx.nd.ones((3,))
        for front in (mx.nd, mx.np):
            x = front.ones((3,))
            for statement in (
                lambda: x + 1,
                lambda: front.exp(x),
                lambda: x.sum(),
                lambda: x.__setitem__(slice(None), 2),
            ):
                _core.inject_failure(0, 1)
                try:
                    statement()
                except ValueError as problem:
                    print("issued at" in str(problem), end=" ")
                else:
                    print("silent", end=" ")
            x[:] = 1
            print((x + 1).asnumpy().tolist(), end=" ")
        mx.nd.waitall()
        """,
        **settings,
    )
    assert lines == ["True True True True [2.0, 2.0, 2.0] " * 2]


def test_serial_raises_at_the_call_that_failed_not_at_every_use() -> None:
    lines = output_of(
        """
        x = mx.nd.ones((3,))
        _core.inject_failure(0, 1)
        try:
            x += 1
        except ValueError:
            print("raised")
        y = x + 1  # a statement that only hands the failure on
        for array in (x, y):
            try:
                array.asnumpy()
            except ValueError:
                print("raised")
        """,
        AFTERGLOW_ENGINE="serial",
    )
    assert lines == ["raised"] * 3


def test_same_bits_as_threaded() -> None:
    threaded = output_of(PROGRAM)
    assert len(threaded) == 1
    assert output_of(PROGRAM) == threaded
    assert output_of(PROGRAM, AFTERGLOW_ENGINE="serial") == threaded
    assert output_of(PROGRAM, MXNET_ENGINE_TYPE="NaiveEngine") == threaded


@pytest.mark.parametrize(
    "settings",
    [
        {"OMP_NUM_THREADS": "1"},
        {"MXNET_CPU_WORKER_NTHREADS": "1"},
        {"AFTERGLOW_NUM_THREADS": "1"},
        {"MXNET_CPU_WORKER_NTHREADS": "1", "OMP_NUM_THREADS": "64"},
    ],
    ids=["OMP", "MXNET", "AFTERGLOW", "both"],
)
def test_one_thread(settings: dict[str, str]) -> None:
    lines = output_of(
        """
        x = mx.nd.ones((800, 800))
        arrays = [mx.nd.dot(x, x) for _ in range(8)]
        mx.nd.waitall()
        print(_core.thread_limit(), _core.workers_started() <= 1, float(arrays[-1][0, 0]))
        """,
        **settings,
    )
    assert lines == ["1 True 800.0"]


def test_three_threads() -> None:
    lines = output_of(
        """
        x = mx.nd.ones((300, 300))
        arrays = [mx.nd.dot(x, x) for _ in range(30)]
        mx.nd.waitall()
        print(_core.thread_limit(), _core.workers_started() <= 3)
        """,
        AFTERGLOW_NUM_THREADS="3",
    )
    assert lines == ["3 True"]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_affinity() -> None:
    lines = output_of(
        """
        print(_core.thread_limit())
        """,
    )
    assert int(lines[0]) <= len(os.sched_getaffinity(0))
    script = """
        import subprocess
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        code = "from afterglow import _core; print(_core.thread_limit())"
        subprocess.run([sys.executable, "-c", code], check=True)
        """
    assert output_of(script) == ["1"]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_affinity_set_after_import_and_before_work() -> None:
    lines = output_of(
        """
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        x = mx.nd.ones((300, 300))
        mx.nd.dot(x, x).wait_to_read()
        print(_core.thread_limit())
        """
    )
    assert lines == ["1"]


def test_stalled_neighbours_do_not_change_values() -> None:
    """More threads than processors: slower, never different."""
    one = output_of(PROGRAM, AFTERGLOW_NUM_THREADS="4")
    other = output_of(PROGRAM, AFTERGLOW_NUM_THREADS="4")
    assert one == other

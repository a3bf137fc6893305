# SPDX-License-Identifier: Apache-2.0
"""Contract 4: memory is bounded without anyone synchronising."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as onp
import pytest
from support import environment, output_of

import afterglow as mx

MB = 1 << 20
#: More than the records of the calls that a statement issues.
RECORDS = 16_384

threaded = pytest.mark.skipif(mx.engine.is_serial(), reason="a serial engine never runs ahead")


def run_ahead_bytes() -> int:
    return mx.engine.stats()["run_ahead_bytes"]


# --- the limits themselves ---


@pytest.fixture(scope="module")
def defaults() -> list[float]:
    return [float(limit) for limit in output_of("print(*mx.engine.run_ahead())")[0].split()]


def test_defaults(defaults: list[float]) -> None:
    held, results, seconds = defaults
    assert 0 < held <= 16 * MB  # what a program may take more than a synchronised one
    assert held <= results < math.inf
    assert 0 < seconds < math.inf


def test_set_and_return_previous() -> None:
    before = mx.engine.run_ahead()
    assert mx.engine.set_run_ahead(bytes=5 * MB) == before
    assert mx.engine.run_ahead() == (5 * MB, 5 * MB, before.seconds)
    assert mx.engine.set_run_ahead(seconds=0.5) == (5 * MB, 5 * MB, before.seconds)
    assert mx.engine.run_ahead() == (5 * MB, 5 * MB, 0.5)
    assert mx.engine.set_run_ahead() == mx.engine.run_ahead()
    mx.engine.set_run_ahead(float("inf"), float("inf"))
    assert mx.engine.run_ahead() == (math.inf, math.inf, math.inf)
    assert (mx.engine.run_ahead().held_bytes, mx.engine.run_ahead().bytes) == (math.inf, math.inf)


def test_what_was_returned_puts_the_limits_back() -> None:
    """All three, though a number of bytes sets two of them alike."""
    before = mx.engine.set_run_ahead(bytes=5 * MB, seconds=0.5)
    assert before.held_bytes < before.bytes
    assert mx.engine.set_run_ahead(before) == (5 * MB, 5 * MB, 0.5)
    assert mx.engine.run_ahead() == before
    with pytest.raises(ValueError, match="held_bytes must be a number that is not negative"):
        mx.engine.set_run_ahead(before._replace(held_bytes=-1))
    assert mx.engine.run_ahead() == before


@pytest.mark.parametrize("bad", [-1, -0.5, float("nan"), -math.inf])
@pytest.mark.parametrize("name", ["bytes", "seconds"])
def test_bad_limits(name: str, bad: float) -> None:
    before = mx.engine.run_ahead()
    with pytest.raises(ValueError, match=f"{name} must be a number that is not negative"):
        mx.engine.set_run_ahead(**{name: bad})
    assert mx.engine.run_ahead() == before


@pytest.mark.parametrize("name", ["bytes", "seconds"])
def test_limits_of_a_wrong_type(name: str) -> None:
    before = mx.engine.run_ahead()
    with pytest.raises((TypeError, ValueError)):
        mx.engine.set_run_ahead(**{name: "much"})  # type: ignore[arg-type]
    assert mx.engine.run_ahead() == before


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"AFTERGLOW_RUN_AHEAD_BYTES": "1000000"}, (1e6, 1e6, None)),
        ({"AFTERGLOW_RUN_AHEAD_BYTES": "0"}, (0, 0, None)),
        ({"AFTERGLOW_RUN_AHEAD_BYTES": "1e6"}, (1e6, 1e6, None)),
        ({"AFTERGLOW_RUN_AHEAD_BYTES": "inf"}, (math.inf, math.inf, None)),
        ({"AFTERGLOW_RUN_AHEAD_SECONDS": "0.25"}, (None, None, 0.25)),
        ({"AFTERGLOW_RUN_AHEAD_SECONDS": "inf"}, (None, None, math.inf)),
        (
            {"AFTERGLOW_RUN_AHEAD_BYTES": "7", "AFTERGLOW_RUN_AHEAD_SECONDS": "3"},
            (7, 7, 3),
        ),
        ({"AFTERGLOW_RUN_AHEAD_BYTES": "many"}, (None, None, None)),
        ({"AFTERGLOW_RUN_AHEAD_BYTES": "-5"}, (None, None, None)),
        ({"AFTERGLOW_RUN_AHEAD_BYTES": ""}, (None, None, None)),
        ({"AFTERGLOW_RUN_AHEAD_BYTES": "nan"}, (None, None, None)),
        ({"AFTERGLOW_RUN_AHEAD_SECONDS": "1 s"}, (None, None, None)),
    ],
)
def test_environment(
    defaults: list[float],
    settings: dict[str, str],
    expected: tuple[float | None, float | None, float | None],
) -> None:
    """What is no limit leaves the default as it is."""
    lines = output_of(
        """
        print(*mx.engine.run_ahead())
        x = mx.nd.zeros((100, 100))
        for _ in range(200):
            x = x * 1 + 1
        print(float(x[0, 0]))
        """,
        PYTHONWARNINGS="ignore",  # names what is not understood
        **settings,
    )
    for found, given, default in zip(lines[0].split(), expected, defaults, strict=True):
        assert float(found) == (default if given is None else given)
    assert lines[1:] == ["200.0"]


# --- they hold ---


@threaded
@pytest.mark.parametrize("limit", [0, 1000, 3 * MB, 9 * MB, 40 * MB])
def test_limit_holds_after_every_statement(limit: int) -> None:
    """Nothing is read, every result is kept: at most one call past the limit is unfinished."""
    x = mx.nd.ones((500, 1000))
    mx.nd.waitall()
    call = 2_000_000 + RECORDS
    mx.engine.set_run_ahead(bytes=limit)
    kept = []
    for step in range(60):
        kept.append(x + step)
        assert run_ahead_bytes() <= limit + call
    for step, result in enumerate(kept):
        assert float(result[3, 4]) == step + 1


@threaded
@pytest.mark.parametrize("limit", [0, 5 * MB])
def test_limit_holds_for_what_is_forgotten(limit: int) -> None:
    """One call past the limit, and what only this call keeps alive."""
    x = mx.nd.ones((500, 1000))
    y = x * 0
    mx.nd.waitall()
    mx.engine.set_run_ahead(bytes=limit)
    for step in range(30):
        y = mx.nd.dot(x, x.T)[:, :10].sum() * 1e-6 + step + y
        assert run_ahead_bytes() <= limit + 2 * 2_000_000 + RECORDS
    assert float(y[0, 0]) == 30 * 5 + sum(range(30))


@threaded
@pytest.mark.parametrize("seconds", [0, 1e-6, 0.002])
def test_limit_of_time(seconds: float) -> None:
    x = mx.nd.ones((400, 400))
    x.wait_to_read()
    mx.engine.set_run_ahead(seconds=seconds)
    kept = []
    for _ in range(40):
        before = mx.engine.stats()["pending"]
        kept.append(mx.nd.dot(x, x))
        # A product takes about two milliseconds: two of them are past any of the limits.
        assert mx.engine.stats()["pending"] <= max(before, 2) + 1
        assert mx.engine.stats()["pending"] <= 4
    assert all(float(product[0, 0]) == 400 for product in kept)


@threaded
def test_limit_smaller_than_one_call() -> None:
    """One call larger than the limit still runs, alone."""
    x = mx.nd.ones((1000, 1000))
    x.wait_to_read()
    mx.engine.set_run_ahead(bytes=1)
    y = x
    for _ in range(20):
        y = mx.nd.dot(x, x) * 0.001 + y * 0
        assert run_ahead_bytes() <= 1 + 2 * (4_000_000 + RECORDS) + 4_000_000
    onp.testing.assert_allclose(y.asnumpy(), 1, rtol=1e-5)


def test_limit_of_nothing_gives_the_same_values() -> None:
    def program() -> list[float]:
        mx.random.seed(3)
        x = mx.nd.random.uniform(0, 1, shape=(60, 70))
        total = mx.nd.zeros((60, 70))
        for step in range(30):
            y = mx.nd.relu(x - 0.5) * step
            total += y
            total[3:9] = y[4:10]
        return [float(total.sum()), float(total[5, 6]), float(x.max())]

    expected = program()
    mx.engine.set_run_ahead(bytes=0, seconds=0)
    assert program() == expected


@threaded
def test_several_threads() -> None:
    """Each thread may be one call past the limit."""
    limit = 8 * MB
    threads_used = 4
    call = 2_000_000 + RECORDS
    mx.nd.waitall()
    mx.engine.set_run_ahead(bytes=limit)
    highest: list[int] = []
    problems: list[str] = []

    def work(number: int) -> None:
        try:
            x = mx.nd.ones((500, 1000)) * number
            kept = []
            for step in range(40):
                kept.append(x + step)
                highest.append(run_ahead_bytes())
            for step, result in enumerate(kept):
                assert float(result[1, 1]) == number + step
        except BaseException as problem:
            problems.append(repr(problem))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(threads_used)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert problems == []
    assert max(highest) <= limit + threads_used * call


@pytest.mark.parametrize("workers", ["1", "2", "4"])
@pytest.mark.parametrize("limit", ["0", "6000000"])
def test_any_number_of_workers(workers: str, limit: str) -> None:
    lines = output_of(
        """
        limit = float(os.environ["AFTERGLOW_RUN_AHEAD_BYTES"])
        x = mx.nd.ones((500, 1000))
        x.wait_to_read()
        kept = []
        highest = 0
        for step in range(50):
            kept.append(x + step)
            highest = max(highest, mx.engine.stats()["run_ahead_bytes"])
        y = x
        for step in range(20):
            y = mx.nd.dot(x.T, y)[:500] * 0.001
        print(highest <= limit + 2_020_000, [float(k[0, 0]) for k in kept] == list(range(1, 51)))
        print(float(y[0, 0]) > 0)
        """,
        AFTERGLOW_NUM_THREADS=workers,
        AFTERGLOW_RUN_AHEAD_BYTES=limit,
    )
    assert lines == ["True True", "True"]


# --- what it is for ---


@threaded
@pytest.mark.parametrize("depth", [1, 3])
def test_forgotten_batches_do_not_pile_up(depth: int) -> None:
    """A training loop that never reads: batches made faster than they are used."""
    host = onp.ones((500, 1000), dtype="float32")  # 2 MB
    weight = mx.nd.ones((1000, 300)) * 0.001
    total = mx.nd.zeros((500, 300))
    mx.nd.waitall()
    base = mx.memory.active()
    highest = 0
    for number in range(300):
        batch = mx.nd.array(host * number)
        hidden = batch
        for _ in range(depth):
            hidden = mx.nd.dot(batch, weight)
        total += hidden
        del batch, hidden
        highest = max(highest, mx.memory.active() - base)
    assert highest <= 12 * MB + 16 * MB
    onp.testing.assert_allclose(total.asnumpy(), sum(range(300)), rtol=1e-4)


@threaded
def test_forgotten_results_do_not_pile_up() -> None:
    x = mx.nd.ones((1000, 1000))
    total = mx.nd.zeros((1000, 1000))
    mx.nd.waitall()
    mx.memory.reset_peak()
    base = mx.memory.active()
    for step in range(60):
        total += mx.nd.dot(x, x) * step
    mx.nd.waitall()
    assert mx.memory.peak() - base <= 12 * MB + 16 * MB
    assert float(total[0, 0]) == 1000 * sum(range(60))


@threaded
def test_batches_nobody_uses_do_not_pile_up() -> None:
    host = onp.ones((500, 1000), dtype="float32")
    mx.nd.waitall()
    base = mx.memory.active()
    for number in range(300):
        y = mx.nd.array(host) + number
        assert mx.memory.active() - base <= 12 * MB + 16 * MB
    assert float(y[0, 0]) == 300


def test_many_small_calls_stay_bounded() -> None:
    """The calls' own records count as well."""
    (line,) = output_of(
        """
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096 / 2**20
        x = mx.nd.ones((10,))
        big = mx.nd.ones((1200, 1200))
        mx.nd.dot(big, big).wait_to_read()
        base = resident()
        gate = big
        for _ in range(20):
            gate = mx.nd.dot(gate, big) * (1 / 1200)
        y = gate[0, :10] * 1
        y = y.reshape((10,))
        for _ in range(200_000):
            y = y + x
        print(resident() - base < 120)
        assert abs(float(y[0]) - 200_001) < 1
        """
    )
    assert line == "True"


# --- while a thread waits for room ---

WAITING = """
import signal, sys, time
import afterglow as mx

def interrupt(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGINT, interrupt)
x = mx.nd.ones((2500, 2500))
x.wait_to_read()
mx.engine.set_run_ahead(bytes=60_000_000)
kept = []
interrupted = 0
print("issuing", flush=True)
while interrupted < 3:
    try:
        kept.append(mx.nd.dot(x, x))
    except KeyboardInterrupt:
        interrupted += 1
        print("interrupted", time.monotonic(), mx.engine.stats()["run_ahead_bytes"], flush=True)
mx.engine.set_run_ahead(bytes=0)
z = mx.nd.ones((3,)) + 1
print(z.asnumpy().tolist(), {float(k[0, 0]) for k in kept}, flush=True)
"""


@threaded
def test_ctrl_c_while_waiting_for_room() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", WAITING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    killer = threading.Timer(40, child.kill)
    killer.start()
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "issuing\n"
        for _ in range(3):
            time.sleep(0.3)
            os.kill(child.pid, signal.SIGINT)
            answer = child.stdout.readline().split()
            assert answer[:1] == ["interrupted"]
            assert int(answer[2]) <= 60_000_000 + 25_000_000 + RECORDS
        out, err = child.communicate(timeout=30)
        assert (out, err, child.returncode) == ("[2.0, 2.0, 2.0] {2500.0}\n", "", 0)
    finally:
        killer.cancel()
        child.kill()
        child.communicate()


@threaded
@pytest.mark.parametrize("limit", ["0", "30000000"])
def test_fork_near_the_limit(limit: str) -> None:
    """Parent and child both go on, and both are bounded."""
    lines = output_of(
        """
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        limit = float(os.environ["AFTERGLOW_RUN_AHEAD_BYTES"])
        x = mx.nd.ones((1000, 1000))
        x.wait_to_read()

        def work(kept, count):
            for _ in range(count):
                kept.append(mx.nd.dot(x, x))
                assert mx.engine.stats()["run_ahead_bytes"] <= limit + 4_200_000

        for round in range(3):
            kept = []
            work(kept, 12)
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    work(kept, 4)
                    code = 0 if {float(k[0, 0]) for k in kept} == {1000.0} else 2
                finally:
                    os._exit(code)
            work(kept, 4)
            assert {float(k[0, 0]) for k in kept} == {1000.0}
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """,
        AFTERGLOW_RUN_AHEAD_BYTES=limit,
    )
    assert lines == ["0"] * 3


@threaded
def test_failure_while_another_call_waits_for_room() -> None:
    """Waiting for room raises no failure: reads do."""
    from afterglow import _core

    x = mx.nd.ones((500, 1000))
    x.wait_to_read()
    mx.engine.set_run_ahead(bytes=0)
    _core.inject_failure(0, 0)
    bad = x + 1
    good: list[Any] = [x + step for step in range(10)]
    with pytest.raises(mx.MXNetError, match="injected"):
        bad.asnumpy()
    assert [float(array[0, 0]) for array in good] == list(range(1, 11))


def test_serial_engine_takes_limits_too() -> None:
    lines = output_of(
        """
        x = mx.nd.ones((300, 300))
        for _ in range(50):
            x = x + 1
        print(float(x[0, 0]), mx.engine.stats()["run_ahead_bytes"])
        """,
        AFTERGLOW_ENGINE="serial",
        AFTERGLOW_RUN_AHEAD_BYTES="0",
    )
    assert lines == ["51.0 0"]


@threaded
@pytest.mark.parametrize("hybridized", [False, True])
def test_backward_does_not_wait_half_way(hybridized: bool) -> None:
    """Else it holds the old gradients, and all that it has yet to read, while new ones come."""
    layers, weight = 24, 512 * 512 * 4
    net = mx.gluon.nn.HybridSequential()
    for _ in range(layers):
        net.add(mx.gluon.nn.Dense(512, in_units=512, use_bias=False))
    net.initialize()
    if hybridized:
        net.hybridize()
    x = mx.nd.ones((2048, 512))
    limits = mx.engine.set_run_ahead(bytes=4 * MB)
    try:
        for _ in range(4):
            with mx.autograd.record():
                loss = net(x).sum()
            mx.nd.waitall()
            mx.memory.reset_peak()
            before = mx.memory.active()
            loss.backward()
            mx.nd.waitall()
            # A few results are under way; the first backward makes no gradients anew.
            assert mx.memory.peak() - before < layers * weight / 2 + 4 * 2048 * 512 * 4
    finally:
        mx.engine.set_run_ahead(limits)

# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends a wait soon, and the engine works on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from support import environment, output_of

SCRIPT = """
import signal, sys, time
import afterglow as mx

mx.engine.set_run_ahead(bytes=float("inf"), seconds=float("inf"))  # the loop is not to wait
x = mx.nd.ones((2500, 2500))
waits = {
    "wait_to_read": lambda y: y.wait_to_read(),
    "timeout": lambda y: y.wait_to_read(timeout=300),
    "wait_to_write": lambda y: y.wait_to_write(),
    "waitall": lambda y: mx.nd.waitall(),
    "asnumpy": lambda y: y.asnumpy(),
    "float": lambda y: float(y[0, 0]),
}
wait = waits[sys.argv[1]]

def interrupt(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGINT, interrupt)
y = x
for _ in range(100):
    y = mx.nd.dot(y, x)
for _ in range(3):
    print("waiting", flush=True)
    try:
        wait(y)
        print("finished", flush=True)
    except KeyboardInterrupt:
        print("interrupted", time.monotonic(), flush=True)
early = mx.nd.ones((3,)) + 1
print(early.asnumpy().tolist(), flush=True)
z = mx.nd.dot(x[:200, :].copy(), x)
print(float(z.min()), float(z.max()), y.is_ready(), flush=True)
"""


@pytest.mark.parametrize(
    "wait", ["wait_to_read", "timeout", "wait_to_write", "waitall", "asnumpy", "float"]
)
def test_ctrl_c(wait: str) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, wait],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    killer = threading.Timer(
        20, child.kill
    )  # a wait that cannot be interrupted must not stop the tests
    killer.start()
    assert child.stdout is not None
    assert child.stderr is not None
    delays = []
    try:
        for _ in range(3):
            assert child.stdout.readline() == "waiting\n"
            time.sleep(0.2)
            sent = time.monotonic()
            os.kill(child.pid, signal.SIGINT)
            answer = child.stdout.readline().split()
            assert answer[:1] == ["interrupted"]
            delays.append(float(answer[1]) - sent)
        assert child.stdout.readline() == "[2.0, 2.0, 2.0]\n"
        assert child.stdout.readline() == "2500.0 2500.0 False\n"
        child.wait(timeout=20)
        assert child.stderr.read() == ""
        assert child.returncode == 0
    finally:
        killer.cancel()
        child.kill()
        child.wait()
        child.stdout.close()
        child.stderr.close()
    # 100 ms are promised; the best of three, because another process may have had the processor.
    assert min(delays) < 0.3


def test_handler_that_returns_lets_the_wait_go_on() -> None:
    lines = output_of(
        """
        import signal
        seen = []
        signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
        x = mx.nd.ones((1500, 1500))
        y = x
        for _ in range(12):
            y = mx.nd.dot(y, x) * (1 / 1500)
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        y.wait_to_read()
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(len(seen) >= 2, round(float(y[0, 0]), 3))
        """
    )
    assert lines == ["True 1.0"]


def test_handler_that_uses_arrays() -> None:
    lines = output_of(
        """
        import signal
        seen = []
        def handle(number, frame):
            seen.append(float(mx.nd.ones((2,)).sum()))
        signal.signal(signal.SIGALRM, handle)
        x = mx.nd.ones((1500, 1500))
        y = x
        for _ in range(12):
            y = mx.nd.dot(y, x) * (1 / 1500)
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        y.wait_to_read()
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(set(seen), round(float(y[0, 0]), 3))
        """
    )
    assert lines == ["{2.0} 1.0"]


HOST_CALLS_IN_FLIGHT = """
import random
from afterglow._interoperation.host_calls import declare_host
x = mx.nd.ones((48, 48))
caught = 0
@declare_host("compute", infer=lambda a: a)
def compute(a):
    for _ in range(5):
        b = a @ a
    return a + 1
while caught < {interrupts}:
    kept = []
    try:
        signal.setitimer(signal.ITIMER_REAL, random.random() * 0.01)
        while True:
            y = compute(x)
            kept.append((y, y * 2))
            if len(kept) % 5 == 0:
                kept[-1][1].wait_to_read()
            del kept[:-20]
    except KeyboardInterrupt:
        caught += 1
    for y, twice in kept:  # no value was lost
        assert float(y[0, 0]) == 2 and float(twice[0, 0]) == 4
mx.nd.waitall()
print("ok")
"""


@pytest.mark.parametrize("engine", ["threaded", "serial"])
@pytest.mark.parametrize("interrupts", [20, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_host_calls_in_flight(engine: str, interrupts: int) -> None:
    handler = """
import signal
signal.signal(signal.SIGALRM, signal.default_int_handler)
"""
    script = handler + HOST_CALLS_IN_FLIGHT.format(interrupts=interrupts)
    assert output_of(script, timeout=60 + interrupts, AFTERGLOW_ENGINE=engine) == ["ok"]

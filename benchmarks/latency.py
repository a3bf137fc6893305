# SPDX-License-Identifier: Apache-2.0
"""How soon work starts, and how long the statement that issues it takes.

A 2000 x 2000 ``dot`` is issued when the workers sleep, and when one of them went idle a moment ago.
The start is taken from the engine's own record. Also: time per call of 10^6 calls without a wait,
and import time.

    python benchmarks/latency.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from contextlib import nullcontext

import afterglow as mx


def first_start(events: list[mx.engine.Event]) -> int:
    """When the first share of the last pushed product started, in nanoseconds."""
    task = max(event.task for event in events if event.what == "pushed" and event.op == "dot")
    return min(e.nanoseconds for e in events if e.what == "started" and e.task == task)


def prepare(state: str, small: mx.nd.NDArray, tiny: mx.nd.NDArray) -> None:
    """Bring workers and caches into the wanted state."""
    if state == "cold":
        time.sleep(0.02)
        return
    for _ in range(10):
        busy = mx.nd.dot(small, small)
        while not busy.is_ready():
            pass
        if state == "asleep":  # this thread computes tiny values itself; the workers fall asleep
            end = time.perf_counter() + 0.0005
            while time.perf_counter() < end:
                mx.nd.dot(tiny, tiny).wait_to_read()


def dot_latency(state: str, recorded: bool, rounds: int = 41) -> float:
    """Median microseconds until the work starts (recorded), or until the statement returns.

    Before each round a few short products are issued the same way, so that the caches hold the path
    of a call as in a running program; "cold" leaves that out and lets this thread sleep as well.
    """
    x, small, tiny = (mx.nd.ones((size, size)) for size in (2000, 120, 2))
    times = []
    for _ in range(rounds):
        mx.nd.waitall()
        with mx.engine.record() if recorded else nullcontext([]) as events:
            prepare(state, small, tiny)
            begin = time.monotonic_ns()
            y = mx.nd.dot(x, x)
            end = time.monotonic_ns()
            y.wait_to_read()
        times.append(((first_start(events) if recorded else end) - begin) / 1e3)
    return statistics.median(times)


def growth() -> None:
    """Time per call while 10^6 calls are issued without a wait, results kept."""
    x = mx.nd.ones((1, 2))
    kept = []
    for part in range(10):
        begin = time.perf_counter()
        for _ in range(100_000):
            kept.append(x + 1)
        per_call = (time.perf_counter() - begin) / 100_000
        print(f"  calls from {part * 100_000:>7} on: {per_call * 1e9:6.0f} ns each")
    begin = time.perf_counter()
    mx.nd.waitall()
    print(f"  final wait {1e6 * (time.perf_counter() - begin):.0f} us")


def import_seconds(statement: str) -> float:
    """Median wall time of a fresh interpreter that runs the statement."""
    times = []
    for _ in range(9):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main() -> None:
    """Print all figures."""
    for text, state in (
        ("workers asleep", "asleep"),
        ("a worker went idle a moment ago", "spinning"),
        ("workers and this thread asleep, caches cold", "cold"),
    ):
        start, statement = dot_latency(state, True), dot_latency(state, False)
        print(f"dot 2000, {text}: starts after {start:.1f} us, returns after {statement:.1f} us")
    print("10^6 calls of x + 1 on (1, 2) without a wait:")
    growth()
    numpy = import_seconds("import numpy")
    ours = import_seconds("import numpy, afterglow")
    print(f"import numpy {numpy * 1e3:.0f} ms, with afterglow {ours * 1e3:.0f} ms")


if __name__ == "__main__":
    main()

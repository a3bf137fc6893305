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

import afterglow as mx
from afterglow import _core


def first_start(events: list[tuple[str, int, int, str, int, int]]) -> int:
    """When the first share of the last pushed product started, in nanoseconds."""
    task = max(event[2] for event in events if event[0] == "pushed" and event[3] == "dot")
    return min(event[1] for event in events if event[0] == "started" and event[2] == task)


def dot_latency(idle_seconds: float, rounds: int = 31) -> tuple[float, float]:
    """Median microseconds until the work starts, and until the statement returns."""
    x = mx.nd.ones((2000, 2000))
    small = mx.nd.ones((300, 300))
    x.wait_to_read()
    starts, statements = [], []
    for _ in range(rounds):
        mx.nd.waitall()
        _core.start_recording()
        if idle_seconds:
            time.sleep(idle_seconds)
        else:
            # A short product keeps a worker busy until just before the statement.
            busy = mx.nd.dot(small, small)
            while not busy.is_ready():
                pass
        begin = time.monotonic_ns()
        y = mx.nd.dot(x, x)
        end = time.monotonic_ns()
        y.wait_to_read()
        starts.append((first_start(_core.stop_recording()) - begin) / 1e3)
        statements.append((end - begin) / 1e3)
    return statistics.median(starts), statistics.median(statements)


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
    for text, idle in (("workers asleep", 0.02), ("a worker went idle a moment ago", 0.0)):
        start, statement = dot_latency(idle)
        print(
            f"dot 2000: {text}: starts after {start:.1f} us, the statement takes {statement:.1f} us"
        )
    print("10^6 calls of x + 1 on (1, 2) without a wait:")
    growth()
    numpy = import_seconds("import numpy")
    ours = import_seconds("import numpy, afterglow")
    print(f"import numpy {numpy * 1e3:.0f} ms, with afterglow {ours * 1e3:.0f} ms")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""One pool for work between ops and inside ops: it should never oversubscribe.

Microseconds per matrix product: one thread; two chains that do not depend on each other on two
threads (two workers, a product each); one chain on two threads (two threads inside each product).
All three again beside a neighbour process that keeps one core busy, and NumPy's own two threads for
comparison.

    python benchmarks/threads.py
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

SIZES = {
    "64 x 256 x 256": (64, 256, 256, 400),
    "256^3": (256, 256, 256, 100),
    "1024^3": (1024, 1024, 1024, 6),
}
CASES = {
    "1 thread": ("afterglow", 1, 1),
    "2 workers x 1": ("afterglow", 2, 2),
    "1 worker x 2": ("afterglow", 2, 1),
    "numpy, 2 threads": ("numpy", 2, 1),
}


def measure(library: str, chains: int) -> None:
    """Print seconds per product for every size; runs in a process of its own."""
    for m, n, k, count in SIZES.values():
        if library == "numpy":
            import numpy as np

            a, b = np.ones((m, k), np.float32), np.full((k, n), 1 / k, np.float32)

            def run(a=a, b=b, count=count):  # type: ignore[no-untyped-def]
                for _ in range(count):
                    np.dot(a, b)
        else:
            import afterglow as mx

            b = mx.nd.full((k, n), 1 / k)
            starts = [mx.nd.ones((m, k)) for _ in range(chains)]

            def run(b=b, starts=starts, count=count, mx=mx):  # type: ignore[no-untyped-def]
                values = list(starts)
                for _ in range(count // len(values)):
                    values = [mx.nd.dot(value, b) for value in values]
                mx.nd.waitall()

        run()
        times = []
        for _ in range(9):
            begin = time.perf_counter()
            run()
            times.append((time.perf_counter() - begin) / count)
        print(statistics.median(times), flush=True)


def ask(library: str, threads: int, chains: int) -> list[float]:
    """Seconds per product for every size, from a fresh process."""
    limits = {"AFTERGLOW_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    output = subprocess.run(
        [sys.executable, __file__, library, str(chains)],
        env={**os.environ, **limits},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    return [float(line) for line in output.split()]


def table(title: str) -> None:
    """One row per case."""
    print(f"{title:24}" + "".join(f"{size:>18}" for size in SIZES))
    for name, case in CASES.items():
        print(f"  {name:22}" + "".join(f"{1e6 * seconds:15.1f} us" for seconds in ask(*case)))


def main() -> None:
    """Both tables, the second beside a busy neighbour."""
    table("idle machine")
    neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        table("busy neighbour")
    finally:
        neighbour.kill()
        neighbour.wait()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1], int(sys.argv[2]))
    else:
        main()

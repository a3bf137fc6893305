# SPDX-License-Identifier: Apache-2.0
"""One pool for work between ops and inside ops: it should never oversubscribe.

python benchmarks/threads.py

The time of a matrix product: two chains that do not depend on each other on two threads (two
workers, a product each); one chain on two threads (two threads inside each product); one thread;
NumPy's own two threads. All again beside a neighbour process that keeps one core busy.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from rows import OURS, Answer, Figure, Row, Task
from words import words

SIZES = {
    "64 x 256 x 256": (64, 256, 256, 400),
    "256^3": (256, 256, 256, 100),
    "1024^3": (1024, 1024, 1024, 6),
}
COLUMNS = {OURS: 2, "1 worker x 2": 2, "1 thread": 1, "numpy": 2}


@contextmanager
def neighbour(busy: bool) -> Iterator[None]:
    """Keep one core busy."""
    if not busy:
        yield
        return
    process = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE
    )
    try:
        assert process.stdout
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.communicate()


def products(size: str, busy: bool, column: str) -> Task:
    """The time of one product."""
    m, n, k, count = SIZES[size]
    w = words(column)
    b = w.ones(k, n) / k
    starts = w.waited([w.ones(m, k) for _ in range(2 if column == OURS else 1)])

    def run() -> None:
        values = list(starts)
        for _ in range(count // len(values)):
            values = [w.dot(value, b) for value in values]
        w.waited(values)

    def task() -> Answer:
        with neighbour(busy):
            begin = time.perf_counter()
            run()
            return {"seconds": (time.perf_counter() - begin) / count}

    return task


ROWS = [
    Row(
        f"threads/{size}{', busy neighbour' if busy else ''}",
        (
            Figure(
                f"product {size}, two chains on two workers"
                f"{', beside a busy neighbour' if busy else ''}"
            ),
        ),
        tuple(COLUMNS),
        partial(products, size, busy),
        rounds=9,
        environment={
            column: {"AFTERGLOW_NUM_THREADS": str(number), "OPENBLAS_NUM_THREADS": str(number)}
            for column, number in COLUMNS.items()
        },
    )
    for busy in (False, True)
    for size in SIZES
]

if __name__ == "__main__":
    from bench import main

    main("threads")

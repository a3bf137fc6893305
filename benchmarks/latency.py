# SPDX-License-Identifier: Apache-2.0
"""How soon work starts, how long the statement that issues it takes, and how long an import takes.

python benchmarks/latency.py

A 2000 x 2000 ``dot`` is issued when the workers sleep, and when one of them went idle a moment ago.
The start is taken from the engine's own record.
"""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import nullcontext
from functools import partial
from typing import Any

from rows import OURS, Answer, Figure, Row, Task, library_of, timed

STATES = {
    "asleep": "workers asleep",
    "spinning": "a worker went idle a moment ago",
    "cold": "workers and this thread asleep, caches cold",
}
CALLS = 1_000_000


def first_start(events: list[Any]) -> int:
    """When the first share of the last pushed product started, in nanoseconds."""
    task = max(event.task for event in events if event.what == "pushed" and event.op == "dot")
    return min(e.nanoseconds for e in events if e.what == "started" and e.task == task)


def prepare(state: str, small: Any, tiny: Any) -> None:
    """Bring workers and caches into the wanted state."""
    import afterglow as mx

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


def dot_latency(state: str, recorded: bool, column: str) -> Task:
    """Seconds until the work starts (recorded), or until the statement returns.

    Before each round a few short products are issued the same way, so that the caches hold the path
    of a call as in a running program; "cold" leaves that out and lets this thread sleep as well.
    """
    import afterglow as mx

    x, small, tiny = (mx.nd.ones((size, size)) for size in (2000, 120, 2))

    def task() -> Answer:
        mx.nd.waitall()
        with mx.engine.record() if recorded else nullcontext([]) as events:
            prepare(state, small, tiny)
            begin = time.monotonic_ns()
            y = mx.nd.dot(x, x)
            end = time.monotonic_ns()
            y.wait_to_read()
        return {"seconds": ((first_start(events) if recorded else end) - begin) / 1e9}

    return task


def growth(column: str) -> Task:
    """Time of the last tenth, or the first, of 10^6 calls without a wait, results kept."""
    import afterglow as mx

    x = mx.nd.ones((1, 2))
    tenth = CALLS // 10

    def task() -> Answer:
        kept = [x + 1 for _ in range(0 if column == "the first 10^5" else CALLS - tenth)]
        begin = time.perf_counter()
        for _ in range(tenth):
            kept.append(x + 1)
        issued = time.perf_counter()
        mx.nd.waitall()
        return {"seconds": (issued - begin) / tenth, "wait": time.perf_counter() - issued}

    return task


def importing(column: str) -> Task:
    """Wall time of a fresh interpreter that imports."""
    statement = "import numpy" + (", afterglow" if library_of(column) == OURS else "")
    return timed(lambda: subprocess.run([sys.executable, "-c", statement], check=True))


ROWS = [
    *[
        Row(
            f"latency/{state}, {'start' if recorded else 'return'}",
            (
                Figure(
                    f"{'until dot 2000 starts' if recorded else 'until the statement returns'}, "
                    f"{text}"
                ),
            ),
            (OURS,),
            partial(dot_latency, state, recorded),
            rounds=41,
        )
        for state, text in STATES.items()
        for recorded in (True, False)
    ],
    Row(
        "latency/growth",
        (Figure("issue `x + 1`, (1, 2), the last 10^5 of 10^6 without a wait"),),
        (OURS, "the first 10^5"),
        growth,
        rounds=5,
        notes={"wait": "final wait of the 10^6 calls: seconds"},
    ),
    Row(
        "latency/import",
        (Figure("a Python that imports numpy and afterglow, beside numpy alone"),),
        (OURS, "numpy"),
        importing,
        rounds=9,
    ),
]

if __name__ == "__main__":
    from bench import main

    main("latency")

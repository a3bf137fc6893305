# SPDX-License-Identifier: Apache-2.0
"""A short tour of asynchronous arrays: ``python -m afterglow.tour``. All times are measured."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import afterglow as mx
from afterglow import engine, nd

SIDE = 2000


@contextlib.contextmanager
def stopwatch(times: list[float]) -> Iterator[None]:
    """Append the seconds that the scope took."""
    start = time.perf_counter()
    yield
    times.append(time.perf_counter() - start)


def seconds(work: Callable[[], Any]) -> float:
    """Return how long a call takes; its result is thrown away afterwards."""
    times: list[float] = []
    with stopwatch(times):
        result = work()
    del result
    return times[0]


def text(duration: float) -> str:
    """Write a duration in the unit that suits it."""
    for unit, scale in (("s ", 1.0), ("ms", 1e3), ("us", 1e6)):
        if duration * scale >= 1:
            return f"{duration * scale:9.2f} {unit}"
    return f"{duration * 1e9:9.0f} ns"


def heading(title: str) -> None:
    """Print a headline."""
    print(f"\n{title}\n{'-' * len(title)}")


def row(name: str, *cells: str) -> None:
    """Print a line of a table."""
    print(f"  {name:<44}" + "".join(f"{cell:>15}" for cell in cells))


def queued_and_finished(x: nd.NDArray) -> None:
    """Show that a statement returns long before its work is done."""
    heading(f"1. A statement returns before its work is done: dot of {SIDE} x {SIDE}")
    queued, finished = [], []
    for _ in range(5):
        start = time.perf_counter()
        y = nd.dot(x, x)
        queued.append(time.perf_counter() - start)
        y.wait_to_read()
        finished.append(time.perf_counter() - start)
    row("y = nd.dot(x, x)      queued after", text(median(queued)))
    row("y.wait_to_read()      finished after", text(median(finished)))
    gflops = 2 * SIDE**3 / median(finished) / 1e9
    row("", f"{gflops:.0f} GFLOP/s")


def two_loops(x: nd.NDArray) -> None:
    """Set a loop that waits in every step beside one that waits at its end."""
    steps = 1000
    tiny = nd.ones((1, 2))
    heading("2. A loop that waits in every step, and one that waits at its end")
    row("", "each step", "once", "ratio")

    def chain(start: nd.NDArray, count: int, wait: bool) -> nd.NDArray:
        for _ in range(count):
            start = start + 1
            if wait:
                start.wait_to_read()
        start.wait_to_read()
        return start

    def products(count: int, wait: bool) -> list[nd.NDArray]:
        kept = []
        for _ in range(count):
            kept.append(nd.dot(x, x))
            if wait:
                kept[-1].wait_to_read()
            time.sleep(0.02)  # reading the next batch
        for one in kept:
            one.wait_to_read()
        return kept

    for name, work in (
        (f"{steps:,} times y = y + 1 on a 1 x 2 array", lambda wait: chain(tiny, steps, wait)),
        ("5 dots, each beside reading a batch of 20 ms", lambda wait: products(5, wait)),
    ):
        each = median(seconds(lambda work=work: work(True)) for _ in range(3))  # type: ignore[misc]
        once = median(seconds(lambda work=work: work(False)) for _ in range(3))  # type: ignore[misc]
        row(name, text(each), text(once), f"{each / once:.1f} x")


def what_waits(x: nd.NDArray) -> None:
    """Time each way to touch an array right after its product was issued."""
    heading("3. What waits and what does not, right after y = nd.dot(x, x)")
    row("", "returns after", "waits")
    touches: tuple[tuple[str, bool, Callable[[nd.NDArray], Any]], ...] = (
        ("y.shape, y.dtype, y.context", False, lambda y: (y.shape, y.dtype, y.context)),
        ("y + 1", False, lambda y: y + 1),
        ("nd.dot(y, y)", False, lambda y: nd.dot(y, y)),
        ("y[0]", False, lambda y: y[0]),
        ("y.is_ready()", False, lambda y: y.is_ready()),
        ("y.wait_to_read()", True, lambda y: y.wait_to_read()),
        ("y.asnumpy()", True, lambda y: y.asnumpy()),
        ("y[0, 0].asscalar()", True, lambda y: y[0, 0].asscalar()),
        ("y[0, 0].item()", True, lambda y: y[0, 0].item()),
        ("float(y.sum())", True, lambda y: float(y.sum())),
        ("print(y)", True, print_quietly),
    )
    for name, waits, touch in touches:
        times = []
        for _ in range(3):
            y = nd.dot(x, x)
            times.append(seconds(lambda y=y, touch=touch: touch(y)))  # type: ignore[misc]
            nd.waitall()
        row(name, text(median(times)), "yes" if waits else "no")


def print_quietly(y: nd.NDArray) -> None:
    """Print where nobody reads it."""
    with contextlib.redirect_stdout(io.StringIO()):
        print(y)


def statistics() -> None:
    """Print what the engine counted."""
    heading("4. The engine's own account")
    for name, value in engine.stats().items():
        row(name, f"{value:,}")
    row("threads that may compute at once", f"{engine.thread_limit()}")
    row("workers started", f"{engine.workers_started()}")
    row("instruction set", engine.instruction_set())


def main() -> None:
    """Run the tour."""
    print("Afterglow: arrays that run ahead of Python")
    mx.random.seed(0)
    x = nd.random.normal(0, 1 / SIDE**0.5, shape=(SIDE, SIDE))
    nd.dot(x, x).wait_to_read()  # loads the maths library and starts the workers
    queued_and_finished(x)
    two_loops(x)
    what_waits(x)
    statistics()


if __name__ == "__main__":
    main()

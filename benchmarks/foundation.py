# SPDX-License-Identifier: Apache-2.0
"""The figures of the foundation: issuing and running single calls.

python benchmarks/foundation.py [--rounds 15] [--peer torch=INTERPRETER] [--peer jax=...]

Except in the row about overwritten results, nothing that is timed can be skipped by a lazy library.
The final wait of loops that only issue is given apart.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

from rows import Answer, Figure, Goal, Row, Task, goals, library_of, timed
from words import Words, words

COLUMNS = ("afterglow", "numpy", "torch", "jax", "mxnet")
ISSUED = 20_000
#: Seconds in which the threads of the last library stop spinning: with less, all take longer.
SPIN = 0.1


def issue_overwritten(w: Words) -> Task:
    """``y = x + 1`` on a tiny array, each result replacing the last."""
    (x,) = w.waited([w.ones(1, 2)])

    def task() -> Answer:
        begin = time.perf_counter()
        for _ in range(ISSUED):
            y = x + 1
        issued = time.perf_counter()
        w.waited([y])
        return {"seconds": (issued - begin) / ISSUED, "wait": time.perf_counter() - issued}

    return task


def issue_kept(w: Words) -> Task:
    """The same with every result kept."""
    (x,) = w.waited([w.ones(1, 2)])

    def task() -> Answer:
        kept = [x] * ISSUED
        begin = time.perf_counter()
        for i in range(ISSUED):
            kept[i] = x + 1
        issued = time.perf_counter()
        w.waited(kept[-1:])
        return {"seconds": (issued - begin) / ISSUED, "wait": time.perf_counter() - issued}

    return task


def value(w: Words) -> Task:
    """``(x + 1)`` and its value each time; each loop without a call more than its library needs."""
    (x,) = w.waited([w.ones(1, 2)])
    count, wait = 5_000, w.wait

    def waiting() -> None:
        for _ in range(count):
            (x + 1).wait_to_read()

    def blocking() -> None:
        for _ in range(count):
            wait(x + 1)

    def computing() -> None:
        for _ in range(count):
            x + 1

    if hasattr(x, "wait_to_read"):
        return timed(waiting, count=count)
    run = blocking if hasattr(x, "block_until_ready") else computing
    return timed(run, count=count)


def add_2000(w: Words) -> Task:
    """(2000, 2000) + 1, synchronised each time."""
    (x,) = w.waited([w.ones(2000, 2000)])
    count, add_one, wait = 200, w.add_one, w.wait

    def run() -> None:
        for _ in range(count):
            wait(add_one(x))

    return timed(run, count=count)


def dot_2000(w: Words) -> Task:
    """The product of two 2000 x 2000 matrices."""
    (x,) = w.waited([w.ones(2000, 2000)])
    return timed(lambda: w.wait(w.dot(x, x)))


def normal_1000(w: Words) -> Task:
    """1000 x 1000 normal numbers."""
    count, normal, wait = 10, w.normal, w.wait

    def run() -> None:
        for _ in range(count):
            wait(normal(1000, 1000))

    return timed(run, count=count)


def list_row(name: str, text: str, front: str, numbers: Any, count: int) -> Row:
    """Make a row of `array` of a list of numbers: that of `nd`, or that of `np`."""

    def make(column: str) -> Task:
        w, library = words(column), library_of(column)
        array = w.array if library == "numpy" else importlib.import_module(library + front).array

        def run() -> None:
            for _ in range(count):
                made = array(numbers)
            w.wait(made)

        return timed(run, count=count)

    columns = ("afterglow", "numpy", "mxnet")
    return Row(f"foundation/{name}", (Figure(text, goals(numpy=3.0)),), columns, make)


#: By what they are called: the numbers, and how many arrays of them make a round.
LISTS = {
    "2": ([0.5, 1.5], 20_000),
    "1000": ([i / 7 for i in range(1000)], 500),
    "100 x 100": ([[i / 7 + j for i in range(100)] for j in range(100)], 50),
}


def row(
    make: Callable[[Words], Task], text: str, *wanted: Goal, rest: float = 0.0, **more: Any
) -> Row:
    """Make a row that all libraries take part in."""
    return Row(
        f"foundation/{make.__name__}",
        (Figure(text, wanted, readme=True),),
        COLUMNS,
        lambda column: make(words(column)),
        rest=rest,
        both_mallocs=True,
        **more,
    )


WAIT = {"wait": f"final wait of the {ISSUED} calls: seconds"}
ISSUE = goals(numpy=0.8, mxnet=1 / 25)
ROWS = [
    row(issue_overwritten, "issue `y = x + 1`, (1, 2)", *ISSUE, notes=WAIT),
    row(issue_kept, "issue `x + 1`, every result kept", *ISSUE, notes=WAIT),
    row(value, "`x + 1` with its value, (1, 2)", *goals(numpy=1.5, mxnet=1 / 20)),
    row(add_2000, "(2000, 2000) + 1, waiting each time", rest=SPIN),
    row(dot_2000, "`dot` of 2000 x 2000", Goal(1.05, ("numpy", "torch", "jax")), rest=SPIN),
    row(normal_1000, "1000 x 1000 normal numbers", rest=SPIN),
    *(
        list_row(
            f"{front}_list_{length.replace(' ', '')}",
            f"`{front}.array` of a list of {length} numbers",
            module,
            *LISTS[length],
        )
        for front, module in (("nd", ".ndarray"), ("np", ".numpy"))
        for length in LISTS
    ),
]

if __name__ == "__main__":
    from bench import main

    main("foundation")

# SPDX-License-Identifier: Apache-2.0
"""What the passes themselves cost: the same calls with every pass on and off, in turns.

The arrays are so small that there is nothing to win, and fusion is told to take them nevertheless;
so the difference is the price of looking at a call, grouping it and planning the pass. Goal: under
300 ns a call on average. ::

    python benchmarks/passes.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import afterglow as mx
from afterglow import _core, engine

CALLS = 60  # per round, all pending at once


def chain(x: Any) -> Any:
    """One long chain: two fused passes."""
    for _ in range(CALLS // 2):
        x = (x + 1) * 0.5
    return x


def tree(x: Any) -> Any:
    """Sums of short branches that share an input."""
    total = x
    for step in range(CALLS // 3):
        total = total + (x * step - 2)
    return total


def kept(x: Any) -> Any:
    """Independent calls whose results all stay."""
    return [x + step for step in range(CALLS)]


def rows(x: Any) -> Any:
    """Softmax again and again: reductions and broadcasting."""
    for _ in range(CALLS // 5):
        e = (x - x.max(axis=1, keepdims=True)).exp()
        x = e / e.sum(axis=1, keepdims=True)
    return x


def nanoseconds_a_call(program: Callable[[Any], Any], x: Any, repeats: int) -> float:
    """Issue, optimise and run, waiting for the last result."""
    begin = time.perf_counter_ns()
    for _ in range(repeats):
        result = program(x)
        (result[-1] if isinstance(result, list) else result).wait_to_read()
    return (time.perf_counter_ns() - begin) / repeats / CALLS


def main() -> None:
    """Print one line per program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--repeats", type=int, default=100)
    arguments = parser.parse_args()
    _core.set_smallest_fused(0)
    x = mx.nd.ones((4, 16))
    print(f"{'':10}{'on':>10}{'off':>10}{'passes':>10}   ns a call, goal < 300")
    for program in (chain, tree, kept, rows):
        times: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(arguments.rounds):
            for on, measured in times.items():
                for name in engine.passes():
                    engine.set_pass(name, on)
                measured.append(nanoseconds_a_call(program, x, arguments.repeats))
        on, off = statistics.median(times[True]), statistics.median(times[False])
        print(f"{program.__name__:10}{on:10.0f}{off:10.0f}{on - off:10.0f}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What the lazy window brings: dropping, fusing, overlap, and what its passes cost.

python benchmarks/window.py [--rounds 15] [--rows softmax] [--peer mxnet=INTERPRETER]

Before a formula is timed, its values are compared between all libraries. Except where results are
overwritten, nothing that is timed can be dropped: results are kept and waited for. The memory of
formulas and loops is in ``memory.py``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from formulas import FORMULAS, SIZE, Applied
from processes import Process
from rows import COMPILED, OURS, Answer, Figure, Goal, Row, Task, goals, timed
from words import words

PASS_CALLS = 60  # per round of the passes, all pending at once


def overwritten(column: str) -> Task:
    """``y = x + 1`` on (2000, 2000) a thousand times, only the last result kept."""
    w = words(column)
    (x,) = w.waited([w.ones(SIZE, SIZE)])

    def calls_run() -> int:
        if column != OURS:
            return 0
        import afterglow as mx

        return mx.engine.stats()["run"]

    def task() -> Answer:
        before = calls_run()
        begin = time.perf_counter()
        for _ in range(1000):
            y = x + 1
        w.waited([y])
        seconds = time.perf_counter() - begin
        ran = calls_run() - before
        assert np.all(w.values(y) == 2)
        return {"seconds": seconds, "ran": ran}

    return task


def formula(name: str, column: str) -> Task:
    """Apply the formula several times, every result computed and kept."""
    applied = Applied(column, FORMULAS[name])

    def task() -> Answer:
        applied.once()
        count, kept = 5, []
        begin = time.perf_counter()
        for _ in range(count):
            kept.append(applied.once())
        return {"seconds": (time.perf_counter() - begin) / count}

    return task


def dependent_64(column: str) -> Task:
    """64 calls that depend on each other on a tiny array, then their value."""
    w = words(column)
    (x,) = w.waited([w.ones(1, 2)])
    count, values = 500, w.values

    def task() -> Answer:
        begin = time.perf_counter()
        for _ in range(count):
            y = x
            for _ in range(64):
                y = y + 1
            result = values(y)
        seconds = (time.perf_counter() - begin) / count
        assert np.all(result == 65)
        return {"seconds": seconds}

    return task


def chains(kind: str, column: str) -> Task:
    """Two chains that do not depend on each other, their calls in turns; or one of them."""
    if column == "two processes":
        return two_processes(kind)
    w = words(column)
    weight = w.ones(128, 128) / 128
    products = (lambda x: w.dot(x, weight)), (128, 128)
    elementwise = (lambda x: w.tanh(x * 2 + 1)), (60_000,)
    pairs = {
        "dot": (products, products),
        "elementwise": (elementwise, elementwise),
        "mixed": (products, elementwise),
    }
    halves = {"first half": slice(1), "second half": slice(1, 2)}
    chosen = pairs[kind][halves.get(column, slice(2))]

    def task() -> Answer:
        values = w.waited([w.ones(*shape) for _, shape in chosen])
        begin = time.perf_counter()
        for _ in range(150):
            values = [step(value) for (step, _), value in zip(chosen, values, strict=True)]
        w.waited(values)
        return {"seconds": time.perf_counter() - begin}

    return task


def two_processes(kind: str) -> Task:
    """One chain in each of two processes: what two processors of this machine can do at most.

    Those of a virtual machine may be the halves of one, or be shared with strangers.
    """
    one_thread = {"AFTERGLOW_NUM_THREADS": "1"}
    halves = {
        name: Process(sys.executable, OURS, "window", timeout=300, environment=one_thread)
        for name in ("first half", "second half")
    }
    for half in halves.values():
        half.ready()

    def task() -> Answer:
        for name, half in halves.items():
            half.send(row=f"window/chains of {kind}", column=name)
        return {"seconds": max([half.receive()["seconds"] for half in halves.values()])}

    return task


def overlap(column: str) -> Task:
    """How long a copy to cpu(1) runs, all in all and without a product beside it."""
    import afterglow as mx

    w = words(column)
    x, y = w.waited([mx.nd.ones((4000, 4000)), mx.nd.ones((SIZE, SIZE))])

    def task() -> Answer:
        with mx.engine.record() as events:
            product = mx.nd.dot(y, y)
            copy = x.as_in_context(mx.cpu(1))
            w.waited([product, copy])
        assert copy.context == mx.cpu(1)
        running = {"copy": 0, "dot": 0}
        copying, both, last = 0, 0, 0
        for event in sorted(events, key=lambda event: event.nanoseconds):
            if event.op in running and event.what != "pushed":
                copying += (event.nanoseconds - last) * (running["copy"] > 0)
                both += (event.nanoseconds - last) * (running["copy"] > 0 and running["dot"] > 0)
                running[event.op] += 1 if event.what == "started" else -1
                last = event.nanoseconds
        assert copying, f"no copy among {sorted({event.op for event in events})}"
        return {"seconds": (copying if column == "whole copy" else copying - both) / 1e9}

    return task


def chain(x: Any) -> Any:
    """One long chain: two fused passes."""
    for _ in range(PASS_CALLS // 2):
        x = (x + 1) * 0.5
    return x


def tree(x: Any) -> Any:
    """Sums of short branches that share an input."""
    total = x
    for step in range(PASS_CALLS // 3):
        total = total + (x * step - 2)
    return total


def kept(x: Any) -> Any:
    """Independent calls whose results all stay."""
    return [x + step for step in range(PASS_CALLS)]


def softmaxes(x: Any) -> Any:
    """Softmax again and again: reductions and broadcasting."""
    for _ in range(PASS_CALLS // 5):
        e = (x - x.max(axis=1, keepdims=True)).exp()
        x = e / e.sum(axis=1, keepdims=True)
    return x


def passes(program: Callable[[Any], Any], column: str) -> Task:
    """Issue, optimise and run, waiting for the last result: the time of one call.

    The arrays are so small that there is nothing to win, and fusion is told to take them
    nevertheless; so the difference is the price of looking at a call, grouping it and planning the
    pass.
    """
    import afterglow as mx
    from afterglow import _core, engine

    _core.set_smallest_fused(0)
    x = mx.nd.ones((4, 16))
    for name in engine.passes():
        engine.set_pass(name, column == "passes on")
    repeats = 100

    def run() -> None:
        for _ in range(repeats):
            result = program(x)
            (result[-1] if isinstance(result, list) else result).wait_to_read()

    return timed(run, count=repeats * PASS_CALLS)


def formula_row(name: str, text: str = "", *wanted: Goal) -> Row:
    """Make the row of a formula; by default the faster compiled one is the measure."""
    title = text or FORMULAS[name].text
    return Row(
        f"window/{name}",
        (Figure(title, wanted or (Goal(1.5, tuple(COMPILED)),), readme=bool(text)),),
        (OURS, "numpy", "torch", *COMPILED, "mxnet"),
        partial(formula, name),
        both_mallocs=True,
        values=lambda column: Applied(column, FORMULAS[name]).values(),
    )


CHAIN_THREADS = {"afterglow": "2", "one thread": "1"}
ROWS = [
    Row(
        "window/overwritten",
        (
            Figure(
                "1000 overwritten `y = x + 1`, (2000, 2000)",
                goals(mxnet=1 / 100, numpy=1 / 50),
                readme=True,
            ),
        ),
        (OURS, "numpy", "mxnet"),
        overwritten,
        rounds=5,
        both_mallocs=True,
        notes={"ran": "additions that ran, of 1000: count"},
    ),
    formula_row(
        "expression",
        "`tanh(x * 2 + 1).exp().sqrt() / (x + 3)`",
        *goals(jax_jit=1.2, torch=1 / 4),
    ),
    formula_row("softmax", "softmax of 2000 rows, written out"),
    formula_row("adam_operators", "Adam update of 4 million numbers, written out"),
    Row(
        "window/dependent_64",
        (Figure("64 dependent tiny calls and one read", goals(numpy=1.0), readme=True),),
        (OURS, "numpy", "torch", "mxnet"),
        dependent_64,
        both_mallocs=True,
    ),
    formula_row("chain", "", *goals(jax_jit=1.2, torch_compile=1.2)),
    *map(formula_row, ("layer_norm", "gelu_power", "gelu_product", "adam_slices")),
    *[
        Row(
            f"window/chains of {kind}",
            (
                Figure(
                    f"two independent chains of {kind} calls, two workers",
                    (Goal(1 / 1.6, ("one thread",)),),
                ),
            ),
            (OURS, "one thread", "two processes"),
            partial(chains, kind),
            environment={
                name: {"AFTERGLOW_NUM_THREADS": number} for name, number in CHAIN_THREADS.items()
            },
        )
        for kind in ("dot", "elementwise", "mixed")
    ],
    Row(
        "window/overlap",
        (Figure("copy to cpu(1) without a product beside it"),),
        (OURS, "whole copy"),
        overlap,
    ),
    *[
        Row(
            f"window/passes, {program.__name__}",
            (
                Figure(
                    f"a tiny call with all passes ({program.__name__})",
                    (Goal(1.0, ("passes off",), more=300e-9),),
                ),
            ),
            ("passes on", "passes off"),
            partial(passes, program),
            rounds=21,
        )
        for program in (chain, tree, kept, softmaxes)
    ],
]

if __name__ == "__main__":
    from bench import main

    main("window")

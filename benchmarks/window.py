# SPDX-License-Identifier: Apache-2.0
"""The figures of the lazy window (dropping, fusing, run-ahead, overlap), side by side in one run.

    python benchmarks/window.py [--rounds 15] [--rows a,b,c] [--json FILE]
        [--peer mxnet=INTERPRETER] [--peer torch=INTERPRETER] [--peer jax=INTERPRETER]

Afterglow and NumPy run under this interpreter, each library in a process of its own. In every round
the libraries take their turns in random order; a figure is the median over the rounds. Each peer
also runs with glibc's mmap and trim thresholds off, and its better median counts. Before a formula
is timed, its values are compared between all libraries. Except in row a, nothing that is timed can
be dropped: results are kept and waited for. Every goal says what part of the other figure
Afterglow's own may be at most.

    a  1000 overwritten `y = x + 1`                e  memory and time of a loop over batches
    b  an expression of elementwise calls          f  memory of 10^6 dependent tiny calls
    c  a chain of six cheap calls; memory of both  g  issuing tiny calls
    d  softmax, layer norm, gelu, Adam             h  independent chains on two workers
                                                   i  a copy beside a product
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from os import environ
from pathlib import Path

import numpy as np
import window_memory
from foundation import FOLDER, NO_PAGE_FAULTS, Worker, readable
from window_worker import COLUMNS, FORMULAS

OURS = "afterglow"
COMPILED = ("torch.compile", "jax.jit")
MEGABYTE = 1e6


@dataclass
class Figure:
    """One line of the table: ours beside another figure."""

    row: str
    what: str
    ours: float
    against: str
    theirs: float
    goal: float | None = None  #: the largest ratio that will do
    unit: str = "seconds"
    note: str = ""

    @property
    def ratio(self) -> float:
        """What part of the other figure ours is."""
        return self.ours / self.theirs if self.theirs else math.inf if self.ours else 0.0

    @property
    def verdict(self) -> str:
        """Whether the goal is met."""
        return "" if self.goal is None else "met" if self.ratio <= self.goal else "MISSED"

    def show(self, figure: float) -> str:
        """A figure in its unit."""
        return readable(figure) if self.unit == "seconds" else f"{figure / MEGABYTE:.1f} MB"

    def cells(self) -> tuple[str, ...]:
        """The line of the table."""
        goal = "" if self.goal is None else f"<= {self.goal:g}"
        shown = (self.show(self.ours), self.against, self.show(self.theirs), f"{self.ratio:.3g}")
        return (self.row, self.what, *shown, goal, self.verdict, self.note)


HEADINGS = ("", "what", OURS, "beside", "takes", "ratio", "goal", "", "")


class Library(Worker):
    """A library in its own process, which answers requests of :mod:`window_worker`."""

    def __init__(self, name: str, interpreter: str, environment: dict[str, str]) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [interpreter, str(FOLDER / "window_worker.py"), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"TORCHINDUCTOR_COMPILE_THREADS": "1", **environ, **environment},
        )
        self.answer()
        self.times = defaultdict(list)

    def send(self, request: str) -> None:
        """Let the process work on a request."""
        assert self.process.stdin
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, float]:
        """Wait for the answer to a request."""
        answer = self.answer()
        if "error" in answer:
            raise RuntimeError(str(answer["error"]))
        return answer

    def ask(self, request: str) -> dict[str, float]:
        """Answer one request."""
        self.send(request)
        return self.receive()

    def run(self, task: str, record: bool) -> None:
        """One round of one request."""
        seconds = self.ask(task)["seconds"]
        if record:
            self.times[task].append(seconds)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin
        with suppress(OSError):  # it may have ended already
            self.process.stdin.close()
        self.process.wait()


class Bench:
    """The processes of all libraries, started when a row first needs them."""

    def __init__(self, peers: dict[str, str], rounds: int) -> None:
        self.interpreters = {OURS: sys.executable, "numpy": sys.executable, **peers}
        self.rounds = rounds
        self.started: dict[str, list[Library]] = {}
        self.columns = [
            column for name in self.interpreters for column in COLUMNS.get(name, (name,))
        ]

    def group(self, column: str) -> list[Library]:
        """The processes behind a column: ours, or a peer's with both settings of malloc."""
        for name, interpreter in self.interpreters.items():
            if column in COLUMNS.get(name, (name,)):
                if name not in self.started:
                    settings: list[dict[str, str]] = [{}] if name == OURS else [{}, NO_PAGE_FAULTS]
                    self.started[name] = [Library(name, interpreter, s) for s in settings]
                return self.started[name]
        raise KeyError(column)

    def race(self, task: str, columns: list[str], most_rounds: int = 1000) -> dict[str, float]:
        """Seconds of every column: medians over rounds in which all take their turns."""
        turns = [
            (library, f"{column} {task}") for column in columns for library in self.group(column)
        ]
        interleave(turns, task, min(self.rounds, most_rounds))
        return {
            column: min(library.median(f"{column} {task}") for library in self.group(column))
            for column in columns
        }

    def check(self, task: str) -> None:
        """Compare the values of a formula between all columns."""
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "values.npy")
            values = {}
            for column in self.columns:
                self.group(column)[0].ask(f"{column} check {task} {file}")
                values[column] = np.load(file)
        for column, array in values.items():
            if not np.allclose(array, values["numpy"], rtol=1e-4, atol=1e-5):
                worst = np.max(np.abs(array - values["numpy"]))
                raise RuntimeError(f"{column} differs in {task} by {worst}")

    def close(self) -> None:
        """End all processes."""
        for group in self.started.values():
            for library in group:
                library.close()


def interleave(turns: Sequence[tuple[Library | Pair, str]], name: str, rounds: int) -> None:
    """All take their turns in random order, round after round; the first round warms up."""
    for number in range(rounds + 1):
        for library, request in random.sample(turns, len(turns)):
            time.sleep(0.005)  # the threads of the last one may still spin
            library.run(request, record=number > 0)
        print(f"\r{name}: round {number}/{rounds} ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def beside(
    row: str, what: str, seconds: dict[str, float], goals: dict[str, float]
) -> Iterator[Figure]:
    """Ours beside every other column."""
    for column, theirs in seconds.items():
        if column != OURS:
            yield Figure(row, what, seconds[OURS], column, theirs, goals.get(column))


def overwritten(bench: Bench) -> Iterator[Figure]:
    """Row a: work that nobody can see is not done."""
    columns = [column for column in bench.columns if column in (OURS, "numpy", "mxnet")]
    seconds = bench.race("overwritten_1000", columns, most_rounds=5)
    ran = bench.group(OURS)[0].ask(f"{OURS} overwritten_1000")["ran"]
    goals = {"mxnet": 1 / 100, "numpy": 1 / 50}
    for figure in beside("a", "1000 overwritten `y = x + 1`", seconds, goals):
        figure.note = f"{ran:.0f} of 1000 additions ran"
        yield figure


def formula(bench: Bench, row: str, task: str, goals: dict[str, float]) -> Iterator[Figure]:
    """The time of one formula beside all peers; a goal may be set for the faster compiled one."""
    bench.check(task)
    seconds = bench.race(task, bench.columns)
    text = FORMULAS[task].text
    for figure in beside(row, text, seconds, goals):
        plain = bench.group(figure.against)[0].median(f"{figure.against} {task}")
        figure.note = f"{readable(plain)} with malloc as it is"
        yield figure
    compiled = [seconds[column] for column in COMPILED if column in seconds]
    if "compiled" in goals and compiled:
        faster = min(compiled)
        yield Figure(row, text, seconds[OURS], "faster compiled", faster, goals["compiled"])


def formula_memory(bench: Bench, row: str, task: str) -> Iterator[Figure]:
    """How much memory one formula needs beside its result."""
    text = f"memory of {FORMULAS[task].text}"
    answer = bench.group(OURS)[0].ask(f"{OURS} peak {task}")
    growth, output = answer["growth"], answer["output"]
    yield Figure(row, text, growth, "one result", output, 1.1, "bytes", "own count")
    runs = [window_memory.measure("formula", task).growth for _ in range(min(bench.rounds, 5))]
    growth = statistics.median(runs)
    yield Figure(row, text, growth, "one result", output, 1.1, "bytes", "resident")


def expression(bench: Bench) -> Iterator[Figure]:
    """Row b."""
    yield from formula(bench, "b", "expression", {"jax.jit": 1.2, "torch": 1 / 4})
    yield from formula_memory(bench, "b", "expression")


def chain(bench: Bench) -> Iterator[Figure]:
    """Row c."""
    yield from formula(bench, "c", "chain", {"jax.jit": 1.2, "torch.compile": 1.2})
    yield from formula_memory(bench, "c", "chain")


def formulas(bench: Bench) -> Iterator[Figure]:
    """Row d."""
    for task in FORMULAS:
        if task not in ("expression", "chain"):
            yield from formula(bench, "d", task, {"compiled": 1.5})


def loops(bench: Bench) -> Iterator[Figure]:
    """Row e: bounded run-ahead costs neither memory nor time."""
    for size in window_memory.LOOPS:
        runs: dict[str, list[window_memory.Run]] = defaultdict(list)
        for number in range(bench.rounds):
            for variant in random.sample(window_memory.VARIANTS, len(window_memory.VARIANTS)):
                runs[variant].append(window_memory.measure("loop", size, variant))
            print(
                f"\r{size}: round {number + 1}/{bench.rounds} ", end="", file=sys.stderr, flush=True
            )
        print(file=sys.stderr)
        sums = [run.value for variant in runs.values() for run in variant]
        if not np.allclose(sums, sums[0], rtol=1e-4):
            raise RuntimeError(f"the sums differ: {sums}")
        seconds, growth = (
            {
                name: statistics.median(run[field] for run in variant)
                for name, variant in runs.items()
            }
            for field in (0, 1)
        )
        own, worst = growth["default"], max(run.growth for run in runs["default"])
        synchronised = growth["synchronised"]
        note = f"worst {worst / 1e6:.1f} MB, synchronised {synchronised / 1e6:.1f} MB"
        bound = 1.25 * synchronised + 16 * MEGABYTE
        yield Figure("e", f"memory, {size}", own, "bound", bound, 1.0, "bytes", note)
        yield Figure("e", f"memory, {size}", own, "unlimited", growth["unlimited"], None, "bytes")
        for variant, goal in (("unlimited", 1.05), ("synchronised", None)):
            yield Figure("e", f"time, {size}", seconds["default"], variant, seconds[variant], goal)


def steps(bench: Bench) -> Iterator[Figure]:
    """Row f: memory does not grow with the number of calls."""
    few, many = (
        [window_memory.measure("steps", str(count)) for _ in range(min(bench.rounds, 5))]
        for count in (100_000, 1_000_000)
    )
    if many[0].value != 2.5e6:
        raise RuntimeError(f"the sum is {many[0].value}")
    growth, bound = (statistics.median(run.growth for run in runs) for runs in (many, few))
    bound += 4 * MEGABYTE
    yield Figure("f", "memory, 10^6 `s = s + x`", growth, "10^5 + 4 MB", bound, 1.0, "bytes")
    per_step = [
        statistics.median(run.seconds for run in runs) / count
        for runs, count in ((many, 1_000_000), (few, 100_000))
    ]
    yield Figure("f", "time of a step of 10^6", per_step[0], "of 10^5", per_step[1])


def tiny(bench: Bench) -> Iterator[Figure]:
    """Row g: what a call costs the thread that makes it."""
    columns = [column for column in bench.columns if column not in COMPILED]
    for task, what, goals in (
        ("issue_overwritten", "issue `y = x + 1`, overwritten", {"numpy": 0.8, "mxnet": 1 / 25}),
        ("issue_kept", "issue `x + 1`, kept", {"numpy": 0.8, "mxnet": 1 / 25}),
        ("dependent_64", "64 dependent tiny calls, one read", {"numpy": 1.0}),
    ):
        seconds = bench.race(task, columns)
        answer = bench.group(OURS)[0].ask(f"{OURS} {task}")
        for figure in beside("g", what, seconds, goals):
            if "wait" in answer:
                figure.note = f"final wait of 20000 calls {readable(answer['wait'])}"
            yield figure


class Pair:
    """Two processes with one thread each: what two processors of this machine can do at most."""

    def __init__(self) -> None:
        self.halves = [
            Library(OURS, sys.executable, {"AFTERGLOW_NUM_THREADS": "1"}) for _ in range(2)
        ]
        self.times: dict[str, list[float]] = defaultdict(list)

    def run(self, task: str, record: bool) -> None:
        """One chain in each process, at the same time."""
        for number, half in enumerate(self.halves):
            half.send(f"{task} {number}")
        seconds = max([half.receive()["seconds"] for half in self.halves])
        if record:
            self.times[task].append(seconds)

    def close(self) -> None:
        """End both processes."""
        for half in self.halves:
            half.close()


def parallel(bench: Bench) -> Iterator[Figure]:
    """Row h: independent calls run at once, beside the same work on one thread.

    Two processors of a virtual machine may be the halves of one, or share it with strangers: the
    second line of each kind shows what two processes without anything in common reach in this run.
    """
    one, two = (
        Library(OURS, sys.executable, {"AFTERGLOW_NUM_THREADS": threads}) for threads in "12"
    )
    pair = Pair()
    try:
        for kind in ("dot", "elementwise", "mixed"):
            request = f"{OURS} chains {kind}"
            turns: list[tuple[Library | Pair, str]] = [(one, request), (two, request)]
            interleave([*turns, (pair, request)], f"chains, {kind}", bench.rounds)
            alone, ours, most = (
                (statistics.median(each.times[request]), min(each.times[request]))
                for each in (one, two, pair)
            )
            fastest = f"fastest rounds {ours[1] / alone[1]:.3g}"
            what = f"two chains, {kind}, two workers"
            yield Figure("h", what, ours[0], "one thread", alone[0], 1 / 1.6, note=fastest)
            fastest = f"two processes / one thread {most[0] / alone[0]:.3g}"
            yield Figure("h", what, ours[0], "two processes", most[0], note=fastest)
    finally:
        for each in (one, two, pair):
            each.close()


def overlap(bench: Bench) -> Iterator[Figure]:
    """Row i: copies run beside compute."""
    answers = [bench.group(OURS)[0].ask(f"{OURS} overlap") for _ in range(bench.rounds)]
    alone, copy = (statistics.median(a[key] for a in answers) for key in ("seconds", "copy"))
    yield Figure("i", "copy to cpu(1) without a product beside it", alone, "whole copy", copy)


ROWS: dict[str, Callable[[Bench], Iterator[Figure]]] = {
    "a": overwritten,
    "b": expression,
    "c": chain,
    "d": formulas,
    "e": loops,
    "f": steps,
    "g": tiny,
    "h": parallel,
    "i": overlap,
}


def print_table(figures: list[Figure]) -> None:
    """One line per figure, columns aligned."""
    lines = [HEADINGS, *(figure.cells() for figure in figures)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    for line in lines:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )


def main() -> None:
    """Read the command line, run the rows, print the table."""
    parser = argparse.ArgumentParser(description="The figures of the lazy window, as ratios.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--rows", default=",".join(ROWS), help="for example a,b,e")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=INTERPRETER")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    bench = Bench(dict(peer.split("=", 1) for peer in arguments.peer), arguments.rounds)
    figures: list[Figure] = []
    failures: list[str] = []
    try:
        for row in arguments.rows.split(","):
            try:
                for figure in ROWS[row](bench):
                    figures.append(figure)
            except (RuntimeError, SystemExit, OSError) as error:
                failures.append(f"row {row} broke off: {error}")
    finally:
        bench.close()
    print_table(figures)
    print(*failures, sep="\n")
    if arguments.json:
        lines = [
            {**asdict(figure), "ratio": figure.ratio, "verdict": figure.verdict}
            for figure in figures
        ]
        arguments.json.write_text(json.dumps({"figures": lines, "failures": failures}, indent=1))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""The figures of the foundation, as ratios measured side by side in one run.

    python benchmarks/foundation.py [--rounds 15] [--peer torch=INTERPRETER] [--peer jax=...]

Afterglow and NumPy run under this interpreter, each library in a process of its own. In every
round the libraries take their turns in random order; a figure is the median over the rounds. Each
peer also runs with glibc's mmap and trim thresholds off, and its better median counts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
TASKS = {
    "issue_overwritten": "issue `y = x + 1`, (1, 2), overwritten",
    "issue_kept": "issue `x + 1`, (1, 2), kept",
    "value": "`(x + 1)` with its value, (1, 2)",
    "add_2000": "(2000, 2000) + 1, synchronised",
    "dot_2000": "dot of 2000 x 2000",
    "normal_1000": "random.normal 1000 x 1000",
}
NO_PAGE_FAULTS = {
    "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=4294967296:"
    "glibc.malloc.trim_threshold=4294967296"
}


class Worker:
    """A library in its own process."""

    def __init__(self, name: str, interpreter: str, environment: dict[str, str]) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [interpreter, str(FOLDER / "worker.py"), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self.answer()
        self.times: dict[str, list[float]] = {task: [] for task in TASKS}
        self.waits: dict[str, list[float]] = {task: [] for task in TASKS}

    def answer(self) -> dict[str, float]:
        """The next line from the worker."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the worker for {self.name} ended")
        answer: dict[str, float] = json.loads(line)
        return answer

    def run(self, task: str, record: bool) -> None:
        """One round of one task."""
        assert self.process.stdin
        self.process.stdin.write(task + "\n")
        self.process.stdin.flush()
        answer = self.answer()
        if record:
            self.times[task].append(answer["seconds"])
            self.waits[task].append(answer.get("wait", 0.0))

    def median(self, task: str) -> float:
        """Seconds of one operation."""
        return statistics.median(self.times[task])


def readable(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, factor in (("ns", 1e9), ("us", 1e6), ("ms", 1e3)):
        if seconds * factor < 1000:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def compare(peers: dict[str, str], rounds: int) -> None:
    """Run all libraries in turns and print times, spread and ratios."""
    groups = {"afterglow": [Worker("afterglow", sys.executable, {})]}
    for name, interpreter in {"numpy": sys.executable, **peers}.items():
        groups[name] = [Worker(name, interpreter, {}), Worker(name, interpreter, NO_PAGE_FAULTS)]
    workers = [worker for group in groups.values() for worker in group]
    for number in range(rounds + 1):
        for task in TASKS:
            for worker in random.sample(workers, len(workers)):
                worker.run(task, record=number > 0)  # the first round warms up
        print(f"\rround {number}/{rounds}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    ours = groups.pop("afterglow")[0]
    for task, text in TASKS.items():
        own = ours.median(task)
        low, _, high = statistics.quantiles(ours.times[task], n=4)
        print(f"{text}\n  afterglow {readable(own):>10}  (half of the rounds within", end=" ")
        print(f"{readable(low)} to {readable(high)})")
        if statistics.median(ours.waits[task]):
            print(f"    final wait of the loop {readable(statistics.median(ours.waits[task]))}")
        for name, group in groups.items():
            best = min(worker.median(task) for worker in group)
            print(f"  {name:9} {readable(best):>10}  afterglow takes {own / best:.2f} of it")
    for worker in workers:
        worker.process.stdin.close()  # type: ignore[union-attr]
        worker.process.wait()


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="The figures of the foundation, as ratios.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=INTERPRETER")
    arguments = parser.parse_args()
    compare(dict(peer.split("=", 1) for peer in arguments.peer), arguments.rounds)


if __name__ == "__main__":
    main()

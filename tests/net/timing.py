# SPDX-License-Identifier: Apache-2.0
"""Nanoseconds of a few calls, of one build or of two side by side.

Each interpreter has a process that lives all the time; they take turns within a round, so what
slows the machine down slows down all of them. Medians count.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path


class Process:
    """The rows under one interpreter."""

    def __init__(self, interpreter: str) -> None:
        script = str(Path(__file__).with_name("rows.py"))
        # In a folder of its own: the library is the one that is installed there.
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [interpreter, "-I", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.folder.name,
        )
        self.rows = self._answer().split("\t")

    def _answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the process that is timed ended with {self.process.wait()}")
        return line.rstrip("\n")

    def time(self, row: str) -> float:
        """Return the nanoseconds of one call of a row, from a short run."""
        assert self.process.stdin is not None
        print(row, file=self.process.stdin, flush=True)
        return float(self._answer())

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()


def measure(against: str | None, rounds: int, only: str) -> int:
    """Time all rows, and print the medians, and the ratios to those of another interpreter."""
    processes = [Process(sys.executable), *([Process(against)] if against else [])]
    rows = [row for row in processes[0].rows if re.search(only, row)]
    times: dict[str, list[list[float]]] = defaultdict(lambda: [[] for _ in processes])
    try:
        for number in range(rounds):
            for row in rows:
                places = range(len(processes))
                for place in places if number % 2 else reversed(places):
                    times[row][place].append(processes[place].time(row))
    finally:
        for process in processes:
            process.close()
    width = max(map(len, rows))
    print(f"{'nanoseconds of one call':{width}}  {'here':>12}", end="")
    print(f"  {'there':>12}  {'here/there':>10}  middle half" if against else "")
    for row in rows:
        medians = [statistics.median(found) for found in times[row]]
        print(f"{row:{width}}  {medians[0]:12,.0f}", end="")
        if against:
            ratios = sorted(one / other for one, other in zip(*times[row], strict=True))
            half = f"{ratios[rounds // 4]:.3f} to {ratios[rounds - 1 - rounds // 4]:.3f}"
            print(f"  {medians[1]:12,.0f}  {statistics.median(ratios):10.3f}  {half}", end="")
        print()
    return 0

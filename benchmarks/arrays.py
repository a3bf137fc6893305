# SPDX-License-Identifier: Apache-2.0
"""Single calls on arrays of 10, 10^4 and 10^7 elements, beside NumPy, PyTorch and JAX.

    python benchmarks/arrays.py [--family sorting,shape] [--rows "sort,x + y"] [--sizes 10,10000]
        [--rounds 5] [--seconds 200] [--json FILE]
        [--peer torch=INTERPRETER] [--peer jax=INTERPRETER]

Every result is waited for and forgotten before the next call, so nothing is fused or dropped. Views
are copied where Afterglow copies. Afterglow and NumPy run under this interpreter, each library in a
process of its own. In every round the libraries take their turns in random order; a figure is the
median over the rounds. Peers also run with glibc's mmap and trim thresholds off where arrays are
large, and the better median counts. Before a row is timed, its values are compared. The goal: the
fastest, or within 1.2 times of it, on nine rows of ten, and never slower than 3 times. The rows are
in :mod:`arrays_rows`.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from os import environ
from pathlib import Path

import numpy as np
from arrays_rows import LIBRARIES, ROWS
from foundation import FOLDER, NO_PAGE_FAULTS, readable

OURS = LIBRARIES[0]
SIZES = (10, 10**4, 10**7)
CLOSE, FAR = 1.2, 3.0
#: How long a loop takes, in seconds; calls that take longer are made once.
LOOP = 0.01
LARGE = 10**6


class Process:
    """A library in its own process, which answers requests of :mod:`arrays_worker`."""

    def __init__(self, name: str, interpreter: str, environment: dict[str, str]) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [interpreter, str(FOLDER / "arrays_worker.py"), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**environ, **environment},
        )
        self._answer()

    def _answer(self) -> dict[str, float]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of {self.name} ended")
        answer: dict[str, float] = json.loads(line)
        return answer

    def ask(self, **request: object) -> dict[str, float]:
        """Answer one request."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self._answer()
        if "error" in answer:
            raise RuntimeError(f"{self.name}, {ROWS[request['row']].name}: {answer['error']}")  # type: ignore[call-overload]
        return answer

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Line:
    """One row at one size: seconds by library."""

    family: str
    name: str
    size: int
    seconds: dict[str, float]

    @property
    def ratio(self) -> float:
        """How many times the fastest peer's time ours is."""
        peers = [value for name, value in self.seconds.items() if name != OURS]
        return self.seconds[OURS] / min(peers)


def check(number: int, size: int, processes: list[Process]) -> None:
    """Compare the values of a row between all libraries."""
    with tempfile.TemporaryDirectory() as folder:
        values = {}
        for process in processes:
            file = str(Path(folder) / f"{process.name}.npy")
            process.ask(row=number, size=size, file=file)
            values[process.name] = np.load(file)
    for name, array in values.items():
        if array.shape != values[OURS].shape or not np.allclose(
            array, values[OURS], rtol=1e-3, atol=1e-4
        ):
            raise RuntimeError(f"{name} and {OURS} differ in {ROWS[number].name} at {size}")


def measure(
    number: int, size: int, groups: dict[str, list[Process]], rounds: int
) -> dict[str, float]:
    """Seconds by library: medians over rounds in which all take their turns."""
    processes = [
        process
        for name in ROWS[number].expressions
        for process in groups.get(name, [])[: None if size >= LARGE else 1]
    ]
    times: dict[Process, list[float]] = defaultdict(list)
    for turn in range(rounds + 1):
        for process in random.sample(processes, len(processes)):
            seconds = process.ask(row=number, size=size, seconds=LOOP)["seconds"]
            if turn:  # the first round warms up
                times[process].append(seconds)
        # Two rounds are enough for what takes long.
        if turn > 1 and max(max(each) for each in times.values()) > 0.2:
            break
    medians: dict[str, float] = {}
    for process, each in times.items():
        median = statistics.median(each)
        medians[process.name] = min(median, medians.get(process.name, median))
    return medians


def show(lines: list[Line], columns: list[str]) -> None:
    """Print a table per family, then how many rows meet the goal."""
    for family in dict.fromkeys(line.family for line in lines):
        print(f"\n{family:26}{'size':>9}" + "".join(f"{name:>11}" for name in columns) + "  ratio")
        for line in lines:
            if line.family != family:
                continue
            cells = (
                readable(line.seconds[name]) if name in line.seconds else "" for name in columns
            )
            verdict = "" if line.ratio <= CLOSE else " *" if line.ratio <= FAR else " ***"
            print(
                f"{line.name:26}{line.size:9}"
                + "".join(f"{cell:>11}" for cell in cells)
                + f"{line.ratio:7.2f}{verdict}"
            )
    print()
    for size in [*sorted({line.size for line in lines}), 0]:
        some = [line for line in lines if size in (0, line.size)]
        close = sum(line.ratio <= CLOSE for line in some)
        far = sum(line.ratio > FAR for line in some)
        print(
            f"{size or 'all':>9}: {len(some)} rows, {close} ({100 * close / len(some):.0f} %) "
            f"fastest or within {CLOSE} of the fastest, {far} slower than {FAR:g} times"
        )
    for line in lines:
        if line.ratio > FAR:
            print(f"  {line.ratio:6.1f} times: {line.family}, {line.name}, {line.size}")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Single calls on arrays beside other libraries.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--family", default="")
    parser.add_argument("--rows", default="")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--json", default="")
    parser.add_argument("--seconds", type=float, default=200, help="rows past this time are left")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=INTERPRETER")
    arguments = parser.parse_args()
    families = set(filter(None, arguments.family.split(",")))
    names = set(filter(None, arguments.rows.split(",")))
    sizes = [int(float(size)) for size in arguments.sizes.split(",")]
    chosen = [
        number
        for number, one in enumerate(ROWS)
        if (not families or one.family in families) and (not names or one.name in names)
    ]
    peers = dict(peer.split("=", 1) for peer in arguments.peer)
    interpreters = {OURS: sys.executable, "numpy": sys.executable, **peers}
    settings: list[dict[str, str]] = [{}]
    if max(sizes) >= LARGE:
        settings.append(NO_PAGE_FAULTS)
    groups = {
        name: [
            Process(name, interpreter, setting)
            for setting in (settings if name != OURS else settings[:1])
        ]
        for name, interpreter in interpreters.items()
    }
    lines: list[Line] = []
    end = time.perf_counter() + arguments.seconds
    try:
        for size in sizes:
            for number in chosen:
                one = ROWS[number]
                if (size >= LARGE and one.only_small) or time.perf_counter() > end:
                    continue
                print(f"\r{size}: {one.name:30}", end="", file=sys.stderr, flush=True)
                try:
                    if one.comparable and size < LARGE:
                        known = [groups[name][0] for name in one.expressions if name in groups]
                        check(number, size, known)
                    seconds = measure(number, size, groups, arguments.rounds)
                except RuntimeError as error:
                    print(f"\r{error}", file=sys.stderr)
                    continue
                if OURS in seconds and len(seconds) > 1:
                    lines.append(Line(one.family, one.name, size, seconds))
    finally:
        print(file=sys.stderr)
        show(lines, list(interpreters))
        if arguments.json:
            Path(arguments.json).write_text(json.dumps([vars(line) for line in lines]))
        for group in groups.values():
            for process in group:
                process.close()


if __name__ == "__main__":
    main()

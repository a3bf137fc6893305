# SPDX-License-Identifier: Apache-2.0
"""Results: medians, spread and comparisons; tables for the terminal and for the README; JSON."""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rows import OURS, PEERS, Goal

#: The order of columns in tables; forms of Afterglow itself come after them.
ORDER = (OURS, "numpy", "torch", "torch.compile", "jax", "jax.jit", "mxnet", "onnxruntime")
#: The heading of a column in the README.
TITLES = {
    OURS: "Afterglow",
    "numpy": "NumPy",
    "torch": "PyTorch",
    "torch.compile": "`torch.compile`",
    "jax": "JAX",
    "mxnet": "MXNet",
    "onnxruntime": "ONNX Runtime",
}


def readable(figure: float, unit: str = "seconds") -> str:
    """Return a figure in the unit that suits it."""
    if unit == "bytes":
        return f"{figure / 1e6:.1f} MB"
    if unit == "count":
        return f"{figure:.0f}"
    for name, factor in (("ns", 1e9), ("us", 1e6), ("ms", 1e3)):
        if figure * factor < 999.5:
            return f"{significant(figure * factor, 3)} {name}"
    return f"{significant(figure, 3)} s"


def significant(number: float, digits: int) -> str:
    """Return a number with so many significant digits, without an exponent."""
    if not number or not math.isfinite(number):
        return f"{number:g}"
    power = int(f"{number:.{digits - 1}e}".split("e")[1])
    return f"{number:.{max(digits - 1 - power, 0)}f}"


@dataclass
class Result:
    """A figure of a row: samples by column and setting of malloc, as they were measured."""

    name: str
    text: str
    unit: str
    readme: bool
    ours: str  #: the column that is compared with the others
    samples: dict[str, dict[str, list[float]]]
    failures: dict[str, str]  #: why a column has no samples
    goals: list[Goal]
    notes: dict[str, float]

    def best(self, column: str) -> list[float]:
        """Return the samples of a column with the setting of malloc that suits it."""
        return min(self.samples[column].values(), key=statistics.median)

    def median(self, column: str) -> float:
        """Return the figure of a column."""
        return statistics.median(self.best(column))

    def spread(self, column: str) -> tuple[float, float]:
        """Return the bounds between which half of the rounds lie."""
        samples = self.best(column)
        if len(samples) < 2:
            return samples[0], samples[0]
        low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
        return low, high

    def times_as_long(self, column: str) -> float | None:
        """Return theirs divided by ours: above 1 Afterglow is faster, or takes less."""
        if self.ours not in self.samples or column == self.ours:
            return None
        ours = self.median(self.ours)
        return self.median(column) / ours if ours else None

    def verdicts(self) -> Iterable[tuple[Goal, str, bool]]:
        """Return every goal that can be judged, beside which column, and whether it is met."""
        for goal in self.goals:
            there = [column for column in goal.columns if column in self.samples]
            if there and self.ours in self.samples:
                least = min(there, key=self.median)
                yield goal, least, self.median(self.ours) <= self._most(goal, least)

    def columns(self) -> list[str]:
        """Return the columns in the order of the tables, ours first, also those that failed."""
        names = [*self.samples, *(name for name in self.failures if name not in self.samples)]
        known = [name for name in ORDER if name in names and name != self.ours]
        others = [name for name in names if name not in ORDER and name != self.ours]
        return [self.ours, *known, *others]

    def bound(self, goal: Goal, column: str) -> str:
        """Return what a goal beside a column allows us."""
        return self.show(self._most(goal, column))

    def _most(self, goal: Goal, column: str) -> float:
        return goal.ratio * self.median(column) + goal.more

    def show(self, figure: float) -> str:
        """Return a figure in its unit."""
        return readable(figure, self.unit)


def row_lines(result: Result) -> list[str]:
    """Return a row for the terminal: a line per column."""
    lines = [f"{result.name}   {plain(result.text)}"]
    for column in result.columns():
        if column not in result.samples:
            reason = result.failures.get(column, "not measured")
            lines.append(f"  {column:16} {'-':>9}   {reason}")
            continue
        low, high = map(result.show, result.spread(column))
        times = result.times_as_long(column)
        line = f"  {column:16} {result.show(result.median(column)):>9}   {low:>9} ..{high:>9}"
        if times is not None:
            line += f"   {significant(times, 3):>7} x"
        for goal, beside, met in result.verdicts():
            if beside == column:
                most = result.bound(goal, beside)
                line += f"   goal: we take at most {most}: {'met' if met else 'MISSED'}"
        lines.append(line)
    for text, figure in result.notes.items():
        what, _, unit = text.rpartition(": ")
        lines.append(f"  {what}: {readable(figure, unit)}")
    return lines


def plain(text: str) -> str:
    """Return a text without Markdown's marks of code."""
    return text.replace("`", "")


def ratio_lines(results: Sequence[Result]) -> list[str]:
    """Return the table of ratios beside the libraries, then what became of the goals."""
    there = {column for result in results for column in result.samples if result.ours == OURS}
    columns = [column for column in ORDER[1:] if column in there]
    rows = [result for result in results if any(one in result.columns() for one in columns)]
    lines = []
    if rows:
        width = max(len(plain(result.text)) for result in rows)
        heads = "".join(f"{name:>{max(len(name), 7) + 2}}" for name in columns)
        lines += [
            "how many times as long, or as much, the others take (more than 1: Afterglow less)",
            f"{'':{width}}{heads}",
        ]
    for result in rows:
        line = f"{plain(result.text):{width}}"
        for name in columns:
            times = result.times_as_long(name) if name in result.samples else None
            cell = "-" if name in result.failures else ""
            cell = cell if times is None else f"{significant(times, 2)} x"
            line += f"{cell:>{max(len(name), 7) + 2}}"
        lines.append(line.rstrip())
    return [*lines, *goal_lines(results)]


def goal_lines(results: Iterable[Result]) -> list[str]:
    """Return how many goals are met, by group and, where rows come in sizes, by size and goal."""
    counts: dict[str, list[bool]] = {}
    missed = []
    for result in results:
        parts = result.name.split("/")
        for goal, column, met in result.verdicts():
            sizes = f", {parts[-1]} elements, at most {goal.ratio:g} of theirs"
            sizes = sizes if len(parts) > 2 else ""
            counts.setdefault(parts[0] + sizes, []).append(met)
            looser = (one for one in result.goals if one.columns == goal.columns)
            if not met and goal.ratio == max(one.ratio for one in looser):
                ours, most = result.show(result.median(result.ours)), result.bound(goal, column)
                missed.append(f"  missed: {result.name}: {ours}, goal: at most {most} ({column})")
    lines = [f"{what}: {sum(met)} of {len(met)} goals met" for what, met in counts.items()]
    return ["", *lines, *missed] if lines else []


def _cell(result: Result, column: str) -> str:
    """Return our time, or how many times as long another column takes."""
    times = result.times_as_long(column)
    return f"{significant(times, 2)} x" if times else result.show(result.median(column))


def readme_table(results: Iterable[Result], versions: dict[str, str]) -> str:
    """Return the README's table in Markdown: our time, and how many times as long others take.

    JAX's column has ``jax.jit`` where that was timed.
    """
    titles = {**TITLES, "mxnet": f"MXNet {versions.get('mxnet', '')}".strip()}
    rows = [result for result in results if result.readme]
    names = {"jax.jit": "jax"}
    cells = [
        {
            names.get(column, column): _cell(result, column)
            for column in result.columns()
            if column in result.samples
        }
        for result in rows
    ]
    columns = [name for name in TITLES if any(name in row for row in cells)]
    lines = [
        "| | " + " | ".join(titles[name] for name in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for result, row in zip(rows, cells, strict=True):
        lines.append(
            " | ".join([f"| {result.text}", *(row.get(name, "") for name in columns)]) + " |"
        )
    return "\n".join(lines)


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    model = ""
    if Path("/proc/cpuinfo").is_file():
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {
        "processor": model or platform.machine(),
        "processors": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
    }


def write(
    file: Path, results: Sequence[Result], versions: dict[str, str], left_out: dict[str, str]
) -> None:
    """Write all samples, with what follows from them."""
    rows = []
    for result in results:
        figures = {
            column: {
                "median": result.median(column),
                "quartiles": result.spread(column),
                "times_as_long": result.times_as_long(column),
            }
            for column in result.samples
        }
        rows.append({**asdict(result), "figures": figures})
    about = {"machine": machine(), "versions": versions, "left_out": left_out}
    file.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n")


def read(files: Iterable[Path]) -> tuple[list[Result], dict[str, str], dict[str, str]]:
    """Read what :func:`write` wrote; of a row that is in several files the last counts."""
    results: dict[str, Result] = {}
    versions: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for file in files:
        try:
            found = json.loads(file.read_text())
            versions.update(found["versions"])
            left_out.update(found["left_out"])
            for row in found["rows"]:
                del row["figures"]
                goals = [
                    Goal(one["ratio"], tuple(one["columns"]), one["more"]) for one in row["goals"]
                ]
                results[row["name"]] = Result(**{**row, "goals": goals})
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{file} is no file of results that --json wrote: {error}") from error
    return list(results.values()), versions, left_out


def versions_line(versions: dict[str, str]) -> str:
    """Return which versions were measured."""
    named = [f"{name} {versions[name]}" for name in (OURS, *PEERS) if name in versions]
    return ", ".join(named)

# SPDX-License-Identifier: Apache-2.0
"""The command behind ``afterglow bench`` and behind every file of a group.

Afterglow beside other libraries: each column in a process of its own, which take turns in random
order, round after round; a figure is the median. A ratio says how many
times as long another takes.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import shutil
import sys
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from chart import chart
from race import Race
from results import (
    Result,
    plain,
    ratio_lines,
    read,
    readme_table,
    row_lines,
    versions_line,
    write,
)
from rows import OURS, PEERS, Row, library_of

#: The files with rows, in the order in which they are run.
GROUPS = (
    "foundation",
    "window",
    "latency",
    "threads",
    "arrays",
    "training",
    "memory",
    "hybridize",
    "networks",
    "data",
    "recording",
)
#: Seconds after which two rounds of a row will do in the quick run.
QUICK = 3.0
EVERYTHING = "afterglow bench --all takes every row (an hour and more); --group and --rows choose"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = (
        "Measure Afterglow beside other libraries. Without --group, --rows or --all: the rows of "
        "the README, in a few minutes. Ratios say how many times as long "
        "the others take: more than 1 means that Afterglow is faster."
    )
    choose = parser.add_argument_group("what is measured")
    choose.add_argument(
        *("--group", "-g"),
        action="append",
        metavar="NAME",
        help=f"the rows of a group, may be repeated: {', '.join(GROUPS)}",
    )
    choose.add_argument(
        *("--rows", "-r"),
        action="append",
        metavar="PATTERN",
        help="rows whose name has this part or matches it (*, ?), may be repeated",
    )
    choose.add_argument("--all", action="store_true", help="every row")
    choose.add_argument(
        "--quick", action="store_true", help="rows of the README only, few rounds (the default)"
    )
    choose.add_argument("--list", action="store_true", help="name the rows and measure nothing")
    how = parser.add_argument_group("how")
    how.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="NAME=INTERPRETER",
        help=f"the Python that has a library ({', '.join(PEERS)}), may be repeated; "
        "libraries of this Python take part without it",
    )
    how.add_argument("--rounds", type=_positive, metavar="N", help="rounds of every row")
    how.add_argument(
        "--timeout",
        type=_seconds,
        default=300,
        metavar="SECONDS",
        help="for one round of one peer",
    )
    out = parser.add_argument_group("what comes out")
    out.add_argument("--json", type=Path, metavar="FILE", help="write all samples")
    out.add_argument("--chart", type=Path, metavar="FILE.svg", help="draw the ratios")
    out.add_argument("--readme", action="store_true", help="print the README's table (Markdown)")
    out.add_argument(
        "--from",
        dest="results",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="measure nothing: take what --json wrote; of a row in several files the last counts",
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of rounds; at least 1 is needed")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} was given; a positive number is needed")
    return seconds


def check_writable(file: Path) -> None:
    """Refuse a file that cannot be written now rather than when everything is measured."""
    folder = file.absolute().parent
    if not folder.is_dir():
        raise ValueError(f"{file}: there is no folder {folder}")
    if file.is_dir():
        raise ValueError(f"{file}: it is a folder; a file is needed")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise ValueError(f"{file}: it cannot be written: permission denied")


def interpreters(peers: Sequence[str]) -> dict[str, str]:
    """Return the interpreter of every library that may take part."""
    found = {OURS: sys.executable}
    given: dict[str, str] = {}
    for peer in peers:
        name, equals, interpreter = peer.partition("=")
        name = "onnxruntime" if name == "onnx" else name
        if not equals or name not in PEERS:
            raise ValueError(
                f"--peer {peer}: NAME=INTERPRETER is needed, NAME one of {', '.join(PEERS)}"
            )
        path = shutil.which(interpreter)
        if path is None:
            raise ValueError(f"--peer {peer}: there is no program {interpreter!r}")
        given[name] = path
    for name in PEERS:
        if name in given:
            found[name] = given[name]
        elif importlib.util.find_spec(name):
            found[name] = sys.executable
    return found


def matches(name: str, pattern: str, names: set[str]) -> bool:
    """Whether a row is meant: by its whole name, by a part of it, or by a pattern."""
    if pattern in names:
        return name == pattern
    return pattern in name or fnmatchcase(name, pattern)


def chosen_rows(arguments: argparse.Namespace) -> list[Row]:
    """Return the rows that were asked for."""
    for name in arguments.group or ():
        if name not in GROUPS:
            raise ValueError(f"--group {name}: there is no such group; {', '.join(GROUPS)}")
    rows: list[Row] = []
    for group in GROUPS:
        if not arguments.group or group in arguments.group:
            rows += importlib.import_module(group).ROWS
    if arguments.quick:
        rows = [row for row in rows if any(figure.readme for figure in row.figures)]
    if arguments.rows:
        names = {row.name for row in rows}
        rows = [row for row in rows if any(matches(row.name, one, names) for one in arguments.rows)]
    if not rows:
        raise ValueError("no row was chosen; --list names them")
    return rows


class Progress:
    """Says on standard error which row and round it is, and about how long it will take."""

    def __init__(self, rows: int) -> None:
        self.rows, self.done, self.begin = rows, 0, time.monotonic()
        self.terminal = sys.stderr.isatty()

    def say(self, row: Row, number: int, rounds: int) -> None:
        """Say it; on a terminal in place, else once a row."""
        spent = time.monotonic() - self.begin
        left = (
            f", about {spent / self.done * (self.rows - self.done):.0f} s left" if self.done else ""
        )
        text = f"[{self.done + 1}/{self.rows}] {row.name}"
        if self.terminal:
            text += f", round {number} of {rounds}" if number else ", warming up"
            print(f"\r\033[K{text}{left}", end="", file=sys.stderr, flush=True)
        elif number == 0 or (number == 1 and row.fresh):
            print(f"{text}{left}", file=sys.stderr, flush=True)

    def end_row(self) -> None:
        """Make room for what is printed next."""
        self.done += 1
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def measure(
    rows: Sequence[Row], race: Race, arguments: argparse.Namespace, results: list[Result]
) -> None:
    """Measure all rows, print each when it is done and append it to the results."""
    progress = Progress(len(rows))
    for row in rows:
        rounds = arguments.rounds or row.rounds
        enough = float("inf") if arguments.rounds else row.enough
        if arguments.quick and not arguments.rounds:
            enough = min(enough, QUICK)
        measured = race.measure(
            row, rounds, enough, lambda number, row=row, n=rounds: progress.say(row, number, n)
        )
        progress.end_row()
        for result in measured:
            results.append(result)
            if not arguments.readme:
                print("\n".join(row_lines(result)), end="\n\n", flush=True)
        if arguments.json:  # a run takes long, and may be ended at any moment
            write(arguments.json, results, race.versions, race.left_out)


def list_rows(rows: Sequence[Row]) -> None:
    """Name the rows, what they are and who takes part."""
    width = max(len(row.name) for row in rows)
    for row in rows:
        mark = "*" if any(figure.readme for figure in row.figures) else " "
        for figure in row.figures:
            print(f"{mark} {row.name:{width}}  {plain(figure.text)}  [{', '.join(row.columns)}]")
    print("* rows of the README, which the quick run measures")


def run(arguments: argparse.Namespace) -> int:
    """Measure or read, then print and write; return the exit status."""
    whole = arguments.group or arguments.rows or arguments.all or arguments.list
    arguments.quick = arguments.quick or not whole
    status, results = 0, []
    try:
        for file in (arguments.json, arguments.chart):
            if file is not None:
                check_writable(file)
        if arguments.results:
            results, versions, left_out = read(arguments.results)
            if not arguments.readme:
                for result in results:
                    print("\n".join(row_lines(result)), end="\n\n")
        else:
            rows = chosen_rows(arguments)
            if arguments.list:
                list_rows(rows)
                return 0
            needed = {library_of(column) for row in rows for column in row.columns}
            found = interpreters(arguments.peer)
            race = Race({key: found[key] for key in found if key in needed}, arguments.timeout)
            if OURS in race.left_out:
                raise ValueError(f"{OURS} cannot be imported: {race.left_out[OURS]}")
            versions, left_out = race.versions, race.left_out
            print(f"measuring {versions_line(versions)}", file=sys.stderr)
            try:
                measure(rows, race, arguments, results)
            except KeyboardInterrupt:
                race.kill()
                print("\ninterrupted; what was measured by now:", file=sys.stderr)
                status = 130
            finally:
                race.close()
    except ValueError as error:
        print(f"afterglow bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("afterglow bench: interrupted before anything was measured", file=sys.stderr)
        return 130
    try:
        if arguments.json:
            write(arguments.json, results, versions, left_out)
        if arguments.chart:
            arguments.chart.write_text(chart(results))
    except OSError as error:  # what was measured is printed all the same
        print(f"afterglow bench: {error}", file=sys.stderr)
        status = status or 2
    print(readme_table(results, versions) if arguments.readme else "\n".join(ratio_lines(results)))
    for name, reason in left_out.items():
        print(f"left out: {name}: {reason}", file=sys.stderr)
    if arguments.quick and not arguments.results:
        print(EVERYTHING, file=sys.stderr)
    return status or int(any(result.ours not in result.samples for result in results))


def main(group: str) -> None:
    """Run a group by itself: ``python benchmarks/GROUP.py``, with the options of the command."""
    parser = argparse.ArgumentParser(prog=f"{group}.py")
    add_arguments(parser)
    parser.set_defaults(group=[group])
    sys.exit(run(parser.parse_args()))

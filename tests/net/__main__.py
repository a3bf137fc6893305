# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m tests.net``."""

from __future__ import annotations

import argparse
import platform
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy

from afterglow import engine

from .comparison import Recording, differences, told
from .lines import Line, read, write


def lines(only: str) -> Iterator[Line]:
    """Yield the lines of all subjects that match a pattern."""
    from . import bits, errors, names, programs

    yield Line("surroundings", "", "Python", platform.python_version())
    yield Line("surroundings", "", "NumPy", numpy.__version__)
    yield Line("surroundings", "", "instruction set", engine.instruction_set())
    pattern = re.compile(only)
    for part in (names, errors, bits, programs):
        yield from part.lines(lambda subject: pattern.search(subject) is not None)


def record(path: Path, only: str) -> int:
    """Write a recording and say what is in it."""
    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counts = write(path, lines(only))
    told_counts = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    print(f"{path}: {told_counts}; {time.monotonic() - start:.0f} s", file=sys.stderr)
    return 0


def compare(path: Path, other: Path | None, only: str, but: str | None, examples: int) -> int:
    """Tell how what is there now, or another recording, differs from a recording."""
    before = _matching(path, only)
    if other is None:
        with tempfile.TemporaryDirectory() as folder:
            now = Path(folder) / "now.txt"
            record(now, only)
            after = read(now)
    else:
        after = _matching(other, only)
    found = [
        one
        for one in differences(before, after)
        if but is None or not re.search(but, f"{one.kind} {one.subject} {one.case}: {one.what}")
    ]
    for text in told(found, Counter(key[0] for key in before), examples):
        print(text)
    return 1 if found else 0


def _matching(path: Path, only: str) -> Recording:
    """Return the part of a recording whose subjects match a pattern."""
    return {key: text for key, text in read(path).items() if not key[1] or re.search(only, key[1])}


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.net", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record", help="write what all public functions do")
    two = commands.add_parser("compare", help="tell what is different by now")
    three = commands.add_parser("time", help="measure a few calls")
    one.add_argument("file", type=Path)
    two.add_argument("file", type=Path)
    two.add_argument("other", type=Path, nargs="?", help="another recording, in place of now")
    two.add_argument("--examples", type=int, default=3, help="for each function; 0: all")
    two.add_argument("--but", help="differences that do not count: 'kind function case: what'")
    for command in (one, two):
        command.add_argument("--only", default="", help="functions or modules that match a pattern")
    three.add_argument("--against", help="another interpreter, for instance of another build")
    three.add_argument("--rounds", type=int, default=21)
    three.add_argument("--only", default="", help="rows that match a pattern")
    arguments = parser.parse_args()
    if arguments.command == "record":
        return record(arguments.file, arguments.only)
    if arguments.command == "compare":
        words = (arguments.only, arguments.but, arguments.examples)
        return compare(arguments.file, arguments.other, *words)
    from .timing import measure

    return measure(arguments.against, arguments.rounds, arguments.only)


if __name__ == "__main__":
    sys.exit(main())

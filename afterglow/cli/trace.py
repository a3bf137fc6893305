# SPDX-License-Identifier: Apache-2.0
"""``afterglow trace FILE``: run a program and show what ran when."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .. import trace
from ..documents import DocumentError, execute
from ..trace.summary import summarize

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what ``afterglow trace`` takes."""
    parser.description = (
        "Run a script, a notebook or a chapter of a book as afterglow run does, and write a page "
        "that shows what ran when and which lines waited. A summary is printed."
    )
    parser.add_argument(
        "--output", metavar="OUT.html", help="the page (default: FILE-trace.html, here)"
    )
    parser.add_argument(
        "--events",
        metavar="OUT.json",
        help="also write trace events, for Perfetto and chrome://tracing (.json or .json.gz)",
    )
    parser.add_argument(
        "--rows", type=int, default=10, metavar="N", help="rows of each table (default: 10)"
    )
    parser.add_argument(
        "--most-events",
        type=int,
        default=trace.MOST_EVENTS,
        metavar="N",
        help="events that are kept, 40 bytes each (default: %(default)s); a call takes about three",
    )
    parser.add_argument("--keep-going", action="store_true", help="go on after a cell that fails")
    parser.add_argument("file", metavar="FILE", help="what to run; see afterglow run --help")
    rest = parser.add_argument(
        "arguments", metavar="ARGUMENTS", nargs=argparse.REMAINDER, help="arguments of the program"
    )
    rest.required = False  # or it is said to be missing along with FILE


def run(arguments: argparse.Namespace) -> int:
    """Run the file and write the page, also of a program that fails."""
    # What is written is written here, wherever the program goes.
    page = Path(arguments.output or f"{Path(arguments.file).stem}-trace.html").absolute()
    events = Path(arguments.events).absolute() if arguments.events else None
    try:
        for path in filter(None, (page, events)):
            trace.check_writable(path)
    except OSError as problem:
        print(f"afterglow trace: {problem}", file=sys.stderr)
        return 2
    trace.start(arguments.most_events)
    try:
        return execute(arguments.file, arguments.arguments, keep_going=arguments.keep_going)
    except DocumentError as problem:
        print(f"afterglow trace: {problem}", file=sys.stderr)
        trace.stop()
        return 2
    finally:
        if trace.is_recording():
            _show(trace.stop(), page, events, arguments.rows)


def _show(recording: trace.Recording, page: Path, events: Path | None, rows: int) -> None:
    trace.write(recording, page)
    if events:
        trace.write(recording, events)
    print(f"\n{summarize(recording).text(rows)}", file=sys.stderr)
    print(f"page: {page}" + (f"\nevents: {events}" if events else ""), file=sys.stderr)

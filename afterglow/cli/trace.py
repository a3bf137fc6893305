# SPDX-License-Identifier: Apache-2.0
"""``afterglow trace FILE``: run a program and show what ran when."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .. import trace
from ..documents import DocumentError, execute
from ..trace.summary import summarize
from ._program import add_program, note_options_of_program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what ``afterglow trace`` takes."""
    parser.description = (
        "Run a script, a notebook or a chapter of a book as afterglow run does, and write a page "
        "that shows what ran when and which lines waited. A summary is printed."
    )
    parser.add_argument(
        *("--output", "-o"), metavar="OUT.html", help="the page (default: FILE-trace.html, here)"
    )
    parser.add_argument(
        "--events",
        metavar="OUT.json",
        help="also write trace events, for Perfetto and chrome://tracing (.json or .json.gz)",
    )
    parser.add_argument(
        "--rows", type=_positive, default=10, metavar="N", help="rows of each table (default: 10)"
    )
    parser.add_argument(
        "--most-events",
        type=_positive,
        default=trace.MOST_EVENTS,
        metavar="N",
        help="events that are kept, 40 bytes each (default: %(default)s); a call takes about three",
    )
    parser.add_argument("--keep-going", action="store_true", help="go on after a cell that fails")
    add_program(parser, "what to run; see afterglow run --help")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} was given; a positive number is needed")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Run the file and write the page, also of a program that fails."""
    note_options_of_program(arguments)
    # What is written is written here, wherever the program goes.
    page = Path(arguments.output or f"{Path(arguments.file).stem}-trace.html").absolute()
    events = Path(arguments.events).absolute() if arguments.events else None
    try:
        for path in filter(None, (page, events)):
            trace.check_writable(path)
    except OSError as problem:
        print(f"afterglow trace: {problem}", file=sys.stderr)
        return 2
    process = os.getpid()

    def show() -> int:
        if os.getpid() != process:
            return 0  # a child of the program, whose work is not recorded
        return _show(page, events, arguments.rows, f"Trace of {Path(arguments.file).name}")

    trace.start(arguments.most_events)
    try:
        status = execute(arguments.file, arguments.arguments, keep_going=arguments.keep_going)
    except DocumentError as problem:
        print(f"afterglow trace: {problem}", file=sys.stderr)
        trace.stop()
        return 2
    except SystemExit as ended:
        failure = show()
        if failure and not ended.code:
            return failure
        raise
    failure = show()
    return status or failure


def _show(page: Path, events: Path | None, rows: int, title: str) -> int:
    """Write everything, and return the exit status."""
    if not trace.is_recording():
        print("afterglow trace: no page: the program ended the recording itself", file=sys.stderr)
        return 2
    recording = trace.stop()
    lines, status = [f"\n{summarize(recording).text(rows)}"], 0
    try:
        trace.write(recording, page, title=title)
        lines.append(f"page: {page}")
        if events:
            trace.write(recording, events)
            lines.append(f"events: {events}")
    except OSError as problem:
        lines.append(f"afterglow trace: {problem}")
        status = 2
    print("\n".join(lines), file=sys.stderr)  # last: whoever reads may have gone
    return status

# SPDX-License-Identifier: Apache-2.0
"""``afterglow tour``: the ideas of asynchronous arrays, measured, as text and as a page."""

from __future__ import annotations

import argparse
import io
import os
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        *("--output", "-o"),
        type=Path,
        default=Path("afterglow-tour.html"),
        metavar="PATH",
        help="where to write the page with the pictures (default: %(default)s)",
    )
    parser.add_argument("--quick", action="store_true", help="fewer steps, rougher figures")
    parser.add_argument(
        "--language", choices=["en", "zh"], help="default: that of the locale, else English"
    )
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="PATH",
        help="only draw the timeline of two loops (SVG), in each language from one recording",
    )


def _obstacle(target: Path) -> str | None:
    """Say why a file cannot be written, before anything is measured for it."""
    if target.is_dir():
        return f"{target} is a folder, but a file is needed"
    if not target.parent.is_dir():
        return f"the folder {target.parent} does not exist"
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        return f"{target} cannot be written"
    return None


def run(arguments: argparse.Namespace) -> int:
    """Take the tour and write the page."""
    from .. import engine
    from ..tour.guide import take
    from ..tour.loops_picture import write_pictures
    from ..tour.words import Words, preferred_language

    target = arguments.picture or arguments.output
    obstacle = _obstacle(target)
    if obstacle is None and engine.is_serial():
        obstacle = "the engine is set to run every call at once; the tour needs its threads"
    if obstacle is not None:
        print(f"afterglow tour: {obstacle}", file=sys.stderr)
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack some letters
    words = Words(arguments.language or preferred_language())
    try:
        if arguments.picture:
            written = write_pictures(target)
        else:
            target.write_text(take(words, sys.stdout, quick=arguments.quick), encoding="utf-8")
            written = [target]
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
    for path in written:
        print(words("written", path=path.resolve()))
    return 0

# SPDX-License-Identifier: Apache-2.0
"""Running a file, whatever it is, with ``mxnet`` meaning Afterglow."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from .cells import Document
from .outputs import RecordingScreen, Screen
from .reading import is_script, read
from .script import read_script, run_script, script_as_document
from .session import run_document

#: Modules that tell a new process what ``mxnet`` means; see there.
_ALIASES = str(Path(__file__).parent / "aliases")


def execute(
    path: str,
    arguments: Sequence[str] = (),
    *,
    keep_going: bool = False,
    quiet: bool = False,
    html: str | None = None,
) -> int:
    """Run a script, a notebook or a text with cells and return the exit status.

    ``html`` is a file for a page of its text, code, output and pictures, also if it fails.

    ``sys.argv``, ``sys.path`` and the module ``__main__`` are those of the program from then on.
    Raises :class:`DocumentError` for a file that cannot be run, and :class:`SystemExit` where the
    program does.
    """
    run: Callable[[Screen | None], int]
    if is_script(path):
        source = read_script(path)
        document = script_as_document(path, source)
        run = partial(run_script, path, source)
    else:
        document = read(path)
        run = partial(run_document, document, keep_going, quiet)
    import afterglow.as_mxnet  # noqa: F401

    sys.argv[:] = [path, *arguments]
    folder = os.path.dirname(os.path.realpath(path))
    # Python puts the folder of the program first, unless it was told not to (-P).
    sys.path[:] = (
        [_ALIASES, *sys.path] if sys.flags.safe_path else [folder, _ALIASES, *sys.path[1:]]
    )
    return run(None) if html is None else _run_for_page(run, document, os.path.abspath(html))


def _run_for_page(run: Callable[[Screen | None], int], document: Document, page: str) -> int:
    from .page import write_page

    process = os.getpid()
    document = replace(document, path=os.path.abspath(document.path))
    screen = RecordingScreen(Path(document.path).parent)
    try:
        with screen.recording():
            return run(screen)
    finally:
        if os.getpid() == process:  # and not a child of the program
            write_page(document, screen.shown, page)

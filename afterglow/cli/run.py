# SPDX-License-Identifier: Apache-2.0
"""``afterglow run FILE``: a script, a notebook or a chapter of a book."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import AbstractContextManager, nullcontext

from ..documents import DocumentError, execute
from ._program import add_program, note_options_of_program

_NOTES = """\
FILE is one of
  .py           run as python FILE ARGUMENTS does
  .ipynb        the code cells of a notebook (formats 3 and 4)
  .md, .txt     fenced blocks. In a chapter of a book those that begin with
                ```{.python .input}, without those for other frameworks
                (%%tab pytorch, #@tab pytorch); in other texts ```python,
                ```py, {.python} and sessions with >>>

mxnet means Afterglow; so do d2l and d2lzh where they are not installed.

The value of the last expression of a cell is shown, as in a notebook. !command
and %%bash run in the shell; %time, %timeit, %%time and %%timeit measure; other
magics are skipped, and so are pip install and conda install. %%trace shows which
lines waited. Matplotlib and IPython need not be installed; figures are files in
the folder FILE-figures, without the ending of FILE, whose paths are told.

With --html everything is in one page, which needs neither a network nor other
files: text, code, output, figures, and errors at their cell.

The exit status is 1 after a failure, with --keep-going the number of failing
cells (at most 125), 2 for a file that cannot be run, 130 after Ctrl-C, or what
the program gives to sys.exit(), unless that is 0 and cells have failed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what ``afterglow run`` takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _NOTES
    parser.add_argument("--keep-going", action="store_true", help="go on after a cell that fails")
    parser.add_argument(
        "--quiet", action="store_true", help="show what the cells print, and failures"
    )
    parser.add_argument("--trace", metavar="OUT.html", help="write a page that shows what ran when")
    parser.add_argument(
        "--html", metavar="OUT.html", help="write a page with text, code, output and pictures"
    )
    add_program(parser, "what to run")


def run(arguments: argparse.Namespace) -> int:
    """Run the file."""
    note_options_of_program(arguments)
    try:
        if arguments.html:
            from ..trace import check_writable

            check_writable(arguments.html)
        with _recorded(arguments.trace, arguments.file):
            return execute(
                arguments.file,
                arguments.arguments,
                keep_going=arguments.keep_going,
                quiet=arguments.quiet,
                html=arguments.html,
            )
    except (DocumentError, OSError) as problem:
        print(f"afterglow run: {problem}", file=sys.stderr)
        return 2


def _recorded(path: str | None, file: str) -> AbstractContextManager[object]:
    """Return a scope whose work is recorded and shown in a page."""
    if path is None:
        return nullcontext()
    from .. import trace

    trace.check_writable(path)
    return trace.record_to(path, title=f"Trace of {os.path.basename(file)}")

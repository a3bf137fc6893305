# SPDX-License-Identifier: Apache-2.0
"""Running a file, whatever it is, with ``mxnet`` meaning Afterglow."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from .reading import is_script, read
from .script import read_script, run_script
from .session import run_document

#: Modules that tell a new process what ``mxnet`` means; see there.
_ALIASES = str(Path(__file__).parent / "aliases")


def execute(
    path: str, arguments: Sequence[str] = (), *, keep_going: bool = False, quiet: bool = False
) -> int:
    """Run a script, a notebook or a text with cells and return the exit status.

    ``sys.argv``, ``sys.path`` and the module ``__main__`` are those of the program from then on.
    Raises :class:`DocumentError` for a file that cannot be run, and :class:`SystemExit` where the
    program does.
    """
    if is_script(path):
        run = partial(run_script, path, read_script(path))
    else:
        run = partial(run_document, read(path), keep_going=keep_going, quiet=quiet)
    import afterglow.as_mxnet  # noqa: F401

    sys.argv[:] = [path, *arguments]
    folder = os.path.dirname(os.path.realpath(path))
    # Python puts the folder of the program first, unless it was told not to (-P).
    sys.path[:] = (
        [_ALIASES, *sys.path] if sys.flags.safe_path else [folder, _ALIASES, *sys.path[1:]]
    )
    return run()

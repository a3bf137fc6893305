# SPDX-License-Identifier: Apache-2.0
"""What Afterglow adds to IPython: cells in errors and recordings, and ``%%trace``.

``import afterglow`` in a notebook does it, and so does ``%load_ext afterglow``, which also puts
``%%trace`` in the place of another magic of that name.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

from .. import _core, trace
from ..documents.syntax import compile_cell
from ..ndarray import waitall
from ..trace.page import page
from ..trace.recording import Recording
from ..trace.summary import summarize

_HEIGHT = 640


def running_shell() -> Any:
    """Return IPython's shell if this process is one, without importing IPython."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return None if get_ipython is None else get_ipython()


def load(shell: Any, *, replace: bool) -> None:
    """Name the cells of a shell in errors and recordings, and give it ``%%trace``."""
    # IPython's own tracebacks name cells with it. It is a dictionary, so that no code of Python's
    # runs where lines are named.
    numbers = getattr(shell.compile, "_filename_map", None)
    if type(numbers) is dict:
        folder = Path(sys.modules["IPython"].__file__ or "IPython").parent
        _core.set_notebook(f"{folder}{os.sep}", numbers)
    if replace or "trace" not in shell.magics_manager.magics["cell"]:
        shell.register_magic_function(_CellTrace(shell).run, "cell", "trace")


class TracePage:
    """A recording that a notebook shows as its page, and a terminal as tables."""

    def __init__(self, recording: Recording, title: str, path: str) -> None:
        self.recording = recording
        self._title = title
        self._path = path

    def __repr__(self) -> str:
        where = self._path or "%%trace FILE.html writes it"
        return f"{summarize(self.recording).text()}\npage: {where}"

    def _repr_html_(self) -> str:
        document = escape(page(self.recording, title=self._title))
        style = f"width:100%;height:{_HEIGHT}px;border:1px solid rgba(128,128,128,.35)"
        return f'<div><iframe style="{style}" srcdoc="{document}"></iframe></div>'


@contextmanager
def recorded(
    title: str, path: str, display: Callable[[Any], None], file: str, last_line: int
) -> Iterator[None]:
    """Record in a ``with`` scope, wait for all of it, in the name of the last line of a cell.

    The page is shown also after an error; a path: it is written, too.
    """
    if path:
        trace.check_writable(path)
    end = compile("\n" * (last_line - 1) + "waitall()", file, "exec")
    trace.start()
    try:
        yield
        exec(end, {"waitall": waitall})
    finally:
        if trace.is_recording():  # the cell may have ended it itself
            recording = trace.stop()
            if path:
                trace.write(recording, path, title=title)
            display(TracePage(recording, title, str(Path(path).absolute()) if path else ""))


class _CellTrace:
    """The magic of one shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def run(self, line: str, cell: str) -> None:
        """Run the cell and show what ran when, on which thread, and which lines waited.

        %%trace            shows the page below the cell
        %%trace FILE.html  also writes it to a file

        Ends when everything that was issued is done.
        """
        # The line of the magic counts; IPython takes empty lines away in front of a cell.
        empty = len(cell) - len(cell.lstrip("\n"))
        code = "\n" * (empty + 1) + self._shell.transform_cell(cell[empty:])
        number = self._shell.displayhook.prompt_count  # newer versions count on before cells run
        name = self._shell.compile.cache(code, number, raw_code=f"\n{cell}")
        tree = self._shell.compile.ast_parse(code, filename=name)
        pieces = compile_cell(tree, code.split("\n"), name, 1)
        last_line = 2 + cell.rstrip("\n").count("\n")
        display = importlib.import_module("IPython.display").display
        with recorded(f"Trace of cell In[{number}]", line.strip(), display, name, last_line):
            for piece in pieces:
                exec(piece, self._shell.user_ns)

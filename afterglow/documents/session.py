# SPDX-License-Identifier: Apache-2.0
"""Running the cells of a document one after the other, in one namespace."""

from __future__ import annotations

import linecache
import sys
import time
from functools import partial
from pathlib import Path
from types import ModuleType

from ..ndarray import waitall
from .cells import Cell, Document
from .magics import Notebook, cell_magic
from .missing import stand_in
from .outputs import Screen
from .report import Report
from .syntax import NOTEBOOK, check_characters, compile_cell, parse

#: The exit status of a run that was interrupted, and the largest one that counts failures.
INTERRUPTED, MOST_FAILURES = 130, 125


def run_document(
    document: Document, keep_going: bool, quiet: bool, screen: Screen | None = None
) -> int:
    """Run a document and return the exit status."""
    return _Session(document, quiet, screen).run(keep_going)


class _Session:
    """The namespace of a document, and what has become of its cells."""

    def __init__(self, document: Document, quiet: bool, screen: Screen | None) -> None:
        self._cells = [cell for cell in document.cells if cell.source.strip()]
        self._report = Report(document.path, self._cells, quiet)
        # A module of this name is what pickling and multiprocessing look for.
        main = ModuleType("__main__")
        sys.modules["__main__"] = main
        self._namespace = main.__dict__
        figures = Path(f"{Path(document.path).stem}-figures").absolute()
        self._screen = screen or Screen(figures, self._report.tell)
        self._namespace["display"] = self._screen.display
        self._failed: set[int] = set()
        self._run = self._skipped = 0
        stand_in(self._screen, self._report.note)
        _remember_lines(self._cells)

    def run(self, keep_going: bool) -> int:
        """Run the cells and wait for all they have queued; return the exit status."""
        start = time.perf_counter()
        status: int | None = None
        cell = self._cells[0]
        try:
            for cell in self._cells:
                self._run_reported(cell)
                if self._failed and not keep_going:
                    break
            else:
                self._finish(cell)
        except KeyboardInterrupt as problem:
            self._report.interruption(cell, problem)
            self._screen.fail("interrupted")
            status = INTERRUPTED
        except SystemExit as leaving:
            # exit() in a notebook says nothing of the cells that failed before.
            if leaving.code or not self._failed:
                raise
        finally:
            sys.stdout.flush()
            self._report.summary(
                self._run, len(self._failed), self._skipped, time.perf_counter() - start
            )
        if status is None:
            failures = min(len(self._failed), MOST_FAILURES)
            status = failures if keep_going else min(failures, 1)
        return status

    def _finish(self, cell: Cell) -> None:
        """Wait for what is queued; what fails then is a failure of the last cell."""
        try:
            waitall()
        except Exception as problem:
            self._fail(cell, problem)

    def _run_reported(self, cell: Cell) -> None:
        self._report.heading(cell)
        if cell.skipped:
            self._skipped += 1
            return
        self._run += 1
        self._screen.begin(cell.number)
        for step in (partial(self._run_cell, cell), self._screen.end):
            try:
                step()
            except Exception as problem:
                self._fail(cell, problem)
        sys.stdout.flush()

    def _fail(self, cell: Cell, problem: Exception) -> None:
        self._screen.fail(self._report.failure(cell, problem))
        if not cell.may_fail:
            self._failed.add(cell.number)

    def _run_cell(self, cell: Cell) -> None:
        check_characters(cell)
        notebook = Notebook(self._namespace, cell.filename, self._report.note)
        self._namespace[NOTEBOOK] = notebook
        name, rest, body = cell_magic(cell)
        if not name:
            self._run_python(cell, body)
        elif not notebook.run_cell(name, rest, cell, lambda: self._run_python(cell, body)):
            self._report.note(f"cells with %%{name} are skipped")
            self._run -= 1
            self._skipped += 1

    def _run_python(self, cell: Cell, body: str) -> None:
        tree, lines = parse(body, cell.filename, cell.line)
        for code in compile_cell(tree, lines, cell.filename, cell.line, show_all=cell.prompts):
            try:
                exec(code, self._namespace)
            except Exception as problem:
                # What is typed at a prompt after a failure is run all the same.
                if not (cell.prompts and cell.may_fail):
                    raise
                self._fail(cell, problem)


def _remember_lines(cells: list[Cell]) -> None:
    """Let tracebacks and warnings show lines of cells, whatever the file looks like."""
    files: dict[str, list[str]] = {}
    for cell in cells:
        lines = files.setdefault(cell.filename, [])
        lines.extend("\n" for _ in range(cell.line - 1 - len(lines)))
        lines[cell.line - 1 :] = [f"{line}\n" for line in cell.lines]
    for filename, lines in files.items():
        # Without a time of change they are never looked for in the file.
        linecache.cache[filename] = (sum(map(len, lines)), None, lines, filename)

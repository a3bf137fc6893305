# SPDX-License-Identifier: Apache-2.0
"""What a run tells: headings, notes, failures with the cell and line, a summary."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from ..base import MXNetError
from .cells import Cell
from .outputs import terminal

_HERE = str(Path(__file__).parent) + os.sep
_PACKAGE = str(Path(__file__).parents[1]) + os.sep

#: Names of code that is a cell, or a part of one that is measured.
_WHOLE = {"<module>", "__timed__"}


class Report:
    """Writes to stderr, so that stdout has what the document prints and nothing else."""

    def __init__(self, path: str, cells: Sequence[Cell], quiet: bool) -> None:
        self._path = path
        self._cells = cells
        self._quiet = quiet
        self._noted: set[str] = set()
        self._stream = terminal(sys.stderr)

    def heading(self, cell: Cell) -> None:
        """Say which cell begins; one that is skipped with the reason."""
        first = next((line.strip() for line in cell.lines if line.strip()), "")
        text = f"skipped: {cell.skipped}" if cell.skipped else first
        self._quietly(f"── cell {cell.number}, {_place(cell, cell.line)} ── {text}")

    def note(self, text: str) -> None:
        """Say something that is worth knowing, once."""
        if text not in self._noted:
            self._noted.add(text)
            self._quietly(f"note: {text}")

    def tell(self, text: str) -> None:
        """Say something that belongs to the cell."""
        self._quietly(text)

    def failure(self, cell: Cell, problem: BaseException) -> str:
        """Print a traceback that names cells and their lines, without frames of ours; return it."""
        text = traceback.TracebackException.from_exception(problem)
        lines = [frame.lineno or 0 for frame in text.stack if _is_in(frame, cell)]
        if isinstance(problem, SyntaxError) and problem.filename == cell.filename:
            lines.append(problem.lineno or cell.line)
        where = f", line {lines[0] - cell.line + 1} ({_place(cell, lines[0])})" if lines else ""
        self._name_cells(text)
        if not any(frame.filename == cell.filename for frame in text.stack):
            # Raised by what runs the cells, which is nothing that the reader knows.
            text.stack = None  # type: ignore[assignment]
        elif isinstance(problem, MXNetError):
            # The text says what was wrong with the call; how it was found out does not matter.
            while text.stack[-1].filename.startswith(_PACKAGE):
                text.stack.pop()
        expected = ", as it is expected to" if cell.may_fail else ""
        self._write(f"{self._path}: cell {cell.number}{where} failed{expected}")
        shown = "".join(text.format()).rstrip("\n")
        self._write(shown)
        return shown

    def interruption(self, cell: Cell, problem: BaseException) -> None:
        """Say where the user put an end to the run."""
        frames = traceback.extract_tb(problem.__traceback__)
        line = next((frame.lineno for frame in frames if _is_in(frame, cell)), None) or cell.line
        self._write(f"{self._path}: interrupted in cell {cell.number}, {_place(cell, line)}")

    def summary(self, run: int, failed: int, skipped: int, seconds: float) -> None:
        """Say what became of the document."""
        cells = "cell" if run == 1 else "cells"
        self._quietly(
            f"── {self._path}: {run} {cells} run, {failed} failed, {skipped} skipped, "
            f"{seconds:.1f} s"
        )

    # --- parts ---

    def _name_cells(self, text: traceback.TracebackException) -> None:
        """Name the cell in each frame of it, also in the exceptions that led to this one."""
        text.stack[:] = [frame for frame in text.stack if not frame.filename.startswith(_HERE)]
        for frame in text.stack:
            for cell in self._cells:
                if _is_in(frame, cell):
                    place = f"cell {cell.number}, line {(frame.lineno or 0) - cell.line + 1}"
                    frame.name = place if frame.name in _WHOLE else f"{frame.name} ({place})"
                    break
        others = [text.__cause__, text.__context__, *(text.exceptions or [])]
        for other in others:
            if other is not None:
                self._name_cells(other)

    def _quietly(self, text: str) -> None:
        if not self._quiet:
            colours = self._stream.isatty() and not os.environ.get("NO_COLOR")
            self._write(f"\033[2m{text}\033[0m" if colours else text)

    def _write(self, text: str) -> None:
        sys.stdout.flush()
        print(text, file=self._stream, flush=True)


def _is_in(frame: traceback.FrameSummary, cell: Cell) -> bool:
    number = (frame.lineno or 0) - cell.line
    return frame.filename == cell.filename and 0 <= number < len(cell.lines)


def _place(cell: Cell, line: int) -> str:
    """Return file and line in the form that editors and terminals open."""
    return f"{Path(cell.filename).name}:{line}"


def without_our_frames(trace: TracebackType | None) -> TracebackType | None:
    """Let a traceback begin outside of this package."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
        trace = trace.tb_next
    return trace

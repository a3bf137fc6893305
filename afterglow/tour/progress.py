# SPDX-License-Identifier: Apache-2.0
"""Progress bars that count what is finished, not what was issued."""

from __future__ import annotations

import os
import shutil
import threading
from typing import TextIO

from .. import engine
from .quantities import wrapped
from .words import Words

_CELLS = 24
_SECONDS = 0.1


def is_terminal(stream: TextIO) -> bool:
    """Tell whether lines may be written over."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


class Progress:
    """Shows in a ``with`` scope how many calls are finished and how many are queued behind them.

    The engine knows both. A thread looks ten times a second; nothing is written where the stream
    is no terminal.
    """

    def __init__(self, stream: TextIO, words: Words, label: str, total: int) -> None:
        self._stream, self._words, self._label, self._total = stream, words, label, total
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Progress:
        figures = engine.stats()
        self._before = figures["issued"] - figures["pending"]
        if is_terminal(self._stream):
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def line(self) -> str:
        """Return the bar as it is now."""
        figures = engine.stats()
        queued = figures["pending"]
        done = min(figures["issued"] - queued - self._before, self._total)
        full = _CELLS * done // self._total
        ahead = min(_CELLS - full, -(-_CELLS * queued // self._total))
        bar = "█" * full + "▒" * ahead + "·" * (_CELLS - full - ahead)
        counts = self._words("progress", done=done, total=self._total, queued=queued)
        return f"  {bar}  {self._label}: {counts}"

    def _show(self) -> None:
        while not self._ended.wait(_SECONDS):
            columns = shutil.get_terminal_size().columns - 4  # a longer line could not be erased
            self._stream.write("\r\x1b[K" + (wrapped(self.line(), columns) or [""])[0])
            self._stream.flush()

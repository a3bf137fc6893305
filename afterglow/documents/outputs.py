# SPDX-License-Identifier: Apache-2.0
"""What cells show: on the terminal, and for a page that is made of it."""

from __future__ import annotations

import builtins
import io
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..books._figures import Nothing
from .markup import html_of, picture

#: Methods by which values say how they look in a notebook, and what these return; best first.
_RICH = {
    "_repr_html_": "html",
    "_repr_svg_": "html",
    "_repr_markdown_": "markdown",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
}
#: Dots per inch of figures: sharp on screens of today.
_RESOLUTION = 144


@dataclass
class Output:
    """Something that a cell has shown: a ``stream`` of text, an ``error``, or ``html``."""

    kind: str
    content: str


@dataclass
class Shown:
    """What became of a cell."""

    seconds: float = 0.0
    outputs: list[Output] = field(default_factory=list)


class Screen:
    """The terminal: values are printed, and figures become files whose paths are told."""

    def __init__(self, folder: Path, tell: Callable[[str], None]) -> None:
        self._folder = folder
        self._tell = tell
        self._cell = self._figures = 0
        self._takes_figures = _draw_without_windows()

    def begin(self, cell: int) -> None:
        """Say which cell is to be run."""
        self._cell, self._figures = cell, 0

    def display(self, *values: object, **options: object) -> None:
        """Show values as a notebook does."""
        for value in values:
            if not isinstance(value, Nothing):
                print(repr(value))

    def clear(self, *arguments: object, **options: object) -> None:
        """Take back what the cell has shown, which a terminal cannot."""

    def fail(self, text: str) -> None:
        """Show an error; the terminal has it already."""

    def end(self) -> None:
        """Show the figures of the cell and close them: the next one begins with new figures."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None or not self._takes_figures or isinstance(pyplot.close, Nothing):
            return
        try:
            for number in pyplot.get_fignums():
                figure = pyplot.figure(number)
                if figure.get_axes():
                    self._show_figure(figure)
        finally:
            pyplot.close("all")

    def _show_figure(self, figure: Any) -> None:
        self._figures += 1
        again = f"-{self._figures}" if self._figures > 1 else ""
        path = self._folder / f"cell-{self._cell}{again}.png"
        try:
            self._folder.mkdir(exist_ok=True)
            path.write_bytes(_drawn(figure))
        except OSError as problem:
            self._tell(f"no figures, for {self._folder} cannot be written: {problem.strerror}")
        else:
            self._tell(f"figure: {path}")


class RecordingScreen(Screen):
    """Also keeps what is shown, cell by cell."""

    def __init__(self, documents: Path) -> None:
        super().__init__(Path(), lambda text: None)
        self.shown: dict[int, Shown] = {}
        self._documents = documents
        self._now = Shown()
        self._started = time.perf_counter()
        self._clears = False

    def begin(self, cell: int) -> None:
        """Begin to keep what this cell shows."""
        super().begin(cell)
        self._now = self.shown.setdefault(cell, Shown())
        self._started, self._clears = time.perf_counter(), False

    def end(self) -> None:
        """Keep the figures of the cell, and how long it took."""
        super().end()
        self._now.seconds = time.perf_counter() - self._started

    def add(self, kind: str, content: str) -> None:
        """Keep something that is shown; text goes on with the text before it."""
        outputs = self._now.outputs
        if self._clears:  # only now, as notebooks do it, so that nothing flickers
            outputs.clear()
            self._clears = False
        if kind == "stream" and outputs and outputs[-1].kind == kind:
            outputs[-1].content += content
        else:
            outputs.append(Output(kind, content))

    def display(self, *values: object, **options: object) -> None:
        """Print values, and keep how they look in a notebook."""
        for value in values:
            if isinstance(value, Nothing):
                continue
            text = repr(value)  # which raises for an array that has failed
            terminal(sys.stdout).write(f"{text}\n")
            self.add(*(_rich(value, self._documents) or ("stream", f"{text}\n")))

    def clear(self, *arguments: object, **options: object) -> None:
        """Forget what the cell has shown, as soon as it shows something else."""
        self._clears = True

    def fail(self, text: str) -> None:
        """Keep an error."""
        self.add("error", text)

    def _show_figure(self, figure: Any) -> None:
        self.add("html", _figure(figure))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Keep what is printed, and take the place of what shows values."""
        before = sys.stdout, sys.stderr, sys.displayhook
        sys.stdout, sys.stderr = (_Tee(stream, self.add) for stream in before[:2])
        sys.displayhook = self._hook
        try:
            yield
        finally:
            sys.stdout, sys.stderr, sys.displayhook = before

    def _hook(self, value: object) -> None:
        if value is not None:
            builtins._ = value  # type: ignore[attr-defined]
            self.display(value)


class _Tee(io.TextIOBase):
    """A stream that also keeps what is written to it."""

    def __init__(self, stream: Any, keep: Callable[[str, str], None]) -> None:
        self.terminal = stream
        self._keep = keep

    def __getattr__(self, name: str) -> Any:
        return getattr(self.terminal, name)  # such as buffer, of whose bytes nothing is kept

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return str(self.terminal.encoding)

    def write(self, text: str) -> int:
        self.terminal.write(text)
        self._keep("stream", text)
        return len(text)

    def writable(self) -> bool:
        return True

    def flush(self) -> None:
        self.terminal.flush()

    def isatty(self) -> bool:
        return bool(self.terminal.isatty())

    def fileno(self) -> int:
        return int(self.terminal.fileno())


def terminal(stream: Any) -> Any:
    """Return a stream of which nothing is kept."""
    return stream.terminal if isinstance(stream, _Tee) else stream


def is_recorded(stream: object) -> bool:
    """Tell whether what other programs print must be written to the stream to be kept."""
    return isinstance(stream, _Tee)


def _draw_without_windows() -> bool:
    """Let Matplotlib draw without windows, unless somebody chose another way; tell whether it does.

    ``plt.show()`` must neither need a window nor wait for one.
    """
    if "MPLBACKEND" in os.environ:
        return False
    os.environ["MPLBACKEND"] = "Agg"
    warnings.filterwarnings("ignore", message=".*non-interactive, and thus cannot be shown")
    return True


def _drawn(figure: Any) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", bbox_inches="tight", dpi=_RESOLUTION)
    return file.getvalue()


def _figure(figure: Any) -> str:
    data = _drawn(figure)
    width = int.from_bytes(data[16:20]) * 96 // _RESOLUTION  # as large as it would be on a screen
    return picture(data, "image/png", "figure", width)


def _rich(value: Any, documents: Path) -> tuple[str, str] | None:
    """Return how a value looks in a notebook, if it says so."""
    if isinstance(value, type):
        return None
    if hasattr(value, "savefig") and hasattr(value, "get_axes"):  # which also has a repr of HTML
        return "html", _figure(value)
    for method, kind in _RICH.items():
        shown = getattr(value, method, None)
        content = shown() if callable(shown) else None
        if isinstance(content, str) and kind == "html":
            return "html", content
        if isinstance(content, str) and kind == "markdown":
            return "html", html_of(content, documents)
        if isinstance(content, bytes):
            return "html", picture(content, kind)
    return None

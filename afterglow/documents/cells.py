# SPDX-License-Identifier: Apache-2.0
"""What a document consists of for the one who runs it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

#: The mark of cells for some frameworks only, as the books have it: ``%%tab mxnet``, ``#@tab all``.
_TAB = re.compile(r"\s*(?:%%|#\s*@)tab[ \t]+(?P<names>[^\n]+)")

_FOR_OTHERS = "it is for "


class DocumentError(Exception):
    """A file that cannot be run; the text is one line for the user."""


@dataclass(frozen=True)
class Text:
    """What is written between cells, as Markdown."""

    markdown: str


@dataclass(frozen=True)
class Cell:
    """A piece of the program, run and shown as a whole."""

    #: Counts the cells of the document, from 1.
    number: int
    source: str
    #: The file and the line in it where the source begins: what errors and traces name.
    filename: str
    line: int = 1
    #: Why it is not run; empty for a cell that is.
    skipped: str = ""
    #: It was typed at a prompt: every expression is shown, not only the last.
    prompts: bool = False
    #: The document says that it fails.
    may_fail: bool = False

    @property
    def lines(self) -> list[str]:
        """The lines of the source."""
        return self.source.split("\n")

    @property
    def is_for_others(self) -> bool:
        """Whether it is skipped because it is for readers who use other frameworks."""
        return self.skipped.startswith(_FOR_OTHERS)


@dataclass(frozen=True)
class Document:
    """A file with its cells, and the text between them, in order."""

    path: str
    parts: Sequence[Cell | Text] = field(default_factory=list)

    @property
    def cells(self) -> list[Cell]:
        """The cells without the text."""
        return [part for part in self.parts if isinstance(part, Cell)]


def _names(text: str) -> list[str]:
    return [name for name in re.split(r"[\s,]+", text) if name]


def is_for_mxnet(names: str) -> bool:
    """Tell whether MXNet is among the frameworks that a mark of the books names."""
    return bool({"mxnet", "all"} & set(_names(names)))


def without_tab(source: str) -> tuple[str, str]:
    """Return a cell without the mark, and why it is skipped if it is not for MXNet."""
    tab = _TAB.match(source)
    if tab is None:
        return source, ""
    skipped = "" if is_for_mxnet(tab["names"]) else _FOR_OTHERS + ", ".join(_names(tab["names"]))
    return "\n" * source.count("\n", 0, tab.end()) + source[tab.end() :], skipped

# SPDX-License-Identifier: Apache-2.0
"""The tour as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from .chapter import Chapter, Table
from .quantities import padded, width, wrapped
from .words import Words

_COLUMNS = 88


def print_text(stream: TextIO, text: str, indent: str = "") -> None:
    """Print a paragraph."""
    for line in wrapped(text, _COLUMNS - len(indent)):
        print(indent + line, file=stream)


def _print_table(stream: TextIO, table: Table) -> None:
    """Print a table: names to the left, everything else to the right."""
    columns = [max(map(width, cells)) for cells in zip(table.header, *table.rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        texts = (
            padded(cell, room, right=number > 0)
            for number, (cell, room) in enumerate(zip(cells, columns, strict=True))
        )
        return "  " + "   ".join(texts).rstrip()

    if any(table.header):
        print(line(table.header), file=stream)
    for row in table.rows:
        print(line(row), file=stream)


def print_chapter(stream: TextIO, chapter: Chapter) -> None:
    """Print what a chapter found, below its heading."""
    _print_table(stream, chapter.table)
    print(file=stream)
    print_text(stream, chapter.finding)
    for remark in chapter.remarks:
        print_text(stream, remark)


def print_heading(stream: TextIO, number: int, name: str, words: Words) -> None:
    """Print title and introduction of a chapter."""
    title = f"{number}. {words(f'{name}.title')}"
    print(f"\n{title}\n{'─' * width(title)}", file=stream)
    print_text(stream, words(f"{name}.text"))
    print(file=stream)


def print_summary(stream: TextIO, chapters: Sequence[Chapter], words: Words) -> None:
    """Print the closing table."""
    title = words("summary")
    print(f"\n{title}\n{'─' * width(title)}", file=stream)
    titles = [f"{n}. {words(f'{one.name}.title')}" for n, one in enumerate(chapters, 1)]
    room = max(map(width, titles))
    for name, chapter in zip(titles, chapters, strict=True):
        first, *rest = wrapped(chapter.finding, _COLUMNS - room - 4)
        print(f"  {padded(name, room)}  {first}", file=stream)
        for line in rest:
            print(f"  {' ' * room}  {line}", file=stream)

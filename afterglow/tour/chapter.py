# SPDX-License-Identifier: Apache-2.0
"""What a chapter finds out: a table, a finding and pictures, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .progress import Progress
from .words import Words


@dataclass(frozen=True)
class Table:
    """Rows of ready text. The first column names the row."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Chapter:
    """The outcome of a chapter. Its title and introduction are in the words under its name."""

    name: str
    code: Sequence[str]
    table: Table
    finding: str
    #: What is to be seen on the picture, and what draws it in a width, in pixels, with a label.
    caption: str
    draw: Callable[[int, str], str]
    remarks: Sequence[str] = field(default=())


@dataclass(frozen=True)
class Setting:
    """What a chapter is given."""

    words: Words
    progress: Callable[[str, int], Progress]
    quick: bool

    def count(self, full: int, quick: int) -> int:
        """Choose how often something is done."""
        return quick if self.quick else full

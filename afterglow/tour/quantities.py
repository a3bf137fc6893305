# SPDX-License-Identifier: Apache-2.0
"""Durations, sizes and ratios as short text, and the width of text in a terminal."""

from __future__ import annotations

import unicodedata

#: Marks that stay with what follows them.
_OPENING = ("（", "“", "《")

#: A blank at which no line is broken, between a number and its unit.
_JOINT = "\N{NO-BREAK SPACE}"


def three_digits(number: float) -> str:
    """Write a number with three significant digits, or all of those before the point."""
    for digits, below in ((2, 9.995), (1, 99.95)):
        if abs(number) < below:
            return f"{number:.{digits}f}"
    return f"{number:,.0f}"


def duration(seconds: float) -> str:
    """Write a duration in the unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 0.9995:
            return f"{three_digits(seconds * scale)}{_JOINT}{unit}"
    return f"{seconds * 1e9:.0f}{_JOINT}ns"


def megabytes(size: float) -> str:
    """Write a number of bytes in megabytes."""
    return f"{size / 1e6:,.0f}{_JOINT}MB"


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for a Chinese character."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def padded(text: str, columns: int, right: bool = False) -> str:
    """Fill a text up with blanks, on its left if it goes to the right."""
    blanks = " " * max(0, columns - width(text))
    return blanks + text if right else text + blanks


def wrapped(text: str, columns: int) -> list[str]:
    """Cut a text into lines: at blanks, and in Chinese anywhere but inside of its punctuation."""
    lines, line, word = [], "", ""
    for letter in text + " ":
        wide = width(letter) == 2
        opened = word.endswith(_OPENING)
        if letter in _OPENING or (letter != " " and (opened or not wide)):
            word += letter
            continue
        if word and width(line + word) > columns:
            lines.append(line.rstrip())
            line = ""
        line, word = line + word, ""
        closing = unicodedata.category(letter).startswith("P")
        if wide and not closing and width(line + letter) > columns:
            lines.append(line.rstrip())
            line = ""
        line += letter
    return [*lines, line.rstrip()] if line.strip() else lines

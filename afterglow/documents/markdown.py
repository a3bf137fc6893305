# SPDX-License-Identifier: Apache-2.0
"""Cells in texts: fenced blocks, as books write them and as everybody else does.

A text with at least one block that begins with ```` ```{.python .input} ```` is a chapter of a
book. Those blocks are its cells; its other blocks are there to be read. In other texts the blocks
of Python are the cells: ```` ```python ````, ``py``, ``python3``, ``{.python}``, ``pycon``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from .cells import Cell, DocumentError, Text, without_tab

# Spaces are taken whole (*+), or a long line of them would be tried at every place.
_OPENING = re.compile(r"(?P<indent>[ \t]*+)(?P<fence>`{3,}|~{3,})[ \t]*+(?P<info>[^`]*)$")

_LANGUAGES = {"python", "python3", "py", "py3", "ipython", "ipython3", "pycon"}


class _Block(NamedTuple):
    info: str
    line: int  # of the first line inside
    lines: list[str]
    closed: bool


def parts_of_markdown(text: str, path: str) -> list[Cell | Text]:
    """Return the cells of a text, and what is written between them."""
    lines_of_text = text.split("\n")
    blocks = list(_blocks(lines_of_text))
    inputs = [block for block in blocks if {".python", ".input"} <= _words(block.info)]
    chosen = inputs or [block for block in blocks if _is_python(block.info)]
    filename = os.path.abspath(path)
    parts: list[Cell | Text] = []
    number = passed = 0
    for block in chosen:
        if not block.closed:
            raise DocumentError(f"{path}:{block.line - 1}: the fenced block is never closed")
        parts.append(Text("\n".join(lines_of_text[passed : block.line - 2])))
        passed = block.line + len(block.lines)
        if not any(line.strip() for line in block.lines):
            continue
        lines = block.lines
        prompts = next(line for line in lines if line.strip()).startswith(">>> ")
        may_fail = prompts and any(line.startswith("Traceback (") for line in lines)
        source, skipped = without_tab("\n".join(_without_prompts(lines) if prompts else lines))
        number += 1
        parts.append(Cell(number, source, filename, block.line, skipped, prompts, may_fail))
    return [*parts, Text("\n".join(lines_of_text[passed:]))]


def _blocks(lines: list[str]) -> Iterator[_Block]:
    """Find the fenced blocks; their lines lose the indentation of the fence."""
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        opening = _OPENING.match(line)
        if opening is None:
            continue
        fence, indent = opening["fence"], len(opening["indent"])
        closing = re.compile(rf"\s*{fence[0]}{{{len(fence)},}}\s*$")
        inside: list[str] = []
        closed = False
        for _, inner in numbered:
            if closing.match(inner):
                closed = True
                break
            blank = len(inner) - len(inner.lstrip())
            inside.append(inner[min(indent, blank) :])
        yield _Block(opening["info"].strip(), number + 1, inside, closed)


def _words(info: str) -> set[str]:
    """Return the words in the braces after a fence: {.python .input n=1 #name}."""
    return set(info[1:].partition("}")[0].split()) if info.startswith("{") else set()


def _is_python(info: str) -> bool:
    if info.startswith("{"):
        return any(word.lstrip(".").lower() in _LANGUAGES for word in _words(info))
    language = re.match(r"[\w+-]*", info)
    return language is not None and language[0].lower() in _LANGUAGES


def _without_prompts(lines: list[str]) -> list[str]:
    """Return what was typed in a recorded session; what was printed becomes empty lines."""
    return [line[4:] if line.startswith((">>> ", "... ")) else "" for line in lines]

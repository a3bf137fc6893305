# SPDX-License-Identifier: Apache-2.0
"""Cells of Jupyter notebooks, formats 3 and 4."""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import Any

from .cells import Cell, DocumentError, Text, without_tab

_SOURCE = re.compile(r'\s*"(?:source|input)":\s*\[\s*')


def parts_of_notebook(text: str, path: str) -> list[Cell | Text]:
    """Return the code cells of a notebook, and the text between them.

    Cells with the tag ``skip-execution`` are skipped, and those with ``raises-exception`` may fail.
    """
    try:
        return _parts(json.loads(text), text, path)
    except (ValueError, RecursionError) as problem:
        raise DocumentError(f"{path} is no notebook; JSON is needed: {problem}") from None
    except (AttributeError, TypeError) as problem:
        raise DocumentError(f"{path} is no notebook: {problem}") from None


def _parts(notebook: Any, text: str, path: str) -> list[Cell | Text]:
    result: list[Cell | Text] = []
    number = 0
    places = list(_places(text.split("\n")))
    by_source: dict[tuple[str, ...], list[int]] = {}
    for index, (_, source) in enumerate(places):
        if all(isinstance(part, str) for part in source):
            by_source.setdefault(tuple(source), []).append(index)
    passed = 0  # the places before it belong to earlier cells
    for entry in _entries(notebook, path):
        source = entry.get("source", entry.get("input", ""))
        parts = source if isinstance(source, list) else [source]
        if entry.get("cell_type") != "code":
            level = entry.get("level", 0)  # of a heading, in format 3
            result.append(Text(f"{'#' * level} {''.join(parts)}" if level else "".join(parts)))
            continue
        joined, skipped = without_tab("".join(parts))
        number += 1
        # Sources that are not in the usual form have no lines in the file to name.
        candidates = by_source.get(tuple(parts), [])
        nearest = bisect_left(candidates, passed)
        line = 0
        if nearest < len(candidates):
            line, passed = places[candidates[nearest]][0], candidates[nearest] + 1
        tags = entry.get("metadata", {}).get("tags", [])
        result.append(
            Cell(
                number,
                joined,
                f"{os.path.abspath(path)}{'' if line else f'#cell-{number}'}",
                line or 1,
                skipped="its tag is skip-execution" if "skip-execution" in tags else skipped,
                may_fail="raises-exception" in tags,
            )
        )
    return result


def _entries(notebook: Any, path: str) -> Iterator[dict[str, Any]]:
    """Find the cells with code or text, wherever the format has them."""
    if not isinstance(notebook, dict) or "nbformat" not in notebook:
        raise DocumentError(f"{path} is no notebook: it has no nbformat")
    version = notebook["nbformat"]
    if version not in (3, 4):
        raise DocumentError(f"{path} is a notebook of format {version}; 3 or 4 is needed")
    language = notebook.get("metadata", {}).get("language_info", {}).get("name", "python")
    if language not in ("python", "ipython"):
        raise DocumentError(f"{path} is a notebook in {language}; Python is needed")
    places = [notebook] if version == 4 else notebook.get("worksheets", [])
    for place in places:
        for entry in place.get("cells", []):
            if entry.get("cell_type") in ("code", "markdown", "heading"):
                yield entry


def _places(lines: list[str]) -> Iterator[tuple[int, list[Any]]]:
    """Find the sources in the form in which notebooks are written: each line on a line.

    Yields the number of the first line with the lines.
    """
    for number, line in enumerate(lines, 1):
        if _SOURCE.fullmatch(line) is None:
            continue
        source = []
        for inner in islice(lines, number, None):
            try:
                source.append(json.loads(inner.strip().removesuffix(",")))
            except ValueError:
                break
        yield number + 1, source

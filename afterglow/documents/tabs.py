# SPDX-License-Identifier: Apache-2.0
"""Cells for some frameworks only, as the books mark them: ``%%tab mxnet``, ``#@tab all``."""

from __future__ import annotations

import re

__all__ = ["without_tab"]

_TAB = re.compile(r"\s*(?:%%|#\s*@)tab[ \t]+(?P<names>[^\n]+)")


def without_tab(source: str) -> tuple[str, str]:
    """Return a cell without the mark, and why it is skipped if it is not for MXNet."""
    tab = _TAB.match(source)
    if tab is None:
        return source, ""
    names = [name for name in re.split(r"[\s,]+", tab["names"]) if name]
    skipped = "" if {"mxnet", "all"} & set(names) else f"it is for {', '.join(names)}"
    return "\n" * source.count("\n", 0, tab.end()) + source[tab.end() :], skipped

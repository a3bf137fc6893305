# SPDX-License-Identifier: Apache-2.0
"""The timeline of the two loops as a picture by itself, for documents."""

from __future__ import annotations

from pathlib import Path

from .chapters.loops import LARGE, product_loop
from .drawing import LIGHT, STYLE, rectangle, svg
from .lanes import draw_lanes
from .timeline import Timeline
from .words import LANGUAGES, Words

_WIDTH, _MARGIN, _STEPS, _ROUNDS = 860, 20, 8, 15


def write_pictures(target: Path) -> list[Path]:
    """Record both loops and draw them, in English and beside it in the other languages."""
    loop = product_loop(LARGE)
    lines = loop.typical(_STEPS, _ROUNDS)
    written = []
    for language in LANGUAGES:
        suffix = "" if language == "en" else f".{language}"
        path = target.with_name(f"{target.stem}{suffix}{target.suffix}")
        path.write_text(_picture(lines, Words(language)), encoding="utf-8")
        written.append(path)
    return written


def _picture(lines: dict[str, Timeline], words: Words) -> str:
    """Draw both timelines on a background of their own, for any page."""
    panels = [(words(name), line) for name, line in lines.items()]
    inner, parts = draw_lanes(panels, words, _WIDTH - 2 * _MARGIN)
    height = inner + 2 * _MARGIN
    style = f"<style>svg{{{LIGHT}}}{STYLE}.paper{{fill:var(--paper);stroke:var(--line)}}</style>"
    background = rectangle(0.5, 0.5, _WIDTH - 1, height - 1, "paper", round=10)
    moved = f'<g transform="translate({_MARGIN} {_MARGIN})">{"".join(parts)}</g>'
    return svg(_WIDTH, height, words("loops.title"), [background, moved], style) + "\n"

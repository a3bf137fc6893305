# SPDX-License-Identifier: Apache-2.0
"""Timelines drawn as lanes, several on one time scale."""

from __future__ import annotations

from collections.abc import Sequence

from .drawing import legend, rectangle, svg, text, text_width, time_axis, vertical
from .quantities import duration
from .timeline import PYTHON, Timeline
from .words import Words

_LANE, _GAP, _HEADING = 22, 5, 30
_ORDER = ("read", "wait", "run", "other", "issue")
_COMPUTING = ("run", "other")


def _draw_lane(line: Timeline, lane: int, words: Words, left: float, y: float, scale: float) -> str:
    """Draw the spans of a lane: computing inside of waiting; issuing, which is short, on top."""
    parts = []
    for begin, end, kind in sorted(line.lanes[lane], key=lambda span: _ORDER.index(span.kind)):
        x = left + (begin - line.begin) * scale
        helping = lane == PYTHON and kind in _COMPUTING
        top, height = (y + 5, _LANE - 10) if helping else (y, _LANE)
        name = words("lanes.run" if kind in _COMPUTING else f"lanes.{kind}")
        title = f"{name}: {duration((end - begin) / 1e9)}"
        least = 2.0 if kind == "issue" else 0.6
        parts.append(rectangle(x, top, max(least, (end - begin) * scale), height, kind, title))
    return "".join(parts)


def draw_lanes(
    panels: Sequence[tuple[str, Timeline]],
    words: Words,
    width: int,
    *,
    marks: bool = True,
) -> tuple[float, list[str]]:
    """Draw timelines below each other; return the height and the parts of the picture.

    ``marks`` adds a line with the time where each of them ends.
    """
    left, right = (84 if width > 500 else 66), width - 10
    end = max(line.end - line.begin for _, line in panels)
    scale = (right - left) / (end * (1.07 if marks else 1.0))
    kinds = {span.kind for _, line in panels for spans in line.lanes.values() for span in spans}
    kinds = {"run" if kind in _COMPUTING else kind for kind in kinds}
    shown = [kind for kind in ("read", "issue", "wait", "run") if kind in kinds]
    parts, y = legend([(kind, words(f"lanes.{kind}")) for kind in shown], width, 0)
    top = y + 6
    bodies: list[str] = []
    y = top
    for name, line in panels:
        bodies.append(text(0, y + 17, name, "strong"))
        y += _HEADING
        first = y
        for lane in sorted(line.lanes):
            who = "Python" if lane == PYTHON else words("lanes.worker", number=lane)
            bodies.append(text(0, y + 15.5, who, "soft"))
            bodies.append(rectangle(left, y, right - left, _LANE, "lane"))
            bodies.append(_draw_lane(line, lane, words, left, y, scale))
            y += _LANE + _GAP
        if marks:
            x = left + (line.end - line.begin) * scale
            bodies.append(vertical(x, first - 6, y - _GAP, "end"))
            total = duration(line.seconds)
            fits = text_width(name) + text_width(total) + 12 < x
            place, anchor = (x, "end") if fits else (x + 5, "start")
            bodies.append(text(place, first - 10, total, "strong", anchor))
        y += 8
    parts += time_axis(left, right, (right - left) / scale / 1e9, top + _HEADING - 6, y - 6)
    return y + 16, parts + bodies


def lanes_picture(
    panels: Sequence[tuple[str, Timeline]], words: Words, width: int, label: str, marks: bool = True
) -> str:
    """Draw timelines as a picture."""
    height, parts = draw_lanes(panels, words, width, marks=marks)
    return svg(width, height, label, parts)

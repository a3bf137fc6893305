# SPDX-License-Identifier: Apache-2.0
"""Pictures as SVG. Colours are classes, so that a page can be light or dark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from .quantities import duration, width

#: The colours of dusk: embers for work that runs, indigo for Python, haze for waiting.
LIGHT = (
    "--paper:#fbf8f4;--card:#fffefc;--ink:#231d33;--soft:#6d647e;--line:#e3dcd6;"
    "--run:#d9642a;--other:#eb9a55;--issue:#4a3aa0;--wait:#d5cfe4;--read:#2f8f89;--drop:#b6abc4;"
)
DARK = (
    "--paper:#15121d;--card:#1c1827;--ink:#ece6f4;--soft:#a79cb9;--line:#332c44;"
    "--run:#ef7d3f;--other:#b9592b;--issue:#a695ff;--wait:#4b4168;--read:#48b8ad;--drop:#6a5f80;"
)
STYLE = """
svg text{font:13px/1 system-ui,-apple-system,"Segoe UI",Roboto,"PingFang SC","Microsoft YaHei",
"Noto Sans CJK SC",sans-serif;fill:var(--ink);font-variant-numeric:tabular-nums}
svg .soft{fill:var(--soft);font-size:12px}
svg .strong{font-weight:650}
svg .code{font:12px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
svg .run{fill:var(--run)} svg .other{fill:var(--other)} svg .issue{fill:var(--issue)}
svg .wait{fill:var(--wait)} svg .read{fill:var(--read)} svg .lane{fill:var(--line);opacity:.45}
svg .drop{fill:none;stroke:var(--drop)}
svg .axis{stroke:var(--line);fill:none}
svg .end{stroke:var(--ink);stroke-dasharray:2 3;fill:none}
svg .curve{fill:none;stroke-width:2;stroke-linejoin:round}
svg .curve.run{stroke:var(--run)} svg .curve.issue{stroke:var(--issue);stroke-dasharray:6 5}
svg .curve.read{stroke:var(--read)}
"""


class Bar(NamedTuple):
    """A bar with its name above it and its value beside it."""

    name: str
    value: float
    value_text: str
    kind: str


class Curve(NamedTuple):
    """A line through points."""

    name: str
    points: Sequence[tuple[float, float]]
    kind: str
    #: A moment to be marked.
    mark: float


class Dot(NamedTuple):
    """A value on a logarithmic axis."""

    name: str
    seconds: float
    kind: str


def svg(width: int, height: float, label: str, parts: Iterable[str], head: str = "") -> str:
    """Put parts together to a picture."""
    body = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" '
        f'width="{width}" height="{height:g}" role="img" aria-label="{escape(label)}">'
        f"{head}{body}</svg>"
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Write words at a place."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} class="{kind}">{escape(words)}</text>'


def rectangle(
    x: float, y: float, width: float, height: float, kind: str, title: str = "", round: float = 0
) -> str:
    """Draw a rectangle; its title is shown under the pointer."""
    corner = f' rx="{round:g}"' if round else ""
    shape = (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" '
        f'class="{kind}"{corner}'
    )
    return f"{shape}><title>{escape(title)}</title></rect>" if title else f"{shape}/>"


def vertical(x: float, top: float, bottom: float, kind: str = "axis") -> str:
    """Draw a vertical line."""
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" class="{kind}"/>'


def ticks(end: float, most: int) -> list[float]:
    """Return round numbers from 0 to the end, at most so many steps."""
    step = 10 ** math.floor(math.log10(end / most))
    step = next(step * factor for factor in (1, 2, 5, 10) if end / (step * factor) <= most)
    return [step * number for number in range(int(end / step + 1e-9) + 1)]


def tick(seconds: float) -> str:
    """Write a round time."""
    number, _, unit = duration(seconds).partition("\N{NO-BREAK SPACE}")
    return f"{float(number.replace(',', '')):g} {unit}" if seconds else "0"


def text_width(words: str, size: float = 13) -> float:
    """Estimate the width of a text, which only the viewer knows."""
    return width(words) * size * 0.54


def legend(entries: Sequence[tuple[str, str]], width: int, top: float) -> tuple[list[str], float]:
    """Draw what the colours mean, in as many lines as needed; return where it ends, too."""
    parts, x, y = [], 0.0, top
    for kind, name in entries:
        room = 18 + text_width(name) + 18
        if x and x + room - 18 > width:
            x, y = 0.0, y + 22
        parts.append(rectangle(x + 0.5, y + 0.5, 11, 11, kind, round=2))
        parts.append(text(x + 18, y + 10.5, name))
        x += room
    return parts, y + 22


def time_axis(left: float, right: float, end: float, top: float, bottom: float) -> list[str]:
    """Draw vertical lines at round times with their names below; ``end`` is in seconds."""
    parts = []
    for moment in ticks(end, 7 if right - left > 500 else 4):
        x = left + (right - left) * moment / end
        parts.append(vertical(x, top, bottom))
        name = tick(moment)
        anchor = "start" if not moment else "end" if x > right - 16 else "middle"
        parts.append(text(x, bottom + 16, name, "soft", anchor))
    return parts


def draw_bars(bars: Sequence[Bar], width: int, label: str) -> str:
    """Draw bars from one start."""
    room = width - max(text_width(bar.value_text) for bar in bars) - 16
    most = max(bar.value for bar in bars)
    parts = []
    for number, bar in enumerate(bars):
        top = number * 50
        length = max(2.0, room * bar.value / most)
        parts.append(text(0, top + 14, bar.name))
        parts.append(rectangle(0, top + 21, length, 18, bar.kind, round=2))
        parts.append(text(length + 8, top + 34.5, bar.value_text, "strong"))
    return svg(width, 50 * len(bars) - 6, label, parts)


def draw_dots(dots: Sequence[Dot], width: int, label: str) -> str:
    """Draw times on a logarithmic axis, each from the left to its dot."""
    left = max(text_width(dot.name, 13.4) for dot in dots) + 14
    right = width - 12
    low = math.floor(math.log10(min(dot.seconds for dot in dots)))
    high = math.ceil(math.log10(max(dot.seconds for dot in dots)))
    bottom = 24 * len(dots) + 2

    def place(seconds: float) -> float:
        return left + (right - left) * (math.log10(seconds) - low) / (high - low)

    parts = []
    skip = 1 if right - left > 420 else 2
    for power in range(low, high + 1):
        parts.append(vertical(place(10.0**power), 0, bottom))
        if (high - power) % skip == 0:
            name = tick(10.0**power)
            anchor = "end" if power == high else "middle"
            x = width if power == high else place(10.0**power)
            parts.append(text(x, bottom + 16, name, "soft", anchor))
    for number, dot in enumerate(dots):
        y = 24 * number + 13
        x = place(dot.seconds)
        parts.append(text(0, y + 4, dot.name, "code"))
        parts.append(rectangle(left, y - 1.5, x - left, 3, dot.kind))
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y}" r="5.5" class="{dot.kind}">'
            f"<title>{escape(dot.name)}: {duration(dot.seconds)}</title></circle>"
        )
    return svg(width, bottom + 24, label, parts)


def draw_cells(filled: int, total: int, width: int, label: str) -> str:
    """Draw a square for each of so many calls; those that ran are filled, at the end."""
    side = 14 if width > 500 else 9
    columns = width // side
    cells = []
    for number in range(total):
        x, y = number % columns * side, number // columns * side
        if number >= total - filled:
            cells.append(rectangle(x + 1, y + 1, side - 3, side - 3, "run", round=1.5))
        else:
            cells.append(rectangle(x + 1.5, y + 1.5, side - 4, side - 4, "drop", round=1.5))
    return svg(width, -(-total // columns) * side, label, cells)


def draw_curves(curves: Sequence[Curve], width: int, unit: str, label: str) -> str:
    """Draw values over seconds."""
    height, left, right = (300 if width > 500 else 230), 46, width - 8
    end = max(curve.points[-1][0] for curve in curves)
    most = 1.06 * max(value for curve in curves for _, value in curve.points) or 1.0
    parts, top = legend([(curve.kind, curve.name) for curve in curves], width, 0)
    top += 22
    parts.append(text(0, top - 12, unit, "soft"))
    bottom = top + height
    for value in ticks(most, 5):
        y = bottom - height * value / most
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" class="axis"/>')
        parts.append(text(left - 8, y + 4, f"{value:,.0f}", "soft", "end"))
    parts += time_axis(left, right, end, bottom, bottom + 4)

    def place(moment: float, value: float) -> tuple[float, float]:
        return left + (right - left) * moment / end, bottom - height * value / most

    for _, points, kind, mark in reversed(curves):
        thinned = [*points[:: max(1, len(points) // 400)], points[-1]]
        line = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in thinned)
        parts.append(f'<polyline points="{line}" class="curve {kind}"/>')
        x, y = place(*min(points, key=lambda point: abs(point[0] - mark)))
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="{kind}"/>')
    return svg(width, bottom + 26, label, parts)

# SPDX-License-Identifier: Apache-2.0
"""A bar chart of the ratios as SVG, on a logarithmic axis, for light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from results import ORDER, Result, plain, readable, significant
from rows import OURS

#: By column, for light and for dark pages.
COLOURS = {
    "numpy": ("#2f6db5", "#6ea8ea"),
    "torch": ("#c8502a", "#f0875f"),
    "torch.compile": ("#8a2f14", "#b34a2e"),
    "jax": ("#1f7a8c", "#57c0cf"),
    "jax.jit": ("#2c8a57", "#5cc48d"),
    "mxnet": ("#7a4fb0", "#b18ce6"),
    "onnxruntime": ("#8f6d0c", "#d1ac3c"),
}
BAR, GAP, ROW_GAP = 11, 2, 14
PLOT, MARGIN, TOP = 560, 90, 92
FONT = 'font-family="system-ui, sans-serif"'


def _style() -> str:
    """Return the colours as classes, the dark ones where the page is dark."""

    def rules(index: int, paper: str, ink: str, faint: str) -> str:
        bars = "".join(
            f".{name.replace('.', '-')}{{fill:{colours[index]}}}"
            for name, colours in COLOURS.items()
        )
        return (
            f".paper{{fill:{paper}}}text{{fill:{ink}}}.faint{{fill:{ink};opacity:.65}}"
            f".grid{{stroke:{faint}}}.one{{stroke:{ink};stroke-width:1.5}}{bars}"
        )

    light = rules(0, "#ffffff", "#1f2328", "#d8dee4")
    dark = rules(1, "#0d1117", "#e6edf3", "#30363d")
    return f"<style>{light}@media (prefers-color-scheme: dark){{{dark}}}</style>"


def _ticks(low: float, high: float) -> list[float]:
    """Return the powers of ten within the bounds, with 2 and 5 where there are few."""
    tens = [10.0**power for power in range(math.floor(low), math.ceil(high) + 1)]
    steps = (1, 2, 5) if high - low < 2.5 else (1,)
    marks = [ten * step for ten in tens for step in steps]
    return [mark for mark in marks if low - 1e-9 <= math.log10(mark) <= high + 1e-9]


def chart(results: Sequence[Result]) -> str:
    """Draw what each library takes, as a multiple of what Afterglow takes."""
    bars: list[tuple[Result, list[tuple[str, float]]]] = []
    for result in results:
        ratios = [
            (column, times)
            for column in ORDER[1:]
            if column in result.samples
            and result.ours == OURS
            and (times := result.times_as_long(column))
        ]
        if ratios:
            bars.append((result, ratios))
    times = [math.log10(ratio) for _, ratios in bars for _, ratio in ratios]
    low, high = min([*times, -0.1]) - 0.05, max([*times, 0.3]) + 0.05
    # Wide enough for "Afterglow 16.4 ms" too.
    labels = 50 + 7.2 * max((len(plain(result.text)) for result, _ in bars), default=0)
    labels = max(labels, 150)

    def x(logarithm: float) -> float:
        return labels + PLOT * (logarithm - low) / (high - low)

    width = round(max(labels + PLOT + MARGIN, 640))
    y, body = float(TOP), []
    for result, ratios in bars:
        height = max(len(ratios) * (BAR + GAP), 26)
        middle = y + height / 2
        own = readable(result.median(OURS), result.unit)
        body.append(
            f'<text x="{labels - 14:.1f}" y="{middle - 2:.1f}" text-anchor="end" font-size="13">'
            f"{escape(plain(result.text))}</text>"
            f'<text x="{labels - 14:.1f}" y="{middle + 13:.1f}" text-anchor="end" font-size="11" '
            f'class="faint">Afterglow {own}</text>'
        )
        top = y + (height - len(ratios) * (BAR + GAP)) / 2
        for number, (column, ratio) in enumerate(ratios):
            left, right = sorted((x(0), x(math.log10(ratio))))
            line = top + number * (BAR + GAP)
            body.append(
                f'<rect x="{left:.1f}" y="{line:.1f}" width="{max(right - left, 1):.1f}" '
                f'height="{BAR}" rx="1.5" class="{column.replace(".", "-")}">'
                f"<title>{escape(f'{column}: {result.show(result.median(column))}')}</title></rect>"
                f'<text x="{x(max(math.log10(ratio), 0)) + 5:.1f}" y="{line + BAR - 1.5:.1f}" '
                f'font-size="10.5" class="faint">{significant(ratio, 2)}</text>'
            )
        y += height + ROW_GAP
    grid = []
    for mark in _ticks(low, high):
        place = x(math.log10(mark))
        kind = "one" if mark == 1 else "grid"
        grid.append(
            f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{TOP - 8}" y2="{y:.0f}" class="{kind}"/>'
            f'<text x="{place:.1f}" y="{TOP - 14}" text-anchor="middle" font-size="11" '
            f'class="faint">{mark:g}</text>'
        )
    legend, place = [], 24
    present = [name for name in COLOURS if any(name in dict(ratios) for _, ratios in bars)]
    for name in present:
        legend.append(
            f'<rect x="{place}" y="{y + 16:.0f}" width="12" height="12" rx="2" '
            f'class="{name.replace(".", "-")}"/>'
            f'<text x="{place + 18}" y="{y + 26:.0f}" font-size="12.5">{name}</text>'
        )
        place += 42 + 8 * len(name)
    height = y + 44
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" '
        f'width="{width}" height="{height:.0f}" {FONT} role="img" '
        'aria-label="What each library takes, divided by what Afterglow takes">'
        f'{_style()}<rect width="{width}" height="{height:.0f}" class="paper"/>'
        '<text x="24" y="30" font-size="17" font-weight="600">'
        "What each library takes, divided by what Afterglow takes</text>"
        '<text x="24" y="50" font-size="12.5" class="faint">'
        "Medians, logarithmic. Right of 1 Afterglow takes less, left of 1 the other does.</text>"
        f"{''.join(grid)}{''.join(body)}{''.join(legend)}</svg>\n"
    )

# SPDX-License-Identifier: Apache-2.0
"""Results that are overwritten before anybody reads them are not computed."""

from __future__ import annotations

import time

from ... import engine, nd
from ..chapter import Chapter, Setting, Table
from ..drawing import draw_cells
from ..quantities import duration

CODE = """\
for _ in range(1000):
    y = x + 1
y.wait_to_read()"""


def _loop(x: nd.NDArray, steps: int, wait: bool) -> tuple[float, dict[str, int]]:
    """Return how long the loop takes and what the engine counted."""
    before = _counts()
    begin = time.perf_counter()
    for _ in range(steps):
        y = x + 1
        if wait:
            y.wait_to_read()
    y.wait_to_read()
    nd.waitall()
    seconds = time.perf_counter() - begin
    return seconds, {name: value - before[name] for name, value in _counts().items()}


def _counts() -> dict[str, int]:
    """Return what the engine counted, of all calls: the last ones are counted a moment late."""
    while (counted := engine.stats())["pending"]:
        time.sleep(0.001)
    return counted


def measure(setting: Setting) -> Chapter:
    """Overwrite a result many times, with and without reading it."""
    words = setting.words
    steps = setting.count(1000, 200)
    x = nd.ones((2000, 2000))
    _loop(x, 5, wait=True)
    with setting.progress(words("each"), steps):
        each_seconds, each = _loop(x, steps, wait=True)
    with setting.progress(words("once"), 5 * steps):
        rounds = [_loop(x, steps, wait=False) for _ in range(5)]  # short, so take the median
    once_seconds, once = sorted(rounds, key=lambda found: found[0])[2]
    counted = ("issued", "run", "dropped")
    return Chapter(
        "overwritten",
        [CODE.replace("1000", str(steps))],
        Table(
            ("", words("each"), words("once")),
            [
                (words("time"), duration(each_seconds), duration(once_seconds)),
                *((words(name), f"{each[name]:,}", f"{once[name]:,}") for name in counted),
            ],
        ),
        words(
            "overwritten.finding",
            dropped=f"{once['dropped']:,}",
            steps=f"{steps:,}",
            each=duration(each_seconds),
            once=duration(once_seconds),
            ratio=words.times(each_seconds / once_seconds),
        ),
        words("overwritten.caption"),
        lambda width, label: draw_cells(once["run"], steps, width, label),
    )

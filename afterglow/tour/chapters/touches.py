# SPDX-License-Identifier: Apache-2.0
"""What waits for a value and what does not."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from ... import nd
from ..chapter import Chapter, Setting, Table
from ..drawing import Dot, draw_dots
from ..quantities import duration

CODE = """\
y = nd.dot(x, x)
y.shape"""


def _print(y: nd.NDArray) -> None:
    """Print where nobody reads it."""
    with contextlib.redirect_stdout(io.StringIO()):
        print(y)


TOUCHES: dict[str, Callable[[nd.NDArray], Any]] = {
    "y.shape": lambda y: y.shape,
    "y.is_ready()": lambda y: y.is_ready(),
    "y + 1": lambda y: y + 1,
    "nd.dot(y, y)": lambda y: nd.dot(y, y),
    "y[0]": lambda y: y[0],
    "y.wait_to_read()": lambda y: y.wait_to_read(),
    "nd.waitall()": lambda _: nd.waitall(),
    "y.asnumpy()": lambda y: y.asnumpy(),
    "y[0, 0].item()": lambda y: y[0, 0].item(),
    "float(y.sum())": lambda y: float(y.sum()),
    "print(y)": _print,
}


def _touch(x: nd.NDArray, touch: Callable[[nd.NDArray], Any]) -> tuple[float, bool]:
    """Return how long a touch takes, and whether the product was finished after it."""
    y = nd.dot(x, x)
    begin = time.perf_counter()
    result = touch(y)
    seconds = time.perf_counter() - begin
    finished = y.is_ready()
    del result
    nd.waitall()
    return seconds, finished


def measure(setting: Setting) -> Chapter:
    """Time each way to touch an array right after its product was issued."""
    words = setting.words
    side, rounds = setting.count(1500, 1000), setting.count(5, 3)
    x = nd.random.normal(0, 1 / side**0.5, shape=(side, side))
    nd.dot(x, x).wait_to_read()
    times: dict[str, float] = {}
    waits: dict[str, bool] = {}
    for name, touch in TOUCHES.items():
        with setting.progress(name, rounds):
            found = [_touch(x, touch) for _ in range(rounds)]
        times[name] = median(seconds for seconds, _ in found)
        waits[name] = sum(finished for _, finished in found) > rounds / 2
    answers = {True: words("yes"), False: words("no")}
    dots = [Dot(name, times[name], "run" if waits[name] else "issue") for name in TOUCHES]
    return Chapter(
        "touches",
        [CODE],
        Table(
            (words("touches.touch"), words("touches.returns"), words("touches.waits")),
            [(name, duration(times[name]), answers[waits[name]]) for name in TOUCHES],
        ),
        words(
            "touches.finding",
            free=sum(not one for one in waits.values()),
            total=len(waits),
            slowest=duration(max(times[name] for name in TOUCHES if not waits[name])),
        ),
        words("touches.caption"),
        lambda width, label: draw_dots(dots, width, label),
    )

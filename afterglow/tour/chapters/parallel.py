# SPDX-License-Identifier: Apache-2.0
"""What does not depend on each other runs at the same time."""

from __future__ import annotations

from statistics import median

from ... import engine, nd
from ..chapter import Chapter, Setting, Table
from ..lanes import lanes_picture
from ..quantities import duration
from ..timeline import Recorder, Timeline

ONE_CHAIN = """\
for _ in range(1000):
    a = nd.dot(a, w)
    a = nd.dot(a, w)"""

TWO_CHAINS = """\
for _ in range(1000):
    a = nd.dot(a, w)
    b = nd.dot(b, w)"""

#: Small enough that a product is not cut into shares for several threads.
_SIDE = 128


def _chains(steps: int, independent: bool) -> Timeline:
    """Compute two products per step."""
    w = nd.random.normal(0, 1 / _SIDE**0.5, shape=(_SIDE, _SIDE))
    a, b = nd.ones((_SIDE, _SIDE)), nd.ones((_SIDE, _SIDE))
    nd.waitall()
    recorder = Recorder()
    with recorder.recording():
        with recorder.doing("issue"):
            for _ in range(steps):
                a = nd.dot(a, w)
                if independent:
                    b = nd.dot(b, w)
                else:
                    a = nd.dot(a, w)
        with recorder.doing("wait"):
            nd.waitall()
    return recorder.timeline()


def measure(setting: Setting) -> Chapter:
    """Compute as many products in one chain and in two."""
    words = setting.words
    steps, rounds = setting.count(1000, 100), setting.count(11, 3)
    _chains(steps, independent=True)
    lines: dict[str, list[Timeline]] = {"one": [], "two": []}
    with setting.progress(words("parallel.progress"), 2 * rounds * (2 * steps + 3)):
        for _ in range(rounds):
            for name, some in lines.items():
                some.append(_chains(steps, independent=name == "two"))
    seconds = {name: median(line.seconds for line in some) for name, some in lines.items()}
    panels = []
    for name, some in lines.items():
        typical = sorted(some, key=lambda line: line.seconds)[len(some) // 2]
        middle = (typical.begin + typical.end) // 2
        panels.append((words(f"parallel.{name}"), typical.cut(middle, middle + 1_500_000)))
    return Chapter(
        "parallel",
        [code.replace("1000", str(steps)) for code in (ONE_CHAIN, TWO_CHAINS)],
        Table(
            ("", words("time"), words("parallel.each")),
            [
                (words(f"parallel.{name}"), duration(time), duration(time / (2 * steps)))
                for name, time in seconds.items()
            ],
        ),
        words(
            "parallel.finding",
            one=duration(seconds["one"]),
            two=duration(seconds["two"]),
            ratio=words.times(seconds["one"] / seconds["two"]),
            threads=engine.thread_limit(),
        ),
        words("parallel.caption"),
        lambda width, label: lanes_picture(panels, words, width, label, marks=False),
        [words("parallel.large")],
    )

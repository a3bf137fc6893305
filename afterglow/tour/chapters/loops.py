# SPDX-License-Identifier: Apache-2.0
"""A loop that waits in every step beside one that waits at its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, median

from ... import engine, nd
from ..chapter import Chapter, Setting, Table
from ..lanes import lanes_picture
from ..quantities import duration
from ..timeline import Recorder, Timeline, task_spans
from ..words import Words

SYNCHRONOUS = """\
for _ in range(1000):
    batch = read()
    y = nd.dot(y, w)
    y.wait_to_read()"""

ASYNCHRONOUS = """\
for _ in range(1000):
    batch = read()
    y = nd.dot(y, w)
y.wait_to_read()"""

_now = time.monotonic_ns

#: Of the matrices in the picture: large enough that waking a thread does not show.
LARGE = 1024


@dataclass
class Loop:
    """A loop in which each step needs the result of the step before, so that none is dropped."""

    start: nd.NDArray
    step: Callable[[nd.NDArray], nd.NDArray]
    #: Seconds that each step waits for its data, as for a disk.
    reading: float = 0.0

    def run(self, steps: int, wait: bool) -> float:
        """Return the seconds that so many steps take."""
        y, step, reading = self.start, self.step, self.reading
        y.wait_to_read()
        begin = _now()
        for _ in range(steps):
            if reading:
                time.sleep(reading)
            y = step(y)
            if wait:
                y.wait_to_read()
        y.wait_to_read()
        return (_now() - begin) / 1e9

    def record(self, steps: int, wait: bool) -> Timeline:
        """Return the timeline of a few steps."""
        y = self.start
        y.wait_to_read()
        recorder = Recorder()
        with recorder.recording():
            for _ in range(steps):
                with recorder.doing("read"):
                    time.sleep(self.reading)
                with recorder.doing("issue"):
                    y = self.step(y)
                if wait:
                    with recorder.doing("wait"):
                        y.wait_to_read()
            if not wait:
                with recorder.doing("wait"):
                    y.wait_to_read()
        return recorder.timeline()

    def typical(self, steps: int, rounds: int) -> dict[str, Timeline]:
        """Return timelines that wait in each step and once.

        They are recorded in turns and those of median length are taken, so that a hiccup of the
        system is not shown.
        """
        lines: dict[str, list[Timeline]] = {"each": [], "once": []}
        for _ in range(rounds):
            for name, some in lines.items():
                some.append(self.record(steps, name == "each"))
        return {
            name: sorted(some, key=lambda line: line.seconds)[rounds // 2]
            for name, some in lines.items()
        }


#: t1, t2 and t3 of a step, in seconds.
Phases = tuple[float, float, float]


def sample(loop: Loop, count: int) -> list[Phases]:
    """Take single steps apart.

    t1 lasts from the beginning of a step to the moment at which a thread begins to compute, t2
    while it computes, t3 until Python goes on. A tiny call is computed by the thread that waits
    for it, without the engine: then t3 is what it takes to wait for a finished array.
    """
    y = loop.start
    y.wait_to_read()
    stamps = []
    with engine.record() as events:
        for _ in range(count):
            begin = _now()
            if loop.reading:
                time.sleep(loop.reading)
            y = loop.step(y)
            issued = _now()
            y.wait_to_read()
            stamps.append((begin, issued, _now()))
    spans = task_spans(events)
    if len(spans) == count:
        return [
            ((begun - begin) / 1e9, (done - begun) / 1e9, (end - done) / 1e9)
            for (begin, _, end), (begun, done) in zip(stamps, spans, strict=True)
        ]
    begin = _now()
    for _ in range(count):
        y.wait_to_read()
    back = (_now() - begin) / count / 1e9
    return [
        ((issued - begin) / 1e9, max(0.0, (end - issued) / 1e9 - back), back)
        for begin, issued, end in stamps
    ]


def product_loop(side: int) -> Loop:
    """Return a loop of products that reads for about half as long as it computes."""
    weight = nd.random.normal(0, 1 / side**0.5, shape=(side, side))
    loop = Loop(nd.ones((side, side)), lambda y: nd.dot(y, weight))
    sample(loop, 5)
    loop.reading = 0.5 * median(run for _, run, _ in sample(loop, 30))
    return loop


@dataclass
class Comparison:
    """A loop as predicted and as it was."""

    steps: int
    phases: Phases
    each: float
    once: float

    @property
    def predicted_each(self) -> float:
        """Every step takes all three."""
        return self.steps * sum(self.phases)

    @property
    def predicted_once(self) -> float:
        """Issuing and returning are hidden behind the running, but for the first and last."""
        issue, run, back = self.phases
        return issue + self.steps * run + back


def compare(loop: Loop, steps: int, rounds: int, setting: Setting) -> Comparison:
    """Measure the parts of a step before, between and after the loops, and the loops."""
    words = setting.words
    samples = setting.count(100, 20)
    phases = sample(loop, samples)
    each, once = [], []
    for _ in range(rounds):
        with setting.progress(words("each"), steps):
            each.append(loop.run(steps, wait=True))
        phases += sample(loop, samples)
        with setting.progress(words("once"), steps):
            once.append(loop.run(steps, wait=False))
        phases += sample(loop, samples)
    # Means, because a loop pays for its slow steps as well.
    issue, run, back = map(fmean, zip(*phases, strict=True))
    return Comparison(steps, (issue, run, back), median(each), median(once))


def _remark(name: str, loop: Comparison, words: Words) -> str:
    """Say why the prediction for a loop that waits once holds or not."""
    steps, (issue, run, _) = loop.steps, loop.phases
    if name == "fused" and loop.once < loop.predicted_once:
        key = "loops.are_fused"
    else:
        key = "loops.holds" if steps * run > (steps - 1) * issue else "loops.fails"
    return words(
        key,
        name=words(f"loops.{name}.full"),
        steps=steps,
        less=steps - 1,
        run=duration(steps * run),
        issue=duration((steps - 1) * issue),
        once=duration(loop.once),
        predicted=duration(loop.predicted_once),
    )


def measure(setting: Setting) -> Chapter:
    """Compare three loops with their predictions, and record a few steps of the first."""
    words = setting.words
    steps = setting.count(1000, 100)
    products, large = product_loop(512), product_loop(LARGE)
    loops = {
        "products": compare(products, steps, 2, setting),
        "tiny": compare(Loop(nd.ones((1, 2)), lambda y: y + 1), steps, 5, setting),
        "fused": compare(Loop(nd.ones((2000, 2000)), lambda y: y + 1), steps, 1, setting),
    }
    shown = 8
    lines = large.typical(shown, setting.count(7, 3))
    panels = [(words(name), line) for name, line in lines.items()]
    first = loops["products"]
    rows: list[tuple[str, Callable[[Comparison], float]]] = [
        (words("loops.t1"), lambda one: one.phases[0]),
        (words("loops.t2"), lambda one: one.phases[1]),
        (words("loops.t3"), lambda one: one.phases[2]),
        (words("loops.predicted_each", steps=steps), lambda one: one.predicted_each),
        (words("loops.each"), lambda one: one.each),
        (words("loops.predicted_once", steps=steps), lambda one: one.predicted_once),
        (words("loops.once"), lambda one: one.once),
    ]
    return Chapter(
        "loops",
        [code.replace("1000", str(steps)) for code in (SYNCHRONOUS, ASYNCHRONOUS)],
        Table(
            ("", *(words(f"loops.{name}") for name in loops)),
            [(name, *(duration(of(one)) for one in loops.values())) for name, of in rows],
        ),
        words(
            "loops.finding",
            each=duration(first.each),
            once=duration(first.once),
            ratio=words.times(first.each / first.once),
            predicted=duration(first.predicted_once),
        ),
        words("loops.caption", shown=shown, side=LARGE, reading=duration(large.reading)),
        lambda width, label: lanes_picture(panels, words, width, label),
        [_remark(name, one, words) for name, one in loops.items()],
    )

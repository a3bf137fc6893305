# SPDX-License-Identifier: Apache-2.0
"""A statement returns before its work is done."""

from __future__ import annotations

from statistics import median

from ... import nd
from ..chapter import Chapter, Setting, Table
from ..lanes import lanes_picture
from ..quantities import duration
from ..timeline import PYTHON, Recorder, Timeline

CODE = """\
y = nd.dot(x, x)
y.wait_to_read()"""


def _once(x: nd.NDArray) -> Timeline:
    recorder = Recorder()
    with recorder.recording():
        with recorder.doing("issue"):
            y = nd.dot(x, x)
        with recorder.doing("wait"):
            y.wait_to_read()
    return recorder.timeline()


def _issuing(line: Timeline) -> float:
    """Return how long the statement took."""
    issue = line.lanes[PYTHON][0]
    return (issue.end - issue.begin) / 1e9


def measure(setting: Setting) -> Chapter:
    """Time a product of matrices when it is queued and when it is finished."""
    words = setting.words
    side, rounds = setting.count(2000, 1000), setting.count(7, 3)
    x = nd.random.normal(0, 1 / side**0.5, shape=(side, side))
    nd.dot(x, x).wait_to_read()  # loads the maths library and starts the workers
    with setting.progress(words("queued.progress"), rounds):
        lines = [_once(x) for _ in range(rounds)]
    queued = median(_issuing(line) for line in lines)
    finished = median(line.seconds for line in lines)
    typical = min(
        lines, key=lambda line: abs(_issuing(line) - queued) + abs(line.seconds - finished)
    )
    rate = 2 * side**3 / finished / 1e9
    return Chapter(
        "queued",
        [CODE],
        Table(
            ("", words("time")),
            [
                (words("queued.queued"), duration(queued)),
                (words("queued.finished"), duration(finished)),
            ],
        ),
        words(
            "queued.finding",
            queued=duration(queued),
            finished=duration(finished),
            ratio=words.times(finished / queued),
        ),
        words("queued.caption", side=side),
        lambda width, label: lanes_picture([(words("queued.panel"), typical)], words, width, label),
        [words("queued.rate", rate=f"{rate:,.0f}", side=side)],
    )

# SPDX-License-Identifier: Apache-2.0
"""The same network before and after ``hybridize``."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from ... import autograd, engine, gluon, nd
from ...gluon import HybridBlock, nn
from ..chapter import Chapter, Setting, Table
from ..drawing import Bar, draw_bars
from ..quantities import duration

CODE = """\
net = nn.HybridSequential()
net.add(nn.Dense(256, activation="relu"), nn.Dense(128, activation="relu"), nn.Dense(2))
net.initialize()
net.hybridize()"""


def _network(*units: int) -> nn.HybridSequential:
    net = nn.HybridSequential()
    for count in units[:-1]:
        net.add(nn.Dense(count, activation="relu"))
    net.add(nn.Dense(units[-1]))
    net.initialize()
    return net


class Loop(NamedTuple):
    """Something to repeat, and what of it can be hybridized."""

    blocks: list[HybridBlock]
    run: Callable[[], object]


def _prediction(steps: int) -> Loop:
    """Return a loop that calls a network; results are kept, so that none is dropped."""
    net, x = _network(256, 128, 2), nd.random.normal(shape=(1, 512))
    return Loop([net], lambda: [net(x) for _ in range(steps)])


def _training(steps: int) -> Loop:
    """Return a loop that trains a network."""
    net, loss = _network(64, 64, 1), gluon.loss.L2Loss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    x, y = nd.random.normal(shape=(32, 20)), nd.ones((32,))

    def train() -> None:
        for _ in range(steps):
            with autograd.record():
                error = loss(net(x), y)
            error.backward()
            trainer.step(32)

    return Loop([net, loss], train)


def _seconds(loop: Callable[[], object]) -> float:
    nd.waitall()
    begin = time.perf_counter()
    results = loop()
    nd.waitall()
    seconds = time.perf_counter() - begin
    del results
    return seconds


def measure(setting: Setting) -> Chapter:
    """Time a network that predicts and one that is trained."""
    words = setting.words
    rounds = setting.count(11, 3)
    cases = {
        "prediction": (setting.count(1000, 100), _prediction),
        "training": (setting.count(200, 20), _training),
    }
    rows, bars = [], []
    ratios: dict[str, float] = {}
    for name, (steps, make) in cases.items():
        case = words(f"hybridized.{name}", steps=f"{steps:,}")
        loops = {"before": make(steps), "after": make(steps)}
        for block in loops["after"].blocks:
            block.hybridize()
        taken: dict[str, list[float]] = {state: [] for state in loops}
        for loop in loops.values():
            loop.run()  # makes parameters, writes the network down
        calls = engine.stats()["issued"]
        for loop in loops.values():
            loop.run()
        calls = engine.stats()["issued"] - calls
        with setting.progress(case, rounds * calls):
            for _ in range(rounds):  # in turns, so that both meet the same neighbours
                for state, loop in loops.items():
                    taken[state].append(_seconds(loop.run))
        times = {state: median(some) for state, some in taken.items()}
        for state, seconds in times.items():
            label = words("hybridized.bar", case=case, state=words(f"hybridized.{state}"))
            kind = "wait" if state == "before" else "run"
            bars.append(Bar(label, seconds, duration(seconds), kind))
        ratios[name] = times["before"] / times["after"]
        rows.append(
            (case, duration(times["before"]), duration(times["after"]), words.times(ratios[name]))
        )
    return Chapter(
        "hybridized",
        [CODE],
        Table(
            ("", words("hybridized.before"), words("hybridized.after"), words("ratio")),
            rows,
        ),
        words("hybridized.finding", **{name: words.times(one) for name, one in ratios.items()}),
        words("hybridized.caption"),
        lambda width, label: draw_bars(bars, width, label),
    )

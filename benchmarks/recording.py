# SPDX-License-Identifier: Apache-2.0
"""What it costs to record what runs when (afterglow trace, mx.profiler).

python benchmarks/recording.py [--rounds 21]

"recorded" is the same program while everything is recorded; making tables of it afterwards is not
in the time.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from rows import OURS, Answer, Figure, Row, Task, goals, timed

RECORDED = "recorded"
CALLS = 20_000


def recorded_if(column: str, task: Task) -> Task:
    """Return the task with a recording around each round, for the column that has one."""
    if column != RECORDED:
        return task
    from afterglow import trace

    def recorded() -> Answer:
        trace.start()
        try:
            return task()
        finally:
            trace.stop()

    return recorded


def training(widths: tuple[int, ...], batch: int, steps: int, hybrid: bool, column: str) -> Task:
    """Steps of training a perceptron, one wait at the end."""
    from afterglow import autograd, gluon, nd

    net: Any = gluon.nn.HybridSequential()
    for width in widths[1:-1]:
        net.add(gluon.nn.Dense(width, activation="relu"))
    net.add(gluon.nn.Dense(widths[-1]))
    net.initialize()
    if hybrid:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.005})
    measure = gluon.loss.L2Loss()
    data, label = nd.random.normal(shape=(batch, widths[0])), nd.ones((batch,))

    def train() -> None:
        for _ in range(steps):
            with autograd.record():
                loss = measure(net(data), label)
            loss.backward()
            trainer.step(batch)
        nd.waitall()

    train()
    return recorded_if(column, timed(train, before=nd.waitall, count=steps))


def waits(column: str) -> Task:
    """A loop that reads every result."""
    from afterglow import nd

    x = nd.ones((500, 500))

    def loop() -> None:
        for _ in range(500):
            (x + 1).wait_to_read()

    return recorded_if(column, timed(loop, count=500))


def tiny(column: str) -> Task:
    """Nothing but issuing."""
    from afterglow import nd

    x = nd.ones((1, 2))

    def loop() -> None:
        y = x
        for _ in range(CALLS):
            y = x + 1
        y.wait_to_read()

    return recorded_if(column, timed(loop, count=CALLS))


def row(name: str, text: str, make: Any, goal: float | None) -> Row:
    """Make a row."""
    wanted = () if goal is None else goals(**{OURS: goal})
    return Row(
        f"recording/{name}", (Figure(text, wanted),), (RECORDED, OURS), make, rounds=21, rest=0.05
    )


ROWS = [
    row(
        "chapter",
        "training 512-2048-512-1, batch 256",
        partial(training, (512, 2048, 512, 1), 256, 10, False),
        1.05,
    ),
    row(
        "small",
        "training 20-64-64-1, batch 32",
        partial(training, (20, 64, 64, 1), 32, 200, False),
        1.05,
    ),
    row(
        "hybridized",
        "the same, hybridized",
        partial(training, (20, 64, 64, 1), 32, 400, True),
        1.05,
    ),
    row("waits", "(500, 500) + 1, waiting each time", waits, 1.05),
    row("tiny", "issue y = x + 1, (1, 2); the worst case", tiny, None),
]

if __name__ == "__main__":
    from bench import main

    main("recording")

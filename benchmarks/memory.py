# SPDX-License-Identifier: Apache-2.0
"""Resident memory, seen from outside: of formulas, and of loops that run ahead.

python benchmarks/memory.py [--rounds 5] [--rows training]

A loop is run as it is, synchronised after every batch, and without limits on how far Python runs
ahead. Each round is a process of its own, which warms up before its memory is watched.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from formulas import FORMULAS, Applied
from rows import OURS, Answer, Figure, Goal, Row, Task

LOOPS = {  # rows of a batch, features, width of the layers, batches
    "64 x 1024, 1024 wide": (64, 1024, 1024, 500),
    "512 x 784, 256 wide": (512, 784, 256, 500),
    "4096 x 1024, 256 wide": (4096, 1024, 256, 100),
}
VARIANTS = (OURS, "synchronised", "unlimited")
WIDTH, BATCHES = 1024, 100  # of the perceptron in training
STEPS = {OURS: 1_000_000, "10^5 steps": 100_000}


def set_run_ahead(column: str) -> None:
    """Lift the limits for the unlimited form."""
    import afterglow as mx

    if column == "unlimited":
        mx.engine.set_run_ahead(bytes=float("inf"), seconds=float("inf"))


def loop(size: str, column: str) -> Task:
    """Batches through a small network, their losses added up, nothing read until the end."""
    from afterglow import nd

    set_run_ahead(column)
    rows, features, width, batches = LOOPS[size]
    random = np.random.RandomState(3)

    def draw(*shape: int) -> Any:
        return random.uniform(-1, 1, shape).astype(np.float32)

    data = [draw(rows, features) for _ in range(4)]
    first, second, third = (
        nd.array(draw(*shape) / 32) for shape in ((features, width), (width, width), (width, 16))
    )
    bias = nd.array(draw(1, width))

    def batch(number: int, total: Any) -> Any:
        x = nd.array(data[number % len(data)])
        hidden = nd.maximum(nd.dot(x, first) + bias, 0.0)
        hidden = nd.tanh(nd.dot(hidden, second) + bias) * 0.5
        error = nd.dot(hidden, third) - 0.25
        total = total + (error * error).mean()
        if column == "synchronised":
            total.wait_to_read()
        return total

    start = nd.zeros((1,))
    for number in range(3):
        start = batch(number, start)
    nd.waitall()

    def task() -> Answer:
        total = start
        begin = time.perf_counter()
        for number in range(batches):
            total = batch(number, total)
        value = float(total.asnumpy()[0])
        return {"seconds": time.perf_counter() - begin, "value": value}

    return task


def steps(column: str) -> Task:
    """``s = s + x`` on a tiny array, nothing read until the end: the time of one step."""
    import afterglow as mx

    values = [mx.nd.ones((1, 2)) * i for i in range(1, 5)]
    count = STEPS[column]

    def run(number: int) -> Any:
        total = mx.nd.zeros((1, 2))
        for i in range(number):
            total = total + values[i & 3]
        return total

    for _ in range(3):
        run(1000).wait_to_read()
        mx.nd.waitall()

    def task() -> Answer:
        begin = time.perf_counter()
        total = float(run(count).asnumpy()[0, 0])
        seconds = time.perf_counter() - begin
        assert total == 2.5 * count, f"the sum is {total}"
        return {"seconds": seconds / count}

    return task


def formula(name: str, counted: bool, column: str) -> Task:
    """One formula on a large array, after the same on small ones."""
    import afterglow as mx

    small = Applied(OURS, FORMULAS[name], rows=8)
    large = Applied(OURS, FORMULAS[name])
    for _ in range(3):
        small.once()
    mx.memory.trim()  # what the warm-up left must not serve as the result

    def task() -> Answer:
        before = mx.memory.active()
        mx.memory.reset_peak()
        begin = time.perf_counter()
        results = large.once()
        answer = {"seconds": time.perf_counter() - begin}
        if column == "one result":
            answer["bytes"] = sum(4 * result.size for result in results)
        elif counted:
            answer["bytes"] = mx.memory.peak() - before
        return answer

    return task


def perceptron(kind: str, column: str) -> Task:
    """A perceptron 1024-1024-1024-1, batches of 1024 from NumPy, nothing read until the end.

    "training" updates the parameters, "prediction" keeps the losses in a list.
    """
    from afterglow import autograd, gluon, nd

    set_run_ahead(column)
    net = gluon.nn.Sequential()
    for _ in range(2):
        net.add(gluon.nn.Dense(WIDTH, activation="relu"))
    net.add(gluon.nn.Dense(1))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.005})
    difference = gluon.loss.L2Loss()
    random = np.random.RandomState(3)
    data = [random.normal(size=(WIDTH, WIDTH)).astype(np.float32) for _ in range(4)]
    labels = np.ones(WIDTH, np.float32)

    def batch(number: int) -> Any:
        x, y = nd.array(data[number % len(data)]), nd.array(labels)
        if kind == "training":
            with autograd.record():
                loss = difference(net(x), y)
            loss.backward()
            trainer.step(WIDTH)
        else:
            loss = difference(net(x), y)
        if column == "synchronised":
            loss.wait_to_read()
            nd.waitall()
        return loss

    for number in range(3):
        batch(number).wait_to_read()  # what nobody reads would not be computed
    nd.waitall()

    def task() -> Answer:
        losses = []
        begin = time.perf_counter()
        for number in range(BATCHES):
            loss = batch(number)
            if kind == "prediction":
                losses.append(loss)
        nd.waitall()
        return {"seconds": time.perf_counter() - begin}

    return task


def loop_row(name: str, text: str, make: Any, **more: Any) -> Row:
    """Make a row of a loop in its three forms: memory, then time."""
    bound = Goal(1.25, ("synchronised",), more=16e6)
    return Row(
        f"memory/{name}",
        (
            Figure(f"memory of {text}", (bound,), "bytes"),
            Figure(f"time of {text}", (Goal(1.05, ("unlimited",)),)),
        ),
        VARIANTS,
        make,
        rounds=5,
        fresh=True,
        **more,
    )


ROWS = [
    *[
        loop_row(kind, f"{kind} 1024-1024-1024-1, 100 batches", partial(perceptron, kind))
        for kind in ("training", "prediction")
    ],
    *[
        loop_row(f"batches of {size}", f"a loop over batches of {size}", partial(loop, size))
        for size in LOOPS
    ],
    Row(
        "memory/steps",
        (
            Figure("memory of 10^6 `s = s + x`", (Goal(1.0, ("10^5 steps",), more=4e6),), "bytes"),
            Figure("time of a step of 10^6 `s = s + x`"),
        ),
        tuple(STEPS),
        steps,
        rounds=5,
        fresh=True,
    ),
    *[
        Row(
            f"memory/{name}, {how}",
            (
                Figure(
                    f"memory of {FORMULAS[name].text}, {how}",
                    (Goal(1.1, ("one result",)),),
                    "bytes",
                ),
            ),
            (OURS, "one result"),
            partial(formula, name, how == "own count"),
            rounds=5,
            fresh=True,
        )
        for name in ("expression", "chain")
        for how in ("own count", "resident")
    ],
]

if __name__ == "__main__":
    from bench import main

    main("memory")

# SPDX-License-Identifier: Apache-2.0
"""What running ahead costs in training: memory beside a synchronised loop, time beside no limit.

    python benchmarks/training_memory.py [--batches 100] [--rounds 1] [--loops training]

A perceptron 1024 -> 1024 -> 1024 -> 1 and batches of 1024 made from NumPy arrays, nothing read
until the end. "training" updates the parameters, "prediction" keeps the losses in a list. Each loop
runs in a process of its own, in three forms: as it is, synchronised after every batch, and without
limits on how far Python runs ahead.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from window_memory import VARIANTS, Run, measure, report, warmed_up

MOST_MEMORY, MORE_BYTES = 1.25, 16 << 20  # over the synchronised loop
MOST_TIME = 1.05  # over the unlimited one


def loop(kind: str, variant: str, batches: int, size: int) -> None:
    """One of the loops."""
    import numpy as np

    import afterglow as mx
    from afterglow import autograd, gluon

    nd = mx.nd
    if variant == "unlimited":
        mx.engine.set_run_ahead(bytes=float("inf"), seconds=float("inf"))
    net = gluon.nn.Sequential()
    net.add(
        gluon.nn.Dense(size, activation="relu"),
        gluon.nn.Dense(size, activation="relu"),
        gluon.nn.Dense(1),
    )
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.005})
    difference = gluon.loss.L2Loss()
    random = np.random.RandomState(3)
    data = [random.normal(size=(size, size)).astype(np.float32) for _ in range(4)]
    labels = np.ones(size, np.float32)

    def batch(number: int) -> Any:
        x, y = nd.array(data[number % len(data)]), nd.array(labels)
        if kind == "training":
            with autograd.record():
                loss = difference(net(x), y)
            loss.backward()
            trainer.step(size)
        else:
            loss = difference(net(x), y)
        if variant == "synchronised":
            loss.wait_to_read()
            nd.waitall()
        return loss

    for number in range(3):
        batch(number).wait_to_read()  # what nobody reads would not be computed
    nd.waitall()
    warmed_up()
    begin = time.perf_counter()
    losses = []
    for number in range(batches):
        loss = batch(number)
        if kind == "prediction":
            losses.append(loss)
    nd.waitall()
    report(begin, float(loss.mean().asscalar()))


def main() -> None:
    """Run all loops and print the table."""
    parser = argparse.ArgumentParser(description="Memory and time of running ahead in training.")
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--loops", default="training,prediction")
    parser.add_argument("--work", nargs=2, metavar=("KIND", "VARIANT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        loop(*arguments.work, arguments.batches, arguments.size)
        return
    options = ["--batches", str(arguments.batches), "--size", str(arguments.size)]
    for kind in arguments.loops.split(","):
        runs: dict[str, list[Run]] = {variant: [] for variant in VARIANTS}
        for _ in range(arguments.rounds):
            for variant in VARIANTS:
                runs[variant].append(measure("--work", kind, variant, *options, file=__file__))
        seconds = {name: min(run.seconds for run in some) for name, some in runs.items()}
        growth = {name: max(run.growth for run in some) for name, some in runs.items()}
        for variant in VARIANTS:
            print(
                f"{kind:10} {variant:12} {seconds[variant]:8.2f} s   "
                f"{growth[variant] / 2**20:8.1f} MB more than after the warm-up"
            )
        allowed = MOST_MEMORY * growth["synchronised"] + MORE_BYTES
        slower = seconds["default"] / seconds["unlimited"]
        for what, good in (
            (f"memory: at most {allowed / 2**20:.1f} MB", growth["default"] <= allowed),
            (f"time: {slower:.3f} of the unlimited loop, at most {MOST_TIME}", slower <= MOST_TIME),
        ):
            print(f"{kind:10} {what}   {'met' if good else 'MISSED'}")


if __name__ == "__main__":
    sys.exit(main())

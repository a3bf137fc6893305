# SPDX-License-Identifier: Apache-2.0
"""The calls that are timed, and the process that times them.

Runs as a script, under any interpreter that has the library: a request is the name of a row on a
line of its own, the answer the nanoseconds that one call of it takes.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

#: Seconds that a run takes at least: less than a process may go on when others want the processor.
SHORTEST = 0.002
#: Runs of which the shortest counts.
RUNS = 5
IMPORT = (
    "import time, numpy; start = time.perf_counter_ns(); import afterglow; "
    "print(time.perf_counter_ns() - start)"
)


def rows() -> dict[str, Callable[[], Any]]:
    """Return all rows that are timed in this process."""
    from afterglow import autograd, nd, np, npx

    x, y, a = nd.ones((4, 4)), nd.ones((4, 4)), np.ones((4, 4))
    leaf = nd.ones((4, 4))
    leaf.attach_grad()

    def assign() -> None:
        x[0] = 1

    def backward() -> Any:
        with autograd.record():
            value = (leaf * leaf).sum()
        value.backward()
        return value

    return {
        "x + 1": lambda: x + 1,
        "x + y": lambda: x + y,
        "nd.exp(x)": lambda: nd.exp(x),
        "nd.dot(x, x)": lambda: nd.dot(x, x),
        "np.sum(a)": lambda: np.sum(a),
        "nd.sum(x, axis=1)": lambda: nd.sum(x, axis=1),
        "x.reshape((2, 8))": lambda: x.reshape((2, 8)),
        "x[0]": lambda: x[0],
        "x[0] = 1": assign,
        "np.mean(a)": lambda: np.mean(a),
        "npx.softmax(a)": lambda: npx.softmax(a),
        "(x * x).sum(), backward": backward,
        "small training step": training_step(hybridize=False),
        "small training step, hybridized": training_step(hybridize=True),
    }


def training_step(hybridize: bool) -> Callable[[], Any]:
    """Return a step of a perceptron of 20-64-64-1 units with a batch of 32."""
    from afterglow import autograd, gluon, nd

    net = gluon.nn.HybridSequential()
    net.add(
        gluon.nn.Dense(64, activation="relu"),
        gluon.nn.Dense(64, activation="relu"),
        gluon.nn.Dense(1),
    )
    net.initialize()
    if hybridize:
        net.hybridize()
    loss = gluon.loss.L2Loss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    x, y = nd.random.normal(shape=(32, 20)), nd.ones((32, 1))

    def step() -> Any:
        with autograd.record():
            value = loss(net(x), y)
        value.backward()
        trainer.step(32)
        return value

    return step


def once(call: Callable[[], Any], count: int) -> int:
    """Return the nanoseconds of so many calls, and of the work that is left when they return.

    Results of single calls are forgotten: what is timed is Python's side of them.
    """
    from afterglow import nd

    nd.waitall()
    start = time.perf_counter_ns()
    for _ in range(count):
        call()
    nd.waitall()
    return time.perf_counter_ns() - start


class Row:
    """A row, called so often that a run can be timed."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call
        self.count = 1
        for _ in range(3):  # until hybridized blocks are replayed
            once(call, 2)
        while once(call, self.count) < SHORTEST * 1e9:
            self.count *= 2

    def run(self) -> float:
        """Return the nanoseconds of one call."""
        return min(once(self.call, self.count) for _ in range(RUNS)) / self.count


def time_of_import() -> float:
    """Return the nanoseconds that a new process needs to import the library after NumPy."""
    child = subprocess.run(
        [sys.executable, "-c", IMPORT],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(child.stdout)


def main() -> None:
    """Answer requests until there are none."""
    gc.disable()
    known = rows()
    ready: dict[str, Row] = {}
    print(*known, "import afterglow", sep="\t", flush=True)
    for line in sys.stdin:
        name = line.strip()
        if name == "import afterglow":
            print(time_of_import(), flush=True)
            continue
        if name not in ready:
            ready[name] = Row(known[name])
        print(ready[name].run(), flush=True)


if __name__ == "__main__":
    main()

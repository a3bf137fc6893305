# SPDX-License-Identifier: Apache-2.0
"""Training a multilayer perceptron: Afterglow beside others, side by side in one run.

    python benchmarks/training.py [--rounds 5] [--peer mxnet=INTERPRETER] [--peer torch=INTERPRETER]
                                  [--peer jax=INTERPRETER]

PyTorch runs eagerly; in JAX the whole training step is compiled (``jax.jit``).

Each library runs in a process of its own and they take turns; a figure is the median over the
rounds. Nothing is read until the end of a round.

    large   batch 1024, 512 -> 2048 -> 512 -> 1, relu, L2 loss, SGD: 20 batches
    small   batch 32, 20 -> 64 -> 64 -> 1: 200 batches
    many    one step of SGD over 500 parameters of 100 elements
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZES = {"large": (1024, (512, 2048, 512, 1), 20), "small": (32, (20, 64, 64, 1), 200)}
#: What comes before a round, and the round itself.
Task = tuple[Callable[[], Any], Callable[[], Any]]

#: Seconds before a round, in which the threads of the library before stop spinning.
PAUSE = 0.3

GOALS = {
    ("large", "torch"): 1.0,
    ("large", "jax"): 1.0,
    ("large", "mxnet"): 1 / 1.5,
    ("small", "torch"): 1.0,
    ("small", "mxnet"): 1 / 5,
    ("many", "mxnet"): 1 / 20,
}


def gluon_task(name: str, task: str) -> Task:
    """Return one round in Afterglow or MXNet."""
    if name == "mxnet":
        import mxnet as mx
    else:
        import afterglow as mx
    from importlib import import_module

    package = mx.__name__
    gluon = import_module(f"{package}.gluon")
    autograd = import_module(f"{package}.autograd")
    nd = mx.nd
    if task == "many":
        parameters = gluon.ParameterDict()
        for number in range(500):
            parameters.get(f"weight{number}", shape=(100,), init="ones")
        parameters.initialize()
        trainer = gluon.Trainer(parameters, "sgd", {"learning_rate": 0.01})

        def fresh_gradients() -> None:
            with autograd.record():
                losses = [parameter.data().sum() for parameter in parameters.values()]
            autograd.backward(losses)
            nd.waitall()

        def step() -> None:
            trainer.step(1)
            nd.waitall()

        return fresh_gradients, step
    batch, widths, batches = SIZES[task]
    net = gluon.nn.Sequential()
    for width in widths[1:-1]:
        net.add(gluon.nn.Dense(width, activation="relu"))
    net.add(gluon.nn.Dense(widths[-1]))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.005})
    measure = gluon.loss.L2Loss()

    def run() -> None:
        for _ in range(batches):
            x = nd.random.normal(shape=(batch, widths[0]))
            y = nd.ones((batch,))
            with autograd.record():
                loss = measure(net(x), y)
            loss.backward()
            trainer.step(batch)
        nd.waitall()

    return nd.waitall, run


def torch_task(task: str) -> Task:
    """Return one round in PyTorch."""
    import torch

    if task == "many":
        weights = [torch.ones(100, requires_grad=True) for _ in range(500)]
        for weight in weights:
            weight.sum().backward()
        descent = torch.optim.SGD(weights, lr=0.01)
        return lambda: None, lambda: descent.step() and None
    batch, widths, batches = SIZES[task]
    layers: list[Any] = []
    for before, after in itertools.pairwise(widths):
        layers += [torch.nn.Linear(before, after), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers[:-1])
    descent = torch.optim.SGD(net.parameters(), lr=0.005)

    def run() -> None:
        for _ in range(batches):
            x, y = torch.randn(batch, widths[0]), torch.ones(batch, 1)
            loss = 0.5 * ((net(x) - y) ** 2).mean()
            descent.zero_grad()
            loss.backward()
            descent.step()

    return lambda: None, run


def jax_task(task: str) -> Task:
    """Return one round in JAX."""
    import jax
    from jax import numpy as jnp

    if task == "many":
        weights = [jnp.ones(100) for _ in range(500)]
        descend = jax.jit(lambda all_weights: [weight - 0.01 for weight in all_weights])
        return lambda: None, lambda: jax.block_until_ready(descend(weights))
    batch, widths, batches = SIZES[task]
    key = jax.random.PRNGKey(0)
    layers = []
    for before, after in itertools.pairwise(widths):
        key, drawn = jax.random.split(key)
        layers.append((jax.random.uniform(drawn, (before, after)) * 0.1 - 0.05, jnp.zeros(after)))

    def loss(layers: Any, x: Any, y: Any) -> Any:
        for number, (weight, bias) in enumerate(layers):
            x = x @ weight + bias
            if number + 1 < len(layers):
                x = jax.nn.relu(x)
        return 0.5 * ((x - y) ** 2).mean()

    @jax.jit
    def step(layers: Any, key: Any) -> Any:
        key, drawn = jax.random.split(key)
        x, y = jax.random.normal(drawn, (batch, widths[0])), jnp.ones((batch, 1))
        slopes = jax.grad(loss)(layers, x, y)
        return jax.tree.map(lambda value, slope: value - 0.005 * slope, layers, slopes), key

    def run() -> None:
        state = (layers, key)
        for _ in range(batches):
            state = step(*state)
        jax.block_until_ready(state)

    return lambda: None, run


def make_task(name: str, task: str) -> Task:
    """Return one round in a library."""
    if name == "torch":
        return torch_task(task)
    return jax_task(task) if name == "jax" else gluon_task(name, task)


def work(name: str) -> None:
    """Answer requests for rounds on standard input with their seconds."""
    tasks: dict[str, Task] = {}
    for line in sys.stdin:
        task = line.strip()
        if task not in tasks:
            tasks[task] = make_task(name, task)
            for warm_up in tasks[task]:
                warm_up()
        prepare, run = tasks[task]
        prepare()
        begin = time.perf_counter()
        run()
        print(json.dumps(time.perf_counter() - begin), flush=True)


def main() -> None:
    """Let the libraries take turns and print the table."""
    parser = argparse.ArgumentParser(description="Training, as ratios.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", default="large,small,many")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=INTERPRETER")
    parser.add_argument("--work", metavar="NAME", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.work)
        return
    interpreters = {"afterglow": sys.executable}
    interpreters.update(peer.split("=", 1) for peer in arguments.peer)
    processes = {
        name: subprocess.Popen(
            [interpreter, str(Path(__file__)), "--work", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, interpreter in interpreters.items()
    }
    for task in arguments.tasks.split(","):
        times: dict[str, list[float]] = {name: [] for name in processes}
        for _ in range(arguments.rounds):
            for name, process in processes.items():
                assert process.stdin
                assert process.stdout
                time.sleep(PAUSE)
                process.stdin.write(task + "\n")
                process.stdin.flush()
                times[name].append(json.loads(process.stdout.readline()))
        ours = statistics.median(times["afterglow"])
        for name, seconds in times.items():
            theirs = statistics.median(seconds)
            goal = GOALS.get((task, name))
            verdict = "" if goal is None else "met" if ours <= goal * theirs else "MISSED"
            print(
                f"{task:6} {name:10} {theirs * 1e3:10.2f} ms   ours / theirs {ours / theirs:.3f}"
                f"   {'' if goal is None else f'goal {goal:.3f}'} {verdict}".rstrip()
            )
    for process in processes.values():
        assert process.stdin
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    main()

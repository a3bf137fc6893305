# SPDX-License-Identifier: Apache-2.0
"""Training a multilayer perceptron. Nothing is read until the end of a round.

python benchmarks/training.py [--rounds 5] [--peer mxnet=INTERPRETER] [--peer torch=...]

PyTorch runs eagerly; in JAX the whole training step is compiled (``jax.jit``).
"""

from __future__ import annotations

import itertools
from importlib import import_module
from typing import Any

from rows import Figure, Goal, Row, Task, goals, timed

SIZES = {"large": (1024, (512, 2048, 512, 1), 20), "small": (32, (20, 64, 64, 1), 200)}


def gluon_task(name: str, task: str) -> Task:
    """Return one round in Afterglow or MXNet."""
    gluon = import_module(f"{name}.gluon")
    autograd = import_module(f"{name}.autograd")
    nd = import_module(f"{name}.ndarray")
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

        return timed(step, before=fresh_gradients)
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

    return timed(run, before=nd.waitall)


def torch_task(task: str) -> Task:
    """Return one round in PyTorch."""
    import torch

    if task == "many":
        weights = [torch.ones(100, requires_grad=True) for _ in range(500)]
        for weight in weights:
            weight.sum().backward()
        descent = torch.optim.SGD(weights, lr=0.01)
        return timed(descent.step)
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

    return timed(run)


def jax_task(task: str) -> Task:
    """Return one round in JAX."""
    import jax
    from jax import numpy as jnp

    if task == "many":
        weights = [jnp.ones(100) for _ in range(500)]
        descend = jax.jit(lambda all_weights: [weight - 0.01 for weight in all_weights])
        return timed(lambda: jax.block_until_ready(descend(weights)))
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

    return timed(run)


def row(task: str, text: str, *wanted: Goal) -> Row:
    """Make a row that all libraries take part in."""

    def make(column: str) -> Task:
        if column == "torch":
            return torch_task(task)
        return jax_task(task) if column == "jax.jit" else gluon_task(column, task)

    columns = ("afterglow", "torch", "jax.jit", "mxnet")
    figures = (Figure(text, wanted, readme=True),)
    return Row(f"training/{task}", figures, columns, make, rounds=5, rest=0.3)


ROWS = [
    row(
        "large",
        "training 512-2048-512-1, batch 1024, 20 batches",
        *goals(torch=1.0, jax_jit=1.0, mxnet=1 / 1.5),
    ),
    row(
        "small",
        "training 20-64-64-1, batch 32, 200 batches",
        *goals(torch=1.0, mxnet=1 / 5),
    ),
    row("many", "`trainer.step` over 500 parameters of 100 numbers", *goals(mxnet=1 / 20)),
]

if __name__ == "__main__":
    from bench import main

    main("training")

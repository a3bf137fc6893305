# SPDX-License-Identifier: Apache-2.0
"""Hybridized nets beside compiled ones of other libraries.

python benchmarks/hybridize.py [--rounds 5] [--peer mxnet=INTERPRETER] [--peer torch=...]

"eager" is Afterglow without ``hybridize``. PyTorch: ``torch.compile``; JAX: ``jax.jit`` of the net
or of the whole step; MXNet: ``hybridize(static_alloc=True, static_shape=True)``; ONNX Runtime:
prediction only.
"""

from __future__ import annotations

import random
from importlib import import_module
from itertools import pairwise
from typing import Any

from rows import Figure, Goal, Row, Task, goals, library_of, timed

WIDTHS = {"predict": (512, 256, 128, 2), "train": (20, 64, 64, 1), "shapes": (512, 256, 128, 2)}
CALLS, STEPS, BATCH = 1000, 200, 32
SIZES = [random.Random(0).randrange(1, 65) for _ in range(200)]


def gluon_task(name: str, task: str) -> Task:
    """Return a task in Afterglow or MXNet."""
    package = library_of(name)
    autograd = import_module(f"{package}.autograd")
    gluon = import_module(f"{package}.gluon")
    nd = import_module(f"{package}.ndarray")
    widths = WIDTHS[task]
    net = gluon.nn.HybridSequential()
    for width in widths[1:-1]:
        net.add(gluon.nn.Dense(width, activation="relu"))
    net.add(gluon.nn.Dense(widths[-1]))
    net.initialize()
    measure = gluon.loss.L2Loss()
    if name != "eager":
        for block in (net, measure):
            block.hybridize(static_alloc=True, static_shape=task != "shapes")
    if task == "predict":
        x = nd.random.normal(shape=(1, widths[0]))

        def predict() -> None:
            kept = [net(x) for _ in range(CALLS)]
            nd.waitall()
            del kept

        return timed(predict, before=nd.waitall)
    if task == "shapes":
        inputs = [nd.random.normal(shape=(size, widths[0])) for size in SIZES]

        def pass_all() -> None:
            kept = [net(one) for one in inputs]
            nd.waitall()
            del kept

        return timed(pass_all, before=nd.waitall)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.005})
    data = nd.random.normal(shape=(BATCH, widths[0]))
    label = nd.ones((BATCH,))

    def train() -> None:
        for _ in range(STEPS):
            with autograd.record():
                loss = measure(net(data), label)
            loss.backward()
            trainer.step(BATCH)
        nd.waitall()

    return timed(train, before=nd.waitall)


def torch_task(task: str) -> Task:
    """Return a task in PyTorch."""
    import torch

    widths = WIDTHS[task]
    layers: list[Any] = []
    for before, after in pairwise(widths):
        layers += [torch.nn.Linear(before, after), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers[:-1])
    if task == "predict":
        compiled = torch.compile(net)
        x = torch.randn(1, widths[0])

        def predict() -> None:
            with torch.no_grad():
                kept = [compiled(x) for _ in range(CALLS)]
                del kept

        return timed(predict)
    descent = torch.optim.SGD(net.parameters(), lr=0.005)
    data, label = torch.randn(BATCH, widths[0]), torch.ones(BATCH, 1)
    measure = torch.compile(lambda x, y: 0.5 * ((net(x) - y) ** 2).mean())

    def train() -> None:
        for _ in range(STEPS):
            descent.zero_grad()
            measure(data, label).backward()
            descent.step()

    return timed(train)


def jax_task(task: str) -> Task:
    """Return a task in JAX."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    generator = np.random.default_rng(0)
    widths = WIDTHS[task]
    weights = [
        (jnp.asarray(generator.normal(0, 0.1, pair), jnp.float32), jnp.zeros(pair[1]))
        for pair in pairwise(widths)
    ]

    def net(weights: Any, x: Any) -> Any:
        for weight, bias in weights[:-1]:
            x = jnp.maximum(x @ weight + bias, 0)
        weight, bias = weights[-1]
        return x @ weight + bias

    if task == "predict":
        compiled = jax.jit(net)
        x = jnp.asarray(generator.normal(size=(1, widths[0])), jnp.float32)

        def predict() -> None:
            kept = [compiled(weights, x) for _ in range(CALLS)]
            for one in kept:
                one.block_until_ready()

        return timed(predict)
    data = jnp.asarray(generator.normal(size=(BATCH, widths[0])), jnp.float32)
    label = jnp.ones((BATCH, 1))

    def loss(weights: Any, x: Any, y: Any) -> Any:
        return 0.5 * ((net(weights, x) - y) ** 2).mean()

    @jax.jit
    def step(weights: Any, x: Any, y: Any) -> Any:
        gradients = jax.grad(loss)(weights, x, y)
        return jax.tree.map(lambda weight, gradient: weight - 0.005 * gradient, weights, gradients)

    def train() -> None:
        current = weights
        for _ in range(STEPS):
            current = step(current, data, label)
        jax.block_until_ready(current)

    return timed(train)


def onnx_task(task: str) -> Task:
    """Return a task in ONNX Runtime."""
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    generator = np.random.default_rng(0)
    widths = WIDTHS[task]
    nodes, constants, last = [], [], "x"
    for index, (before, after) in enumerate(pairwise(widths)):
        weight = generator.normal(0, 0.1, (before, after)).astype(np.float32)
        constants += [
            numpy_helper.from_array(weight, f"w{index}"),
            numpy_helper.from_array(np.zeros(after, np.float32), f"b{index}"),
        ]
        nodes.append(helper.make_node("Gemm", [last, f"w{index}", f"b{index}"], [f"h{index}"]))
        last = f"h{index}"
        if index < len(widths) - 2:
            nodes.append(helper.make_node("Relu", [last], [f"r{index}"]))
            last = f"r{index}"
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, widths[0]])],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, [1, widths[-1]])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    feed = {"x": generator.normal(size=(1, widths[0])).astype(np.float32)}

    def predict() -> None:
        kept = [session.run(None, feed) for _ in range(CALLS)]
        del kept

    return timed(predict)


def row(task: str, text: str, peers: str, *wanted: Goal, readme: bool = True) -> Row:
    """Make a row."""

    def make(column: str) -> Task:
        others = {"torch.compile": torch_task, "jax.jit": jax_task, "onnxruntime": onnx_task}
        return others[column](task) if column in others else gluon_task(column, task)

    columns = ("afterglow", "eager", *peers.split())
    figures = (Figure(text, wanted, readme=readme),)
    return Row(f"hybridize/{task}", figures, columns, make, rounds=5, rest=0.3)


ROWS = [
    row(
        "predict",
        "hybridized 512-256-128-2, batch 1, 1000 calls",
        "torch.compile jax.jit mxnet onnxruntime",
        *goals(eager=0.5, jax_jit=1.0, torch_compile=1.0, onnxruntime=1.0, mxnet=1.0),
    ),
    row(
        "train",
        "hybridized training 20-64-64-1, batch 32, 200 batches",
        "torch.compile jax.jit mxnet",
        *goals(jax_jit=1.0, torch_compile=1.0),
    ),
    row(
        "shapes",
        "hybridized 512-256-128-2, 200 batches of random sizes from 1 to 64",
        "",
        *goals(eager=1.2),
        readme=False,
    ),
]

if __name__ == "__main__":
    from bench import main

    main("hybridize")

# SPDX-License-Identifier: Apache-2.0
"""Hybridized nets beside compiled ones of other libraries, side by side in one run.

    python benchmarks/hybridize.py [--rounds 5] [--peer mxnet=INTERPRETER] [--peer torch=...]
                                   [--peer jax=...] [--peer onnx=...]

Each library runs in a process of its own and they take turns; a figure is the median over the
rounds. "eager" is Afterglow without ``hybridize``.

    predict  512 -> 256 -> 128 -> 2, relu, batch 1: 1000 calls, the results kept
    train    batch 32, 20 -> 64 -> 64 -> 1, L2 loss, SGD: 200 steps
    shapes   512 -> 256 -> 128 -> 2, 200 batches of random sizes from 1 to 64

PyTorch: ``torch.compile``; JAX: ``jax.jit`` of the net or of the whole step; MXNet:
``hybridize(static_alloc=True, static_shape=True)``; ONNX Runtime: prediction only.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from turns import Task, main

WIDTHS = {"predict": (512, 256, 128, 2), "train": (20, 64, 64, 1), "shapes": (512, 256, 128, 2)}
CALLS, STEPS, BATCH = 1000, 200, 32
SIZES = [random.Random(0).randrange(1, 65) for _ in range(200)]

GOALS = {
    ("predict", "eager"): 0.5,
    ("shapes", "eager"): 1.2,
    **{("predict", peer): 1.0 for peer in ("jax", "torch", "onnx", "mxnet")},
    **{("train", peer): 1.0 for peer in ("jax", "torch")},
}


def nothing() -> None:
    """Do nothing."""


def gluon_task(name: str, task: str) -> Task:
    """Return a task in Afterglow or MXNet."""
    if name == "mxnet":
        import mxnet as mx
        from mxnet import autograd, gluon
    else:
        import afterglow as mx
        from afterglow import autograd, gluon
    nd = mx.nd
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

        return nd.waitall, predict
    if task == "shapes":
        inputs = [nd.random.normal(shape=(size, widths[0])) for size in SIZES]

        def pass_all() -> None:
            kept = [net(one) for one in inputs]
            nd.waitall()
            del kept

        return nd.waitall, pass_all
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

    return nd.waitall, train


def torch_task(task: str) -> Task | None:
    """Return a task in PyTorch."""
    import torch

    if task == "shapes":
        return None
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

        return nothing, predict
    descent = torch.optim.SGD(net.parameters(), lr=0.005)
    data, label = torch.randn(BATCH, widths[0]), torch.ones(BATCH, 1)
    measure = torch.compile(lambda x, y: 0.5 * ((net(x) - y) ** 2).mean())

    def train() -> None:
        for _ in range(STEPS):
            descent.zero_grad()
            measure(data, label).backward()
            descent.step()

    return nothing, train


def jax_task(task: str) -> Task | None:
    """Return a task in JAX."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    if task == "shapes":
        return None
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

        return nothing, predict
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

    return nothing, train


def onnx_task(task: str) -> Task | None:
    """Return a task in ONNX Runtime."""
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    if task != "predict":
        return None
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

    return nothing, predict


def make_task(name: str, task: str) -> Task | None:
    """Return the task of a library."""
    others: dict[str, Callable[[str], Task | None]] = {
        "torch": torch_task,
        "jax": jax_task,
        "onnx": onnx_task,
    }
    if name == "mxnet" and task == "shapes":
        return None
    return others[name](task) if name in others else gluon_task(name, task)


if __name__ == "__main__":
    main(
        __file__,
        "Hybridized nets, as ratios.",
        list(WIDTHS),
        make_task,
        GOALS,
        ("afterglow", "eager"),
    )

# SPDX-License-Identifier: Apache-2.0
"""The examples in C++ do what the same programs do in Python, from the same seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as onp
from support_c import built, run

import afterglow as mx
from afterglow import autograd, nd


def losses_of(example: str) -> list[float]:
    return [float(line) for line in run(built(f"example_{example}")).split()]


def trained(
    weights: list[Any], batches: list[tuple[Any, Any]], net: Any, update: Any
) -> list[float]:
    for weight in weights:
        weight.attach_grad()
    losses = []
    for x, y in batches:
        with autograd.record():
            loss = -nd.pick(nd.log_softmax(net(x, *weights)), y).mean()
        loss.backward()
        for number, weight in enumerate(weights):
            update(number, weight)
        losses.append(loss)
    return [loss.asscalar() for loss in losses]


def dense(x: Any, weight: Any, bias: Any) -> Any:
    return nd.FullyConnected(x, weight, bias, num_hidden=weight.shape[0])


def test_asynchrony() -> None:
    text = run(built("example_asynchrony"))
    assert "at the statement: ValueError: [dot] the inner dimensions 500 and 3 differ" in text
    assert "at the read: IndexError: [take] index 1000 is out of bounds" in text
    assert "asynchrony.cpp:" in text.splitlines()[-1]


def test_perceptron() -> None:
    mx.random.seed(42)
    data = nd.random.uniform(-1, 1, (512, 16))
    truth = nd.random.normal(shape=(4, 16))
    label = dense(data, truth, nd.zeros((4,))).argmax(axis=1)
    weights = [
        nd.random.normal(0, 0.3, (32, 16)),
        nd.zeros((32,)),
        nd.random.normal(0, 0.3, (4, 32)),
        nd.zeros((4,)),
    ]
    moves = [nd.zeros(weight.shape) for weight in weights]

    def update(number: int, weight: Any) -> None:
        nd.sgd_mom_update(weight, weight.grad, moves[number], out=weight, lr=0.1, momentum=0.9)

    def net(x: Any, *w: Any) -> Any:
        return dense(nd.relu(dense(x, w[0], w[1])), w[2], w[3])

    parts = [slice(begin, begin + 64) for begin in range(0, 512, 64)] * 5
    expected = trained(weights, [(data[part], label[part]) for part in parts], net, update)
    losses = losses_of("perceptron")
    onp.testing.assert_allclose(losses, expected, rtol=1e-6)
    assert losses[-1] < 0.3 < 1 < losses[0]


def test_lenet() -> None:
    mx.random.seed(7)
    data = nd.random.uniform(shape=(32, 1, 28, 28))
    label = nd.random.uniform(0, 10, (32,)).floor()
    weights = []
    for shape in (20, 1, 5, 5), (50, 20, 5, 5), (500, 800), (10, 500):
        weights += [nd.random.normal(0, 0.05, shape), nd.zeros(shape[:1])]

    def layer(x: Any, weight: Any, bias: Any) -> Any:
        sums = nd.Convolution(x, weight, bias, kernel=(5, 5), num_filter=weight.shape[0])
        return nd.Pooling(nd.tanh(sums), kernel=(2, 2), stride=(2, 2), pool_type="max")

    def net(x: Any, *w: Any) -> Any:
        images = layer(layer(x, *w[:2]), *w[2:4])
        return dense(nd.tanh(dense(images, *w[4:6])), *w[6:])

    def update(_: int, weight: Any) -> None:
        nd.sgd_update(weight, weight.grad, out=weight, lr=0.05, wd=0.001)

    expected = trained(weights, [(data, label)] * 6, net, update)
    onp.testing.assert_allclose(losses_of("lenet"), expected, rtol=1e-6)


def test_serving_from_several_threads(tmp_path: Path) -> None:
    net = mx.gluon.model_zoo.vision.resnet18_v1(classes=10)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    requests = [nd.random.uniform(shape=(1, 3, 64, 64)) for _ in range(6)]
    expected = onp.concatenate([net(request).asnumpy() for request in requests])
    net.export(str(tmp_path / "net"))
    nd.save(str(tmp_path / "requests.params"), {f"{i}": one for i, one in enumerate(requests)})
    files = (tmp_path / name for name in ("net-symbol.json", "net-0000.params", "requests.params"))
    lines = run(built("example_serve"), *files).splitlines()
    answers = [[float(one) for one in line.split()] for line in lines]
    onp.testing.assert_allclose(answers, expected, rtol=1e-3, atol=1e-4)

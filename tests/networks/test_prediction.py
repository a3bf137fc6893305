# SPDX-License-Identifier: Apache-2.0
"""1. Hybridized networks predict with weights packed ahead, as their parameters are now."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, memory, nd
from afterglow.gluon import nn

Numbers = onp.ndarray[Any, Any]


class Branches(nn.HybridBlock):  # type: ignore[misc]
    """A residual sum of two ways, and a factor for each channel of it."""

    def __init__(self, channels: int, stride: int = 1, groups: int = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.body = nn.HybridSequential()
            self.body.add(
                nn.Conv2D(channels, 1, use_bias=False),
                nn.BatchNorm(),
                nn.Activation("relu"),
                nn.Conv2D(channels, 3, stride, 1, groups=groups, in_channels=channels),
                nn.BatchNorm(scale=False),
            )
            self.side = nn.Conv2D(channels, 1, stride)
            self.gate = nn.Conv2D(channels, 1)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        y = F.relu(self.body(x) + self.side(x))
        pooled = F.Pooling(y, global_pool=True, pool_type="avg", kernel=(1, 1))
        return F.broadcast_mul(y, F.sigmoid(self.gate(pooled)))


def network(**kwargs: Any) -> Any:
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(10, 5, 2, 2, use_bias=False),
        nn.BatchNorm(),
        nn.Activation("relu"),
        nn.MaxPool2D(3, 2, 1),
        Branches(24, **kwargs),
        Branches(24, 2, groups=24),
        nn.Conv2D(40, 3, dilation=2, padding=2),
        nn.LeakyReLU(0.1),
        nn.GlobalAvgPool2D(),
        nn.Flatten(),
        nn.Dense(7),
    )
    net.initialize(mx.init.Xavier(magnitude=3))
    return net


def images(count: int = 2, dtype: str = "float32") -> Any:
    return nd.array(onp.random.default_rng(count).normal(size=(count, 3, 33, 29)), dtype=dtype)


def predicted(net: Any, x: Any) -> Numbers:
    """Return the answer of a recipe: the first calls of a shape run as they are."""
    for _ in range(3):
        answer: Numbers = net(x).asnumpy()
    return answer


def plain(net: Any, x: Any) -> Numbers:
    """Return the answer of the same network, not hybridized."""
    net.hybridize(False)
    answer: Numbers = net(x).asnumpy()
    net.hybridize()
    return answer


def check(net: Any, x: Any, tolerance: float = 1e-5) -> None:
    answer = predicted(net, x)
    wanted = plain(net, x)
    largest = abs(wanted).max(initial=0)
    onp.testing.assert_allclose(answer, wanted, rtol=tolerance, atol=tolerance * largest)


def move_averages(net: Any, x: Any) -> None:
    with autograd.record():
        net(x).wait_to_read()


@pytest.mark.parametrize("groups", [1, 2, 24])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_predictions_are_those_without_hybridize(groups: int, dtype: str) -> None:
    net = network(groups=groups)
    net(images())
    net.cast(dtype)
    move_averages(net, images(4, dtype))
    net.hybridize()
    for count in 1, 5:
        check(net, images(count, dtype), {"float64": 1e-12, "float16": 1e-2}.get(dtype, 1e-5))


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda: nn.Conv1D(20, 3, 2, 1), (3, 9, 31)),
        (lambda: nn.Conv2D(1, 2), (1, 1, 2, 2)),
        (lambda: nn.Conv2D(33, (1, 7), (3, 1), (0, 3)), (2, 17, 8, 9)),
        (lambda: nn.Conv2D(12, 3, groups=3, use_bias=False), (2, 24, 7, 7)),
        (lambda: nn.Conv2D(10, 3, groups=5), (2, 10, 7, 7)),
        (lambda: nn.Conv2D(19, 3, padding=2, groups=19), (2, 19, 5, 4)),
        (lambda: nn.Conv2D(8, 3, dilation=(1, 2)), (2, 2, 9, 9)),
        (lambda: nn.Conv3D(16, 3, 2, 1), (2, 8, 5, 6, 7)),
    ],
)
@pytest.mark.parametrize("count", [0, 1, 13])
def test_chains_of_any_convolutions(layer: Any, shape: tuple[int, ...], count: int) -> None:
    rank = len(shape) - 2
    point = (nn.Conv1D, nn.Conv2D, nn.Conv3D)[rank - 1]
    net = nn.HybridSequential()
    net.add(layer(), nn.BatchNorm(), nn.Activation("relu"), point(shape[1], 1), point(5, 1))
    net.initialize(mx.init.Xavier(magnitude=3))
    x = nd.random.normal(shape=shape)
    move_averages(net, x)
    net.hybridize()
    check(net, nd.random.normal(shape=(count, *shape[1:])))


def test_what_is_written_to_parameters_is_followed(tmp_path: Path) -> None:
    net, x = network(), images()
    net(x)
    net.hybridize()
    check(net, x)
    parameters = net.collect_params()
    for name, parameter in parameters.items():
        if name.endswith("batchnorm1_gamma"):  # it is fixed
            continue
        before = predicted(net, x)
        if name.endswith("var"):
            parameter.set_data(parameter.data() * 2 + 0.5)
        elif name.endswith(("weight", "mean")):
            parameter.data()[:] += 0.01
        else:
            parameter.data()[1:] = 0.05
        after = net(x).asnumpy()
        assert not onp.array_equal(after, before), name
        wanted = plain(net, x)
        onp.testing.assert_allclose(after, wanted, rtol=1e-4, atol=1e-5 * abs(wanted).max())
    net.save_parameters(str(tmp_path / "p"))
    saved = predicted(net, x)
    net.initialize(mx.init.Xavier(magnitude=1), force_reinit=True)
    assert not onp.array_equal(predicted(net, x), saved)
    net.load_parameters(str(tmp_path / "p"))
    onp.testing.assert_allclose(predicted(net, x), saved, rtol=1e-6)


def test_training_in_between_is_followed() -> None:
    net, x = network(), images(4)
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9})
    for _ in range(4):
        before = predicted(net, x)
        with autograd.record():
            loss = net(x).square().sum()
        loss.backward()
        trainer.step(4)
        after = net(x).asnumpy()
        assert not onp.array_equal(after, before)
        wanted = plain(net, x)
        onp.testing.assert_allclose(after, wanted, rtol=1e-4, atol=1e-5 * abs(wanted).max())


def test_memory_that_others_may_write_is_read_each_time() -> None:
    numbers = onp.ones((4, 3, 1, 1), "float32")
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 1, use_bias=False), nn.Conv2D(2, 3, use_bias=False))
    net.initialize()
    x = images()
    net(x)
    net[0].weight.data().attach_grad(grad_req="null")
    net.hybridize()
    before = predicted(net, x)
    shared = onp.from_dlpack(net[0].weight.data())
    shared.flags.writeable or pytest.skip("this NumPy lends nothing that can be written")
    shared[...] = numbers
    assert not onp.array_equal(net(x).asnumpy(), before)
    check(net, x)


def test_blocks_that_share_parameters() -> None:
    x = images()
    first = network()
    first(x)
    second = network()
    second(x)
    for one, other in zip(
        first.collect_params().values(), second.collect_params().values(), strict=True
    ):
        other.set_data(one.data())
    shared = nn.HybridSequential()
    shared.add(first[0], first[1], nn.Conv2D(6, 1))
    shared[2].initialize()
    for net in first, second, shared:
        net.hybridize()
        check(net, x)
    onp.testing.assert_allclose(predicted(first, x), predicted(second, x), rtol=1e-6)
    first[0].weight.data()[:] *= 2
    check(shared, x)
    check(first, x)


def test_an_imported_network(tmp_path: Path) -> None:
    net, x = network(), images()
    net(x)
    move_averages(net, images(4))
    net.hybridize()
    wanted = predicted(net, x)
    net.export(str(tmp_path / "net"))
    imported = gluon.SymbolBlock.imports(
        str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
    )
    imported.hybridize()
    onp.testing.assert_allclose(predicted(imported, x), wanted, rtol=1e-4, atol=1e-5)


def test_several_threads_predict_while_parameters_change() -> None:
    net, x = network(), images()
    net(x)
    net.hybridize()
    weight = net[0].weight.data()
    start = weight.copy()
    answers = []
    for factor in 1, 2:
        weight[:] = start * factor
        answers.append(predicted(net, x))
    failures: list[str] = []

    def predict() -> None:
        for _ in range(30):
            found = net(x).asnumpy()
            if not any(onp.allclose(found, answer, rtol=1e-4, atol=1e-5) for answer in answers):
                failures.append(str(found))

    threads = [threading.Thread(target=predict) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(40):
        weight[:] = start * (1 + i % 2)
    for thread in threads:
        thread.join()
    assert not failures


def test_results_inside_can_be_outputs_too() -> None:
    class Several(nn.HybridBlock):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.convolutions = nn.HybridSequential()
                self.convolutions.add(*(nn.Conv2D(16, 3, padding=1) for _ in range(3)))
                self.norm = nn.BatchNorm()

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            first = self.convolutions[0](x)
            second = self.convolutions[1](self.norm(first))
            halves = F.split(second, num_outputs=2, axis=1)
            flat = second.reshape((0, -1))
            third = self.convolutions[2](F.concat(halves[1], halves[0], dim=1))
            return first, third, flat, F.transpose(third, axes=(0, 2, 3, 1)), second + x[:, :1]

    net, x = Several(), images()
    net.initialize()
    wanted = [one.asnumpy() for one in net(x)]
    net.hybridize()
    for _ in range(4):
        found = [one.asnumpy() for one in net(x)]
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        onp.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_memory_does_not_grow_with_predictions_and_writes() -> None:
    net = nn.HybridSequential()
    net.add(*(nn.Conv2D(128, 3, padding=1) for _ in range(4)))
    net.initialize()
    x = nd.ones((1, 128, 8, 8))
    net.hybridize()
    predicted(net, x)
    mx.waitall()
    used = memory.active()
    for _ in range(10):
        net[1].weight.data()[:] *= 0.5
        net(x).wait_to_read()
    mx.waitall()
    assert memory.active() < used + 2**20
    net.hybridize(False)
    mx.waitall()
    parameters = sum(one.data().size * 4 for one in net.collect_params().values())
    assert memory.active() < used - 0.9 * parameters

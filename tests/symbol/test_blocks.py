# SPDX-License-Identifier: Apache-2.0
"""Blocks and symbols: networks called with symbols, export, blocks made of graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np, npx, sym
from afterglow.gluon import nn


class Branches(gluon.HybridBlock):
    """Two inputs, a parameter, and functions of F."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.dense = nn.Dense(3, activation="relu")
            self.scale = self.params.get("scale", shape=(1, 3), init="ones")

    def hybrid_forward(self, F: Any, x: Any, y: Any, scale: Any) -> Any:
        left = F.broadcast_mul(self.dense(x), scale)
        return F.concat(left, F.tanh(y), dim=1), left.sum(axis=1)


def test_a_network_of_a_symbol() -> None:
    with mx.name.NameManager():
        net = nn.HybridSequential()
        with net.name_scope():
            net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
        y = net(sym.var("data"))
    assert isinstance(y, sym.Symbol)
    assert y.name == "hybridsequential0_dense1_fwd"
    assert y.list_arguments() == [
        "data",
        "hybridsequential0_dense0_weight",
        "hybridsequential0_dense0_bias",
        "hybridsequential0_dense1_weight",
        "hybridsequential0_dense1_bias",
    ]
    assert y.infer_shape(data=(5, 3))[1] == [(5, 2)]
    assert y.attr_dict()["hybridsequential0_dense0_weight"]["__shape__"] == "(4, 0)"


def test_a_shared_parameter_is_one_variable() -> None:
    layer = nn.Dense(3, in_units=3)
    y = layer(layer(sym.var("x")))
    assert len(y.list_arguments()) == 3
    assert layer.weight.var().name == layer.weight.name
    assert layer.weight.var() is layer.weight.var()


def test_own_blocks(tmp_path: Path) -> None:
    net = Branches()
    net.initialize()
    x, y = nd.array(onp.random.uniform(-1, 1, (4, 5))), nd.ones((4, 2))
    wanted = net(x, y)
    outputs = net(sym.var("x"), sym.var("y"))
    assert [type(one) for one in outputs] == [sym.Symbol] * 2
    assert net.export(str(tmp_path / "net"), epoch=2) is None
    block = gluon.SymbolBlock.imports(
        str(tmp_path / "net-symbol.json"), ["data0", "data1"], str(tmp_path / "net-0002.params")
    )
    for found, one in zip(block(x, y), wanted, strict=True):
        assert onp.allclose(found.asnumpy(), one.asnumpy(), rtol=1e-5)


class _Sum(gluon.HybridBlock):
    """Adds whatever it is given."""

    def hybrid_forward(self, F: Any, *args: Any) -> Any:
        return F.add_n(*args)


def test_a_hybridized_block_is_exported_with_the_inputs_that_it_was_given(tmp_path: Path) -> None:
    path, one = str(tmp_path / "net"), nd.ones((2, 3))
    net = _Sum()
    net.hybridize()
    net(one, one, one)
    net.export(path)
    names = ["data0", "data1", "data2"]
    assert mx.sym.load(f"{path}-symbol.json").list_arguments() == names
    again = gluon.SymbolBlock.imports(f"{path}-symbol.json", names)
    assert (again(one, one, one).asnumpy() == 3).all()

    layer = gluon.rnn.LSTM(4)
    layer.initialize()
    layer.hybridize()
    x, states = nd.ones((5, 2, 3)), layer.begin_state(2)
    wanted, (state, cell) = layer(x, states)
    layer.export(path)
    again = gluon.SymbolBlock.imports(f"{path}-symbol.json", names, f"{path}-0000.params")
    found = again(x, *states)
    for result, other in zip(found, (wanted, state, cell), strict=True):
        assert (result.asnumpy() == other.asnumpy()).all()


def test_export_needs_values(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="has not been initialized"):
        nn.Dense(3).export(str(tmp_path / "net"))


def test_a_block_of_a_graph_shares_parameters() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(4, activation="relu"), nn.BatchNorm(), nn.Dense(2))
    net.initialize()
    x = nd.array(onp.random.uniform(-1, 1, (3, 5)))
    wanted = net(x)
    data = sym.var("data")
    out = net(data)
    block = gluon.SymbolBlock(out, data, net.collect_params())
    assert onp.allclose(block(x).asnumpy(), wanted.asnumpy(), rtol=1e-5, atol=1e-6)
    internals = out.get_internals()
    features = gluon.SymbolBlock(
        [internals[name] for name in internals.list_outputs() if name.endswith("fwd_output")][:2],
        data,
        net.collect_params(),
    )
    first, second = features(x)
    assert (first.shape, second.shape) == ((3, 4), (3, 4))
    assert repr(features).startswith("SymbolBlock(\n<Symbol group [")
    net[0].bias.set_data(nd.ones((4,)))
    assert onp.allclose(block(x).asnumpy(), net(x).asnumpy(), rtol=1e-5, atol=1e-6)


def test_a_block_of_a_graph_is_trained_inside_of_a_network() -> None:
    x = sym.var("x")
    graph = sym.BatchNorm(sym.FullyConnected(x, num_hidden=4, name="fc"), name="bn")
    net = nn.HybridSequential()
    net.add(gluon.SymbolBlock(graph, x), nn.Dense(1))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    data = nd.array(onp.random.uniform(-1, 1, (16, 3)))
    label = data.sum(axis=1, keepdims=True)
    losses = []
    for _ in range(30):
        with autograd.record():
            loss = gluon.loss.L2Loss()(net(data), label)
        loss.backward()
        trainer.step(16)
        losses.append(loss.mean().asscalar())
    assert losses[-1] < losses[0] / 2
    params = net.collect_params()
    assert params["bn_moving_mean"].grad_req == "null"
    assert abs(params["bn_moving_mean"].data().asnumpy()).max() > 0
    assert net(sym.var("again")).list_arguments()[:2] == ["again", "fc_weight"]


def test_graphs_of_graphs() -> None:
    x = sym.var("x")
    block = gluon.SymbolBlock([sym.exp(x), x + 1], x)
    outputs = block(sym.var("y") * 2)
    assert [one.list_arguments() for one in outputs] == [["y"], ["y"]]
    assert [one.asscalar() for one in block(nd.zeros((1,)))] == [1, 1]


def test_files_of_parameters(tmp_path: Path) -> None:
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(2, in_units=3), nn.BatchNorm(in_channels=2))
    net.initialize()
    path = str(tmp_path / "net")
    net.export(path)
    loaded = nd.load(f"{path}-0000.params")
    assert list(loaded) == [
        "arg:net_dense0_weight",
        "arg:net_dense0_bias",
        "arg:net_batchnorm0_gamma",
        "arg:net_batchnorm0_beta",
        "aux:net_batchnorm0_running_mean",
        "aux:net_batchnorm0_running_var",
    ]
    block = gluon.SymbolBlock.imports(f"{path}-symbol.json", "data")
    block.load_parameters(f"{path}-0000.params")
    x = nd.ones((2, 3))
    assert onp.allclose(block(x).asnumpy(), net(x).asnumpy(), rtol=1e-5)
    block.save_parameters(f"{path}.params")
    other = gluon.SymbolBlock.imports(f"{path}-symbol.json", "data")
    other.load_parameters(f"{path}.params")
    assert onp.array_equal(other(x).asnumpy(), block(x).asnumpy())
    block.collect_params().load_dict(loaded)
    with pytest.raises(AssertionError, match="missing"):
        gluon.SymbolBlock.imports(f"{path}-symbol.json", [], f"{path}-0000.params")


def test_half_precision_keeps_statistics() -> None:
    x = sym.var("x")
    block = gluon.SymbolBlock(sym.BatchNorm(sym.exp(x), name="bn"), x)
    block.initialize()
    block(nd.ones((2, 3)))
    block.cast("float16")
    assert block.collect_params()["bn_gamma"].dtype == "float32"
    assert block(nd.ones((2, 3), dtype="float16")).dtype == onp.float16


def test_what_is_refused() -> None:
    x = sym.var("x")
    with pytest.raises(AssertionError, match="must be variable"):
        gluon.SymbolBlock(sym.exp(x), x + 1)
    with pytest.raises(ValueError, match="list of Symbol"):
        gluon.SymbolBlock(None, None)
    block = gluon.SymbolBlock(sym.exp(x), x)
    with pytest.raises(AssertionError, match="Invalid input"):
        block(nd.ones((1,)), nd.ones((1,)))
    with pytest.raises(OSError, match="cannot be opened"):
        gluon.SymbolBlock.imports("no such file", ["data"])
    unknown = gluon.SymbolBlock(sym.dot(x, sym.var("w")), x)
    unknown.initialize()
    cannot = pytest.warns(UserWarning, match="Cannot decide shape")
    with cannot, pytest.raises(ValueError, match="cannot be inferred"):
        unknown(nd.ones((2, 3)))


def test_numpy_blocks(tmp_path: Path) -> None:
    npx.set_np()
    try:

        class Net(gluon.HybridBlock):
            def __init__(self) -> None:
                super().__init__()
                self.dense = nn.Dense(3)
                self.scale = self.params.get("scale", shape=(3,), init="ones")

            def hybrid_forward(self, F: Any, x: Any, scale: Any) -> Any:
                y = self.dense(x) * scale + 1
                return F.np.concatenate([F.npx.relu(y), y.reshape(-1, 3)], axis=1).mean(axis=0)

        net = Net()
        net.initialize()
        x = np.ones((2, 4))
        wanted = net(x)
        net.hybridize()
        net.export(str(tmp_path / "net"))
        block = gluon.SymbolBlock.imports(
            str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
        )
        found = block(x)
        assert type(found) is np.ndarray
        assert onp.allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-5)
    finally:
        npx.reset_np()


@pytest.mark.parametrize(
    ("make", "label"),
    [
        (lambda: gluon.loss.L2Loss(), (4, 3)),
        (lambda: gluon.loss.L1Loss(weight=2), (4, 3)),
        (lambda: gluon.loss.SoftmaxCELoss(), (4,)),
        (lambda: gluon.loss.SoftmaxCELoss(sparse_label=False, axis=1), (4, 3)),
        (lambda: gluon.loss.SigmoidBCELoss(), (4, 3)),
        (lambda: gluon.loss.SigmoidBCELoss(from_sigmoid=True), (4, 3)),
    ],
)
def test_losses(make: Any, label: tuple[int, ...]) -> None:
    loss = make()
    x = nd.array(onp.random.uniform(0.1, 0.9, (4, 3)))
    y = nd.array(onp.random.randint(0, 2, label))
    weight = nd.array([[1], [2], [0], [3]])
    symbol = loss(sym.var("x"), sym.var("y"), sym.var("w"))
    found = symbol.eval(x=x, y=y, w=weight)[0].asnumpy()
    assert onp.allclose(found, loss(x, y, weight).asnumpy(), rtol=1e-4, atol=1e-6)
    plain = loss(sym.var("x"), sym.var("y")).eval(x=x, y=y)[0].asnumpy()
    assert onp.allclose(plain, loss(x, y).asnumpy(), rtol=1e-4, atol=1e-6)

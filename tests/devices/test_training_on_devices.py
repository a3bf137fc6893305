# SPDX-License-Identifier: Apache-2.0
"""Training on two devices gives what training on one gives."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, sym

_RANDOM = onp.random.default_rng(3)
_DATA = _RANDOM.standard_normal((12, 5)).astype("f4")
_LABELS = (_DATA @ _RANDOM.standard_normal((5, 1))).astype("f4")


def _trained(devices: list[mx.Context], kvstore: str, on_store: bool | None) -> list[Any]:
    """Return losses and parameters of a few steps of Gluon."""
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(7, activation="tanh", in_units=5), gluon.nn.Dense(1, in_units=7))
    net.initialize(mx.init.Constant(0.1), ctx=devices)
    weights = onp.linspace(-1, 1, 35, dtype="f4").reshape(7, 5)
    net[0].weight.set_data(nd.array(weights))
    net.hybridize()
    trainer = gluon.Trainer(
        net.collect_params(),
        "sgd",
        {"learning_rate": 0.1, "momentum": 0.9},
        kvstore=kvstore,
        update_on_kvstore=on_store,
    )
    loss = gluon.loss.L2Loss()
    told = []
    for _ in range(4):
        parts = gluon.utils.split_and_load(nd.array(_DATA), devices)
        wanted = gluon.utils.split_and_load(nd.array(_LABELS), devices)
        assert [part.context for part in parts] == devices
        with autograd.record():
            losses = [loss(net(x), y) for x, y in zip(parts, wanted, strict=True)]
        assert [one.context for one in losses] == devices
        for one in losses:
            one.backward()
        trainer.step(len(_DATA))
        told.append(sum(float(one.sum().asscalar()) for one in losses))
    for parameter in net.collect_params().values():
        assert parameter.list_ctx() == devices
        values = [one.asnumpy() for one in parameter.list_data()]
        for other in values[1:]:
            onp.testing.assert_array_equal(other, values[0])
        told.append(values[0])
    return told


@pytest.mark.parametrize("kvstore", ["local", "device"])
@pytest.mark.parametrize("on_store", [True, False])
def test_gluon(two_devices: list[mx.Context], kvstore: str, on_store: bool) -> None:
    alone = _trained([mx.cpu()], kvstore, None)
    for one, other in zip(_trained(two_devices, kvstore, on_store), alone, strict=True):
        onp.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def _network() -> Any:
    hidden = sym.FullyConnected(sym.var("data"), num_hidden=7, name="one")
    hidden = sym.Activation(hidden, act_type="tanh")
    output = sym.FullyConnected(hidden, num_hidden=1, name="two")
    return sym.LinearRegressionOutput(output, sym.var("label"), name="out")


def _fitted(devices: Any, kvstore: str) -> dict[str, Any]:
    data = mx.io.NDArrayIter(_DATA, _LABELS, batch_size=6, label_name="label")
    module = mx.mod.Module(_network(), label_names=["label"], context=devices)
    weights = nd.array(onp.linspace(-1, 1, 35, dtype="f4").reshape(7, 5))
    module.fit(
        data,
        num_epoch=3,
        initializer=mx.init.Constant(0.2),
        arg_params={"one_weight": weights},
        allow_missing=True,
        kvstore=kvstore,
        optimizer_params={"learning_rate": 0.1, "momentum": 0.9},
        eval_metric="mse",
    )
    found = {name: one.asnumpy() for name, one in module.get_params()[0].items()}
    return found | {"predicted": module.predict(data).asnumpy()}


@pytest.mark.parametrize("kvstore", ["local", "device"])
def test_module(two_devices: list[mx.Context], kvstore: str) -> None:
    alone = _fitted(mx.cpu(), kvstore)
    for name, values in _fitted(two_devices, kvstore).items():
        onp.testing.assert_allclose(values, alone[name], rtol=1e-4, atol=1e-5, err_msg=name)


def _parts_of_a_model(groups: dict[str, mx.Context] | None) -> tuple[list[Any], Any]:
    """Return outputs and gradients of a network whose layers belong to two groups."""
    with mx.AttrScope(ctx_group="first"):
        data = sym.var("data")
        hidden = sym.Activation(sym.FullyConnected(data, num_hidden=7, name="one"), act_type="tanh")
    with mx.AttrScope(ctx_group="second"):
        norm = sym.BatchNorm(hidden, name="norm", fix_gamma=False)
        output = sym.FullyConnected(norm, num_hidden=2, name="two")
    with mx.AttrScope(ctx_group="first"):
        total = sym.sum(output * output, name="total") + sym.sum(hidden)
    run = total.simple_bind(mx.cpu(), group2ctx=groups, data=_DATA.shape)
    for number, (name, array) in enumerate(sorted(run.arg_dict.items())):
        if name != "data":
            shape = array.shape
            values = onp.cos(onp.arange(onp.prod(shape)) + number).reshape(shape)
            array[:] = nd.array(values.astype("f4"))
    run.arg_dict["data"][:] = nd.array(_DATA)
    outputs = run.forward(is_train=True)
    run.backward(nd.ones(outputs[0].shape, ctx=outputs[0].context))
    numbers = [one.asnumpy() for one in (*outputs, *run.grad_arrays, *run.aux_arrays)]
    return numbers, run


def test_groups_of_a_symbol(two_devices: list[mx.Context]) -> None:
    alone, _ = _parts_of_a_model(None)
    parted, run = _parts_of_a_model(dict(zip(["first", "second"], two_devices, strict=True)))
    for one, other in zip(parted, alone, strict=True):
        onp.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert run.arg_dict["one_weight"].context == two_devices[0]
    assert run.arg_dict["two_weight"].context == run.grad_dict["two_weight"].context
    assert run.arg_dict["two_weight"].context == two_devices[1]
    assert run.outputs[0].context == two_devices[0]


def test_groups_of_a_module(two_devices: list[mx.Context]) -> None:
    with mx.AttrScope(ctx_group="first"):
        hidden = sym.FullyConnected(sym.var("data"), num_hidden=7, name="one")
        hidden = sym.Activation(hidden, act_type="tanh")
    with mx.AttrScope(ctx_group="second"):
        output = sym.FullyConnected(hidden, num_hidden=1, name="two")
        net = sym.LinearRegressionOutput(output, sym.var("label"), name="out")

    def trained(**groups: Any) -> dict[str, Any]:
        data = mx.io.NDArrayIter(_DATA, _LABELS, batch_size=6, label_name="label")
        module = mx.mod.Module(net, label_names=["label"], **groups)
        module.fit(data, num_epoch=2, initializer=mx.init.Constant(0.1), eval_metric="mse")
        return {name: one.asnumpy() for name, one in module.get_params()[0].items()}

    first, second = two_devices
    alone = trained(context=first)
    parted = trained(context=first, group2ctxs={"first": [first], "second": [second]})
    for name, values in parted.items():
        onp.testing.assert_allclose(values, alone[name], rtol=1e-5, atol=1e-6, err_msg=name)

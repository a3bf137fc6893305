# SPDX-License-Identifier: Apache-2.0
"""The trainer: loss curves of MXNet 1.9.1, several devices, stale gradients, files of states."""

from __future__ import annotations

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np
from afterglow.gluon import nn

MOMENTUM = {"learning_rate": 0.3, "momentum": 0.9}
CLIPPED = {"learning_rate": 0.3, "momentum": 0.5, "wd": 0.1, "clip_gradient": 0.2}


def _halved():
    return {"learning_rate": 0.3, "lr_scheduler": mx.lr_scheduler.FactorScheduler(2, 0.5)}


#: What MXNet's training of the network below gives: the loss of each step, and the last rate.
CURVES = {
    "momentum": ("sgd", MOMENTUM, [1.634889, 1.494318, 0.9663961, 1.242421, 1.01676], 0.3),
    "clipped": ("sgd", CLIPPED, [1.634889, 1.446546, 0.8874854, 1.277425, 0.9764093], 0.3),
    "adam": (
        "adam",
        {"learning_rate": 0.05},
        [1.634889, 1.418293, 0.9218823, 1.189112, 0.9758842],
        0.05,
    ),
    "scheduled": ("sgd", _halved, [1.634889, 1.494317, 0.7625682, 1.489167, 1.027864], 0.075),
}


def _network(contexts):
    net = nn.HybridSequential()
    net.add(nn.Dense(5, activation="tanh", in_units=3), nn.Dense(2, in_units=5))
    net.initialize(ctx=contexts)
    for number, parameter in enumerate(net.collect_params().values()):
        waves = onp.cos(onp.arange(onp.prod(parameter.shape)) * (number + 1.3))
        parameter.set_data(nd.array(waves.reshape(parameter.shape) * 0.5))
    return net


def _train(net, trainer, contexts, steps, first=0):
    loss, curve = gluon.loss.L2Loss(), []
    for step in range(first, first + steps):
        x = nd.array(onp.sin(onp.arange(12).reshape(4, 3) + step))
        y = nd.array(onp.cos(onp.arange(8).reshape(4, 2) * (step + 1)))
        xs = gluon.utils.split_and_load(x, contexts)
        ys = gluon.utils.split_and_load(y, contexts)
        with autograd.record():
            losses = [loss(net(a), b) for a, b in zip(xs, ys, strict=True)]
        autograd.backward(losses)
        trainer.step(4)
        curve.append(sum(one.sum().asscalar() for one in losses))
    return curve


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("on_store", [None, False])
@pytest.mark.parametrize("name", CURVES)
def test_follows_mxnet(name, devices, on_store):
    rule, arguments, expected, rate = CURVES[name]
    arguments = arguments() if callable(arguments) else arguments
    contexts = [mx.cpu(number) for number in range(devices)]
    net = _network(contexts)
    trainer = gluon.Trainer(net.collect_params(), rule, arguments, update_on_kvstore=on_store)
    curve = _train(net, trainer, contexts, 5)
    onp.testing.assert_allclose(curve, expected, atol=1e-5)
    assert trainer.learning_rate == pytest.approx(rate)
    for parameter in net.collect_params().values():
        first, *others = [array.asnumpy() for array in parameter.list_data()]
        for other in others:
            onp.testing.assert_array_equal(first, other)


# --- several devices ---


def _on_two_devices(**options):
    contexts = [mx.cpu(0), mx.cpu(1)]
    dense = nn.Dense(1, in_units=2, use_bias=False, weight_initializer="zeros")
    dense.initialize(ctx=contexts)
    trainer = gluon.Trainer(dense.collect_params(), "sgd", {"learning_rate": 1}, **options)
    with autograd.record():
        outputs = [dense(nd.full((1, 2), number + 1, ctx=c)) for number, c in enumerate(contexts)]
    autograd.backward(outputs)
    return dense, trainer, contexts


def test_gradients_are_summed_but_stay():
    dense, trainer, contexts = _on_two_devices()
    trainer.step(1)
    for context in contexts:
        assert dense.weight.data(context).asnumpy().tolist() == [[-3, -3]]
    assert [one.asnumpy().tolist() for one in dense.weight.list_grad()] == [[[1, 1]], [[2, 2]]]
    with pytest.raises(AssertionError, match="update_on_kvstore=False"):
        trainer.update(1)


def test_without_a_store_devices_are_on_their_own():
    dense, trainer, contexts = _on_two_devices(kvstore=None)
    trainer.allreduce_grads()
    trainer.update(1)
    found = [dense.weight.data(context).asnumpy().tolist() for context in contexts]
    assert found == [[[-1, -1]], [[-2, -2]]]


def test_reducing_and_updating_apart():
    dense, trainer, contexts = _on_two_devices(update_on_kvstore=False)
    trainer.allreduce_grads()
    assert [one.asnumpy().tolist() for one in dense.weight.list_grad()] == [[[3, 3]], [[3, 3]]]
    trainer.update(2)
    for context in contexts:
        assert dense.weight.data(context).asnumpy().tolist() == [[-1.5, -1.5]]


# --- stale gradients ---


def _dense():
    dense = nn.Dense(1, in_units=2)
    dense.initialize()
    return dense, gluon.Trainer(dense.collect_params(), "sgd", {"learning_rate": 0.1})


def _backward(block):
    with autograd.record():
        y = block(nd.ones((1, 2)))
    y.backward()


def test_stale_gradients_are_refused():
    dense, trainer = _dense()
    with pytest.raises(UserWarning, match=r"_bias` on context cpu\(0\) has not been updated"):
        trainer.step(1)
    _backward(dense)
    trainer.step(1)
    with pytest.raises(UserWarning, match="ignore_stale_grad=True"):
        trainer.step(1)


def test_stale_parameters_are_left_alone():
    used, unused = nn.Dense(1, in_units=2), nn.Dense(1, in_units=2)
    for block in (used, unused):
        block.initialize()
    params = {**used.collect_params(), **unused.collect_params()}
    trainer = gluon.Trainer(params, "sgd", {"learning_rate": 0.1, "wd": 0.5})
    before = [block.weight.data().asnumpy() for block in (used, unused)]
    _backward(used)
    trainer.step(1, ignore_stale_grad=True)
    after = [block.weight.data().asnumpy() for block in (used, unused)]
    assert (before[0] != after[0]).all()
    assert (before[1] == after[1]).all()


def test_a_refused_step_updates_nothing():
    used, unused = nn.Dense(1, in_units=2), nn.Dense(1, in_units=2)
    for block in (used, unused):
        block.initialize()
    trainer = gluon.Trainer([used.weight, used.bias, unused.weight], "sgd")
    before = used.weight.data().asnumpy()
    _backward(used)
    with pytest.raises(UserWarning, match="not been updated"):
        trainer.step(1)
    assert used.weight.data().asnumpy().tolist() == before.tolist()


@pytest.mark.parametrize("change", ["zero_grad", "set_data"])
def test_freshness_survives(change):
    dense, trainer = _dense()
    _backward(dense)
    if change == "zero_grad":
        dense.weight.zero_grad()
    else:
        dense.weight.set_data(nd.ones((1, 2)))
    trainer.step(1)


def test_gradients_from_grad_are_not_meant():
    dense, trainer = _dense()
    with autograd.record():
        y = dense(nd.ones((1, 2)))
    autograd.grad(y, [dense.weight.data()])
    with pytest.raises(UserWarning, match="not been updated"):
        trainer.step(1)


def test_parameters_without_gradient():
    dense, trainer = _dense()
    dense.bias.grad_req = "null"
    before = dense.bias.data().asnumpy()
    _backward(dense)
    trainer.step(1)
    assert dense.bias.data().asnumpy().tolist() == before.tolist()


# --- rates ---


def test_learning_rate():
    _, trainer = _dense()
    assert trainer.learning_rate == 0.1
    trainer.set_learning_rate(0.3)
    assert trainer.learning_rate == trainer.optimizer.learning_rate == 0.3
    scheduled = gluon.Trainer(_dense()[0].collect_params(), "sgd", _halved())
    with pytest.raises(UserWarning, match="LRScheduler"):
        scheduled.set_learning_rate(1)


def test_multipliers_of_parameters():
    dense, trainer = _dense()
    dense.weight.lr_mult = 0
    before = dense.weight.data().asnumpy(), dense.bias.data().asnumpy()
    _backward(dense)
    trainer.step(1)
    assert dense.weight.data().asnumpy().tolist() == before[0].tolist()
    assert dense.bias.data().asnumpy() == pytest.approx(before[1] - 0.1)


# --- files ---


@pytest.mark.parametrize("rule", ["momentum", "adam", "scheduled"])
def test_states_go_on_where_they_stopped(rule, tmp_path):
    name, arguments, expected, _ = CURVES[rule]
    made = arguments() if callable(arguments) else arguments
    file, contexts = str(tmp_path / "states"), [mx.cpu(0), mx.cpu(1)]
    net = _network(contexts)
    trainer = gluon.Trainer(net.collect_params(), name, made)
    curve = _train(net, trainer, contexts, 3)
    trainer.save_states(file)
    again = gluon.Trainer(net.collect_params(), name)
    again.load_states(file)
    curve += _train(net, again, contexts, 2, first=3)
    onp.testing.assert_allclose(curve, expected, atol=1e-5)


# --- construction ---


def test_refusals():
    with pytest.raises(ValueError, match=r"got <class 'int'>"):
        gluon.Trainer(5, "sgd")
    with pytest.raises(ValueError, match=r"got list of <class 'int'>"):
        gluon.Trainer([5], "sgd")
    params = _dense()[0].collect_params()
    with pytest.raises(AssertionError, match="optimizer_params must be None"):
        gluon.Trainer(params, mx.optimizer.SGD(), {"learning_rate": 1})
    with pytest.raises(ValueError, match="Cannot find optimizer nope"):
        gluon.Trainer(params, "nope")
    with pytest.raises(ValueError, match="kvstore"):
        gluon.Trainer(params, "sgd", kvstore=None, update_on_kvstore=True)


def test_optimizer_of_ones_own():
    dense, _ = _dense()
    trainer = gluon.Trainer(dense.collect_params(), mx.optimizer.SGD(learning_rate=0.5))
    before = dense.bias.data().asnumpy()
    _backward(dense)
    trainer.step(1)
    assert dense.bias.data().asnumpy() == pytest.approx(before - 0.5)


def test_np_arrays():
    dense, trainer = _dense()
    before = dense.bias.data().asnumpy()
    with autograd.record():
        y = dense(np.ones((3, 2))).sum()
    y.backward()
    trainer.step(3)
    assert dense.bias.data().asnumpy() == pytest.approx(before - 0.1)

# SPDX-License-Identifier: Apache-2.0
"""Layers as functions of ``nd`` and ``npx``, beside answers recorded from MXNet 1.9.1."""

from __future__ import annotations

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np, npx

DATA = [[1, 2, 4], [3, 5, 9]]
CUBE = onp.arange(12, dtype="float32").reshape(1, 4, 3)


def close(array, expected):
    onp.testing.assert_allclose(array.asnumpy(), expected, rtol=2e-5, atol=1e-5)


@pytest.fixture(params=["nd", "np"])
def world(request):
    """The makers of arrays, and the functions by MXNet's classic names."""
    if request.param == "nd":
        names = ("FullyConnected", "Dropout", "BatchNorm", "LayerNorm", "InstanceNorm", "GroupNorm")
        return nd, {name: getattr(nd, name) for name in names}
    names = ("FullyConnected", "Dropout", "BatchNorm", "LayerNorm")
    functions = (npx.fully_connected, npx.dropout, npx.batch_norm, npx.layer_norm)
    return np, dict(zip(names, functions, strict=True))


def test_fully_connected(world):
    make, functions = world
    connect = functions["FullyConnected"]
    x, weight, bias = make.array(DATA), make.ones((2, 3)), make.array([0, 1])
    close(connect(x, weight, bias, num_hidden=2), [[7, 8], [17, 18]])
    close(connect(x, weight, no_bias=True, num_hidden=2), [[7, 7], [17, 17]])
    close(connect(data=x, weight=weight, bias=bias, num_hidden=2, no_bias=True)[0], [7, 7])
    deep = connect(make.array(CUBE), weight, bias, num_hidden=2, flatten=False)
    close(deep, [[[3, 4], [12, 13], [21, 22], [30, 31]]])
    assert connect(make.array(CUBE), make.ones((5, 12)), None, 5, True).shape == (1, 5)
    out = make.zeros((2, 2))
    assert connect(x, weight, bias, num_hidden=2, out=out) is out
    close(out, [[7, 8], [17, 18]])
    for wrong in (
        lambda: connect(x, weight, bias),
        lambda: connect(x, weight, bias, num_hidden=3),
        lambda: connect(x, weight, num_hidden=2),
        lambda: connect(x, make.ones((2, 4)), bias, num_hidden=2),
    ):
        with pytest.raises(mx.MXNetError):
            wrong()


def test_dropout(world):
    make, functions = world
    drop = functions["Dropout"]
    x = make.ones((100, 100))
    same = drop(x)
    same += 1
    close(x, onp.ones((100, 100)))
    for scope, mode in ((autograd.train_mode(), "training"), (autograd.predict_mode(), "always")):
        with scope:
            values = drop(x, p=0.25, mode=mode).asnumpy()
            rows = drop(x, p=0.5, mode=mode, axes=(1,)).asnumpy()
        assert set(onp.unique(values.round(4))) == {0, onp.float32(1.3333)}
        assert 0.7 < (values > 0).mean() < 0.8
        assert (rows == rows[:, :1]).all()
    close(drop(x, p=1, mode="always"), onp.zeros((100, 100)))
    for wrong in ({"p": 1.5}, {"mode": "never"}):
        with pytest.raises(mx.MXNetError):
            drop(x, **wrong)


def test_layer_norm(world):
    make, functions = world
    normalise = functions["LayerNorm"]
    x, gamma, beta = make.array(DATA), make.array([1, 2, 3]), make.array([0.5, 0, 0])
    expected = [[-0.56904, -0.53452, 4.00891], [-0.56904, -0.53452, 4.00892]]
    close(normalise(x, gamma, beta), expected)
    result, mean, deviation = normalise(x, gamma, beta, output_mean_var=True)
    close(result, expected)
    close(mean, [[2.33333], [5.66667]])
    close(deviation, [[1.24722], [2.49444]])
    close(normalise(x, gamma[:2], beta[:2], axis=0), [[-0.5, -0.5, -0.5], [1.99999, 2, 2]])


def test_batch_norm(world):
    make, functions = world
    normalise = functions["BatchNorm"]
    x, gamma, beta = make.array(DATA), make.ones((3,)), make.array([0.5, 0, 0])
    mean, variance = make.zeros((3,)), make.ones((3,))
    predicted = [[1.4995, 1.999, 3.998], [3.4985, 4.9975, 8.9955]]
    trained = [[-0.4995, -0.99978, -0.99992], [1.4995, 0.99978, 0.99992]]
    close(normalise(x, gamma * 5, beta, mean, variance), predicted)
    close(normalise(x, gamma, beta, mean, variance, fix_gamma=False), predicted)
    with autograd.train_mode():
        parts = normalise(x, gamma, beta, mean, variance, output_mean_var=True)
        close(normalise(x, gamma, beta, mean, variance, use_global_stats=True), predicted)
    for part, expected in zip(
        parts, (trained, [2, 3.5, 6.5], [0.9995, 0.66652, 0.39997]), strict=True
    ):
        close(part, expected)
    close(mean, [0, 0, 0])
    with autograd.record():
        close(normalise(x, gamma, beta, mean, variance), trained)
    close(mean, [0.2, 0.35, 0.65])
    close(variance, [1, 1.125, 1.525])
    with pytest.raises(mx.MXNetError, match="needs shape"):
        normalise(x, gamma[:2], beta[:2], mean, variance)


def test_instance_and_group_norm():
    x = nd.array(CUBE)
    expected = onp.tile([-1.22383, 0, 1.22383], (1, 4, 1))
    close(nd.InstanceNorm(x, nd.ones((4,)), nd.zeros((4,))), expected)
    result, mean, deviation = nd.GroupNorm(
        x, nd.ones((2,)), nd.zeros((2,)), num_groups=2, output_mean_var=True
    )
    line = [-1.46385, -0.87831, -0.29277, 0.29277, 0.87831, 1.46385]
    close(result.reshape((2, 6)), [line, line])
    close(mean, [[2.5, 8.5]])
    close(deviation, [[1.70783, 1.70783]])
    with pytest.raises(mx.MXNetError):
        nd.InstanceNorm(nd.array(DATA), nd.ones((3,)), nd.zeros((3,)))
    with pytest.raises(mx.MXNetError):
        nd.GroupNorm(x, nd.ones((3,)), nd.zeros((3,)), num_groups=3)


def test_gradients_flow():
    x, weight = nd.array(DATA), nd.ones((2, 3))
    weight.attach_grad()
    with autograd.record():
        y = nd.FullyConnected(x, weight, no_bias=True, num_hidden=2)
    y.backward()
    close(weight.grad, [[4, 7, 13], [4, 7, 13]])


def test_shapes_are_completed_in_hybrid_forward():
    class Layer(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.weight = self.params.get("weight", shape=(4, 0), allow_deferred_init=True)

        def hybrid_forward(self, F, x, weight):
            return F.FullyConnected(x, weight, no_bias=True, num_hidden=4)

    layer = Layer()
    layer.initialize()
    assert layer(nd.array(DATA)).shape == (2, 4)
    assert layer.weight.shape == (4, 3)


@pytest.mark.parametrize("front", [nd, np])
def test_a_fixed_gamma_has_no_gradient(front):
    """As MXNet 1.9.1 answers in both worlds."""
    call = nd.BatchNorm if front is nd else npx.batch_norm
    x = onp.arange(12, dtype="float32").reshape(2, 3, 2)
    for fixed, wanted in ((True, [0, 0, 0]), (False, [0, 71.99222, 191.97925])):
        inputs = [front.array(one) for one in (x, [2, 3, 4], [0, 1, 2], [0, 0, 0], [1, 1, 1])]
        inputs[1].attach_grad()
        with autograd.record():
            y = call(*inputs, fix_gamma=fixed)
            total = (y * y * y).sum()
        total.backward()
        onp.testing.assert_allclose(inputs[1].grad.asnumpy(), wanted, rtol=1e-5)

# SPDX-License-Identifier: Apache-2.0
"""Initializers: distributions, names, registration; texts and errors are MXNet's."""

from __future__ import annotations

import json
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import gluon, init, nd, np
from afterglow.name import NameManager, Prefix


def filled(initializer: Any, shape: Any, name: str = "weight", world: Any = nd) -> Any:
    array = world.full(shape, 7, dtype="float32")
    initializer(init.InitDesc(name), array)
    return array.asnumpy()


@pytest.mark.parametrize("world", [nd, np])
@pytest.mark.parametrize(
    ("initializer", "low", "high", "deviation"),
    [
        (init.Uniform(), -0.07, 0.07, 0.07 / 3**0.5),
        (init.Uniform(2), -2, 2, 2 / 3**0.5),
        (init.Normal(), -0.1, 0.1, 0.01),
        (init.Normal(0.5), -5, 5, 0.5),
        (init.Xavier(), -0.141422, 0.141422, (3 / 150) ** 0.5 / 3**0.5),
        (init.Xavier(factor_type="in"), -0.17321, 0.17321, 0.1),
        (init.Xavier(factor_type="out", magnitude=6), -0.17321, 0.17321, 0.1),
        (init.Xavier("gaussian", "in", 4), -2, 2, 0.2),
        (init.MSRAPrelu(), -2, 2, (2 / (1 + 0.25**2) / 150) ** 0.5),
        (init.MSRAPrelu("in", 0), -2, 2, (2 / 100) ** 0.5),
    ],
)
def test_distributions(
    initializer: Any, low: float, high: float, deviation: float, world: Any
) -> None:
    values = filled(initializer, (200, 100), world=world)
    assert low <= values.min() < 0 < values.max() <= high
    assert abs(values.mean()) < deviation / 20
    assert values.std() == pytest.approx(deviation, rel=0.05)


def test_xavier_counts_the_window() -> None:
    values = filled(init.Xavier(factor_type="in", magnitude=1), (64, 4, 5, 5))
    assert abs(values).max() <= 0.1
    assert abs(values).max() > 0.095


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 2, 3)])
@pytest.mark.parametrize("kind", ["uniform", "normal"])
def test_orthogonal(shape: Any, kind: str) -> None:
    values = filled(init.Orthogonal(2.0, kind), shape).reshape(shape[0], -1)
    if values.shape[0] > values.shape[1]:
        values = values.T
    onp.testing.assert_allclose(values @ values.T, 4 * onp.eye(len(values)), atol=1e-5)


@pytest.mark.parametrize(
    ("initializer", "expected"),
    [
        (init.Zero(), 0),
        (init.One(), 1),
        (init.Constant(2.5), 2.5),
        (init.Constant([[1, 2]]), [[1, 2]]),
        (init.Constant(nd.array([[1, 2]])), [[1, 2]]),
        (init.Constant(np.array([[1, 2]])), [[1, 2]]),
        (init.create("zeros"), 0),
        (init.create("ones"), 1),
        (init.create("constant", 3), 3),
        (init.create('["constant", {"value": 4}]'), 4),
    ],
)
def test_constants(initializer: Any, expected: Any) -> None:
    for world in (nd, np):
        values = filled(initializer, (1, 2), world=world)
        onp.testing.assert_array_equal(values, onp.broadcast_to(expected, (1, 2)))


def test_bilinear() -> None:
    row = onp.array([0.25, 0.75, 0.75, 0.25])
    onp.testing.assert_allclose(filled(init.Bilinear(), (1, 1, 4, 4))[0, 0], onp.outer(row, row))


def test_lstm_bias() -> None:
    bias = gluon.Parameter("i2h_bias", shape=(8,), init=init.LSTMBias(2.0))
    bias.initialize()
    assert bias.data().asnumpy().tolist() == [0, 0, 2, 2, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "described", "plain"),
    [
        ("x_weight", 1, 1),
        ("bias", 0, 0),
        ("gamma", 1, 1),
        ("beta", 0, 0),
        ("x_min", 0, 0),
        ("x_max", 1, 1),
        ("moving_mean", None, 0),
        ("moving_var", None, 1),
        ("moving_inv_var", None, 0),
        ("moving_avg", None, 0),
        ("stn_loc_weight", 1, 0),
        ("running_mean", None, None),
        ("anything", None, None),
    ],
)
def test_names(name: str, described: float | None, plain: float | None) -> None:
    for key, expected in ((init.InitDesc(name), described), (name, plain)):
        array = nd.full((3,), 7)
        if expected is None:
            with pytest.raises(ValueError, match="Unknown initialization pattern"):
                init.One()(key, array)
        else:
            init.One()(key, array)
            assert array.asnumpy().tolist() == [expected] * 3


def test_a_parameter_with_its_own() -> None:
    array = nd.zeros((2,))
    init.Zero()(init.InitDesc("bias", {"__init__": init.One().dumps()}), array)
    assert array.asnumpy().tolist() == [1, 1]
    desc = init.InitDesc("w", {"a": 1})
    assert (desc, desc.attrs, desc.global_init) == ("w", {"a": 1}, None)


def test_one_of_ones_own() -> None:
    @init.register
    class Sevens(init.Initializer):
        def _init_weight(self, name: str, arr: Any) -> None:
            arr[:] = 7

    layer = gluon.nn.Dense(2, in_units=2)
    layer.initialize("sevens")
    assert layer.weight.data().asnumpy().tolist() == [[7, 7], [7, 7]]
    assert layer.bias.data().asnumpy().tolist() == [0, 0]
    with pytest.raises(NotImplementedError):
        init.Initializer()(init.InitDesc("weight"), nd.ones((1,)))


def test_mixed() -> None:
    mixed = init.Mixed(["a_.*", ".*"], [init.One(), init.Constant(2)])
    first, second = nd.zeros((1,)), nd.zeros((1,))
    mixed("a_weight", first)
    mixed("b_weight", second)
    assert (first.asscalar(), second.asscalar()) == (1, 2)
    with pytest.raises(ValueError, match="did not match any pattern"):
        init.Mixed(["a"], [init.One()])("b_weight", first)
    with pytest.raises(AssertionError):
        init.Mixed(["a"], [])


def test_load() -> None:
    load = init.Load({"arg:w": nd.ones((2,))}, default_init=init.Constant(3))
    first, second = nd.zeros((2,)), nd.zeros((2,))
    load("w", first)
    load("other_weight", second)
    assert (first.asnumpy().tolist(), second.asnumpy().tolist()) == ([1, 1], [3, 3])
    with pytest.raises(AssertionError, match="Shape mismatch"):
        load("w", nd.zeros((3,)))
    with pytest.raises(AssertionError, match="Not found"):
        init.Load({})("w", first)


def test_texts_and_equality() -> None:
    text = '["xavier", {"rnd_type": "uniform", "factor_type": "avg", "magnitude": 2}]'
    assert init.create("Xavier", magnitude=2).dumps() == text
    assert init.Xavier() == init.Xavier()
    assert init.Xavier() != init.Xavier(magnitude=2)
    assert init.Uniform(1) != init.Normal(1)
    assert init.Constant([1, 2]).dumps() == '["constant", {"value": [1, 2]}]'
    assert init.Constant(1) == init.Constant(1)
    assert init.create(init.One()) == init.One()
    assert mx.init is mx.initializer


def test_refusals() -> None:
    with pytest.raises(AssertionError, match="nosuch is not registered"):
        init.create("nosuch")
    with pytest.raises(ValueError, match="cannot be applied to vector"):
        filled(init.Xavier(), (3,))
    with pytest.raises(ValueError, match="factor type"):
        filled(init.Xavier(factor_type="z"), (3, 3))
    with pytest.raises(ValueError, match="random type"):
        filled(init.Xavier(rnd_type="z"), (3, 3))


def test_initializers_with_arrays_are_text() -> None:
    for value in (nd.array([1, 2]), onp.array([1.0, 2.0], "float32"), [1.0, 2.0]):
        maker = init.Constant(value)
        assert maker.dumps() == '["constant", {"value": [1.0, 2.0]}]'
        assert json.dumps(["constant", maker._kwargs]) == maker.dumps()
        assert init.create(maker.dumps()) == maker
    assert init.Normal(onp.float32(0.5)).dumps() == '["normal", {"sigma": 0.5}]'


def test_what_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    layer = gluon.nn.Dense(2, in_units=2, prefix="d_")
    with caplog.at_level("INFO"):
        layer.initialize(init.One(), verbose=True)
    assert "d_weight" in caplog.text
    assert "1.0" in caplog.text


def test_the_seed_decides() -> None:
    def drawn() -> list[float]:
        mx.random.seed(5)
        return filled(init.Orthogonal(), (3, 3)).ravel().tolist()

    assert drawn() == drawn()


def test_name_managers() -> None:
    with NameManager() as names:
        assert NameManager.current is names
        given = [names.get(name, "x") for name in (None, "y", None)]
        assert given == ["x0", "y", "x1"]
        with Prefix("a_"):
            assert NameManager.current.get(None, "x") == "a_x0"
            assert NameManager.current.get("y", "x") == "a_y"
            assert gluon.nn.Dense(1).prefix == "a_dense0_"
    assert NameManager.current is not names

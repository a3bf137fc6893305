# SPDX-License-Identifier: Apache-2.0
"""Optimizers against what MXNet 1.9.1 leaves after five updates, and schedulers by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as onp
import pytest
from gluon.cases import OPTIMIZERS, training_curve
from support import runs_later

import afterglow as mx
from afterglow import lr_scheduler, nd, np, optimizer
from afterglow._core import operation

CURVES = json.loads(Path(__file__).with_name("mxnet.json").read_text())["curves"]
GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "optimizers.json").read_text())

LARGE_BATCHES = [
    ({"batch_scale": 2}, [0.79625, 1.898125]),
    ({"batch_scale": 2, "momentum": 0.9, "wd": 0.1}, [0.6767792, 1.794314]),
    ({"batch_scale": 2, "warmup_strategy": "lars", "wd": 0.1}, [0.6425173, 1.772511]),
    (
        {"batch_scale": 4, "warmup_strategy": "power2", "warmup_epochs": 1, "updates_per_epoch": 6},
        [0.7666667, 1.883333],
    ),
    ({"batch_scale": 2, "warmup_strategy": "sqrt", "begin_epoch": 1}, [0.7064681, 1.853234]),
    ({"batch_scale": 2, "warmup_epochs": 0}, [0.6, 1.8]),
]


def _train(world, rule, steps=5, dtype="float32"):
    updater = optimizer.get_updater(rule)
    weight = world.array([0.9, -0.7, 0.5, 0.0, 0.3], dtype=dtype)
    for step in range(steps):
        waves = onp.cos(onp.arange(5) * (step + 1)) * onp.array([1, 0.5, 2, 1, 0.1])
        updater(0, world.array(waves, dtype=dtype) + 0.3 * weight, weight)
    return weight, updater


@pytest.mark.parametrize("world", [nd, np], ids=["nd", "np"])
@pytest.mark.parametrize("name", GOLDEN)
def test_follows_mxnet(name, world):
    kind, arguments, expected = GOLDEN[name]
    weight, _ = _train(world, getattr(optimizer, kind)(**arguments))
    onp.testing.assert_allclose(weight.asnumpy(), expected, atol=2e-6)


@pytest.mark.parametrize("world", [nd, np], ids=["nd", "np"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_follows_mxnet(name, world, monkeypatch):
    for module in (mx.nd.random, mx.np.random):  # as in the recording, where it is left out
        zeros = mx.nd.zeros if module is mx.nd.random else mx.np.zeros
        monkeypatch.setattr(module, "normal", lambda loc, scale, shape, *_, make=zeros: make(shape))
    if world is np:
        mx.npx.set_np()
    try:
        curve = training_curve(mx, name, lambda host: world.array(host, dtype=host.dtype))
    finally:
        mx.npx.reset_np()
    tolerance = 2e-2 if "half" in name else 2e-4
    onp.testing.assert_allclose(curve, CURVES[name]["loss"], rtol=tolerance, atol=tolerance)


def test_large_batches_follow_mxnet():
    # What MXNet leaves of [1, 2] after four gradients [1, 0.5] and batches of two.
    for arguments, expected in LARGE_BATCHES:
        updater = optimizer.get_updater(optimizer.LBSGD(learning_rate=0.1, **arguments))
        weight = nd.array([1, 2])
        for _ in range(4):
            updater(0, nd.array([1, 0.5]), weight)
        onp.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-5)


#: By optimizer: the op that states its rule, which is given the same.
STATED = {
    "sgd": ("sgd_update", {"wd": 0.1, "clip_gradient": 0.2}),
    "nag": ("nag_mom_update", {"wd": 0.1, "momentum": 0.9}),
    "signum": ("signum_update", {"wd": 0.1, "momentum": 0.9, "wd_lh": 0.1}),
    "rmsprop": ("rmsprop_update", {"gamma1": 0.8, "epsilon": 0.01, "clip_weights": 1.0}),
    "ftrl": ("ftrl_update", {"lamda1": 0.1, "beta": 0.5, "wd": 0.1}),
    "ftml": ("ftml_update", {"beta1": 0.5, "beta2": 0.9, "t": 1}),
    "adagrad": ("adagrad_update", {"wd": 0.1}),
}


@pytest.mark.parametrize("name", STATED)
def test_optimizers_and_ops_are_one_rule(name):
    op, given = STATED[name]
    arguments = {key: value for key, value in given.items() if key != "t"}
    rule = optimizer.create(name, learning_rate=0.1, rescale_grad=0.5, **arguments)
    weight, gradient = nd.array([0.9, -0.7, 0.5]), nd.array([1.0, -0.5, 0.2])
    updated, state = weight.copy(), rule.create_state(0, weight)
    states = [] if state is None else list(state) if isinstance(state, tuple) else [state]
    own = [one.copy() for one in states]
    rule.update(0, weight, gradient, state)
    call = operation(op, True)
    call(updated, gradient, *own, lr=0.1, rescale_grad=0.5, out=updated, **given)
    for left, right in zip([weight, *states], [updated, *own], strict=True):
        onp.testing.assert_array_equal(left.asnumpy(), right.asnumpy())
    assert (weight.asnumpy() != onp.array([0.9, -0.7, 0.5], dtype="float32")).all()


def test_a_bound_of_zero_is_none():
    """As in MXNet, whose ops are not told of it."""
    weight = nd.array([1.0, 2.0])
    rule = optimizer.SGD(learning_rate=0.1, clip_gradient=0.0)
    optimizer.get_updater(rule)(0, nd.array([1.0, -1.0]), weight)
    onp.testing.assert_allclose(weight.asnumpy(), [0.9, 2.1], rtol=1e-6)


@pytest.mark.parametrize("name", ["sgd", "adam", "nag", "lamb", "lars", "adamw", "ftml"])
def test_a_gradient_may_be_the_weight_or_overlap_it(name):
    given = {"momentum": 0.9} if name in ("sgd", "nag", "lars") else {}
    for first in (8, 12):  # the weight itself, and a part of it
        memory = nd.array(onp.linspace(0.5, 2, 40))
        weight, apart = memory[8:24], memory[8:24].copy()
        updater = optimizer.get_updater(optimizer.create(name, learning_rate=0.1, **given))
        other = optimizer.get_updater(optimizer.create(name, learning_rate=0.1, **given))
        for _ in range(3):
            gradient = memory[first : first + 16].copy()
            updater(0, memory[first : first + 16], weight)
            other(0, gradient, apart)
        onp.testing.assert_array_equal(weight.asnumpy(), apart.asnumpy())


def test_old_names():
    assert isinstance(optimizer.create("ccsgd", learning_rate=0.5), optimizer.SGD)
    assert optimizer.Optimizer.opt_registry["lbsgd"] is optimizer.LBSGD
    with pytest.raises(DeprecationWarning):
        optimizer.SGD().set_lr_scale({})


@pytest.mark.parametrize("name", ["sgd momentum", "adam", "rmsprop", "lamb"])
def test_float16_in_float32(name):
    kind, arguments, expected = GOLDEN[name]
    rule = optimizer.create(kind, multi_precision=True, **arguments)
    weight, updater = _train(nd, rule, dtype="float16")
    onp.testing.assert_allclose(weight.asnumpy(), expected, atol=4e-3)
    assert weight.dtype == onp.float16
    assert updater.states[0][0].dtype == onp.float32


def test_noise_of_langevin_dynamics():
    mx.random.seed(3)
    weight = nd.zeros((20000,))
    optimizer.get_updater(optimizer.SGLD(learning_rate=0.04))(0, nd.ones((20000,)), weight)
    host = weight.asnumpy()
    assert abs(host.mean() + 0.02) < 0.01
    assert abs(host.std() - 0.2) < 0.01


def test_momentum_of_delayed_descent():
    # MXNet's own fails with momentum and several weights: here by its formula.
    rule = optimizer.DCASGD(learning_rate=0.1, momentum=0.9, lamda=0.5)
    updater = optimizer.get_updater(rule)
    weight, expected = nd.array([1.0]), 1.0
    momentum, previous = 0.0, 1.0
    for _ in range(3):
        updater(0, nd.array([2.0]), weight)
        momentum = 0.9 * momentum - 0.1 * (2 + 0.5 * 4 * (expected - previous))
        previous, expected = expected, expected + momentum
    assert abs(weight.asscalar() - expected) < 1e-5


@runs_later
def test_updates_are_fused():
    weight = nd.ones((100_000,))
    gradient = nd.ones((100_000,)) * 2
    updater = optimizer.get_updater(optimizer.Adam())
    updater(0, gradient, weight)
    nd.waitall()
    before = mx.engine.stats()["fused_calls"]
    updater(0, gradient, weight)
    nd.waitall()
    assert mx.engine.stats()["fused_calls"] - before >= 8  # of about 14


def test_rates_counts_and_names():
    rule = optimizer.SGD(
        learning_rate=0.5, wd=0.1, param_idx2name={0: "a_weight", 1: "a_bias", 2: "a_gamma"}
    )
    assert [rule._get_wd(index) for index in range(3)] == [0.1, 0.0, 0.1]
    rule.set_lr_mult({"a_weight": 2.0})
    rule.set_wd_mult({"a_gamma": 0.5})
    assert rule._get_lr(0) == 1.0
    assert rule._get_lr(1) == 0.5
    assert rule._get_wd(2) == 0.05
    rule._update_count([0, 0, 1])
    assert rule.num_update == 2
    rule.set_learning_rate(0.25)
    assert rule.learning_rate == 0.25
    assert isinstance(optimizer.create("AdaM", beta1=0.5), optimizer.Adam)
    with pytest.raises(ValueError, match="sgd"):
        optimizer.create("nothing")

    @optimizer.register
    class Mine(optimizer.Optimizer):
        def step(self, weight, grad, state, rates):
            weight[:] = 7

    weight = nd.zeros((2,))
    optimizer.get_updater(optimizer.create("mine"))(0, nd.ones((2,)), weight)
    assert weight.asnumpy().tolist() == [7, 7]


def test_states_travel_as_bytes():
    _, updater = _train(nd, optimizer.Adam(learning_rate=0.1))
    other = optimizer.get_updater(optimizer.Adam(learning_rate=0.1))
    other.set_states(updater.get_states())
    for ours, theirs in zip(updater.states[0], other.states[0], strict=True):
        onp.testing.assert_array_equal(ours.asnumpy(), theirs.asnumpy())
    whole = optimizer.get_updater(optimizer.SGD())
    whole.set_states(updater.get_states(dump_optimizer=True))
    assert isinstance(whole.optimizer, optimizer.Adam)
    assert whole.optimizer.lr == 0.1


def test_schedulers():
    factor = lr_scheduler.FactorScheduler(step=2, factor=0.5, base_lr=1.0, stop_factor_lr=0.2)
    assert [factor(n) for n in range(1, 10)] == [1, 1, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2, 0.2]
    assert lr_scheduler.FactorScheduler(1, 0.5)(2**40) == 1e-8
    far = lr_scheduler.FactorScheduler(7, 0.999, base_lr=1.0)
    assert far(20_000) == pytest.approx(0.999 ** (19_999 // 7))
    assert far.count == 19_999
    several = lr_scheduler.MultiFactorScheduler(step=[2, 5], factor=0.1, base_lr=1.0)
    assert [round(several(n), 6) for n in range(1, 8)] == [1, 1, 0.1, 0.1, 0.1, 0.01, 0.01]
    poly = lr_scheduler.PolyScheduler(max_update=10, base_lr=1.0, pwr=2, warmup_steps=2)
    assert [round(poly(n), 6) for n in (0, 1, 2, 6, 10, 11)] == [0, 0.5, 1, 0.25, 0, 0]
    wave = lr_scheduler.CosineScheduler(max_update=10, base_lr=1.0, final_lr=0.2)
    assert math.isclose(wave(5), 0.6)
    assert math.isclose(wave(10), 0.2)
    constant = lr_scheduler.FactorScheduler(
        step=5, base_lr=1.0, warmup_steps=3, warmup_begin_lr=0.1, warmup_mode="constant"
    )
    assert [constant(n) for n in (0, 2, 3)] == [0.1, 0.1, 1.0]
    rule = optimizer.SGD(learning_rate=2.0, lr_scheduler=factor)
    assert factor.base_lr == 2.0
    with pytest.raises(UserWarning):
        rule.set_learning_rate(1.0)
    for wrong in (
        lambda: lr_scheduler.FactorScheduler(step=0),
        lambda: lr_scheduler.FactorScheduler(step=1, factor=2),
        lambda: lr_scheduler.MultiFactorScheduler(step=[3, 2]),
        lambda: lr_scheduler.PolyScheduler(max_update=0),
        lambda: lr_scheduler.CosineScheduler(max_update=5, warmup_mode="other"),
    ):
        with pytest.raises(ValueError, match=r"step|Factor|maximum|warmup"):
            wrong()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("sgd", {"learning_rate": 0.1, "wd": 0.1, "momentum": 0.9, "multi_precision": True}),
        ("adam", {"learning_rate": 0.1, "wd": 0.1, "beta1": 0.5, "clip_gradient": 1}),
        ("adadelta", {"rho": 0.9}),
        ("rmsprop", {"learning_rate": 0.1, "gamma1": 0.9}),
        ("adagrad", {"learning_rate": 0.1, "eps": 1e-5, "rescale_grad": 0.5}),
        ("sgld", {"learning_rate": 0.1, "lr_scheduler": lr_scheduler.FactorScheduler(3)}),
    ],
)
def test_arguments_that_programs_pass(name, arguments):
    weight = nd.ones((2,))
    optimizer.get_updater(optimizer.create(name, **arguments))(0, nd.ones((2,)), weight)
    assert onp.isfinite(weight.asnumpy()).all()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("adam", {"beta2": 2**40}),
        ("adam", {"beta1": 1}),
        ("adamax", {"beta1": -1}),
        ("nadam", {"beta2": 1.0}),
        ("ftml", {"beta1": 1.5}),
        ("lamb", {"beta2": 1}),
        ("sgld", {"learning_rate": -1}),
        ("adam", {"begin_num_update": -5}),
    ],
)
def test_rates_that_make_no_sense_are_refused(name, arguments):
    weight = nd.ones((2,))
    update = mx.optimizer.get_updater(mx.optimizer.create(name, **arguments))
    with pytest.raises(mx.MXNetError, match="must "):
        update(0, nd.ones((2,)), weight)

# SPDX-License-Identifier: Apache-2.0
"""One call updates many parameters: the same bits as one by one, and each parameter by itself."""

from __future__ import annotations

import numpy as onp
import pytest
from support import raises_at_the_read

import afterglow as mx
from afterglow import _core, autograd, engine, gluon, nd, np, optimizer
from afterglow.error import MXNetError

SHAPES = [(3, 4), (100,), (1,), (2, 1, 5), (3000,), (70_000,), (7,)]
RULES = {
    "sgd": ("sgd", {}),
    "sgd decay": ("sgd", {"wd": 0.1, "clip_gradient": 0.5}),
    "momentum": ("sgd", {"momentum": 0.9, "wd": 0.01}),
    "nag": ("nag", {"momentum": 0.9, "wd": 0.01}),
    "signum": ("signum", {"momentum": 0.9, "wd_lh": 0.1}),
    "signs": ("signum", {"momentum": 0.0}),
    "dcasgd": ("dcasgd", {"momentum": 0.9}),
    "test": ("test", {}),
    "adam": ("adam", {"wd": 0.01}),
    "adamw": ("adamw", {"wd": 0.01}),
    "adamax": ("adamax", {}),
    "nadam": ("nadam", {}),
    "adagrad": ("adagrad", {"wd": 0.01}),
    "rmsprop": ("rmsprop", {}),
    "rmsprop centred": ("rmsprop", {"centered": True, "clip_weights": 2.0}),
    "adadelta": ("adadelta", {"wd": 0.01}),
    "ftrl": ("ftrl", {}),
    "ftml": ("ftml", {}),
    "lamb": ("lamb", {}),
    "lars": ("lars", {"momentum": 0.9}),
}


def _values(shapes, seed, dtype="float32"):
    random = onp.random.RandomState(seed)
    return [random.normal(size=shape).astype(dtype) for shape in shapes]


def _parameters(shapes, ctx=None, dtype="float32"):
    result = []
    for number, value in enumerate(_values(shapes, 1)):
        parameter = gluon.Parameter(f"p{number}_weight", shape=value.shape, dtype=dtype)
        parameter.initialize(ctx=ctx)
        parameter.set_data(nd.array(value, dtype=dtype))
        result.append(parameter)
    return result


def _set_gradients(parameters, seed):
    """Give every parameter a fresh gradient of known values, other ones on each device."""
    losses = []
    with autograd.record():
        for device in range(len(parameters[0].list_ctx())):
            weights = [parameter.list_data()[device] for parameter in parameters]
            factors = _values([weight.shape for weight in weights], seed + device)
            losses += [
                (weight * nd.array(factor, dtype=weight.dtype, ctx=weight.context)).sum()
                for weight, factor in zip(weights, factors, strict=True)
            ]
    autograd.backward(losses)


def _arrays(state):
    if isinstance(state, (tuple, list)):
        return [array for one in state for array in _arrays(one)]
    return [] if state is None else [state]


def _same(left, right):
    onp.testing.assert_array_equal(left.asnumpy(), right.asnumpy())


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", RULES)
def test_same_bits_as_one_by_one(name, dtype):
    rule, arguments = RULES[name]
    arguments = {**arguments, "multi_precision": dtype == "float16"}
    together = _parameters(SHAPES, dtype=dtype)
    trainer = gluon.Trainer(together, rule, arguments)
    single = [parameter.data().copy() for parameter in together]
    factors = dict(enumerate(together))
    updater = optimizer.get_updater(optimizer.create(rule, param_dict=factors, **arguments))
    together[1].lr_mult, together[2].wd_mult = 0.5, 0.0
    for step in range(4):
        rate = 0.05 / (step + 1)
        _set_gradients(together, 10 * step)
        gradients = [parameter.grad().copy() for parameter in together]
        trainer.set_learning_rate(rate)
        updater.optimizer.set_learning_rate(rate)
        updater.optimizer.rescale_grad = 1 / 8
        trainer.step(8)
        for index, (weight, gradient) in enumerate(zip(single, gradients, strict=True)):
            updater(index, gradient, weight)
        if step == 1:
            together[3].lr_mult = 0.25
    for parameter, weight in zip(together, single, strict=True):
        _same(parameter.data(), weight)
    for index, state in updater.states.items():
        ours = _arrays(trainer._updaters[0].states[index])
        for left, right in zip(ours, _arrays(state), strict=True):
            _same(left, right)


def test_np_arrays():
    weights = []
    for together in (True, False):
        with mx.util.np_array(True):
            parameters = [gluon.Parameter(f"w{i}", shape=(i + 1,)) for i in range(3)]
            for parameter in parameters:
                parameter.initialize("ones")
            trainer = gluon.Trainer(parameters, "adam", {"learning_rate": 0.1})
            updater = optimizer.get_updater(optimizer.create("adam", learning_rate=0.1))
            with autograd.record():
                losses = [(parameter.data() ** 2).sum() for parameter in parameters]
            autograd.backward(losses)
            if together:
                trainer.step(1)
            else:
                for index, parameter in enumerate(parameters):
                    updater(index, parameter.grad(), parameter.data())
            assert isinstance(parameters[0].data(), np.ndarray)
            weights.append([parameter.data().asnumpy() for parameter in parameters])
    for left, right in zip(*weights, strict=True):
        onp.testing.assert_array_equal(left, right)


@pytest.mark.skipif(engine.is_serial(), reason="serially each parameter has calls of its own")
@pytest.mark.parametrize("name", ["sgd", "momentum", "adam", "ftrl"])
def test_few_calls(name):
    rule, arguments = RULES[name]
    parameters = _parameters([(100,)] * 50)
    for parameter in parameters[::2]:
        parameter.wd_mult = 0.0
    trainer = gluon.Trainer(parameters, rule, arguments)
    for step in range(2):
        _set_gradients(parameters, step)
        nd.waitall()
        before = engine.stats()["issued"]
        with engine.record() as events:
            trainer.step(1)
            nd.waitall()
    assert engine.stats()["issued"] - before <= 2
    assert len({event.task for event in events}) <= 2


@pytest.mark.parametrize("on_store", [None, False])
def test_devices(on_store):
    contexts = [mx.cpu(0), mx.cpu(1)]
    parameters = _parameters(SHAPES, contexts)
    trainer = gluon.Trainer(parameters, "sgd", {"momentum": 0.9}, update_on_kvstore=on_store)
    expected = [value.astype("float64") for value in _values(SHAPES, 1)]
    momenta = [0.0] * len(SHAPES)
    for step in range(2):
        _set_gradients(parameters, 10 * step)
        trainer.step(4)
        for index, pair in enumerate(
            zip(_values(SHAPES, 10 * step), _values(SHAPES, 10 * step + 1), strict=True)
        ):
            momenta[index] = 0.9 * momenta[index] - 0.01 * sum(pair) / 4
            expected[index] = expected[index] + momenta[index]
    for parameter, value in zip(parameters, expected, strict=True):
        for array in parameter.list_data():
            onp.testing.assert_allclose(array.asnumpy(), value, atol=1e-5)


def test_mixed_types():
    parameters = _parameters([(4,), (5,)]) + _parameters([(6,), (7,)], dtype="float64")
    trainer = gluon.Trainer(parameters, "sgd", {"learning_rate": 0.5})
    _set_gradients(parameters, 5)
    before = [parameter.data().asnumpy() for parameter in parameters]
    gradients = [parameter.grad().asnumpy() for parameter in parameters]
    trainer.step(1)
    for parameter, value, gradient in zip(parameters, before, gradients, strict=True):
        assert parameter.data().dtype == value.dtype
        onp.testing.assert_allclose(parameter.data().asnumpy(), value - 0.5 * gradient, rtol=1e-6)


def test_a_parameter_given_twice():
    parameters = _parameters([(4,), (5,)])
    trainer = gluon.Trainer([*parameters, parameters[0]], "sgd", {"learning_rate": 0.5})
    _set_gradients(parameters, 5)
    value, gradient = parameters[0].data().asnumpy(), parameters[0].grad().asnumpy()
    trainer.step(1)
    expected = value - 2 * 0.5 * gradient
    onp.testing.assert_allclose(parameters[0].data().asnumpy(), expected, rtol=1e-6)


def test_gradients_that_are_not_wanted():
    parameters = _parameters([(4,), (5,), (6,)])
    parameters[1].grad_req = "null"
    trainer = gluon.Trainer(parameters, "adam")
    before = [parameter.data().asnumpy() for parameter in parameters]
    for wanted in (False, True):
        with autograd.record():
            loss = sum((parameter.data() ** 2).sum() for parameter in parameters)
        loss.backward()
        trainer.step(1)
        same = [(p.data().asnumpy() == b).all() for p, b in zip(parameters, before, strict=True)]
        assert same == [False, not wanted, False]
        parameters[1].grad_req = "write"


def test_stale_gradients():
    parameters = _parameters([(4,), (5,), (6,)])
    trainer = gluon.Trainer(parameters, "sgd", {"learning_rate": 1.0})
    before = [parameter.data().asnumpy() for parameter in parameters]
    with autograd.record():
        loss = parameters[0].data().sum() + parameters[2].data().sum()
    loss.backward()
    with pytest.raises(UserWarning, match="p1_weight"):
        trainer.step(1)
    trainer.step(1, ignore_stale_grad=True)
    trainer.step(1, ignore_stale_grad=True)
    moved = [float((b - p.data().asnumpy()).max()) for p, b in zip(parameters, before, strict=True)]
    assert moved == pytest.approx([1, 0, 1], abs=1e-6)
    _set_gradients(parameters, 1)  # the counts of updates differ from here on
    trainer.step(1)
    assert sorted(trainer.optimizer._index_update_count.values()) == [1, 2, 2]


@raises_at_the_read
@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_one_poisoned_gradient(name):
    rule, arguments = RULES[name]
    parameters = _parameters([(4,), (5,), (6,)])
    trainer = gluon.Trainer(parameters, rule, arguments)
    _set_gradients(parameters, 1)
    nd.waitall()
    _core.inject_failure(0, 1)
    parameters[1].grad()[:] = parameters[1].grad() * 2
    trainer.step(1)
    for index in (0, 2):
        assert onp.isfinite(parameters[index].data().asnumpy()).all()
    for array in (parameters[1].data(), *_arrays(trainer._updaters[0].states[1])):
        with pytest.raises(Exception, match=r"\[multiply\] a failure was injected"):
            array.asnumpy()
    nd.waitall()  # the failure has been raised
    parameters[1].set_data(nd.ones((5,)))
    assert parameters[1].data().asnumpy().tolist() == [1] * 5


def test_order_with_what_is_around():
    parameters = _parameters([(4,), (5,)])
    trainer = gluon.Trainer(parameters, "sgd", {"learning_rate": 1.0})
    _set_gradients(parameters, 1)
    before = [parameter.data().copy() for parameter in parameters]
    gradients = [parameter.grad().copy() for parameter in parameters]
    parameters[0].set_data(parameters[0].data() * 2)
    trainer.step(1)
    between = [parameter.data().copy() for parameter in parameters]
    for parameter in parameters:
        parameter.grad()[:] = 1e9
        parameter.set_data(parameter.data() + 1)
    for index, factor in enumerate((2, 1)):
        expected = before[index].asnumpy() * factor - gradients[index].asnumpy()
        onp.testing.assert_allclose(between[index].asnumpy(), expected, rtol=1e-5)
        _same(parameters[index].data(), between[index] + 1)


def test_a_graph_is_not_used_after_its_weights_have_changed():
    parameters = _parameters([(4,), (5,)])
    trainer = gluon.Trainer(parameters, "sgd")
    with autograd.record():
        loss = sum((parameter.data() ** 2).sum() for parameter in parameters)
    loss.backward(retain_graph=True)
    trainer.step(1)
    with pytest.raises(MXNetError, match="overwritten in place"):
        loss.backward()


def test_not_while_recording():
    parameters = _parameters([(4,), (5,)])
    trainer = gluon.Trainer(parameters, "sgd")
    _set_gradients(parameters, 1)
    with autograd.record(), pytest.raises(MXNetError, match="while recording"):
        trainer.step(1)
    assert (nd.ones((3,)) + 1).asnumpy().tolist() == [2, 2, 2]


def test_optimizers_of_ones_own():
    class Half(optimizer.SGD):
        def step(self, weight, grad, state, rates):
            assert weight.asnumpy().shape == grad.asnumpy().shape  # reads, so not by one call
            weight[:] = weight - rates.lr * grad / 2

    class Counting(optimizer.SGD):
        calls = 0

        def update(self, index, weight, grad, state):
            self.calls += 1
            super().update(index, weight, grad, state)

    parameters = _parameters([(4,), (5,)])
    for rule in (Half(learning_rate=1.0), Counting(learning_rate=0.5)):
        trainer = gluon.Trainer(parameters, rule)
        _set_gradients(parameters, 1)
        value, gradient = parameters[1].data().asnumpy(), parameters[1].grad().asnumpy()
        trainer.step(1)
        onp.testing.assert_allclose(
            parameters[1].data().asnumpy(), value - gradient / 2, rtol=1e-5, atol=1e-7
        )
    assert rule.calls == 2


@pytest.mark.skipif(engine.is_serial(), reason="nothing is captured")
def test_a_read_ends_the_capture():
    weights = [nd.ones((3,)), nd.ones((3,))]
    seen = []

    def double():
        weights[0][:] = weights[0] * 2
        seen.extend(weights[0].asnumpy().tolist())
        weights[0][:] = weights[0] + 1

    assert _core.issue_for_rows(double, [(weights[0],), (weights[1],)]) == 1
    assert seen == [2, 2, 2]
    assert weights[0].asnumpy().tolist() == [3, 3, 3]
    assert weights[1].asnumpy().tolist() == [1, 1, 1]


@pytest.mark.skipif(engine.is_serial(), reason="nothing is captured")
def test_what_somebody_keeps_has_a_value():
    class Keeping(optimizer.Optimizer):
        elementwise = True

        def create_state(self, index, weight):
            return None

        def step(self, weight, grad, state, rates):
            doubled = grad * 2.0
            kept.append(doubled)
            weight -= doubled * rates.lr

    kept = []
    parameters = _parameters([(4,), (5,), (6,)])
    trainer = gluon.Trainer(parameters, Keeping(learning_rate=0.5))
    _set_gradients(parameters, 1)
    values = [parameter.data().asnumpy() for parameter in parameters]
    trainer.step(1)
    for parameter, value, doubled in zip(parameters, values, kept, strict=True):
        gradient = parameter.grad().asnumpy()
        onp.testing.assert_array_equal(doubled.asnumpy(), 2 * gradient)
        onp.testing.assert_allclose(parameter.data().asnumpy(), value - gradient, rtol=1e-5)
    kept.clear()  # the class is part of a cycle


@pytest.mark.skipif(engine.is_serial(), reason="nothing is captured")
def test_an_exception_lets_what_came_before_it_happen():
    weights = [nd.ones((3,)), nd.ones((3,))]
    made = []

    def fails():
        made.append(weights[0] * 4)
        weights[0][:] = weights[0] * 2
        raise LookupError

    with pytest.raises(LookupError):
        _core.issue_for_rows(fails, [(weights[0],), (weights[1],)])
    assert made[0].asnumpy().tolist() == [4, 4, 4]
    assert weights[0].asnumpy().tolist() == [2, 2, 2]
    assert weights[1].asnumpy().tolist() == [1, 1, 1]


def test_states_are_found_again(tmp_path):
    parameters = _parameters([(4,), (5,)])
    trainer = gluon.Trainer(parameters, "adam", {"learning_rate": 0.1})
    _set_gradients(parameters, 1)
    trainer.step(1)
    trainer.save_states(str(tmp_path / "states"))
    kept = [parameter.data().copy() for parameter in parameters]
    results = []
    for _ in range(2):
        trainer.load_states(str(tmp_path / "states"))
        for parameter, value in zip(parameters, kept, strict=True):
            parameter.set_data(value)
        _set_gradients(parameters, 2)
        trainer.step(1)
        results.append([parameter.data().asnumpy() for parameter in parameters])
    for left, right in zip(*results, strict=True):
        onp.testing.assert_array_equal(left, right)

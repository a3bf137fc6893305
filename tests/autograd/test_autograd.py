# SPDX-License-Identifier: Apache-2.0
"""Recording, backward, and what happens around them."""

from __future__ import annotations

import threading

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np


def _variable(values, world=nd):
    x = world.array(values)
    x.attach_grad()
    return x


def test_scopes_are_nested_and_per_thread():
    seen = []
    with autograd.record():
        assert autograd.is_recording()
        assert autograd.is_training()
        with autograd.pause():
            assert not autograd.is_recording()
            assert not autograd.is_training()
        with autograd.predict_mode():
            assert autograd.is_recording()
            assert not autograd.is_training()
        thread = threading.Thread(target=lambda: seen.append(autograd.is_recording()))
        thread.start()
        thread.join()
    assert seen == [False]
    assert not autograd.is_recording()
    with autograd.record(train_mode=False):
        assert not autograd.is_training()
    assert autograd.set_recording(True) is False
    assert autograd.set_recording(False) is True


def test_outside_of_record_nothing_is_recorded():
    x = _variable([1.0, 2.0])
    y = x * 2
    with pytest.raises(mx.MXNetError, match="not in a computational graph"):
        y.backward()


def _twice(x):
    block = gluon.nn.HybridLambda(lambda F, x: x * 2)
    block.hybridize()
    for _ in range(3):
        y = block(x)
    return y


class _Same(autograd.Function):
    def forward(self, x):
        return x * 1

    def backward(self, gradient):
        return gradient


@pytest.mark.parametrize("world", [nd, np])
@pytest.mark.parametrize(
    "program",
    [
        lambda x: x * 2,
        lambda x: x.sum(),
        lambda x: x[0],
        lambda x: x.reshape((2, 1)),
        lambda x: x.copy(),
        lambda x: x.detach(),
        lambda x: _twice(x),
        lambda x: _Same()(x),
    ],
)
def test_what_is_missing_is_named(program, world):
    x = world.array([1.0, 2.0])
    missing_record = r"of shape \([^)]*\) was not computed under autograd.record\(\)"
    missing_gradient = r"no array that it was computed from has a gradient; call attach_grad\(\)"
    with autograd.record():
        recorded = program(x)
    for y, missing in ((recorded, missing_gradient), (program(x), missing_record)):
        with pytest.raises(mx.MXNetError, match=missing):
            y.backward()
        with pytest.raises(mx.MXNetError, match=missing):
            autograd.backward([y], retain_graph=True)
    x.attach_grad()  # too late for what was computed before
    with pytest.raises(mx.MXNetError, match=missing_gradient):
        autograd.grad(recorded, [x])
    with pytest.raises(mx.MXNetError, match=missing_record):
        autograd.grad(program(x), [x])


WITHOUT_GRADIENT = [
    lambda x, z: nd.BlockGrad(x),
    lambda x, z: nd.ones_like(x) * 2,
    lambda x, z: nd.zeros_like(x) + nd.argmax(x * x, axis=0),
    lambda x, z: x > 1,
    lambda x, z: nd.BlockGrad(x * x) * z,
    lambda x, z: (x[0:1] > 0) * z,
    lambda x, z: nd.broadcast_equal(z, nd.stop_gradient(x)) + nd.stop_gradient(z) * z,
    lambda x, z: nd.where(x > 1, z, z * z),
]


class _Calls(gluon.HybridBlock):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def hybrid_forward(self, F, x, z):
        return self.function(x, z)


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("function", WITHOUT_GRADIENT)
def test_gradients_that_are_zero_by_nature_are_written(function, hybridized):
    """As in MXNet: what stood there before is not the gradient of this pass."""
    block = _Calls(function)
    block.hybridize(hybridized)
    for number in range(4):  # written down first, then issued again
        x, z = _variable([1.0, 2.0]), _variable([3.0, 4.0])
        x.grad[:] = 7
        z.grad[:] = 7
        with autograd.record():
            y = block(x * 1 if number % 2 else x, z)
        y.backward()
        assert x.grad.asnumpy().tolist() == [0, 0], number
        again = _variable([3.0, 4.0])
        expected = [7.0, 7.0]
        if function not in WITHOUT_GRADIENT[:4]:
            with autograd.record():
                y = function(nd.array([1, 2]), again)
            y.backward()
            expected = again.grad.asnumpy().tolist()
        assert z.grad.asnumpy().tolist() == expected, number


def test_gradients_that_are_zero_by_nature_are_asked_for():
    x, z = _variable([1.0, 2.0]), _variable([3.0, 4.0])
    with autograd.record():
        mask = x > 1
        y = mask * z
        (gradient,) = autograd.grad(y, [x], retain_graph=True)
        assert gradient.asnumpy().tolist() == [0, 0]
        with pytest.raises(mx.MXNetError, match="do not depend"):
            autograd.grad(y, [_variable([1.0])], retain_graph=True)
        with pytest.raises(mx.MXNetError, match="takes no part"):
            autograd.grad(y, [mask], retain_graph=True)
    x.attach_grad("add")
    x.grad[:] = 7
    with autograd.record():
        y = nd.BlockGrad(x) + z
    y.backward()
    assert x.grad.asnumpy().tolist() == [7, 7]


def test_what_has_no_gradient_is_not_used_up():
    """Two losses may share a mask, or what one of them must not change."""
    x, z = _variable([1.0, 2.0]), _variable([3.0, 4.0])
    with autograd.record():
        made = x * x
        first = nd.BlockGrad(made) * z
        second = made * 3
    first.backward()
    assert (x.grad.asnumpy().tolist(), z.grad.asnumpy().tolist()) == ([0, 0], [1, 4])
    second.backward()
    assert x.grad.asnumpy().tolist() == [6, 12]


def test_what_has_no_gradient_keeps_no_values():
    """A product with a mask keeps nothing for the gradient of the mask."""
    x = _variable([1.0])
    with autograd.record():
        mask = nd.broadcast_to(x, (1000, 1000)) > 0
        nd.waitall()
        before = mx.memory.active()
        y = nd.ones((1000, 1000)) * mask
        nd.waitall()
    assert mx.memory.active() - before < 1.5 * y.size * 4  # and not what it was made of


def test_graph_is_freed_unless_retained():
    x = _variable([1.0, 2.0])
    with autograd.record():
        y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 4]
    with pytest.raises(mx.MXNetError, match="retain_graph"):
        y.backward()


@pytest.mark.parametrize("world", [nd, np])
def test_what_backward_used_up_is_a_constant_to_later_calls(world):
    """As in MXNet: recurrent networks hand their state from batch to batch."""
    x, w = _variable([1.0, 2.0, 3.0], world), _variable([5.0], world)
    with autograd.record():
        state = x * x
    state.backward()
    for use, expected in [
        (lambda: state * w, 14),
        (lambda: state[1:] * w, 13),
        (lambda: state.reshape((3, 1)) * w, 14),
        (lambda: world.concatenate([state, w]) ** 2, 10),
    ]:
        with autograd.record():
            y = use()
        y.backward()
        assert w.grad.asnumpy().tolist() == [expected]
        assert x.grad.asnumpy().tolist() == [2, 4, 6]
    with autograd.record():
        copy = state.copy()
        copy[:1] = w
        state[:1] = w
    for written in (copy, state):
        written.backward()
        assert w.grad.asnumpy().tolist() == [1]
    with autograd.record():
        y = state * 2 + x * x
    y.backward()
    with autograd.record():
        y = y * 2
    with pytest.raises(mx.MXNetError, match="nor what an earlier backward"):
        y.backward()


def test_what_was_recorded_before_backward_is_no_constant():
    x, w = _variable([2.0]), _variable([5.0])
    with autograd.record():
        shared = x * x
        first, second = shared * 2, shared * w
    first.backward()
    with pytest.raises(mx.MXNetError, match="retain_graph"):
        second.backward()


def test_outputs_of_one_call_are_used_up_together():
    x, w = _variable([1.0, 2.0, 3.0, 4.0]), _variable([5.0])
    with autograd.record():
        first, second = nd.split(x * x, 2, axis=0)
        y = first * first
    y.backward()
    expected = x.grad.asnumpy().tolist()
    assert expected == [4, 32, 0, 0]
    with autograd.record():
        y = second * w
    y.backward()
    assert w.grad.asnumpy().tolist() == [25]
    assert x.grad.asnumpy().tolist() == expected


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("kind", [gluon.rnn.RNN, gluon.rnn.LSTM, gluon.rnn.GRU])
def test_states_of_layers_are_constants_to_the_next_batch(kind, hybridized):
    """The gradients are those of states that were detached."""
    layer = kind(4)
    layer.initialize(mx.init.Uniform(0.5))
    if hybridized:
        layer.hybridize()
    batches = [nd.random.uniform(shape=(3, 2, 5)) for _ in range(4)]
    weight = layer.l0_i2h_weight

    def gradients(detached):
        state = layer.begin_state(batch_size=2)
        for batch in batches:
            if detached:
                state = [one.detach() for one in state]
            with autograd.record():
                output, state = layer(batch, state)
                loss = (output * output).sum()
            loss.backward()
            yield weight.grad().asnumpy()

    for given, wanted in zip(gradients(False), gradients(True), strict=True):
        onp.testing.assert_array_equal(given, wanted)


def test_add_accumulates_and_null_computes_nothing():
    x = nd.array([1.0, 2.0])
    x.attach_grad("add")
    constant = nd.array([3.0, 4.0])
    constant.attach_grad("null")
    for _ in range(3):
        with autograd.record():
            y = x * constant
        y.backward()
    assert x.grad.asnumpy().tolist() == [9, 12]
    assert constant.grad is None
    x.zero_grad()
    assert x.grad.asnumpy().tolist() == [0, 0]


def test_several_heads_and_head_gradients():
    x = _variable([1.0, 2.0])
    with autograd.record():
        y, z = x * 2, x * x
    autograd.backward([y, z], [nd.array([1.0, 10.0]), nd.array([100.0, 1000.0])])
    assert x.grad.asnumpy().tolist() == [202, 4020]
    with autograd.record():
        y = x * 2
    with pytest.raises(ValueError, match=r"\(3,\).*\(2,\)"):
        y.backward(nd.ones((3,)))


def test_detach_and_views_and_classes():
    x = _variable([1.0, 2.0, 3.0])
    with autograd.record():
        y = x * x.detach() + x[1:].sum() + x.reshape((3, 1)).reshape((3,))
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 6, 7]
    x = _variable([1.0, 2.0])
    with autograd.record():
        y = (x.as_np_ndarray() * 3).as_nd_ndarray() * 2
    y.backward()
    assert x.grad.asnumpy().tolist() == [6, 6]


@pytest.mark.skipif(mx.engine.is_serial(), reason="every call runs at once")
def test_backward_only_queues():
    x = _variable(onp.ones((1500, 1500), "float32"))
    with autograd.record():
        y = nd.dot(nd.dot(x, x), x)
    y.backward()
    assert not x.grad.is_ready()
    assert x.grad.asnumpy()[0, 0] == 3 * 1500.0**2


def test_loops_of_any_length():
    x = _variable([2.0])
    with autograd.record():
        y = x
        while y.norm().asscalar() < 1000:
            y = y * 2
    y.backward()
    assert x.grad.asscalar() == y.asscalar() / 2


def test_a_chain_of_very_many_calls():
    x = _variable([1.0])
    with autograd.record():
        y = x
        for _ in range(20_000):
            y = y + x
    y.backward()
    assert x.grad.asscalar() == 20_001
    with autograd.record():
        y = x
        for _ in range(20_000):
            y = y + x
    del y  # freed one after another, without deep recursion


# --- writes in place ---


def test_overwritten_values_are_noticed():
    x = _variable([1.0, 2.0])
    a = nd.array([3.0, 4.0])
    with autograd.record():
        y = x * a
    a[:] = 100
    with pytest.raises(mx.MXNetError, match=r"(?s)multiply.*test_autograd.py.*overwritten"):
        y.backward()
    # not needed by any gradient: no matter
    with autograd.record():
        y = x + a
    a[:] = 7
    y.backward()
    assert x.grad.asnumpy().tolist() == [1, 1]


def test_augmented_operators_while_recording():
    x = _variable([1.0, 2.0])
    with autograd.record():
        y = x * 1
        y += x
        y *= 3
        y -= 1
    y.backward()
    assert x.grad.asnumpy().tolist() == [6, 6]
    with autograd.record(), pytest.raises(mx.MXNetError, match="cannot be written while recording"):
        x += 1


def test_writes_to_parts_while_recording():
    x = _variable([1.0, 2.0, 3.0])
    with autograd.record():
        y = x * 2
        y[1:] = x[:2] * 10
        y[0] = 5
        z = y * nd.array([1.0, 2.0, 3.0])
    z.backward()
    assert x.grad.asnumpy().tolist() == [20, 30, 0]
    with autograd.record():
        buffer = nd.zeros((2, 3))
        buffer[0] = x * 2
        buffer[1] = x * x
        total = (buffer * buffer).sum()
    total.backward()
    expected = 8 * onp.array([1, 2, 3.0]) + 4 * onp.array([1, 2, 3.0]) ** 3
    assert x.grad.asnumpy().tolist() == expected.tolist()


def test_update_between_steps_keeps_the_variable():
    w = _variable([1.0, 2.0])
    for _ in range(3):
        with autograd.record():
            loss = (w * w).sum()
        loss.backward()
        w -= 0.25 * w.grad
    assert w.asnumpy().tolist() == [0.125, 0.25]


# --- grad ---


def test_grad_leaves_the_buffers_alone():
    x = _variable([1.0, 2.0])
    with autograd.record():
        y = x * x * x
    (gradient,) = autograd.grad(y, [x])
    assert gradient.asnumpy().tolist() == [3, 12]
    assert x.grad.asnumpy().tolist() == [0, 0]


def test_third_derivative():
    x = _variable([2.0])
    with autograd.record():
        y = x**4
        (first,) = autograd.grad(y, [x], create_graph=True)
        (second,) = autograd.grad(first, [x], create_graph=True)
        third = second * 1
    third.backward()
    assert abs(x.grad.asscalar() - 48) < 1e-3


def test_grad_is_a_list():
    x = _variable([1, 2])
    with autograd.record():
        y = (x * x).sum()
    for variables in (x, [x], (x,)):  # as in MXNet, also for one array
        found = autograd.grad(y, variables, retain_graph=True)
        assert isinstance(found, list)
        assert found[0].asnumpy().tolist() == [2, 4]


def test_grad_of_intermediate_values():
    x = _variable([1.0, 2.0])
    with autograd.record():
        middle = x * 3
        y = middle * middle
    gradients = autograd.grad([y], [middle, x])
    assert gradients[0].asnumpy().tolist() == [6, 12]
    assert gradients[1].asnumpy().tolist() == [18, 36]


def test_numpy_world():
    x = _variable([1.0, 2.0], np)
    with autograd.record():
        y = (x**2).sum()
    y.backward()
    assert isinstance(x.grad, np.ndarray)
    assert x.grad.asnumpy().tolist() == [2, 4]


def test_only_readable_gradients_are_computed():
    x = _variable(onp.ones((300, 300), "float32"))
    frozen = nd.ones((300, 300))
    with autograd.record():
        y = nd.dot(x, frozen)
    before = mx.engine.stats()["run"] + mx.engine.stats()["pending"]
    y.backward()
    nd.waitall()
    assert mx.engine.stats()["run"] - before <= 4  # y, ones, one product


def test_memory_of_freed_graphs_is_given_back():
    x = _variable(onp.ones((512, 512), "float32"))
    nd.waitall()
    for _ in range(3):
        with autograd.record():
            y = x
            for _ in range(10):
                y = nd.tanh(nd.dot(y, x))
        y.backward()
        del y
        nd.waitall()
    before = mx.memory.active()
    for _ in range(5):
        with autograd.record():
            y = x
            for _ in range(10):
                y = nd.tanh(nd.dot(y, x))
        y.backward()
        del y
        nd.waitall()
    assert mx.memory.active() <= before


@pytest.mark.parametrize(
    "function",
    [
        nd.relu,
        nd.abs,
        lambda x: nd.clip(x, 0, 1),
        lambda x: nd.LeakyReLU(x, act_type="leaky", slope=0.1),
        lambda x: nd.maximum(x, 0.5),
        lambda x: nd.minimum(0.5, x),
        nd.hard_sigmoid,
        lambda x: nd.Activation(x, act_type="relu"),
        lambda x: nd.where(x > 0, x, -2 * x),
        lambda x: nd.max(x),
        lambda x: nd.sort(x),
        lambda x: nd.topk(x, ret_typ="value"),
        lambda x: 3 * x,
    ],
)
def test_second_derivative_of_what_is_linear_in_pieces(function):
    x = _variable([-1, 0.3, 2])
    with autograd.record():
        (slope,) = autograd.grad(function(x), [x], create_graph=True)
        total = slope.sum()
    total.backward()
    assert x.grad.asnumpy().tolist() == [0, 0, 0]


def test_gradient_penalty_with_relu():
    x, weight = nd.array([[1, -2]]), _variable([[0.5, 1], [2, -1]])
    x.attach_grad()
    with autograd.record():
        y = nd.relu(nd.dot(x, weight)).sum()
        (slope,) = autograd.grad(y, [x], create_graph=True)
        penalty = (slope * slope).sum()
    penalty.backward()
    # Only the second column is active: the slope is that column.
    assert weight.grad.asnumpy().tolist() == [[0, 2], [0, -2]]


def test_gradients_through_views_of_views():
    x = _variable(list(range(12)))
    with autograd.record():
        square = nd.reshape(x * 1, (3, 4))
        turned = nd.repeat(nd.transpose(square), 2, axis=1)
        edged = np.pad(square.as_np_ndarray(), ((1, 1), (0, 2)), mode="edge")
        total = (turned * turned).sum() + np.rot90(edged, 3).as_nd_ndarray().sum()
    total.backward()
    counts = onp.array([[2, 2, 2, 6], [1, 1, 1, 3], [2, 2, 2, 6]])
    expected = 4 * onp.arange(12).reshape(3, 4) + counts
    assert x.grad.asnumpy().tolist() == expected.reshape(-1).tolist()

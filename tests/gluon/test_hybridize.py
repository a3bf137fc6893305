# SPDX-License-Identifier: Apache-2.0
"""Hybridized blocks answer as they do when they are not: values, gradients, statistics, numbers."""

from __future__ import annotations

import copy
import random
import threading
import warnings

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np, npx
from afterglow.gluon import nn

CALLS = 5  #: the first runs as it is, the second is written down, the others are replayed


def plan_count(block):
    """Return how many signatures of the block have a plan."""
    return sum(bool(known) for known in block._block_compiled._plans.values())


def call_count(block):
    """Return how many calls the first plan of the block has."""
    return len(next(iter(block._block_compiled._plans.values()))[0])


def perceptron(**kwargs):
    net = nn.HybridSequential(**kwargs)
    net.add(nn.Dense(8, activation="relu"), nn.Dense(3))
    net.initialize(mx.init.Xavier())
    return net


def twin_of(net):
    """Return a copy of a net that is not hybridized, with the same parameters."""
    other = copy.deepcopy(net)
    other.hybridize(False)
    return other


# --- random nets ---


class Residual(gluon.HybridBlock):
    """Adds what its inner block makes to its input."""

    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.inner = nn.Dense(width, flatten=False)

    def hybrid_forward(self, F, x):
        y = self.inner(x)
        return F.broadcast_add(x, F.sigmoid(y) * y + F.sigmoid(y))


class Scaled(gluon.HybridBlock):
    """Has a parameter of its own, makes constants, and writes into an array that it makes."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.scale = self.params.get("scale", shape=(1,), init=mx.init.Constant(1.5))

    def hybrid_forward(self, F, x, scale):
        ramp = F.arange(x.shape[-1]) / 10
        return F.broadcast_mul(x, scale) + F.ones_like(x) * F.reshape(ramp, shape=(1, -1))


class Plain(gluon.HybridBlock):
    """Says in ``forward`` what it computes, and looks at shapes."""

    def forward(self, x):
        halves = x if x.shape[0] < 2 else nd.concat(x[:1] * 2, x[1:], dim=0)
        return nd.tanh(halves) / float(x.shape[0])


def random_net(generator):
    width = generator.choice([2, 4, 6])
    layers = {
        "dense": lambda: nn.Dense(width, activation=generator.choice(["relu", "tanh", None])),
        "residual": lambda: nn.HybridSequential(),
        "scaled": Scaled,
        "plain": Plain,
        "dropout": lambda: nn.Dropout(0.3),
        "batch": lambda: nn.BatchNorm(momentum=0.5),
        "layer": lambda: nn.LayerNorm(),
        "gelu": lambda: nn.GELU(),
        "prelu": lambda: nn.PReLU(),
    }
    net = nn.HybridSequential()
    net.add(nn.Dense(width))
    for _ in range(generator.randrange(1, 6)):
        kind = generator.choice(sorted(layers))
        net.add(Residual(width) if kind == "residual" else layers[kind]())
    net.add(nn.Dense(2))
    net.initialize(mx.init.Uniform(0.5))
    return net


def run_program(net, seed):
    """Train and predict with changing shapes; return all that can be seen."""
    generator = random.Random(seed)
    mx.random.seed(seed)
    values = onp.random.default_rng(seed)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
    seen = []
    for _ in range(14):
        batch = generator.choice([1, 3, 4])
        x = nd.array(values.standard_normal((batch, 5)))
        kind = generator.choice(["predict", "train", "train", "inputs", "twice"])
        if kind == "predict":
            seen.append(net(x).asnumpy())
            continue
        if kind in ("inputs", "twice"):
            x.attach_grad()
        with autograd.record():
            y = net(x)
            loss = (y * y).sum()
            if kind == "twice":
                loss = loss + net(x * 0.5).sum()
        loss.backward()
        seen.append(loss.asnumpy())
        if kind in ("inputs", "twice"):
            seen.append(x.grad.asnumpy())
        trainer.step(batch, ignore_stale_grad=True)
    seen.extend(p.data().asnumpy() for p in net.collect_params().values())
    return seen


@pytest.mark.parametrize("seed", range(30))
def test_random_nets_train_as_when_not_hybridized(seed):
    net = random_net(random.Random(seed))
    net(nd.ones((2, 5)))
    other = twin_of(net)
    expected = run_program(other, seed)
    net.hybridize()
    found = run_program(net, seed)
    assert plan_count(net) > 0
    assert len(expected) == len(found)
    for one, two in zip(expected, found, strict=True):
        # The sums of gradients are added in another order where an array is used several times.
        onp.testing.assert_allclose(one, two, rtol=2e-5, atol=2e-6)


# --- one thing at a time ---


def test_values_are_the_same_bits_and_replays_run_no_python():
    class Counting(gluon.HybridBlock):
        calls = 0

        def hybrid_forward(self, F, x):
            type(self).calls += 1
            return F.exp(x) * 2 - F.exp(x)

    block = Counting()
    block.hybridize()
    x = nd.array([0.1, 0.2, 0.3])
    expected = (nd.exp(x) * 2 - nd.exp(x)).asnumpy()
    for _ in range(CALLS):
        assert onp.array_equal(block(x).asnumpy(), expected)
    assert Counting.calls == 2
    assert call_count(block) == 3  # exp once, product, difference


def test_results_without_inputs_are_kept_and_unused_ones_left_out():
    class Block(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            F.exp(x)
            return F.broadcast_add(x, F.arange(3) * 2 + 1)

    block = Block()
    block.hybridize()
    for _ in range(CALLS):
        assert block(nd.zeros((3,))).asnumpy().tolist() == [1, 3, 5]
    assert call_count(block) == 1


def test_replays_in_flight_do_not_share_memory():
    net = perceptron()
    net.hybridize()
    inputs = [nd.array(onp.random.default_rng(i).standard_normal((2, 4))) for i in range(20)]
    for _ in range(2):
        net(inputs[0])
    other = twin_of(net)
    found = [net(x) for x in inputs]
    for x, y in zip(inputs, found, strict=True):
        assert onp.array_equal(y.asnumpy(), other(x).asnumpy())


def test_two_calls_of_one_recording():
    net = perceptron()
    x1, x2 = nd.ones((2, 4)), nd.ones((2, 4)) * 3
    net(x1)
    other = twin_of(net)
    net.hybridize()
    grads = []
    for block in (other, net, net, net):
        with autograd.record():
            a = block(x1)
            b = block(x2)
            loss = (a + b).sum()
        loss.backward()
        grads.append([p.grad().asnumpy() for p in block.collect_params().values()])
    for later in grads[1:]:
        for one, two in zip(grads[0], later, strict=True):
            onp.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)


def test_parameters_are_taken_by_reference():
    net = perceptron()
    net.hybridize()
    x = nd.ones((1, 4))
    for _ in range(CALLS):
        before = net(x).asnumpy()
    net[1].bias.data()[:] = 10
    onp.testing.assert_allclose(net(x).asnumpy(), before + 10, rtol=1e-5)
    net[1].bias.set_data(nd.array([1, 2, 3]))
    onp.testing.assert_allclose(net(x).asnumpy(), before + onp.array([1, 2, 3]), rtol=1e-5)
    net.initialize(mx.init.Zero(), force_reinit=True)
    assert net(x).asnumpy().tolist() == [[0, 0, 0]]
    net.cast("float64")
    assert net(x.astype("float64")).dtype == onp.float64


def test_changes_of_the_net_are_seen():
    net = perceptron()
    net.hybridize()
    x = nd.ones((1, 4))
    for _ in range(CALLS):
        net(x)
    net.add(nn.HybridLambda(lambda F, y: y * 0 + 7))
    assert net(x).asnumpy().tolist() == [[7, 7, 7]]
    calls = []
    handle = net[0].register_forward_hook(lambda block, inputs, output: calls.append(1))
    for _ in range(CALLS):
        net(x)
    assert len(calls) == CALLS
    handle.detach()
    net.hybridize(False)
    assert net(x).asnumpy().tolist() == [[7, 7, 7]]


def test_hooks_of_the_block_itself_see_every_call():
    net = perceptron()
    net.hybridize()
    calls = []
    net.register_forward_hook(lambda block, inputs, output: calls.append(output.shape))
    net.register_forward_pre_hook(lambda block, inputs: calls.append(inputs[0].shape))
    for _ in range(CALLS):
        net(nd.ones((2, 4)))
    assert calls == [(2, 4), (2, 3)] * CALLS


def test_summary_of_a_hybridized_net(capsys):
    net = perceptron()
    net.hybridize()
    x = nd.ones((1, 4))
    for _ in range(CALLS):
        net(x)
    net.summary(x)
    assert "Dense-2" in capsys.readouterr().out


def test_training_and_prediction_are_two_signatures():
    net = nn.HybridSequential()
    net.add(nn.Dropout(0.5))
    net.hybridize()
    x = nd.ones((200,))
    for _ in range(CALLS):
        assert net(x).asnumpy().tolist() == [1] * 200
        with autograd.train_mode():
            assert 0 in net(x).asnumpy()


def test_the_random_stream_is_the_one_of_an_unhybridized_net():
    def draw(block):
        mx.random.seed(7)
        with autograd.train_mode():
            return [block(nd.ones((50,))).asnumpy() for _ in range(CALLS)]

    block = nn.Dropout(0.5)
    expected = draw(block)
    block.hybridize()
    for one, two in zip(expected, draw(block), strict=True):
        assert onp.array_equal(one, two)
    assert not onp.array_equal(expected[3], expected[4])


def test_statistics_of_batch_norm():
    net = nn.BatchNorm(momentum=0.5)
    net.initialize()
    x = nd.array(onp.random.default_rng(0).standard_normal((6, 3)) * 2 + 1)
    net(x)
    other = twin_of(net)
    net.hybridize()
    for block in (other, net):
        for _ in range(CALLS):
            with autograd.record():
                loss = (block(x) ** 2).sum()
            loss.backward()
    onp.testing.assert_allclose(
        net.running_mean.data().asnumpy(), other.running_mean.data().asnumpy(), rtol=1e-6
    )
    assert onp.array_equal(net(x).asnumpy(), other(x).asnumpy())


def test_plain_arguments_belong_to_the_signature():
    class Block(gluon.HybridBlock):
        def hybrid_forward(self, F, x, factor, flip=None):
            return -x * factor if flip else x * factor

    block = Block()
    block.hybridize()
    x = nd.ones((2,))
    for _ in range(CALLS):
        for factor in (2, 2.5, True):
            assert block(x, factor).asnumpy()[0] == factor
            assert block(x, factor, "yes").asnumpy()[0] == -factor


def test_branches_on_values_run_as_they_are_and_say_so():
    class Block(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            if (x.sum() > 0).asscalar():
                return x * 2
            return x - 1

    block = Block()
    block.hybridize()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(CALLS):
            assert block(nd.array([3])).asscalar() == 6
            assert block(nd.array([-3])).asscalar() == -4
    told = [str(one.message) for one in caught]
    assert len(told) == 1
    assert "the value of an array was read" in told[0]
    assert "test_hybridize.py" in told[0]


def test_branches_on_the_mode_are_taken_anew():
    class Block(gluon.HybridBlock):
        def forward(self, x):
            if autograd.is_recording():
                return x * 2
            return x * 3 if autograd.is_training() else x * 4

    block = Block()
    block.hybridize()
    x = nd.ones((1,))
    for _ in range(CALLS):
        assert block(x).asscalar() == 4
        with autograd.train_mode():
            assert block(x).asscalar() == 3
        with autograd.record():
            assert block(x).asscalar() == 2


def test_nested_arguments_and_results():
    class Block(gluon.HybridBlock):
        def forward(self, x, states):
            return [x + states[0], (states[1] * 2, x)]

    block = Block()
    block.hybridize()
    for number in range(CALLS):
        x, a, b = nd.ones((2,)) * number, nd.ones((2,)), nd.ones((3,))
        first, (second, same) = block(x, [a, b])
        assert same is x
        assert first.asnumpy().tolist() == [number + 1] * 2
        assert second.asnumpy().tolist() == [2] * 3


def test_an_input_given_twice_and_inputs_that_overlap():
    class Block(gluon.HybridBlock):
        def forward(self, x, y):
            return x * 2 + y

    block = Block()
    block.hybridize()
    x, y = nd.array([1, 2, 3, 4]), nd.array([5, 6, 7, 8])
    for _ in range(CALLS):
        assert block(x, x).asnumpy().tolist() == [3, 6, 9, 12]
        x.attach_grad()
        with autograd.record():
            z = block(x, x)
        z.backward()
        assert x.grad.asnumpy().tolist() == [3, 3, 3, 3]
        assert block(x, y).asnumpy().tolist() == [7, 10, 13, 16]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(CALLS):
            assert block(x[:2], x[2:]).asnumpy().tolist() == [5, 8]


def test_views_are_inputs_like_others():
    net = perceptron()
    x = nd.array(onp.random.default_rng(0).standard_normal((6, 4)))
    net(x)
    other = twin_of(net)
    net.hybridize()
    for start in range(5):
        part = x[start : start + 2]
        assert onp.array_equal(net(part).asnumpy(), other(part).asnumpy())


def test_writes_to_an_input_reach_it():
    class Block(gluon.HybridBlock):
        def forward(self, x, y):
            x += y
            return x * 2

    block = Block()
    block.hybridize()
    x = nd.zeros((2,))
    for number in range(1, CALLS + 1):
        assert block(x, nd.ones((2,))).asnumpy().tolist() == [2 * number] * 2
        assert x.asnumpy().tolist() == [number] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(CALLS):
            z = nd.array([1, 2, 3, 4])
            assert block(z[:3], z[1:]).asnumpy().tolist() == [6, 10, 14]


def test_arrays_made_inside_are_new_each_time():
    class Block(gluon.HybridBlock):
        def forward(self, x):
            buffer = nd.zeros((3,))
            buffer[1] = x[0]
            return buffer

    block = Block()
    block.hybridize()
    found = [block(nd.array([number])) for number in range(CALLS)]
    assert [one.asnumpy().tolist() for one in found] == [[0, n, 0] for n in range(CALLS)]


def test_host_functions_inside():
    class Block(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.sort(x) * 2

    block = Block()
    block.hybridize()
    for number in range(CALLS):
        assert block(nd.array([3, number, 1])).asnumpy().tolist() == sorted([6, 2 * number, 2])


def test_errors_at_the_line_of_the_call():
    class Block(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.take(nd.arange(5) + x.sum() * 0, x, mode="raise")  # this line

    block = Block()
    block.hybridize()
    for _ in range(CALLS):
        assert block(nd.array([1, 2])).asnumpy().tolist() == [1, 2]
    with pytest.raises(IndexError, match=r"test_hybridize.py:\d+ in hybrid_forward"):
        block(nd.array([1, 9])).asnumpy()


def test_writes_between_forward_and_backward_are_noticed():
    net = perceptron()
    x = nd.ones((2, 4))
    net.hybridize()
    for _ in range(CALLS):
        with autograd.record():
            loss = net(x).sum()
        x += 1
        with pytest.raises(mx.MXNetError, match="overwritten in place"):
            loss.backward()
    with autograd.record():
        loss = net(x).sum()
    net[1].weight.data()[:] = 0
    with pytest.raises(mx.MXNetError, match="overwritten in place"):
        loss.backward()


def test_retain_graph_and_release():
    net = perceptron()
    net.hybridize()
    x = nd.ones((2, 4))
    for _ in range(CALLS):
        with autograd.record():
            loss = net(x).sum()
        loss.backward(retain_graph=True)
        first = net[0].weight.grad().asnumpy()
        loss.backward()
        assert onp.array_equal(first, net[0].weight.grad().asnumpy())
        with pytest.raises(mx.MXNetError, match="freed"):
            loss.backward()


def test_gradients_add_up_where_asked():
    net = perceptron()
    net(nd.ones((2, 4)))
    net.collect_params().setattr("grad_req", "add")
    net.hybridize()
    x = nd.ones((2, 4))
    for number in range(1, CALLS + 1):
        with autograd.record():
            loss = net(x).sum()
        loss.backward()
        assert net[1].bias.grad().asnumpy().tolist() == [2 * number] * 3
    net.collect_params().setattr("grad_req", "null")
    with autograd.record():
        y = net(x)
    assert y.shape == (2, 3)


def test_second_derivative():
    class Cube(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return x * x * x

    block = Cube()
    block.hybridize()
    for _ in range(CALLS):
        x = nd.array([2.0, 3.0])
        x.attach_grad()
        with autograd.record():
            y = block(x)
            (first,) = autograd.grad(y, [x], create_graph=True)
            total = (first * first).sum()
        total.backward()
        values = x.asnumpy()
        onp.testing.assert_allclose(x.grad.asnumpy(), 2 * 3 * values**2 * 6 * values, rtol=1e-5)


def test_unused_results_and_captured_arrays():
    outer = nd.array([1.0, 2.0])
    outer.attach_grad()

    class Two(gluon.HybridBlock):
        def forward(self, x):
            return x * 2, x * 3

    class Captures(gluon.HybridBlock):
        def forward(self, x):
            return x * self.outer

    two, captures = Two(), Captures()
    captures.outer = outer
    two.hybridize()
    captures.hybridize()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(CALLS):
            x = nd.ones((2,))
            x.attach_grad()
            with autograd.record():
                first, _ = two(x)
                loss = (first * captures(x)).sum()
            loss.backward()
            assert x.grad.asnumpy().tolist() == [4, 8]
            assert outer.grad.asnumpy().tolist() == [2, 2]


def test_np_arrays():
    npx.set_np()
    try:
        net = nn.HybridSequential()
        net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
        net.initialize()
        x = np.ones((3, 5))
        net(x)
        other = twin_of(net)
        net.hybridize()
        for _ in range(CALLS):
            with autograd.record():
                y = net(x)
            y.backward()
            assert type(y) is np.ndarray
            assert onp.array_equal(y.asnumpy(), other(x).asnumpy())
    finally:
        npx.reset_np()


def test_many_shapes_are_bounded_and_right():
    net = perceptron()
    net(nd.ones((1, 4)))
    other = twin_of(net)
    net.hybridize()
    for size in range(1, 700):
        x = nd.ones((size, 4))
        y = net(x)
    assert len(net._block_compiled._plans) <= 512
    assert onp.array_equal(y.asnumpy(), other(x).asnumpy())


def test_threads_share_a_net():
    net = perceptron()
    net(nd.ones((2, 4)))
    other = twin_of(net)
    net.hybridize()
    wrong = []

    def work(number):
        for step in range(100):
            x = nd.array(onp.full((1 + step % 3, 4), number + step % 5, "float32"))
            if not onp.array_equal(net(x).asnumpy(), other(x).asnumpy()):
                wrong.append((number, step))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_call_that_raises_leaves_the_thread_as_it_was():
    class Block(gluon.HybridBlock):
        fail = True

        def forward(self, x):
            y = x + 1
            if self.fail:
                raise KeyError("on purpose")
            return y

    block = Block()
    block.hybridize()
    x = nd.ones((1,))
    for _ in range(3):
        with pytest.raises(KeyError):
            block(x)
    block.fail = False
    for _ in range(CALLS):
        assert block(x).asscalar() == 2
    assert plan_count(block) == 1


def test_a_hybridized_net_can_be_copied():
    net = perceptron()
    net.hybridize()
    x = nd.ones((1, 4))
    for _ in range(CALLS):
        expected = net(x).asnumpy()
    other = copy.deepcopy(net)
    for _ in range(CALLS):
        assert onp.array_equal(other(x).asnumpy(), expected)
    other[0].weight.set_data(nd.zeros((8, 4)))
    assert onp.array_equal(net(x).asnumpy(), expected)


def test_a_deep_net_needs_the_memory_of_a_few_layers():
    net = nn.HybridSequential()
    for _ in range(50):
        net.add(nn.Dense(256, in_units=256, activation="relu"))
    net.initialize()
    net.hybridize()
    x = nd.ones((1024, 256))
    for _ in range(3):
        net(x).wait_to_read()
    nd.waitall()
    mx.memory.reset_peak()
    before = mx.memory.active()
    net(x).wait_to_read()
    assert mx.memory.peak() - before <= 3 * x.size * 4 + 65536


def test_writing_a_call_down_needs_no_more_memory_than_running_it():
    net = nn.HybridSequential()
    for _ in range(20):  # what comes between a product and the next layer is kept by nobody
        net.add(nn.Dense(256, in_units=256), nn.HybridLambda(lambda F, x: F.tanh(x * 2 + 1) - x))
    net.initialize()
    net.hybridize()
    x = nd.ones((1024, 256))
    peaks = []
    limits = mx.engine.set_run_ahead(bytes=4e6)  # calls run while later ones are written down
    try:
        for _ in range(CALLS):
            nd.waitall()
            mx.memory.reset_peak()
            before = mx.memory.active()
            with autograd.record():
                y = net(x)
            y.backward()
            nd.waitall()
            peaks.append(mx.memory.peak() - before)
            del y
    finally:
        mx.engine.set_run_ahead(limits)
    assert max(peaks) <= 1.2 * peaks[0]

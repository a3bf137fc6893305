# SPDX-License-Identifier: Apache-2.0
"""Hybridized blocks whose inputs, parameters and other arrays share memory or history.

The reference is always the same block, not hybridized, in a program of the same steps.
"""

from __future__ import annotations

import copy
import os
import random
import warnings

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np
from afterglow.gluon import nn

CALLS = 4  #: the first runs as it is, the second is written down, the others are replayed

#: More random programs than the tests have time for.
PROGRAMS = int(os.environ.get("AFTERGLOW_RANDOM_PROGRAMS", "60"))


class Product(gluon.HybridBlock):
    """Multiplies with a matrix."""

    def __init__(self, *shape, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.w = self.params.get("w", shape=shape, init=mx.init.Uniform(1))

    def hybrid_forward(self, F, x, w):
        return F.dot(x, w)


def hybridized(block):
    block.initialize()
    block.hybridize()
    return block


def test_an_input_that_was_the_parameter():
    block = hybridized(Product(3, 3))
    w = block.w.data()
    for _ in range(2):
        block(w)
    x = nd.array(onp.arange(9).reshape(3, 3))
    onp.testing.assert_allclose(block(x).asnumpy(), x.asnumpy() @ w.asnumpy(), rtol=1e-5, atol=1e-6)
    onp.testing.assert_allclose(block(w).asnumpy(), w.asnumpy() @ w.asnumpy(), rtol=1e-5, atol=1e-6)


def test_an_input_that_was_a_row_of_the_parameter():
    block = hybridized(Product(300, 300))
    w = block.w.data()
    for _ in range(2):
        block(w[1:2])
    x = nd.array(onp.arange(300).reshape(1, 300) / 100)
    onp.testing.assert_allclose(block(x).asnumpy(), x.asnumpy() @ w.asnumpy(), rtol=1e-4, atol=1e-4)


def test_an_input_that_was_an_array_of_the_block():
    class Block(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.state = nd.array([1, 2, 3])

        def hybrid_forward(self, F, x):
            return x * 10 + self.state

    block = hybridized(Block())
    for _ in range(2):
        block(block.state)
    assert block(nd.array([5, 5, 5])).asnumpy().tolist() == [51, 52, 53]
    assert block(block.state).asnumpy().tolist() == [11, 22, 33]


@pytest.mark.parametrize("first", ["other", "parameter"])
def test_gradients_of_an_input_that_is_the_parameter(first):
    block = hybridized(Product(3, 3))
    w, x = block.w.data(), nd.array(onp.arange(9).reshape(3, 3))
    x.attach_grad()
    for one in [x, x, w, w, x, w] if first == "other" else [w, w, x, x, w, x]:
        x.grad[:] = 0
        with autograd.record():
            y = block(one)
        y.backward()
        g, values = onp.ones((3, 3)), w.asnumpy()
        if one is x:
            onp.testing.assert_allclose(x.grad.asnumpy(), g @ values.T, rtol=1e-5, atol=1e-6)
            onp.testing.assert_allclose(w.grad.asnumpy(), x.asnumpy().T @ g, rtol=1e-5, atol=1e-6)
        else:
            onp.testing.assert_allclose(
                w.grad.asnumpy(), g @ values.T + values.T @ g, rtol=1e-5, atol=1e-6
            )
            assert not x.grad.asnumpy().any()


def test_gradients_of_a_parameter_that_the_input_was_computed_from():
    first = hybridized(Product(3, 3))
    second = Product(3, 3, params=first.params)
    second.hybridize()
    w, x = first.w.data(), nd.array(onp.arange(9).reshape(3, 3) / 9)
    for _ in range(CALLS):
        with autograd.record():
            y = second(first(x))
        y.backward()
        g, value, values = onp.ones((3, 3)), x.asnumpy(), w.asnumpy()
        expected = (value @ values).T @ g + value.T @ (g @ values.T)
        onp.testing.assert_allclose(w.grad.asnumpy(), expected, rtol=1e-5, atol=1e-6)


def test_second_derivatives_of_an_input_that_is_the_parameter():
    class Cube(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.p = self.params.get("p", shape=(1,), init=mx.init.Constant(3))

        def hybrid_forward(self, F, x, p):
            return x * x * p

    block = hybridized(Cube())
    p = block.p.data()
    for _ in range(CALLS):
        with autograd.record():
            y = block(p)  # the cube of p
            (first,) = autograd.grad(y, [p], create_graph=True)
        first.backward()
        assert (first.asscalar(), p.grad.asscalar()) == (27, 18)
        with autograd.record():
            y = block(p * p)  # the fifth power
            (first,) = autograd.grad(y, [p], create_graph=True)
        first.backward()
        assert (first.asscalar(), p.grad.asscalar()) == (405, 540)


def test_one_array_twice_and_two_arrays_over_one_memory_are_not_the_same():
    class Block(gluon.HybridBlock):
        def forward(self, x, y):
            return x * 2 + y

    block = hybridized(Block())
    x = nd.array([1, 2])
    other = x.detach()
    for array in (x, other):
        array.attach_grad()
    for step in range(CALLS):
        with autograd.record():
            y = block(x, x)
        y.backward()
        assert x.grad.asnumpy().tolist() == [3, 3], step
        with autograd.record():
            y = block(x, other)
        y.backward()
        assert x.grad.asnumpy().tolist() == [2, 2], step
        assert other.grad.asnumpy().tolist() == [1, 1], step


def test_inputs_that_overlap_are_replayed():
    class Block(gluon.HybridBlock):
        runs = 0

        def forward(self, x, y):
            type(self).runs += 1
            return x * 2 + y

    block = hybridized(Block())
    x = nd.array([1, 2, 3, 4])
    for start in range(CALLS - 1):
        found = block(x[start : start + 2], x[1:3]).asnumpy()
        assert found.tolist() == [2 * start + 4, 2 * start + 7]
    assert Block.runs == 2


def test_a_result_that_is_the_input_is_the_array_given():
    class Block(gluon.HybridBlock):
        def forward(self, x, rest):
            return [x, (rest[0], x + 1), x[:1]]

    block = hybridized(Block())
    for _ in range(CALLS):
        x, y = nd.array([1, 2]), nd.array([3])
        same, (also, more), part = block(x, [y])
        assert same is x
        assert also is y
        assert more.asnumpy().tolist() == [2, 3]
        part[:] = 7
        assert x.asnumpy().tolist() == [7, 2]


def test_writes_to_an_input_while_recording():
    class Block(gluon.HybridBlock):
        def forward(self, x, y):
            x *= y
            return x + 1

    block = hybridized(Block())
    w = nd.array([2, 3])
    w.attach_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(CALLS):
            with autograd.record():
                x = w * 1
                z = block(x, nd.array([5, 7])) + x
            z.backward()
            assert w.grad.asnumpy().tolist() == [10, 14]
            assert z.asnumpy().tolist() == [21, 43]
            y = w.copy()
            y.attach_grad()
            with autograd.record(), pytest.raises(mx.MXNetError, match="while recording"):
                block(y, w)


def test_gradients_have_memory_of_their_own():
    class Sum(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.p = self.params.get("p", shape=(3,), init="ones")

        def hybrid_forward(self, F, x, y, p):
            return x + y + p, x * 1

    block = hybridized(Sum())
    for _ in range(CALLS):
        arrays = [nd.ones((3,)), nd.ones((3,)), block.p.data()]
        for array in arrays[:2]:
            array.attach_grad()
        head = nd.array([1, 2, 3])
        with autograd.record():
            y, _ = block(*arrays[:2])
        found = autograd.grad(y, arrays, head, retain_graph=True)
        y.backward(head)
        for written in range(3):
            arrays[written].grad[:] = -written
            found[written][:] = -written
            assert [one.grad.asnumpy()[1] for one in arrays] == [
                -k if k <= written else 2 for k in range(3)
            ]
            assert [one.asnumpy()[1] for one in found] == [
                -k if k <= written else 2 for k in range(3)
            ]
        assert head.asnumpy().tolist() == [1, 2, 3]


# --- heads ---


@pytest.mark.parametrize("world", [nd, np], ids=["nd", "np"])
@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "uint8"])
@pytest.mark.parametrize("operation", ["add", "multiply"])
def test_heads_of_another_type(world, dtype, operation):
    class Block(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.p = self.params.get("p", shape=(500,), init="ones")

        def forward(self, x):
            p = self.p.data()._as_class(x._legacy)
            return x + p if operation == "add" else x * p

    def outcome(block):
        result = []
        for x in (world.ones((500,)) * 2, block.p.data()._as_class(world is nd)):
            with autograd.record():
                y = block(x)
            try:
                y.backward(world.ones((500,), dtype=dtype) * 3)
            except mx.MXNetError as error:
                result.append((type(error), str(error).split(";")[0]))
            else:
                result.append(block.p.grad().asnumpy().tolist())
        return result

    block = Block()
    block.initialize()
    expected = outcome(block)
    block.hybridize()
    for _ in range(CALLS):
        for x in (world.ones((500,)), block.p.data()._as_class(world is nd)):
            with autograd.record():
                y = block(x)
            y.backward()
    for _ in range(CALLS):
        assert outcome(block) == expected


def test_heads_of_another_type_for_a_block_that_draws():
    block = hybridized(nn.Dropout(0.5))
    x = nd.ones((50,))
    x.attach_grad()
    for _ in range(CALLS):
        with autograd.record():
            y = block(x)
    y.backward(nd.ones((50,), dtype="float64"))  # is cast to the type of the head
    assert x.grad.dtype == onp.float32
    assert x.grad.asnumpy().tolist() == y.asnumpy().tolist()


def test_the_gradient_of_a_gradient_runs_in_the_mode_of_the_call():
    class Block(gluon.HybridBlock):
        def forward(self, x):
            return nd.Dropout(x * x * x, p=0.5)

    block = hybridized(Block())
    for _ in range(CALLS):
        x = nd.array([1.0] * 50)
        x.attach_grad()
        with autograd.record(train_mode=False):
            y = block(x)
            (first,) = autograd.grad(y, [x], create_graph=True)
        assert first.asnumpy().tolist() == [3] * 50
        first.backward()
        assert x.grad.asnumpy().tolist() == [6] * 50


# --- random programs ---


class Mixer(gluon.HybridBlock):
    """Computes something of two inputs, two parameters and two arrays of its own."""

    def __init__(self, plan, **kwargs):
        super().__init__(**kwargs)
        self.plan = plan
        self.held = [nd.array([[1, 2], [3, 4]]), nd.array([[0.5, -1], [2, 0]])]
        with self.name_scope():
            self.v = self.params.get("v", shape=(2, 2), init=mx.init.Uniform(1))
            self.w = self.params.get("w", shape=(2, 2), init=mx.init.Uniform(1))

    def hybrid_forward(self, F, x, y, v, w):
        values = [x, y, v, w, *self.held]
        for step in self.plan:
            values.append(step(F, values))
        return values[-1], values[-2]


def random_plan(generator):
    """Return what a block does: functions of what it has computed so far."""
    plan = []
    for number in range(generator.randrange(2, 6)):
        a, b = (generator.randrange(6 + number) for _ in range(2))
        steps = [
            lambda F, values, a=a, b=b: values[a] * values[b],
            lambda F, values, a=a, b=b: F.dot(values[a], values[b]) + values[a],
            lambda F, values, a=a, b=b: values[a] - F.tanh(values[b]),
            lambda F, values, a=a, b=b: values[a].reshape((-1,)).reshape((2, 2)) + values[b],
            lambda F, values, a=a, b=b: F.concat(values[a][:1], values[b][1:], dim=0),
            lambda F, values, a=a, b=b: values[a].T + values[b] * 0.5,
        ]
        plan.append(generator.choice(steps))
    if generator.random() < 0.3:
        plan.insert(
            generator.randrange(len(plan)), generator.choice([write_held, write_input, write_first])
        )
    return plan


def write_held(F, values):
    with autograd.pause():
        values[4][:] = values[0] * 0.5
    return values[4] + values[5]


def write_input(F, values):
    with autograd.pause():
        values[1][:1] = values[4][:1] * 0.5
    return values[1] * 2


def write_first(F, values):
    with autograd.pause():
        values[0] += values[5]
    return values[0] - values[2]


def random_inputs(generator, block, made):
    """Return two inputs, which share memory with each other, a parameter or what the block has."""
    whole = nd.array(made.standard_normal((4, 2)))
    own = nd.array(made.standard_normal((2, 2)))
    parts = [whole[:2], whole[1:3], whole.reshape((2, 4)).reshape((4, 2))[2:], own]
    shared = [
        block.v.data(),
        block.w.data(),
        block.w.data().reshape((4,)).reshape((2, 2)),
        block.v.data().T,
        *block.held,
        block.held[0].reshape((1, 4)).reshape((2, 2)),
    ]
    first = generator.choice(parts + shared)
    second = first if generator.random() < 0.2 else generator.choice(parts + shared)
    return first, second, [whole, own]


def run_program(block, seed):
    """Call a block again and again; return all that can be seen."""
    generator, made = random.Random(seed), onp.random.default_rng(seed)
    parameters = [block.v, block.w]
    seen = []
    for _ in range(10):
        x, y, others = random_inputs(generator, block, made)
        mode = generator.choice(["plain", "plain", "training", "recorded", "recorded", "inputs"])
        variables = [p.data() for p in parameters]
        if mode == "inputs":
            for one in (x, y):
                if one.grad is None and generator.random() < 0.7:
                    one.attach_grad()
                    variables.append(one)
        if mode in ("recorded", "inputs"):
            with autograd.record(train_mode=generator.random() < 0.5):
                results = block(x, y)
                loss = results[0].sum() + (results[1] * results[1]).sum() * 0.1
            try:
                loss.backward()
            except mx.MXNetError as error:
                seen.append(onp.array([ord(letter) for letter in type(error).__name__]))
            else:
                seen.extend(one.grad.asnumpy() for one in variables)
        elif mode == "training":
            with autograd.train_mode():
                results = block(x, y)
        else:
            results = block(x, y)
        seen.extend(one.asnumpy() for one in (*results, x, y, *others, *block.held))
        target = generator.choice([x, *others, *block.held, block.w.data(), results[0]])
        target[:] = target * 0.25  # between calls, in place
        if generator.random() < 0.1:
            block.w.set_data(nd.array(made.standard_normal((2, 2))))
    return seen


@pytest.mark.parametrize("part", range(4))
def test_random_programs_whose_arrays_share_memory(part, seed):
    replayed = 0
    for number in range(part, PROGRAMS, 4):
        program = seed + number
        block = Mixer(random_plan(random.Random(program)))
        block.initialize()
        twin = copy.deepcopy(block)
        block.hybridize()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected, found = run_program(twin, program), run_program(block, program)
        replayed += any(block._block_compiled._plans.values())
        assert len(expected) == len(found), program
        for one, two in zip(expected, found, strict=True):
            # Sums of gradients are added up in another order.
            onp.testing.assert_allclose(two, one, rtol=1e-4, atol=1e-5, err_msg=str(program))
    assert replayed > 0

# SPDX-License-Identifier: Apache-2.0
"""Arrays lead to Python's objects through the tape: the garbage collector finds such cycles."""

from __future__ import annotations

import gc
import weakref

import pytest

from afterglow import _core, autograd, gluon, nd, operator
from afterglow.gluon import nn


class Witness:
    """Dies with what it is part of."""


def is_collected(make):
    """Return whether what ``make`` leaves behind, in a cycle, goes with the next collection."""
    make()  # what is made once for all is there now
    gc.collect()
    handles = _core.live_handles()
    witness = make()
    assert witness() is not None, "there is no cycle to collect"
    gc.collect()
    return witness() is None and _core.live_handles() == handles


def hybridized(block):
    block.initialize()
    block.hybridize()
    return block


def recorded(block, *inputs):
    for _ in range(4):  # replayed at last
        with autograd.record():
            result = block(*inputs)
    return result


class Two(gluon.HybridBlock):
    """Has two results."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = nn.Dense(2, in_units=2)

    def hybrid_forward(self, F, x):
        y = self.dense(x)
        return y, F.exp(y)


def kept_on_the_block():
    net = hybridized(nn.Dense(2, in_units=2))
    net.last = recorded(net, nd.ones((1, 2)))
    return weakref.ref(net)


def several_kept_on_the_block():
    net = hybridized(Two())
    net.last, net.other = recorded(net, nd.ones((1, 2)))
    with autograd.record():
        net.total = (net.last * net.other).sum()
        net.views = [net.total.reshape((1, 1)), net.last[:1], net.other.as_np_ndarray()]
    return weakref.ref(net)


def kept_through_another_block():
    first, second = hybridized(nn.Dense(2, in_units=2)), hybridized(nn.Dense(2, in_units=2))
    x = nd.ones((1, 2))
    for _ in range(4):
        with autograd.record():
            first.last = second(first(x))
    return weakref.ref(first)


def kept_in_the_argument():
    class Block(gluon.HybridBlock):
        def forward(self, x, states):
            return x * states[0]

    class List(list):
        pass

    net = hybridized(Block())
    x = nd.ones((2,))
    x.attach_grad()
    states = [x]
    y = recorded(net, x, states)
    witness = List([states])
    states.append(y)
    states.append(witness)
    return weakref.ref(witness)


class Identity(autograd.Function):
    """Passes values and gradients on."""

    def forward(self, x):
        return x * 1

    def backward(self, dy):
        return dy


def kept_on_the_function():
    x = nd.ones((2,))
    x.attach_grad()
    function = Identity()
    with autograd.record():
        function.last = function(x) * 2
    return weakref.ref(function)


def kept_behind_several_functions():
    x = nd.ones((2,))
    x.attach_grad()
    functions = [Identity() for _ in range(40)]
    with autograd.record():
        y = x
        for function in functions:
            y = y + function(y)
    functions[3].last = y
    return weakref.ref(functions[3])


def kept_by_a_gradient_of_a_gradient():
    x = nd.ones((2,))
    x.attach_grad()
    function = Identity()
    with autograd.record():
        y = function(x) ** 2
        (function.last,) = autograd.grad(y, [x], create_graph=True)
    del y
    return weakref.ref(function)


class Keeping(operator.CustomOp):
    made = None

    def forward(self, is_train, req, in_data, out_data, aux):
        type(self).made = weakref.ref(self)
        self.assign(out_data[0], req[0], in_data[0] * 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * 2)


@operator.register("test_cycles_keeping")
class KeepingProp(operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Keeping()


def kept_on_the_operator():
    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="test_cycles_keeping")
    Keeping.made().last = y
    return Keeping.made


@pytest.mark.parametrize(
    "make",
    [
        kept_on_the_block,
        several_kept_on_the_block,
        kept_through_another_block,
        kept_in_the_argument,
        kept_on_the_function,
        kept_behind_several_functions,
        kept_by_a_gradient_of_a_gradient,
        kept_on_the_operator,
    ],
    ids=lambda make: make.__name__,
)
def test_cycles_are_collected(make):
    assert is_collected(make)


def test_what_is_in_use_is_not_collected():
    x = nd.array([1, 2])
    x.attach_grad()
    net = hybridized(Two())
    function = Identity()
    with autograd.record():
        y = function(x)
    function.last = y
    z, other = recorded(net, x.reshape((1, 2)))
    net.last = other
    witnesses = [weakref.ref(function), weakref.ref(net)]
    del function, net, other
    gc.collect()
    assert all(witness() is not None for witness in witnesses)
    y.backward()
    assert x.grad.asnumpy().tolist() == [1, 1]
    with autograd.record():
        total = z.sum()
    total.backward()
    # The tape is released, and what it needed with it.
    gc.collect()
    assert all(witness() is None for witness in witnesses)


def test_the_block_of_a_gradient_of_a_gradient_may_be_forgotten():
    class Cube(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return x * x * x

    x = nd.array([2])
    x.attach_grad()
    with autograd.record():
        y = recorded(hybridized(Cube()), x)
        (first,) = autograd.grad(y, [x], create_graph=True)
    first.backward()
    assert x.grad.asscalar() == 12


def test_values_kept_after_backward_keep_no_net():
    net = hybridized(nn.Dense(2, in_units=2))
    x = nd.ones((1, 2))
    for _ in range(4):
        with autograd.record():
            loss = net(x).sum()
        loss.backward()
    witness = weakref.ref(net)
    del net
    assert witness() is None
    assert loss.shape in ((), (1,))


def test_a_list_of_arrays_is_not_looked_through():
    arrays = [nd.ones((1,)) for _ in range(100)]
    assert not any(gc.is_tracked(array) for array in arrays)
    x = nd.ones((1,))
    x.attach_grad()
    with autograd.record():
        y = x * 2 + 1
    assert not gc.is_tracked(y)


def test_locals_of_the_caller_are_not_kept():
    net = nn.Dense(2, in_units=2)
    net.initialize()
    x = nd.ones((1, 2))
    handles = _core.live_handles()
    net(x)
    x = None
    assert _core.live_handles() == handles - 1
    assert net.name  # nor are they lost


def test_layers_of_nets_that_are_gone():
    def names():
        return len(_core.trace_events()["layers"])

    def make():
        net = nn.HybridSequential(prefix="net_")
        with net.name_scope():
            net.add(nn.Dense(2, in_units=2), nn.Dense(2, in_units=2))
        net.initialize()
        net(nd.ones((1, 2)))

    make()
    before = names()
    for _ in range(50):
        make()
    assert names() == before

# SPDX-License-Identifier: Apache-2.0
"""Every gradient has memory of its own: changing one in place changes nothing else."""

from __future__ import annotations

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np


class HandsOn(autograd.Function):
    """A sum whose backward returns one and the same array for both inputs."""

    def forward(self, a, b):
        return a + b

    def backward(self, gradient):
        return gradient, gradient


class ReturnsInput(autograd.Function):
    """Its gradients are arrays that it saved: the inputs themselves."""

    def forward(self, a, b):
        self.save_for_backward(a, b)
        return a * b

    def backward(self, gradient):
        a, b = self.saved_tensors
        return b, a


class KeepsGradient(autograd.Function):
    """What it returns stays in the hands of the user."""

    kept: list = []  # noqa: RUF012

    def forward(self, a, b):
        return a - b

    def backward(self, gradient):
        first, second = gradient * 1, -gradient
        self.kept[:] = [first, second]
        return first, second


class FromNumPy(autograd.Function):
    """Its gradient borrows memory of a NumPy array."""

    memory = onp.zeros(0)

    def forward(self, a, b):
        return a + b * 2

    def backward(self, gradient):
        FromNumPy.memory = onp.array(gradient.asnumpy())
        return nd.from_numpy(self.memory, zero_copy=True), gradient * 2


class CustomSum(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] + in_data[1])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        for target in in_grad:
            self.assign(target, req[0], out_grad[0])


@mx.operator.register("sum_of_two_that_hands_on")
class CustomSumProp(mx.operator.CustomOpProp):
    def list_arguments(self):
        return ["a", "b"]

    def create_operator(self, ctx, shapes, dtypes):
        return CustomSum()


#: Of two variables of shape (2, 3). The rules of most hand their gradient on, or a view of it.
PROGRAMS = {
    "add": lambda a, b: a + b,
    "add three": lambda a, b: a + b + a,
    "subtract": lambda a, b: a - b,
    "subtract negative": lambda a, b: a - (-b),
    "one twice": lambda a, b: (a + a) + (b + b),
    "modulo": lambda a, b: (a % 100) + (b % 100),
    "copy": lambda a, b: a.copy() + b.copy(),
    "cast": lambda a, b: a.astype("float32") + b.astype("float64").astype("float32"),
    "reshape": lambda a, b: a.reshape((3, 2)) + b.reshape((3, 2)),
    "reshape back": lambda a, b: a.reshape((6,)).reshape((2, 3)) + b,
    "flat sum": lambda a, b: a.reshape((-1,)) + b.reshape((-1,)),
    "transpose": lambda a, b: a.transpose((1, 0)) + b.transpose((1, 0)),
    "all of it": lambda a, b: a[:] + b[0:2],
    "rows": lambda a, b: a[0:1] + b[1:2],
    "one row": lambda a, b: a[0] + b[1],
    "strided": lambda a, b: a[:, ::2] + b[:, ::2],
    "scalars": lambda a, b: a[0, 0] + b[1, 1],
    "reductions": lambda a, b: a.sum() + b.mean(),
    "broadcast": lambda a, b: a.sum(axis=0) + b,
    "product": lambda a, b: a * b,
    "with constants": lambda a, b: (a + 1) * 2 + (b - 1),
    "clipped": lambda a, b: a.clip(-1e3, 1e3) + b,
    "cut off": lambda a, b: a + b.detach() + b,
    "untouched": lambda a, b: a + b.detach(),
}
IN_ND = {
    "expand": lambda a, b: a.expand_dims(axis=0) + b.expand_dims(axis=0),
    "concat": lambda a, b: nd.concat(a, b, dim=0),
    "stack": lambda a, b: nd.stack(a, b),
    "split": lambda a, b: nd.split(a, 3, axis=1)[1] + nd.split(b, 3, axis=1)[2],
    "elemwise": lambda a, b: nd.ElementWiseSum(a, b),
    "identity": lambda a, b: nd.identity(a) + nd.BlockGrad(b) + b,
    "flatten": lambda a, b: nd.flatten(a) + nd.flatten(b),
    "make loss": lambda a, b: nd.MakeLoss(a + b),
    "dropout": lambda a, b: nd.Dropout(a, p=0.0) + nd.Dropout(b, p=0.0),
    "where": lambda a, b: nd.where(a > 0, a, b),
    "layer norm": lambda a, b: nd.LayerNorm(nd.ones((4, 3)), a[0], b[0]),
    "another device": lambda a, b: a.as_in_context(mx.cpu(1)) + b.as_in_context(mx.cpu(1)),
    "dense": lambda a, b: nd.FullyConnected(nd.ones((1, 3)), a, b[:, 0], num_hidden=2),
}
IN_NP = {
    "expand": lambda a, b: np.expand_dims(a, 0) + np.expand_dims(b, 0),
    "concatenate": lambda a, b: np.concatenate([a, b]),
    "add": np.add,
    "ravel": lambda a, b: np.ravel(a) + np.ravel(b),
    "squeeze": lambda a, b: np.squeeze(a[None]) + np.squeeze(b[None]),
    "atleast": lambda a, b: np.broadcast_to(a, (2, 3)) + np.broadcast_to(b, (2, 3)),
    "tensordot": lambda a, b: np.tensordot(a, b, axes=([1], [1])),
}
#: These run Python backward, so they are not hybridized.
OWN = {
    "function that hands on": lambda a, b: HandsOn()(a, b),
    "function that returns its inputs": lambda a, b: ReturnsInput()(a, b),
    "function whose gradients are kept": lambda a, b: KeepsGradient()(a, b),
    "function over NumPy's memory": lambda a, b: FromNumPy()(a, b),
    "custom op": lambda a, b: nd.Custom(a, b, op_type="sum_of_two_that_hands_on"),
}

_cases = [
    *(pytest.param(nd, one, id=f"nd {name}") for name, one in {**PROGRAMS, **IN_ND}.items()),
    *(pytest.param(np, one, id=f"np {name}") for name, one in {**PROGRAMS, **IN_NP}.items()),
]
_own = [pytest.param(nd, one, id=name) for name, one in OWN.items()]
#: Without those that have no gradient for one of the variables.
_reaching = [case for case in (*_cases, *_own) if case.values[1] is not PROGRAMS["untouched"]]


def _variables(world, request="write"):
    a = world.array(onp.arange(1, 7, dtype=onp.float32).reshape(2, 3))
    b = world.array(onp.arange(7, 13, dtype=onp.float32).reshape(2, 3))
    a.attach_grad(request)
    b.attach_grad(request)
    return [a, b]


def _head_gradient(world, y):
    values = onp.arange(1, y.size + 1, dtype=onp.float32).reshape(y.shape)
    return world.array(values, ctx=y.context)


def _changed_in_place(gradients, others):
    """Change the gradients one after another; return all values as they should and as they are."""
    wanted = [array.asnumpy() for array in (*gradients, *others)]
    for place, gradient in enumerate(gradients):
        gradient[:] = 1000 + place
        wanted[place] = onp.full_like(wanted[place], 1000 + place)
    return wanted, [array.asnumpy() for array in (*gradients, *others)]


def _check(gradients, others):
    for wanted, found in zip(*_changed_in_place(gradients, others), strict=True):
        onp.testing.assert_array_equal(found, wanted)


def _backward(world, program, request, given):
    variables = _variables(world, request)
    for _ in range(2):  # the second takes the place of a gradient that was computed
        with autograd.record():
            y = program(*variables)
        head = _head_gradient(world, y) if given else None
        y.backward(head)
    return variables, [*variables, y, *([head] if given else [])]


@pytest.mark.parametrize("given", [True, False], ids=["head given", "ones"])
@pytest.mark.parametrize("request_", ["write", "add"])
@pytest.mark.parametrize(("world", "program"), [*_cases, *_own])
def test_backward(world, program, request_, given):
    reference = [one.grad.asnumpy() for one in _backward(world, program, request_, given)[0]]
    variables, others = _backward(world, program, request_, given)
    gradients = [one.grad for one in variables]
    gradients[0][:] = 1000  # at once, while the other may not be computed yet
    onp.testing.assert_array_equal(gradients[1].asnumpy(), reference[1])
    _check(gradients, [*others, *KeepsGradient.kept])


@pytest.mark.parametrize("name", ["add", "copy", "flat sum", "one twice", "cut off", "product"])
def test_memory_from_the_pool(name):
    variables = [nd.random.normal(shape=(200, 300)) for _ in range(2)]
    for one in variables:
        one.attach_grad()
    with autograd.record():
        y = PROGRAMS[name](*variables)
    head = nd.random.normal(shape=y.shape)
    y.backward(head, retain_graph=True)
    results = autograd.grad(y, [*variables, y], head)
    _check([*(one.grad for one in variables), *results], [*variables, y, head])


def test_memory_borrowed_from_numpy_is_not_a_gradient():
    variables = _variables(nd)
    with autograd.record():
        y = FromNumPy()(*variables)
    y.backward()
    variables[0].grad[:] = 5
    variables[0].grad.wait_to_read()
    assert FromNumPy.memory.tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("create_graph", [False, True], ids=["", "create_graph"])
@pytest.mark.parametrize("given", [True, False], ids=["head given", "ones"])
@pytest.mark.parametrize(("world", "program"), _reaching)
def test_grad(world, program, given, create_graph):
    variables = _variables(world)
    with autograd.record():
        y = program(*variables)
    head = _head_gradient(world, y) if given else None
    wanted = [*variables, variables[0]]
    results = autograd.grad(y, wanted, head, create_graph=create_graph)
    _check(results, [*variables, y, *([head] if given else []), *KeepsGradient.kept])


@pytest.mark.parametrize("world", [nd, np])
def test_grad_of_heads_themselves(world):
    variables = _variables(world)
    with autograd.record():
        y = variables[0] + variables[1]
        z = y.reshape((6,))
    heads = [_head_gradient(world, y), _head_gradient(world, z)]
    _check(autograd.grad([y, z], [y, z, *variables], heads), [*heads, *variables, y, z])


@pytest.mark.parametrize("world", [nd, np])
def test_backward_of_variables_themselves(world):
    for heads in ([0], [0, 1], [0, 0], [0, 1, 0]):
        variables = _variables(world)
        given = _head_gradient(world, variables[0])
        autograd.backward([variables[i] for i in heads], [given] * len(heads))
        _check([one.grad for one in variables], [*variables, given])


def test_head_gradient_can_be_used_again():
    x, head = _variables(nd)[0], nd.array([[1, 2, 3], [4, 5, 6]])
    with autograd.record():
        y = x.copy()
    y.backward(head, retain_graph=True)
    x.grad[:] = 0
    y.backward(head)
    assert x.grad.asnumpy().tolist() == [[1, 2, 3], [4, 5, 6]]


def test_results_of_a_recorded_gradient_are_differentiated_again():
    a, b = _variables(nd)
    with autograd.record():
        y = a * a + b
    first, second, again = autograd.grad(y, [a, b, a], create_graph=True)
    assert second.asnumpy().tolist() == [[1, 1, 1], [1, 1, 1]]
    with autograd.record():
        z = (first * again).sum()
    z.backward()
    onp.testing.assert_array_equal(a.grad.asnumpy(), 8 * a.asnumpy())


def _hybridized(program):
    class Block(gluon.HybridBlock):
        def hybrid_forward(self, F, a, b):
            return program(a, b)

    block = Block()
    block.initialize()
    block.hybridize()
    return block


@pytest.mark.parametrize(("world", "program"), _cases)
def test_hybridized(world, program):
    block = _hybridized(program)
    variables = _variables(world)
    for _ in range(4):  # as it is, written down, and twice as a whole
        with autograd.record():
            y = block(*variables)
        head = _head_gradient(world, y)
        y.backward(head)
        wanted, found = _changed_in_place([one.grad for one in variables], [*variables, y, head])
        for should, now in zip(wanted, found, strict=True):
            onp.testing.assert_array_equal(now, should)
        with autograd.record():
            y = block(*variables)
        if program is not PROGRAMS["untouched"]:
            results = autograd.grad(y, [*variables, variables[0]], head)
            _check(results, [*variables, y, head, *(one.grad for one in variables)])


class Biases(gluon.HybridBlock):
    """Parameters that are added, so that their gradients are equal."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.p = self.params.get("p", shape=(3,), init="zeros")
            self.q = self.params.get("q", shape=(3,), init="zeros")

    def hybrid_forward(self, F, x, p, q):
        return x * 1 + p + q


@pytest.mark.parametrize("hybridize", [False, True])
def test_clip_global_norm(hybridize):
    net = Biases()
    net.initialize()
    if hybridize:
        net.hybridize()
    for _ in range(4):
        with autograd.record():
            y = net(nd.ones((3,)))
        y.backward()
        gradients = [one.grad() for one in net.collect_params().values()]
        gluon.utils.clip_global_norm(gradients, 1.0)
        norm = sum((one.asnumpy() ** 2).sum() for one in gradients) ** 0.5
        onp.testing.assert_allclose(norm, 1, rtol=1e-5)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("settings", [{"update_on_kvstore": False}, {}])
def test_trainer_with_two_devices(hybridize, settings):
    devices = [mx.cpu(0), mx.cpu(1)]
    net = Biases()
    net.initialize(ctx=devices)
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0}, **settings)
    for step in range(1, 5):
        with autograd.record():
            losses = [net(nd.ones((3,), ctx=device)) for device in devices]
        autograd.backward(losses)
        trainer.step(1)
        for parameter in net.collect_params().values():
            for data in parameter.list_data():
                assert data.asnumpy().tolist() == [-2 * step] * 3
        _check([one for p in net.collect_params().values() for one in p.list_grad()], [])


@pytest.mark.parametrize(
    "name", sorted(set(mx.optimizer.Optimizer.opt_registry) - {"sgld", "groupadagrad"})
)
def test_states_of_optimizers_are_not_gradients(name):
    found = []
    for change in (False, True):
        net = Biases()
        net.initialize()
        trainer = gluon.Trainer(net.collect_params(), name)
        for _ in range(3):
            with autograd.record():
                y = net(nd.ones((3,)))
            y.backward()
            trainer.step(1)
            if change:
                for parameter in net.collect_params().values():
                    parameter.grad()[:] = 1000
        found.append([one.data().asnumpy().tolist() for one in net.collect_params().values()])
    assert found[0] == found[1]


@pytest.mark.parametrize("request_", ["write", "add"])
def test_executor(request_):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    arrays = {name: nd.array([1.0, 2.0, 3.0]) for name in "ab"}
    gradients = {name: nd.zeros((3,)) for name in "ab"}
    run = (a + b).bind(mx.cpu(), arrays, args_grad=gradients, grad_req=request_)
    head = nd.array([1.0, 2.0, 3.0])
    for _ in range(2):
        (y,) = run.forward(is_train=True)
        run.backward(head)
        assert run.grad_dict["a"] is gradients["a"]
    _check(list(gradients.values()), [*arrays.values(), y, head])


def test_marked_variables_keep_the_memory_given():
    a, b = nd.ones((3,)), nd.ones((3,))
    gradients = [nd.zeros((3,)), nd.zeros((3,))]
    autograd.mark_variables([a, b], gradients)
    head = nd.array([1.0, 2.0, 3.0])
    with autograd.record():
        y = a + b
    y.backward(head)
    assert [one.asnumpy().tolist() for one in gradients] == [[1, 2, 3]] * 2
    _check(gradients, [a, b, y, head])


def test_nothing_is_copied_where_the_walk_alone_holds_a_gradient():
    a, b = _variables(nd)
    for program, calls in (
        (lambda: a * b, 3),  # ones, and a product for each
        (lambda: (a * b).sum(), 4),  # ones, the same stretched, and a product for each
        (lambda: (a + b).sum(), 3),  # ones, the same stretched, and a copy for one of the two
        (lambda: HandsOn()(a, b), 2),  # ones, and a copy for one of the two
        (lambda: KeepsGradient()(a, b) * 1, 2 + 2 + 2),  # what the user keeps is copied
    ):
        with autograd.record():
            y = program()
        before = mx.engine.stats()["issued"]
        y.backward()
        assert mx.engine.stats()["issued"] - before == calls

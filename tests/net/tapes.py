# SPDX-License-Identifier: Apache-2.0
"""Short programs for what no single call shows: tapes, writes, Python's own gradients, loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp

import afterglow as mx
from afterglow import autograd, gluon


def _variable(world: Any, *shape: int, grad_req: str = "write") -> Any:
    """Return an array of some numbers that has a gradient."""
    host = onp.linspace(-2, 3, int(onp.prod(shape)), dtype="float32").reshape(shape)
    array = world.array(host)
    array.attach_grad(grad_req)
    return array


class _Cube(autograd.Function):
    """A function with a gradient of its own."""

    def forward(self, x: Any) -> Any:
        self.save_for_backward(x)
        return x * x * x

    def backward(self, dy: Any) -> Any:
        (x,) = self.saved_tensors
        return 3 * x * x * dy


class _Square(mx.operator.CustomOp):
    """An op of the user's."""

    def forward(self, is_train: Any, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.assign(out_data[0], req[0], in_data[0] * in_data[0])

    def backward(
        self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any
    ) -> None:
        self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])


@mx.operator.register("net_square")
class _SquareProp(mx.operator.CustomOpProp):
    """What the op of the user's is like."""

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Any:
        return _Square()


def twice(world: Any) -> Any:
    """Two backward passes through one graph, into a sum of gradients."""
    x = _variable(world, 2, 3, grad_req="add")
    with autograd.record():
        y = (x * x + x.exp() if world is mx.nd else x * x + mx.np.exp(x)).sum()
    y.backward(retain_graph=True)
    y.backward()
    return y, x.grad


def thrice(world: Any) -> Any:
    """The third derivative."""
    x = _variable(world, 4)
    with autograd.record():
        y = x * x * x * x
        (first,) = autograd.grad(y, [x], create_graph=True)
        (second,) = autograd.grad(first, [x], create_graph=True)
    second.backward()
    return first, second, x.grad


def heads(world: Any) -> Any:
    """Several heads, with and without gradients of their own."""
    x, y = _variable(world, 3), _variable(world, 3)
    with autograd.record():
        made = [x * y, x + y, y.detach() * x]
    autograd.backward(made, [None, world.array([1.0, 2.0, 3.0]), None])
    return made, x.grad, y.grad


def writes(world: Any) -> Any:
    """Parts, rows and whole arrays that are written while a tape records."""
    x, y = _variable(world, 3, 4), _variable(world, 4)
    with autograd.record():
        z = x * 2
        z[1] = y * y
        z[:, 2:] *= 3
        z[[2, 0], [1, 0]] = 5
        z += x
        w = z.T[1:3] * z[0, 1]
    w.backward()
    return z, w, x.grad, y.grad


def into_out(world: Any) -> Any:
    """Results into given arrays while a tape records."""
    x, target = _variable(world, 3), world.zeros((3,))
    space = mx.nd if world is mx.nd else mx.np
    with autograd.record():
        space.square(x, out=target)
        y = target * x
    y.backward()
    return target, x.grad


def overwritten(world: Any) -> Any:
    """A value that a gradient needs and that has changed: an error."""
    x = _variable(world, 3)
    with autograd.record():
        y = x * 2
        z = y * y
    y[:] = 1
    z.backward()
    return x.grad


def spent(world: Any) -> Any:
    """A graph that is gone: an error."""
    x = _variable(world, 3)
    with autograd.record():
        y = x * x
    y.backward()
    y.backward()


def nothing_recorded(world: Any) -> Any:
    """A value that no tape knows: an error."""
    (_variable(world, 3) * 2).backward()


def functions(world: Any) -> Any:
    """Gradients that Python computes, of first and second order."""
    x = _variable(world, 2, 3)
    with autograd.record():
        y = _Cube()(x * 2) + x
        (slope,) = autograd.grad(y, [x], create_graph=True)
    slope.backward()
    return y, slope, x.grad


def custom_ops(world: Any) -> Any:
    """An op of the user's."""
    x = _variable(world, 2, 3)
    with autograd.record():
        y = mx.operator.custom(x.as_nd_ndarray() * 3, op_type="net_square")
    y.backward()
    return y, x.grad


def loops(world: Any) -> Any:
    """The three functions of control flow."""
    x = _variable(mx.nd, 3, 2)
    contrib = mx.nd.contrib
    with autograd.record():
        outs, states = contrib.foreach(lambda a, s: (a * s[0], [s[0] + a]), x, [mx.nd.ones((2,))])
        rows, last = contrib.while_loop(
            lambda i, s: i < 3, lambda i, s: (s, [i + 1, s * s]), [mx.nd.zeros((1,)), x[1]], 4
        )
        chosen = contrib.cond(x[0, 0] < 0, lambda: x * 2, lambda: x * 3)
        total = outs.sum() + states[0].sum() + rows.sum() + last[1].sum() + chosen.sum()
    total.backward()
    return outs, states, rows, last, chosen, x.grad


def modes(world: Any) -> Any:
    """Switches of recording and training within each other."""
    x = _variable(world, 3)
    seen = []
    with autograd.record(train_mode=False):
        seen.append((autograd.is_recording(), autograd.is_training()))
        with autograd.train_mode():
            y = x * 2
            with autograd.pause():
                z = y * 3
                seen.append((autograd.is_recording(), autograd.is_training()))
        w = y * z
    w.backward()
    return seen, w, x.grad


class _Mixed(gluon.HybridBlock):
    """A block with statements of many kinds."""

    def hybrid_forward(self, F: Any, x: Any, y: Any) -> Any:
        z = x * 2 + y
        z[1:2] = 7
        return (z[0] * y).sum(axis=0) if x.shape[0] > 2 else z - x.mean(), z.reshape((-1,))


def hybridized(world: Any) -> Any:
    """A block with writes and a choice by shape, replayed for two shapes in turns."""
    block = _Mixed()
    block.hybridize()
    seen = []
    for rows in (2, 3, 2, 3, 2, 3, 2, 3):
        x, y = _variable(world, rows, 4), _variable(world, rows, 4)
        with autograd.record():
            first, second = block(x, y)
            total = (first * first).sum() + second.sum()
        total.backward()
        seen += [first, second, x.grad, y.grad]
    return seen


def strides(world: Any) -> Any:
    """Views of views, backwards and transposed, with their gradients."""
    x = _variable(world, 4, 6)
    with autograd.record():
        y = x[::2, ::-1].T[1:5:2] * x.reshape((2, 12))[:, 3:5].T
        z = x[1:].reshape((-1,))[3:15].reshape((3, 4))
    autograd.backward([y, z])
    return y, z, x.grad


#: Each takes ``nd`` or ``np`` and returns what is seen.
TAPES: list[Callable[[Any], Any]] = [
    *(twice, thrice, heads, writes, into_out, overwritten, spent, nothing_recorded, functions),
    *(custom_ops, loops, modes, hybridized, strides),
]

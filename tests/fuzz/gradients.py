# SPDX-License-Identifier: Apache-2.0
"""Every gradient changed in place after every backward: nothing else may change with it.

Variables, heads, values and the other gradients keep what they had, and the next backward pass
gives what the first one gave.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as onp

import afterglow as mx
from afterglow import autograd, gluon

from ._samples import Host, Samples
from ._seeds import run_programs


def run(seed: int, seconds: float) -> int:
    """Run programs."""
    return run_programs(seed, seconds, _program)


def _program(seed: int) -> None:
    samples = Samples(seed)
    if samples.random.random() < 0.5:
        mx.npx.set_np()
    try:
        _Program(samples).run()
    finally:
        mx.npx.reset_np()


class _Program:
    """A few variables, values made of them, and a backward pass that is repeated."""

    def __init__(self, samples: Samples) -> None:
        self.samples, self.random = samples, samples.random
        self.world: Any = mx.np if mx.util.is_np_array() else mx.nd
        self.dtype = self.random.choice(["float32", "float64"])
        self.shape = self.random.choice([(3,), (2, 3), (1,), (40, 30), (5000,)])
        self.variables = [self.array() for _ in range(self.random.randint(1, 4))]
        self.requests = [self.random.choice(["write", "write", "add"]) for _ in self.variables]
        for variable, request in zip(self.variables, self.requests, strict=True):
            variable.attach_grad(grad_req=request)
        net = gluon.nn.HybridLambda(lambda F, x, y: x + y)
        if self.random.random() < 0.3:
            net.hybridize()
        self.net = net if self.random.random() < 0.5 else operator.add
        self.plan = [self.random.randrange(1000) for _ in range(self.random.randint(1, 6))]

    def array(self) -> Any:
        host = self.samples.values(self.shape, self.dtype, special=False)
        return self.world.array(host, dtype=self.dtype)

    def values(self) -> list[Any]:
        """Return what the statements of the plan make, the same for the same plan."""
        made = list(self.variables)
        for number in self.plan:
            x, y = made[number % len(made)], made[number // 7 % len(made)]
            statements: list[Callable[[], Any]] = [
                lambda x=x, y=y: self.net(x, y),
                lambda x=x, y=y: x - y,
                lambda x=x: x.copy(),
                lambda x=x: x.reshape((-1,)).reshape(self.shape),
                lambda x=x: x * 1,
                lambda x=x, y=y: x * y,
                lambda x=x: -x,
                lambda x=x: x.astype(self.dtype, copy=False),
                lambda x=x: x[:],
                lambda x=x: x + 2,
            ]
            made.append(statements[number % len(statements)]())
        every = made[0]
        for variable in made[1 : len(self.variables)]:
            every = every + variable
        return [*made[len(self.variables) :], every + 0]

    def run(self) -> None:
        heads: list[Any] = [self.array() for _ in range(2)]
        if self.random.random() < 0.3:
            heads[1] = heads[0]
        before: list[Host] | None = None
        for _ in range(3):
            for variable, request in zip(self.variables, self.requests, strict=True):
                if request == "add":
                    variable.grad[:] = 0
            with autograd.record():
                made = self.values()
            targets = made[-2:]
            given = heads[: len(targets)]
            if self.random.random() < 0.3:
                gradients = autograd.grad(targets, self.variables, given, retain_graph=True)
            else:
                again = self.random.random() < 0.3
                autograd.backward(targets, given, retain_graph=again)
                if again and "add" not in self.requests:
                    autograd.backward(targets, given)
                gradients = [variable.grad for variable in self.variables]
            after = [gradient.asnumpy() for gradient in gradients]
            if before is not None:
                for one, other in zip(before, after, strict=True):
                    # A replayed pass may sum in another order.
                    scale = 1e-5 * (1 + float(onp.abs(one).max()))
                    onp.testing.assert_allclose(one, other, rtol=1e-5, atol=scale)
            before = after
            self.change_each(gradients, [*self.variables, *heads, *made])

    def change_each(self, gradients: list[Any], others: list[Any]) -> None:
        """Change one gradient after another; whatever else is there must stay as it is."""
        kept = [other.asnumpy() for other in others]
        hosts = [gradient.asnumpy() for gradient in gradients]
        changes: list[Callable[[Any], None]] = [_fill, _scale, _add, _write_part, _clip]
        for number, gradient in enumerate(gradients):
            change = self.random.choice(changes)
            change(gradient)
            hosts[number] = gradient.asnumpy()
            for place, (other, host) in enumerate(zip(gradients, hosts, strict=True)):
                assert onp.array_equal(other.asnumpy(), host), (
                    f"{change.__name__} of gradient {number} has changed gradient {place}"
                )
            for place, (other, host) in enumerate(zip(others, kept, strict=True)):
                assert onp.array_equal(other.asnumpy(), host), (
                    f"{change.__name__} of gradient {number} has changed array {place}"
                )


def _fill(gradient: Any) -> None:
    gradient[:] = 7


def _scale(gradient: Any) -> None:
    gradient *= 3


def _add(gradient: Any) -> None:
    gradient += 1


def _write_part(gradient: Any) -> None:
    gradient[:1] = 5


def _clip(gradient: Any) -> None:
    gluon.utils.clip_global_norm([gradient], 1e-3)

# SPDX-License-Identifier: Apache-2.0
"""Hybridized blocks answer as they do otherwise, whatever inputs share memory with.

An input may be a parameter, a view of one, an array that the block holds, another input, or a view
of it, in some calls and not in others. Between calls all of them are written to.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as onp

import afterglow as mx
from afterglow import autograd, gluon

from ._samples import Host, Samples
from ._seeds import run_programs

ROWS, COLUMNS = 4, 3
#: Of the arrays that a call shows, the gradients come first, if there are any.
GRADIENTS, VALUES = 2, 13


def run(seed: int, seconds: float) -> int:
    """Run programs."""
    return run_programs(seed, seconds, _program)


def _program(seed: int) -> None:
    samples = Samples(seed)
    if samples.random.random() < 0.5:
        mx.npx.set_np()
    try:
        with warnings.catch_warnings():
            # That a block runs as it is, and why, is said in a warning.
            warnings.filterwarnings("ignore", message="hybridize: ")
            _compare(seed, samples.random.randint(3, 8))
    finally:
        mx.npx.reset_np()


def _compare(seed: int, calls: int) -> None:
    plain, hybridized = _Twin(seed), _Twin(seed)
    hybridized.block.hybridize()
    for call in range(calls):
        one, other = plain.call(call), hybridized.call(call)
        for number, (ours, theirs) in enumerate(zip(one, other, strict=True)):
            where = f"call {call}, result {number}: hybridized is first"
            if number < GRADIENTS and len(one) > VALUES:  # their sums may be in another order
                scale = 1e-5 * (1 + float(onp.abs(ours).max()))
                onp.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=scale, err_msg=where)
            else:
                onp.testing.assert_array_equal(theirs, ours, err_msg=where)


class _Block(gluon.HybridBlock):
    """A few statements over inputs, parameters and arrays from outside, chosen by a seed."""

    def __init__(self, seed: int, held: list[Any]) -> None:
        super().__init__()
        self.seed = seed
        self.held = held
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(ROWS, COLUMNS), init="normal")
            self.scale = self.params.get("scale", shape=(1, COLUMNS), init="ones")

    def hybrid_forward(self, F: Any, x: Any, y: Any, weight: Any, scale: Any) -> Any:
        rng = Samples(self.seed + 1).random
        values = [x, y, weight, *self.held, scale]
        numpy = mx.util.is_np_array()
        add = F.np.add if numpy else F.broadcast_add
        multiply = F.np.multiply if numpy else F.broadcast_mul
        for _ in range(rng.randint(2, 6)):
            left, right = rng.choice(values[:-1]), rng.choice(values)
            statement = rng.randrange(7)
            if statement == 0:
                values.insert(0, add(left, right))
            elif statement == 1:
                values.insert(0, multiply(left, right))
            elif statement == 2:
                values.insert(0, left * 2 - 1)
            elif statement == 3:
                values.insert(0, left - rng.choice([x, weight, y]))
            elif statement == 4:
                made = left + 0
                made[1:2] = 5
                values.insert(0, made)
            elif statement == 5:
                values.insert(0, left.reshape((-1,)).reshape((ROWS, COLUMNS)))
            else:
                values.insert(0, add(left[1:2], scale) + left * 0)
        return multiply(values[0], scale), add(values[1], weight), y + weight


class _Twin:
    """A block with its arrays; two of the same seed differ in nothing but being hybridized."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        samples = Samples(seed)
        self.world: Any = mx.np if mx.util.is_np_array() else mx.nd
        self.pool = [self.made(samples) for _ in range(4)]
        self.table = self.world.array(samples.host.uniform(-1, 1, (3 * ROWS, COLUMNS)))
        held = [self.pool[0], self.table[ROWS : 2 * ROWS]]
        self.block = _Block(seed, held[: samples.random.randint(0, 2)])
        mx.random.seed(seed)
        self.block.initialize()
        self.pool += [self.table[0:ROWS], self.table[ROWS : 2 * ROWS], self.table[1 : ROWS + 1]]

    def made(self, samples: Samples) -> Any:
        return self.world.array(samples.host.uniform(-1, 1, (ROWS, COLUMNS)))

    def call(self, number: int) -> list[Host]:
        """Call the block with arrays that the number chooses; return all that can be seen of it."""
        samples = Samples(self.seed * 1000 + number)
        rng = samples.random
        choices = [*self.pool, self.block.weight.data(), self.block.weight.data()[:]]
        x, y = rng.choice(choices), rng.choice([*choices, self.made(samples)])
        if rng.random() < 0.2:
            y = x
        seen: list[Any] = []
        if rng.random() < 0.6:
            wanted = [self.block.weight, self.block.scale]
            with autograd.record():
                results = self.block(x, y)
            heads = [self.made(samples) for _ in results]
            autograd.backward(list(results), heads)
            seen += [parameter.grad() for parameter in wanted]
        else:
            results = self.block(x, y)
        seen += results
        hosts = [array.asnumpy() for array in seen]
        # Results are the caller's own: writing to them changes nothing else.
        for result in results:
            result += 1
        rng.choice(choices)[rng.randrange(ROWS)] = rng.random()
        everything = [*self.pool, self.table, self.block.weight.data(), self.block.scale.data()]
        return hosts + [array.asnumpy() for array in everything]

# SPDX-License-Identifier: Apache-2.0
"""Random programs with random failures: exactly what depends on a failed call raises."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as onp
import pytest
from support import raises_at_the_read

import afterglow as mx
from afterglow import _core

pytestmark = raises_at_the_read

STATEMENTS = 40


@dataclass
class Variable:
    """An array of ours beside what it must be: host memory, and whether that memory is lost."""

    array: Any
    host: onp.ndarray[Any, Any]
    lost: list[bool] = field(default_factory=lambda: [False])  #: shared by all views

    def covers(self) -> bool:
        return self.host.base is None


class Machine:
    def __init__(self, seed: int, front: Any, size: int) -> None:
        self.random = random.Random(seed)
        self.front = front
        self.size = size
        self.injected = 0
        self.variables = [self.fresh() for _ in range(3)]

    def fresh(self) -> Variable:
        host = onp.arange(self.size, dtype=onp.int32) + self.random.randrange(100)
        return Variable(self.front.array(host, dtype="int32"), host)

    def any(self) -> Variable:
        return self.random.choice(self.variables)

    def pair(self) -> tuple[Variable, Variable]:
        one = self.any()
        other = self.random.choice([v for v in self.variables if v.host.shape == one.host.shape])
        return one, other

    def check(self, variable: Variable) -> None:
        if variable.lost[0]:
            with pytest.raises(mx.MXNetError, match=f"injected(.|\\n)*{re.escape(__file__)}"):
                variable.array.asnumpy()
        else:
            onp.testing.assert_array_equal(variable.array.asnumpy(), variable.host)

    def step(self) -> None:
        fails = self.random.random() < 0.25
        statement = self.random.choice(
            [
                self.new,
                self.new,
                self.new,
                self.in_place,
                self.store,
                self.into,
                self.view,
                self.look,
            ]
        )
        if fails and statement not in (self.view, self.look):
            self.injected += 1
            _core.inject_failure(0, self.random.randrange(6))
            statement(True)
        else:
            statement(False)
        while len(self.variables) > 8:
            del self.variables[self.random.randrange(len(self.variables))]

    def new(self, fails: bool) -> None:
        one, other = self.pair()
        choice = self.random.randrange(4)
        lost = fails or one.lost[0] or (choice < 2 and other.lost[0])
        if choice == 0:
            made = one.array + other.array, one.host + other.host
        elif choice == 1:
            made = one.array * other.array, one.host * other.host
        elif choice == 2:
            made = one.array - 3, one.host - 3
        else:
            made = self.front.abs(one.array), onp.abs(one.host)
        self.variables.append(Variable(*made, [lost]))

    def in_place(self, fails: bool) -> None:
        one, other = self.pair()
        lost = fails or one.lost[0] or other.lost[0]
        one.array += other.array
        one.host += other.host
        one.lost[0] = lost

    def store(self, fails: bool) -> None:
        target, source = self.pair()
        number = self.random.random() < 0.4
        source_lost = not number and source.lost[0]
        half = len(target.host) // 2
        part = self.random.random() < 0.5
        key = slice(half, None) if part else slice(None)
        value = (7, 7) if number else (source.array[key], source.host[key].copy())
        target.array[key] = value[0]
        target.host[key] = value[1]
        covers = target.covers() and len(target.host[key]) == len(target.host)
        target.lost[0] = fails or source_lost or (target.lost[0] and not covers)

    def into(self, fails: bool) -> None:
        one, other = self.pair()
        source = self.any()
        if source.host.shape != one.host.shape:
            source = other
        lost = fails or source.lost[0]
        self.front.abs(source.array, out=one.array)
        one.host[:] = onp.abs(source.host)
        one.lost[0] = lost or (one.lost[0] and not one.covers())

    def view(self, fails: bool) -> None:
        base = self.any()
        if len(base.host) >= 4:
            key = slice(len(base.host) // 4, None)
            self.variables.append(Variable(base.array[key], base.host[key], base.lost))

    def look(self, fails: bool) -> None:
        self.check(self.any())


@pytest.mark.parametrize("front", ["nd", "np"])
@pytest.mark.parametrize(("programs", "size"), [(155, 9), (15, 60_000)])
def test_exactly_the_dependants_raise(front: str, programs: int, size: int) -> None:
    injected = 0
    for seed in range(programs):
        machine = Machine(seed, getattr(mx, front), size)
        for _ in range(STATEMENTS):
            machine.step()
        for variable in machine.variables:
            machine.check(variable)
        injected += machine.injected
        assert (getattr(mx, front).ones((3,)) + 1).asnumpy().tolist() == [2, 2, 2]
    assert injected >= 6 * programs  # 2040 in all

# SPDX-License-Identifier: Apache-2.0
"""Random programs over the whole ``np`` API, checked step by step against NumPy.

Nothing is read before a program has ended, so its calls are fused, dropped and reordered as those
of any other program. Each step is then compared with what NumPy makes of the values that the step
was given: errors do not add up, and a wrong step is found by name.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as onp
import pytest
from records import RECORDS, TOLERANCE, Record, Sample, as_list

import afterglow as mx
from afterglow import np

PROGRAMS = 150
PARTS = 5
STEPS = 30
SHAPES = [(), (1,), (5,), (3, 4), (1, 4), (2, 3, 4), (2, 1, 3), (0, 3), (70, 90)]
TYPES = ("float32", "float64", "float16", "int32", "int64", "uint8", "int8")
#: Functions that may jump between the values that two precisions give.
JUMPS = ("np.around", "np.round_", "np.histogram", "np.unique")
CHOICES = [
    record
    for record in RECORDS
    if record.module != "nd"
    and record.reference
    and not record.random
    and record.samples()
    and record.name not in JUMPS
]


@dataclass
class Step:
    """One statement: what it was given, what it gave, and what NumPy would."""

    text: str
    inputs: list[Any]
    results: list[Any]
    reference: Callable[[list[onp.ndarray]], list[onp.ndarray]]
    tolerance: float = 1

    def check(self) -> None:
        """Compare; this waits."""
        hosts = [one.asnumpy() for one in self.inputs]
        expected = self.reference(hosts)
        assert len(self.results) == len(expected), self.text
        for result, wanted in zip(self.results, expected, strict=True):
            host = result.asnumpy() if isinstance(result, mx.nd.NDArray) else onp.asarray(result)
            assert host.shape == wanted.shape, self.text
            tolerance = TOLERANCE.get(host.dtype.name, 0) * self.tolerance
            if not tolerance:
                onp.testing.assert_array_equal(host, wanted.astype(host.dtype), self.text)
                continue
            with onp.errstate(over="ignore"):
                wanted = wanted.astype(host.dtype)
            finite = wanted[onp.isfinite(wanted)].astype("float64")
            size = max(1.0, abs(finite).max()) if finite.size else 1.0
            onp.testing.assert_allclose(
                host, wanted, rtol=tolerance, atol=tolerance * size, err_msg=self.text
            )


class Program:
    """Statements chosen at random, and the arrays that they work on."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.steps: list[Step] = []
        self.pool = [self.fresh(Sample(shape), self.choose.choice(TYPES)) for shape in SHAPES]

    def fresh(self, sample: Sample, dtype: str, shape: Any = None) -> Any:
        """Return new values."""
        host = sample.host(dtype, self.choose.randrange(2**31), shape)
        return np.array(host, dtype=host.dtype)

    def adapted(self, sample: Sample, dtype: str, shape: tuple[int, ...]) -> Any:
        """Return an array of the pool, made to fit a sample."""
        if sample.values is not None or sample.distinct or sample.dtype:
            return self.fresh(sample, dtype, shape)
        x = self.choose.choice(self.pool)
        if not x.size:
            return self.fresh(sample, dtype, shape)
        if onp.dtype(x.dtype).kind == "f":
            x = np.clip(np.nan_to_num(x), sample.low, sample.high)
        x = np.resize(x, shape).astype(dtype)
        if dtype == "bool":
            return x
        if dtype.startswith("float"):
            return np.clip(x, sample.low, sample.high)
        low = max(math.ceil(sample.low), 0 if dtype == "uint8" else -100)
        return np.clip(x, low, math.floor(sample.high))

    def keep(self, result: Any) -> None:
        """Put a result where later statements find it, in place of an earlier one."""
        if isinstance(result, np.ndarray) and result.size < 10000:
            self.pool[self.choose.randrange(len(self.pool))] = result

    def call(self) -> None:
        """Call a function of a record."""
        record: Record = self.choose.choice(CHOICES)
        dtype = self.choose.choice(record.types)
        shape = self.choose.choice(SHAPES) if record.elementwise else None
        inputs = [
            self.adapted(sample, dtype, sample.shape if shape is None else shape)
            for sample in record.samples()
        ]
        results = as_list(record.call(inputs))
        text = f"{record.name}({dtype} {[one.shape for one in inputs]}, {record.keywords})"
        if self.choose.random() < 0.8:  # else it may be dropped
            self.steps.append(Step(text, inputs, results, record.expected, record.tolerance))
        for result in results[:2]:
            # What is checked must not be written by a later statement.
            self.keep(result.copy() if isinstance(result, np.ndarray) else result)

    def write(self) -> None:
        """Change an array of the pool in place."""
        x = self.choose.choice(self.pool)
        if onp.dtype(x.dtype).kind != "f":
            return
        before, kind = x.copy(), onp.dtype(x.dtype).name
        other = self.adapted(Sample(x.shape, -2, 2), kind, x.shape)
        way = self.choose.choice(["+=", "*=", "-=", "[...]", "out"])
        if way == "+=":
            x += other
        elif way == "*=":
            x *= other
        elif way == "-=":
            x -= other
        elif way == "out":
            assert np.maximum(x, other, out=x) is x
        else:
            x[...] = other
        formula: Callable[..., Any] = {
            "+=": onp.add,
            "*=": onp.multiply,
            "-=": onp.subtract,
            "out": onp.maximum,
            "[...]": lambda x, y: y,
        }[way]

        def reference(hosts: list[onp.ndarray]) -> list[onp.ndarray]:
            with onp.errstate(all="ignore"):
                return [onp.asarray(formula(*(host.astype("float64") for host in hosts)))]

        text = f"{kind} {x.shape} {way}"
        self.steps.append(Step(text, [before, other], [x.copy()], reference))

    def view(self) -> None:
        """Put a view or a strided copy into the pool: some share memory with their origin."""
        x = self.choose.choice(self.pool)
        key: Any = self.choose.choice([slice(1, None), slice(None, None, 2), 0, -1, None, ...])
        if (isinstance(key, int) and not (x.ndim and x.shape[0])) or not x.ndim:
            key = ...
        part = x[key]
        text = f"{x.shape}[{key}]"
        self.steps.append(Step(text, [x.copy()], [part.copy()], lambda hosts: [hosts[0][key]]))
        self.keep(part)

    def run(self) -> None:
        """Make the statements, then check them in any order."""
        for _ in range(STEPS):
            self.choose.choices([self.call, self.write, self.view], [7, 2, 1])[0]()
        self.pool.clear()
        self.choose.shuffle(self.steps)
        for step in self.steps:
            step.check()


def run_part(part: int, seed: int) -> None:
    """Run some of the programs; a failure tells the seed of its program."""
    for number in range(part * PROGRAMS // PARTS, (part + 1) * PROGRAMS // PARTS):
        try:
            Program(seed + number).run()
        except Exception as problem:
            text = f"Program({seed + number}): {type(problem).__name__}: {problem}"
            raise AssertionError(text) from problem


@pytest.mark.parametrize("part", range(PARTS))
def test_programs_agree_with_numpy(part: int, seed: int) -> None:
    run_part(part, seed)


@pytest.mark.parametrize("part", range(PARTS))
def test_fused_programs_agree_with_numpy(part: int, seed: int, everything_fuses: None) -> None:
    run_part(part, seed + PROGRAMS)


def test_programs_repeat_with_their_seed() -> None:
    texts = []
    for _ in range(2):
        program = Program(7)
        program.run()
        texts.append([step.text for step in program.steps])
    assert texts[0] == texts[1]
    assert len(texts[0]) > STEPS // 2

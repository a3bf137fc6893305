# SPDX-License-Identifier: Apache-2.0
"""Random array programs, run on our arrays and on NumPy's side by side.

Much of a program can be optimised: chains over one shape whose temporaries die at once, reductions
over the last axis in the middle of them, products with bias and activation, results that nobody
reads, arrays that are forgotten right after their last use. Fusion is on for the smallest shapes.

Every choice depends on the seed and on the NumPy side only. Operations whose rounding is free (exp,
long float sums, random numbers) are compared with a tolerance at once, and the program goes on with
our value; all others must give NumPy's value exactly. As a script, this file runs the programs
named on the command line and prints a digest of all values of each, so that runs under other
settings can be compared bit for bit::

    python programs.py np 0 100
"""

from __future__ import annotations

import hashlib
import math
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as onp

import afterglow as mx
from afterglow import _core

Host = onp.ndarray[Any, Any]

FLOATS = ("float16", "float32", "float64")

#: What two arrays broadcast to.
MOST_ELEMENTS = 1_000_000
INTS = ("uint8", "int8", "int32", "int64")
TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-10}
STATEMENTS = 40
MOST_VARIABLES = 10

SMALL_SHAPES = (
    (),
    (1,),
    (5,),
    (7,),
    (0,),
    (2, 0),
    (3, 4),
    (4, 3),
    (1, 4),
    (3, 1),
    (2, 3, 4),
    (64,),
    (1, 1),
)
LARGE_SHAPES = ((200_000,), (400, 500), (500, 400), (1, 500), (64, 50, 60))


def promoted(left: str, right: str) -> str:
    """Return the type of an operation on arrays of two types: MXNet's rule."""
    order = ("bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64")
    if {left, right} == {"uint8", "int8"}:
        return "int32"
    return max(left, right, key=order.index)


def mixes_exactly(left: str, right: str) -> bool:
    """Tell whether the common type holds every value of both."""
    wide = ("int32", "int64")
    return not ("float16" in (left, right) and (left in wide or right in wide))


def wait_for_all() -> None:
    """Wait; a failing call that nobody has read is either dropped, or told now."""
    while True:
        try:
            mx.nd.waitall()
        except mx.MXNetError as problem:
            if "injected" not in str(problem):
                raise
            continue
        return


@dataclass
class Variable:
    ours: Any
    host: Host

    @property
    def dtype(self) -> str:
        return self.host.dtype.name

    @property
    def tame(self) -> bool:
        """Whether the values are few enough digits long for sums and casts to be exact."""
        if not self.host.size:
            return True
        host = self.host.astype(onp.float64)
        if not onp.isfinite(host).all():
            return False
        return bool((onp.abs(host) < 100).all() and (host == onp.floor(host)).all())


class Program:
    """One program, written while it runs."""

    def __init__(
        self, front: str, seed: int, *, alone: bool = True, large: bool | None = None
    ) -> None:
        """``alone``: nobody else is at work, so that the program may use what all threads share.

        Those are the stream of random numbers and injected failures.
        """
        self.random = random.Random(f"{front} {seed}")
        self.legacy = front == "nd"
        self.front = getattr(mx, front)
        self.relu = mx.nd.relu if self.legacy else mx.npx.relu
        self.sigmoid = mx.nd.sigmoid if self.legacy else mx.npx.sigmoid
        self.seed = seed
        self.alone = alone
        by_chance = self.random.random() < 0.12
        large = by_chance if large is None else large
        shapes = LARGE_SHAPES if large else SMALL_SHAPES
        self.shapes = [shape for shape in shapes if not self.legacy or (shape and 0 not in shape)]
        self.digest = hashlib.sha256()
        self.variables: list[Variable] = []
        self.log: list[str] = []

    # --- running ---

    def run(self) -> str:
        if self.alone:
            mx.random.seed(self.seed)
        statements: list[Callable[[], None]] = [
            *[self.binary] * 6,
            *[self.with_number] * 4,
            *[self.compare] * 2,
            *[self.unary] * 2,
            *[self.inexact] * 1,
            *[self.in_place] * 4,
            *[self.store] * 4,
            *[self.overlap] * 3,
            *[self.update_slice] * 2,
            *[self.into] * 3,
            *[self.view] * 4,
            *[self.shape] * 3,
            *[self.cast] * 3,
            *[self.reduce] * 3,
            *[self.concat] * 2,
            *[self.dot] * 1,
            *[self.draw] * 1,
            *[self.create] * 4,
            *[self.look] * 3,
            *[self.chain] * 12,
            *[self.forget] * 3,
            *[self.rows] * 3,
            *[self.softmax] * 1,
            *[self.layer_norm] * 1,
            *[self.dense] * 2,
            *[self.decide] * 2,
            *[self.fail] * 1,
            *[self.fail_in_place] * 1,
            *[self.refuse] * 1,
        ]
        with onp.errstate(all="ignore"):
            for _ in range(4):
                self.create()
            for _ in range(STATEMENTS):
                self.random.choice(statements)()
                while len(self.variables) > MOST_VARIABLES:
                    del self.variables[self.random.randrange(len(self.variables))]
            for variable in self.variables:
                self.check(variable)
        return self.digest.hexdigest()

    def add(self, ours: Any, host: Host, what: str) -> None:
        host = onp.asarray(host)
        if self.legacy and host.shape == ():
            host = host.reshape((1,))
        self.log.append(f"{what} -> {host.shape} {host.dtype}")
        assert ours.shape == host.shape, self.story()
        assert onp.dtype(ours.dtype) == host.dtype, self.story()
        self.variables.append(Variable(ours, host))

    def expect(self, right: bool) -> None:
        assert right, self.story()

    def adopt(self, ours: Any, host: Host, what: str, tolerance: float | None = None) -> None:
        """Add a result whose last digits are ours to choose."""
        self.add(ours, host, what)
        variable = self.variables[-1]
        value = variable.ours.asnumpy()
        limit = TOLERANCE.get(variable.dtype, 0) if tolerance is None else tolerance
        onp.testing.assert_allclose(
            value.astype("float64"),
            variable.host.astype("float64"),
            rtol=limit,
            atol=limit,
            err_msg=self.story(),
        )
        variable.host = value.copy()

    def check(self, variable: Variable) -> None:
        value = variable.ours.asnumpy()
        assert value.dtype == variable.host.dtype, self.story()
        assert value.shape == variable.host.shape, self.story()
        onp.testing.assert_array_equal(value, variable.host, err_msg=self.story())
        self.digest.update(value.tobytes())

    def story(self) -> str:
        return f"program {self.seed}\n" + "\n".join(self.log)

    # --- choosing ---

    def any(self, wanted: Callable[[Variable], bool] = lambda variable: True) -> Variable | None:
        fitting = [variable for variable in self.variables if wanted(variable)]
        return self.random.choice(fitting) if fitting else None

    def pair(self) -> tuple[Variable, Variable] | None:
        """Return two arrays that broadcast together and whose types may meet."""
        one = self.any()
        if one is None:
            return None

        def fits(other: Variable) -> bool:
            if self.legacy and other.dtype != one.dtype:
                return False
            try:
                shape = onp.broadcast_shapes(one.host.shape, other.host.shape)
            except ValueError:
                return False
            # Sums of more elements are not exact in float32.
            return math.prod(shape) <= MOST_ELEMENTS and mixes_exactly(one.dtype, other.dtype)

        other = self.any(fits)
        return (one, other) if other is not None else None

    def number(self, dtype: str) -> int | float:
        if dtype in FLOATS:
            return self.random.choice([0.5, 2.0, -1.0, 3.0, 1, 2])
        return self.random.choice([1, 2, 3, 5] if dtype == "uint8" else [1, 2, -3, 5])

    # --- statements ---

    def create(self) -> None:
        shape = self.random.choice(self.shapes)
        choices = [*FLOATS, *INTS] if self.legacy else [*FLOATS, *INTS, "bool"]
        dtype = self.random.choice(choices)
        kind = self.random.randrange(4)
        options = {"dtype": dtype}
        if kind == 0:
            self.add(self.front.zeros(shape, **options), onp.zeros(shape, dtype), "zeros")
        elif kind == 1:
            self.add(self.front.ones(shape, **options), onp.ones(shape, dtype), "ones")
        elif kind == 2:
            self.add(self.front.full(shape, 3, **options), onp.full(shape, 3).astype(dtype), "full")
        else:
            count = int(onp.prod(shape))
            host = (onp.arange(count) % 23 - (0 if dtype == "uint8" else 7)).reshape(shape)
            host = host.astype(dtype)
            self.add(self.front.array(host.copy(), **options), host, "array")

    def binary(self) -> None:
        pair = self.pair()
        if pair is None:
            return
        one, other = pair
        dtype = promoted(one.dtype, other.dtype)
        name = self.random.choice(["add", "subtract", "multiply", "maximum", "minimum"])
        if dtype == "bool" and (self.legacy or name not in ("add", "multiply")):
            return
        left, right = one.host.astype(dtype), other.host.astype(dtype)
        host = getattr(onp, name)(left, right)
        operators: dict[str, Callable[[Any, Any], Any]] = {
            "add": lambda a, b: a + b,
            "subtract": lambda a, b: a - b,
            "multiply": lambda a, b: a * b,
        }
        operation = operators.get(name, getattr(self.front, name))
        self.add(operation(one.ours, other.ours), host, name)

    def with_number(self) -> None:
        one = self.any(lambda variable: variable.dtype != "bool")
        if one is None:
            return
        number = self.number(one.dtype)
        scalar = onp.asarray(number).astype(one.dtype)
        name = self.random.choice(["+", "-", "r-", "*", "/", "%", "maximum"])
        if name == "+":
            self.add(one.ours + number, one.host + scalar, f"+ {number}")
        elif name == "-":
            self.add(one.ours - number, one.host - scalar, f"- {number}")
        elif name == "r-":
            self.add(number - one.ours, scalar - one.host, f"{number} -")
        elif name == "*":
            self.add(number * one.ours, scalar * one.host, f"{number} *")
        elif name == "/" and (one.dtype in FLOATS or not self.legacy):
            dtype = one.dtype if one.dtype in FLOATS else "float32"
            host = (one.host.astype(dtype) / scalar.astype(dtype)).astype(dtype)
            self.add(one.ours / number, host, f"/ {number}")
        elif name == "%" and one.tame:
            self.add(one.ours % number, one.host % scalar, f"% {number}")
        elif name == "maximum":
            self.add(
                self.front.maximum(one.ours, number),
                onp.maximum(one.host, scalar),
                f"maximum {number}",
            )

    def compare(self) -> None:
        pair = self.pair()
        if pair is None:
            return
        one, other = pair
        if self.legacy and one.dtype == "bool":
            return
        dtype = promoted(one.dtype, other.dtype)
        name = self.random.choice(["less", "less_equal", "equal", "not_equal", "greater"])
        operators: dict[str, Callable[[Any, Any], Any]] = {
            "less": lambda a, b: a < b,
            "less_equal": lambda a, b: a <= b,
            "equal": lambda a, b: a == b,
            "not_equal": lambda a, b: a != b,
            "greater": lambda a, b: a > b,
        }
        host = getattr(onp, name)(one.host.astype(dtype), other.host.astype(dtype))
        self.add(
            operators[name](one.ours, other.ours),
            host.astype(dtype) if self.legacy else host,
            name,
        )

    def unary(self) -> None:
        one = self.any(lambda variable: variable.dtype != "bool")
        if one is None:
            return
        name = self.random.choice(["negative", "abs", "sqrt"])
        if name == "sqrt":
            if one.dtype not in FLOATS:
                return
            self.add(self.front.sqrt(one.ours), onp.sqrt(one.host), name)
        elif name == "abs":
            self.add(abs(one.ours), onp.abs(one.host), name)
        else:
            self.add(-one.ours, -one.host, name)

    def inexact(self) -> None:
        one = self.any(lambda variable: variable.dtype in FLOATS and variable.tame)
        if one is None:
            return
        name = self.random.choice(["exp", "tanh", "log"])
        if name == "exp":
            # Bounded, so that float16 holds it.
            ours = self.front.exp(self.front.minimum(one.ours, 4))
            host = onp.exp(onp.minimum(one.host.astype("float64"), 4))
        elif name == "tanh":
            ours, host = self.front.tanh(one.ours), onp.tanh(one.host.astype("float64"))
        else:
            ours = self.front.log(abs(one.ours) + 1)
            host = onp.log(onp.abs(one.host.astype("float64")) + 1)
        self.adopt(ours, host.astype(one.dtype), name)

    def in_place(self) -> None:
        one = self.any(lambda variable: variable.dtype != "bool")
        if one is None:
            return

        def fits(other: Variable) -> bool:
            if self.legacy and other.dtype != one.dtype:
                return False
            if promoted(one.dtype, other.dtype) != one.dtype:
                return False
            if not mixes_exactly(one.dtype, other.dtype):
                return False
            try:
                return onp.broadcast_shapes(one.host.shape, other.host.shape) == one.host.shape
            except ValueError:
                return False

        other = self.any(fits)
        same = one.ours
        name = self.random.choice(["+=", "-=", "*=", "number"])
        self.log.append(f"{name} on {one.host.shape} {one.dtype}")
        if name == "number" or other is None:
            number = self.number(one.dtype)
            one.ours += number
            one.host += onp.asarray(number).astype(one.dtype)
        else:
            right = other.host.astype(one.dtype)  # a copy: NumPy's own answer when they overlap
            if name == "+=":
                one.ours += other.ours
                one.host += right
            elif name == "-=":
                one.ours -= other.ours
                one.host -= right
            else:
                one.ours *= other.ours
                one.host *= right
        assert one.ours is same, self.story()

    def key(self, shape: tuple[int, ...], steps: bool) -> tuple[slice, ...]:
        """Return slices; without steps often such that the block is contiguous."""
        key = []
        for extent in shape[: self.random.randrange(len(shape) + 1)]:
            start = self.random.randrange(extent + 1) if self.random.random() < 0.6 else None
            low = 0 if start is None else start
            stop = self.random.randrange(low, extent + 1) if self.random.random() < 0.5 else None
            step = self.random.choice([2, 3, 1]) if steps and self.random.random() < 0.5 else None
            if step is not None and self.random.random() < 0.3 and start is None and stop is None:
                step = -step
            if self.legacy and len(range(*slice(start, stop, step).indices(extent))) == 0:
                start = stop = None  # mx.nd has no empty arrays
            key.append(slice(start, stop, step))
        return tuple(key) or (slice(None),)

    def store(self) -> None:
        one = self.any(lambda variable: variable.host.ndim > 0)
        if one is None:
            return
        key = self.key(one.host.shape, steps=True)
        place = one.host[key]

        def fits(other: Variable) -> bool:
            if other.dtype in FLOATS and one.dtype not in FLOATS and not other.tame:
                return False
            if other.dtype in FLOATS and one.dtype == "uint8" and (other.host < 0).any():
                return False
            try:
                return onp.broadcast_shapes(place.shape, other.host.shape) == place.shape
            except ValueError:
                return False

        other = self.any(fits)
        self.log.append(f"[{key}] = on {one.host.shape} {one.dtype}")
        if other is None or self.random.random() < 0.3:
            number = self.number(one.dtype)
            one.ours[key] = number
            one.host[key] = onp.asarray(number).astype(one.dtype)
        elif self.random.random() < 0.3:
            foreign = other.host.copy()
            one.ours[key] = foreign
            one.host[key] = foreign.astype(one.dtype)
            foreign[...] = 0  # too late to matter
        else:
            value = other.host.astype(one.dtype)
            one.ours[key] = other.ours
            one.host[key] = value

    def overlap(self) -> None:
        one = self.any(
            lambda variable: (
                variable.host.ndim > 0 and variable.host.shape[0] > 1 and variable.dtype != "bool"
            )
        )
        if one is None:
            return
        kind = self.random.randrange(4)
        self.log.append(f"overlap {kind} on {one.host.shape} {one.dtype}")
        one_more = onp.asarray(1).astype(one.dtype)
        if kind == 0:
            one.ours[1:] = one.ours[:-1] + 1
            one.host[1:] = one.host[:-1] + one_more
        elif kind == 1:
            one.ours[1:] = one.ours[:-1]
            one.host[1:] = one.host[:-1].copy()
        elif kind == 2:
            one.ours[:-1] = one.ours[1:]
            one.host[:-1] = one.host[1:].copy()
        else:
            one.ours[:] = one.ours[::-1]
            one.host[:] = one.host[::-1].copy()

    def update_slice(self) -> None:
        one = self.any(
            lambda variable: (
                variable.host.ndim > 0 and variable.host.shape[0] > 1 and variable.dtype != "bool"
            )
        )
        if one is None:
            return
        half = one.host.shape[0] // 2
        self.log.append(f"update a slice of {one.host.shape} {one.dtype}")
        if self.random.random() < 0.5:
            one.ours[: 2 * half : 2] += one.ours[1 : 2 * half : 2]
            one.host[: 2 * half : 2] += one.host[1 : 2 * half : 2].copy()
        else:
            one.ours[half:] -= one.ours[:1]
            one.host[half:] -= one.host[:1].copy()

    def into(self) -> None:
        """Write a result into an array or view, which may be, or overlap, an input."""
        pair = self.pair()
        if pair is None:
            return
        one, other = pair
        dtype = promoted(one.dtype, other.dtype)
        shape = onp.broadcast_shapes(one.host.shape, other.host.shape)
        target = self.any(lambda variable: variable.dtype == dtype and variable.host.shape == shape)
        if target is None or dtype == "bool":
            return
        name = self.random.choice(["add", "subtract", "multiply"])
        self.log.append(f"{name} into {shape} {dtype}")
        value = getattr(onp, name)(one.host.astype(dtype), other.host.astype(dtype))
        legacy_names = {
            "add": "broadcast_add",
            "subtract": "broadcast_sub",
            "multiply": "broadcast_mul",
        }
        operation = getattr(self.front, legacy_names[name] if self.legacy else name)
        result = operation(one.ours, other.ours, out=target.ours)
        assert result is target.ours, self.story()
        target.host[...] = value

    def view(self) -> None:
        """Take a slice: it shares memory when its block is contiguous, else it is a copy."""
        one = self.any(lambda variable: variable.host.ndim > 0)
        if one is None:
            return
        key = self.key(one.host.shape, steps=self.random.random() < 0.3)
        part = one.host[key]
        host = part if part.flags.c_contiguous else part.copy()
        self.add(one.ours[key], host, f"[{key}] of {one.host.shape}")

    def shape(self) -> None:
        one = self.any()
        if one is None:
            return
        kind = self.random.randrange(3)
        if kind == 0:
            shape = (one.host.size,)
            # mx.nd shares the memory, mx.np copies it.
            host = one.host.reshape(shape)
            self.add(one.ours.reshape(shape), host if self.legacy else host.copy(), "reshape")
        elif kind == 1:
            self.add(one.ours.T, one.host.T.copy(order="C"), "T")
        else:
            self.add(one.ours.copy(), one.host.copy(), "copy")

    def cast(self) -> None:
        one = self.any()
        if one is None:
            return
        target = self.random.choice([*FLOATS, *INTS] if self.legacy else [*FLOATS, *INTS, "bool"])
        out_of_range = not one.tame or (target == "uint8" and (one.host < 0).any())
        if one.dtype in FLOATS and target in INTS and out_of_range:
            return
        self.add(one.ours.astype(target), one.host.astype(target), f"cast to {target}")

    def reduce(self) -> None:
        one = self.any(lambda variable: variable.dtype != "bool" or not self.legacy)
        if one is None:
            return
        name = self.random.choice(["sum", "mean", "max", "min"])
        axes = tuple(axis for axis in range(one.host.ndim) if self.random.random() < 0.5) or None
        keepdims = self.random.random() < 0.4
        reduced = range(one.host.ndim) if axes is None else axes
        empty = any(one.host.shape[axis] == 0 for axis in reduced)
        if empty and name != "sum":
            return
        ours = getattr(one.ours, name)(axis=axes, keepdims=keepdims)
        exact = one.host.astype("float64") if one.dtype in FLOATS else one.host
        count = one.host.size
        if name in ("max", "min"):
            host = getattr(one.host, name)(axis=axes, keepdims=keepdims)
            self.add(ours, host, name)
            return
        if name == "mean":
            if self.legacy and one.dtype in INTS:
                return
            dtype = one.dtype if one.dtype in FLOATS else "float32"
            host = exact.astype("float64").mean(axis=axes, keepdims=keepdims)
        elif one.dtype in FLOATS:
            dtype = one.dtype
            host = exact.sum(axis=axes, keepdims=keepdims)
        else:
            dtype = "int64" if one.dtype == "bool" else one.dtype
            host = exact.sum(axis=axes, keepdims=keepdims, dtype=dtype)
            self.add(ours, host, name)
            return
        if one.dtype == "float16" or not one.tame:
            # A sum of long fractions: the error grows with the size of what is added.
            if not onp.isfinite(exact).all() or onp.abs(exact).max(initial=0) > 1e4:
                return
            largest = float(onp.abs(exact).max(initial=1))
            scale = TOLERANCE[dtype] * largest * (1 if name == "mean" else max(1, count))
            host = onp.asarray(host)
            if dtype == "float16" and (onp.abs(host) > 6e4).any():
                return
            self.adopt(ours, host.astype(dtype), name, max(scale, TOLERANCE[dtype]))
            return
        if name == "mean":
            self.adopt(ours, onp.asarray(host).astype(dtype), name)
        else:
            self.add(ours, onp.asarray(host).astype(dtype), name)

    def concat(self) -> None:
        one = self.any(lambda variable: variable.host.ndim > 0)
        if one is None:
            return
        axis = self.random.randrange(one.host.ndim)

        def fits(other: Variable) -> bool:
            rest = [n for a, n in enumerate(other.host.shape) if a != axis]
            mine = [n for a, n in enumerate(one.host.shape) if a != axis]
            return other.dtype == one.dtype and other.host.ndim == one.host.ndim and rest == mine

        others = [self.any(fits) for _ in range(self.random.randrange(1, 3))]
        parts = [one, *[other for other in others if other is not None]]
        if sum(part.host.size for part in parts) > 600_000:
            return
        arrays = [part.ours for part in parts]
        ours = (
            self.front.concat(*arrays, dim=axis)
            if self.legacy
            else self.front.concatenate(arrays, axis=axis)
        )
        self.add(ours, onp.concatenate([part.host for part in parts], axis=axis), "concat")

    def dot(self) -> None:
        def wanted(variable: Variable) -> bool:
            return variable.host.ndim == 2 and variable.dtype in FLOATS[1:] and variable.tame

        one = self.any(wanted)
        if one is None:
            return
        other = self.any(
            lambda variable: (
                wanted(variable)
                and variable.dtype == one.dtype
                and variable.host.shape[0] == one.host.shape[1]
            )
        )
        if other is None:
            return
        # Values below 100 and at most 500 of them to a sum: exact in float32 in any order.
        self.add(self.front.dot(one.ours, other.ours), onp.dot(one.host, other.host), "dot")

    def draw(self) -> None:
        if not self.alone:
            return
        shape = self.random.choice([shape for shape in self.shapes if shape])
        dtype = self.random.choice(["float32", "float64"])
        size = {"shape" if self.legacy else "size": shape, "dtype": dtype}
        if self.random.random() < 0.5:
            ours = self.front.random.uniform(0, 1, **size)
            host = onp.full(shape, 0.5, dtype)
            self.adopt(ours, host, "uniform", 0.5001)
        else:
            ours = self.front.random.normal(0, 1, **size)
            host = onp.zeros(shape, dtype)
            self.adopt(ours, host, "normal", 9)

    def look(self) -> None:
        one = self.any()
        if one is None:
            return
        kind = self.random.randrange(4)
        if kind == 0:
            self.check(one)
        elif kind == 1:
            one.ours.wait_to_read()
        elif kind == 2:
            one.ours.is_ready()
        else:
            wait_for_all()

    # --- statements that are there to be optimised ---

    def chain(self) -> None:
        """Several calls over one shape; most results are only read by the next call."""
        one = self.any(lambda variable: variable.dtype != "bool")
        if one is None:
            return
        ours, host = self.steps(one.ours, one.host, self.random.randrange(3, 9), keep=True)
        if self.random.random() < 0.4:  # forgotten right after its last use
            self.variables = [variable for variable in self.variables if variable is not one]
        self.add(ours, host, "chain")

    def forget(self) -> None:
        """Compute what nobody reads."""
        one = self.any(lambda variable: variable.dtype != "bool")
        if one is None:
            return
        self.log.append("forget a chain")
        if self.alone and self.random.random() < 0.3:
            size = {"shape" if self.legacy else "size": one.host.shape or (1,)}
            if 0 not in one.host.shape:
                self.front.random.uniform(0, 1, **size) * 2 - 1
        self.steps(one.ours, one.host, self.random.randrange(1, 7), keep=False)

    def steps(self, ours: Any, host: Host, count: int, *, keep: bool) -> tuple[Any, Host]:
        """Return the last of some results; NumPy's values are exactly ours."""
        own = False  # whether the array is ours to write
        for _ in range(count):
            if own and self.random.random() < 0.35:
                self.write_step(ours, host)
            else:
                ours, host = self.step(ours, host)
                host = onp.asarray(host)  # NumPy gives numbers for arrays without axes
                own = True
            if keep and self.random.random() < 0.1:
                self.add(ours, host, "kept")  # shares memory with what follows
        if not own:
            ours, host = ours + 0, host + onp.asarray(0).astype(host.dtype)
        return ours, onp.asarray(host)

    def partner(self, host: Host) -> Variable | None:
        """Return an array of the same type that broadcasts to the shape: rows and columns too."""

        def fits(variable: Variable) -> bool:
            if variable.dtype != host.dtype.name:
                return False
            try:
                return onp.broadcast_shapes(variable.host.shape, host.shape) == host.shape
            except ValueError:
                return False

        return self.any(fits)

    def step(self, ours: Any, host: Host) -> tuple[Any, Host]:
        dtype = host.dtype.name
        number = self.number(dtype)
        scalar = onp.asarray(number).astype(dtype)
        other = self.partner(host)
        names = ["+", "-", "*", "maximum", "negative", "abs", "square", "clip", "where", "mask"]
        if dtype in FLOATS:
            names += ["sqrt", "relu", "cast"]
        if other is not None:
            names += ["add", "subtract", "multiply", "minimum", "choose"]
        name = self.random.choice(names)
        self.log.append(f"  {name} {number}")
        if name == "+":
            return ours + number, host + scalar
        if name == "-":
            return number - ours, scalar - host
        if name == "*":
            return ours * number, host * scalar
        if name == "maximum":
            return self.front.maximum(ours, number), onp.maximum(host, scalar)
        if name == "negative":
            return -ours, -host
        if name == "abs":
            return abs(ours), onp.abs(host)
        if name == "square":
            return self.front.square(ours), onp.square(host)
        if name == "clip":
            low, high = (1, 90) if dtype == "uint8" else (-40, 90)
            return self.front.clip(ours, low, high), onp.clip(
                host, onp.asarray(low).astype(dtype), onp.asarray(high).astype(dtype)
            )
        if name == "where":
            chosen = self.front.where(ours > number, ours, ours + number)
            return chosen, onp.where(host > scalar, host, host + scalar)
        if name == "mask":
            return (ours <= number) * ours, (host <= scalar).astype(dtype) * host
        if name == "sqrt":
            return self.front.sqrt(abs(ours)), onp.sqrt(onp.abs(host))
        if name == "relu":
            return self.relu(ours), onp.maximum(host, scalar.dtype.type(0))
        if name == "cast":
            target = self.random.choice(FLOATS)
            return ours.astype(target), host.astype(target)
        assert other is not None
        if name == "choose":
            theirs = other.ours
            if self.legacy and other.host.shape != host.shape:
                theirs = theirs.broadcast_to(host.shape)
            chosen = self.front.where(ours < number, theirs, ours)
            return chosen, onp.where(host < scalar, other.host, host)
        operations: dict[str, Callable[[Any, Any], Any]] = {
            "add": lambda a, b: a + b,
            "subtract": lambda a, b: b - a,
            "multiply": lambda a, b: a * b,
            "minimum": self.front.minimum,
        }
        value = getattr(onp, name)(
            *((other.host, host) if name == "subtract" else (host, other.host))
        )
        return operations[name](ours, other.ours), value

    def write_step(self, ours: Any, host: Host) -> None:
        """Write to an array in the middle of a chain: all of it or parts, which may overlap."""
        dtype = host.dtype.name
        number = self.number(dtype)
        scalar = onp.asarray(number).astype(dtype)
        other = self.partner(host)
        names = ["+=", "*=", "[:] ="]
        if other is not None:
            names += ["-= array", "out="]
        if host.ndim and host.shape[0] > 1:
            names += ["shift", "halves", "odd and even", "view"]
        name = self.random.choice(names)
        self.log.append(f"  {name} {number}")
        half = host.shape[0] // 2 if host.ndim else 0
        if name == "+=":
            ours += number
            host += scalar
        elif name == "*=":
            ours *= number
            host *= scalar
        elif name == "[:] =":
            ours[...] = ours + number
            host[...] = host + scalar
        elif name == "-= array":
            assert other is not None
            theirs = other.host.copy()
            ours -= other.ours
            host -= theirs
        elif name == "out=":
            assert other is not None
            add = self.front.broadcast_add if self.legacy else self.front.add
            theirs = other.host.copy()
            assert add(ours, other.ours, out=ours) is ours
            host += theirs
        elif name == "shift":
            ours[1:] = ours[:-1] + number
            host[1:] = host[:-1] + scalar
        elif name == "halves":
            ours[half : 2 * half] = ours[:half] * number
            host[half : 2 * half] = host[:half] * scalar
        elif name == "odd and even":
            ours[: 2 * half : 2] += ours[1 : 2 * half : 2]
            host[: 2 * half : 2] += host[1 : 2 * half : 2].copy()
        else:
            view = ours[half:]
            view += number
            host[half:] += scalar

    def rows(self) -> None:
        """Reduce the last axis in the middle of a chain; whole numbers, so the sums are exact."""
        one = self.any(
            lambda variable: (
                variable.host.ndim > 0
                and variable.host.shape[-1] > 0
                and variable.host.shape[-1] <= 500
                and variable.dtype in ("float32", "float64", "int32", "int64")
                and variable.tame
            )
        )
        if one is None:
            return
        name = self.random.choice(["sum", "max", "min"])
        keepdims = self.random.random() < 0.7
        double = one.ours * 2 + 1
        host = one.host * 2 + 1
        total = getattr(double, name)(axis=-1, keepdims=keepdims)
        host_total = getattr(host, name)(axis=-1, keepdims=keepdims, **_same_type(name, host))
        if self.random.random() < 0.5:
            total, host_total = total * 3 - 1, host_total * 3 - 1
        host_total = onp.asarray(host_total).astype(host.dtype)
        if keepdims:
            ours = self.front.broadcast_sub(double, total) if self.legacy else double - total
            if self.random.random() < 0.5:
                self.add(total, host_total, f"{name} of rows")
            self.add(ours * 2, (host - host_total) * 2, f"chain after {name} of rows")
        else:
            self.add(total, host_total, f"{name} of rows")

    def matrix(self) -> Variable | None:
        return self.any(
            lambda variable: (
                variable.host.ndim >= 2
                and 0 not in variable.host.shape
                and variable.dtype in FLOATS
                and variable.tame
            )
        )

    def softmax(self) -> None:
        one = self.matrix()
        if one is None:
            return
        x = one.ours
        if self.legacy:
            powers = self.front.exp(self.front.broadcast_sub(x, x.max(axis=-1, keepdims=True)))
            ours = self.front.broadcast_div(powers, powers.sum(axis=-1, keepdims=True))
        else:
            powers = self.front.exp(x - x.max(axis=-1, keepdims=True))
            ours = powers / powers.sum(axis=-1, keepdims=True)
        squashed = self.random.random() < 0.3
        if squashed:
            ours = self.sigmoid(ours) * 2
        exact = one.host.astype("float64")
        host = onp.exp(exact - exact.max(axis=-1, keepdims=True))
        host /= host.sum(axis=-1, keepdims=True)
        self.digest_inexact(ours)
        if not squashed and float(ours.max()) <= 1:
            self.adopt(ours, host.astype(one.dtype), "softmax", 8 * TOLERANCE[one.dtype])

    def digest_inexact(self, ours: Any) -> None:
        """Note the bits of a value that NumPy does not know: other settings must have the same."""
        self.digest.update(ours.asnumpy().tobytes())

    def layer_norm(self) -> None:
        one = self.matrix()
        if one is None:
            return
        x = one.ours
        subtract = self.front.broadcast_sub if self.legacy else self.front.subtract
        divide = self.front.broadcast_div if self.legacy else self.front.divide
        centred = subtract(x, x.mean(axis=-1, keepdims=True))
        variance = self.front.square(centred).mean(axis=-1, keepdims=True)
        ours = divide(centred, self.front.sqrt(variance + 1))
        if self.random.random() < 0.3:
            self.front.power(abs(ours), 1.5)  # dropped
        exact = one.host.astype("float64")
        host = exact - exact.mean(axis=-1, keepdims=True)
        host /= onp.sqrt(onp.square(host).mean(axis=-1, keepdims=True) + 1)
        self.adopt(ours, host.astype(one.dtype), "layer norm", 40 * TOLERANCE[one.dtype])

    def dense(self) -> None:
        """A product, a bias, an activation; small whole numbers, so that all sums are exact."""

        def wanted(variable: Variable) -> bool:
            return (
                variable.host.ndim == 2
                and 0 not in variable.host.shape
                and variable.dtype in FLOATS[1:]
                and variable.tame
            )

        one = self.any(wanted)
        if one is None:
            return
        units = self.random.choice([1, 3, 8, 40])
        count = one.host.shape[1] * units
        host_weight = (onp.arange(count) % 7 - 3).reshape((-1, units)).astype(one.dtype)
        host_bias = (onp.arange(units) % 5 - 2).reshape((1, units)).astype(one.dtype)
        weight = self.front.array(host_weight, dtype=one.dtype)
        bias = self.front.array(host_bias, dtype=one.dtype)
        product, host = self.front.dot(one.ours, weight), onp.dot(one.host, host_weight)
        if self.random.random() < 0.3:
            product += bias
            sums = product
        else:
            sums = self.front.broadcast_add(product, bias) if self.legacy else product + bias
            if self.random.random() < 0.2:
                self.add(product, host, "product")
        host = host + host_bias
        activation = self.random.randrange(3)
        if activation == 0:
            sums, host = self.relu(sums), onp.maximum(host, 0)
        elif activation == 1:
            sums, host = (
                self.front.maximum(sums, 1) * 0.5,
                onp.maximum(host, 1) * host.dtype.type(0.5),
            )
        self.add(sums, host, "dense")

    def decide(self) -> None:
        """Go on as a value says."""
        one = self.any(lambda variable: variable.dtype in FLOATS[1:] and variable.tame)
        if one is None:
            return
        total = float((one.ours * 2 - 1).sum())
        assert total == float((one.host * 2 - 1).sum(dtype="float64")), self.story()
        if total > 0:
            self.add(one.ours - 1, one.host - 1, "positive")
        elif bool((one.ours * 2 - 1).sum() == 0):
            self.add(one.ours * 3, one.host * 3, "nothing")
        else:
            self.in_place()

    # --- statements that fail ---

    def fail(self) -> None:
        """Compute from a call whose kernel fails: a read raises, or nobody ever knows."""
        one = self.any(lambda variable: variable.dtype != "bool")
        if one is None or not self.alone:
            return
        self.log.append("fail")
        reads = self.random.random() < 0.7
        _core.inject_failure(0, 0)
        try:
            lost = one.ours + 1
            lost = self.front.maximum(lost * 2, 1) - one.ours
            if reads:
                lost.asnumpy()
        except mx.MXNetError as problem:  # a serial engine raises at the call
            self.expect("injected" in str(problem))
        else:
            assert not reads, self.story()
        finally:
            _core.inject_failure(-1, 0)

    def fail_in_place(self) -> None:
        """Lose an array, and heal it by writing all of it."""
        one = self.any(lambda variable: variable.dtype != "bool" and variable.host.size > 0)
        if one is None or not self.alone:
            return
        self.log.append("fail in place")
        reads = self.random.random() < 0.5
        target = one.ours + 0
        reads = self.random.random() < 0.5
        _core.inject_failure(0, 0)
        try:
            target += 1
            if reads:
                target.wait_to_read()
                raise AssertionError(self.story())
        except mx.MXNetError as problem:
            self.expect("injected" in str(problem))
        finally:
            _core.inject_failure(-1, 0)
        target[...] = one.ours * 2
        self.add(target, one.host * onp.asarray(2).astype(one.dtype), "healed")

    def refuse(self) -> None:
        """Shapes that do not fit are refused at the call, and nothing has happened."""
        one = self.any(lambda variable: variable.dtype != "bool" and variable.host.ndim > 0)
        if one is None:
            return
        shape = (one.host.shape[0] + 1, *one.host.shape[1:])
        if 1 in (one.host.shape[0], shape[0]):
            shape = (*one.host.shape[:-1], one.host.shape[-1] + 2, 3)
        wrong = self.front.ones(shape, dtype=one.dtype)
        self.log.append("refuse")
        try:
            onp.broadcast_shapes(shape, one.host.shape)
        except ValueError:
            pass
        else:
            return
        try:
            self.front.maximum(one.ours * 2, wrong)
        except mx.MXNetError:
            return
        raise AssertionError(self.story())


def _same_type(name: str, host: Host) -> dict[str, Any]:
    """NumPy widens sums of small integers; we do not."""
    return {"dtype": host.dtype} if name == "sum" else {}


@contextmanager
def everything_fuses() -> Iterator[None]:
    """Let the smallest shapes fuse as well."""
    smallest = _core.set_smallest_fused(0)
    try:
        yield
    finally:
        _core.set_smallest_fused(smallest)


def digests(front: str, first: int, last: int, **options: bool) -> list[str]:
    """Run programs ``first`` to ``last - 1``."""
    if front == "np":
        mx.npx.set_np()
    try:
        with everything_fuses():
            return [Program(front, seed, **options).run() for seed in range(first, last)]
    finally:
        mx.npx.reset_np()


def peaks(front: str, first: int, last: int) -> list[int]:
    """Return how many bytes each program, with large arrays, takes at most."""
    result = []
    for seed in range(first, last):
        wait_for_all()
        mx.memory.reset_peak()
        base = mx.memory.active()
        digests(front, seed, seed + 1, large=True)
        result.append(mx.memory.peak() - base)
    return result


def digests_within(front: str, first: int, last: int, limits: list[int]) -> list[str]:
    """Run programs with large arrays, each under its own limit of bytes."""
    result = []
    for seed, limit in zip(range(first, last), limits, strict=True):
        wait_for_all()
        mx.memory.set_limit(mx.memory.active() + limit)
        result += digests(front, seed, seed + 1, large=True)
        mx.memory.set_limit(None)
    return result


if __name__ == "__main__":
    arguments = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if sys.argv[4:] == ["peaks"]:
        for peak in peaks(*arguments):
            print(peak)
    elif sys.argv[4:]:
        for line in digests_within(*arguments, [int(limit) for limit in sys.argv[4:]]):
            print(line)
    else:
        for line in digests(*arguments):
            print(line)

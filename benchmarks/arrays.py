# SPDX-License-Identifier: Apache-2.0
"""Single calls on arrays of 10, 10^4 and 10^7 elements.

python benchmarks/arrays.py [--rows sorting] [--rows "*/10"] [--peer torch=INTERPRETER]

Every result is waited for and forgotten before the next call, so nothing is fused or dropped. Views
are copied where Afterglow copies. Peers also run with glibc's mmap and trim thresholds off where
arrays are large. Before a row is timed, its values are compared. The goal: the fastest, or within
1.2 times of it, on nine rows of ten, and never slower than 3 times. The calls are in
:mod:`arrays_calls`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from arrays_calls import CALLS, LIBRARIES, Call
from rows import Figure, Goal, Row, Task, timed

SIZES = {10: "10", 10**4: "10^4", 10**7: "10^7"}
#: How long a loop takes, in seconds; calls that take longer are made once.
LOOP = 0.01
LARGE = 10**6
#: Rows by columns of a matrix of so many elements.
MATRICES = {10: (2, 5), 10**4: (100, 100), 10**7: (2500, 4000)}
#: The side of a square matrix in products, and in linear algebra.
SIDES = {10: 3, 10**4: 100, 10**7: 2000}
SMALL_SIDES = {10: 3, 10**4: 50, 10**7: 300}
BATCHES = {10: (2, 2, 3), 10**4: (16, 25, 25), 10**7: (2500, 64, 64)}


def host_inputs(name: str, size: int) -> Any:
    """One input, on the host: the same values for all libraries."""
    generator = np.random.default_rng(sum(map(ord, name)))
    rows, columns = MATRICES[size]
    side, small = SIDES[size], SMALL_SIDES[size]
    batch = BATCHES[size]

    def normal(*shape: int) -> Any:
        return generator.standard_normal(shape, np.float32)

    def positive(side: int) -> Any:
        half = normal(side, side)
        return half @ half.T + side * np.eye(side, dtype=np.float32)

    depth = {10: (2, 5, 1), 10**4: (20, 25, 20), 10**7: (100, 250, 400)}[size]
    makers: dict[str, Callable[[], Any]] = {
        "x": lambda: normal(size),
        "y": lambda: normal(size),
        "v": lambda: np.sort(normal(size)),
        "w": lambda: generator.integers(0, 100, size).astype(np.int32),
        "p": lambda: generator.random(size, np.float32) + 0.01,
        "h": lambda: normal(size),
        "a": lambda: normal(rows, columns),
        "b": lambda: normal(rows, columns),
        "row": lambda: normal(columns),
        "column": lambda: normal(rows, 1),
        "c": lambda: normal(*depth),
        "s": lambda: normal(side, side),
        "t": lambda: normal(side, side),
        "q": lambda: positive(small),
        "u": lambda: normal(max(size // 10, 4), min(size, 10)),
        "e": lambda: normal(*batch),
        "f": lambda: normal(batch[0], batch[2], batch[1]),
        "i": lambda: generator.permutation(size),
        "j": lambda: generator.permutation(rows),
        "k": lambda: generator.integers(0, columns, rows),
        "g": lambda: np.stack([generator.permutation(rows), generator.integers(0, columns, rows)]),
        "l": lambda: generator.integers(0, 10, max(size // 10, 1)),
        "o": lambda: generator.random(size) < 0.5,
        "n": lambda: size,
        "side": lambda: math.isqrt(size),
        "rows": lambda: rows,
        "columns": lambda: columns,
    }
    return makers[name]()


class Library:
    """The words of one library."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.wait = ""
        if name == "afterglow":
            from afterglow import np as m
            from afterglow import npx

            self.names = {"m": m, "npx": npx, "float32": "float32"}
            self.wait = ".wait_to_read()"
        elif name == "numpy":
            self.names = {"m": np, "float32": np.float32, "generator": np.random.default_rng(0)}
        elif name == "torch":
            import torch
            from torch.nn import functional

            self.names = {"m": torch, "F": functional, "float32": torch.float32}
        else:
            import jax
            from jax import numpy as m

            self.names = {"m": m, "jax": jax, "float32": m.float32, "key": jax.random.key(0)}
            self.wait = ".block_until_ready()"
        self.cache: dict[str, Any] = {}
        self.size = 0

    def array(self, host: Any) -> Any:
        """A host array as the library's own."""
        m = self.names["m"]
        if self.name == "numpy" or not isinstance(host, np.ndarray):
            return host
        if self.name == "torch":
            return m.from_numpy(host.copy())
        number = np.int32 if host.dtype == np.int64 else host.dtype
        array = m.array(
            host.astype(number), dtype=str(number.name if number is not np.int32 else "int32")
        )
        array.wait_to_read() if self.name == "afterglow" else array.block_until_ready()
        return array

    def input(self, name: str, size: int) -> Any:
        """One input of a call. Only those of one size are kept."""
        if size != self.size:
            self.size = size
            self.cache.clear()
        if name not in self.cache:
            host = host_inputs(name, size)
            self.cache[name] = host if name == "h" else self.array(host)
        return self.cache[name]

    def inputs(self, call: Call, size: int) -> list[Any]:
        """The inputs of a call; what it writes to is its own."""
        inputs = [self.input(name, size) for name in call.inputs.split()]
        if call.statement:
            inputs[0] = self.array(host_inputs(call.inputs.split()[0], size))
        return inputs

    def source(self, call: Call) -> tuple[str, str]:
        """A call that is waited for, and what it returns, as code."""
        expression = call.expressions[self.name]
        if call.statement and self.name != "jax":
            first = call.inputs.split()[0]
            return f"{expression}; {first}{self.wait}" if self.wait else expression, first
        if not self.wait:
            return expression, expression
        if call.several:
            return f"for one in {expression}: one{self.wait}", expression
        return f"({expression}){self.wait}", expression

    def loop(self, call: Call) -> Callable[..., None]:
        """A function that calls so many times."""
        code, _ = self.source(call)
        text = f"def loop(count, {', '.join(call.inputs.split())}):\n"
        text += f" for _ in range(count):\n  {code}\n"
        namespace = dict(self.names)
        exec(text, namespace)
        return namespace["loop"]  # type: ignore[no-any-return]


@cache
def library(name: str) -> Library:
    """The library of this process."""
    return Library(name)


def repeated(call: Call, size: int, column: str) -> Task:
    """The time of one call, in a loop whose length is found out first."""
    words = library(column)
    inputs = words.inputs(call, size)
    loop = words.loop(call)
    loop(1, *inputs)
    begin = time.perf_counter()
    loop(1, *inputs)
    count = 1
    while (spent := time.perf_counter() - begin) < LOOP / 4:
        count *= 3
        begin = time.perf_counter()
        loop(count, *inputs)
    count = max(1, round(LOOP * count / spent))

    return timed(lambda: loop(count, *inputs), count=count)


def values(call: Call, size: int, column: str) -> Any:
    """What a call answers, on the host."""
    words = library(column)
    inputs = words.inputs(call, size)
    code, result = words.source(call)
    namespace = {**words.names, **dict(zip(call.inputs.split(), inputs, strict=True))}
    if call.statement and column != "jax":
        exec(code, namespace)
    value = eval(result, namespace)
    parts = value if call.several else [value]
    hosts = [part.asnumpy() if column == "afterglow" else np.asarray(part) for part in parts]
    return np.concatenate([np.ravel(host) for host in hosts]).astype(np.float64)


def row(call: Call, size: int) -> Row:
    """Make the row of a call at a size."""
    peers = LIBRARIES[1:]
    return Row(
        f"arrays/{call.family}/{call.name}/{SIZES[size]}",
        (Figure(f"{call.name}, {SIZES[size]}", (Goal(1.2, peers), Goal(3.0, peers))),),
        tuple(call.expressions),
        partial(repeated, call, size),
        rounds=5,
        rest=0.0,
        both_mallocs=size >= LARGE,
        values=partial(values, call, size) if call.comparable and size < LARGE else None,
        tolerance=(1e-3, 1e-4),
        enough=3.0,
    )


ROWS = [row(call, size) for size in SIZES for call in CALLS if size < LARGE or not call.only_small]

if __name__ == "__main__":
    from bench import main

    main("arrays")

# SPDX-License-Identifier: Apache-2.0
"""Runs one library's calls of :mod:`arrays`: started by it, one process per library and setting.

``python arrays_worker.py LIBRARY`` reads a line of JSON per request and answers it with one:
``{"row": NUMBER, "size": N, "seconds": S}`` times a call in a loop of about S seconds,
``{"row": NUMBER, "size": N, "file": PATH}`` writes its value.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from arrays_rows import ROWS, Row

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
        self.cache: dict[tuple[str, int], Any] = {}
        self.loops: dict[int, tuple[Any, list[Any], float]] = {}
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
        """One input of a row. Only those of one size are kept."""
        if size != self.size:
            self.size = size
            self.cache.clear()
            self.loops.clear()
        if (name, size) not in self.cache:
            host = host_inputs(name, size)
            self.cache[name, size] = host if name == "h" else self.array(host)
        return self.cache[name, size]

    def inputs(self, row: Row, size: int) -> list[Any]:
        """The inputs of a row; what it writes to is its own."""
        inputs = [self.input(name, size) for name in row.inputs.split()]
        if row.statement:
            inputs[0] = self.array(host_inputs(row.inputs.split()[0], size))
        return inputs

    def source(self, row: Row) -> tuple[str, str]:
        """A call that is waited for, and what it returns, as code."""
        expression = row.expressions[self.name]
        if row.statement and self.name != "jax":
            first = row.inputs.split()[0]
            return f"{expression}; {first}{self.wait}" if self.wait else expression, first
        if not self.wait:
            return expression, expression
        if row.several:
            return f"for one in {expression}: one{self.wait}", expression
        return f"({expression}){self.wait}", expression

    def loop(self, row: Row) -> Callable[..., None]:
        """A function that calls so many times."""
        call, _ = self.source(row)
        text = f"def loop(count, {', '.join(row.inputs.split())}):\n"
        text += f" for _ in range(count):\n  {call}\n"
        namespace = dict(self.names)
        exec(text, namespace)
        return namespace["loop"]  # type: ignore[no-any-return]

    def time(self, number: int, size: int, seconds: float) -> float:
        """The time of one call, in a loop of about so many seconds."""
        row = ROWS[number]
        if size != self.size or number not in self.loops:
            inputs = self.inputs(row, size)
            loop = self.loop(row)
            loop(1, *inputs)
            begin = time.perf_counter()
            loop(1, *inputs)
            count = 1
            while (spent := time.perf_counter() - begin) < seconds / 4:
                count *= 3
                begin = time.perf_counter()
                loop(count, *inputs)
            self.loops = {number: (loop, inputs, spent / count)}
        loop, inputs, one = self.loops[number]
        count = max(1, round(seconds / one))
        begin = time.perf_counter()
        loop(count, *inputs)
        return (time.perf_counter() - begin) / count

    def save(self, number: int, size: int, file: str) -> None:
        """Write the value of a call."""
        row = ROWS[number]
        inputs = self.inputs(row, size)
        call, result = self.source(row)
        namespace = {**self.names, **dict(zip(row.inputs.split(), inputs, strict=True))}
        if row.statement and self.name != "jax":
            exec(call, namespace)
        value = eval(result, namespace)
        parts = value if row.several else [value]
        hosts = [part.asnumpy() if self.name == "afterglow" else np.asarray(part) for part in parts]
        np.save(file, np.concatenate([np.ravel(host) for host in hosts]).astype(np.float64))


def main() -> None:
    """Answer requests until standard input ends."""
    library = Library(sys.argv[1])
    print(json.dumps({"ready": sys.argv[1]}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {}
        try:
            if "file" in request:
                library.save(request["row"], request["size"], request["file"])
            else:
                seconds = library.time(request["row"], request["size"], request["seconds"])
                answer["seconds"] = seconds
        except Exception as error:
            answer["error"] = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

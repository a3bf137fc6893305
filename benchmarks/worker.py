# SPDX-License-Identifier: Apache-2.0
"""Runs one library's share of a benchmark: started by a driver, one process per library.

``python worker.py LIBRARY`` reads a task name per line and answers each with one line of JSON:
``{"seconds": ..., "wait": ...}`` for one round (seconds for one operation; the final wait of loops
that only issue is given apart). Except where a task is about overwritten results, nothing that is
timed can be skipped by a lazy library.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

Answer = dict[str, float]


def library(name: str) -> dict[str, Callable[..., Any]]:
    """The few operations that the tasks need, in the library's own words."""
    if name == "afterglow" or name == "mxnet":
        if name == "afterglow":
            import afterglow as mx
        else:
            import mxnet as mx  # type: ignore[no-redef]

        return {
            "ones": lambda *shape: mx.nd.ones(shape),
            "normal": lambda *shape: mx.nd.random.normal(shape=shape),
            "dot": mx.nd.dot,
            "wait": lambda x: x.wait_to_read(),
            "wait_all": mx.nd.waitall,
        }
    if name == "numpy":
        import numpy as np

        generator = np.random.default_rng(0)
        return {
            "ones": lambda *shape: np.ones(shape, np.float32),
            "normal": lambda *shape: generator.standard_normal(shape, np.float32),
            "dot": np.dot,
            "wait": lambda x: None,
            "wait_all": lambda: None,
        }
    if name == "torch":
        import torch

        return {
            "ones": lambda *shape: torch.ones(shape),
            "normal": lambda *shape: torch.randn(shape),
            "dot": torch.mm,
            "wait": lambda x: None,
            "wait_all": lambda: None,
        }
    if name == "jax":
        import jax
        import jax.numpy as jnp

        key = [jax.random.key(0)]

        def normal(*shape: int) -> Any:
            key[0], use = jax.random.split(key[0])
            return draw(use, shape)

        draw = jax.jit(jax.random.normal, static_argnums=1)
        return {
            "ones": lambda *shape: jnp.ones(shape, jnp.float32),
            "normal": normal,
            "dot": jax.jit(jnp.dot),
            "add_one": jax.jit(lambda x: x + 1),
            "wait": lambda x: x.block_until_ready(),
            "wait_all": lambda: None,
        }
    raise SystemExit(f"unknown library {name}")


class Tasks:
    """One method per question; each returns the time of one round."""

    def __init__(self, name: str) -> None:
        self.calls = library(name)
        ones = self.calls["ones"]
        self.add_one = self.calls.get("add_one", lambda x: x + 1)
        self.tiny = ones(1, 2)
        self.large = ones(2000, 2000)
        for array in (self.tiny, self.large):
            self.calls["wait"](array)

    def issue_overwritten(self) -> Answer:
        """``y = x + 1`` on a tiny array, each result replacing the last."""
        x, count = self.tiny, 20_000
        begin = time.perf_counter()
        for _ in range(count):
            y = x + 1
        issued = time.perf_counter()
        self.calls["wait_all"]()
        self.calls["wait"](y)
        return {"seconds": (issued - begin) / count, "wait": time.perf_counter() - issued}

    def issue_kept(self) -> Answer:
        """The same with every result kept."""
        x, count = self.tiny, 20_000
        kept = [x] * count
        begin = time.perf_counter()
        for i in range(count):
            kept[i] = x + 1
        issued = time.perf_counter()
        self.calls["wait_all"]()
        self.calls["wait"](kept[-1])
        return {"seconds": (issued - begin) / count, "wait": time.perf_counter() - issued}

    def value(self) -> Answer:
        """``(x + 1)`` and its value each time."""
        x, count, wait = self.tiny, 5_000, self.calls["wait"]
        if hasattr(x, "wait_to_read"):
            begin = time.perf_counter()
            for _ in range(count):
                (x + 1).wait_to_read()
            return {"seconds": (time.perf_counter() - begin) / count}
        if hasattr(x, "block_until_ready"):
            begin = time.perf_counter()
            for _ in range(count):
                wait(x + 1)
            return {"seconds": (time.perf_counter() - begin) / count}
        begin = time.perf_counter()
        for _ in range(count):
            x + 1
        return {"seconds": (time.perf_counter() - begin) / count}

    def add_2000(self) -> Answer:
        """(2000, 2000) + 1, synchronised each time, 200 times."""
        x, count, add_one, wait = self.large, 200, self.add_one, self.calls["wait"]
        begin = time.perf_counter()
        for _ in range(count):
            wait(add_one(x))
        return {"seconds": (time.perf_counter() - begin) / count}

    def dot_2000(self) -> Answer:
        """The product of two 2000 x 2000 matrices."""
        x, dot, wait = self.large, self.calls["dot"], self.calls["wait"]
        begin = time.perf_counter()
        wait(dot(x, x))
        return {"seconds": time.perf_counter() - begin}

    def normal_1000(self) -> Answer:
        """1000 x 1000 normal numbers."""
        count, normal, wait = 10, self.calls["normal"], self.calls["wait"]
        begin = time.perf_counter()
        for _ in range(count):
            wait(normal(1000, 1000))
        return {"seconds": (time.perf_counter() - begin) / count}


def main() -> None:
    """Answer tasks until standard input ends."""
    tasks = Tasks(sys.argv[1])
    print(json.dumps({"ready": sys.argv[1]}), flush=True)
    for line in sys.stdin:
        print(json.dumps(getattr(tasks, line.strip())()), flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Runs one library's share of ``window.py``: started by it, one process per library and setting.

``python window_worker.py LIBRARY`` reads a request per line and answers each with a line of JSON.
A request is ``FORM TASK``, timed like the tasks of ``worker.py``; ``FORM check TASK FILE`` writes
the values of a formula. The form is the name of a column: a library may run plain and compiled.

Every formula is written out once, in calls that all libraries have.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from worker import Answer, Tasks

COLUMNS = {"torch": ("torch", "torch.compile"), "jax": ("jax.jit",)}
SIZE = 2000


@dataclass(frozen=True, eq=False)
class Calls:
    """The calls that the formulas are written in."""

    tanh: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    maximum: Callable[[Any, float], Any]
    row_max: Callable[[Any], Any]
    row_sum: Callable[[Any], Any]
    row_mean: Callable[[Any], Any]
    array: Callable[[Any], Any]  #: from NumPy
    values: Callable[[Any], Any]  #: to NumPy


def calls(name: str) -> Calls:
    """The library's own words for them."""
    if name == "torch":
        import torch

        return Calls(
            *(torch.tanh, torch.exp, torch.sqrt, torch.clamp_min),
            lambda x: torch.amax(x, 1, keepdim=True),
            lambda x: torch.sum(x, 1, keepdim=True),
            lambda x: torch.mean(x, 1, keepdim=True),
            torch.tensor,
            lambda x: x.numpy(),
        )
    names = {"jax": "jax.numpy", "afterglow": "afterglow.ndarray", "mxnet": "mxnet.ndarray"}
    module = importlib.import_module(names.get(name, name))
    return Calls(
        *(module.tanh, module.exp, module.sqrt, module.maximum),
        lambda x: module.max(x, axis=1, keepdims=True),
        lambda x: module.sum(x, axis=1, keepdims=True),
        lambda x: module.mean(x, axis=1, keepdims=True),
        module.array,
        lambda x: x.asnumpy() if hasattr(x, "asnumpy") else np.asarray(x),
    )


def expression(c: Calls, x: Any) -> Any:
    return c.sqrt(c.exp(c.tanh(x * 2 + 1))) / (x + 3)


def chain(c: Calls, x: Any) -> Any:
    return c.maximum((x * 1.5 + 0.25) * 0.75 - 0.5, 0.125) * 3.0


def softmax(c: Calls, x: Any) -> Any:
    e = c.exp(x - c.row_max(x))
    return e / c.row_sum(e)


def layer_norm(c: Calls, x: Any, gamma: Any, beta: Any) -> Any:
    centred = x - c.row_mean(x)
    variance = c.row_mean(centred * centred)
    return centred / c.sqrt(variance + 1e-5) * gamma + beta


def gelu_power(c: Calls, x: Any) -> Any:
    return 0.5 * x * (1 + c.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def gelu_product(c: Calls, x: Any) -> Any:
    return 0.5 * x * (1 + c.tanh(0.7978845608 * (x + 0.044715 * (x * x * x))))


def adam_slices(c: Calls, w: Any, m: Any, v: Any, g: Any) -> None:
    m[:] = 0.9 * m + 0.1 * g
    v[:] = 0.999 * v + 0.001 * (g * g)
    w[:] = w - 0.001 * m / (c.sqrt(v) + 1e-8)


def adam_operators(c: Calls, w: Any, m: Any, v: Any, g: Any) -> None:
    m *= 0.9
    m += 0.1 * g
    v *= 0.999
    v += 0.001 * (g * g)
    w -= 0.001 * m / (c.sqrt(v) + 1e-8)


def adam_donated(c: Calls, w: Any, m: Any, v: Any, g: Any) -> Any:
    """The same for arrays that cannot be written."""
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * (g * g)
    return w - 0.001 * m / (c.sqrt(v) + 1e-8), m, v


@dataclass(frozen=True)
class Formula:
    """A formula, and what it is applied to."""

    text: str
    function: Callable[..., Any]
    vectors: int = 0  #: how many arrays of shape (1, SIZE) follow the first input
    donated: Callable[..., Any] | None = None  #: given if w, m and v are written in place

    def inputs(self) -> list[Any]:
        """The same NumPy arrays in every process."""
        draw = np.random.RandomState(7).uniform
        shapes: list[tuple[int, ...]] = [(SIZE, SIZE), *[(1, SIZE)] * self.vectors]
        if self.donated:
            shapes = [(SIZE * SIZE,)] * 4
        arrays = [draw(-2, 2, shape).astype(np.float32) for shape in shapes]
        if self.donated:
            arrays[2] *= arrays[2]
        return arrays


FORMULAS = {
    "expression": Formula("tanh(x * 2 + 1).exp().sqrt() / (x + 3)", expression),
    "chain": Formula("mul, add, mul, sub, max, mul", chain),
    "softmax": Formula("softmax of rows", softmax),
    "layer_norm": Formula("layer norm of rows", layer_norm, vectors=2),
    "gelu_power": Formula("gelu, x**3", gelu_power),
    "gelu_product": Formula("gelu, x * x * x", gelu_product),
    "adam_slices": Formula("Adam, m[:] = ...", adam_slices, donated=adam_donated),
    "adam_operators": Formula("Adam, m *= ...; m += ...", adam_operators, donated=adam_donated),
}


class Window(Tasks):
    """One method per question that is no formula, and :meth:`formula` for those."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
        self.words = calls(name)
        self.compiled: dict[tuple[str, str], Callable[..., Any]] = {}
        self.task = ""
        self.inputs: list[Any] = []

    def waited(self, arrays: list[Any]) -> None:
        """Return when all values are there."""
        self.calls["wait_all"]()
        for array in arrays:
            self.calls["wait"](array)

    def function(self, form: str, task: str) -> Callable[..., Any]:
        """The formula in a form of the library, applied to the library's calls."""
        if (form, task) not in self.compiled:
            function = FORMULAS[task].function
            if form == "jax.jit":
                import jax

                donated = FORMULAS[task].donated
                function = jax.jit(
                    donated or function,
                    static_argnums=0,
                    donate_argnums=(1, 2, 3) if donated else (),
                )
            elif form == "torch.compile":
                import torch

                function = torch.compile(function, fullgraph=True)
            self.compiled[form, task] = function
        return self.compiled[form, task]

    def prepare(self, task: str) -> None:
        """Let the inputs of the task be there."""
        if self.task != task:
            self.task = task
            self.inputs = [self.words.array(array) for array in FORMULAS[task].inputs()]
            self.waited(self.inputs)

    def once(self, form: str, task: str) -> list[Any]:
        """Apply the formula once; the results, computed."""
        result = self.function(form, task)(self.words, *self.inputs)
        results = [result]
        if FORMULAS[task].donated:
            if result is not None:
                self.inputs[:3] = result
            results = self.inputs[:3]
        self.waited(results)
        return results

    def check(self, form: str, task: str, file: str) -> Answer:
        """Write the values, those in place after three steps from the start."""
        self.task = ""
        self.prepare(task)
        for _ in range(3):
            results = self.once(form, task)
        np.save(file, np.stack([self.words.values(result) for result in results]))
        self.task = ""
        return {}

    def formula(self, form: str, task: str) -> Answer:
        """Apply the formula several times, every result computed and kept."""
        self.prepare(task)
        self.once(form, task)
        count, kept = 5, []
        begin = time.perf_counter()
        for _ in range(count):
            kept.append(self.once(form, task))
        return {"seconds": (time.perf_counter() - begin) / count}

    def peak(self, form: str, task: str) -> Answer:
        """How many bytes the formula needs by Afterglow's own count, and those of its result."""
        import afterglow as mx

        self.prepare(task)
        mx.nd.waitall()
        before = mx.memory.active()
        mx.memory.reset_peak()
        results = self.once(form, task)
        growth = mx.memory.peak() - before
        return {"growth": growth, "output": sum(4 * result.size for result in results)}

    def overwritten_1000(self) -> Answer:
        """``y = x + 1`` on (2000, 2000) a thousand times, only the last result kept."""
        with ran(self.name) as counted:
            x = self.large
            begin = time.perf_counter()
            for _ in range(1000):
                y = x + 1
            self.calls["wait_all"]()
            self.calls["wait"](y)
            seconds = time.perf_counter() - begin
        assert np.all(self.words.values(y) == 2)
        return {"seconds": seconds, **counted}

    def dependent_64(self) -> Answer:
        """64 calls that depend on each other on a tiny array, then their value."""
        x, count, values = self.tiny, 500, self.words.values
        begin = time.perf_counter()
        for _ in range(count):
            y = x
            for _ in range(64):
                y = y + 1
            result = values(y)
        seconds = (time.perf_counter() - begin) / count
        assert np.all(result == 65)
        return {"seconds": seconds}

    def chains(self, form: str, kind: str, only: str = "") -> Answer:
        """Two chains that do not depend on each other, their calls in turns; or one of them."""
        dot, tanh, ones = self.calls["dot"], self.words.tanh, self.calls["ones"]
        weight = ones(128, 128) / 128
        products = (lambda x: dot(x, weight)), (128, 128)
        elementwise = (lambda x: tanh(x * 2 + 1)), (60_000,)
        pairs = {
            "dot": (products, products),
            "elementwise": (elementwise, elementwise),
            "mixed": (products, elementwise),
        }
        chosen = pairs[kind] if not only else (pairs[kind][int(only)],)
        values = [ones(*shape) for _, shape in chosen]
        self.waited(values)
        begin = time.perf_counter()
        for _ in range(150):
            values = [step(value) for (step, _), value in zip(chosen, values, strict=True)]
        self.waited(values)
        return {"seconds": time.perf_counter() - begin}

    def overlap(self) -> Answer:
        """How long a copy to cpu(1) runs, and how much of that while a product does."""
        import afterglow as mx

        x, y = mx.nd.ones((4000, 4000)), mx.nd.ones((SIZE, SIZE))
        self.waited([x, y])
        with mx.engine.record() as events:
            product = mx.nd.dot(y, y)
            copy = x.as_in_context(mx.cpu(1))
            self.waited([product, copy])
        assert copy.context == mx.cpu(1)
        running = {"copy": 0, "dot": 0}
        copying, both, last = 0, 0, 0
        for event in sorted(events, key=lambda event: event.nanoseconds):
            if event.op in running and event.what != "pushed":
                copying += (event.nanoseconds - last) * (running["copy"] > 0)
                both += (event.nanoseconds - last) * (running["copy"] > 0 and running["dot"] > 0)
                running[event.op] += 1 if event.what == "started" else -1
                last = event.nanoseconds
        assert copying, f"no copy among {sorted({event.op for event in events})}"
        return {"seconds": (copying - both) / 1e9, "copy": copying / 1e9}


@contextmanager
def ran(name: str) -> Iterator[Answer]:
    """Count the calls that Afterglow runs in a ``with`` scope."""
    counted: Answer = {}
    if name != "afterglow":
        yield counted
        return
    import afterglow as mx

    before = mx.engine.stats()["run"]
    yield counted
    counted["ran"] = mx.engine.stats()["run"] - before


def main() -> None:
    """Answer requests until standard input ends."""
    window = Window(sys.argv[1])
    print(json.dumps({"ready": sys.argv[1]}), flush=True)
    for line in sys.stdin:
        form, task, *more = line.split()
        try:
            if more:
                answer = getattr(window, task)(form, *more)
            elif task in FORMULAS:
                answer = window.formula(form, task)
            else:
                answer = getattr(window, task)()
        except Exception as error:
            answer = {"error": f"{form} {task}: {type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Formulas of elementwise calls and reductions, each written out once, in calls that all have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from words import Words, words

SIZE = 2000


def expression(c: Words, x: Any) -> Any:
    return c.sqrt(c.exp(c.tanh(x * 2 + 1))) / (x + 3)


def chain(c: Words, x: Any) -> Any:
    return c.maximum((x * 1.5 + 0.25) * 0.75 - 0.5, 0.125) * 3.0


def softmax(c: Words, x: Any) -> Any:
    e = c.exp(x - c.row_max(x))
    return e / c.row_sum(e)


def layer_norm(c: Words, x: Any, gamma: Any, beta: Any) -> Any:
    centred = x - c.row_mean(x)
    variance = c.row_mean(centred * centred)
    return centred / c.sqrt(variance + 1e-5) * gamma + beta


def gelu_power(c: Words, x: Any) -> Any:
    return 0.5 * x * (1 + c.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def gelu_product(c: Words, x: Any) -> Any:
    return 0.5 * x * (1 + c.tanh(0.7978845608 * (x + 0.044715 * (x * x * x))))


def adam_slices(c: Words, w: Any, m: Any, v: Any, g: Any) -> None:
    m[:] = 0.9 * m + 0.1 * g
    v[:] = 0.999 * v + 0.001 * (g * g)
    w[:] = w - 0.001 * m / (c.sqrt(v) + 1e-8)


def adam_operators(c: Words, w: Any, m: Any, v: Any, g: Any) -> None:
    m *= 0.9
    m += 0.1 * g
    v *= 0.999
    v += 0.001 * (g * g)
    w -= 0.001 * m / (c.sqrt(v) + 1e-8)


def adam_donated(c: Words, w: Any, m: Any, v: Any, g: Any) -> Any:
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


class Applied:
    """A formula in the form of a column, with its inputs."""

    def __init__(self, column: str, formula: Formula, rows: int | None = None) -> None:
        self.words = words(column)
        self.formula = formula
        self.function = self._compiled(column)
        self.inputs = [self.words.array(array[:rows]) for array in formula.inputs()]
        self.words.waited(self.inputs)

    def _compiled(self, column: str) -> Callable[..., Any]:
        function, donated = self.formula.function, self.formula.donated
        if column == "jax.jit":
            import jax

            return jax.jit(  # type: ignore[no-any-return]
                donated or function,
                static_argnums=0,
                donate_argnums=(1, 2, 3) if donated else (),
            )
        if column == "torch.compile":
            import torch

            return torch.compile(function, fullgraph=True)  # type: ignore[no-any-return]
        return function

    def once(self) -> list[Any]:
        """Apply the formula once; the results, computed."""
        result = self.function(self.words, *self.inputs)
        results = [result]
        if self.formula.donated:
            if result is not None:
                self.inputs[:3] = result
            results = self.inputs[:3]
        return self.words.waited(results)

    def values(self) -> Any:
        """Return the values on the host, those in place after three steps."""
        for _ in range(3):
            results = self.once()
        return np.stack([self.words.values(result) for result in results])

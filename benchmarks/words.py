# SPDX-License-Identifier: Apache-2.0
"""The few calls that tasks and formulas are written in, in the words of each library."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from rows import library_of


@dataclass(frozen=True, eq=False)
class Words:
    """What a library calls them."""

    ones: Callable[..., Any]
    normal: Callable[..., Any]
    dot: Callable[[Any, Any], Any]
    tanh: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    maximum: Callable[[Any, float], Any]
    row_max: Callable[[Any], Any]
    row_sum: Callable[[Any], Any]
    row_mean: Callable[[Any], Any]
    array: Callable[[Any], Any]  #: from NumPy
    values: Callable[[Any], Any]  #: to NumPy
    wait: Callable[[Any], Any]
    wait_all: Callable[[], Any] = lambda: None
    add_one: Callable[[Any], Any] = lambda x: x + 1

    def waited(self, arrays: list[Any]) -> list[Any]:
        """Return arrays when all their values are there."""
        self.wait_all()
        for array in arrays:
            self.wait(array)
        return arrays


def _rows(module: Any) -> tuple[Callable[[Any], Any], ...]:
    return (
        lambda x: module.max(x, axis=1, keepdims=True),
        lambda x: module.sum(x, axis=1, keepdims=True),
        lambda x: module.mean(x, axis=1, keepdims=True),
    )


def _mxnet(name: str) -> Words:
    nd = importlib.import_module(f"{name}.ndarray")
    return Words(
        lambda *shape: nd.ones(shape),
        lambda *shape: nd.random.normal(shape=shape),
        *(nd.dot, nd.tanh, nd.exp, nd.sqrt, nd.maximum, *_rows(nd), nd.array),
        lambda x: x.asnumpy(),
        lambda x: x.wait_to_read(),
        nd.waitall,
    )


def _numpy() -> Words:
    generator = np.random.default_rng(0)
    return Words(
        lambda *shape: np.ones(shape, np.float32),
        lambda *shape: generator.standard_normal(shape, np.float32),
        *(np.dot, np.tanh, np.exp, np.sqrt, np.maximum, *_rows(np), np.array),
        np.asarray,
        lambda x: None,
    )


def _torch() -> Words:
    import torch

    return Words(
        lambda *shape: torch.ones(shape),
        lambda *shape: torch.randn(shape),
        *(torch.mm, torch.tanh, torch.exp, torch.sqrt, torch.clamp_min),
        lambda x: torch.amax(x, 1, keepdim=True),
        lambda x: torch.sum(x, 1, keepdim=True),
        lambda x: torch.mean(x, 1, keepdim=True),
        torch.tensor,
        lambda x: x.numpy(),
        lambda x: None,
    )


def _jax() -> Words:
    import jax
    import jax.numpy as jnp

    key = [jax.random.key(0)]
    draw = jax.jit(jax.random.normal, static_argnums=1)

    def normal(*shape: int) -> Any:
        key[0], use = jax.random.split(key[0])
        return draw(use, shape)

    return Words(
        lambda *shape: jnp.ones(shape, jnp.float32),
        normal,
        jax.jit(jnp.dot),
        *(jnp.tanh, jnp.exp, jnp.sqrt, jnp.maximum, *_rows(jnp), jnp.array),
        np.asarray,
        lambda x: x.block_until_ready(),
        add_one=jax.jit(lambda x: x + 1),
    )


@cache
def words(column: str) -> Words:
    """Return the words of the library that a column runs."""
    name = library_of(column)
    others = {"numpy": _numpy, "torch": _torch, "jax": _jax}
    return others[name]() if name in others else _mxnet(name)

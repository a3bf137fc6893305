# SPDX-License-Identifier: Apache-2.0
"""What programs share: arrays of either world, weights by name, and plain training."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import mxnet as mx
import numpy as onp
from mxnet import autograd
from mxnet.util import is_np_array

#: How many steps of training are compared.
STEPS = 50


class Outcome(NamedTuple):
    """What became of a program."""

    losses: list[float]
    score: float  # how well the task was learnt


def array(values: Any, dtype: str = "float32") -> Any:
    """Return an array of the world that is switched on."""
    return (mx.np if is_np_array() else mx.nd).array(values, dtype=dtype)


def functions(F: Any = mx.nd) -> Any:
    """Return where ``relu``, ``softmax`` and their like are in that world."""
    return F.npx if is_np_array() else F


def joined(arrays: list[Any], axis: int) -> Any:
    """Return arrays one after another along an axis."""
    return mx.np.concatenate(arrays, axis) if is_np_array() else mx.nd.concat(*arrays, dim=axis)


def stacked(arrays: list[Any], axis: int = 0) -> Any:
    """Return arrays along a new axis."""
    return mx.np.stack(arrays, axis) if is_np_array() else mx.nd.stack(*arrays, axis=axis)


def attention_weights(scores: Any, lengths: Any) -> Any:
    """Return the softmax of rows, of which only so many elements count."""
    f = functions()
    mask = f.sequence_mask if is_np_array() else f.SequenceMask
    return f.softmax(mask(scores, lengths, use_sequence_length=True, value=-1e6, axis=1))


def number(loss: Any) -> float:
    """Return the only element of an array."""
    return float(loss.asnumpy().item())


class ByName(mx.init.Initializer):
    """Draws weights from a generator that is seeded by their name."""

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__(scale=scale)
        self._scale = scale

    def _init_weight(self, name: str, arr: Any) -> None:
        random = onp.random.RandomState(zlib.crc32(name.encode()))
        bound = self._scale * (3 / max(1, onp.prod(arr.shape[1:]))) ** 0.5
        arr[:] = random.uniform(-bound, bound, arr.shape).astype("float32")

    _init_default = _init_weight


def first(steps: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Give so many batches, from the beginning again where there are no more."""
    yield from itertools.islice(itertools.chain.from_iterable(itertools.repeat(batches)), steps)


def fit(
    net: Any, loss: Any, trainer: Any, batches: Iterable[Any], steps: int = STEPS
) -> list[float]:
    """Train a network with batches of data and labels; return the loss of each step."""
    losses = []
    for x, y in first(steps, batches):
        # Workers leave batches in memory that they share, which MXNet takes for another device.
        x, y = x.as_in_context(mx.cpu()), y.as_in_context(mx.cpu())
        with autograd.record():
            value = loss(net(x), y).mean()
        value.backward()
        trainer.step(1)
        losses.append(value)
    return [number(value) for value in losses]


def accuracy(net: Any, batches: Iterable[Any]) -> float:
    """Return the share of right answers."""
    right = [net(x.as_in_context(mx.cpu())).asnumpy().argmax(-1) == y.asnumpy() for x, y in batches]
    return float(onp.concatenate(right).mean())

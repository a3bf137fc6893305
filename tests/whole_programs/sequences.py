# SPDX-License-Identifier: Apache-2.0
"""A recurrent network learns a grammar, and a transformer to read backwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as onp
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn
from mxnet.gluon.data import ArrayDataset, DataLoader
from mxnet.util import is_np_array

from .training import STEPS, ByName, Outcome, array, functions, number

Rows = onp.ndarray[Any, Any]


def learn(net: Any, make: Any, epochs: int, rate: float, hybridize: bool) -> Outcome:
    """Train a network to tell the words that are known; the score is the share it tells.

    What has a negative label is not asked for.
    """
    net.initialize(ByName())
    if hybridize:
        net.hybridize()
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": rate, "epsilon": 1e-4})
    batches = DataLoader(ArrayDataset(*map(array, make(1, 640))), 64)
    losses = []
    for _ in range(epochs):
        for x, y in batches:
            known = (y >= 0).astype("float32")
            with autograd.record():
                answer = net(x)
                value = loss(answer, abs(y), known.reshape((*y.shape, 1))).sum()
            value.backward()
            trainer.step(len(x))
            losses.append(value)
    x, y = make(2, 256)
    told = net(array(x)).asnumpy().argmax(-1)
    found = [number(value) for value in losses[:STEPS]]
    return Outcome(found, float((told == y)[y >= 0].mean()))


# --- a grammar ---


def sentences(seed: int, count: int) -> tuple[Rows, Rows]:
    """Return sentences: a name, some of four words, the end of a clause, and the name again.

    What follows the end is for the net to tell.
    """
    random = onp.random.RandomState(seed)
    x = random.randint(4, 8, (count, 8))
    x[:, 0] = random.randint(0, 4, count)
    labels = onp.full((count, 8), -1)
    for sentence, label in zip(x, labels, strict=True):
        end = random.randint(2, 8)
        sentence[end] = 8
        label[end] = sentence[0]
    return x, labels


def grammar(folder: Path, hybridize: bool) -> Outcome:
    """An LSTM."""
    net = nn.HybridSequential()
    net.add(nn.Embedding(9, 8), rnn.LSTM(24, layout="NTC"), nn.Dense(9, flatten=False))
    return learn(net, sentences, 12, 0.01, hybridize)


# --- words backwards ---


def reversals(seed: int, count: int) -> tuple[Rows, Rows]:
    """Return rows of words, and the same rows backwards."""
    x = onp.random.RandomState(seed).randint(0, 8, (count, 6))
    return x, x[:, ::-1].copy()


class Attention(nn.HybridBlock):
    """Adds what several heads find at all places."""

    def __init__(self, units: int, heads: int) -> None:
        super().__init__()
        self._heads, self._scale = heads, (units // heads) ** 0.5
        self.norm = nn.LayerNorm()
        for name in ("query", "key", "value", "last"):
            setattr(self, name, nn.Dense(units, flatten=False, use_bias=False))

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        f = functions(F)
        # Symbols have no shapes: extents are kept, merged and split by codes.
        keep, merge, split = (-2, -5, -6) if is_np_array() else (0, -3, -4)

        def heads_of(one: Any) -> Any:
            apart = f.reshape(one, (keep, keep, self._heads, -1))
            return f.reshape(apart.transpose((0, 2, 1, 3)), (merge, keep, keep))

        normal = self.norm(x)
        query, key, value = (heads_of(to(normal)) for to in (self.query, self.key, self.value))
        shares = f.softmax(f.batch_dot(query, key, transpose_b=True) / self._scale)
        found = f.reshape(f.batch_dot(shares, value), (split, -1, self._heads, keep, keep))
        return x + self.last(f.reshape(found.transpose((0, 2, 1, 3)), (keep, keep, merge)))


class Residual(nn.HybridBlock):
    """Adds what two layers make of the normalised input."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.layers = nn.HybridSequential()
        self.layers.add(nn.LayerNorm(), nn.Dense(2 * units, flatten=False, activation="softrelu"))
        self.layers.add(nn.Dense(units, flatten=False))

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return x + self.layers(x)


class Transformer(nn.HybridBlock):
    """Two layers of attention and products, over words and their places."""

    def __init__(self, words: int, length: int, units: int = 32) -> None:
        super().__init__()
        self.words = nn.Embedding(words, units)
        self.places = self.params.get("places", shape=(1, length, units))
        self.layers = nn.HybridSequential()
        for _ in range(2):
            self.layers.add(Attention(units, 4), Residual(units))
        self.answer = nn.Dense(words, flatten=False)

    def hybrid_forward(self, F: Any, x: Any, places: Any) -> Any:
        add = F.np.add if is_np_array() else F.broadcast_add
        return self.answer(self.layers(add(self.words(x), places)))


def backwards(folder: Path, hybridize: bool) -> Outcome:
    """A transformer."""
    return learn(Transformer(8, 6), reversals, 20, 0.002, hybridize)

# SPDX-License-Identifier: Apache-2.0
"""Small networks learn their tasks, with the same losses in both worlds, hybridized or not."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, npx
from afterglow.gluon import nn, rnn

Numbers = onp.ndarray[Any, Any]


class Task(NamedTuple):
    """What is learnt: numbers and labels for training and for the test, and how."""

    make: Callable[[str], Any]
    train: tuple[Numbers, Numbers]
    test: tuple[Numbers, Numbers]
    epochs: int
    rate: float
    batch: int = 64


# --- LeNet tells patterns from each other ---


def lenet(world: str) -> Any:
    """Return LeNet for images of 20 by 20 pixels."""
    net = nn.HybridSequential(prefix="lenet_")
    with net.name_scope():
        net.add(
            nn.Conv2D(6, 5, padding=2, activation="relu"),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(16, 5, activation="relu"),
            nn.AvgPool2D(2, 2),
            nn.Dense(60, activation="relu"),
            nn.Dense(42, activation="relu"),
            nn.Dense(6),
        )
    return net


def patterns(seed: int, count: int) -> tuple[Numbers, Numbers]:
    """Return noisy pictures of six shapes, at any place, and which shape they show."""
    random = onp.random.RandomState(seed)
    x = random.normal(0, 0.3, (count, 1, 20, 20))
    labels = random.randint(0, 6, count)
    for image, label in zip(x[:, 0], labels, strict=True):
        row, column = random.randint(0, 12, 2)
        window = image[row : row + 8, column : column + 8]
        places = onp.arange(8)
        if label == 0:
            window[3:5] += 1  # a line
        elif label == 1:
            window[:, 3:5] += 1
        elif label == 2:
            window[places, places] += 2  # a diagonal
        elif label == 3:
            window[places, places[::-1]] += 2
        elif label == 4:
            window[[0, 7]] += 1  # a frame
            window[1:7, [0, 7]] += 1
        else:
            window[2:6, 2:6] += 1  # a square
    return x.astype("float32"), labels.astype("float32")


# --- an LSTM knows the sentences of a grammar ---


def language_model(world: str) -> Any:
    """Return a net that tells the next word of each sentence."""
    net = nn.HybridSequential(prefix="language_")
    with net.name_scope():
        net.add(nn.Embedding(9, 8), rnn.LSTM(24, layout="NTC"), nn.Dense(9, flatten=False))
    return net


def sentences(seed: int, count: int) -> tuple[Numbers, Numbers]:
    """Return sentences: a name, some of four words, the end of a clause, and the name again.

    What follows the end is for the net to tell; of all else there is no label.
    """
    random = onp.random.RandomState(seed)
    x = random.randint(4, 8, (count, 8))
    x[:, 0] = random.randint(0, 4, count)
    labels = onp.full((count, 8), -1)
    for sentence, label in zip(x, labels, strict=True):
        end = random.randint(2, 8)
        sentence[end] = 8
        label[end] = sentence[0]
    return x.astype("float32"), labels.astype("float32")


# --- a transformer reverses what it reads ---


class Attention(gluon.HybridBlock):
    """Adds what several heads find at all places."""

    def __init__(self, world: str, units: int, heads: int) -> None:
        super().__init__()
        self._world, self._heads, self._units = world, heads, units
        with self.name_scope():
            self.norm = nn.LayerNorm()
            for name in ("query", "key", "value", "last"):
                setattr(self, name, nn.Dense(units, flatten=False, use_bias=False))

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Attend."""
        f = F if self._world == "nd" else F.npx
        batch, length, units = x.shape
        apart = (batch, length, self._heads, units // self._heads)

        def split(one: Any) -> Any:
            return one.reshape(apart).transpose((0, 2, 1, 3)).reshape((-1, length, apart[3]))

        normal = self.norm(x)
        query, key, value = (split(to(normal)) for to in (self.query, self.key, self.value))
        shares = f.softmax(f.batch_dot(query, key, transpose_b=True) / apart[3] ** 0.5)
        found = f.batch_dot(shares, value).reshape((batch, self._heads, length, apart[3]))
        return x + self.last(found.transpose((0, 2, 1, 3)).reshape((batch, length, units)))


class Residual(gluon.HybridBlock):
    """Adds what two layers make of the normalised input."""

    def __init__(self, units: int) -> None:
        super().__init__()
        with self.name_scope():
            self.norm = nn.LayerNorm()
            self.wide = nn.Dense(2 * units, flatten=False, activation="relu")
            self.narrow = nn.Dense(units, flatten=False)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Add."""
        return x + self.narrow(self.wide(self.norm(x)))


class Transformer(gluon.HybridBlock):
    """Two layers of attention and products, over words and their places."""

    def __init__(self, world: str, words: int, length: int, units: int = 32) -> None:
        super().__init__(prefix="transformer_")
        with self.name_scope():
            self.words = nn.Embedding(words, units)
            self.places = self.params.get("places", shape=(1, length, units))
            self.layers = nn.HybridSequential()
            for _ in range(2):
                self.layers.add(Attention(world, units, 4), Residual(units))
            self.answer = nn.Dense(words, flatten=False)

    def hybrid_forward(self, F: Any, x: Any, places: Any) -> Any:
        """Return scores for each word at each place."""
        return self.answer(self.layers(self.words(x) + places))


def reversals(seed: int, count: int) -> tuple[Numbers, Numbers]:
    """Return rows of words, and the same rows backwards."""
    x = onp.random.RandomState(seed).randint(0, 8, (count, 6)).astype("float32")
    return x, x[:, ::-1].copy()


TASKS = {
    "lenet": Task(lenet, patterns(1, 960), patterns(2, 320), 12, 0.005),
    "lstm": Task(language_model, sentences(1, 640), sentences(2, 256), 16, 0.02),
    "transformer": Task(
        lambda world: Transformer(world, 8, 6), reversals(1, 640), reversals(2, 256), 12, 0.01
    ),
}


def learn(task: Task, world: str, hybridize: bool) -> tuple[list[float], float]:
    """Train a net; return the losses of all steps and the share of right answers in the test."""
    mx.random.seed(11)
    with npx.np_array(world == "np"), npx.np_shape(world == "np"):
        return _learn(task, world, hybridize)


def _learn(task: Task, world: str, hybridize: bool) -> tuple[list[float], float]:
    make = mx.nd.array if world == "nd" else mx.np.array
    net = task.make(world)
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": task.rate})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    losses = []
    for _ in range(task.epochs):
        for start in range(0, len(task.train[0]), task.batch):
            x, y = (part[start : start + task.batch] for part in task.train)
            known = (y >= 0).astype("float32")
            with autograd.record():
                value = loss(net(make(x)), make(abs(y)), make(known[..., None])).sum()
            value.backward()
            trainer.step(int(known.sum()))
            losses.append(value)
    x, y = task.test
    found = net(make(x)).asnumpy().argmax(-1)
    return [one.item() for one in losses], float((found == y)[y >= 0].mean())


@pytest.mark.parametrize("name", TASKS)
def test_a_network_learns(name: str) -> None:
    """The first steps are the same in all modes, and in each of them the task is learnt."""
    plain: list[float] = []
    for world, hybridize in itertools.product(("nd", "np"), (False, True)):
        losses, share = learn(TASKS[name], world, hybridize)
        assert share > 0.95, (world, hybridize)
        plain = plain or losses
        assert losses[:20] == pytest.approx(plain[:20], rel=1e-4), (world, hybridize)

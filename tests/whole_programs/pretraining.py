# SPDX-License-Identifier: Apache-2.0
"""A transformer learns a text by words that are hidden and sentences that follow or do not."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as onp
from mxnet import autograd, gluon
from mxnet.gluon import nn
from mxnet.gluon.data import ArrayDataset, DataLoader

from . import data
from .training import STEPS, ByName, Outcome, array, attention_weights, first, functions, number

SPECIAL = ["<pad>", "<cls>", "<sep>", "<mask>"]
PAD, CLS, SEP, MASK = range(4)
HIDDEN = 3


class Words(gluon.data.Dataset):
    """Pairs of sentences with some words hidden."""

    def __init__(self, path: Path) -> None:
        lines = path.read_text().strip().split("\n")
        paragraphs = [[one.split() for one in line[:-2].split(" . ")] for line in lines]
        words = sorted({word for paragraph in paragraphs for one in paragraph for word in one})
        self.words = SPECIAL + words
        numbers = {word: number_ for number_, word in enumerate(self.words)}
        texts = [[[numbers[word] for word in one] for one in each] for each in paragraphs]
        self.longest = 3 + 2 * max(len(one) for text in texts for one in text)
        self._rows = []
        for text in texts:
            for one, other in itertools.pairwise(text):
                follows = random.random() < 0.5
                if not follows:
                    other = random.choice(random.choice(texts))
                self._rows.append(self._example(one, other, follows))

    def _example(self, one: list[int], other: list[int], follows: bool) -> tuple[Any, ...]:
        tokens = [CLS, *one, SEP, *other, SEP]
        segments = [0] * (len(one) + 2) + [1] * (len(other) + 1)
        padding = [PAD] * (self.longest - len(tokens))
        places = [place for place, token in enumerate(tokens) if token not in (CLS, SEP)]
        hidden = sorted(random.sample(places, HIDDEN))
        truths = [tokens[place] for place in hidden]
        for place in hidden:
            tokens[place] = random.choice([MASK] * 8 + [tokens[place], len(SPECIAL)])
        return tokens + padding, len(tokens), segments + padding, hidden, truths, int(follows)

    def columns(self) -> list[Any]:
        """Return tokens, lengths, segments, places of hidden words, these words, and answers."""
        return [array(column) for column in zip(*self._rows, strict=True)]


class Attention(nn.Block):
    """Adds to each word what several heads find in all words, then what two layers make of it."""

    def __init__(self, units: int, heads: int) -> None:
        super().__init__()
        self._heads = heads
        self.query, self.key, self.value, self.last = (
            nn.Dense(units, flatten=False, use_bias=False) for _ in range(4)
        )
        self.wide = nn.Dense(2 * units, flatten=False, activation="tanh")
        self.narrow = nn.Dense(units, flatten=False)
        self.norms = nn.HybridSequential()
        self.norms.add(nn.LayerNorm(), nn.LayerNorm())

    def forward(self, x: Any, lengths: Any) -> Any:
        f = functions()
        batch, length, units = x.shape
        apart = (batch, length, self._heads, units // self._heads)
        query, key, value = (
            to(x).reshape(apart).transpose((0, 2, 1, 3)).reshape((-1, length, apart[3]))
            for to in (self.query, self.key, self.value)
        )
        scores = f.batch_dot(query, key, transpose_b=True) / apart[3] ** 0.5
        every = lengths.repeat(self._heads * length)
        weights = attention_weights(scores.reshape((-1, length)), every).reshape(scores.shape)
        found = f.batch_dot(weights, value).reshape((batch, self._heads, length, -1))
        x = self.norms[0](x + self.last(found.transpose((0, 2, 1, 3)).reshape(x.shape)))
        return self.norms[1](x + self.narrow(self.wide(x)))


class Bert(nn.Block):
    """Tells hidden words, and whether a sentence follows another."""

    def __init__(self, words: int, length: int, units: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.words, self.segments = nn.Embedding(words, units), nn.Embedding(2, units)
        self.places = self.params.get("places", shape=(1, length, units))
        self.layers = nn.Sequential()
        self.layers.add(Attention(units, heads), Attention(units, heads))
        self.hidden = nn.HybridSequential()
        self.hidden.add(nn.Dense(units, flatten=False, activation="tanh"), nn.LayerNorm())
        self.hidden.add(nn.Dense(words, flatten=False))
        self.follows = nn.HybridSequential()
        self.follows.add(nn.Dense(units, activation="tanh"), nn.Dense(2))

    def forward(self, tokens: Any, lengths: Any, segments: Any, hidden: Any) -> tuple[Any, Any]:
        x = self.words(tokens) + self.segments(segments) + self.places.data()
        for layer in self.layers:
            x = layer(x, lengths)
        batch, count = hidden.shape
        rows = array(onp.arange(batch).repeat(count), "int32")
        chosen = x[rows, hidden.reshape((-1,)).astype("int32")].reshape((batch, count, -1))
        return self.hidden(chosen), self.follows(x[:, 0, :])


def bert(folder: Path, hybridize: bool) -> Outcome:
    """Train it; the score is the share of hidden words that it tells."""
    data.paragraphs(folder)
    words = Words(folder / "text.txt")
    net = Bert(len(words.words), words.longest)
    net.initialize(ByName())
    if hybridize:
        net.hybridize()
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.003})
    columns = words.columns()
    batches = DataLoader(ArrayDataset(*columns), 32, last_batch="discard")
    losses = []
    for *inputs, truths, follows in first(STEPS, batches):
        with autograd.record():
            told, answers = net(*inputs)
            value = loss(told, truths).mean() + loss(answers, follows).mean()
        value.backward()
        trainer.step(1)
        losses.append(number(value))
    *inputs, truths, _ = columns
    told, _ = net(*inputs)
    return Outcome(losses, float((told.asnumpy().argmax(2) == truths.asnumpy()).mean()))

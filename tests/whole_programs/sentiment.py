# SPDX-License-Identifier: Apache-2.0
"""Reviews are told apart by what they say, with vectors of words from a file."""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

from mxnet import gluon
from mxnet.contrib import text
from mxnet.gluon import nn, rnn
from mxnet.gluon.data import ArrayDataset, DataLoader

from . import data
from .training import ByName, Outcome, accuracy, array, fit, joined

LENGTH = 14


class Reviews:
    """The words of reviews, with vectors that a file has for them, and the reviews in numbers."""

    def __init__(self, folder: Path) -> None:
        data.reviews(folder)
        read = {}
        for part in ("train", "test"):
            opinions = [(1, one) for one in sorted((folder / part / "pos").iterdir())]
            opinions += [(0, one) for one in sorted((folder / part / "neg").iterdir())]
            opinions.sort(key=lambda one: one[1].name)
            read[part] = [(path.read_text().split(), label) for label, path in opinions]
        counts = collections.Counter(word for words, _ in read["train"] for word in words)
        self.vocabulary = text.vocab.Vocabulary(counts, min_freq=2, reserved_tokens=["<pad>"])
        self.vectors = text.embedding.CustomEmbedding(
            str(folder / "vectors.txt"), vocabulary=self.vocabulary
        ).idx_to_vec.asnumpy()
        self.batches = {part: self._batches(rows) for part, rows in read.items()}

    def _batches(self, reviews: list[tuple[list[str], int]]) -> Any:
        padding = self.vocabulary.to_indices("<pad>")
        rows = [
            (self.vocabulary.to_indices(words) + [padding] * LENGTH)[:LENGTH]
            for words, _ in reviews
        ]
        labels = [label for _, label in reviews]
        return DataLoader(ArrayDataset(array(rows), array(labels)), 32)


def learn(net: Any, reviews: Reviews, fixed: Any, rate: float, hybridize: bool) -> Outcome:
    """Train a network whose first words have given vectors, which stay as they are."""
    net.initialize(ByName())
    net(array([[0] * LENGTH]))
    for embedding in fixed:
        embedding.weight.set_data(array(reviews.vectors))
    fixed[-1].collect_params().setattr("grad_req", "null")
    if hybridize:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": rate, "epsilon": 1e-4})
    losses = fit(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer, reviews.batches["train"])
    return Outcome(losses, accuracy(net, reviews.batches["test"]))


class Recurrent(nn.Block):
    """Reads a review in both directions; what it knows at both ends tells."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, 8)
        self.rnn = rnn.LSTM(12, num_layers=2, bidirectional=True)
        self.answer = nn.Dense(2)

    def forward(self, x: Any) -> Any:
        found = self.rnn(self.embedding(x.T))
        return self.answer(joined([found[0], found[-1]], 1))


def recurrent(folder: Path, hybridize: bool) -> Outcome:
    """Two layers of LSTM in both directions."""
    reviews = Reviews(folder)
    net = Recurrent(len(reviews.vocabulary))
    return learn(net, reviews, [net.embedding], 0.004, hybridize)


class Convolutional(nn.Block):
    """Looks at a few words at a time; the most telling ones count."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.moving, self.constant = nn.Embedding(words, 8), nn.Embedding(words, 8)
        self.pool = nn.GlobalMaxPool1D()
        self.windows = nn.HybridSequential()
        for width in (2, 3, 4):
            self.windows.add(nn.Conv1D(6, width, activation="tanh"))
        self.answer = nn.Dense(2)

    def forward(self, x: Any) -> Any:
        x = joined([self.moving(x), self.constant(x)], 2).transpose((0, 2, 1))
        found = [self.pool(window(x)).reshape((len(x), -1)) for window in self.windows]
        return self.answer(joined(found, 1))


def convolutional(folder: Path, hybridize: bool) -> Outcome:
    """Convolutions of three widths, over vectors that learn and others that do not."""
    reviews = Reviews(folder)
    net = Convolutional(len(reviews.vocabulary))
    return learn(net, reviews, [net.moving, net.constant], 0.006, hybridize)

# SPDX-License-Identifier: Apache-2.0
"""Does one sentence follow from another? Words of both are set against each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn
from mxnet.gluon.data import DataLoader, Dataset

from . import data
from .training import STEPS, ByName, Outcome, array, first, functions, joined, number

LABELS = ("entailment", "contradiction", "neutral")
LENGTH = 6


class Pairs(Dataset):
    """Pairs of sentences of the file of SNLI, in numbers."""

    def __init__(self, path: Path, words: dict[str, int]) -> None:
        rows = [line.split("\t") for line in path.read_text().strip().split("\n")[1:]]
        rows = [row for row in rows if row[0] in LABELS]
        self._labels = [LABELS.index(row[0]) for row in rows]
        self._sides = []
        for column in (1, 2):
            texts = [re.sub(r"[()]", "", row[column]).split() for row in rows]
            numbers = [[words.setdefault(word, len(words)) for word in text] for text in texts]
            self._sides.append(array([(one + [0] * LENGTH)[:LENGTH] for one in numbers]))

    def __getitem__(self, index: int) -> tuple[Any, Any, int]:
        return self._sides[0][index], self._sides[1][index], self._labels[index]

    def __len__(self) -> int:
        return len(self._labels)


def perceptron(units: int, flatten: bool) -> nn.HybridSequential:
    """Return two layers."""
    net = nn.HybridSequential()
    net.add(nn.Dense(units, flatten=flatten, activation="tanh"))
    net.add(nn.Dense(units, flatten=flatten, activation="tanh"))
    return net


class Comparison(nn.Block):
    """Sets each word beside the words of the other sentence that it attends to."""

    def __init__(self, units: int = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(40, units)
        self.attend, self.compare = perceptron(units, False), perceptron(units, False)
        self.aggregate = perceptron(units, True)
        self.answer = nn.Dense(len(LABELS))

    def forward(self, premise: Any, hypothesis: Any) -> Any:
        f = functions()
        one, other = self.embedding(premise), self.embedding(hypothesis)
        scores = f.batch_dot(self.attend(one), self.attend(other), transpose_b=True)
        beside = f.batch_dot(f.softmax(scores), other)
        beside_other = f.batch_dot(f.softmax(scores.transpose((0, 2, 1))), one)
        found = [
            self.compare(joined(list(pair), 2)).mean(axis=1)
            for pair in ((one, beside), (other, beside_other))
        ]
        return self.answer(self.aggregate(joined(found, 1)))


def snli(folder: Path, hybridize: bool) -> Outcome:
    """Train it; the score is the share of pairs of a second file that it tells."""
    data.inferences(folder)
    words = {"<pad>": 0}
    train, test = (Pairs(folder / f"snli_1.0_{part}.txt", words) for part in ("train", "test"))
    net = Comparison()
    net.initialize(ByName())
    if hybridize:
        net.hybridize()
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    settings = {"learning_rate": 0.012, "epsilon": 1e-4}
    trainer = gluon.Trainer(net.collect_params(), "adam", settings)
    losses = []
    for batch in first(STEPS, DataLoader(train, 32, num_workers=2)):
        premise, hypothesis, label = (part.as_in_context(mx.cpu()) for part in batch)
        with autograd.record():
            value = loss(net(premise, hypothesis), label).mean()
        value.backward()
        trainer.step(1)
        losses.append(number(value))
    right = [
        (net(one, other).asnumpy().argmax(1) == label.asnumpy()).mean()
        for one, other, label in DataLoader(test, 60)
    ]
    return Outcome(losses, float(sum(right) / len(right)))

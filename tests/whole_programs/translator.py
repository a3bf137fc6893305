# SPDX-License-Identifier: Apache-2.0
"""An encoder and a decoder that attends to what was read translate sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as onp
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn
from mxnet.gluon.data import ArrayDataset, DataLoader

from . import data
from .training import (
    STEPS,
    ByName,
    Outcome,
    array,
    attention_weights,
    first,
    functions,
    joined,
    number,
    stacked,
)

PAD, BEGIN, END = 0, 1, 2


class Language:
    """The words of sentences, and the sentences in numbers of one length."""

    def __init__(self, sentences: list[list[str]]) -> None:
        words = sorted({word for sentence in sentences for word in sentence})
        self.words = ["<pad>", "<bos>", "<eos>", *words]
        numbers = {word: number_ for number_, word in enumerate(self.words)}
        longest = max(map(len, sentences)) + 1
        rows = [[numbers[word] for word in sentence] + [END] for sentence in sentences]
        self.lengths = onp.array([len(row) for row in rows])
        self.rows = onp.array([row + [PAD] * (longest - len(row)) for row in rows])


class Encoder(nn.Block):
    """Reads a sentence; returns what it found at each word, and at the end."""

    def __init__(self, words: int, units: int) -> None:
        super().__init__()
        self.embedding, self.rnn = nn.Embedding(words, units), rnn.GRU(units, layout="NTC")

    def forward(self, x: Any) -> tuple[Any, list[Any]]:
        x = self.embedding(x)
        return self.rnn(x, self.rnn.begin_state(batch_size=x.shape[0], ctx=x.context))


class Attention(nn.Block):
    """Weighs values by how well their keys suit a query, by a small network."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.query = nn.Dense(units, use_bias=False, flatten=False)
        self.key = nn.Dense(units, use_bias=False, flatten=False)
        self.tanh = nn.Activation("tanh")
        self.score = nn.Dense(1, use_bias=False, flatten=False)

    def forward(self, query: Any, keys: Any, lengths: Any) -> Any:
        scores = self.score(self.tanh(self.query(query)[:, None] + self.key(keys)))
        weights = attention_weights(scores.reshape(keys.shape[:2]), lengths)
        return functions().batch_dot(weights[:, None], keys)


class Decoder(nn.Block):
    """Tells the next word from the last one, its state and what it attends to."""

    def __init__(self, words: int, units: int) -> None:
        super().__init__()
        self.attention, self.embedding = Attention(units), nn.Embedding(words, units)
        self.rnn, self.dense = rnn.GRU(units, layout="NTC"), nn.Dense(words, flatten=False)

    def forward(self, x: Any, read: Any, lengths: Any, state: list[Any]) -> tuple[Any, list[Any]]:
        outputs = []
        for word in self.embedding(x).transpose((1, 0, 2)):
            context = self.attention(state[0][-1], read, lengths)
            output, state = self.rnn(joined([context, word[:, None]], 2), state)
            outputs.append(output)
        return self.dense(joined(outputs, 1)), state


def attention(folder: Path, hybridize: bool) -> Outcome:
    """Train a translator; the score is the share of words that it translates right."""
    data.pairs(folder)
    lines = (folder / "pairs.txt").read_text(encoding="utf-8").strip().split("\n")
    halves = zip(*(line.split("\t") for line in lines), strict=True)
    source, target = (Language([one.split() for one in half]) for half in halves)
    encoder, decoder = Encoder(len(source.words), 24), Decoder(len(target.words), 24)
    trainers = []
    for net in (encoder, decoder):
        net.initialize(ByName())
        if hybridize:
            net.hybridize()
        trainers.append(gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01}))
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    columns = (source.rows, source.lengths, target.rows)
    batches = DataLoader(ArrayDataset(*(array(column) for column in columns)), 40)
    losses = []
    for x, lengths, y in first(STEPS, batches):
        begin = array(onp.full((len(x), 1), BEGIN))
        with autograd.record():
            read, state = encoder(x)
            answer, _ = decoder(joined([begin, y[:, :-1]], 1), read, lengths, state)
            known = (y != PAD).astype("float32").reshape((*y.shape, 1))
            value = loss(answer, y, known).mean()
        value.backward()
        for trainer in trainers:
            trainer.step(1)
        losses.append(number(value))
    x, lengths = array(source.rows), array(source.lengths)
    read, state = encoder(x)
    word, told = array(onp.full((len(x), 1), BEGIN)), []
    for _ in range(target.rows.shape[1]):
        answer, state = decoder(word, read, lengths, state)
        word = answer.argmax(axis=2)
        told.append(word[:, 0])
    right = stacked(told, 1).asnumpy() == target.rows
    return Outcome(losses, float(right[target.rows != PAD].mean()))

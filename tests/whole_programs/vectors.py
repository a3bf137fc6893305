# SPDX-License-Identifier: Apache-2.0
"""Vectors of words, by words that stand near each other and words that do not."""

from __future__ import annotations

import collections
import random
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon
from mxnet.gluon import nn
from mxnet.gluon.data import ArrayDataset, DataLoader

from . import data
from .training import STEPS, ByName, Outcome, array, first, functions, number

WINDOW, NOISE = 2, 3


def examples(text: list[list[int]], weights: list[float]) -> list[tuple[int, list[int], list[int]]]:
    """Return each word with those around it, and with others by how often they are used."""
    words = list(range(len(weights)))
    found = []
    for sentence in text:
        for place, centre in enumerate(sentence):
            width = random.randint(1, WINDOW)
            near = sentence[max(0, place - width) : place] + sentence[place + 1 :][:width]
            far: list[int] = []
            while len(far) < len(near) * NOISE:
                (word,) = random.choices(words, weights)
                if word not in near:
                    far.append(word)
            found.append((centre, near, far))
    return found


def batchify(samples: list[Any]) -> tuple[Any, ...]:
    """Return centres, their neighbours and others in rows of one length, which of them are there,
    and which are neighbours."""
    longest = 2 * WINDOW * (1 + NOISE)
    centres, words, masks, labels = [], [], [], []
    for centre, near, far in samples:
        padding = longest - len(near) - len(far)
        centres.append([centre])
        words.append(near + far + [0] * padding)
        masks.append([1] * (longest - padding) + [0] * padding)
        labels.append([1] * len(near) + [0] * (longest - len(near)))
    return tuple(array(part) for part in (centres, words, masks, labels))


def skip_gram(folder: Path, hybridize: bool) -> Outcome:
    """Train vectors; the score is the share of words whose nearest one has the same topic."""
    data.paragraphs(folder)
    lines = (folder / "text.txt").read_text().split("\n")
    sentences = [sentence.split() for line in lines for sentence in line.split(" . ")]
    common = ("the", "a", "and", "meets", "needs", ".")
    sentences = [[word for word in one if word not in common] for one in sentences]
    counts = collections.Counter(word for sentence in sentences for word in sentence)
    words = sorted(counts)
    numbers = {word: number_ for number_, word in enumerate(words)}
    text = [[numbers[word] for word in sentence] for sentence in sentences]
    samples = examples(text, [counts[word] ** 0.75 for word in words])

    net = nn.HybridSequential()
    net.add(nn.Embedding(len(words), 8), nn.Embedding(len(words), 8))
    net.initialize(ByName(scale=0.5))
    if hybridize:
        net.hybridize()
    loss = gluon.loss.SigmoidBinaryCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
    batches = DataLoader(
        ArrayDataset(samples), 64, batchify_fn=batchify, num_workers=2, last_batch="discard"
    )
    losses = []
    for batch in first(STEPS, batches):
        centres, others, mask, label = (part.as_in_context(mx.cpu()) for part in batch)
        with autograd.record():
            products = functions().batch_dot(net[0](centres), net[1](others), transpose_b=True)
            value = loss(products.reshape(label.shape), label, mask)
            value = (value * mask.shape[1] / mask.sum(axis=1)).mean()
        value.backward()
        trainer.step(1)
        losses.append(number(value))
    vectors = net[0].weight.data().asnumpy()
    vectors /= onp.linalg.norm(vectors, axis=1, keepdims=True)
    nearest = (vectors @ vectors.T - 2 * onp.eye(len(words))).argmax(1)
    topic = {word: number_ for number_, topic in enumerate(data.TOPICS) for word in topic}
    right = [topic[one] == topic[words[n]] for one, n in zip(words, nearest, strict=True)]
    return Outcome(losses, sum(right) / len(right))

# SPDX-License-Identifier: Apache-2.0
"""A text goes on by its letters: a network written by hand, and one of layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn
from mxnet.util import is_np_array

from . import data
from .training import STEPS, ByName, Outcome, array, functions, joined, number

BATCH, LENGTH, UNITS = 8, 10, 24


class Letters:
    """A text in numbers of its letters, in batches that go on where the last one ended."""

    def __init__(self, folder: Path) -> None:
        data.paragraphs(folder)
        text = (folder / "text.txt").read_text()[:2000].replace("\n", " ")
        self.letters = sorted(set(text))
        numbers = onp.array([self.letters.index(letter) for letter in text])
        width = len(numbers) // BATCH
        self.rows = numbers[: width * BATCH].reshape(BATCH, width)

    def batches(self) -> Any:
        """Give letters and those that follow."""
        for start in range(0, self.rows.shape[1] - LENGTH - 1, LENGTH):
            x = self.rows[:, start : start + LENGTH]
            yield x.T, self.rows[:, start + 1 : start + 1 + LENGTH].T


def clip(gradients: list[Any], limit: float) -> None:
    """Hold the norm of all gradients at a limit."""
    norm = sum(number((gradient**2).sum()) for gradient in gradients) ** 0.5
    if norm > limit:
        for gradient in gradients:
            gradient[:] *= limit / norm


def share(told: Any, truth: onp.ndarray[Any, Any]) -> float:
    """Return the share of letters that were told right."""
    return float((told.asnumpy().argmax(-1).ravel() == truth.ravel()).mean())


def by_hand(folder: Path, hybridize: bool) -> Outcome:
    """A recurrent network of arrays with gradients, and steps by hand."""
    letters = Letters(folder)
    count = len(letters.letters)
    random = onp.random.RandomState(3)
    shapes = ((count, UNITS), (UNITS, UNITS), (UNITS,), (UNITS, count), (count,))
    weights = [array(random.normal(0, 0.2 if len(s) > 1 else 0, s)) for s in shapes]
    for weight in weights:
        weight.attach_grad()
    from_input, from_state, bias, to_answer, answer_bias = weights
    f, dot = functions(), mx.np.dot if is_np_array() else mx.nd.dot
    tanh = mx.np.tanh if is_np_array() else mx.nd.tanh
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    losses: list[float] = []
    answer, y = None, None
    while len(losses) < STEPS:
        state = array(onp.zeros((BATCH, UNITS)))
        for x, y in letters.batches():
            state = state.detach()
            with autograd.record():
                answers = []
                for row in f.one_hot(array(x), count):
                    state = tanh(dot(row, from_input) + dot(state, from_state) + bias)
                    answers.append(dot(state, to_answer) + answer_bias)
                answer = joined(answers, 0)
                value = loss(answer, array(y.ravel())).mean()
            value.backward()
            clip([weight.grad for weight in weights], 1.0)
            for weight in weights:
                weight[:] = weight - 0.7 * weight.grad
            losses.append(number(value))
    return Outcome(losses[:STEPS], share(answer, y))


def layers(folder: Path, hybridize: bool) -> Outcome:
    """Two layers of GRU, whose state goes from batch to batch."""
    letters = Letters(folder)
    count = len(letters.letters)
    net, dense = rnn.GRU(UNITS, num_layers=2), nn.Dense(count, flatten=False)
    for block in (net, dense):
        block.initialize(ByName())
        if hybridize:
            block.hybridize()
    trainers = [
        gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 1.0, "momentum": 0.5})
        for block in (net, dense)
    ]
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    losses: list[float] = []
    answer, y = None, None
    while len(losses) < STEPS:
        state = net.begin_state(batch_size=BATCH)
        for x, y in letters.batches():
            state = [one.detach() for one in state]
            with autograd.record():
                found, state = net(functions().one_hot(array(x), count), state)
                answer = dense(found)
                value = loss(answer.reshape((-1, count)), array(y.ravel())).mean()
            value.backward()
            weights = [*net.collect_params().values(), *dense.collect_params().values()]
            clip([weight.grad() for weight in weights], 1.0)
            for trainer in trainers:
                trainer.step(1)
            losses.append(number(value))
    return Outcome(losses[:STEPS], share(answer, y))

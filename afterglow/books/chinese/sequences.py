# SPDX-License-Identifier: Apache-2.0
"""Characters one after another, and recurrent networks that go on with them."""

from __future__ import annotations

import math
import os
import random
import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from afterglow import autograd, gluon, init, nd
from afterglow.gluon import nn

from .._common import Accumulator, Timer, clip_gradients, sgd

__all__ = [
    "RNNModel",
    "data_iter_consecutive",
    "data_iter_random",
    "grad_clipping",
    "load_data_jay_lyrics",
    "load_data_time_machine",
    "predict_rnn",
    "predict_rnn_gluon",
    "to_onehot",
    "train_and_predict_rnn",
    "train_and_predict_rnn_gluon",
]

#: A text as numbers, the number of each character, the characters by number, and how many.
Corpus = tuple[list[int], dict[str, int], list[str], int]
Batches = Iterator[tuple[Any, Any]]


# --- texts ---


def _corpus(text: str) -> Corpus:
    """Return the first 10000 characters of a text as one line."""
    text = text.replace("\n", " ").replace("\r", " ")[:10000]
    characters = list(set(text))
    numbers = {character: number for number, character in enumerate(characters)}
    return [numbers[character] for character in text], numbers, characters, len(characters)


def load_data_jay_lyrics() -> Corpus:
    """Return the lyrics of the Chinese book."""
    with zipfile.ZipFile(os.path.join("..", "data", "jaychou_lyrics.txt.zip")) as archive:
        return _corpus(archive.read("jaychou_lyrics.txt").decode("utf-8"))


def load_data_time_machine() -> Corpus:
    """Return the novel of the English book."""
    with open(os.path.join("..", "data", "timemachine.txt"), encoding="utf-8") as file:
        return _corpus(file.read().lower())


def data_iter_random(
    corpus_indices: Sequence[int], batch_size: int, num_steps: int, ctx: Any = None
) -> Batches:
    """Yield batches of pieces from random places, and the characters after each of theirs."""
    starts = list(range(0, len(corpus_indices) - num_steps, num_steps))
    random.shuffle(starts)
    for first in range(0, len(starts) - batch_size + 1, batch_size):
        chosen = starts[first : first + batch_size]
        yield (
            nd.array([corpus_indices[one : one + num_steps] for one in chosen], ctx=ctx),
            nd.array([corpus_indices[one + 1 : one + 1 + num_steps] for one in chosen], ctx=ctx),
        )


def data_iter_consecutive(
    corpus_indices: Sequence[int], batch_size: int, num_steps: int, ctx: Any = None
) -> Batches:
    """Yield batches whose rows go on where those of the batch before ended."""
    length = len(corpus_indices) // batch_size
    rows = nd.array(corpus_indices[: length * batch_size], ctx=ctx).reshape((batch_size, length))
    for first in range(0, length - num_steps, num_steps):
        last = first + num_steps
        yield rows[:, first:last], rows[:, first + 1 : last + 1]


def to_onehot(X: Any, size: int) -> list[Any]:
    """Return one matrix of indicators for each column."""
    return [nd.one_hot(column, size) for column in X.T]


# --- networks ---


class RNNModel(nn.Block):
    """A recurrent layer, and a dense one that scores the next character."""

    def __init__(self, rnn_layer: Any, vocab_size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rnn = rnn_layer
        self.vocab_size = vocab_size
        self.dense = nn.Dense(vocab_size)

    def forward(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """Return the scores after each character, step by step, and the state after the last."""
        output, state = self.rnn(nd.one_hot(inputs.T, self.vocab_size), state)
        return self.dense(output.reshape((-1, output.shape[-1]))), state

    def begin_state(self, *args: Any, **kwargs: Any) -> Any:
        """Return the state before the first step."""
        return self.rnn.begin_state(*args, **kwargs)


def _continued(
    prefix: str,
    num_chars: int,
    forward: Callable[[int, Any], tuple[Any, Any]],
    state: Any,
    idx_to_char: Sequence[str],
    char_to_idx: dict[str, int],
) -> str:
    """Return a text and so many characters that follow; ``forward`` gives scores and a state."""
    text = [char_to_idx[character] for character in prefix]
    for place in range(len(prefix) + num_chars - 1):
        scores, state = forward(text[place], state)
        if place + 1 == len(text):
            text.append(int(scores.argmax(axis=1).asscalar()))
    return "".join(idx_to_char[number] for number in text)


def predict_rnn(
    prefix: str,
    num_chars: int,
    rnn: Callable[..., tuple[Any, Any]],
    params: Sequence[Any],
    init_rnn_state: Callable[..., Any],
    num_hiddens: int,
    vocab_size: int,
    ctx: Any,
    idx_to_char: Sequence[str],
    char_to_idx: dict[str, int],
) -> str:
    """Return a text and the characters that a network, given as a function, goes on with."""

    def forward(number: int, state: Any) -> tuple[Any, Any]:
        outputs, state = rnn(to_onehot(nd.array([number], ctx=ctx), vocab_size), state, params)
        return outputs[0], state

    state = init_rnn_state(1, num_hiddens, ctx)
    return _continued(prefix, num_chars, forward, state, idx_to_char, char_to_idx)


def predict_rnn_gluon(
    prefix: str,
    num_chars: int,
    model: RNNModel,
    vocab_size: int,
    ctx: Any,
    idx_to_char: Sequence[str],
    char_to_idx: dict[str, int],
) -> str:
    """Return a text and the characters that a network goes on with."""

    def forward(number: int, state: Any) -> tuple[Any, Any]:
        scores, state = model(nd.array([[number]], ctx=ctx), state)
        return scores, state

    state = model.begin_state(batch_size=1, ctx=ctx)
    return _continued(prefix, num_chars, forward, state, idx_to_char, char_to_idx)


# --- training ---


def grad_clipping(params: Sequence[Any], theta: float | None, ctx: Any = None) -> None:
    """Scale gradients down so that their common norm is at most ``theta``, if that is given."""
    if theta is not None:
        clip_gradients(params, theta)


def _train(
    num_epochs: int,
    batches: Callable[[], Batches],
    forward: Callable[[Any, Any], tuple[Any, Any]],
    begin_state: Callable[[], Any],
    begins_anew: bool,
    update: Callable[[], None],
    tell: Callable[[], None],
    tell_each: int,
) -> None:
    """Train on all batches so many times; a state goes on to the next batch, or begins anew."""
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    for epoch in range(1, num_epochs + 1):
        timer, metric, state = Timer(), Accumulator(2), begin_state()
        for X, Y in batches():
            state = begin_state() if begins_anew else [one.detach() for one in state]
            with autograd.record():
                output, state = forward(X, state)
                y = Y.T.reshape((-1,))
                value = loss(output, y).mean()
            value.backward()
            update()
            metric.add(value.asscalar() * y.size, y.size)
        if epoch % tell_each == 0:
            perplexity = math.exp(metric[0] / metric[1])
            print(f"epoch {epoch}, perplexity {perplexity:f}, time {timer.stop():.2f} sec")
            tell()


def train_and_predict_rnn(
    rnn: Callable[..., tuple[Any, Any]],
    get_params: Callable[[], Sequence[Any]],
    init_rnn_state: Callable[..., Any],
    num_hiddens: int,
    vocab_size: int,
    ctx: Any,
    corpus_indices: Sequence[int],
    idx_to_char: Sequence[str],
    char_to_idx: dict[str, int],
    is_random_iter: bool,
    num_epochs: int,
    num_steps: int,
    lr: float,
    clipping_theta: float | None,
    batch_size: int,
    pred_period: int,
    pred_len: int,
    prefixes: Sequence[str],
) -> None:
    """Train a network that is given as a function; print now and then how it goes on."""
    params = get_params()
    pieces = data_iter_random if is_random_iter else data_iter_consecutive

    def forward(X: Any, state: Any) -> tuple[Any, Any]:
        outputs, state = rnn(to_onehot(X, vocab_size), state, params)
        return nd.concat(*outputs, dim=0), state

    def update() -> None:
        grad_clipping(params, clipping_theta)
        sgd(params, lr, 1)  # the loss is a mean

    def tell() -> None:
        for prefix in prefixes:
            text = predict_rnn(
                *(prefix, pred_len, rnn, params, init_rnn_state, num_hiddens),
                *(vocab_size, ctx, idx_to_char, char_to_idx),
            )
            print(f" - {text}")

    _train(
        num_epochs,
        lambda: pieces(corpus_indices, batch_size, num_steps, ctx),
        forward,
        lambda: init_rnn_state(batch_size, num_hiddens, ctx),
        is_random_iter,
        update,
        tell,
        pred_period,
    )


def train_and_predict_rnn_gluon(
    model: RNNModel,
    num_hiddens: int,
    vocab_size: int,
    ctx: Any,
    corpus_indices: Sequence[int],
    idx_to_char: Sequence[str],
    char_to_idx: dict[str, int],
    num_epochs: int,
    num_steps: int,
    lr: float,
    clipping_theta: float | None,
    batch_size: int,
    pred_period: int,
    pred_len: int,
    prefixes: Sequence[str],
) -> None:
    """Train a network from new weights; print now and then how it goes on."""
    model.initialize(init.Normal(0.01), ctx=ctx, force_reinit=True)
    trainer = gluon.Trainer(
        model.collect_params(), "sgd", {"learning_rate": lr, "momentum": 0, "wd": 0}
    )

    def update() -> None:
        params = [parameter.data() for parameter in model.collect_params().values()]
        grad_clipping(params, clipping_theta)
        trainer.step(1)  # the loss is a mean

    def tell() -> None:
        for prefix in prefixes:
            text = predict_rnn_gluon(
                prefix, pred_len, model, vocab_size, ctx, idx_to_char, char_to_idx
            )
            print(f" - {text}")

    _train(
        num_epochs,
        lambda: data_iter_consecutive(corpus_indices, batch_size, num_steps, ctx),
        model,
        lambda: model.begin_state(batch_size=batch_size, ctx=ctx),
        False,
        update,
        tell,
        pred_period,
    )

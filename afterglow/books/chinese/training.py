# SPDX-License-Identifier: Apache-2.0
"""Training of classifiers on one or several devices, and of a line by any optimizer."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from afterglow import autograd, gluon, init, nd
from afterglow.gluon import nn

from .. import _common
from .._common import Accumulator, Timer, correct_count, sgd, squared_loss, train_epoch
from .._figures import pyplot, set_figsize

__all__ = [
    "evaluate_accuracy",
    "get_data_ch7",
    "linreg",
    "train",
    "train_ch3",
    "train_ch5",
    "train_ch7",
    "train_gluon_ch7",
]


def linreg(X: Any, w: Any, b: Any) -> Any:
    """Return a linear model's predictions."""
    return nd.dot(X, w) + b


# --- classifiers ---


def evaluate_accuracy(data_iter: Any, net: Callable[[Any], Any], ctx: Any = None) -> float:
    """Return the share of right predictions."""
    if ctx is not None:
        place = ctx[0] if isinstance(ctx, list) else ctx
        data_iter = ((X.as_in_context(place), y.as_in_context(place)) for X, y in data_iter)
    return _common.evaluate_accuracy(net, data_iter)


def train_ch3(
    net: Callable[[Any], Any],
    train_iter: Any,
    test_iter: Any,
    loss: Callable[..., Any],
    num_epochs: int,
    batch_size: int,
    params: Sequence[Any] | None = None,
    lr: float | None = None,
    trainer: gluon.Trainer | None = None,
) -> None:
    """Train a classifier and print how it goes."""

    def update(_: int) -> None:
        if trainer is not None:
            trainer.step(batch_size)
        else:
            assert params is not None, "[train_ch3] needs params and lr, or a trainer"
            assert lr is not None, "[train_ch3] needs params and lr, or a trainer"
            sgd(params, lr, batch_size)

    for epoch in range(num_epochs):
        mean_loss, share = train_epoch(net, train_iter, loss, update)
        test = evaluate_accuracy(test_iter, net)
        print(
            f"epoch {epoch + 1}, loss {mean_loss:.4f}, train acc {share:.3f}, test acc {test:.3f}"
        )


def train(
    train_iter: Any,
    test_iter: Any,
    net: gluon.Block,
    loss: Callable[..., Any],
    trainer: gluon.Trainer,
    ctx: Any,
    num_epochs: int,
) -> None:
    """Train a classifier on one device or several, and print how it goes."""
    print("training on", ctx)
    places = ctx if isinstance(ctx, list) else [ctx]
    for epoch in range(num_epochs):
        timer, metric = Timer(), Accumulator(4)
        for features, labels in train_iter:
            Xs = gluon.utils.split_and_load(features, places)
            ys = gluon.utils.split_and_load(labels.astype(features.dtype), places)
            with autograd.record():
                y_hats = [net(X) for X in Xs]
                values = [loss(y_hat, y) for y_hat, y in zip(y_hats, ys, strict=True)]
            autograd.backward(values)
            trainer.step(len(features))
            for value, y_hat, y in zip(values, y_hats, ys, strict=True):
                right = correct_count(y_hat, y)
                metric.add(value.sum().asscalar(), right, value.size, y.size)
        test = evaluate_accuracy(test_iter, net, ctx)
        print(
            f"epoch {epoch + 1}, loss {metric[0] / metric[2]:.4f}, "
            f"train acc {metric[1] / metric[3]:.3f}, test acc {test:.3f}, "
            f"time {timer.stop():.1f} sec"
        )


def train_ch5(
    net: gluon.Block,
    train_iter: Any,
    test_iter: Any,
    batch_size: int,
    trainer: gluon.Trainer,
    ctx: Any,
    num_epochs: int,
) -> None:
    """Train a classifier on one device, and print how it goes."""
    print("training on", ctx)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    for epoch in range(num_epochs):
        timer = Timer()
        batches = ((X.as_in_context(ctx), y.as_in_context(ctx)) for X, y in train_iter)
        mean_loss, share = train_epoch(net, batches, loss, lambda _: trainer.step(batch_size))
        test = evaluate_accuracy(test_iter, net, ctx)
        print(
            f"epoch {epoch + 1}, loss {mean_loss:.4f}, train acc {share:.3f}, "
            f"test acc {test:.3f}, time {timer.stop():.1f} sec"
        )


# --- a line through measured noise ---


def get_data_ch7() -> tuple[Any, Any]:
    """Return features of wings and their noise, with the mean 0 and the deviation 1."""
    data = numpy.genfromtxt(os.path.join("..", "data", "airfoil_self_noise.dat"), delimiter="\t")
    data = (data - data.mean(axis=0)) / data.std(axis=0)
    return nd.array(data[:, :-1]), nd.array(data[:, -1])


def _minimize(
    loss: Callable[[Any, Any], Any],
    update: Callable[[], None],
    features: Any,
    labels: Any,
    batch_size: int,
    num_epochs: int,
) -> None:
    """Train on batches; print the last loss, and draw that of all data after each 100 samples."""
    losses = [loss(features, labels).mean().asscalar()]
    dataset = gluon.data.ArrayDataset(features, labels)
    batches = gluon.data.DataLoader(dataset, batch_size, shuffle=True)
    timer = Timer()
    for _ in range(num_epochs):
        timer.start()
        for number, (X, y) in enumerate(batches, 1):
            with autograd.record():
                value = loss(X, y).mean()
            value.backward()
            update()
            if number * batch_size % 100 == 0:
                losses.append(loss(features, labels).mean().asscalar())
        timer.stop()
    print(f"loss: {losses[-1]:f}, {timer.times[-1]:f} sec per epoch")
    set_figsize()
    plt = pyplot()
    plt.plot(numpy.linspace(0, num_epochs, len(losses)), losses)
    plt.xlabel("epoch")
    plt.ylabel("loss")


def train_ch7(
    trainer_fn: Callable[[list[Any], Any, Any], None],
    states: Any,
    hyperparams: Any,
    features: Any,
    labels: Any,
    batch_size: int = 10,
    num_epochs: int = 2,
) -> None:
    """Fit a line by an optimizer that is given as a function."""
    params = [nd.random.normal(scale=0.01, shape=(features.shape[1], 1)), nd.zeros(1)]
    for param in params:
        param.attach_grad()
    _minimize(
        lambda X, y: squared_loss(linreg(X, *params), y),
        lambda: trainer_fn(params, states, hyperparams),
        *(features, labels, batch_size, num_epochs),
    )


def train_gluon_ch7(
    trainer_name: str,
    trainer_hyperparams: dict[str, Any],
    features: Any,
    labels: Any,
    batch_size: int = 10,
    num_epochs: int = 2,
) -> None:
    """Fit a line by an optimizer of Gluon's."""
    net, loss = nn.Dense(1), gluon.loss.L2Loss()
    net.initialize(init.Normal(sigma=0.01))
    trainer = gluon.Trainer(net.collect_params(), trainer_name, trainer_hyperparams)
    _minimize(
        lambda X, y: loss(net(X), y),
        lambda: trainer.step(1),  # the loss is a mean
        *(features, labels, batch_size, num_epochs),
    )

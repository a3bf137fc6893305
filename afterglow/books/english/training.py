# SPDX-License-Identifier: Apache-2.0
"""Training: of image classifiers, on several devices, with one's own optimizers, of two rivals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from afterglow import autograd, gluon, init, np
from afterglow.gluon import nn

from .._common import (
    Accumulator,
    Timer,
    correct_count,
    evaluate_loss,
    load_array,
    squared_loss,
    try_all_gpus,
)
from .._figures import Animator, pyplot, set_figsize
from . import downloads

__all__ = [
    "annotate",
    "evaluate_accuracy_gpu",
    "evaluate_accuracy_gpus",
    "get_data_ch11",
    "split_batch",
    "train_batch_ch13",
    "train_ch6",
    "train_ch11",
    "train_ch13",
    "train_concise_ch11",
    "update_D",
    "update_G",
]


def split_batch(X: Any, y: Any, devices: Sequence[Any]) -> tuple[Any, Any]:
    """Return the parts of a batch on several devices."""
    assert X.shape[0] == y.shape[0]
    return gluon.utils.split_and_load(X, devices), gluon.utils.split_and_load(y, devices)


# --- image classifiers ---


def evaluate_accuracy_gpu(net: Any, data_iter: Any, device: Any = None) -> float:
    """Return the share of right predictions on a device: by default, that of the network."""
    if device is None:
        device = next(iter(net.collect_params().values())).list_ctx()[0]
    metric = Accumulator(2)
    for X, y in data_iter:
        X, y = X.as_in_ctx(device), y.as_in_ctx(device)
        metric.add(correct_count(net(X), y), y.size)
    return metric[0] / metric[1]


def train_ch6(
    net: Any, train_iter: Any, test_iter: Any, num_epochs: int, lr: float, device: Any
) -> None:
    """Train a classifier on a device and draw how it goes."""
    net.initialize(force_reinit=True, ctx=device, init=init.Xavier())
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": lr})
    train_ch13(
        net,
        train_iter,
        test_iter,
        loss,
        trainer,
        num_epochs,
        [device],
        evaluate=lambda: evaluate_accuracy_gpu(net, test_iter, device),
    )


def evaluate_accuracy_gpus(
    net: Any, data_iter: Any, split_f: Callable[..., tuple[Any, Any]] = split_batch
) -> float:
    """Return the share of right predictions on all devices of the network."""
    devices = next(iter(net.collect_params().values())).list_ctx()
    metric = Accumulator(2)
    for features, labels in data_iter:
        for X, y in zip(*split_f(features, labels, devices), strict=True):
            metric.add(correct_count(net(X), y), y.size)
    return metric[0] / metric[1]


def train_batch_ch13(
    net: Any,
    features: Any,
    labels: Any,
    loss: Callable[..., Any],
    trainer: gluon.Trainer,
    devices: Sequence[Any],
    split_f: Callable[..., tuple[Any, Any]] = split_batch,
) -> tuple[float, float]:
    """Train on a batch; return the sum of the losses and the number of right predictions."""
    parts, targets = split_f(features, labels, devices)
    with autograd.record():
        predictions = [net(part) for part in parts]
        losses = [loss(y_hat, y) for y_hat, y in zip(predictions, targets, strict=True)]
    for value in losses:
        value.backward()
    # Parts of a network may have no gradient: those that are not trained.
    trainer.step(labels.shape[0], ignore_stale_grad=True)
    pairs = zip(predictions, targets, strict=True)
    return sum(float(value.sum()) for value in losses), sum(correct_count(*pair) for pair in pairs)


def train_ch13(
    net: Any,
    train_iter: Any,
    test_iter: Any,
    loss: Callable[..., Any],
    trainer: gluon.Trainer,
    num_epochs: int,
    devices: Sequence[Any] | None = None,
    split_f: Callable[..., tuple[Any, Any]] = split_batch,
    *,
    evaluate: Callable[[], float] | None = None,
) -> None:
    """Train a classifier on several devices and draw how it goes."""
    devices = try_all_gpus() if devices is None else devices
    batches = len(train_iter)
    legend = ["train loss", "train acc", "test acc"]
    animator = Animator(xlabel="epoch", xlim=[1, num_epochs], legend=legend)
    timer, examples, accuracy = Timer(), 0.0, 0.0
    metric = Accumulator(4)
    for epoch in range(num_epochs):
        metric = Accumulator(4)
        for number, (features, labels) in enumerate(train_iter):
            timer.start()
            value, right = train_batch_ch13(net, features, labels, loss, trainer, devices, split_f)
            metric.add(value, right, labels.shape[0], labels.size)
            timer.stop()
            if (number + 1) % max(1, batches // 5) == 0 or number == batches - 1:
                shares = metric[0] / metric[2], metric[1] / metric[3]
                animator.add(epoch + (number + 1) / batches, (*shares, None))
        examples += metric[2]
        accuracy = evaluate() if evaluate else evaluate_accuracy_gpus(net, test_iter, split_f)
        animator.add(epoch + 1, (None, None, accuracy))
    print(
        f"loss {metric[0] / metric[2]:.3f}, train acc {metric[1] / metric[3]:.3f}, "
        f"test acc {accuracy:.3f}"
    )
    print(f"{examples / timer.sum():.1f} examples/sec on {list(devices)}")


# --- optimizers of one's own ---


def annotate(text: str, xy: tuple[float, float], xytext: tuple[float, float]) -> None:
    """Write a text with an arrow to a place."""
    pyplot().gca().annotate(text, xy=xy, xytext=xytext, arrowprops={"arrowstyle": "->"})


def get_data_ch11(batch_size: int = 10, n: int = 1500) -> tuple[gluon.data.DataLoader, int]:
    """Return batches of measured noise of wings, and the number of features."""
    rows = numpy.genfromtxt(downloads.download("airfoil"), dtype=numpy.float32, delimiter="\t")
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    features, labels = np.array(rows[:n, :-1]), np.array(rows[:n, -1])
    return load_array((features, labels), batch_size), features.shape[1]


def _minimize(
    net: Callable[[Any], Any],
    loss: Callable[..., Any],
    update: Callable[[int], Any],
    data_iter: Any,
    num_epochs: int,
) -> tuple[list[float], list[Any]]:
    """Train a linear model; return the times and losses that were drawn."""
    set_figsize()
    animator = Animator(xlabel="epoch", ylabel="loss", xlim=[0, num_epochs], ylim=[0.22, 0.35])
    count, timer = 0, Timer()
    for _ in range(num_epochs):
        for X, y in data_iter:
            with autograd.record():
                value = loss(net(X), y).mean()
            value.backward()
            update(X.shape[0])
            count += X.shape[0]
            if count % 200 == 0:
                timer.stop()
                epochs = count / X.shape[0] / len(data_iter)
                animator.add(epochs, (evaluate_loss(net, data_iter, loss),))
                timer.start()
    drawn = animator.Y[0] if animator.Y else [evaluate_loss(net, data_iter, loss)]
    print(f"loss: {drawn[-1]:.3f}, {timer.sum() / num_epochs:.3f} sec/epoch")
    return timer.cumsum(), drawn


def train_ch11(
    trainer_fn: Callable[..., Any],
    states: Any,
    hyperparams: dict[str, Any],
    data_iter: Any,
    feature_dim: int,
    num_epochs: int = 2,
) -> tuple[list[float], list[Any]]:
    """Train a linear model with an optimizer of one's own; return times and losses."""
    w, b = np.random.normal(scale=0.01, size=(feature_dim, 1)), np.zeros(1)
    w.attach_grad()
    b.attach_grad()
    return _minimize(
        lambda X: np.dot(X, w) + b,
        squared_loss,
        lambda _: trainer_fn([w, b], states, hyperparams),
        data_iter,
        num_epochs,
    )


def train_concise_ch11(
    tr_name: Any, hyperparams: dict[str, Any], data_iter: Any, num_epochs: int = 2
) -> None:
    """Train a linear model with an optimizer of the library."""
    net = nn.Sequential()
    net.add(nn.Dense(1))
    net.initialize(init.Normal(sigma=0.01))
    trainer = gluon.Trainer(net.collect_params(), tr_name, hyperparams)
    _minimize(net, gluon.loss.L2Loss(), lambda _: trainer.step(1), data_iter, num_epochs)


# --- two rivals ---


def update_D(  # noqa: N802
    X: Any, Z: Any, net_D: Any, net_G: Any, loss: Any, trainer_D: gluon.Trainer
) -> float:
    """Let the discriminator learn to tell data from what is generated; return its loss."""
    size = X.shape[0]
    real, generated = np.ones((size,), ctx=X.context), np.zeros((size,), ctx=X.context)
    with autograd.record():
        value = (loss(net_D(X), real) + loss(net_D(net_G(Z).detach()), generated)) / 2
    value.backward()
    trainer_D.step(size)
    return float(value.sum())


def update_G(  # noqa: N802
    Z: Any, net_D: Any, net_G: Any, loss: Any, trainer_G: gluon.Trainer
) -> float:
    """Let the generator learn to deceive the discriminator; return its loss."""
    size = Z.shape[0]
    with autograd.record():
        value = loss(net_D(net_G(Z)), np.ones((size,), ctx=Z.context))
    value.backward()
    trainer_G.step(size)
    return float(value.sum())

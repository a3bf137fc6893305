# SPDX-License-Identifier: Apache-2.0
"""What both helper packages have: clocks, sums, devices and training of classifiers."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import afterglow as mx
from afterglow import autograd, context, engine, gluon

from ._figures import pyplot

#: What both packages show.
__all__ = [
    "Accumulator",
    "corr2d",
    "data_iter",
    "get_fashion_mnist_labels",
    "mkdir_if_not_exist",
    "sgd",
    "squared_loss",
    "try_all_gpus",
    "try_gpu",
]


class Timer:
    """A clock with a button: the times between ``start`` and ``stop`` are gathered."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.start()

    def start(self) -> None:
        """Start the clock."""
        self.tik = time.time()

    def stop(self) -> float:
        """Return the seconds since the start, and remember them."""
        self.times.append(time.time() - self.tik)
        return self.times[-1]

    def avg(self) -> float:
        """Return the mean of the times."""
        return sum(self.times) / len(self.times)

    def sum(self) -> float:
        """Return the sum of the times."""
        return sum(self.times)

    def cumsum(self) -> list[float]:
        """Return the sums of the first one, two, three times, and so on."""
        return list(accumulate(self.times))


class TimedScope:
    """A ``with`` scope that is timed: what it queues is computed, also where nobody keeps it."""

    def begin(self) -> None:
        """Start the clock. Until it is stopped no call is left out."""
        self._drops = engine.set_pass("drop", False)
        self.timer = Timer()

    def end(self) -> float:
        """Return the seconds since the start."""
        seconds = self.timer.stop()
        engine.set_pass("drop", self._drops)
        return seconds


class Accumulator:
    """Sums of several figures."""

    def __init__(self, n: int) -> None:
        self.data = [0.0] * n

    def add(self, *args: Any) -> None:
        """Add a number to each sum."""
        self.data = [old + float(new) for old, new in zip(self.data, args, strict=True)]

    def reset(self) -> None:
        """Begin at zero again."""
        self.data = [0.0] * len(self.data)

    def __getitem__(self, index: int) -> float:
        return self.data[index]


# --- devices ---


def try_gpu(i: int = 0) -> context.Context:
    """Return a GPU if there are so many, else the CPU."""
    return context.gpu(i) if context.num_gpus() > i else context.cpu()


def try_all_gpus() -> list[context.Context]:
    """Return all GPUs, or the CPU."""
    return [context.gpu(i) for i in range(context.num_gpus())] or [context.cpu()]


def get_dataloader_workers() -> int:
    """Return how many processes load data: none, threads of the library do."""
    return 0


def mkdir_if_not_exist(path: str | Sequence[str]) -> None:
    """Make a folder, given as a path or as the parts of one, unless it is there."""
    os.makedirs(path if isinstance(path, str) else os.path.join(*path), exist_ok=True)


def late(package: str, name: str) -> Any:
    """Return Matplotlib's ``pyplot`` when it is asked for: it takes long to import."""
    if name == "plt":
        return pyplot()
    raise AttributeError(
        f"{package}.{name} is not among the helpers that Afterglow has; "
        f"install the package {package} to use it"
    )


# --- linear regression ---


def squared_loss(y_hat: Any, y: Any) -> Any:
    """Return half the squared differences."""
    return (y_hat - y.reshape(y_hat.shape)) ** 2 / 2


def sgd(params: Sequence[Any], lr: float, batch_size: int) -> None:
    """Take a step against the gradients."""
    for param in params:
        param[:] = param - lr * param.grad / batch_size


def data_iter(batch_size: int, features: Any, labels: Any) -> Iterator[tuple[Any, Any]]:
    """Yield batches in random order."""
    indices = list(range(len(features)))
    random.shuffle(indices)
    for first in range(0, len(indices), batch_size):
        chosen = indices[first : first + batch_size]
        if features._legacy:
            where = mx.nd.array(chosen)
            yield features.take(where), labels.take(where)
        else:
            yield features[chosen], labels[chosen]


def load_array(data_arrays: Any, batch_size: int, is_train: bool = True) -> gluon.data.DataLoader:
    """Return an iterator over batches of arrays."""
    dataset = gluon.data.ArrayDataset(*data_arrays)
    return gluon.data.DataLoader(dataset, batch_size, shuffle=is_train)


def corr2d(X: Any, K: Any) -> Any:  # noqa: N803
    """Return the cross-correlation of a matrix with a smaller one."""
    height, width = K.shape
    rows, columns = X.shape[0] - height + 1, X.shape[1] - width + 1
    total: Any = 0
    for i in range(height):
        for j in range(width):
            total = total + X[i : i + rows, j : j + columns] * K[i, j]
    return total


# --- optimization ---


def path_2d(
    trainer: Callable[..., tuple[Any, Any, Any, Any]], steps: int, *more: Any
) -> list[tuple[Any, Any]]:
    """Let an optimizer of two numbers take steps from (-5, -2); return where it went."""
    x1, x2, s1, s2 = -5, -2, 0, 0
    places = [(x1, x2)]
    for _ in range(steps):
        x1, x2, s1, s2 = trainer(x1, x2, s1, s2, *more)
        places.append((x1, x2))
    return places


_FASHION = (
    *("t-shirt", "trouser", "pullover", "dress", "coat"),
    *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
)


def get_fashion_mnist_labels(labels: Iterable[Any]) -> list[str]:
    """Return the names of classes of Fashion-MNIST."""
    return [_FASHION[int(label)] for label in labels]


# --- classifiers ---


def correct_count(y_hat: Any, y: Any) -> float:
    """Return how many predictions are right."""
    if y_hat.ndim > 1 and y_hat.shape[1] > 1:
        y_hat = y_hat.argmax(axis=1)
    return float((y_hat.astype(y.dtype) == y).astype("float32").sum().asnumpy().item())


def evaluate_accuracy(net: Callable[[Any], Any], data_iter: Any) -> float:
    """Return the share of right predictions."""
    metric = Accumulator(2)
    for X, y in data_iter:  # noqa: N806
        metric.add(correct_count(net(X), y), y.size)
    return metric[0] / metric[1]


def evaluate_loss(net: Callable[[Any], Any], data_iter: Any, loss: Callable[..., Any]) -> float:
    """Return the mean loss."""
    metric = Accumulator(2)
    for X, y in data_iter:  # noqa: N806
        value = loss(net(X), y)
        metric.add(value.sum().asnumpy().item(), value.size)
    return metric[0] / metric[1]


def train_epoch(
    net: Callable[[Any], Any],
    train_iter: Any,
    loss: Callable[..., Any],
    update: Callable[[int], None],
) -> tuple[float, float]:
    """Train on all batches once; return the mean loss and the share of right predictions."""
    metric = Accumulator(3)
    for X, y in train_iter:  # noqa: N806
        with autograd.record():
            y_hat = net(X)
            value = loss(y_hat, y)
        value.backward()
        update(X.shape[0])
        metric.add(value.sum().asnumpy().item(), correct_count(y_hat, y), y.size)
    return metric[0] / metric[2], metric[1] / metric[2]


def clip_gradients(params: Sequence[Any], theta: float) -> None:
    """Scale gradients down so that their common norm is at most ``theta``. Does not wait."""
    total: Any = sum((param.grad**2).sum() for param in params)
    scale = (theta / total**0.5).clip(0, 1)
    for param in params:
        param.grad[:] = param.grad * scale

# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the package ``d2l`` of the English book, whose arrays are those of ``np``.

>>> from afterglow.books import d2l
>>> features, labels = d2l.synthetic_data(d2l.np.array([2.0, -3.4]), 4.2, 100)
>>> features.shape, labels.shape
((100, 2), (100, 1))
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from afterglow import autograd, gluon, init, np, npx
from afterglow.gluon import nn

from ._common import (
    Accumulator,
    Animator,
    Timer,
    clip_gradients,
    corr2d,
    correct_count,
    data_iter,
    evaluate_accuracy,
    evaluate_loss,
    get_dataloader_workers,
    load_array,
    plot,
    set_figsize,
    sgd,
    squared_loss,
    train_epoch,
    try_all_gpus,
    try_gpu,
    use_svg_display,
)

__all__ = [
    "Accumulator",
    "Animator",
    "Benchmark",
    "Timer",
    "accuracy",
    "autograd",
    "benchmark",
    "corr2d",
    "data_iter",
    "evaluate_accuracy",
    "evaluate_loss",
    "get_dataloader_workers",
    "gluon",
    "grad_clipping",
    "init",
    "linreg",
    "load_array",
    "nn",
    "np",
    "npx",
    "plot",
    "set_figsize",
    "sgd",
    "split_batch",
    "squared_loss",
    "synthetic_data",
    "train_ch3",
    "train_epoch_ch3",
    "try_all_gpus",
    "try_gpu",
    "use_svg_display",
]

accuracy = correct_count

#: ``from d2l import mxnet as d2l`` and ``import d2l.mxnet`` mean this module as well.
mxnet = sys.modules[__name__]
__path__: list[str] = []


@contextmanager
def benchmark(description: str = "Done in %.4f sec") -> Iterator[None]:
    """Print how long a ``with`` scope took."""
    timer = Timer()
    yield
    print(description % timer.stop())


class Benchmark:
    """Prints how long a ``with`` scope took, as newer editions have it."""

    def __init__(self, description: str = "Done") -> None:
        self.description = description

    def __enter__(self) -> Benchmark:
        self.timer = Timer()
        return self

    def __exit__(self, *args: object) -> None:
        print(f"{self.description}: {self.timer.stop():.4f} sec")


def synthetic_data(w: Any, b: Any, num_examples: int) -> tuple[Any, Any]:
    """Return random features, and labels that depend on them linearly but for some noise."""
    X = np.random.normal(0, 1, (num_examples, len(w)))  # noqa: N806
    y = np.dot(X, w) + b
    y = y + np.random.normal(0, 0.01, y.shape)
    return X, y.reshape((-1, 1))


def linreg(X: Any, w: Any, b: Any) -> Any:  # noqa: N803
    """Return a linear model's predictions."""
    return np.dot(X, w) + b


def train_epoch_ch3(
    net: Callable[[Any], Any], train_iter: Any, loss: Callable[..., Any], updater: Any
) -> tuple[float, float]:
    """Train on all batches once; return the mean loss and the share of right predictions."""
    update = updater.step if isinstance(updater, gluon.Trainer) else updater
    return train_epoch(net, train_iter, loss, update)


def train_ch3(
    net: Callable[[Any], Any],
    train_iter: Any,
    test_iter: Any,
    loss: Callable[..., Any],
    num_epochs: int,
    updater: Any,
) -> None:
    """Train a classifier and draw how it goes."""
    animator = Animator(xlabel="epoch", legend=["train loss", "train acc", "test acc"])
    for epoch in range(num_epochs):
        train = train_epoch_ch3(net, train_iter, loss, updater)
        animator.add(epoch + 1, (*train, evaluate_accuracy(net, test_iter)))
    animator.show()


def split_batch(X: Any, y: Any, devices: Sequence[Any]) -> tuple[Any, Any]:  # noqa: N803
    """Return the parts of a batch on several devices."""
    assert X.shape[0] == y.shape[0]
    return gluon.utils.split_and_load(X, devices), gluon.utils.split_and_load(y, devices)


def grad_clipping(net: Any, theta: float) -> None:
    """Scale the gradients of a network down so that their common norm is at most ``theta``."""
    if isinstance(net, gluon.Block):
        params = [parameter.data() for parameter in net.collect_params().values()]
    else:
        params = net.params
    clip_gradients(params, theta)

# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the package ``d2lzh`` of the Chinese book, whose arrays are those of ``nd``.

>>> import afterglow.books.d2lzh as d2l
>>> d2l.squared_loss(d2l.nd.array([1, 2]), d2l.nd.array([3, 2]))
<BLANKLINE>
[2. 0.]
<NDArray 2 @cpu(0)>
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from afterglow import autograd, gluon, init, nd
from afterglow.gluon import nn

from . import _common
from ._common import *  # noqa: F403
from ._common import Timer, clip_gradients, path_2d, sgd, train_epoch
from ._figures import plot, semilogy, set_figsize, show_trace_2d, use_svg_display

__all__ = [
    "Benchmark",
    "autograd",
    "evaluate_accuracy",
    "gluon",
    "grad_clipping",
    "init",
    "linreg",
    "nd",
    "nn",
    "plot",
    "semilogy",
    "set_figsize",
    "show_trace_2d",
    "to_onehot",
    "train_2d",
    "train_ch3",
    "use_svg_display",
    *_common.__all__,
]


class Benchmark:
    """Prints how long a ``with`` scope took."""

    def __init__(self, prefix: str | None = None) -> None:
        self.prefix = f"{prefix} " if prefix else ""

    def __enter__(self) -> None:
        self.timer = Timer()

    def __exit__(self, *args: object) -> None:
        print(f"{self.prefix}time: {self.timer.stop():.4f} sec")


def linreg(X: Any, w: Any, b: Any) -> Any:  # noqa: N803
    """Return a linear model's predictions."""
    return nd.dot(X, w) + b


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

    def update(size: int) -> None:
        if trainer is not None:
            trainer.step(size)
        else:
            assert params is not None, "[train_ch3] needs params and lr, or a trainer"
            assert lr is not None, "[train_ch3] needs params and lr, or a trainer"
            sgd(params, lr, size)

    for epoch in range(num_epochs):
        mean_loss, share = train_epoch(net, train_iter, loss, update)
        test = evaluate_accuracy(test_iter, net)
        print(
            f"epoch {epoch + 1}, loss {mean_loss:.4f}, train acc {share:.3f}, test acc {test:.3f}"
        )


def train_2d(trainer: Callable[..., tuple[Any, Any, Any, Any]]) -> list[tuple[Any, Any]]:
    """Let an optimizer of two numbers take 20 steps; return where it went."""
    places = path_2d(trainer, 20)
    print(f"epoch 20, x1 {float(places[-1][0]):f}, x2 {float(places[-1][1]):f}")
    return places


def to_onehot(X: Any, size: int) -> list[Any]:  # noqa: N803
    """Return one matrix of indicators for each column."""
    return [nd.one_hot(column, size) for column in X.T]


def grad_clipping(params: Sequence[Any], theta: float, ctx: Any = None) -> None:
    """Scale gradients down so that their common norm is at most ``theta``."""
    clip_gradients(params, theta)


def __getattr__(name: str) -> Any:
    """Find what is not imported at once."""
    return _common.late("d2lzh", name)

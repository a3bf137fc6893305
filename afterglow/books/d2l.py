# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the package ``d2l`` of the English book, whose arrays are those of ``np``.

>>> from afterglow.books import d2l
>>> features, labels = d2l.synthetic_data(d2l.np.array([2.0, -3.4]), 4.2, 100)
>>> features.shape, labels.shape
((100, 2), (100, 1))
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from afterglow import autograd, context, gluon, init, np, npx
from afterglow.context import cpu, num_gpus
from afterglow.gluon import nn

from . import _arrays, _common, _modules
from ._arrays import *  # noqa: F403
from ._common import *  # noqa: F403
from ._common import (
    TimedScope,
    Timer,
    correct_count,
    evaluate_accuracy,
    evaluate_loss,
    get_dataloader_workers,
    load_array,
    path_2d,
    train_epoch,
)
from ._figures import Animator, plot, set_axes, set_figsize, show_trace_2d, use_svg_display
from ._modules import *  # noqa: F403
from .english import (
    attention,
    bert,
    boxes,
    downloads,
    images,
    ratings,
    recurrent,
    scenes,
    sentences,
    text,
    training,
    words,
)
from .english.attention import *  # noqa: F403
from .english.bert import *  # noqa: F403
from .english.boxes import *  # noqa: F403
from .english.downloads import *  # noqa: F403
from .english.images import *  # noqa: F403
from .english.ratings import *  # noqa: F403
from .english.recurrent import *  # noqa: F403
from .english.scenes import *  # noqa: F403
from .english.sentences import *  # noqa: F403
from .english.text import *  # noqa: F403
from .english.training import *  # noqa: F403
from .english.words import *  # noqa: F403

_SUBJECTS = (
    *(attention, bert, boxes, downloads, images, ratings),
    *(recurrent, scenes, sentences, text, training, words),
)
__all__ = [
    "USE_MXNET",
    "USE_PYTORCH",
    "USE_TENSORFLOW",
    "Animator",
    "Benchmark",
    "Timer",
    "accuracy",
    "autograd",
    "benchmark",
    "cpu",
    "evaluate_accuracy",
    "evaluate_loss",
    "get_dataloader_workers",
    "gluon",
    "gpu",
    "init",
    "linreg",
    "load_array",
    "nn",
    "nn_Module",
    "np",
    "npx",
    "num_gpus",
    "plot",
    "set_axes",
    "set_figsize",
    "show_trace_2d",
    "synthetic_data",
    "train_2d",
    "train_ch3",
    "train_epoch_ch3",
    "use_svg_display",
    *_common.__all__,
    *_modules.__all__,
]
__all__ += _arrays.__all__
for _subject in _SUBJECTS:
    __all__ += _subject.__all__

USE_MXNET, USE_PYTORCH, USE_TENSORFLOW = True, False, False

nn_Module = nn.Block  # noqa: N816
accuracy = correct_count

#: ``from d2l import mxnet as d2l`` and ``import d2l.mxnet`` mean this module as well.
mxnet = sys.modules[__name__]
__path__: list[str] = []


def gpu(i: int = 0) -> context.Context:
    """Return a GPU by its number."""
    return context.gpu(i)


@contextmanager
def benchmark(description: str = "Done in %.4f sec") -> Iterator[None]:
    """Print how long a ``with`` scope took."""
    timer = Timer()
    yield
    print(description % timer.stop())


class Benchmark(TimedScope):
    """Prints how long a ``with`` scope took, as newer editions have it."""

    def __init__(self, description: str = "Done") -> None:
        self.description = description

    def __enter__(self) -> Benchmark:
        self.begin()
        return self

    def __exit__(self, *args: object) -> None:
        print(f"{self.description}: {self.end():.4f} sec")


def synthetic_data(w: Any, b: Any, num_examples: int) -> tuple[Any, Any]:
    """Return random features, and labels that depend on them linearly but for some noise."""
    X = np.random.normal(0, 1, (num_examples, len(w)))  # noqa: N806
    y = np.dot(X, w) + b
    y = y + np.random.normal(0, 0.01, y.shape)
    return X, y.reshape((-1, 1))


def linreg(X: Any, w: Any, b: Any) -> Any:  # noqa: N803
    """Return a linear model's predictions."""
    return np.dot(X, w) + b


def train_2d(
    trainer: Callable[..., tuple[Any, Any, Any, Any]], steps: int = 20, f_grad: Any = None
) -> list[tuple[Any, Any]]:
    """Let an optimizer of two numbers take steps; return where it went."""
    places = path_2d(trainer, steps, *([] if f_grad is None else [f_grad]))
    print(f"epoch {steps}, x1: {float(places[-1][0]):f}, x2: {float(places[-1][1]):f}")
    return places


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
    legend = ["train loss", "train acc", "test acc"]
    animator = Animator(xlabel="epoch", xlim=[1, num_epochs], legend=legend)
    for epoch in range(num_epochs):
        train = train_epoch_ch3(net, train_iter, loss, updater)
        animator.add(epoch + 1, (*train, evaluate_accuracy(net, test_iter)))


def __getattr__(name: str) -> Any:
    """Find what is not imported at once."""
    return _common.late("d2l", name)

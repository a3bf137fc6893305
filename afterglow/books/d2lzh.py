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

from . import _common, _figures
from ._common import *  # noqa: F403
from ._common import TimedScope, path_2d
from ._figures import plot, semilogy, set_figsize, use_svg_display
from .chinese import images, reviews, sequences, training
from .chinese.images import *  # noqa: F403
from .chinese.reviews import *  # noqa: F403
from .chinese.sequences import *  # noqa: F403
from .chinese.training import *  # noqa: F403
from .english.boxes import bbox_to_rect, show_bboxes
from .english.images import Residual, load_data_fashion_mnist, resnet18
from .english.scenes import VOC_CLASSES, VOC_COLORMAP, voc_label_indices, voc_rand_crop

_SUBJECTS = (images, reviews, sequences, training)
__all__ = [
    "VOC_CLASSES",
    "VOC_COLORMAP",
    "Benchmark",
    "Residual",
    "autograd",
    "bbox_to_rect",
    "gluon",
    "init",
    "load_data_fashion_mnist",
    "nd",
    "nn",
    "plot",
    "resnet18",
    "semilogy",
    "set_figsize",
    "show_bboxes",
    "show_trace_2d",
    "train_2d",
    "use_svg_display",
    "voc_label_indices",
    "voc_rand_crop",
    *_common.__all__,
    *(name for subject in _SUBJECTS for name in subject.__all__),
]


class Benchmark(TimedScope):
    """Prints how long a ``with`` scope took."""

    def __init__(self, prefix: str | None = None) -> None:
        self.prefix = f"{prefix} " if prefix else ""

    def __enter__(self) -> None:
        self.begin()

    def __exit__(self, *args: object) -> None:
        print(f"{self.prefix}time: {self.end():.4f} sec")


def show_trace_2d(f: Any, res: Sequence[tuple[float, float]]) -> None:
    """Draw the way of an optimizer over the contours of a function of two numbers."""
    _figures.show_trace_2d(f, res)


def train_2d(trainer: Callable[..., tuple[Any, Any, Any, Any]]) -> list[tuple[Any, Any]]:
    """Let an optimizer of two numbers take 20 steps; return where it went."""
    places = path_2d(trainer, 20)
    print(f"epoch 20, x1 {float(places[-1][0]):f}, x2 {float(places[-1][1]):f}")
    return places


def __getattr__(name: str) -> Any:
    """Find what is not imported at once."""
    return _common.late("d2lzh", name)

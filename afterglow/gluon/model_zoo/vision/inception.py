# SPDX-License-Identifier: Apache-2.0
"""Inception v3: branches of different windows side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...._arrays.shapes import Shape
from ....context import Context, cpu
from ... import nn
from ...block import HybridBlock
from ._parts import Classifier, begun, beside, chain, normed

__all__ = ["Inception3", "inception_v3"]

_ROW, _COLUMN = (1, 7), (7, 1)


class Inception3(Classifier):
    """`Rethinking the Inception architecture <https://arxiv.org/abs/1512.00567>`_.

    Images have 299 by 299 pixels.
    """

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = chain(_features())
            self.output = nn.Dense(classes)


def _features() -> Iterator[HybridBlock]:
    yield _conv(32, (3, 3), 2)
    yield _conv(32, (3, 3), padding=(0, 0))
    yield _conv(64, (3, 3))
    yield nn.MaxPool2D(3, 2)
    yield _conv(80)
    yield _conv(192, (3, 3), padding=(0, 0))
    yield nn.MaxPool2D(3, 2)
    for number, pooled in enumerate((32, 64, 64), 1):
        yield beside(_branches_a(pooled), f"A{number}_")
    yield beside(_branches_b(), "B_")
    for number, channels in enumerate((128, 160, 160, 192), 1):
        yield beside(_branches_c(channels), f"C{number}_")
    yield beside(_branches_d(), "D_")
    for number in (1, 2):
        yield beside(_branches_e(), f"E{number}_")
    yield nn.AvgPool2D(8)
    yield nn.Dropout(0.5)


def _conv(
    channels: int, kernel: Shape = (1, 1), stride: int = 1, padding: Shape | None = None
) -> HybridBlock:
    """Return a convolution, normalised and activated; without a stride images keep their size."""
    if padding is None:
        padding = (0, 0) if stride > 1 else (kernel[0] // 2, kernel[1] // 2)
    return chain(normed(channels, kernel, stride, padding, epsilon=0.001))


def _branches_a(pooled: int) -> Iterator[HybridBlock]:
    yield chain([_conv(64)])
    yield chain([_conv(48), _conv(64, (5, 5))])
    yield chain([_conv(64), _conv(96, (3, 3)), _conv(96, (3, 3))])
    yield chain([nn.AvgPool2D(3, 1, 1), _conv(pooled)])


def _branches_b() -> Iterator[HybridBlock]:
    yield chain([_conv(384, (3, 3), 2)])
    yield chain([_conv(64), _conv(96, (3, 3)), _conv(96, (3, 3), 2)])
    yield chain([nn.MaxPool2D(3, 2)])


def _branches_c(channels: int) -> Iterator[HybridBlock]:
    yield chain([_conv(192)])
    yield chain([_conv(channels), _conv(channels, _ROW), _conv(192, _COLUMN)])
    turns = (_conv(channels, window) for window in (_COLUMN, _ROW, _COLUMN))
    yield chain([_conv(channels), *turns, _conv(192, _ROW)])
    yield chain([nn.AvgPool2D(3, 1, 1), _conv(192)])


def _branches_d() -> Iterator[HybridBlock]:
    yield chain([_conv(192), _conv(320, (3, 3), 2)])
    yield chain([_conv(192), _conv(192, _ROW), _conv(192, _COLUMN), _conv(192, (3, 3), 2)])
    yield chain([nn.MaxPool2D(3, 2)])


def _branches_e() -> Iterator[HybridBlock]:
    yield chain([_conv(320)])
    yield chain([chain([_conv(384)]), _split()])
    yield chain([chain([_conv(448), _conv(384, (3, 3))]), _split()])
    yield chain([nn.AvgPool2D(3, 1, 1), _conv(192)])


def _split() -> HybridBlock:
    return beside(chain([_conv(384, window)]) for window in ((1, 3), (3, 1)))


def inception_v3(
    pretrained: bool = False,
    ctx: Context = cpu(),  # noqa: B008
    root: str | None = None,
    **kwargs: Any,
) -> Inception3:
    """Return an ``Inception3``."""
    return begun(Inception3(**kwargs), "inceptionv3", pretrained, ctx, root)

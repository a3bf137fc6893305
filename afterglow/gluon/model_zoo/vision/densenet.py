# SPDX-License-Identifier: Apache-2.0
"""DenseNet: layers that see the channels of all layers before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....context import Context, cpu
from ....error import MismatchError
from ... import nn
from ...block import HybridBlock
from ...contrib.nn import Identity
from ._parts import Classifier, begun, beside, chain, normed, relu, variant

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201"]


class DenseNet(Classifier):
    """Stages of dense layers, `DenseNet-BC <https://arxiv.org/abs/1608.06993>`_.

    Each layer adds ``growth_rate`` channels, out of ``bn_size`` times as many; between the stages,
    which have as many layers as ``block_config`` says, images and channels become half as large.
    """

    def __init__(
        self,
        num_init_features: int,
        growth_rate: int,
        block_config: Sequence[int],
        bn_size: int = 4,
        dropout: float = 0,
        classes: int = 1000,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        layer = (growth_rate, bn_size, dropout)
        with self.name_scope():
            self.features = chain(_features(num_init_features, block_config, *layer))
            self.output = nn.Dense(classes)


def _features(
    channels: int, layers: Sequence[int], growth: int, widening: int, dropout: float
) -> Iterator[HybridBlock]:
    yield from normed(channels, 7, 2, 3)
    yield nn.MaxPool2D(3, 2, 1)
    for number, count in enumerate(layers, 1):
        stage = (_layer(growth, widening, dropout) for _ in range(count))
        yield chain(stage, prefix=f"stage{number}_")
        channels += count * growth
        if number < len(layers):
            channels //= 2
            yield chain([*_active(channels, 1), nn.AvgPool2D(2, 2)])
    yield nn.BatchNorm()
    yield relu()
    yield nn.AvgPool2D(7)
    yield nn.Flatten()


def _layer(growth: int, widening: int, dropout: float) -> HybridBlock:
    new = chain([*_active(widening * growth, 1), *_active(growth, 3)])
    if dropout:
        new.add(nn.Dropout(dropout))
    return beside([Identity(), new])


def _active(channels: int, kernel: int) -> Iterator[HybridBlock]:
    """Yield what normalises and activates images, and a convolution of the result."""
    yield nn.BatchNorm()
    yield relu()
    yield nn.Conv2D(channels, kernel, 1, kernel // 2, use_bias=False)


#: By the number of all layers: channels of the first, of each other, and layers of the stages.
_LAYERS = {
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (64, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
}


def get_densenet(
    num_layers: int,
    pretrained: bool = False,
    ctx: Context = cpu(),  # noqa: B008
    root: str | None = None,
    **kwargs: Any,
) -> DenseNet:
    """Return a ``DenseNet`` of 121, 161, 169 or 201 layers."""
    if num_layers not in _LAYERS:
        raise MismatchError(
            f"[get_densenet] num_layers is {num_layers}; it must be among {[*_LAYERS]}"
        )
    net = DenseNet(*_LAYERS[num_layers], **kwargs)
    return begun(net, f"densenet{num_layers}", pretrained, ctx, root)


densenet121 = variant("densenet121", get_densenet, 121)
densenet161 = variant("densenet161", get_densenet, 161)
densenet169 = variant("densenet169", get_densenet, 169)
densenet201 = variant("densenet201", get_densenet, 201)

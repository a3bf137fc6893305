# SPDX-License-Identifier: Apache-2.0
"""VGG: small convolutions, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....context import Context, cpu
from ....error import MismatchError
from ....initializer import Xavier
from ... import nn
from ...block import HybridBlock
from ._parts import Classifier, begun, chain, relu, variant

__all__ = [
    "VGG",
    "get_vgg",
    "vgg11",
    "vgg11_bn",
    "vgg13",
    "vgg13_bn",
    "vgg16",
    "vgg16_bn",
    "vgg19",
    "vgg19_bn",
]

#: By the number of all layers: those of each stage, whose filters are the same for all.
_LAYERS = {
    11: (1, 1, 2, 2, 2),
    13: (2, 2, 2, 2, 2),
    16: (2, 2, 3, 3, 3),
    19: (2, 2, 4, 4, 4),
}
_FILTERS = (64, 128, 256, 512, 512)


class VGG(Classifier):
    """Stages of convolutions, `Very deep networks <https://arxiv.org/abs/1409.1556>`_.

    ``layers`` and ``filters`` have a number for each stage; images become half as large after it.
    """

    def __init__(
        self,
        layers: Sequence[int],
        filters: Sequence[int],
        classes: int = 1000,
        batch_norm: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if len(layers) != len(filters):
            raise MismatchError(f"[VGG] layers are {layers}, filters {filters}; as many are needed")
        with self.name_scope():
            self.features = chain(_features(layers, filters, batch_norm))
            self.output = nn.Dense(classes, weight_initializer="normal")


def _features(
    layers: Sequence[int], filters: Sequence[int], batch_norm: bool
) -> Iterator[HybridBlock]:
    begin = Xavier(rnd_type="gaussian", factor_type="out", magnitude=2)
    for count, channels in zip(layers, filters, strict=True):
        for _ in range(count):
            yield nn.Conv2D(channels, 3, 1, 1, weight_initializer=begin)
            if batch_norm:
                yield nn.BatchNorm()
            yield relu()
        yield nn.MaxPool2D(strides=2)
    for _ in range(2):
        yield nn.Dense(4096, activation="relu", weight_initializer="normal")
        yield nn.Dropout(0.5)


def get_vgg(
    num_layers: int,
    pretrained: bool = False,
    ctx: Context = cpu(),  # noqa: B008
    root: str | None = None,
    **kwargs: Any,
) -> VGG:
    """Return a ``VGG`` of 11, 13, 16 or 19 layers."""
    if num_layers not in _LAYERS:
        raise MismatchError(f"[get_vgg] num_layers is {num_layers}; it must be among {[*_LAYERS]}")
    net = VGG(_LAYERS[num_layers], _FILTERS, **kwargs)
    name = f"vgg{num_layers}{'_bn' if kwargs.get('batch_norm') else ''}"
    return begun(net, name, pretrained, ctx, root)


vgg11 = variant("vgg11", get_vgg, 11)
vgg13 = variant("vgg13", get_vgg, 13)
vgg16 = variant("vgg16", get_vgg, 16)
vgg19 = variant("vgg19", get_vgg, 19)
vgg11_bn = variant("vgg11_bn", get_vgg, 11, batch_norm=True)
vgg13_bn = variant("vgg13_bn", get_vgg, 13, batch_norm=True)
vgg16_bn = variant("vgg16_bn", get_vgg, 16, batch_norm=True)
vgg19_bn = variant("vgg19_bn", get_vgg, 19, batch_norm=True)

# SPDX-License-Identifier: Apache-2.0
"""SqueezeNet: few channels, from which small and larger windows make many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....context import Context, cpu
from ....error import MismatchError
from ... import nn
from ...block import HybridBlock
from ._parts import Classifier, begun, beside, chain, relu, variant

__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]

#: By version: channels and window of the first convolution, and to how many channels the parts
#: after each pooling squeeze.
_VERSIONS = {
    "1.0": ((96, 7), ((16, 16, 32), (32, 48, 48, 64), (64,))),
    "1.1": ((64, 3), ((16, 16), (32, 32), (48, 48, 64, 64))),
}


class SqueezeNet(Classifier):
    """`AlexNet's accuracy with 50 times fewer parameters <https://arxiv.org/abs/1602.07360>`_.

    ``version`` is "1.0" or "1.1", which computes less than half as much.
    """

    def __init__(self, version: str, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if version not in _VERSIONS:
            raise MismatchError(f"[SqueezeNet] version is {version!r}; it must be '1.0' or '1.1'")
        with self.name_scope():
            self.features = chain(_features(*_VERSIONS[version]))
            self.output = chain([*_active(classes, 1), nn.AvgPool2D(13), nn.Flatten()])


def _features(
    first: tuple[int, int], squeezed: tuple[tuple[int, ...], ...]
) -> Iterator[HybridBlock]:
    yield from _active(*first, stride=2, padding=0)
    for part in squeezed:
        yield nn.MaxPool2D(3, 2, ceil_mode=True)
        for channels in part:
            wider = (chain(_active(4 * channels, kernel)) for kernel in (1, 3))
            yield chain([chain(_active(channels, 1)), beside(wider)])
    yield nn.Dropout(0.5)


def _active(
    channels: int, kernel: int, stride: int = 1, padding: int | None = None
) -> Iterator[HybridBlock]:
    """Yield a convolution, which keeps the size of images unless it is said, and a relu."""
    yield nn.Conv2D(channels, kernel, stride, kernel // 2 if padding is None else padding)
    yield relu()


def get_squeezenet(
    version: str,
    pretrained: bool = False,
    ctx: Context = cpu(),  # noqa: B008
    root: str | None = None,
    **kwargs: Any,
) -> SqueezeNet:
    """Return a ``SqueezeNet`` of version "1.0" or "1.1"."""
    net = SqueezeNet(version, **kwargs)
    return begun(net, f"squeezenet{version}", pretrained, ctx, root)


squeezenet1_0 = variant("squeezenet1_0", get_squeezenet, "1.0")
squeezenet1_1 = variant("squeezenet1_1", get_squeezenet, "1.1")

# SPDX-License-Identifier: Apache-2.0
"""MobileNet: convolutions of single channels, and of single pixels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....context import Context, cpu
from ... import nn
from ..._functions import functions
from ...block import HybridBlock
from ._parts import Classifier, begun, chain, normed, variant

__all__ = [
    "MobileNet",
    "MobileNetV2",
    "get_mobilenet",
    "get_mobilenet_v2",
    "mobilenet0_5",
    "mobilenet0_25",
    "mobilenet0_75",
    "mobilenet1_0",
    "mobilenet_v2_0_5",
    "mobilenet_v2_0_25",
    "mobilenet_v2_0_75",
    "mobilenet_v2_1_0",
]

#: Channels, and by how much images become smaller.
_LAYERS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5)
_LAYERS += ((1024, 2), (1024, 1))

#: Channels, how many bottlenecks have them, and by how much the first makes images smaller.
_BOTTLENECKS = (
    (16, 1, 1),
    (24, 2, 2),
    (32, 3, 2),
    (64, 4, 2),
    (96, 3, 1),
    (160, 3, 2),
    (320, 1, 1),
)


class RELU6(HybridBlock):
    """The elements between 0 and 6.

    >>> from afterglow import nd
    >>> from afterglow.gluon.model_zoo.vision.mobilenet import RELU6
    >>> RELU6()(nd.array([-1, 2, 7]))
    <BLANKLINE>
    [0. 2. 6.]
    <NDArray 3 @cpu(0)>
    """

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Clip the elements."""
        return functions(x).clip(x, a_min=0, a_max=6, name="relu6")


class MobileNet(Classifier):
    """`Efficient networks for mobile vision <https://arxiv.org/abs/1704.04861>`_.

    All layers have ``multiplier`` times their channels.
    """

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = chain(_features(multiplier))
            self.output = nn.Dense(classes)


def _features(multiplier: float) -> Iterator[HybridBlock]:
    before = int(32 * multiplier)
    yield from normed(before, 3, 2, 1)
    for full, stride in _LAYERS:
        channels = int(full * multiplier)
        yield from normed(before, 3, stride, 1, groups=before)
        yield from normed(channels)
        before = channels
    yield nn.GlobalAvgPool2D()
    yield nn.Flatten()


class LinearBottleneck(HybridBlock):
    """Makes ``t`` times as many channels, convolves each, and makes ``channels`` of them.

    Where there are as many as before and images keep their size, the input is added.
    """

    def __init__(self, in_channels: int, channels: int, t: int, stride: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_shortcut = stride == 1 and in_channels == channels
        inner = in_channels * t
        with self.name_scope():
            self.out = chain(
                [
                    *normed(inner, active=RELU6),
                    *normed(inner, 3, stride, 1, groups=inner, active=RELU6),
                    *normed(channels, active=None),
                ]
            )

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the convolved channels, with the input or without."""
        found = self.out(x)
        return functions(x).elemwise_add(found, x) if self.use_shortcut else found


class MobileNetV2(Classifier):
    """`Inverted residuals and linear bottlenecks <https://arxiv.org/abs/1801.04381>`_.

    All layers have ``multiplier`` times their channels, the last one at least 1280.
    """

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = chain(_features_v2(multiplier), prefix="features_")
            self.output = chain(_output_v2(classes), prefix="output_")


def _features_v2(multiplier: float) -> Iterator[HybridBlock]:
    before = int(32 * multiplier)
    yield from normed(before, 3, 2, 1, active=RELU6)
    for number, (full, count, stride) in enumerate(_BOTTLENECKS):
        channels = int(full * multiplier)
        for index in range(count):
            widening = 6 if number else 1
            yield LinearBottleneck(before, channels, widening, 1 if index else stride)
            before = channels
    yield from normed(int(1280 * max(multiplier, 1.0)), active=RELU6)
    yield nn.GlobalAvgPool2D()


def _output_v2(classes: int) -> Iterator[HybridBlock]:
    yield nn.Conv2D(classes, 1, use_bias=False, prefix="pred_")
    yield nn.Flatten()


def _spelled(multiplier: float) -> str:
    """Return a multiplier as names of files have it: 0.25, 0.5, 0.75, 1.0."""
    return f"{multiplier:.2f}".replace("0.50", "0.5").replace("1.00", "1.0")


def get_mobilenet(
    multiplier: float,
    pretrained: bool = False,
    ctx: Context = cpu(),  # noqa: B008
    root: str | None = None,
    **kwargs: Any,
) -> MobileNet:
    """Return a ``MobileNet``; trained are those with a multiplier of 0.25, 0.5, 0.75 or 1."""
    net = MobileNet(multiplier, **kwargs)
    return begun(net, f"mobilenet{_spelled(multiplier)}", pretrained, ctx, root)


def get_mobilenet_v2(
    multiplier: float,
    pretrained: bool = False,
    ctx: Context = cpu(),  # noqa: B008
    root: str | None = None,
    **kwargs: Any,
) -> MobileNetV2:
    """Return a ``MobileNetV2``; trained are those with a multiplier of 0.25, 0.5, 0.75 or 1."""
    net = MobileNetV2(multiplier, **kwargs)
    return begun(net, f"mobilenetv2_{_spelled(multiplier)}", pretrained, ctx, root)


mobilenet1_0 = variant("mobilenet1_0", get_mobilenet, 1.0)
mobilenet0_75 = variant("mobilenet0_75", get_mobilenet, 0.75)
mobilenet0_5 = variant("mobilenet0_5", get_mobilenet, 0.5)
mobilenet0_25 = variant("mobilenet0_25", get_mobilenet, 0.25)
mobilenet_v2_1_0 = variant("mobilenet_v2_1_0", get_mobilenet_v2, 1.0)
mobilenet_v2_0_75 = variant("mobilenet_v2_0_75", get_mobilenet_v2, 0.75)
mobilenet_v2_0_5 = variant("mobilenet_v2_0_5", get_mobilenet_v2, 0.5)
mobilenet_v2_0_25 = variant("mobilenet_v2_0_25", get_mobilenet_v2, 0.25)

# SPDX-License-Identifier: Apache-2.0
"""ResNet: blocks whose input is added to what they make of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....context import Context, cpu
from ....error import MismatchError
from ... import nn
from ..._functions import functions
from ...block import HybridBlock
from ._parts import Classifier, begun, chain, normed, relu, variant

__all__ = [
    "BasicBlockV1",
    "BasicBlockV2",
    "BottleneckV1",
    "BottleneckV2",
    "ResNetV1",
    "ResNetV2",
    "get_resnet",
    "resnet18_v1",
    "resnet18_v2",
    "resnet34_v1",
    "resnet34_v2",
    "resnet50_v1",
    "resnet50_v2",
    "resnet101_v1",
    "resnet101_v2",
    "resnet152_v1",
    "resnet152_v2",
]


def _conv(
    channels: int, kernel: int, stride: int = 1, in_channels: int = 0, use_bias: bool = False
) -> nn.Conv2D:
    return nn.Conv2D(
        channels, kernel, stride, kernel // 2, use_bias=use_bias, in_channels=in_channels
    )


class _Residual(HybridBlock):
    """Adds its input, through a convolution where ``downsample`` says so, to its convolutions'."""

    def __init__(
        self,
        channels: int,
        stride: int,
        downsample: bool = False,
        in_channels: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._add(self._convolutions(channels, stride, in_channels))
        self.downsample: Any = None
        if downsample:
            self.downsample = self._shortcut(_conv(channels, 1, stride, in_channels))

    def _convolutions(self, channels: int, stride: int, in_channels: int) -> list[nn.Conv2D]:
        raise NotImplementedError

    def _add(self, convolutions: list[nn.Conv2D]) -> None:
        raise NotImplementedError

    def _shortcut(self, convolution: nn.Conv2D) -> HybridBlock:
        return convolution


class _ResidualV1(_Residual):
    """Normalises after each convolution, and activates the sum."""

    #: MXNet's graphs begin with one or the other of what is added.
    _input_first: bool

    def _add(self, convolutions: list[nn.Conv2D]) -> None:
        layers: list[HybridBlock] = []
        for convolution in convolutions:
            layers += [relu()] if layers else []
            layers += [convolution, nn.BatchNorm()]
        self.body = chain(layers)

    def _shortcut(self, convolution: nn.Conv2D) -> HybridBlock:
        return chain([convolution, nn.BatchNorm()])

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the activated sum."""
        found = self.body(x)
        passed = x if self.downsample is None else self.downsample(x)
        both = passed + found if self._input_first else found + passed
        return functions(x).Activation(both, act_type="relu")


class BasicBlockV1(_ResidualV1):
    """Two convolutions of 3 by 3, each normalised; the sum with the input is activated."""

    _input_first = True

    def _convolutions(self, channels: int, stride: int, in_channels: int) -> list[nn.Conv2D]:
        return [_conv(channels, 3, stride, in_channels), _conv(channels, 3, 1, channels)]


class BottleneckV1(_ResidualV1):
    """A convolution of 3 by 3 between two of 1 by 1, on a fourth of the channels."""

    _input_first = False

    def _convolutions(self, channels: int, stride: int, in_channels: int) -> list[nn.Conv2D]:
        inner = channels // 4
        return [
            _conv(inner, 1, stride, use_bias=True),
            _conv(inner, 3, 1, inner),
            _conv(channels, 1, use_bias=True),
        ]


class _ResidualV2(_Residual):
    """Normalises and activates before each convolution, and leaves the sum as it is."""

    def _add(self, convolutions: list[nn.Conv2D]) -> None:
        self._depth = len(convolutions)
        for number, convolution in enumerate(convolutions, 1):
            setattr(self, f"bn{number}", nn.BatchNorm())
            setattr(self, f"conv{number}", convolution)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the sum."""
        found, passed = x, x
        for number in range(1, self._depth + 1):
            normal = getattr(self, f"bn{number}")(found)
            active = functions(x).Activation(normal, act_type="relu")
            if number == 1 and self.downsample is not None:
                passed = self.downsample(active)
            found = getattr(self, f"conv{number}")(active)
        return found + passed


class BasicBlockV2(_ResidualV2):
    """Two convolutions of 3 by 3, each of normalised and activated images."""

    def _convolutions(self, channels: int, stride: int, in_channels: int) -> list[nn.Conv2D]:
        return [_conv(channels, 3, stride, in_channels), _conv(channels, 3, 1, channels)]


class BottleneckV2(_ResidualV2):
    """A convolution of 3 by 3 between two of 1 by 1, on a fourth of the channels."""

    def _convolutions(self, channels: int, stride: int, in_channels: int) -> list[nn.Conv2D]:
        inner = channels // 4
        return [_conv(inner, 1), _conv(inner, 3, stride, inner), _conv(channels, 1)]


class _ResNet(Classifier):
    """Stages of residual blocks; from the second on, images become half as large in each."""

    def __init__(
        self,
        block: type[HybridBlock],
        layers: Sequence[int],
        channels: Sequence[int],
        classes: int = 1000,
        thumbnail: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if len(layers) != len(channels) - 1:
            raise MismatchError(
                f"[{type(self).__name__}] layers are {layers}, channels {channels}; needed is one "
                "number of channels more, that of the first convolution"
            )
        with self.name_scope():
            self.features = chain(self._features(block, layers, channels, thumbnail))
            self.output = nn.Dense(classes, in_units=channels[-1])

    def _features(
        self,
        block: type[HybridBlock],
        layers: Sequence[int],
        channels: Sequence[int],
        thumbnail: bool,
    ) -> Iterator[HybridBlock]:
        if thumbnail:
            yield _conv(channels[0], 3)
        else:
            yield from normed(channels[0], 7, 2, 3)
            yield nn.MaxPool2D(3, 2, 1)
        for number, count in enumerate(layers):
            stage = _stage(block, count, 2 if number else 1, *channels[number : number + 2])
            yield chain(stage, prefix=f"stage{number + 1}_")


def _stage(
    block: type[HybridBlock], count: int, stride: int, before: int, channels: int
) -> Iterator[HybridBlock]:
    make: Any = block
    yield make(channels, stride, channels != before, in_channels=before, prefix="")
    for _ in range(count - 1):
        yield make(channels, 1, False, in_channels=channels, prefix="")


class ResNetV1(_ResNet):
    """`Deep residual learning <https://arxiv.org/abs/1512.03385>`_: blocks that end with a relu.

    ``layers`` are the numbers of blocks of the stages, ``channels`` theirs, that of the first
    convolution before them. A ``thumbnail`` is so small that this convolution keeps its size.

    >>> from afterglow import nd
    >>> from afterglow.gluon.model_zoo.vision import BasicBlockV1, ResNetV1
    >>> net = ResNetV1(BasicBlockV1, [1, 1], [8, 8, 16], classes=10, thumbnail=True)
    >>> net.initialize()
    >>> net(nd.ones((2, 3, 16, 16))).shape
    (2, 10)
    """

    def _features(self, *given: Any) -> Iterator[HybridBlock]:
        yield from super()._features(*given)
        yield nn.GlobalAvgPool2D()


class ResNetV2(_ResNet):
    """`Identity mappings <https://arxiv.org/abs/1603.05027>`_: blocks that begin with a relu.

    The arguments are those of ``ResNetV1``.

    >>> from afterglow import nd
    >>> from afterglow.gluon.model_zoo.vision import BottleneckV2, ResNetV2
    >>> net = ResNetV2(BottleneckV2, [1, 1], [8, 16, 32], classes=10)
    >>> net.initialize()
    >>> net(nd.ones((2, 3, 32, 32))).shape
    (2, 10)
    """

    def _features(self, *given: Any) -> Iterator[HybridBlock]:
        yield nn.BatchNorm(scale=False, center=False)
        yield from super()._features(*given)
        yield nn.BatchNorm()
        yield relu()
        yield nn.GlobalAvgPool2D()
        yield nn.Flatten()


#: By the number of all layers: blocks in each stage, and whether they are bottlenecks.
_LAYERS = {
    18: ((2, 2, 2, 2), False),
    34: ((3, 4, 6, 3), False),
    50: ((3, 4, 6, 3), True),
    101: ((3, 4, 23, 3), True),
    152: ((3, 8, 36, 3), True),
}
_CHANNELS = {False: (64, 64, 128, 256, 512), True: (64, 256, 512, 1024, 2048)}
_VERSIONS: dict[int, tuple[type[_ResNet], dict[bool, type[_Residual]]]] = {
    1: (ResNetV1, {False: BasicBlockV1, True: BottleneckV1}),
    2: (ResNetV2, {False: BasicBlockV2, True: BottleneckV2}),
}


def get_resnet(
    version: int,
    num_layers: int,
    pretrained: bool = False,
    ctx: Context = cpu(),  # noqa: B008
    root: str | None = None,
    **kwargs: Any,
) -> _ResNet:
    """Return a ``ResNetV1`` or ``ResNetV2`` of 18, 34, 50, 101 or 152 layers."""
    if num_layers not in _LAYERS:
        raise MismatchError(
            f"[get_resnet] num_layers is {num_layers}; it must be among {[*_LAYERS]}"
        )
    if version not in _VERSIONS:
        raise MismatchError(f"[get_resnet] version is {version}; it must be 1 or 2")
    layers, narrow = _LAYERS[num_layers]
    kind, blocks = _VERSIONS[version]
    net = kind(blocks[narrow], layers, _CHANNELS[narrow], **kwargs)
    return begun(net, f"resnet{num_layers}_v{version}", pretrained, ctx, root)


resnet18_v1 = variant("resnet18_v1", get_resnet, 1, 18)
resnet34_v1 = variant("resnet34_v1", get_resnet, 1, 34)
resnet50_v1 = variant("resnet50_v1", get_resnet, 1, 50)
resnet101_v1 = variant("resnet101_v1", get_resnet, 1, 101)
resnet152_v1 = variant("resnet152_v1", get_resnet, 1, 152)
resnet18_v2 = variant("resnet18_v2", get_resnet, 2, 18)
resnet34_v2 = variant("resnet34_v2", get_resnet, 2, 34)
resnet50_v2 = variant("resnet50_v2", get_resnet, 2, 50)
resnet101_v2 = variant("resnet101_v2", get_resnet, 2, 101)
resnet152_v2 = variant("resnet152_v2", get_resnet, 2, 152)

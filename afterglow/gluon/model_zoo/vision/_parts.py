# SPDX-License-Identifier: Apache-2.0
"""What all networks of images share: how they are put together, and how they begin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from ...._arrays.shapes import Shape
from ....context import Context
from ... import nn
from ...block import HybridBlock
from ...contrib.nn import HybridConcurrent
from .. import model_store

Net = TypeVar("Net", bound="Classifier")
Container = TypeVar("Container", bound=nn.HybridSequential)


class Classifier(HybridBlock):
    """Finds features of images, and from them a score for each class."""

    features: nn.HybridSequential
    output: HybridBlock

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the scores."""
        return self.output(self.features(x))


def chain(blocks: Iterable[HybridBlock], prefix: str = "") -> nn.HybridSequential:
    """Return blocks one after another."""
    return _filled(nn.HybridSequential(prefix=prefix), blocks)


def beside(blocks: Iterable[HybridBlock], prefix: str = "") -> HybridConcurrent:
    """Return blocks that see the same images, whose channels are put together."""
    return _filled(HybridConcurrent(axis=1, prefix=prefix), blocks)


def _filled(container: Container, blocks: Iterable[HybridBlock]) -> Container:
    with container.name_scope():  # in which a generator makes its blocks
        container.add(*blocks)
    return container


def relu() -> HybridBlock:
    """Return what most layers are activated by."""
    return nn.Activation("relu")


def normed(
    channels: int,
    kernel: int | Shape = 1,
    stride: int = 1,
    padding: int | Shape = 0,
    groups: int = 1,
    epsilon: float = 1e-5,
    active: Callable[[], HybridBlock] | None = relu,
) -> Iterator[HybridBlock]:
    """Yield a convolution without a bias, what normalises its channels, and activates them."""
    yield nn.Conv2D(channels, kernel, stride, padding, groups=groups, use_bias=False)
    yield nn.BatchNorm(epsilon=epsilon)
    if active is not None:
        yield active()


def begun(net: Net, name: str, pretrained: bool, ctx: Context, root: str | None) -> Net:
    """Return a network, ``pretrained`` with the parameters of the file by that name."""
    if pretrained:
        net.load_parameters(model_store.get_model_file(name, root), ctx=ctx)
    return net


def variant(
    name: str, make: Callable[..., Net], *arguments: Any, **settled: Any
) -> Callable[..., Net]:
    """Return the public function, by that name, that makes one network of a family."""

    def made(**kwargs: Any) -> Net:
        return make(*arguments, **{**kwargs, **settled})

    given = [*map(repr, arguments), *(f"{key}={value!r}" for key, value in settled.items())]
    made.__name__ = made.__qualname__ = name
    made.__module__ = make.__module__
    made.__doc__ = f"Return ``{make.__name__}({', '.join(given)}, **kwargs)``."
    return made

# SPDX-License-Identifier: Apache-2.0
"""AlexNet: five convolutions and three dense layers."""

from __future__ import annotations

from typing import Any

from ....context import Context, cpu
from ... import nn
from ._parts import Classifier, begun, chain

__all__ = ["AlexNet", "alexnet"]


class AlexNet(Classifier):
    """AlexNet on one device, `One weird trick <https://arxiv.org/abs/1404.5997>`_."""

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = chain(
                [
                    nn.Conv2D(64, 11, 4, 2, activation="relu"),
                    nn.MaxPool2D(3, 2),
                    nn.Conv2D(192, 5, 1, 2, activation="relu"),
                    nn.MaxPool2D(3, 2),
                    nn.Conv2D(384, 3, 1, 1, activation="relu"),
                    nn.Conv2D(256, 3, 1, 1, activation="relu"),
                    nn.Conv2D(256, 3, 1, 1, activation="relu"),
                    nn.MaxPool2D(3, 2),
                    nn.Flatten(),
                    nn.Dense(4096, activation="relu"),
                    nn.Dropout(0.5),
                    nn.Dense(4096, activation="relu"),
                    nn.Dropout(0.5),
                ]
            )
            self.output = nn.Dense(classes)


def alexnet(
    pretrained: bool = False,
    ctx: Context = cpu(),  # noqa: B008
    root: str | None = None,
    **kwargs: Any,
) -> AlexNet:
    """Return an ``AlexNet``."""
    return begun(AlexNet(**kwargs), "alexnet", pretrained, ctx, root)

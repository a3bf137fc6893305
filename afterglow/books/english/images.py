# SPDX-License-Identifier: Apache-2.0
"""Fashion-MNIST, and networks that classify images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from afterglow import gluon, init, nd, npx
from afterglow.gluon import nn
from afterglow.gluon.data.vision import transforms

from .._common import get_dataloader_workers, get_fashion_mnist_labels
from .._figures import pyplot
from .._modules import Classifier, DataModule

__all__ = [
    "FashionMNIST",
    "LeNet",
    "ResNeXtBlock",
    "Residual",
    "SoftmaxRegression",
    "load_data_fashion_mnist",
    "predict_ch3",
    "resnet18",
    "show_images",
]


def show_images(
    imgs: Any,
    num_rows: int,
    num_cols: int,
    titles: Sequence[str] | None = None,
    scale: float = 1.5,
) -> Any:
    """Draw images in rows; return their axes."""
    _, axes = pyplot().subplots(
        num_rows, num_cols, figsize=(num_cols * scale, num_rows * scale), squeeze=False
    )
    axes = axes.flatten()
    for number, (place, img) in enumerate(zip(axes, imgs, strict=False)):
        place.imshow(img.asnumpy() if hasattr(img, "asnumpy") else img)
        place.axes.get_xaxis().set_visible(False)
        place.axes.get_yaxis().set_visible(False)
        if titles:
            place.set_title(titles[number])
    return axes


class FashionMNIST(DataModule):
    """Pictures of ten kinds of clothes."""

    def __init__(self, batch_size: int = 64, resize: tuple[int, int] = (28, 28)) -> None:
        super().__init__()
        self.save_hyperparameters()
        change = transforms.Compose([transforms.Resize(resize), transforms.ToTensor()])
        self.train, self.val = (
            gluon.data.vision.FashionMNIST(train=train).transform_first(change)
            for train in (True, False)
        )

    def text_labels(self, indices: Any) -> list[str]:
        """Return the names of classes."""
        return get_fashion_mnist_labels(indices)

    def get_dataloader(self, train: bool) -> gluon.data.DataLoader:
        """Return the batches of one of the two parts."""
        return gluon.data.DataLoader(
            self.train if train else self.val,
            self.batch_size,
            shuffle=train,
            num_workers=get_dataloader_workers(),
        )

    def visualize(
        self, batch: Any, nrows: int = 1, ncols: int = 8, labels: Sequence[str] = ()
    ) -> None:
        """Draw the pictures of a batch."""
        X, y = batch
        show_images(X.squeeze(1), nrows, ncols, titles=labels or self.text_labels(y))


def load_data_fashion_mnist(
    batch_size: int, resize: Any = None, root: str | None = None
) -> tuple[gluon.data.DataLoader, gluon.data.DataLoader]:
    """Return batches for training and for testing; ``root`` is the folder of the files."""
    place: dict[str, Any] = {} if root is None else {"root": root}
    steps: list[Any] = [transforms.Resize(resize)] if resize else []
    change = transforms.Compose([*steps, transforms.ToTensor()])
    train, test = (
        gluon.data.DataLoader(
            gluon.data.vision.FashionMNIST(train=is_train, **place).transform_first(change),
            batch_size,
            shuffle=is_train,
            num_workers=get_dataloader_workers(),
        )
        for is_train in (True, False)
    )
    return train, test


def predict_ch3(net: Any, test_iter: Any, n: int = 6) -> None:
    """Draw the first pictures with their classes, and below these what a network says."""
    X, y = next(iter(test_iter))
    right, said = (get_fashion_mnist_labels(one) for one in (y, net(X).argmax(axis=1)))
    titles = [f"{name}\n{guess}" for name, guess in zip(right, said, strict=True)]
    show_images(X[:n].reshape((-1, *X.shape[-2:])), 1, n, titles=titles)


class SoftmaxRegression(Classifier):
    """One dense layer."""

    def __init__(self, num_outputs: int, lr: float) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Dense(num_outputs)
        self.net.initialize()


class LeNet(Classifier):
    """Two convolutions and three dense layers."""

    def __init__(self, lr: float = 0.1, num_classes: int = 10) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential()
        self.net.add(
            nn.Conv2D(6, kernel_size=5, padding=2, activation="sigmoid"),
            nn.AvgPool2D(pool_size=2, strides=2),
            nn.Conv2D(16, kernel_size=5, activation="sigmoid"),
            nn.AvgPool2D(pool_size=2, strides=2),
            nn.Dense(120, activation="sigmoid"),
            nn.Dense(84, activation="sigmoid"),
            nn.Dense(num_classes),
        )
        self.net.initialize(init.Xavier())


class Residual(nn.Block):
    """Two convolutions, and what came in added to what comes out."""

    def __init__(
        self, num_channels: int, use_1x1conv: bool = False, strides: int = 1, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.conv1 = nn.Conv2D(num_channels, kernel_size=3, padding=1, strides=strides)
        self.conv2 = nn.Conv2D(num_channels, kernel_size=3, padding=1)
        self.conv3 = (
            nn.Conv2D(num_channels, kernel_size=1, strides=strides) if use_1x1conv else None
        )
        self.bn1 = nn.BatchNorm()
        self.bn2 = nn.BatchNorm()

    def forward(self, X: Any) -> Any:
        """Return the sum, without what is negative."""
        relu = nd.relu if X._legacy else npx.relu  # it serves the Chinese book too
        Y = self.bn2(self.conv2(relu(self.bn1(self.conv1(X)))))
        return relu(Y + (X if self.conv3 is None else self.conv3(X)))


class ResNeXtBlock(nn.Block):
    """Convolutions in groups of channels, and what came in added to what comes out."""

    def __init__(
        self,
        num_channels: int,
        groups: int,
        bot_mul: float,
        use_1x1conv: bool = False,
        strides: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        between = round(num_channels * bot_mul)
        self.conv1 = nn.Conv2D(between, kernel_size=1)
        # The book names channels of a group, not groups.
        self.conv2 = nn.Conv2D(
            between, kernel_size=3, strides=strides, padding=1, groups=between // groups
        )
        self.conv3 = nn.Conv2D(num_channels, kernel_size=1)
        self.bn1, self.bn2, self.bn3 = nn.BatchNorm(), nn.BatchNorm(), nn.BatchNorm()
        self.conv4 = self.bn4 = None
        if use_1x1conv:
            self.conv4 = nn.Conv2D(num_channels, kernel_size=1, strides=strides)
            self.bn4 = nn.BatchNorm()

    def forward(self, X: Any) -> Any:
        """Return the sum, without what is negative."""
        Y = npx.relu(self.bn1(self.conv1(X)))
        Y = self.bn3(self.conv3(npx.relu(self.bn2(self.conv2(Y)))))
        if self.conv4 is not None and self.bn4 is not None:
            X = self.bn4(self.conv4(X))
        return npx.relu(Y + X)


def resnet18(num_classes: int) -> Any:
    """Return a network of 18 layers for small images."""
    net = nn.Sequential()
    net.add(
        nn.Conv2D(64, kernel_size=3, strides=1, padding=1),
        nn.BatchNorm(),
        nn.Activation("relu"),
    )
    for stage, channels in enumerate((64, 128, 256, 512)):
        block = nn.Sequential()
        halved = stage > 0
        block.add(
            Residual(channels, use_1x1conv=halved, strides=2 if halved else 1), Residual(channels)
        )
        net.add(block)
    net.add(nn.GlobalAvgPool2D(), nn.Dense(num_classes))
    return net

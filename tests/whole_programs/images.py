# SPDX-License-Identifier: Apache-2.0
"""Networks tell pictures apart: LeNet, a residual network on two devices, CIFAR's pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn
from mxnet.gluon.data import DataLoader
from mxnet.gluon.data.vision import CIFAR10, CIFAR100, MNIST, FashionMNIST, transforms

from . import data
from .training import STEPS, ByName, Outcome, accuracy, first, fit, number


def loader(dataset: Any, *steps: Any, batch_size: int = 32) -> Any:
    """Return a loader whose two workers turn pictures into arrays of floats."""
    to_tensor = transforms.Compose([*steps, transforms.ToTensor()])
    return DataLoader(dataset.transform_first(to_tensor), batch_size, num_workers=2)


def lenet(folder: Path, hybridize: bool) -> Outcome:
    """LeNet for FashionMNIST."""
    data.fashion_mnist(folder)
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(6, kernel_size=5, padding=2, activation="tanh"),
        nn.AvgPool2D(pool_size=2, strides=2),
        nn.Conv2D(16, kernel_size=5, activation="relu"),
        nn.MaxPool2D(pool_size=2, strides=2),
        nn.Dense(120, activation="relu"),
        nn.Dense(84, activation="relu"),
        nn.Dense(10),
    )
    net.initialize(ByName())
    if hybridize:
        net.hybridize()
    train, test = (loader(FashionMNIST(str(folder), train=train)) for train in (True, False))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    losses = fit(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer, train)
    return Outcome(losses, accuracy(net, test))


def augmented(folder: Path, hybridize: bool) -> Outcome:
    """Blocks of convolutions for MNIST, with what is drawn at random: pictures, order, dropout.

    No two libraries draw the same, so there are no losses to compare.
    """
    data.fashion_mnist(folder)
    net = nn.HybridSequential()
    for channels in (8, 16):
        net.add(nn.Conv2D(channels, kernel_size=5, strides=2, padding=2), nn.BatchNorm())
        net.add(nn.Activation("relu"), nn.Conv2D(channels, kernel_size=1, activation="relu"))
    net.add(nn.Dropout(0.2), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    changed = transforms.Compose(
        [
            transforms.RandomResizedCrop(24, scale=(0.9, 1.0), ratio=(0.9, 1.1)),
            transforms.RandomBrightness(0.1),
            transforms.RandomContrast(0.1),
            transforms.ToTensor(),
        ]
    )
    train = DataLoader(MNIST(str(folder)).transform_first(changed), 32, shuffle=True, num_workers=2)
    test = loader(MNIST(str(folder), train=False), transforms.Resize(24))
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    fit(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer, train)
    return Outcome([], accuracy(net, test))


class Residual(nn.HybridBlock):
    """Two convolutions, and the way around them.

    ``softrelu`` has no kink: there an error of rounding would turn a whole gradient on or off.
    """

    def __init__(self, channels: int, strides: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2D(channels, kernel_size=3, padding=1, strides=strides)
        self.conv2 = nn.Conv2D(channels, kernel_size=3, padding=1)
        self.around = nn.Conv2D(channels, kernel_size=1, strides=strides)
        self.norm1, self.norm2 = nn.BatchNorm(), nn.BatchNorm()
        self.active = nn.Activation("softrelu")

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        y = self.active(self.norm1(self.conv1(x)))
        return self.active(self.norm2(self.conv2(y)) + self.around(x))


def resnet(folder: Path, hybridize: bool) -> Outcome:
    """A small residual network, trained by two devices that each have half of a batch."""
    data.fashion_mnist(folder)
    devices = [mx.cpu(0), mx.cpu(1)]
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, kernel_size=3, padding=1), nn.BatchNorm(), nn.Activation("softrelu"))
    net.add(Residual(8), Residual(16, strides=2), nn.AvgPool2D(2), nn.Dense(10))
    net.initialize(ByName(), ctx=devices)
    if hybridize:
        net.hybridize()
    resize = transforms.Resize(14)
    train, test = (loader(FashionMNIST(str(folder), train=t), resize) for t in (True, False))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.02, "wd": 1e-4})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    losses = []
    for x, y in first(STEPS, train):
        halves = [gluon.utils.split_and_load(part, devices) for part in (x, y)]
        with autograd.record():
            values = [loss(net(one), labels) for one, labels in zip(*halves, strict=True)]
        for value in values:
            value.backward()
        trainer.step(len(x))
        losses.append(sum(number(value.mean()) for value in values) / len(devices))
    return Outcome(losses, accuracy(net, test))


def cifar(folder: Path, hybridize: bool) -> Outcome:
    """Convolutions for CIFAR-10, then a new last layer for the labels of CIFAR-100."""
    data.cifar(folder)
    features = nn.HybridSequential()
    features.add(
        nn.Conv2D(8, kernel_size=3, padding=1),
        nn.LeakyReLU(0.1),
        nn.MaxPool2D(2),
        nn.Conv2D(16, kernel_size=3, padding=1, groups=2),
        nn.PReLU(alpha_initializer=mx.init.Constant(0.25)),
        nn.GlobalMaxPool2D(),
    )
    normal = transforms.Normalize([0.49, 0.48, 0.45], [0.2, 0.2, 0.2])
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    losses = []
    for dataset in (CIFAR10(str(folder)), CIFAR100(str(folder), fine_label=True)):
        net = nn.HybridSequential()
        net.add(features, nn.Dense(10))
        net.initialize(ByName()) if not losses else net[1].initialize(ByName())
        if hybridize:
            net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
        to_tensor = transforms.Compose([transforms.ToTensor(), normal])
        batches = DataLoader(dataset.transform_first(to_tensor), 16, num_workers=2)
        losses += fit(net, loss, trainer, batches, STEPS // 2)
    return Outcome(losses, accuracy(net, batches))

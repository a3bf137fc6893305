# SPDX-License-Identifier: Apache-2.0
"""Pictures are made: by a network that deceives another, and in the style of another picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as onp
from mxnet import autograd, gluon, image
from mxnet.gluon import nn
from mxnet.gluon.data import DataLoader
from mxnet.gluon.data.vision import ImageFolderDataset, transforms

from . import data
from .training import STEPS, ByName, Outcome, array, first, functions, number


def adversaries(folder: Path, hybridize: bool) -> Outcome:
    """A maker of pictures and a judge of them train each other; the losses of both are told.

    The score is how near the mean picture of the maker is to that of the data.
    """
    data.folders(folder)
    maker, judge = nn.HybridSequential(), nn.HybridSequential()
    for channels, strides, padding in ((16, 1, 0), (8, 2, 1)):
        maker.add(nn.Conv2DTranspose(channels, 4, strides, padding, use_bias=False))
        maker.add(nn.BatchNorm(), nn.Activation("softrelu"))
    maker.add(nn.Conv2DTranspose(3, 4, 2, 1, use_bias=False, activation="tanh"))
    for channels in (8, 16):
        judge.add(nn.Conv2D(channels, 4, 2, 1, use_bias=False), nn.BatchNorm())
        judge.add(nn.Activation("softrelu"))
    judge.add(nn.Conv2D(1, kernel_size=4, use_bias=False))
    trainers = []
    for net in (maker, judge):
        net.initialize(ByName())
        if hybridize:
            net.hybridize()
        settings = {"learning_rate": 0.002, "beta1": 0.5, "epsilon": 1e-4}
        trainers.append(gluon.Trainer(net.collect_params(), "adam", settings))
    loss = gluon.loss.SigmoidBinaryCrossEntropyLoss()
    steps = transforms.Compose(
        [transforms.Resize(16), transforms.ToTensor(), transforms.Normalize(0.5, 0.5)]
    )
    pictures = ImageFolderDataset(str(folder / "train")).transform_first(steps)
    random = onp.random.RandomState(1)
    losses, made = [], None
    for real, _ in first(STEPS // 2, DataLoader(pictures, 16)):
        noise = array(random.normal(0, 1, (len(real), 8, 1, 1)))
        ones, zeros = array(onp.ones(len(real))), array(onp.zeros(len(real)))
        with autograd.record():
            made = maker(noise)
            told = judge(made.detach()).reshape((-1,))
            value = (loss(judge(real).reshape((-1,)), ones) + loss(told, zeros)).mean() / 2
        value.backward()
        trainers[1].step(1)
        losses.append(number(value))
        with autograd.record():
            value = loss(judge(maker(noise)).reshape((-1,)), ones).mean()
        value.backward()
        trainers[0].step(1)
        losses.append(number(value))
    truth = onp.mean([real.asnumpy() for real, _ in pictures], 0)
    return Outcome(losses, 1 - float(abs(made.asnumpy().mean(0) - truth).mean()))


class Canvas(nn.Block):
    """A picture that is trained as weights are."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.weight = self.params.get("weight", shape=shape)

    def forward(self) -> Any:
        return self.weight.data()


def gram(x: Any) -> Any:
    """Return how often channels are active together."""
    channels = x.shape[1]
    flat = x.reshape((1, channels, -1))
    return functions().batch_dot(flat, flat, transpose_b=True) / (channels * flat.shape[2])


def style(folder: Path, hybridize: bool) -> Outcome:
    """A picture gets the content of one and the style of another.

    The score is by how much the loss has fallen, as a logarithm.
    """
    data.segmentation(folder)
    views = []
    for name in ("2012_000000", "2012_000001"):
        picture = image.imread(str(folder / f"JPEGImages/{name}.jpg")).astype("float32") / 255
        views.append(image.imresize(picture, 32, 32).transpose((2, 0, 1)).reshape((1, 3, 32, 32)))
    net = nn.HybridSequential()
    for channels in (8, 16, 16):
        net.add(nn.Conv2D(channels, 3, padding=1, activation="softrelu"), nn.AvgPool2D(2))
    net.initialize(ByName())
    net.collect_params().setattr("grad_req", "null")
    if hybridize:
        for layer in net:
            layer.hybridize()

    def features(x: Any) -> list[Any]:
        found = []
        for layer in net:
            x = layer(x)
            found.append(x)
        return found

    content, grams = features(views[0])[3], [gram(x) for x in features(views[1])[::2]]
    canvas = Canvas((1, 3, 32, 32))
    canvas.initialize()
    canvas.weight.set_data(views[0])
    schedule = mx.lr_scheduler.MultiFactorScheduler([20, 40], 0.5, base_lr=0.02)
    trainer = gluon.Trainer(
        canvas.collect_params(), "adam", {"lr_scheduler": schedule, "epsilon": 1e-4}
    )
    losses = []
    for _ in range(STEPS):
        with autograd.record():
            x = canvas()
            found = features(x)
            value = 100 * ((found[3] - content) ** 2).mean()
            for one, other in zip(found[::2], grams, strict=True):
                value = value + 1000 * ((gram(one) - other) ** 2).mean()
            rough = ((x[:, :, 1:] - x[:, :, :-1]) ** 2).mean()
            rough = rough + ((x[:, :, :, 1:] - x[:, :, :, :-1]) ** 2).mean()
            value = value + rough
        value.backward()
        trainer.step(1)
        losses.append(number(value))
    return Outcome(losses, float(onp.log10(losses[0] / losses[-1])))

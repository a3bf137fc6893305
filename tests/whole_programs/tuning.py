# SPDX-License-Identifier: Apache-2.0
"""Networks of the model zoo that know other pictures learn new ones, from files of parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn
from mxnet.gluon.contrib.data import IntervalSampler
from mxnet.gluon.data import DataLoader
from mxnet.gluon.data.vision import ImageFolderDataset, transforms
from mxnet.gluon.model_zoo import vision as models

from . import data
from .training import STEPS, ByName, Outcome, accuracy, array, first, fit, number


def batches_of(folder: Path) -> list[Any]:
    """Return loaders of the pictures of a folder, for training and for the test."""
    data.folders(folder)
    steps = transforms.Compose(
        [
            transforms.Resize(36),
            transforms.CenterCrop(32),
            transforms.ToTensor(),
            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]
    )
    sets = [ImageFolderDataset(str(folder / part)) for part in ("train", "test")]
    # Pictures are sorted by their classes.
    return [
        DataLoader(one.transform_first(steps), 16, sampler=IntervalSampler(len(one), 4))
        for one in sets
    ]


def trained_before(net: Any, path: Path) -> None:
    """Write the parameters of a network to a file."""
    net.initialize(ByName(scale=1.5))
    net(array(data.pictures(5, 1, 2, 32, 3)[0]).transpose((0, 3, 1, 2)))
    net.save_parameters(str(path))


def small_resnet(classes: int) -> Any:
    """Return a shallow residual network."""
    return models.ResNetV1(models.BasicBlockV1, [1, 1], [8, 8, 16], classes=classes, thumbnail=True)


def whole(folder: Path, hybridize: bool) -> Outcome:
    """All of a residual network learns on, its new last layer ten times as fast."""
    train, test = batches_of(folder)
    trained_before(small_resnet(7), folder / "known.params")
    known = small_resnet(7)
    known.load_parameters(str(folder / "known.params"))
    net = small_resnet(2)
    net.features = known.features
    net.output.initialize(ByName())
    net.output.collect_params().setattr("lr_mult", 10)
    if hybridize:
        net.hybridize(static_alloc=True, static_shape=True)
    schedule = mx.lr_scheduler.FactorScheduler(step=20, factor=0.5, base_lr=0.02)
    trainer = gluon.Trainer(net.collect_params(), "nag", {"lr_scheduler": schedule, "wd": 1e-3})
    losses = fit(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer, train)
    return Outcome(losses, accuracy(net, test))


def last_layers(folder: Path, hybridize: bool) -> Outcome:
    """New last layers learn from what MobileNet sees, which stays as it is."""
    train, test = batches_of(folder)
    trained_before(models.get_model("mobilenet0.25", classes=7), folder / "known.params")
    net = nn.HybridSequential()
    known = models.mobilenet0_25(classes=7)
    known.load_parameters(str(folder / "known.params"))
    known.collect_params().setattr("grad_req", "null")
    net.add(nn.Dense(16, activation="sigmoid"), nn.Dense(2))
    net.initialize(ByName())
    if hybridize:
        known.hybridize()
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "rmsprop", {"learning_rate": 0.02})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    losses = []
    for x, y in first(STEPS, train):
        seen = known.features(x)
        with autograd.record():
            value = loss(net(seen), y).mean()
        value.backward()
        trainer.step(1)
        losses.append(number(value))
    return Outcome(losses, accuracy(lambda x: net(known.features(x)), test))

# SPDX-License-Identifier: Apache-2.0
"""A network of convolutions tells of each pixel what it belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as onp
from mxnet import gluon, image
from mxnet.gluon import nn
from mxnet.gluon.data import DataLoader, Dataset

from . import data
from .training import ByName, Outcome, array, fit


class Masks(Dataset):
    """Pictures of VOC and the class of each of their pixels."""

    def __init__(self, folder: Path) -> None:
        names = (folder / "ImageSets/Segmentation/train.txt").read_text().split()
        self._pictures = [image.imread(str(folder / f"JPEGImages/{name}.jpg")) for name in names]
        masks = [image.imread(str(folder / f"SegmentationClass/{name}.png")) for name in names]
        numbers = onp.zeros(256**3, "int32")
        for number, (red, green, blue) in enumerate(data.COLOURS):
            numbers[(red * 256 + green) * 256 + blue] = number
        self._classes = []
        for mask in masks:
            red, green, blue = mask.asnumpy().astype("int32").transpose(2, 0, 1)
            self._classes.append(numbers[(red * 256 + green) * 256 + blue])

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        # The same part of the picture and of its mask.
        picture = image.fixed_crop(self._pictures[index], 4, 4, 40, 40)
        mean, deviation = array([0.485, 0.456, 0.406]), array([0.229, 0.224, 0.225])
        pixels = (picture.astype("float32") / 255 - mean) / deviation
        return pixels.transpose((2, 0, 1)), array(self._classes[index][4:44, 4:44], "int32")

    def __len__(self) -> int:
        return len(self._pictures)


def fcn(folder: Path, hybridize: bool) -> Outcome:
    """Train it; the score is the share of pixels that are told right."""
    data.segmentation(folder)
    net = nn.HybridSequential()
    for channels in (8, 16):
        net.add(nn.Conv2D(channels, 3, strides=2, padding=1), nn.BatchNorm(), nn.Activation("relu"))
    net.add(
        nn.Conv2D(3, kernel_size=1),
        nn.Conv2DTranspose(3, kernel_size=8, padding=2, strides=4, weight_initializer="bilinear"),
    )
    net.initialize(ByName())
    if hybridize:
        net.hybridize()
    masks = Masks(folder)
    loss = gluon.loss.SoftmaxCrossEntropyLoss(axis=1)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "wd": 1e-3})
    batches = DataLoader(masks, 8, last_batch="discard", num_workers=2, thread_pool=True)
    losses = fit(net, loss, trainer, batches)
    right = [net(x.as_in_context(mx.cpu())).asnumpy().argmax(1) == y.asnumpy() for x, y in batches]
    return Outcome(losses, float(onp.mean(right)))

# SPDX-License-Identifier: Apache-2.0
"""A detector with boxes at several scales finds squares and discs in pictures of a record file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn
from mxnet.util import is_np_array

from . import data
from .training import STEPS, ByName, Outcome, functions, joined, number

SIZES = [(0.3, 0.4), (0.45, 0.55), (0.7, 0.9)]
RATIOS = (1, 2, 0.5)
BOXES = len(SIZES[0]) + len(RATIOS) - 1
CLASSES = 2


def box_functions() -> tuple[Any, Any, Any]:
    """Return the functions that make boxes, give them their truth, and read predictions."""
    if is_np_array():
        return mx.npx.multibox_prior, mx.npx.multibox_target, mx.npx.multibox_detection
    contrib = mx.nd.contrib
    return contrib.MultiBoxPrior, contrib.MultiBoxTarget, contrib.MultiBoxDetection


def shrinking(channels: int) -> nn.HybridSequential:
    """Return layers that halve the size of a picture, without kinks (see ``images.Residual``)."""
    block = nn.HybridSequential()
    block.add(nn.Conv2D(channels, 3, padding=1), nn.BatchNorm(), nn.Activation("softrelu"))
    block.add(nn.MaxPool2D(2))
    return block


def flat(prediction: Any) -> Any:
    """Return the predictions of each picture in a row, those of a place side by side."""
    return prediction.transpose((0, 2, 3, 1)).reshape((prediction.shape[0], -1))


class Detector(nn.Block):
    """Predicts a class and four offsets for each box of three maps of features."""

    def __init__(self) -> None:
        super().__init__()
        self.stages = nn.HybridSequential()
        base = nn.HybridSequential()
        base.add(shrinking(8), shrinking(16))
        self.stages.add(base, shrinking(16), nn.GlobalMaxPool2D())
        self.classes, self.offsets = nn.HybridSequential(), nn.HybridSequential()
        for _ in SIZES:
            self.classes.add(nn.Conv2D(BOXES * (CLASSES + 1), 3, padding=1))
            self.offsets.add(nn.Conv2D(BOXES * 4, 3, padding=1))

    def forward(self, x: Any) -> tuple[Any, Any, Any]:
        prior = box_functions()[0]
        boxes, classes, offsets = [], [], []
        for number_, stage in enumerate(self.stages):
            x = stage(x)
            boxes.append(prior(x, sizes=SIZES[number_], ratios=RATIOS))
            classes.append(flat(self.classes[number_](x)))
            offsets.append(flat(self.offsets[number_](x)))
        scores = joined(classes, 1).reshape((x.shape[0], -1, CLASSES + 1))
        return joined(boxes, 1), scores, joined(offsets, 1)


def overlap(one: Any, other: Any) -> float:
    """Return the share that two boxes have in common."""
    left, top = max(one[0], other[0]), max(one[1], other[1])
    right, bottom = min(one[2], other[2]), min(one[3], other[3])
    common = max(0.0, right - left) * max(0.0, bottom - top)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return common / (sum(areas) - common)


def ssd(folder: Path, hybridize: bool) -> Outcome:
    """Train the detector; its score is the share of things that it finds."""
    data.detection(folder)
    batches = mx.image.ImageDetIter(
        batch_size=8,
        data_shape=(3, 48, 48),
        path_imgrec=str(folder / "train.rec"),
        path_imgidx=str(folder / "train.idx"),
    )
    net = Detector()
    net.initialize(ByName())
    if hybridize:
        net.hybridize()
    _, target, detection = box_functions()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.3, "wd": 5e-4})
    class_loss, offset_loss = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.loss.L1Loss()
    losses: list[float] = []
    while len(losses) < STEPS:
        batches.reset()
        for batch in batches:
            x, y = batch.data[0] / 64 - 2, batch.label[0]
            with autograd.record():
                boxes, classes, offsets = net(x)
                true_offsets, mask, true_classes = target(boxes, y, classes.transpose((0, 2, 1)))
                value = class_loss(classes, true_classes)
                value = (value + offset_loss(offsets * mask, true_offsets * mask)).mean()
            value.backward()
            trainer.step(1)
            losses.append(number(value))
    batches.reset()
    found = []
    for batch in batches:
        boxes, classes, offsets = net(batch.data[0] / 64 - 2)
        chances = functions().softmax(classes).transpose((0, 2, 1))
        best = detection(chances, offsets, boxes).asnumpy()[:, 0]
        truths = batch.label[0].asnumpy()[:, 0]
        for (kind, _, *box), (truth, *place) in zip(best, truths, strict=True):
            found.append(kind == truth and overlap(box, place) > 0.5)
    return Outcome(losses[:STEPS], sum(found) / len(found))

# SPDX-License-Identifier: Apache-2.0
"""Batches without samples, and sequences without steps, go through layers and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from afterglow import autograd, gluon, nd
from afterglow.gluon import nn, rnn

IMAGES, STEPS, LINES = (0, 4, 5, 5), (3, 0, 2), (0, 4, 6)

LAYERS: dict[str, tuple[Callable[[], Any], tuple[int, ...], tuple[int, ...]]] = {
    "convolution": (lambda: nn.Conv2D(3, 3), IMAGES, (0, 3, 3, 3)),
    "transposed": (lambda: nn.Conv2DTranspose(3, 2), IMAGES, (0, 3, 6, 6)),
    "pooling": (nn.MaxPool2D, IMAGES, (0, 4, 2, 2)),
    "global pooling": (nn.GlobalAvgPool2D, IMAGES, (0, 4, 1, 1)),
    "reflection": (lambda: nn.ReflectionPad2D(2), IMAGES, (0, 4, 9, 9)),
    "shuffle": (lambda: gluon.contrib.nn.PixelShuffle2D(2), IMAGES, (0, 1, 10, 10)),
    "batch norm": (nn.BatchNorm, IMAGES, IMAGES),
    "layer norm": (nn.LayerNorm, IMAGES, IMAGES),
    "group norm": (lambda: nn.GroupNorm(2), IMAGES, IMAGES),
    "instance norm": (nn.InstanceNorm, IMAGES, IMAGES),
    "lines": (lambda: nn.Conv1D(3, 3), LINES, (0, 3, 4)),
    "lstm": (lambda: rnn.LSTM(3, 2, bidirectional=True), STEPS, (3, 0, 6)),
    "gru": (lambda: rnn.GRU(3), STEPS, (3, 0, 3)),
    "no steps": (lambda: rnn.LSTM(3, 2), (0, 3, 2), (0, 3, 3)),
}


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("name", LAYERS)
def test_nothing(name: str, hybridize: bool) -> None:
    make, shape, expected = LAYERS[name]
    layer = make()
    layer.initialize()
    if hybridize:
        layer.hybridize()
    x = nd.zeros(shape)
    x.attach_grad()
    for _ in range(3):
        with autograd.record():
            y = layer(x)
        y.backward()
        assert y.asnumpy().shape == expected
        assert x.grad.asnumpy().shape == shape
    for parameter in layer.collect_params().values():
        if parameter.grad_req != "null":
            assert (parameter.grad().asnumpy() == 0).all()


def test_a_sequence_without_steps_has_no_last() -> None:
    with pytest.raises(ValueError, match=r"\[SequenceLast\] needs at least one step"):
        nd.SequenceLast(nd.zeros((0, 3, 2)))

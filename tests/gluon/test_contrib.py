# SPDX-License-Identifier: Apache-2.0
"""``gluon.contrib``, beside answers recorded from MXNet 1.9.1."""

from __future__ import annotations

from math import prod

import pytest

import afterglow as mx
from afterglow import gluon, nd, np
from afterglow.gluon.contrib import nn


@pytest.mark.parametrize("world", [nd, np])
@pytest.mark.parametrize(
    ("layer", "text", "shape", "result_shape", "values"),
    [
        (
            nn.PixelShuffle1D(2),
            "PixelShuffle1D(2)",
            (1, 4, 3),
            (1, 2, 6),
            [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11],
        ),
        (
            nn.PixelShuffle2D((2, 3)),
            "PixelShuffle2D((2, 3))",
            (1, 12, 1, 2),
            (1, 2, 2, 6),
            [
                *(0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11),
                *(12, 14, 16, 13, 15, 17, 18, 20, 22, 19, 21, 23),
            ],
        ),
        (
            nn.PixelShuffle2D(2),
            "PixelShuffle2D((2, 2))",
            (2, 4, 1, 2),
            (2, 1, 2, 4),
            [0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15],
        ),
        (
            nn.PixelShuffle3D(2),
            "PixelShuffle3D((2, 2, 2))",
            (1, 8, 1, 1, 2),
            (1, 1, 2, 2, 4),
            [0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15],
        ),
    ],
)
def test_pixel_shuffle(layer, text, shape, result_shape, values, world) -> None:
    result = layer(world.arange(prod(shape)).reshape(shape))
    assert result.shape == result_shape
    assert result.asnumpy().ravel().tolist() == values
    assert repr(layer) == text


def test_pixel_shuffle_refuses() -> None:
    for wrong in (
        lambda: nn.PixelShuffle2D(2)(nd.ones((1, 3, 2, 2))),
        lambda: nn.PixelShuffle2D(2)(nd.ones((1, 4, 2))),
        lambda: nn.PixelShuffle2D((2, 2, 2)),
    ):
        with pytest.raises(mx.MXNetError):
            wrong()


def test_graphs_of_pixel_shuffle_have_axes_that_mxnet_takes() -> None:
    graph = nn.PixelShuffle3D((2, 1, 2))(mx.sym.var("data"))
    inner = graph.get_internals()
    _, shapes, _ = inner.infer_shape(data=(1, 8, 2, 3, 4))
    turned = [
        shape
        for name, shape in zip(inner.list_outputs(), shapes, strict=True)
        if "swapaxes" in name or "transpose" in name
    ]
    assert len(turned) == 3
    assert all(len(shape) <= 6 for shape in turned)


def test_what_sync_batch_norm_says_of_itself() -> None:
    layer = nn.SyncBatchNorm(num_devices=2, momentum=0.8, prefix="norm_")
    assert repr(layer) == (
        "SyncBatchNorm(eps=1e-05, momentum=0.8, fix_gamma=False, use_global_stats=False, "
        "ndev=2, key='norm_', in_channels=None)"
    )


def test_interval_sampler() -> None:
    sampler = gluon.contrib.data.IntervalSampler
    assert list(sampler(7, 3)) == [0, 3, 6, 1, 4, 2, 5]
    assert list(sampler(7, 3, rollover=False)) == [0, 3, 6]

# SPDX-License-Identifier: Apache-2.0
"""Layers and nets of images and texts: single ops, training steps and predictions.

python benchmarks/networks.py [--rounds 5] [--peer mxnet=INTERPRETER] [--peer torch=...]

All columns begin with the same numbers and must agree upon the results. Ops are called one by one,
nets in training without ``hybridize`` where the row does not say so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import networks_ops as ops
import networks_runs as runs
from rows import OURS, Figure, Goal, Row, Task, goals, timed
from words import words

#: MXNet takes half of the processors by itself.
THREADS = {"mxnet": {"OMP_NUM_THREADS": str(len(os.sched_getaffinity(0)))}}

#: Images, filters, kernel, padding: the shapes by which the kernels were chosen.
CONVOLUTIONS = {
    "64,3,32,32 -> 64, 3": ops.convolution((64, 3, 32, 32), 64, 3, pad=1),
    "64,64,32,32 -> 64, 3": ops.convolution((64, 64, 32, 32), 64, 3, pad=1),
    "64,1,28,28 -> 20, 5": ops.convolution((64, 1, 28, 28), 20, 5),
    "64,20,12,12 -> 50, 5": ops.convolution((64, 20, 12, 12), 50, 5),
    "64,6,14,14 -> 16, 5": ops.convolution((64, 6, 14, 14), 16, 5),
    "16,64,56,56 -> 64, 3": ops.convolution((16, 64, 56, 56), 64, 3, pad=1),
    "32,256,14,14 -> 256, 3": ops.convolution((32, 256, 14, 14), 256, 3, pad=1),
    "32,256,14,14 -> 512, 1": ops.convolution((32, 256, 14, 14), 512, 1),
    "128,32,16,16 -> 32, 3": ops.convolution((128, 32, 16, 16), 32, 3, pad=1),
}
FEW_CHANNELS = "64,1,28,28 -> 20, 5"  # left out of the mean: everybody is much slower there

OTHERS = {
    "depthwise 3x3 of 32,192,28,28": ops.convolution((32, 192, 28, 28), 192, 3, pad=1, groups=192),
    "depthwise 3x3 of 32,192,28,28, stride 2": ops.convolution(
        (32, 192, 28, 28), 192, 3, stride=2, pad=1, groups=192
    ),
    "1x1 of 32,192,28,28 -> 64": ops.convolution((32, 192, 28, 28), 64, 1),
    "3x3 of 64,64,32,32 -> 128, stride 2": ops.convolution(
        (64, 64, 32, 32), 128, 3, stride=2, pad=1
    ),
    "3x3 of 16,64,32,32 -> 64, dilation 2": ops.convolution(
        (16, 64, 32, 32), 64, 3, pad=2, dilation=2
    ),
    "3x3 of 32,128,28,28 -> 128, 32 groups": ops.convolution(
        (32, 128, 28, 28), 128, 3, pad=1, groups=32
    ),
    "transposed 4x4 of 32,128,16,16 -> 64, stride 2": ops.transposed_convolution(
        (32, 128, 16, 16), 64, 4, stride=2, pad=1
    ),
    "1-D, 3 of 32,64,256 -> 128": ops.convolution((32, 64, 256), 128, 3, pad=1),
    "3-D, 3x3x3 of 4,16,16,32,32 -> 32": ops.convolution((4, 16, 16, 32, 32), 32, 3, pad=1),
}

PASSES = {
    "batch norm of 64,64,32,32": ops.batch_norm((64, 64, 32, 32)),
    "max pooling 2x2 of 64,64,32,32": ops.pooling((64, 64, 32, 32), "max", 2, 2),
    "max pooling 3x3 of 16,64,112,112, stride 2": ops.pooling((16, 64, 112, 112), "max", 3, 2, 1),
    "average pooling 2x2 of 64,64,32,32": ops.pooling((64, 64, 32, 32), "avg", 2, 2),
}


def op_row(
    text: str,
    calls: Callable[[str], ops.Calls],
    wanted: tuple[Goal, ...],
    part: str = "both",
    tolerance: float = 1e-4,
) -> Row:
    """Make a row of an op or a layer beside PyTorch and MXNet, whose results are compared."""

    def make(column: str) -> Task:
        return ops.task_of(calls(column), part)

    def values(column: str) -> Any:
        return ops.values_of(calls(column))

    return Row(
        f"networks/{text}",
        (Figure(text, wanted),),
        (OURS, "torch", "mxnet"),
        make,
        rounds=9,
        both_mallocs=True,
        environment=THREADS,
        values=values,
        tolerance=(1e-3, tolerance),
    )


def mean_row() -> Row:
    """Make the row of the geometric mean of the convolutions."""
    chosen = [op for name, op in CONVOLUTIONS.items() if name != FEW_CHANNELS]

    def make(column: str) -> Task:
        return ops.geometric_mean([ops.task_of(ops.calls_of(op, column), "both") for op in chosen])

    text = "geometric mean of these convolutions without 64,1,28,28"
    return Row(
        "networks/convolutions, geometric mean",
        (Figure(text, goals(torch=0.92, mxnet=0.8)),),
        (OURS, "torch", "mxnet"),
        make,
        rounds=7,
        both_mallocs=True,
        environment=THREADS,
    )


def train_rows(name: str, text: str, training: runs.Training) -> list[Row]:
    """Make the two rows of a net of images in training: as it is, and hybridized."""

    def row(suffix: str, peers: str, wanted: tuple[Goal, ...]) -> Row:
        hybridized = bool(suffix)
        return Row(
            f"networks/{name}{suffix}",
            (Figure(f"training step of {text}{suffix}", wanted),),
            (OURS, *peers.split()),
            partial(runs.train, training, hybridized),
            rounds=5,
            rest=0.1,
            both_mallocs=True,
            environment=THREADS,
            tolerance=(1e-2, 0),
        )

    return [
        row("", "torch mxnet", goals(torch=0.95, mxnet=0.6)),
        row(
            ", hybridized",
            "torch torch.compile mxnet",
            goals(torch=0.85, torch_compile=1.0, mxnet=0.6),
        ),
    ]


def text_row(name: str, text: str, training: runs.Training) -> Row:
    """Make the row of a net of texts in training, hybridized."""
    return Row(
        f"networks/{name}",
        (
            Figure(
                f"training step of {text}, hybridized",
                goals(torch=0.9, torch_compile=1.05, jax_jit=1.05),
            ),
        ),
        (OURS, "eager", "torch", "torch.compile", "jax.jit"),
        partial(runs.train, training, True),
        rounds=5,
        rest=0.1,
        both_mallocs=True,
        tolerance=(1e-2, 0),
    )


def prediction_row(name: str, net: str, batch: int, count: int) -> Row:
    """Make the row of predictions of a net, of images of 224 x 224."""
    text = f"{name} 224x224, prediction, batch {batch}, hybridized"
    return Row(
        f"networks/{name} prediction, batch {batch}",
        (Figure(text, goals(torch=0.9, onnxruntime=1.3)),),
        (OURS, "torch", "onnxruntime"),
        partial(runs.predict, net, batch, count),
        rounds=5,
        rest=0.1,
        both_mallocs=True,
        environment={"onnxruntime": {runs.EXPORTER: sys.executable}},
        tolerance=(1e-2, 1e-4),
    )


def product_row(rows: int, inner: int, columns: int) -> Row:
    """Make the row of a product of two matrices."""

    def make(column: str) -> Task:
        w = words(column)
        a, b = w.waited([w.normal(rows, inner), w.normal(inner, columns)])
        count = 5

        def run() -> None:
            for _ in range(count):
                w.wait(w.dot(a, b))

        return timed(run, count=count)

    size = f"{rows}x{inner}x{columns}"
    return Row(
        f"networks/dot {size}",
        (Figure(f"`dot` {size}", (Goal(1.02, ("torch", "numpy")),)),),
        (OURS, "torch", "numpy"),
        make,
        rounds=9,
        rest=0.1,
        both_mallocs=True,
    )


RESNET = runs.on_images(runs.nets.resnet18, (64, 3, 32, 32), 1)

ROWS = [
    *[
        op_row(f"convolution {name}", partial(ops.calls_of, op), goals(torch=1.05, mxnet=0.8))
        for name, op in CONVOLUTIONS.items()
    ],
    mean_row(),
    op_row(
        "chain of three convolutions with relu, hybridized",
        ops.chain_calls,
        goals(torch=0.85, mxnet=0.8),
        tolerance=0.05,  # a number next to zero may pass the relu in one library alone
    ),
    *[
        op_row(f"convolution {name}", partial(ops.calls_of, op), goals(torch=1.0))
        for name, op in OTHERS.items()
    ],
    *[
        op_row(
            f"{name}, {part}",
            partial(ops.calls_of, op),
            goals(torch=0.6 if part == "both" else 0.9),
            part,
        )
        for name, op in PASSES.items()
        for part in ("forward", "backward", "both")
    ],
    *[
        op_row(
            f"{kind} T35 N32 H{width}",
            partial(ops.recurrent_calls, kind, width),
            goals(torch=0.9, mxnet=0.8),
        )
        for kind in ("LSTM", "GRU")
        for width in (200, 650)
    ],
    *train_rows("LeNet", "LeNet, batch 256", runs.on_images(runs.nets.lenet, (256, 1, 28, 28), 10)),
    *train_rows("ResNet-18", "ResNet-18, 32x32, batch 64", RESNET),
    *train_rows(
        "MobileNetV2",
        "MobileNetV2 0.5, 32x32, batch 64",
        runs.on_images(runs.nets.mobilenet_half, (64, 3, 32, 32), 3),
    ),
    text_row(
        "language model", "an LSTM language model 2 x 256, T35, batch 32", runs.language_model(3)
    ),
    text_row("transformer", "a transformer, 4 layers, d 256, T128, batch 16", runs.transformer(3)),
    *[
        prediction_row(name, net, batch, count)
        for name, net in (("ResNet-50", "resnet50"), ("MobileNetV2", "mobilenet_whole"))
        for batch, count in ((1, 10), (16, 1))
    ],
    product_row(2000, 2000, 2000),
    product_row(1024, 512, 2048),
    Row(
        "networks/memory of ResNet-18",
        (Figure("memory of training ResNet-18, 32x32, batch 64", goals(torch=1.0), "bytes"),),
        (OURS, "torch"),
        partial(runs.train_watched, RESNET),
        rounds=3,
        fresh=True,
    ),
]

if __name__ == "__main__":
    from bench import main

    main("networks")

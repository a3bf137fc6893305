# SPDX-License-Identifier: Apache-2.0
"""Every layer and loss, written once: with arrays of both worlds, symbols, hybridized, exported."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

from afterglow import gluon, nd, np, npx, sym
from afterglow.gluon import loss, nn, rnn
from afterglow.gluon.contrib import cnn
from afterglow.gluon.contrib import nn as contrib_nn
from afterglow.gluon.contrib import rnn as contrib_rnn

Make = Callable[[], Any]

IMAGE, ROWS, WORDS, SEQUENCES = (2, 3, 4, 5), (4, 6), (3, 2), (2, 4, 6)

#: By class: how to make it, and the shapes of what it is called with.
LAYERS: dict[str, tuple[Make, list[tuple[int, ...]]]] = {
    "AvgPool1D": (lambda: nn.AvgPool1D(3, 2, 1, count_include_pad=False), [(2, 3, 7)]),
    "AvgPool2D": (lambda: nn.AvgPool2D(2, padding=1, ceil_mode=True), [IMAGE]),
    "AvgPool3D": (nn.AvgPool3D, [(1, 2, 3, 4, 5)]),
    "GlobalAvgPool1D": (lambda: nn.GlobalAvgPool1D("NWC"), [(2, 3, 7)]),
    "GlobalAvgPool2D": (nn.GlobalAvgPool2D, [IMAGE]),
    "GlobalAvgPool3D": (nn.GlobalAvgPool3D, [(1, 2, 3, 4, 5)]),
    "GlobalMaxPool1D": (nn.GlobalMaxPool1D, [(2, 3, 7)]),
    "GlobalMaxPool2D": (lambda: nn.GlobalMaxPool2D("NHWC"), [IMAGE]),
    "GlobalMaxPool3D": (nn.GlobalMaxPool3D, [(1, 2, 3, 4, 5)]),
    "MaxPool1D": (lambda: nn.MaxPool1D(layout="NWC"), [(2, 7, 3)]),
    "MaxPool2D": (lambda: nn.MaxPool2D((3, 2), 2, 1), [IMAGE]),
    "MaxPool3D": (lambda: nn.MaxPool3D(2, 1), [(1, 2, 3, 4, 5)]),
    "ReflectionPad2D": (lambda: nn.ReflectionPad2D(2), [IMAGE]),
    "Activation": (lambda: nn.Activation("softsign"), [ROWS]),
    "BatchNorm": (lambda: nn.BatchNorm(scale=False), [IMAGE]),
    "BatchNorm, axis 3": (lambda: nn.BatchNorm(axis=3, epsilon=0.1), [IMAGE]),
    "BatchNormReLU": (nn.BatchNormReLU, [IMAGE]),
    "Conv1D": (lambda: nn.Conv1D(4, 2, activation="relu"), [(2, 3, 6)]),
    "Conv1D, last axis": (lambda: nn.Conv1D(4, 2, layout="NWC", use_bias=False), [(2, 6, 3)]),
    "Conv2D": (lambda: nn.Conv2D(4, (3, 2), strides=2, padding=1, dilation=(1, 2)), [IMAGE]),
    "Conv2D, groups": (lambda: nn.Conv2D(6, 3, padding=1, groups=3, in_channels=3), [IMAGE]),
    "Conv2D, last axis": (lambda: nn.Conv2D(6, 2, groups=1, layout="NHWC"), [(2, 3, 4, 5)]),
    "Conv3D": (lambda: nn.Conv3D(2, 2), [(1, 2, 3, 4, 3)]),
    "Conv1DTranspose": (lambda: nn.Conv1DTranspose(4, 3, strides=2, output_padding=1), [(2, 3, 4)]),
    "Conv2DTranspose": (lambda: nn.Conv2DTranspose(4, 3, 2, 1, activation="tanh"), [IMAGE]),
    "Conv2DTranspose, last axis": (
        lambda: nn.Conv2DTranspose(4, 3, groups=1, layout="NHWC", use_bias=False),
        [IMAGE],
    ),
    "Conv3DTranspose": (lambda: nn.Conv3DTranspose(2, 2, groups=2), [(1, 2, 3, 4, 3)]),
    "Dense": (lambda: nn.Dense(3, activation="tanh"), [IMAGE]),
    "Dense, last axis": (lambda: nn.Dense(3, flatten=False, use_bias=False), [IMAGE]),
    "Dropout": (lambda: nn.Dropout(0.5), [ROWS]),
    "Dropout of nothing": (lambda: nn.Dropout(0), [ROWS]),
    "ELU": (lambda: nn.ELU(0.3), [ROWS]),
    "Embedding": (lambda: nn.Embedding(4, 3), [WORDS]),
    "Flatten": (nn.Flatten, [IMAGE]),
    "GELU": (nn.GELU, [ROWS]),
    "GroupNorm": (lambda: nn.GroupNorm(3), [IMAGE]),
    "HybridLambda": (lambda: nn.HybridLambda("relu"), [ROWS]),
    "HybridSequential": (lambda: _sequence(nn.HybridSequential()), [ROWS]),
    "InstanceNorm": (lambda: nn.InstanceNorm(scale=True), [IMAGE]),
    "InstanceNorm, axis 2": (lambda: nn.InstanceNorm(axis=2), [IMAGE]),
    "LayerNorm": (nn.LayerNorm, [IMAGE]),
    "LayerNorm, axis 1": (lambda: nn.LayerNorm(axis=1), [IMAGE]),
    "LeakyReLU": (lambda: nn.LeakyReLU(0.1), [ROWS]),
    "PReLU": (nn.PReLU, [IMAGE]),
    "PReLU, channels": (lambda: nn.PReLU(in_channels=3), [IMAGE]),
    "SELU": (nn.SELU, [ROWS]),
    "Swish": (lambda: nn.Swish(1.5), [ROWS]),
    "DeformableConvolution": (
        lambda: cnn.DeformableConvolution(
            4, 3, 2, 1, activation="relu", offset_bias_initializer="uniform"
        ),
        [IMAGE],
    ),
    "ModulatedDeformableConvolution": (
        lambda: cnn.ModulatedDeformableConvolution(
            4, (2, 3), use_bias=False, offset_bias_initializer="uniform"
        ),
        [IMAGE],
    ),
    "HybridConcurrent": (lambda: _sequence(contrib_nn.HybridConcurrent(axis=1)), [ROWS]),
    "Identity": (contrib_nn.Identity, [ROWS]),
    "PixelShuffle1D": (lambda: contrib_nn.PixelShuffle1D(3), [(2, 6, 5)]),
    "PixelShuffle2D": (lambda: contrib_nn.PixelShuffle2D((2, 3)), [(2, 12, 4, 5)]),
    "PixelShuffle3D": (lambda: contrib_nn.PixelShuffle3D((1, 2, 3)), [(1, 6, 2, 3, 4)]),
    "SyncBatchNorm": (contrib_nn.SyncBatchNorm, [IMAGE]),
    "RNN": (lambda: rnn.RNN(3, 2), [SEQUENCES]),
    "LSTM": (lambda: rnn.LSTM(3, layout="NTC", bidirectional=True), [SEQUENCES]),
    "LSTM, projected": (
        lambda: rnn.LSTM(3, projection_size=2, state_clip_min=-0.1, state_clip_max=0.1),
        [SEQUENCES],
    ),
    "GRU": (lambda: rnn.GRU(3, dropout=0.5, num_layers=2), [SEQUENCES]),
    "RNNCell": (lambda: _Unrolled(rnn.RNNCell(3)), [SEQUENCES]),
    "LSTMCell": (lambda: _Unrolled(rnn.LSTMCell(3)), [SEQUENCES]),
    "GRUCell": (lambda: _Unrolled(rnn.GRUCell(3)), [SEQUENCES]),
    "LSTMPCell": (lambda: _Unrolled(contrib_rnn.LSTMPCell(3, 2)), [SEQUENCES]),
    "Conv1DRNNCell": (
        lambda: _Unrolled(contrib_rnn.Conv1DRNNCell((2, 5), 2, 2, 3)),
        [(2, 4, 2, 5)],
    ),
    "Conv1DLSTMCell": (
        lambda: _Unrolled(contrib_rnn.Conv1DLSTMCell((2, 5), 2, 2, 3)),
        [(2, 4, 2, 5)],
    ),
    "Conv1DGRUCell": (
        lambda: _Unrolled(contrib_rnn.Conv1DGRUCell((2, 5), 2, 2, 3)),
        [(2, 4, 2, 5)],
    ),
    "Conv2DRNNCell": (
        lambda: _Unrolled(contrib_rnn.Conv2DRNNCell((2, 3, 4), 2, 2, 3)),
        [(2, 4, 2, 3, 4)],
    ),
    "Conv2DLSTMCell": (
        lambda: _Unrolled(contrib_rnn.Conv2DLSTMCell((2, 3, 4), 2, 2, 3)),
        [(2, 4, 2, 3, 4)],
    ),
    "Conv2DGRUCell": (
        lambda: _Unrolled(contrib_rnn.Conv2DGRUCell((2, 3, 4), 2, 2, 3)),
        [(2, 4, 2, 3, 4)],
    ),
    "Conv3DRNNCell": (
        lambda: _Unrolled(contrib_rnn.Conv3DRNNCell((1, 2, 3, 3), 2, 2, 3)),
        [(2, 4, 1, 2, 3, 3)],
    ),
    "Conv3DLSTMCell": (
        lambda: _Unrolled(contrib_rnn.Conv3DLSTMCell((1, 2, 3, 3), 2, 2, 3)),
        [(2, 4, 1, 2, 3, 3)],
    ),
    "Conv3DGRUCell": (
        lambda: _Unrolled(contrib_rnn.Conv3DGRUCell((1, 2, 3, 3), 2, 2, 3)),
        [(2, 4, 1, 2, 3, 3)],
    ),
    "DropoutCell": (lambda: _Unrolled(rnn.DropoutCell(0.5)), [SEQUENCES]),
    "ResidualCell": (lambda: _Unrolled(rnn.ResidualCell(rnn.GRUCell(6))), [SEQUENCES]),
    "BidirectionalCell": (
        lambda: _Unrolled(rnn.BidirectionalCell(rnn.RNNCell(3), rnn.LSTMCell(2))),
        [SEQUENCES],
    ),
    "HybridSequentialRNNCell": (lambda: _Unrolled(_stack()), [SEQUENCES]),
    "CosineEmbeddingLoss": (lambda: loss.CosineEmbeddingLoss(margin=0.1), [ROWS, ROWS, (4,)]),
    "CTCLoss": (loss.CTCLoss, [(2, 5, 4), (2, 3)]),
    "HingeLoss": (lambda: loss.HingeLoss(margin=0.7, weight=2), [ROWS, ROWS]),
    "HuberLoss": (lambda: loss.HuberLoss(rho=0.4), [ROWS, ROWS]),
    "KLDivLoss": (loss.KLDivLoss, [ROWS, ROWS]),
    "KLDivLoss, any": (lambda: loss.KLDivLoss(from_logits=False), [ROWS, ROWS]),
    "L1Loss": (lambda: loss.L1Loss(weight=0.3), [ROWS, ROWS, (4, 1)]),
    "L1Loss, batch 1": (lambda: loss.L1Loss(batch_axis=1), [ROWS, ROWS]),
    "L2Loss": (loss.L2Loss, [ROWS, (24,)]),
    "L2Loss of vectors": (loss.L2Loss, [(4,), (4,), (4,)]),
    "LogisticLoss": (lambda: loss.LogisticLoss(label_format="binary"), [ROWS, ROWS]),
    "PoissonNLLLoss": (loss.PoissonNLLLoss, [ROWS, ROWS]),
    "PoissonNLLLoss, full": (
        lambda: loss.PoissonNLLLoss(from_logits=False, compute_full=True),
        [ROWS, ROWS],
    ),
    "SigmoidBinaryCrossEntropyLoss": (loss.SigmoidBCELoss, [ROWS, ROWS, (4, 1), (1, 6)]),
    "SigmoidBinaryCrossEntropyLoss, sigmoid": (
        lambda: loss.SigmoidBCELoss(from_sigmoid=True),
        [ROWS, ROWS, (4, 1), (1, 6)],
    ),
    "SoftmaxCrossEntropyLoss": (loss.SoftmaxCELoss, [ROWS, (4,), (4, 1)]),
    "SoftmaxCrossEntropyLoss, channels": (lambda: loss.SoftmaxCELoss(axis=1), [IMAGE, (2, 4, 5)]),
    "SoftmaxCrossEntropyLoss, dense": (
        lambda: loss.SoftmaxCELoss(sparse_label=False),
        [ROWS, ROWS],
    ),
    "SquaredHingeLoss": (loss.SquaredHingeLoss, [ROWS, ROWS]),
    "TripletLoss": (lambda: loss.TripletLoss(margin=0.5), [ROWS, ROWS, ROWS]),
}

#: Classes that are called with no symbols, and why.
NOT_HERE = {
    "Block": "has nothing of its own",
    "HybridBlock": "has nothing of its own",
    "Loss": "has nothing of its own",
    "Sequential": "no HybridBlock, as in MXNet",
    "Lambda": "no HybridBlock, as in MXNet",
    "Concurrent": "no HybridBlock, as in MXNet",
    "SymbolBlock": "is made of symbols: tests/symbol/test_blocks.py",
    "SparseEmbedding": "no HybridBlock, as in MXNet: tests/sparse/test_training.py",
    "SDMLLoss": "reads the number of rows, as in MXNet",
    "RecurrentCell": "has nothing of its own",
    "HybridRecurrentCell": "has nothing of its own",
    "ModifierCell": "has nothing of its own",
    "SequentialRNNCell": "no HybridBlock, as in MXNet",
    "ZoneoutCell": "keeps an array from step to step: tests/gluon/test_recurrence.py",
    "VariationalDropoutCell": "keeps arrays from step to step: tests/gluon/test_recurrence.py",
}


class _Unrolled(gluon.HybridBlock):
    """All steps of a cell."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        self.cell = cell

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.cell.unroll(SEQUENCES[1], x, merge_outputs=True)[0]


def _stack() -> Any:
    stack = rnn.HybridSequentialRNNCell()
    for cell in (rnn.LSTMCell(3), rnn.DropoutCell(0.2), rnn.GRUCell(2)):
        stack.add(cell)
    return stack


def _sequence(net: Any) -> Any:
    net.add(nn.Dense(3), nn.Dense(2, activation="relu"))
    return net


def test_every_class_is_here() -> None:
    found = {
        name
        for module in (nn, loss, contrib_nn, cnn, rnn, contrib_rnn)
        for name in module.__all__
        for kind in [getattr(module, name)]
        if inspect.isclass(kind) and issubclass(kind, gluon.Block) and kind.__name__ == name
    }
    tested = {name.split(",")[0].split(" of ")[0] for name in LAYERS}
    assert found - set(NOT_HERE) == tested


@pytest.fixture(params=["nd", "np"])
def world(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "nd":
        yield nd
        return
    npx.set_np()
    yield np
    npx.reset_np()


def _inputs(name: str, world: Any) -> list[Any]:
    rng = onp.random.default_rng(5)
    arrays = [rng.uniform(0.1, 0.9, shape) for shape in LAYERS[name][1]]
    if name.startswith(("Softmax", "CTC")) and "dense" not in name:
        arrays[1] = rng.integers(0, 3, arrays[1].shape)
    elif name == "Embedding":
        arrays[0] = rng.integers(0, 4, WORDS)
    elif "CosineEmbedding" in name:
        arrays[2] = onp.array([1, -1, -1, 1])
    return [world.array(one, dtype="float32") for one in arrays]


@pytest.mark.parametrize("name", LAYERS)
def test_symbols_arrays_and_files_agree(name: str, world: Any, tmp_path: Path) -> None:
    layer = LAYERS[name][0]()
    layer.initialize()
    inputs = _inputs(name, world)
    wanted = layer(*inputs).asnumpy()
    names = [f"x{i}" for i in range(len(inputs))]
    variables = [sym.var(one) for one in names]
    if world is np:
        variables = [one.as_np_ndarray() for one in variables]
    output = layer(*variables)
    assert type(output) is type(variables[0])

    block = gluon.SymbolBlock(output, variables, layer.collect_params())
    onp.testing.assert_allclose(block(*inputs).asnumpy(), wanted, rtol=1e-5, atol=1e-6)

    output.save(str(tmp_path / "net.json"))
    layer.collect_params().save(str(tmp_path / "net.params"))
    file = str(tmp_path / "net.params") if layer.collect_params() else None
    read = gluon.SymbolBlock.imports(str(tmp_path / "net.json"), names, file)
    onp.testing.assert_allclose(read(*inputs).asnumpy(), wanted, rtol=1e-5, atol=1e-6)

    # Contract 1: equal bits, but for products that are prepared ahead.
    rounding = {"rtol": 1e-5, "atol": 1e-6} if "Conv" in name else {"rtol": 0, "atol": 0}
    layer.hybridize()
    for _ in range(4):
        onp.testing.assert_allclose(layer(*inputs).asnumpy(), wanted, **rounding)

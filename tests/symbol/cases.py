# SPDX-License-Identifier: Apache-2.0
"""Graphs and networks on given numbers.

``golden/record_symbols.py`` asks MXNet, the tests ask Afterglow.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as onp

#: name: how to make the symbol from ``sym``, and what its inputs are: shapes, or for indices the
#: shape and the number of values.
SYMBOLS: dict[str, tuple[str, dict[str, Any]]] = {
    **{
        f"perceptron, {kind}": (
            f"sym.FullyConnected(sym.Activation(sym.FullyConnected(sym.var('data'), num_hidden=4, "
            f"name='fc1'), act_type='{kind}', name='act'), num_hidden=3, name='fc2')",
            {"data": (5, 6)},
        )
        for kind in ("relu", "sigmoid", "tanh", "softrelu", "softsign")
    },
    **{
        f"leaky, {kind}": (
            f"sym.LeakyReLU(sym.var('data'), act_type='{kind}', name='act')",
            {"data": (2, 3)},
        )
        for kind in ("leaky", "elu", "selu", "gelu", "prelu")
    },
    "loop over rows": (
        "(lambda w: sym.Group([one for part in sym.contrib.foreach(lambda row, s: ([row * w + "
        "s[0], sym.FullyConnected(row, num_hidden=2, name='fc')], [row + s[0]]), sym.var('x'), "
        "[sym.var('s')]) for one in part]))(sym.var('w') * 2)",
        {"x": (3, 2, 4), "s": (2, 4), "w": (2, 4)},
    ),
    "loop over rows of one number": (
        "sym.contrib.foreach(lambda row, s: (row * s, s + row), sym.var('x'), sym.var('s'))[0]",
        {"x": (4,), "s": (1,)},
    ),
    "loop in a loop": (
        "(lambda w: sym.Group(sym.contrib.foreach(lambda rows, s: sym.contrib.foreach(lambda row, "
        "t: (sym.tanh(row * w + t), t + row), rows, s), sym.var('x'), sym.var('s'))))"
        "(sym.var('w'))",
        {"x": (2, 3, 4), "s": (4,), "w": (4,)},
    ),
    "dense without bias": (
        "sym.FullyConnected(sym.var('x'), num_hidden=3, no_bias=True, name='fc')",
        {"x": (2, 3, 2)},
    ),
    "dense keeps axes": (
        "sym.FullyConnected(data=sym.var('x'), num_hidden=3, flatten=False)",
        {"x": (2, 3, 2)},
    ),
    "shared weight": (
        "(lambda w, b: sym.FullyConnected(sym.FullyConnected(sym.var('x'), weight=w, bias=b, "
        "num_hidden=3), weight=w, bias=b, num_hidden=3))(sym.var('w'), sym.var('b'))",
        {"x": (2, 3)},
    ),
    "batch norm": (
        "sym.BatchNorm(sym.var('data'), name='bn', fix_gamma=False, eps=1e-5, momentum=0.8)",
        {"data": (4, 3)},
    ),
    "batch norm of images": (
        "sym.BatchNorm(sym.var('data'), name='bn', fix_gamma=True)",
        {"data": (2, 3, 2, 2)},
    ),
    "batch norm, last axis": ("sym.BatchNorm(sym.var('x'), axis=-1)", {"x": (2, 2, 3)}),
    "layer norm": ("sym.LayerNorm(sym.var('data'), name='ln')", {"data": (4, 5)}),
    "instance norm": ("sym.InstanceNorm(sym.var('data'))", {"data": (2, 3, 4)}),
    "group norm": ("sym.GroupNorm(sym.var('data'), num_groups=2)", {"data": (2, 4, 3)}),
    "dropout": ("sym.Dropout(sym.var('data') * 2, p=0.0, name='drop')", {"data": (2, 3)}),
    "embedding": (
        "sym.Embedding(sym.var('data'), input_dim=6, output_dim=3, name='embed')",
        {"data": ((2, 4), 6)},
    ),
    "concat": (
        "(lambda a: sym.Concat(a, sym.var('b'), a + 1, dim=1))(sym.var('a'))",
        {"a": (2, 3), "b": (2, 2)},
    ),
    "concat by another name": (
        "sym.concat(sym.var('a'), sym.var('b'), dim=0)",
        {"a": (2, 3), "b": (1, 3)},
    ),
    "split": (
        "(lambda parts: parts[0] * parts[2] + parts[1])(sym.SliceChannel(sym.var('x'), "
        "num_outputs=3, name='cut'))",
        {"x": (2, 6)},
    ),
    "split, squeezed": (
        "sym.Group(list(sym.split(sym.var('x'), num_outputs=2, axis=1, squeeze_axis=True)))",
        {"x": (3, 2)},
    ),
    "numbers": (
        "(lambda x: 1 + (2 - x) * 3 / (x + 4) - (5 / (x * x + 1)) ** 2 % 7)(sym.var('x'))",
        {"x": (2, 3)},
    ),
    "comparisons": (
        "(lambda x, y: (x > y) + (x >= 0) * 2 + (x < y) * 4 + (x <= 0) * 8 + (x == y) * 16 + "
        "(x != 0) * 32)(sym.var('x'), sym.var('y'))",
        {"x": (2, 3), "y": (2, 3)},
    ),
    "powers": (
        "(lambda x: x ** 2 + 2 ** x + abs(x) ** abs(x) - (-x))(sym.var('x'))",
        {"x": (2, 3)},
    ),
    "larger and smaller": (
        "(lambda x, y: sym.maximum(x, y) + sym.minimum(x, 0.5) - sym.maximum(0.25, y))("
        "sym.var('x'), sym.var('y'))",
        {"x": (2, 3), "y": (2, 3)},
    ),
    "stretched": (
        "sym.broadcast_add(sym.broadcast_mul(sym.var('x'), sym.var('y')), sym.var('z'))",
        {"x": (2, 3), "y": (2, 1), "z": (1, 3)},
    ),
    "functions": (
        "(lambda x: sym.sqrt(sym.exp(x)) + sym.log(sym.square(x) + 1) + sym.tanh(x) - "
        "sym.sigmoid(x) * sym.relu(x))(sym.var('x'))",
        {"x": (2, 3)},
    ),
    "reductions": (
        "(lambda x: sym.Group([sym.sum(x, axis=1), sym.mean(x, axis=(0, 2), keepdims=True), "
        "sym.max(x, axis=1), sym.norm(x)]))(sym.var('x'))",
        {"x": (2, 3, 2)},
    ),
    "methods": (
        "sym.var('x').reshape((0, -1)).transpose().slice_axis(axis=0, begin=1, end=4).expand_dims("
        "axis=1).flatten().sum(axis=0, keepdims=True)",
        {"x": (2, 3, 2)},
    ),
    "shapes": (
        "sym.tile(sym.swapaxes(sym.Reshape(sym.var('x'), shape=(-3, 0)), dim1=0, dim2=1), "
        "reps=(1, 2))",
        {"x": (2, 3, 2)},
    ),
    "products": (
        "sym.dot(sym.var('a'), sym.batch_dot(sym.var('x'), sym.var('y')).reshape((3, -1)))",
        {"a": (2, 3), "x": (2, 3, 4), "y": (2, 4, 2)},
    ),
    "choices": (
        "(lambda x: sym.where(x > 0, sym.take(sym.var('w'), sym.var('i')), sym.clip(x, -0.5, 0.5))"
        ")(sym.var('x'))",
        {"x": (2, 3), "w": (4, 3), "i": ((2,), 4)},
    ),
    "one hot and pick": (
        "(lambda i: sym.pick(sym.var('x'), i) + sym.sum(sym.one_hot(i, depth=4) * 2, axis=1))("
        "sym.var('i'))",
        {"x": (2, 3), "i": ((2,), 3)},
    ),
    "sum of several": (
        "(lambda a, b: sym.add_n(a, b, a) + sym.ElementWiseSum(b, b))(sym.var('a'), sym.var('b'))",
        {"a": (2, 3), "b": (2, 3)},
    ),
    "softmax": ("sym.softmax(sym.log_softmax(sym.var('x')), axis=0)", {"x": (2, 3)}),
    "new arrays": (
        "sym.var('x') + sym.ones((2, 3)) * sym.arange(3).reshape((1, 3)).broadcast_to((2, 3)) + "
        "sym.zeros((2, 3)) + sym.full((2, 3), 2)",
        {"x": (2, 3)},
    ),
    "stop": ("(lambda x: x * sym.BlockGrad(x))(sym.var('x'))", {"x": (2, 3)}),
    "cast": ("sym.cast(sym.Cast(sym.var('x'), dtype='float64'), dtype='float32')", {"x": (2,)}),
    "squared loss": (
        "sym.MakeLoss(sym.square(sym.FullyConnected(sym.var('x'), num_hidden=1, name='fc') - "
        "sym.var('y')), grad_scale=0.5)",
        {"x": (3, 2), "y": (3, 1)},
    ),
    "softmax output": (
        "sym.SoftmaxOutput(sym.FullyConnected(sym.var('data'), num_hidden=3, name='fc'), "
        "name='softmax')",
        {"data": (4, 2), "softmax_label": ((4,), 3)},
    ),
    "softmax output, ignoring": (
        "sym.SoftmaxOutput(sym.var('data'), sym.var('label'), use_ignore=True, ignore_label=1, "
        "normalization='valid', grad_scale=2)",
        {"data": (4, 3), "label": ((4,), 3)},
    ),
    "softmax output, several": (
        "sym.SoftmaxOutput(sym.var('data'), multi_output=True, name='s')",
        {"data": (2, 3, 2), "s_label": ((2, 2), 3)},
    ),
    "linear regression": (
        "sym.LinearRegressionOutput(sym.var('x'), sym.var('y'))",
        {"x": (3, 2), "y": (3, 2)},
    ),
    "logistic regression": (
        "sym.LogisticRegressionOutput(sym.var('x'), name='out')",
        {"x": (3, 2), "out_label": (3, 2)},
    ),
    "absolute regression": (
        "sym.MAERegressionOutput(sym.var('x'), sym.var('y'), grad_scale=3)",
        {"x": (3, 1), "y": (3,)},
    ),
    "margins": (
        "sym.SVMOutput(sym.var('x'), sym.var('y'), margin=0.5)",
        {"x": (3, 4), "y": ((3,), 4)},
    ),
    "loss and prediction": (
        "(lambda p: sym.Group([sym.MakeLoss(sym.sum(p * p)), sym.BlockGrad(p)]))("
        "sym.FullyConnected(sym.var('x'), num_hidden=2, name='fc'))",
        {"x": (3, 2)},
    ),
}

#: Graphs whose ops cannot all run yet: the text and the shapes are recorded.
DRAWN: dict[str, tuple[str, dict[str, Any]]] = {
    "convolutions": (
        "sym.Pooling(sym.Activation(sym.Convolution(sym.var('data'), kernel=(3, 3), num_filter=4, "
        "pad=(1, 1), stride=(2, 2), name='conv'), act_type='relu'), kernel=(2, 2), stride=(2, 2), "
        "pool_type='avg', name='pool')",
        {"data": (2, 3, 16, 16)},
    ),
    "groups": (
        "sym.Convolution(sym.var('x'), kernel=(3,), num_filter=4, num_group=2, no_bias=True)",
        {"x": (2, 6, 9)},
    ),
    "deconvolution": (
        "sym.Deconvolution(sym.var('x'), kernel=(4, 4), num_filter=3, stride=(2, 2), pad=(1, 1))",
        {"x": (2, 5, 4, 4)},
    ),
    "global pooling": (
        "sym.Flatten(sym.Pooling(sym.var('x'), global_pool=True, kernel=(7, 7), pool_type='avg'))",
        {"x": (2, 5, 4, 4)},
    ),
    "full pooling": (
        "sym.Pooling(sym.var('x'), kernel=(3, 3), stride=(2, 2), pool_type='avg', "
        "pooling_convention='full')",
        {"x": (2, 5, 8, 8)},
    ),
    "recurrent": (
        "sym.RNN(sym.var('x'), state_size=5, num_layers=2, mode='lstm', state_outputs=True, "
        "name='rnn')",
        {"x": (7, 2, 3)},
    ),
    "recurrent, both ways": (
        "sym.RNN(sym.var('x'), state_size=5, num_layers=2, mode='gru', bidirectional=True)",
        {"x": (7, 2, 3)},
    ),
    "channels last": (
        "sym.Pooling(sym.Convolution(sym.var('x'), kernel=(3, 2), num_filter=4, "
        "layout='NHWC', dilate=(2, 1)), kernel=(2, 2), layout='NHWC')",
        {"x": (2, 9, 8, 3)},
    ),
    "deconvolution with bias": (
        "sym.Deconvolution(sym.var('x'), kernel=(3, 3), num_filter=4, no_bias=False, "
        "num_group=2, adj=(1, 1), stride=(2, 2))",
        {"x": (2, 6, 4, 5)},
    ),
    "deconvolution to a shape": (
        "sym.Deconvolution(sym.var('x'), kernel=(3, 3), num_filter=4, stride=(2, 2), "
        "target_shape=(12, 13))",
        {"x": (2, 3, 6, 7)},
    ),
    "deconvolution, channels last": (
        "sym.Deconvolution(sym.var('x'), kernel=(3, 2), num_filter=4, layout='NHWC')",
        {"x": (2, 6, 7, 3)},
    ),
    "recurrent with lengths": (
        "sym.RNN(sym.var('x'), state_size=5, num_layers=2, mode='gru', "
        "use_sequence_length=True, state_outputs=True)",
        {"x": (7, 2, 3)},
    ),
    "recurrent with projections": (
        "sym.RNN(sym.var('x'), state_size=5, num_layers=2, mode='lstm', projection_size=4, "
        "state_outputs=True)",
        {"x": (7, 2, 3)},
    ),
    "neighbours": ("sym.LRN(sym.var('x'), nsize=3, alpha=0.01)", {"x": (2, 3, 4, 5)}),
    "upsampling": (
        "sym.UpSampling(sym.var('x'), scale=2, sample_type='nearest')",
        {"x": (2, 3, 4, 5)},
    ),
    "upsampling of two": (
        "sym.UpSampling(sym.var('x'), sym.var('y'), scale=2, sample_type='nearest')",
        {"x": (2, 3, 4, 6), "y": (2, 5, 2, 3)},
    ),
    "upsampling, summed": (
        "sym.UpSampling(sym.var('x'), sym.var('y'), scale=2, sample_type='nearest', "
        "multi_input_mode='sum')",
        {"x": (2, 3, 4, 6), "y": (2, 3, 2, 3)},
    ),
    "upsampling with a weight": (
        "sym.UpSampling(sym.var('x'), sym.var('w'), scale=3, sample_type='bilinear', num_filter=2)",
        {"x": (2, 4, 4, 5)},
    ),
    "regions": (
        "sym.ROIPooling(sym.var('x'), sym.var('r'), pooled_size=(2, 3), spatial_scale=0.5)",
        {"x": (2, 3, 6, 6), "r": (4, 5)},
    ),
    "transformed": (
        "sym.SpatialTransformer(sym.var('x'), sym.var('l'), target_shape=(3, 4), "
        "transform_type='affine', sampler_type='bilinear')",
        {"x": (2, 3, 6, 6), "l": (2, 6)},
    ),
    "grid": (
        "sym.GridGenerator(sym.var('x'), transform_type='affine', target_shape=(3, 4))",
        {"x": (2, 6)},
    ),
    "warped grid": ("sym.GridGenerator(sym.var('x'), transform_type='warp')", {"x": (2, 2, 5, 6)}),
    "sampled": (
        "sym.BilinearSampler(sym.var('x'), sym.var('g'))",
        {"x": (2, 3, 6, 6), "g": (2, 2, 3, 4)},
    ),
    "correlation": (
        "sym.Correlation(sym.var('x'), sym.var('y'), kernel_size=3, max_displacement=4, "
        "stride1=2, stride2=2, pad_size=4)",
        {"x": (2, 3, 16, 18), "y": (2, 3, 16, 18)},
    ),
    "sparse activations": (
        "sym.IdentityAttachKLSparseReg(sym.var('x'), penalty=0.1)",
        {"x": (4, 3)},
    ),
    "resized": (
        "sym.contrib.BilinearResize2D(sym.var('x'), height=4, width=5)",
        {"x": (2, 3, 6, 7)},
    ),
    "resized like another": (
        "sym.contrib.BilinearResize2D(sym.var('x'), sym.var('y'), mode='like')",
        {"x": (2, 3, 6, 7), "y": (2, 3, 4, 9)},
    ),
    "resized, size": (
        "sym.contrib.BilinearResize2D(sym.var('x'), scale_height=2.0, scale_width=0.5, "
        "mode='size')",
        {"x": (2, 3, 6, 7)},
    ),
    "resized, odd_scale": (
        "sym.contrib.BilinearResize2D(sym.var('x'), scale_height=2.0, scale_width=0.5, "
        "mode='odd_scale')",
        {"x": (2, 3, 6, 7)},
    ),
    "resized, to_even_up": (
        "sym.contrib.BilinearResize2D(sym.var('x'), scale_height=2.0, scale_width=0.5, "
        "mode='to_even_up')",
        {"x": (2, 3, 6, 7)},
    ),
    "resized, to_odd_down": (
        "sym.contrib.BilinearResize2D(sym.var('x'), scale_height=2.0, scale_width=0.5, "
        "mode='to_odd_down')",
        {"x": (2, 3, 6, 7)},
    ),
    "adaptive pooling": (
        "sym.contrib.AdaptiveAvgPooling2D(sym.var('x'), output_size=(4, 5))",
        {"x": (2, 3, 6, 7)},
    ),
    "adaptive pooling to one": (
        "sym.contrib.AdaptiveAvgPooling2D(sym.var('x'))",
        {"x": (2, 3, 6, 7)},
    ),
    "boxes": (
        "sym.contrib.MultiBoxPrior(sym.var('x'), sizes=(0.1, 0.2), ratios=(1, 2, 0.5))",
        {"x": (2, 3, 6, 7)},
    ),
    "targets of boxes": (
        "sym.contrib.MultiBoxTarget(sym.var('a'), sym.var('l'), sym.var('p'), "
        "variances=(0.1, 0.1, 0.2, 0.2))",
        {"a": (1, 10, 4), "l": (3, 2, 5), "p": (3, 6, 10)},
    ),
    "detections": (
        "sym.contrib.MultiBoxDetection(sym.var('p'), sym.var('l'), sym.var('a'))",
        {"p": (3, 6, 10), "l": (3, 40), "a": (1, 10, 4)},
    ),
    "detections that overlap": (
        "sym.contrib.box_nms(sym.var('x'), overlap_thresh=0.7, topk=3)",
        {"x": (3, 6, 6)},
    ),
}

#: name: how to make the network from ``nn``, its input.
NETS: dict[str, tuple[str, Any]] = {
    "perceptron": (
        "hybrid(nn.Dense(4, activation='relu'), nn.Dropout(0.5), nn.Dense(3))",
        (2, 5),
    ),
    "normalised": (
        "hybrid(nn.Dense(4), nn.BatchNorm(), nn.Activation('tanh'), nn.LayerNorm(), "
        "nn.Dense(2, use_bias=False))",
        (3, 5),
    ),
    "activations": (
        "hybrid(nn.LeakyReLU(0.1), nn.PReLU(), nn.ELU(), nn.SELU(), nn.GELU(), nn.Swish(), "
        "nn.Activation('softsign'))",
        (3, 5),
    ),
    "words": ("hybrid(nn.Embedding(7, 3), nn.Flatten(), nn.Dense(2))", ((2, 4), 7)),
}

#: Also as networks of ``nd`` only.
LEGACY_NETS: dict[str, tuple[str, Any]] = {
    "functions": (
        "hybrid(nn.HybridLambda('relu'), nn.HybridLambda(lambda F, x: F.exp(x) * 2 + x))",
        (2, 3),
    ),
    "channels": (
        "hybrid(nn.InstanceNorm(), nn.GroupNorm(2), nn.Dense(3, flatten=False))",
        (2, 4, 3),
    ),
}

#: Files as older versions of MXNet wrote them, and the inputs.
OLD: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "0.8: param and attr, no states": (
        {
            "nodes": [
                {"op": "null", "param": {}, "name": "data", "inputs": [], "backward_source_id": -1},
                {
                    "op": "null",
                    "param": {},
                    "name": "fc_weight",
                    "inputs": [],
                    "backward_source_id": -1,
                    "attr": {"lr_mult": "2.0"},
                },
                {"op": "null", "param": {}, "name": "fc_bias", "inputs": []},
                {
                    "op": "FullyConnected",
                    "param": {"no_bias": "False", "num_hidden": "3"},
                    "name": "fc",
                    "inputs": [[0, 0], [1, 0], [2, 0]],
                    "backward_source_id": -1,
                    "attr": {"ctx_group": "stage1"},
                },
                {"op": "null", "param": {}, "name": "bn_gamma", "inputs": []},
                {"op": "null", "param": {}, "name": "bn_beta", "inputs": []},
                {
                    "op": "BatchNorm",
                    "param": {"eps": "0.001", "fix_gamma": "True", "momentum": "0.9"},
                    "name": "bn",
                    "inputs": [[3, 0], [4, 0], [5, 0]],
                },
                {
                    "op": "Activation",
                    "param": {"act_type": "relu"},
                    "name": "relu",
                    "inputs": [[6, 0]],
                },
            ],
            "arg_nodes": [0, 1, 2, 4, 5],
            "heads": [[7, 0]],
        },
        {"data": (4, 2)},
    ),
    "0.9: attr": (
        {
            "nodes": [
                {"op": "null", "name": "data", "inputs": []},
                {
                    "op": "Reshape",
                    "name": "flat",
                    "attr": {"shape": "(-1L, 6L)"},
                    "inputs": [[0, 0, 0]],
                },
                {
                    "op": "_MulScalar",
                    "name": "twice",
                    "attr": {"scalar": "2"},
                    "inputs": [[1, 0, 0]],
                },
            ],
            "arg_nodes": [0],
            "node_row_ptr": [0, 1, 2, 3],
            "heads": [[2, 0, 0]],
            "attrs": {"mxnet_version": ["int", 901]},
        },
        {"data": (4, 3)},
    ),
}


def numbers(shape: tuple[int, ...], seed: int) -> onp.ndarray:
    """Return numbers between -1 and 1 that look random."""
    count = int(onp.prod(shape))
    values = onp.sin(onp.arange(1, count + 1, dtype=onp.float64) * 12.9898 + seed * 78.233) * 43758
    return ((values - onp.floor(values)) * 2 - 1).reshape(shape).astype(onp.float32)


def indices(shape: tuple[int, ...], count: int) -> onp.ndarray:
    """Return whole numbers below ``count``."""
    return (onp.arange(onp.prod(shape)) * 7 % count).reshape(shape).astype(onp.float32)


def value_of(given: Any, seed: int) -> onp.ndarray:
    """Return the value of an input."""
    if given and isinstance(given[0], tuple):
        return indices(*given)
    return numbers(given, seed)


def shape_of(given: Any) -> tuple[int, ...]:
    """Return the shape of an input."""
    return given[0] if given and isinstance(given[0], tuple) else given


def make_symbol(mx: Any, name: str) -> Any:
    """Return one of the symbols above, with names that start anew."""
    code = {**SYMBOLS, **DRAWN}[name][0]
    mx.AttrScope._subgraph_names.clear()
    with mx.name.NameManager():
        return eval(code, {"sym": mx.sym, "mx": mx})


def _listed(array: Any) -> list[Any]:
    return [round(float(x), 6) for x in array.asnumpy().astype("float64").ravel()]


def answer_of(mx: Any, symbol: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return what an executor of a symbol says: shapes, outputs, gradients and states."""
    shapes = symbol.infer_shape(**{name: shape_of(given) for name, given in inputs.items()})
    arguments, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    values = {
        name: mx.nd.array(value_of(inputs.get(name, shape), seed))
        for seed, (name, shape) in enumerate(zip(arguments, shapes[0], strict=True))
    }
    moving = {
        name: mx.nd.array(onp.abs(numbers(shape, 50 + seed)) + 0.5)
        for seed, (name, shape) in enumerate(zip(states, shapes[2], strict=True))
    }
    # Indices have no gradients.
    wanted = [name for name in values if shape_of(inputs.get(name, ())) == inputs.get(name, ())]
    gradients = {name: mx.nd.zeros(values[name].shape) for name in wanted}
    run = symbol.bind(mx.cpu(), values, gradients, dict.fromkeys(wanted, "write"), moving)
    predicted = [_listed(one) for one in run.forward()]
    trained = run.forward(is_train=True)
    heads = [mx.nd.array(numbers(one.shape, 90 + i)) for i, one in enumerate(trained)]
    run.backward(heads)
    return {
        "shapes": [[list(shape) for shape in kind] for kind in shapes],
        "names": [arguments, symbol.list_outputs(), states],
        "predicted": predicted,
        "trained": [_listed(one) for one in trained],
        "gradients": {name: _listed(one) for name, one in gradients.items()},
        "states": {name: _listed(one) for name, one in moving.items()},
    }


def make_net(mx: Any, name: str) -> Any:
    """Return one of the networks above, with given parameters, and its input."""
    code, given = {**NETS, **LEGACY_NETS}[name]
    nn = mx.gluon.nn

    def hybrid(*layers: Any) -> Any:
        net = nn.HybridSequential(prefix="net_")
        with net.name_scope():
            net.add(*layers)
        return net

    with mx.name.NameManager():
        net = eval(code, {"hybrid": hybrid, "nn": nn})
    net.initialize()
    array = mx.np.array if mx.util.is_np_array() else mx.nd.array
    x = array(value_of(given, 3))
    net(x)
    for seed, parameter in enumerate(net.collect_params().values()):
        values = numbers(parameter.shape, 100 + seed)
        if parameter.name.endswith("running_var"):
            values = onp.abs(values) + 0.5
        parameter.set_data(array(values))
    return net, x


def answer_of_net(mx: Any, name: str, folder: Path) -> dict[str, Any]:
    """Return the files that a network is exported to, and its output."""
    net, x = make_net(mx, name)
    net.hybridize()
    output = net(x)
    net.export(str(folder / "net"), epoch=3)
    return {
        "json": json.loads((folder / "net-symbol.json").read_text()),
        "params": base64.b64encode((folder / "net-0003.params").read_bytes()).decode(),
        "shape": list(output.shape),
        "output": _listed(output),
    }

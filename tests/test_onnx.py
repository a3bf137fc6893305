# SPDX-License-Identifier: Apache-2.0
"""ONNX models: accepted by its checker, and computed alike by another program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd, sym
from afterglow.onnx import _graph

onnx = pytest.importorskip("onnx.checker", reason="the package onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="the package onnxruntime is not installed")


def numbers(shape: tuple[int, ...], seed: int = 0) -> Any:
    return onp.random.RandomState(seed).uniform(-2, 2, shape).astype("float32")


def computed(path: Path, inputs: dict[str, Any]) -> list[Any]:
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)  # type: ignore[no-any-return]


def exported(
    symbol: Any, inputs: dict[str, Any], folder: Path, params: dict[str, Any], **options: Any
) -> Path:
    path = folder / "model.onnx"
    mx.onnx.export_model(
        symbol,
        params,
        [value.shape for value in inputs.values()],
        [value.dtype for value in inputs.values()],
        path,
        **options,
    )
    return path


def check(symbol: Any, inputs: dict[str, Any], folder: Path, **options: Any) -> list[Any]:
    """Compare what onnxruntime computes with the executor; the variables left are parameters."""
    known = {name: value.shape for name, value in inputs.items()}
    arg_shapes, _, aux_shapes = symbol.infer_shape(**known)
    arguments, states = {}, {}
    for number, (name, shape) in enumerate(zip(symbol.list_arguments(), arg_shapes, strict=True)):
        value = inputs.get(name)
        value = numbers(shape, number + 1) if value is None else value
        arguments[name] = nd.array(value, dtype=value.dtype)
    for number, (name, shape) in enumerate(
        zip(symbol.list_auxiliary_states(), aux_shapes, strict=True)
    ):
        states[name] = nd.array(onp.abs(numbers(shape, number + 9)) + 0.5)
    executor = symbol.bind(mx.cpu(), args=arguments, aux_states=states)
    expected = [output.asnumpy() for output in executor.forward(is_train=False)]
    params = {name: value for name, value in arguments.items() if name not in inputs} | states
    params = {name: value for name, value in params.items() if not name.endswith("_label")}
    found = computed(exported(symbol, inputs, folder, params, **options), inputs)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        onp.testing.assert_allclose(one, other, 1e-4, 1e-5)
    return found


X = (3, 4)
#: expression of x, y, z (and w, a positive number): shapes of what it uses.
CASES: dict[str, dict[str, tuple[int, ...]]] = {
    # recurrence
    **{
        f"sym.RNN(x, y, z{', w' * (mode == 'lstm')}, mode='{mode}', state_size=3, num_layers=2, "
        f"bidirectional=True, state_outputs=True)": {
            "x": (5, 2, 4),
            "y": (2 * gates * 3 * (4 + 3 + 2) + 2 * gates * 3 * (6 + 3 + 2),),
            "z": (4, 2, 3),
            **({"w": (4, 2, 3)} if mode == "lstm" else {}),
        }
        for mode, gates in {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}.items()
    },
    "sym.RNN(x, y, z, mode='gru', state_size=3, num_layers=1)": {
        "x": (5, 2, 4),
        "y": (3 * 3 * (4 + 3 + 2),),
        "z": (1, 2, 3),
    },
    # windows
    **{
        f"sym.Pooling(x, {options})": {"x": (2, 3, 7, 6)}
        for options in (
            "kernel=(3, 2), stride=(2, 1), pad=(1, 0)",
            "kernel=(3, 3), stride=(2, 2), pooling_convention='full'",
            "kernel=(2, 2), pad=(1, 1), pool_type='avg'",
            "kernel=(2, 2), pad=(1, 1), pool_type='avg', count_include_pad=False",
            "kernel=(2, 2), pool_type='lp', p_value=2",
            "global_pool=True, kernel=(1, 1), pool_type='avg'",
            "global_pool=True, kernel=(1, 1)",
        )
    },
    "sym.LRN(x, nsize=3, alpha=0.1)": {"x": (2, 5, 3, 4)},
    "sym.contrib.AdaptiveAvgPooling2D(x)": {"x": (2, 3, 4, 5)},
    "sym.UpSampling(x, scale=2, sample_type='nearest')": {"x": (2, 3, 4, 5)},
    "sym.contrib.BilinearResize2D(x, height=7, width=3)": {"x": (2, 3, 4, 5)},
    "sym.contrib.BilinearResize2D(x, height=7, width=3, align_corners=False)": {"x": (2, 3, 4, 5)},
    "sym.ROIPooling(x, sym.concat(0 * z, w), pooled_size=(2, 2), spatial_scale=1)": {
        "x": (1, 2, 6, 6),
        "z": (3, 1),
        "w": (3, 4),
    },
    "sym.contrib.ROIAlign(x, sym.concat(0 * z, w), pooled_size=(2, 2), spatial_scale=1)": {
        "x": (1, 2, 6, 6),
        "z": (3, 1),
        "w": (3, 4),
    },
    "sym.contrib.AdaptiveAvgPooling2D(x, output_size=(2, 7))": {"x": (2, 3, 4, 5)},
    **{
        f"sym.Crop(x, {options})": {"x": (2, 3, 5, 6)}
        for options in (
            "h_w=(2, 3), offset=(1, 2), num_args=1",
            "h_w=(2, 3), center_crop=True, num_args=1",
        )
    },
    "sym.Crop(x, y, num_args=2)": {"x": (2, 3, 5, 6), "y": (1, 1, 3, 4)},
    "sym.GridGenerator(x, transform_type='affine', target_shape=(3, 4))": {"x": (2, 6)},
    # sequences and attention
    **{
        f"sym.Sequence{kind}(x, sym.ceil(w), use_sequence_length=True{options})": {
            "x": (3, 4, 2),
            "w": (count,),
        }
        for kind, options, count in (
            ("Mask", ", value=5", 4),
            ("Mask", ", axis=1", 3),
            ("Last", "", 4),
            ("Last", ", axis=1", 3),
            ("Reverse", "", 4),
        )
    },
    **{f"sym.Sequence{kind}(x)": {"x": (3, 4, 2)} for kind in ("Mask", "Last", "Reverse")},
    "sym.contrib.div_sqrt_dim(x)": {"x": X},
    "sym.contrib.interleaved_matmul_selfatt_qk(x, heads=2)": {"x": (4, 3, 24)},
    "sym.contrib.interleaved_matmul_selfatt_valatt(x, y, heads=2)": {
        "x": (4, 3, 24),
        "y": (6, 4, 4),
    },
    "sym.contrib.interleaved_matmul_encdec_qk(x, y, heads=2)": {"x": (4, 3, 8), "y": (5, 3, 16)},
    "sym.contrib.interleaved_matmul_encdec_valatt(x, y, heads=2)": {
        "x": (5, 3, 16),
        "y": (6, 4, 5),
    },
    **{
        f"sym.contrib.arange_like(x{options})": {"x": X}
        for options in ("", ", axis=1, start=2, step=3", ", repeat=2")
    },
    "sym.contrib.index_array(x, axes=(1, 0))": {"x": X},
    "sym.contrib.MultiBoxPrior(x, sizes=(0.5, 0.2), ratios=(1, 2))": {"x": (1, 3, 2, 4)},
    # elementwise
    **{
        f"sym.{name}(x)": {"x": X}
        for name in [
            "abs",
            "relu",
            "sigmoid",
            "tanh",
            "softsign",
            "exp",
            "expm1",
            "sin",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "arcsinh",
            "arctan",
            "floor",
            "ceil",
            "sign",
            "square",
            "negative",
            "cbrt",
            "erf",
            "hard_sigmoid",
            "zeros_like",
            "ones_like",
            "identity",
            "BlockGrad",
            "logical_not",
        ]
    },
    **{
        f"sym.{name}(w)": {"w": X}
        for name in ["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal"]
    },
    "sym.clip(x, a_min=-0.5, a_max=1)": {"x": X},
    "sym.smooth_l1(x, scalar=1.5)": {"x": X},
    "sym.cast(x, dtype='int32')": {"x": X},
    # two operands
    **{f"x {op} y": {"x": X, "y": X} for op in ("+", "-", "*", "/", ">", "<=", "==", "!=")},
    **{f"x {op} 1.5": {"x": X} for op in ("+", "-", "*", "/", ">", "<", ">=", "!=", "%")},
    **{f"2 {op} w": {"w": X} for op in ("-", "/", "**")},
    "w ** 2": {"w": X},
    "-x": {"x": X},
    "x % w": {"x": X, "w": X},
    "sym.broadcast_add(x, y)": {"x": X, "y": (1, 4)},
    "sym.broadcast_mul(x, y)": {"x": (3, 1), "y": (1, 4)},
    "sym.broadcast_maximum(x, y)": {"x": X, "y": (1, 4)},
    "sym.broadcast_greater(x, y)": {"x": X, "y": (1, 4)},
    "sym.broadcast_hypot(x, y)": {"x": X, "y": (1, 4)},
    "sym.broadcast_logical_and(x > 0, y)": {"x": X, "y": X},
    "sym.maximum(x, 0.3)": {"x": X},
    "sym.add_n(x, y, x)": {"x": X, "y": X},
    "sym.where(x > 0, x, y)": {"x": X, "y": X},
    # layers
    "sym.Convolution(x, kernel=(3,), num_filter=2, no_bias=True)": {"x": (1, 3, 6)},
    "sym.Convolution(x, kernel=(3, 2), num_filter=4, num_group=2, stride=(2, 1), dilate=(1, 2), "
    "pad=(1, 1))": {"x": (2, 4, 6, 7)},
    "sym.Deconvolution(x, kernel=(3, 3), num_filter=2, stride=(2, 2), adj=(1, 0))": {
        "x": (1, 3, 4, 5)
    },
    "sym.Deconvolution(x, kernel=(3, 3), num_filter=2, stride=(2, 2), target_shape=(8, 9), "
    "no_bias=False)": {"x": (1, 3, 4, 5)},
    "sym.FullyConnected(x, num_hidden=3)": {"x": X},
    "sym.FullyConnected(x, num_hidden=3, no_bias=True)": {"x": (2, 3, 2)},
    "sym.FullyConnected(x, num_hidden=3, flatten=False)": {"x": (2, 3, 4)},
    **{
        f"sym.Activation(x, act_type='{kind}')": {"x": X}
        for kind in ("relu", "sigmoid", "tanh", "softrelu", "softsign")
    },
    **{
        f"sym.LeakyReLU(x, act_type='{kind}', slope=0.3)": {"x": (2, 3, 4)}
        for kind in ("leaky", "elu", "selu", "gelu", "prelu", "rrelu")
    },
    "sym.softmax(x)": {"x": X},
    "sym.softmax(x, axis=0, temperature=2.0)": {"x": X},
    "sym.softmin(x)": {"x": X},
    "sym.log_softmax(x, axis=1)": {"x": (2, 3, 4)},
    "sym.SoftmaxActivation(x)": {"x": X},
    "sym.SoftmaxOutput(x, name='softmax')": {"x": X},
    "sym.SoftmaxOutput(x, multi_output=True, name='softmax')": {"x": (2, 3, 4)},
    "sym.LinearRegressionOutput(x, name='out')": {"x": X},
    "sym.LogisticRegressionOutput(x, name='out')": {"x": X},
    "sym.MakeLoss(x)": {"x": X},
    "sym.BatchNorm(x, fix_gamma=False)": {"x": X},
    "sym.BatchNorm(x, eps=0.1)": {"x": (2, 3, 4, 5)},
    "sym.BatchNorm(x, fix_gamma=False, axis=2)": {"x": (2, 3, 4)},
    "sym.LayerNorm(x)": {"x": (2, 3, 4)},
    "sym.LayerNorm(x, axis=1, eps=0.01)": {"x": (2, 3, 4)},
    "sym.InstanceNorm(x)": {"x": (2, 3, 4)},
    "sym.GroupNorm(x, num_groups=2)": {"x": (2, 4, 3)},
    "sym.L2Normalization(x)": {"x": (2, 3, 4)},
    "sym.L2Normalization(x, mode='channel')": {"x": (2, 3, 4)},
    "sym.Dropout(x, p=0.5)": {"x": X},
    "sym.Embedding(sym.cast(w, dtype='int32'), input_dim=5, output_dim=2)": {"w": X},
    # products
    "sym.dot(x, y)": {"x": X, "y": (4, 2)},
    "sym.dot(x, y, transpose_a=True, transpose_b=True)": {"x": (4, 3), "y": (2, 4)},
    "sym.dot(x, y)  # vectors": {"x": (4,), "y": (4,)},
    "sym.batch_dot(x, y)": {"x": (2, 3, 4), "y": (2, 4, 5)},
    "sym.batch_dot(x, y, transpose_b=True)": {"x": (2, 3, 4), "y": (2, 5, 4)},
    "sym.linalg.gemm2(x, y, alpha=0.5)": {"x": X, "y": (4, 2)},
    # reductions
    **{
        f"sym.{name}(x{options})": {"x": (2, 3, 4)}
        for name in ("sum", "mean", "max", "min", "prod")
        for options in ("", ", axis=1", ", axis=(0, 2), keepdims=True", ", axis=1, exclude=True")
    },
    "sym.norm(x)": {"x": X},
    "sym.norm(x, ord=1, axis=1)": {"x": X},
    "sym.argmax(x, axis=1)": {"x": X},
    "sym.argmin(x, axis=0, keepdims=True)": {"x": X},
    "sym.topk(x, k=2)": {"x": X},
    "sym.topk(x, k=2, ret_typ='both', is_ascend=True)": {"x": X},
    # shapes
    "sym.flatten(x)": {"x": (2, 3, 4)},
    "sym.reshape(x, shape=(0, -1))": {"x": (2, 3, 4)},
    "sym.reshape(x, shape=(-3, -2))": {"x": (2, 3, 4)},
    "sym.reshape(x, shape=(-1, 0), reverse=True)": {"x": (2, 3, 4)},
    "sym.reshape_like(x, y)": {"x": (2, 6), "y": (3, 4)},
    "sym.transpose(x)": {"x": (2, 3, 4)},
    "sym.transpose(x, axes=(1, 0, 2))": {"x": (2, 3, 4)},
    "sym.swapaxes(x, dim1=0, dim2=2)": {"x": (2, 3, 4)},
    "sym.expand_dims(x, axis=1)": {"x": X},
    "sym.squeeze(x)": {"x": (1, 3, 1)},
    "sym.squeeze(x, axis=0)": {"x": (1, 3, 1)},
    "sym.concat(x, y, dim=1)": {"x": X, "y": (3, 2)},
    "sym.stack(x, y, axis=1)": {"x": X, "y": X},
    "sym.split(x, num_outputs=2, axis=1)": {"x": X},
    "sym.split(x, num_outputs=3, axis=0, squeeze_axis=True)": {"x": X},
    "sym.slice(x, begin=(0, 1), end=(2, None))": {"x": X},
    "sym.slice(x, begin=(None, 3), end=(None, 0), step=(None, -1))": {"x": X},
    "sym.slice_axis(x, axis=1, begin=1, end=3)": {"x": X},
    "sym.slice_like(x, y)": {"x": X, "y": (2, 2)},
    "sym.reverse(x, axis=1)": {"x": X},
    "sym.tile(x, reps=(2, 1, 3))": {"x": X},
    "sym.repeat(x, repeats=2, axis=1)": {"x": X},
    "sym.repeat(x, repeats=2)": {"x": X},
    "sym.pad(x, mode='constant', pad_width=(0, 0, 0, 0, 1, 2, 0, 1), constant_value=3)": {
        "x": (1, 2, 3, 4)
    },
    "sym.pad(x, mode='edge', pad_width=(0, 0, 0, 0, 1, 2, 0, 1))": {"x": (1, 2, 3, 4)},
    "sym.broadcast_to(x, shape=(3, 4))": {"x": (1, 4)},
    "sym.broadcast_axis(x, axis=0, size=3)": {"x": (1, 4)},
    "sym.broadcast_like(x, y)": {"x": (1, 4), "y": X},
    "sym.depth_to_space(x, block_size=2)": {"x": (1, 4, 2, 3)},
    "sym.space_to_depth(x, block_size=2)": {"x": (1, 1, 4, 6)},
    "sym.shape_array(x)": {"x": X},
    # elements chosen by index
    "sym.take(x, sym.cast(w * 2, dtype='int32'))": {"x": X, "w": (2, 2)},
    "sym.take(x, w * 2, axis=1, mode='wrap')": {"x": X, "w": (5,)},
    "sym.pick(x, sym.floor(w), axis=1)": {"x": X, "w": (3,)},
    "sym.one_hot(sym.floor(w), depth=3)": {"w": (4,)},
    # new values
    "sym.zeros_like(sym.log(x * 0)) + sym.ones_like(sym.log(x * 0))": {"x": X},
    "x + sym.zeros((3, 4)) + sym.ones((3, 4)) + sym.full((3, 4), 2.5)": {"x": X},
    "sym.broadcast_add(x, sym.reshape(sym.arange(4), shape=(1, 4)))": {"x": X},
}


@pytest.mark.parametrize("expression", CASES)
def test_op(expression: str, tmp_path: Path) -> None:
    inputs = {
        name: onp.abs(numbers(shape, 5)) + 0.1 if name == "w" else numbers(shape, ord(name))
        for name, shape in CASES[expression].items()
    }
    variables = {name: sym.var(name) for name in inputs}
    check(eval(expression, {"sym": sym, **variables}), inputs, tmp_path)


NUMPY_CASES: dict[str, dict[str, tuple[int, ...]]] = {
    "(x + 1) * y / 2 - (3 - x)": {"x": X, "y": (4,)},
    "np.sum(x, axis=1)": {"x": X},
    "np.mean(x)": {"x": X},
    "np.max(x, axis=0, keepdims=True)": {"x": X},
    "x.reshape(2, -1)": {"x": X},
    "np.transpose(x, (1, 0))": {"x": X},
    "np.concatenate([x, y], axis=1)": {"x": X, "y": (3, 2)},
    "np.stack([x, y])": {"x": X, "y": X},
    "np.matmul(x, y)": {"x": (2, 3, 4), "y": (4, 2)},
    "np.dot(x, y)": {"x": (4,), "y": (4,)},
    "npx.relu(np.tanh(x))": {"x": X},
    "npx.softmax(x, axis=0)": {"x": X},
    "np.expand_dims(np.exp(x), 0)": {"x": X},
    "np.squeeze(x)": {"x": (1, 3, 1)},
    "np.maximum(np.clip(x, -1, 1), 0.5)": {"x": X},
    # Ops that nd has too, with numbers and under other names.
    "np.hypot(x, y) - np.hypot(x, 2.0)": {"x": X, "y": (4,)},
    "np.mod(x, y) + 3 % y + x % 2": {"x": X, "y": (4,)},
    "2 ** x - np.power(y, 2)": {"x": X, "y": X},
    "np.fix(x) + np.trunc(y)": {"x": X, "y": X},
    "np.degrees(x) + np.radians(y)": {"x": X, "y": X},
    "np.linalg.norm(x)": {"x": X},
    "np.linalg.norm(x, ord=1, axis=1, keepdims=True)": {"x": X},
    "np.argmax(x, axis=1)": {"x": X},
    "np.cumsum(x, axis=1)": {"x": X},
    "np.cumsum(x)": {"x": X},
    "np.broadcast_to(x, (2, 3, 4))": {"x": X},
    "np.flip(np.swapaxes(x, 0, 1), 1)": {"x": X},
    "np.zeros((3, 4)) + np.full((3, 4), 2.5) + np.arange(4) + x": {"x": X},
    "npx.leaky_relu(npx.activation(x, act_type='tanh'), act_type='gelu')": {"x": X},
    "npx.batch_flatten(npx.layer_norm(x))": {"x": (2, 3, 4)},
    "npx.topk(x, k=2)": {"x": X},
    # Ops that only np has.
    "np.hstack([x, y])": {"x": X, "y": X},
    "np.hstack([x, y])  # vectors": {"x": (3,), "y": (2,)},
    "np.vstack([x, y])": {"x": X, "y": X},
    "np.vstack([x, y])  # vectors": {"x": (3,), "y": (3,)},
    "np.std(x) + np.var(x, axis=1, keepdims=True)": {"x": X},
    "np.where(x > 0, x, 0.5) - np.where(x > 0, 1.5, y)": {"x": X, "y": X},
    "np.ones_like(x) + np.full_like(x, 2)": {"x": X},
    "np.einsum('ij,kj->ik', x, y)": {"x": X, "y": X},
}


@pytest.mark.parametrize("expression", NUMPY_CASES)
def test_op_of_np(expression: str, tmp_path: Path) -> None:
    inputs = {name: numbers(shape, ord(name)) for name, shape in NUMPY_CASES[expression].items()}
    variables: dict[str, Any] = {name: sym.var(name).as_np_ndarray() for name in inputs}
    check(eval(expression, {"np": sym.np, "npx": sym.npx, **variables}), inputs, tmp_path)


def perceptron(classes: int = 3) -> Any:
    net = sym.FullyConnected(sym.Variable("data"), num_hidden=8, name="fc1")
    net = sym.BatchNorm(net, fix_gamma=False, name="bn")
    net = sym.Dropout(sym.Activation(net, act_type="relu", name="relu"), p=0.5, name="drop")
    net = sym.FullyConnected(net, num_hidden=classes, name="fc2")
    return sym.SoftmaxOutput(net, name="softmax")


def parameters() -> tuple[dict[str, Any], dict[str, Any]]:
    shapes = {
        "fc1_weight": (8, 5),
        "fc1_bias": (8,),
        "bn_gamma": (8,),
        "bn_beta": (8,),
        "fc2_weight": (3, 8),
        "fc2_bias": (3,),
    }
    arguments = {name: nd.array(numbers(shape, len(name))) for name, shape in shapes.items()}
    return arguments, {"bn_moving_mean": nd.zeros((8,)), "bn_moving_var": nd.ones((8,)) * 4}


def by_hand(data: Any) -> Any:
    """What the perceptron computes, with NumPy."""
    arguments, _ = parameters()
    value = {name: array.asnumpy() for name, array in arguments.items()}
    hidden = data @ value["fc1_weight"].T + value["fc1_bias"]
    hidden = hidden / onp.sqrt(4 + 1e-3) * value["bn_gamma"] + value["bn_beta"]
    scores = onp.exp(onp.maximum(hidden, 0) @ value["fc2_weight"].T + value["fc2_bias"])
    return scores / scores.sum(1, keepdims=True)


def test_network_from_objects(tmp_path: Path) -> None:
    data = numbers((4, 5))
    arguments, states = parameters()
    path = exported(perceptron(), {"data": data}, tmp_path, arguments | states)
    onp.testing.assert_allclose(computed(path, {"data": data})[0], by_hand(data), 1e-4, 1e-5)
    model = onnx_model(path)
    assert [one.name for one in model.graph.input] == ["data"]  # no label, no parameters
    assert [one.name for one in model.graph.output] == ["softmax"]
    assert model.opset_import[0].version == 13


def onnx_model(path: Path) -> Any:
    import onnx

    return onnx.load(str(path))


@pytest.mark.parametrize("exporter", [mx.onnx.export_model, mx.contrib.onnx.export_model])
def test_network_from_files(tmp_path: Path, exporter: Any) -> None:
    prefix = str(tmp_path / "net")
    mx.model.save_checkpoint(prefix, 1, perceptron(), *parameters())
    path = tmp_path / "net.onnx"
    returned = exporter(
        f"{prefix}-symbol.json", f"{prefix}-0001.params", [(2, 5)], onp.float32, str(path)
    )
    assert returned == str(path)
    data = numbers((2, 5))
    onp.testing.assert_allclose(computed(path, {"data": data})[0], by_hand(data), 1e-4, 1e-5)


def test_old_names_of_arguments_and_two_dictionaries(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    mx.onnx.export_model(
        perceptron(), list(parameters()), input_shape=[(2, 5)], input_type=onp.float32,
        onnx_file_path=str(path), run_shape_inference=True,
    )  # fmt: skip
    assert computed(path, {"data": numbers((2, 5))})[0].shape == (2, 3)


@pytest.mark.parametrize("free", [None, [("rows", 5)]])
def test_any_number_of_rows(tmp_path: Path, free: Any) -> None:
    data = numbers((4, 5))
    arguments, states = parameters()
    path = exported(
        perceptron(),
        {"data": data},
        tmp_path,
        arguments | states,
        dynamic=True,
        dynamic_input_shapes=free,
    )
    for rows in (1, 4, 7):
        data = numbers((rows, 5), rows)
        onp.testing.assert_allclose(computed(path, {"data": data})[0], by_hand(data), 1e-4, 1e-5)


def test_block(tmp_path: Path) -> None:
    """A network of Gluon, by its symbol."""
    net = mx.gluon.nn.HybridSequential()
    net.add(
        mx.gluon.nn.Dense(6, activation="tanh"),
        mx.gluon.nn.LayerNorm(),
        mx.gluon.nn.Dense(2),
    )
    net.initialize(mx.init.Normal(1))
    data = numbers((3, 4))
    expected = net(nd.array(data)).asnumpy()
    params = {name: param.data() for name, param in net.collect_params().items()}
    path = exported(net(sym.var("data")), {"data": data}, tmp_path, params)
    onp.testing.assert_allclose(computed(path, {"data": data})[0], expected, 1e-4, 1e-5)


def test_recurrent_layers(tmp_path: Path) -> None:
    net = mx.gluon.rnn.LSTM(
        3, num_layers=2, layout="NTC", bidirectional=True, use_sequence_length=True
    )
    net.initialize(mx.init.Normal(1))
    inputs = {"data": numbers((2, 5, 4)), "lengths": onp.array([3, 5], "float32")}
    expected = net(*(nd.array(inputs["data"]), None, nd.array(inputs["lengths"]))).asnumpy()
    params = {name: param.data() for name, param in net.collect_params().items()}
    symbol = net(sym.var("data"), None, sym.var("lengths"))
    path = exported(symbol, inputs, tmp_path, params)
    onp.testing.assert_allclose(computed(path, inputs)[0], expected, 1e-4, 1e-5)


class Attention(mx.gluon.HybridBlock):
    """Attention of rows to each other, in the words of np."""

    def __init__(self) -> None:
        super().__init__()
        self.query = mx.gluon.nn.Dense(4, flatten=False)
        self.key = mx.gluon.nn.Dense(4, flatten=False, activation="tanh")
        self.scale = self.params.get("scale", shape=(4,), init=mx.init.One())

    def hybrid_forward(self, F: Any, x: Any, scale: Any) -> Any:
        query = self.query(x) * scale
        scores = F.npx.batch_dot(query, self.key(x), transpose_b=True) / 4**0.5
        shares = F.npx.softmax(scores - F.np.max(scores, axis=-1, keepdims=True), axis=-1)
        mixed = F.np.matmul(shares, x) + F.np.where(x > 0, x, 0.1 * x)
        return mixed / F.np.sqrt(F.np.var(mixed, axis=-1, keepdims=True) + 1e-3)


def test_block_of_np(tmp_path: Path) -> None:
    mx.npx.set_np()
    try:
        net = Attention()
        net.initialize(mx.init.Normal(0.5))
        data = numbers((2, 3, 5))
        expected = net(mx.np.array(data)).asnumpy()
        params = {name: param.data() for name, param in net.collect_params().items()}
        symbol = net(sym.var("data").as_np_ndarray())
    finally:
        mx.npx.reset_np()
    path = exported(symbol, {"data": data}, tmp_path, params)
    onp.testing.assert_allclose(computed(path, {"data": data})[0], expected, 1e-4, 1e-5)


def test_several_outputs_and_a_shared_input(tmp_path: Path) -> None:
    x = sym.var("x")
    found = check(sym.Group([x * 2, sym.sum(x, axis=1), x * 2]), {"x": numbers(X)}, tmp_path)
    assert len(found) == 3


@pytest.mark.parametrize(
    ("operator", "text"),
    [
        ("Convolution", "Conv"),
        ("Deconvolution", "ConvTranspose"),
    ],
)
def test_convolution_is_written(operator: str, text: str) -> None:
    """Its converter, without a symbol: such a call gives one node with the right attributes."""
    from afterglow.onnx._converters import find

    graph = _graph.Graph(False)
    attrs = {"kernel": "(3, 3)", "stride": "(2, 2)", "pad": "(1, 1)", "num_filter": "4"}
    call = _graph.Call(
        graph, "c", operator, attrs, ["x", "w"], [(1, 2, 8, 8), (4, 2, 3, 3)],
        [onp.float32] * 2, [(1, 4, 4, 4)], [onp.float32],
    )  # fmt: skip
    converter = find(operator)
    assert converter is not None
    converter.write(call)
    (node,) = graph.nodes
    assert node.op_type == text
    found = {one.name: list(one.ints) or one.i for one in node.attribute}
    assert found["kernel_shape"] == [3, 3]
    assert found["strides"] == [2, 2]
    assert found["pads"] == [1, 1, 1, 1]


# --- refusals ---


def test_op_that_cannot_be_written(tmp_path: Path) -> None:
    symbol = sym.gamma(sym.var("x"))
    with pytest.raises(NotImplementedError, match=r"gamma .* cannot be written"):
        exported(symbol, {"x": numbers(X)}, tmp_path, {})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((3, {}, [X]), TypeError, "sym must be a Symbol"),
        ((sym.var("x") + 1, {}), ValueError, "in_shapes is needed"),
        ((sym.var("x") + sym.var("y"), {}, [X]), ValueError, r"1 shapes .*\['x', 'y'\]"),
    ],
)
def test_refusal(arguments: Any, error: type[Exception], text: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=text):
        mx.onnx.export_model(*arguments, onnx_file_path=str(tmp_path / "model.onnx"))


def test_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install afterglow\[onnx\]"):
        mx.onnx.export_model(perceptron(), {}, [(2, 5)])


def test_supported_ops() -> None:
    supported = set(mx.onnx.get_operator_support())
    assert {"FullyConnected", "Convolution", "_plus_scalar", "_npi_rsubtract_scalar"} <= supported
    # Alike are the names only: an op of np that makes a matrix, one of nd that copies.
    assert "_npi_identity" not in supported
    assert "identity" in supported
    with pytest.raises(ValueError, match="opset"):
        mx.onnx.get_operator_support(9)

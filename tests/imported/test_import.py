# SPDX-License-Identifier: Apache-2.0
"""ONNX models that come in: from our own files, from older opsets, as blocks and as symbols."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="the package onnxruntime is not installed")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402


def numbers(*shape: int, seed: int = 0) -> Any:
    return onp.random.RandomState(seed).uniform(-2, 2, shape).astype("float32")


def model(
    nodes: list[Any],
    inputs: dict[str, Any],
    weights: dict[str, Any] | None = None,
    opset: int = 21,
    outputs: tuple[str, ...] = ("y",),
    shapes: dict[str, Any] | None = None,
) -> Any:
    """Return a model of nodes; the inputs have the shapes and types of examples."""
    infos = [
        helper.make_tensor_value_info(
            name,
            helper.np_dtype_to_tensor_dtype(value.dtype),
            (shapes or {}).get(name, value.shape),
        )
        for name, value in inputs.items()
    ]
    results = [helper.make_value_info(name, onnx.TypeProto()) for name in outputs]
    for one in results:
        one.type.tensor_type.elem_type = TensorProto.UNDEFINED
    held = [numpy_helper.from_array(value, name) for name, value in (weights or {}).items()]
    graph = helper.make_graph(nodes, "g", infos, results, held)
    versions = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=versions, ir_version=8)


def told(proto: Any, inputs: dict[str, Any]) -> list[Any]:
    """Return what onnxruntime computes."""
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    named = onnx.shape_inference.infer_shapes(proto)
    data = named.SerializeToString()
    session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)  # type: ignore[no-any-return]


def check(proto: Any, inputs: dict[str, Any], has_symbol: bool = True) -> None:
    """Compare the block, hybridized or not, and the symbol with onnxruntime."""
    expected = told(proto, inputs)
    block = mx.onnx.import_to_gluon(proto)
    arrays = [np.array(value, dtype=value.dtype) for value in inputs.values()]
    for is_hybrid in (False, True, True, True):
        if is_hybrid:
            block.hybridize()
        found = block(*arrays)
        for one, other in zip(found if isinstance(found, list) else [found], expected, strict=True):
            assert one.shape == other.shape
            assert one.dtype == other.dtype
            onp.testing.assert_allclose(one.asnumpy(), other, 1e-4, 1e-5)
    if not has_symbol:
        return
    symbol, arguments, states = mx.onnx.import_model(proto)
    given = {
        name: nd.array(value, dtype=value.dtype)
        for name, value in inputs.items()
        if name in symbol.list_arguments()
    }
    executor = symbol.bind(mx.cpu(), {**arguments, **given}, aux_states=states)
    for one, other in zip(executor.forward(is_train=False), expected, strict=True):
        onp.testing.assert_allclose(one.asnumpy().reshape(other.shape), other, 1e-4, 1e-5)


def node(op: str, *inputs: str, outputs: tuple[str, ...] = ("y",), **attributes: Any) -> Any:
    return helper.make_node(op, list(inputs), list(outputs), name=f"the_{op}", **attributes)


I64 = "int64"
X, IMAGE = numbers(3, 4, 5), numbers(2, 3, 7, 6, seed=1)
#: what changed between opsets: nodes, inputs, constants, opset
OLDER: dict[str, tuple[Any, Any, dict[str, Any], int]] = {
    "Clip 6": (node("Clip", "x", min=-0.5, max=1.0), X, {}, 10),
    "Clip 11": (
        node("Clip", "x", "a", "b"),
        X,
        {"a": onp.array(-0.5, "float32"), "b": onp.array(1, "float32")},
        11,
    ),
    "Slice 1": (node("Slice", "x", axes=[1, 2], starts=[1, -3], ends=[3, 1000]), X, {}, 9),
    "Slice 10": (
        node("Slice", "x", "s", "e", "a", "t"),
        X,
        {
            "s": onp.array([3, -1], I64),
            "e": onp.array([-1000, 0], I64),
            "a": onp.array([1, 2], I64),
            "t": onp.array([-2, -1], I64),
        },
        10,
    ),
    "Squeeze 1": (node("Squeeze", "x", axes=[1]), X[:, :1], {}, 11),
    "Squeeze 13": (node("Squeeze", "x", "a"), X[:, :1], {"a": onp.array([-2], I64)}, 13),
    "Unsqueeze 1": (node("Unsqueeze", "x", axes=[0, 2]), X, {}, 11),
    "Unsqueeze 13": (node("Unsqueeze", "x", "a"), X, {"a": onp.array([-1, 0], I64)}, 13),
    "ReduceSum 11": (node("ReduceSum", "x", axes=[0, -1], keepdims=0), X, {}, 11),
    "ReduceSum 13": (node("ReduceSum", "x", "a"), X, {"a": onp.array([1], I64)}, 13),
    "ReduceMean 13": (node("ReduceMean", "x", axes=[1]), X, {}, 13),
    "ReduceMean 18": (node("ReduceMean", "x", "a"), X, {"a": onp.array([1], I64)}, 18),
    "Pad 2": (node("Pad", "x", pads=[0, 1, 2, 1, 0, 3], value=1.5), X, {}, 9),
    "Pad 11": (
        node("Pad", "x", "p", mode="reflect"),
        X,
        {"p": onp.array([0, 1, 2, 1, 0, 3], I64)},
        11,
    ),
    "Pad 18": (
        node("Pad", "x", "p", "v", "a"),
        X,
        {
            "p": onp.array([1, 2], I64),
            "v": onp.array(3, "float32"),
            "a": onp.array([-1], I64),
        },
        18,
    ),
    "Split 2": (node("Split", "x", outputs=("y", "z"), axis=1, split=[1, 3]), X, {}, 11),
    "Split 13": (
        node("Split", "x", "s", outputs=("y", "z"), axis=2),
        X,
        {"s": onp.array([2, 3], I64)},
        13,
    ),
    "Split 18": (node("Split", "x", outputs=("y", "z"), axis=2, num_outputs=2), X, {}, 18),
    "Dropout 10": (node("Dropout", "x", ratio=0.4), X, {}, 10),
    "Dropout 12": (node("Dropout", "x", "r"), X, {"r": onp.array(0.4, "float32")}, 12),
    "TopK 10": (
        node("TopK", "x", "k", outputs=("y", "z"), axis=1),
        X,
        {"k": onp.array([2], I64)},
        10,
    ),
    "TopK 11": (
        node("TopK", "x", "k", outputs=("y", "z"), largest=0),
        X,
        {"k": onp.array([3], I64)},
        11,
    ),
    "Softmax 11": (node("Softmax", "x"), X, {}, 11),
    "Softmax 13": (node("Softmax", "x"), X, {}, 13),
    "LogSoftmax 11": (node("LogSoftmax", "x", axis=2), X, {}, 11),
    "Hardmax 11": (node("Hardmax", "x"), X, {}, 11),
    "Hardmax 13": (node("Hardmax", "x", axis=1), X, {}, 13),
    "Upsample 9": (
        node("Upsample", "x", "s", mode="nearest"),
        IMAGE,
        {"s": onp.array([1, 1, 2, 3], "float32")},
        9,
    ),
    "Resize 10": (
        node("Resize", "x", "s", mode="linear"),
        IMAGE,
        {"s": onp.array([1, 1, 2, 1.5], "float32")},
        10,
    ),
    "Resize 11": (
        node("Resize", "x", "r", "r", "n", mode="cubic"),
        IMAGE,
        {"n": onp.array([2, 3, 9, 5], I64), "r": onp.zeros(0, "float32")},
        11,
    ),
    "Resize 19": (
        node(
            "Resize",
            "x",
            "",
            "s",
            mode="linear",
            antialias=1,
            axes=[2, 3],
            coordinate_transformation_mode="pytorch_half_pixel",
        ),
        IMAGE,
        {"s": onp.array([0.6, 0.5], "float32")},
        19,
    ),
    **{
        f"BatchNormalization {opset}": (
            node("BatchNormalization", "x", "g", "b", "m", "v", epsilon=1e-3),
            IMAGE,
            {
                "g": numbers(3, seed=2),
                "b": numbers(3, seed=3),
                "m": numbers(3, seed=4),
                "v": onp.abs(numbers(3, seed=5)) + 0.5,
            },
            opset,
        )
        for opset in (9, 14, 15)
    },
    **{
        f"GridSample {opset} {mode} {padding}": (
            node("GridSample", "x", "g", mode=mode, padding_mode=padding, align_corners=aligned),
            IMAGE,
            {"g": numbers(2, 4, 3, 2, seed=7)},
            opset,
        )
        for opset, mode, padding, aligned in (
            (16, "bilinear", "zeros", 0),
            (16, "bicubic", "zeros", 1),
            (16, "bilinear", "reflection", 0),
            (20, "nearest", "border", 0),
            (20, "linear", "border", 1),
        )
    },
    "Reshape 5": (node("Reshape", "x", "s"), X, {"s": onp.array([0, -1], I64)}, 9),
    "Gemm 9": (
        node("Gemm", "x", "w", "c", alpha=0.5, transA=1),
        X[0],
        {"w": numbers(4, 2), "c": numbers(1, 2)},
        9,
    ),
    "Conv 11, wider pads behind": (
        node("Conv", "x", "w", "b", pads=[0, 1, 2, 2], strides=[2, 1]),
        IMAGE,
        {"w": numbers(4, 3, 3, 2), "b": numbers(4)},
        11,
    ),
    "ConvTranspose 11": (
        node("ConvTranspose", "x", "w", pads=[1, 0, 0, 1], strides=[2, 2], output_padding=[1, 0]),
        IMAGE,
        {"w": numbers(3, 2, 3, 3)},
        11,
    ),
    "MaxPool 10": (
        node("MaxPool", "x", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
        IMAGE,
        {},
        10,
    ),
    "AveragePool 10": (
        node("AveragePool", "x", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 1, 0, 0]),
        IMAGE,
        {},
        10,
    ),
    **{
        f"{kind} {opset} {direction}": (
            node(
                kind,
                "x",
                "w",
                "r",
                "b",
                outputs=("y", "z"),
                hidden_size=3,
                direction=direction,
                **({"linear_before_reset": 1} if kind == "GRU" else {}),
            ),
            X,
            {
                "w": numbers(count, gates * 3, 5, seed=2),
                "r": numbers(count, gates * 3, 3, seed=3),
                "b": numbers(count, gates * 6, seed=4),
            },
            opset,
        )
        for kind, gates in {"LSTM": 4, "GRU": 3, "RNN": 1}.items()
        for direction, count in {"forward": 1, "reverse": 1, "bidirectional": 2}.items()
        for opset in (9, 14)
    },
}


@pytest.mark.parametrize("case", OLDER)
def test_opsets(case: str) -> None:
    one, x, constants, opset = OLDER[case]
    check(model([one], {"x": x}, constants, opset, tuple(one.output)), {"x": x})


def test_shapes_are_folded() -> None:
    """A reshape as PyTorch writes it, for any number of samples."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Constant", [], ["zero"], value_int=0),
        helper.make_node("Gather", ["shape", "zero"], ["count"]),
        helper.make_node("Constant", [], ["axes"], value_ints=[0]),
        helper.make_node("Unsqueeze", ["count", "axes"], ["first"]),
        helper.make_node("Constant", [], ["rest"], value_ints=[-1]),
        helper.make_node("Concat", ["first", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]
    proto = model(nodes, {"x": IMAGE}, shapes={"x": ["n", 3, 7, 6]})
    check(proto, {"x": IMAGE}, has_symbol=False)
    block = mx.onnx.import_to_gluon(proto)
    assert len(block._imported.graph.steps) == 5  # the constants are gone
    assert block(np.zeros((5, 3, 7, 6))).shape == (5, 126)
    symbol, _, _ = mx.onnx.import_model(proto)
    (result,) = symbol.bind(mx.cpu(), {"x": nd.zeros((5, 3, 7, 6))}).forward()
    assert result.shape == (5, 126)


def test_shapes_that_depend_on_values() -> None:
    x = onp.array([[1, 0], [0, 3]], "float32")
    proto = model([node("NonZero", "x")], {"x": x})
    check(proto, {"x": x}, has_symbol=False)
    with pytest.raises(NotImplementedError, match="import_to_gluon"):
        mx.onnx.import_model(proto)


def test_types_that_arrays_do_not_have() -> None:
    x = onp.array([3, -7, 20000], "int16")
    proto = model([node("Add", "x", "x")], {"x": x})
    result = mx.onnx.import_to_gluon(proto)(x)
    assert isinstance(result, onp.ndarray)
    assert result.dtype == x.dtype
    assert onp.array_equal(result, x + x)
    with pytest.raises(TypeError, match="'x' of the model is of type int16"):
        mx.onnx.import_model(proto)


def test_an_unknown_op_is_named() -> None:
    one = helper.make_node("Frobnicate", ["x"], ["y"], name="the_one", domain="com.example")
    proto = model([one], {"x": X})
    proto.opset_import.append(helper.make_opsetid("com.example", 3))
    expected = r"Frobnicate \(domain com\.example, opset 3, node 'the_one'\)"
    for read in (mx.onnx.import_model, mx.onnx.import_to_gluon):
        with pytest.raises(NotImplementedError, match=expected):
            read(proto)


def test_errors_name_the_node() -> None:
    proto = model([node("MatMul", "x", "w")], {"x": X}, {"w": numbers(3, 2)})
    block = mx.onnx.import_to_gluon(proto)
    notes = []
    try:
        block(np.zeros((3, 4, 5)))
    except ValueError as error:
        notes = error.__notes__
    assert "node 'the_MatMul'" in notes[0]


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "x.onnx"
    path.write_bytes(b"no model at all")
    with pytest.raises(ValueError, match="is no ONNX model"):
        mx.onnx.import_model(path)


def test_functions_of_a_model() -> None:
    """An op that the model defines by others, with an attribute."""
    inner = [
        helper.make_node("Constant", [], ["half"]),
        helper.make_node("Mul", ["a", "half"], ["b"]),
    ]
    inner[0].attribute.append(onnx.AttributeProto(name="value_float", ref_attr_name="by", type=1))
    function = helper.make_function(
        "own", "Scaled", ["a"], ["b"], inner, [helper.make_opsetid("", 21)], ["by"]
    )
    proto = model([helper.make_node("Scaled", ["x"], ["y"], domain="own", by=0.25)], {"x": X})
    proto.opset_import.append(helper.make_opsetid("own", 1))
    proto.functions.append(function)
    block = mx.onnx.import_to_gluon(proto)
    onp.testing.assert_allclose(block(np.array(X)).asnumpy(), X * 0.25)


# --- round trips ---


def lenet() -> gluon.nn.HybridSequential:
    net = gluon.nn.HybridSequential()
    net.add(
        gluon.nn.Conv2D(6, 5, padding=2, activation="tanh"),
        gluon.nn.AvgPool2D(2, 2),
        gluon.nn.Conv2D(16, 5, activation="tanh"),
        gluon.nn.MaxPool2D(2, 2),
        gluon.nn.Flatten(),
        gluon.nn.Dense(84, activation="sigmoid"),
        gluon.nn.Dropout(0.5),
        gluon.nn.Dense(10),
    )
    return net


class Recurrent(gluon.HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.lstm = gluon.rnn.LSTM(7, num_layers=2, bidirectional=True)
            self.dense = gluon.nn.Dense(3, flatten=False)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.dense(self.lstm(x))


NETS = {
    "LeNet": (lenet, (2, 1, 28, 28)),
    "ResNet-18": (lambda: gluon.model_zoo.vision.resnet18_v1(classes=10), (1, 3, 32, 32)),
    "LSTM": (Recurrent, (5, 2, 4)),
}


@pytest.mark.parametrize("name", NETS)
def test_round_trips(name: str, tmp_path: Path) -> None:
    make, shape = NETS[name]
    net = make()
    net.initialize(mx.init.Xavier())
    x = nd.random.uniform(-1, 1, shape)
    with autograd.record():  # statistics of norms that are not those of the beginning
        net(x)
    expected = net(x).asnumpy()
    prefix, path = str(tmp_path / "net"), tmp_path / "net.onnx"
    net.export(prefix)
    mx.onnx.export_model(f"{prefix}-symbol.json", f"{prefix}-0000.params", [shape], "float32", path)

    block = mx.contrib.onnx.import_to_gluon(path, mx.cpu())
    for _ in range(3):
        onp.testing.assert_allclose(block(x).asnumpy(), expected, 1e-4, 1e-5)
        block.hybridize()

    symbol, arguments, states = mx.contrib.onnx.import_model(path)
    executor = symbol.bind(mx.cpu(), {**arguments, "data": x}, aux_states=states)
    (result,) = executor.forward(is_train=False)
    onp.testing.assert_allclose(result.asnumpy(), expected, 1e-4, 1e-5)
    metadata = mx.contrib.onnx.get_model_metadata(path)
    assert metadata["input_tensor_data"] == [("data", shape, 1)]
    assert [one[1] for one in metadata["output_tensor_data"]] == [expected.shape]

    again = str(tmp_path / "again")
    block.export(again)
    exported = gluon.SymbolBlock.imports(f"{again}-symbol.json", ["data"], f"{again}-0000.params")
    for one in (exported, block):
        onp.testing.assert_allclose(one(x).asnumpy(), expected, 1e-4, 1e-5)


def test_an_imported_block_can_be_trained(tmp_path: Path) -> None:
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(5, in_units=4, activation="tanh"), gluon.nn.Dense(2, in_units=5))
    net.initialize(mx.init.Xavier())
    x, prefix = nd.random.uniform(-1, 1, (3, 4)), str(tmp_path / "net")
    net.hybridize()
    net(x)
    net.export(prefix)
    path = tmp_path / "net.onnx"
    mx.onnx.export_model(
        f"{prefix}-symbol.json", f"{prefix}-0000.params", [(3, 4)], onnx_file_path=path
    )
    block = mx.onnx.import_to_gluon(path)
    gradients = []
    for one in (net, block):
        with autograd.record():
            loss = nd.square(one(x)).sum()
        loss.backward()
        params = one.collect_params()
        gradients.append({name: params[name].grad().asnumpy() for name in sorted(params.keys())})
    assert gradients[0].keys() == gradients[1].keys()
    for name, gradient in gradients[0].items():
        onp.testing.assert_allclose(gradients[1][name], gradient, 1e-5, 1e-6)
    block.save_parameters(str(tmp_path / "net.safetensors"))
    block.load_parameters(str(tmp_path / "net.safetensors"))


def test_statistics_of_norms_follow_the_batches() -> None:
    weights = {
        name: onp.full(3, value, "float32")
        for name, value in {"g": 1, "b": 0, "m": 0, "v": 1}.items()
    }
    proto = model([node("BatchNormalization", "x", *weights)], {"x": IMAGE}, weights)
    block = mx.onnx.import_to_gluon(proto)
    parameters = block.collect_params()
    assert [parameters[name].grad_req for name in weights] == ["write", "write", "null", "null"]
    with autograd.record():
        block(nd.array(IMAGE)).backward()
    expected = 0.1 * IMAGE.mean((0, 2, 3))
    onp.testing.assert_allclose(parameters["m"].data().asnumpy(), expected, 1e-4, 1e-6)


def test_constants_go_where_the_inputs_are() -> None:
    proto = model(
        [helper.make_node("Gather", ["x", "i"], ["z"], axis=1), node("Mul", "z", "w")],
        {"x": X},
        {"i": onp.array([2, 0], I64), "w": numbers(1, 5)},
    )
    contexts = [mx.cpu(0), mx.cpu(1)]
    block = mx.onnx.import_to_gluon(proto, contexts)
    for context in contexts:
        result = block(nd.array(X, ctx=context))
        assert result.context == context
        onp.testing.assert_allclose(result.asnumpy(), X[:, [2, 0]] * numbers(1, 5), 1e-6)


def test_drawn_numbers_differ_from_call_to_call() -> None:
    like = numbers(40)
    constants = {"r": onp.array(0.5, "float32"), "t": onp.array(True)}
    for one in (node("RandomUniformLike", "x"), node("Dropout", "x", "r", "t", outputs=("y", "z"))):
        proto = model([one], {"x": like}, constants, outputs=tuple(one.output))
        block = mx.onnx.import_to_gluon(proto)
        block.hybridize()
        drawn = [block(np.array(like)) for _ in range(5)]
        hosts = [(each[0] if isinstance(each, list) else each).asnumpy() for each in drawn]
        assert len({host.tobytes() for host in hosts}) == 5


def test_graphs_that_do_not_fit_together() -> None:
    proto = model([node("Add", "x", "z")], {"x": X})
    with pytest.raises(ValueError, match=r"Add .*node 'the_Add'.* needs 'z', which nothing before"):
        mx.onnx.import_to_gluon(proto)(np.array(X))
    proto = model([node("Abs", "x")], {"x": X}, outputs=("y", "z"))
    with pytest.raises(ValueError, match="no node of 'g' makes the output 'z'"):
        mx.onnx.import_to_gluon(proto)(np.array(X))
    proto = model([node("CumSum", "x")], {"x": X})  # without its axis
    with pytest.raises(ValueError, match=r"CumSum .*node 'the_CumSum'.* cannot be run"):
        mx.onnx.import_to_gluon(proto)(np.array(X))

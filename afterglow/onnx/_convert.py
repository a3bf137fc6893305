# SPDX-License-Identifier: Apache-2.0
"""How the ops of symbols are written with those of ONNX, version 13.

A converter is given a :class:`Call`, appends nodes, and returns the names of the results.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as onp

from ._graph import Call

__all__ = ["CONVERTERS"]

Converter = Callable[[Call], Any]

CONVERTERS: dict[str, Converter] = {}


def converts(*names: str) -> Callable[[Converter], Converter]:
    """Return a decorator that makes a function the converter of ops."""

    def decorate(function: Converter) -> Converter:
        CONVERTERS.update(dict.fromkeys(names, function))
        return function

    return decorate


# --- elementwise ---


def _simple(op: str) -> Converter:
    return lambda call: call.add(op, call.inputs[0])


for _onnx, _names in {
    "Abs": "abs _npi_absolute",
    "Acos": "arccos _npi_arccos",
    "Acosh": "arccosh _npi_arccosh",
    "Asin": "arcsin _npi_arcsin",
    "Asinh": "arcsinh _npi_arcsinh",
    "Atan": "arctan _npi_arctan",
    "Atanh": "arctanh _npi_arctanh",
    "Ceil": "ceil _npi_ceil",
    "Cos": "cos _npi_cos",
    "Cosh": "cosh _npi_cosh",
    "Erf": "erf _npx_erf",
    "Exp": "exp _npi_exp",
    "Floor": "floor _npi_floor",
    "Identity": (
        "_copy identity BlockGrad stop_gradient MakeLoss make_loss Dropout _np_copy "
        "LinearRegressionOutput MAERegressionOutput SVMOutput IdentityAttachKLSparseReg amp_cast"
    ),
    "Log": "log _npi_log",
    "Neg": "negative _npi_negative",
    "Reciprocal": "reciprocal _npi_reciprocal",
    "Relu": "relu _npx_relu",
    "Sigmoid": "sigmoid _npx_sigmoid LogisticRegressionOutput",
    "Sign": "sign _npi_sign",
    "Sin": "sin _npi_sin",
    "Sinh": "sinh _npi_sinh",
    "Softsign": "softsign",
    "Sqrt": "sqrt _npi_sqrt",
    "Tan": "tan _npi_tan",
    "Tanh": "tanh _npi_tanh",
}.items():
    for _name in _names.split():
        CONVERTERS[_name] = _simple(_onnx)


@converts("square", "_npi_square")
def _square(call: Call) -> str:
    return call.add("Mul", call.inputs[0], call.inputs[0])  # type: ignore[no-any-return]


@converts("rsqrt")
def _rsqrt(call: Call) -> Any:
    return call.add("Reciprocal", call.add("Sqrt", call.inputs[0]))


@converts("cbrt", "_npi_cbrt")
def _cbrt(call: Call) -> Any:
    size = call.add("Pow", call.add("Abs", call.inputs[0]), call.constant(1 / 3))
    return call.add("Mul", call.add("Sign", call.inputs[0]), size)


@converts("log1p", "_npi_log1p")
def _log1p(call: Call) -> Any:
    return call.add("Log", call.add("Add", call.inputs[0], call.constant(1)))


@converts("expm1", "_npi_expm1")
def _expm1(call: Call) -> Any:
    return call.add("Sub", call.add("Exp", call.inputs[0]), call.constant(1))


def _logarithm(base: float) -> Converter:
    return lambda call: call.add(
        "Mul", call.add("Log", call.inputs[0]), call.constant(1 / math.log(base))
    )


CONVERTERS |= {
    "log2": _logarithm(2),
    "_npi_log2": _logarithm(2),
    "log10": _logarithm(10),
    "_npi_log10": _logarithm(10),
}


@converts("logical_not", "_npi_logical_not")
def _logical_not(call: Call) -> Any:
    negated = call.add("Not", call.cast(call.inputs[0], "bool"))
    return call.cast(negated, call.output_types[0])


@converts("hard_sigmoid")
def _hard_sigmoid(call: Call) -> Any:
    return call.add(
        "HardSigmoid", call.inputs[0], alpha=call.get("alpha", 0.2), beta=call.get("beta", 0.5)
    )


@converts("clip", "_npi_clip")
def _clip(call: Call) -> Any:
    bounds = [call.get("a_min"), call.get("a_max")]
    return call.add(
        "Clip", call.inputs[0], *("" if one is None else call.constant(one) for one in bounds)
    )


@converts("Cast", "_npi_cast")
def _cast(call: Call) -> Any:
    return call.cast(call.inputs[0], call.get("dtype"))


@converts("smooth_l1", "_npx_smooth_l1")
def _smooth_l1(call: Call) -> Any:
    """Half the square where it is small, else the distance."""
    square = float(call.get("scalar", 1.0)) ** 2
    size = call.add("Abs", call.inputs[0])
    inner = call.add("Mul", call.add("Mul", size, size), call.constant(0.5 * square))
    outer = call.add("Sub", size, call.constant(0.5 / square))
    small = call.add("Less", size, call.constant(1 / square))
    return call.add("Where", small, inner, outer)


# --- two operands ---

_ARITHMETIC = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "power": "Pow"}
_NUMPY_ARITHMETIC = {
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "true_divide": "Div", "power": "Pow",
}  # fmt: skip
_EXTREMES = {"maximum": "Max", "minimum": "Min"}
_COMPARISONS = {
    "equal": ("Equal", False),
    "not_equal": ("Equal", True),
    "greater": ("Greater", False),
    "lesser": ("Less", False),
    "less": ("Less", False),
    "greater_equal": ("GreaterOrEqual", False),
    "lesser_equal": ("LessOrEqual", False),
    "less_equal": ("LessOrEqual", False),
}
_LOGIC = {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}


def _operands(call: Call, right: str | None, swapped: bool) -> list[str]:
    """Return both operands in one type; a number instead of the second is a constant."""
    wanted = onp.dtype(call.output_types[0])
    if wanted == "bool":  # of a comparison in np: the operands keep their own type
        wanted = onp.result_type(*call.types)
    names = [
        name if onp.dtype(kind) == wanted else call.cast(name, wanted)
        for name, kind in zip(call.inputs, call.types, strict=True)
    ]
    if right is None:
        number = call.get("scalar", 1)
        names.append(call.constant(number, wanted))
    return names[::-1] if swapped else names


def _arithmetic(op: str, with_number: bool = False, swapped: bool = False) -> Converter:
    def convert(call: Call) -> Any:
        right = None if with_number else call.inputs[1]
        return call.add(op, *_operands(call, right, swapped))

    return convert


def _comparison(op: str, negated: bool, with_number: bool = False) -> Converter:
    def convert(call: Call) -> Any:
        truth = call.add(op, *_operands(call, None if with_number else call.inputs[1], False))
        if negated:
            truth = call.add("Not", truth)
        kind = onp.dtype(call.output_types[0])
        return truth if kind == "bool" else call.cast(truth, kind)

    return convert


def _logic(op: str, with_number: bool = False) -> Converter:
    def convert(call: Call) -> Any:
        names = _operands(call, None if with_number else call.inputs[1], False)
        truth = call.add(op, *(call.cast(name, "bool") for name in names))
        kind = onp.dtype(call.output_types[0])
        return truth if kind == "bool" else call.cast(truth, kind)

    return convert


def _define_operators() -> None:
    for name, op in _ARITHMETIC.items():
        for spelled in (f"elemwise_{name}", f"broadcast_{name}", f"_{name}"):
            CONVERTERS[spelled] = _arithmetic(op)
        CONVERTERS[f"_{name}_scalar"] = _arithmetic(op, True)
        CONVERTERS[f"_r{name}_scalar"] = _arithmetic(op, True, True)
    for spelled, name in (("plus", "add"), ("minus", "sub")):
        for form in ("_{}", "broadcast_{}", "_{}_scalar", "_r{}_scalar"):
            CONVERTERS[form.format(spelled)] = CONVERTERS[form.format(name)]
    CONVERTERS["_grad_add"] = CONVERTERS["_add"]
    for name, op in _NUMPY_ARITHMETIC.items():
        CONVERTERS[f"_npi_{name}"] = _arithmetic(op)
        CONVERTERS[f"_npi_{name}_scalar"] = _arithmetic(op, True)
        CONVERTERS[f"_npi_r{name}_scalar"] = _arithmetic(op, True, True)
    for name, op in _EXTREMES.items():
        for spelled in (f"_{name}", f"broadcast_{name}", f"_npi_{name}"):
            CONVERTERS[spelled] = _arithmetic(op)
        for spelled in (f"_{name}_scalar", f"_npi_{name}_scalar"):
            CONVERTERS[spelled] = _arithmetic(op, True)
    for name, (op, negated) in _COMPARISONS.items():
        for spelled in (f"_{name}", f"broadcast_{name}", f"_npi_{name}"):
            CONVERTERS[spelled] = _comparison(op, negated)
        for spelled in (f"_{name}_scalar", f"_npi_{name}_scalar"):
            CONVERTERS[spelled] = _comparison(op, negated, True)
    for name, op in _LOGIC.items():
        for spelled in (f"_{name}", f"broadcast_{name}", f"_npi_{name}"):
            CONVERTERS[spelled] = _logic(op)
        for spelled in (f"_{name}_scalar", f"_npi_{name}_scalar"):
            CONVERTERS[spelled] = _logic(op, True)


_define_operators()


@converts("_mod", "broadcast_mod", "_npi_mod")
def _mod(call: Call) -> Any:
    return _remainder(call, *_operands(call, call.inputs[1], False))


@converts("_mod_scalar", "_npi_mod_scalar")
def _mod_scalar(call: Call) -> Any:
    return _remainder(call, *_operands(call, None, False))


@converts("_rmod_scalar", "_npi_rmod_scalar")
def _rmod_scalar(call: Call) -> Any:
    return _remainder(call, *_operands(call, None, True))


def _remainder(call: Call, left: str, right: str) -> Any:
    """Return the remainder with the sign of the divisor; of floats ONNX has only the other one."""
    if onp.dtype(call.output_types[0]).kind != "f":
        return call.add("Mod", left, right)
    times = call.add("Floor", call.add("Div", left, right))
    return call.add("Sub", left, call.add("Mul", times, right))


@converts("_hypot", "broadcast_hypot", "_npi_hypot")
def _hypot(call: Call) -> Any:
    squares = [call.add("Mul", name, name) for name in call.inputs]
    return call.add("Sqrt", call.add("Add", *squares))


@converts("add_n")
def _add_n(call: Call) -> Any:
    return call.add("Sum", *call.inputs)


@converts("where", "_npi_where")
def _where(call: Call) -> Any:
    truth = call.cast(call.inputs[0], "bool")
    return call.add("Where", truth, *call.inputs[1:])


# --- layers ---


@converts("FullyConnected")
def _fully_connected(call: Call) -> Any:
    data, weight, *bias = call.inputs
    if not call.get("flatten", True):
        product = call.add("MatMul", data, call.add("Transpose", weight, perm=[1, 0]))
        return call.add("Add", product, bias[0]) if bias else product
    if call.rank != 2:
        data = call.add("Flatten", data, axis=1)
    return call.add("Gemm", data, weight, *bias, transB=1)


_ACTIVATIONS = {
    "relu": "Relu",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
    "softrelu": "Softplus",
    "softsign": "Softsign",
}


@converts("Activation")
def _activation(call: Call) -> Any:
    kind = call.get("act_type")
    if kind not in _ACTIVATIONS:
        raise call.refuse(f"act_type {kind!r} is not known")
    return call.add(_ACTIVATIONS[kind], call.inputs[0])


@converts("LeakyReLU")
def _leaky_relu(call: Call) -> Any:
    kind, slope = call.get("act_type", "leaky"), float(call.get("slope", 0.25))
    data = call.inputs[0]
    if kind in ("leaky", "rrelu"):
        if kind == "rrelu":  # without training, the middle of the bounds
            bounds = call.get("lower_bound", 0.125), call.get("upper_bound", 0.334)
            slope = sum(map(float, bounds)) / 2
        return call.add("LeakyRelu", data, alpha=slope)
    if kind == "elu":
        return call.add("Elu", data, alpha=slope)
    if kind == "selu":
        return call.add("Selu", data)
    if kind == "gelu":
        scaled = call.add("Mul", data, call.constant(1 / math.sqrt(2)))
        share = call.add("Add", call.add("Erf", scaled), call.constant(1))
        return call.add("Mul", call.add("Mul", data, share), call.constant(0.5))
    if kind == "prelu":
        # One slope for each channel, which are along the second axis.
        channels = (-1,) + (1,) * (call.rank - 2) if call.rank > 1 else (-1,)
        return call.add(
            "PRelu", data, call.add("Reshape", call.inputs[1], call.integers(*channels))
        )
    raise call.refuse(f"act_type {kind!r} is not known")


@converts("softmax", "_npx_softmax", "softmin")
def _softmax(call: Call) -> Any:
    return call.add("Softmax", _scores(call), axis=int(call.get("axis", -1)))


@converts("log_softmax", "_npx_log_softmax")
def _log_softmax(call: Call) -> Any:
    return call.add("LogSoftmax", _scores(call), axis=int(call.get("axis", -1)))


def _scores(call: Call) -> Any:
    if call.get("use_length", False):
        raise call.refuse("lengths are not supported")
    scores = call.inputs[0]
    if call.op == "softmin":
        scores = call.add("Neg", scores)
    temperature = call.get("temperature")
    if temperature not in (None, 1):
        scores = call.add("Div", scores, call.constant(temperature))
    return scores


@converts("SoftmaxOutput", "SoftmaxActivation")
def _softmax_output(call: Call) -> Any:
    if call.get("multi_output", False) or call.get("mode") == "channel":
        return call.add("Softmax", call.inputs[0], axis=1)
    if call.rank <= 2 or call.get("preserve_shape", False):
        return call.add("Softmax", call.inputs[0], axis=-1)
    # All axes but the first are one.
    flat = call.add("Softmax", call.add("Flatten", call.inputs[0], axis=1), axis=-1)
    return call.add("Reshape", flat, call.add("Shape", call.inputs[0]))


@converts("BatchNorm", "BatchNorm_v1")
def _batch_norm(call: Call) -> Any:
    data, gamma, beta, mean, variance = call.inputs
    if call.get("fix_gamma", True):
        gamma = call.constant(onp.ones(call.shapes[1]), call.types[1])
    axis = int(call.get("axis", 1)) % call.rank
    order = list(range(call.rank))
    order.insert(1, order.pop(axis))
    moved = axis != 1 and call.rank > 1
    if moved:
        data = call.add("Transpose", data, perm=order)
    result = call.add(
        "BatchNormalization",
        data,
        gamma,
        beta,
        mean,
        variance,
        epsilon=float(call.get("eps", 1e-3)),
        momentum=float(call.get("momentum", 0.9)),
    )
    if moved:
        result = call.add("Transpose", result, perm=[order.index(one) for one in range(call.rank)])
    return result


def _normalised(call: Call, data: str, axes: list[int], epsilon: float) -> Any:
    """Return values less their mean, divided by their standard deviation."""
    distance = call.add("Sub", data, call.add("ReduceMean", data, axes=axes, keepdims=1))
    squares = call.add("Mul", distance, distance)
    variance = call.add("ReduceMean", squares, axes=axes, keepdims=1)
    deviation = call.add("Sqrt", call.add("Add", variance, call.constant(epsilon)))
    return call.add("Div", distance, deviation)


def _scaled(call: Call, data: str, axis: int, rank: int | None = None) -> Any:
    """Return values times gamma plus beta, which lie along an axis."""
    shape = [1] * (call.rank if rank is None else rank)
    shape[axis] = -1
    gamma, beta = (call.add("Reshape", name, call.integers(*shape)) for name in call.inputs[1:3])
    return call.add("Add", call.add("Mul", data, gamma), beta)


@converts("LayerNorm")
def _layer_norm(call: Call) -> Any:
    axis = int(call.get("axis", -1)) % call.rank
    result = _normalised(call, call.inputs[0], [axis], float(call.get("eps", 1e-5)))
    return _scaled(call, result, axis)


@converts("InstanceNorm")
def _instance_norm(call: Call) -> Any:
    axes = list(range(2, call.rank))
    result = _normalised(call, call.inputs[0], axes, float(call.get("eps", 1e-3)))
    return _scaled(call, result, 1)


@converts("GroupNorm")
def _group_norm(call: Call) -> Any:
    shape, count = call.add("Shape", call.inputs[0]), int(call.get("num_groups", 1))
    grouped = call.add("Reshape", call.inputs[0], call.integers(0, count, -1))
    result = _normalised(call, grouped, [2], float(call.get("eps", 1e-5)))
    if call.shapes[1] == (count,):  # gamma and beta of groups, not of channels
        return call.add("Reshape", _scaled(call, result, 1, rank=3), shape)
    return _scaled(call, call.add("Reshape", result, shape), 1)


@converts("L2Normalization")
def _l2_normalization(call: Call) -> Any:
    mode = call.get("mode", "instance")
    axes = {
        "instance": list(range(1, call.rank)),
        "channel": [1],
        "spatial": list(range(2, call.rank)),
    }[mode]
    squares = call.add("Mul", call.inputs[0], call.inputs[0])
    total = call.add("ReduceSum", squares, call.integers(*axes), keepdims=1)
    total = call.add("Add", total, call.constant(float(call.get("eps", 1e-10))))
    return call.add("Div", call.inputs[0], call.add("Sqrt", total))


@converts("Embedding")
def _embedding(call: Call) -> Any:
    return call.add("Gather", call.inputs[1], call.cast(call.inputs[0], "int64"), axis=0)


def _window(call: Call) -> dict[str, Any]:
    """Return kernel, strides and pads of a convolution or a pooling."""
    kernel = list(call.get("kernel"))
    count = len(kernel)
    pads = list(call.get("pad", ()) or [0] * count)
    return {
        "kernel_shape": kernel,
        "strides": list(call.get("stride", ()) or [1] * count),
        "pads": pads + pads,
    }


def _channels_first(call: Call) -> None:
    layout = call.get("layout")
    if layout not in (None, "None", "NCW", "NCHW", "NCDHW"):
        raise call.refuse(f"the layout {layout} is not supported")


@converts("Convolution")
def _convolution(call: Call) -> Any:
    _channels_first(call)
    window = _window(call)
    dilations = list(call.get("dilate", ()) or [1] * len(window["kernel_shape"]))
    return call.add(
        "Conv", *call.inputs, group=int(call.get("num_group", 1)), dilations=dilations, **window
    )


@converts("Deconvolution")
def _deconvolution(call: Call) -> Any:
    _channels_first(call)
    window = _window(call)
    count = len(window["kernel_shape"])
    return call.add(
        "ConvTranspose",
        *call.inputs,
        group=int(call.get("num_group", 1)),
        dilations=list(call.get("dilate", ()) or [1] * count),
        output_padding=list(call.get("adj", ()) or [0] * count),
        **window,
    )


@converts("Pooling")
def _pooling(call: Call) -> Any:
    _channels_first(call)
    kind = call.get("pool_type", "max")
    whole = {"max": "GlobalMaxPool", "avg": "GlobalAveragePool", "lp": "GlobalLpPool"}
    part = {"max": "MaxPool", "avg": "AveragePool", "lp": "LpPool"}
    if kind not in part:
        raise call.refuse(f"pool_type {kind!r} is not supported")
    options: dict[str, Any] = {"p": int(call.get("p_value", 2))} if kind == "lp" else {}
    if call.get("global_pool", False):
        return call.add(whole[kind], call.inputs[0], **options)
    if kind == "avg":
        options["count_include_pad"] = int(call.get("count_include_pad", True))
    if kind != "lp":
        options["ceil_mode"] = int(call.get("pooling_convention", "valid") == "full")
    return call.add(part[kind], call.inputs[0], **options, **_window(call))


@converts("LRN")
def _lrn(call: Call) -> Any:
    return call.add(
        "LRN",
        call.inputs[0],
        alpha=float(call.get("alpha", 1e-4)),
        beta=float(call.get("beta", 0.75)),
        bias=float(call.get("knorm", 2)),
        size=int(call.get("nsize")),
    )


# --- products ---


def _flipped(call: Call, which: int, key: str) -> str:
    """Return an operand with its last two axes exchanged if the call says so."""
    name, rank = call.inputs[which], len(call.shapes[which])
    if not call.get(key, False) or rank < 2:
        return name
    order = [*range(rank - 2), rank - 1, rank - 2]
    return call.add("Transpose", name, perm=order)  # type: ignore[no-any-return]


@converts("dot", "_np_dot", "_npi_dot")
def _dot(call: Call) -> Any:
    left, right = call.shapes
    if len(right) > 2 or (len(left) > 2 and call.get("transpose_a", False)):
        raise call.refuse(f"the product of {left} and {right} is not supported")
    result = call.add("MatMul", _flipped(call, 0, "transpose_a"), _flipped(call, 1, "transpose_b"))
    if len(left) == len(right) == 1 and not call.is_numpy:
        return call.add("Reshape", result, call.integers(1))
    return result


@converts("batch_dot", "_npx_batch_dot", "_npi_matmul", "_linalg_gemm2", "linalg_gemm2")
def _batch_dot(call: Call) -> Any:
    result = call.add("MatMul", _flipped(call, 0, "transpose_a"), _flipped(call, 1, "transpose_b"))
    factor = call.get("alpha", 1)
    return result if factor == 1 else call.add("Mul", result, call.constant(factor))


# --- reductions ---


def _reduced_axes(call: Call) -> list[int]:
    axes = call.axes()
    if axes is None or (axes == [] and not call.is_numpy):
        axes = list(range(call.rank))
    if call.get("exclude", False):
        axes = [one for one in range(call.rank) if one not in axes]
    return axes


def _shaped(call: Call, result: Any, axes: list[int]) -> Any:
    """Give a reduction to nothing one axis, as nd does."""
    if len(axes) == call.rank and not call.get("keepdims", False) and not call.is_numpy:
        return call.add("Reshape", result, call.integers(1))
    return result


def _reduction(op: str) -> Converter:
    def convert(call: Call) -> Any:
        axes, keeps = _reduced_axes(call), int(bool(call.get("keepdims", False)))
        data = call.inputs[0]
        if onp.dtype(call.types[0]) != onp.dtype(call.output_types[0]):
            data = call.cast(data, call.output_types[0])
        if op == "ReduceSum":
            result = call.add(op, data, call.integers(*axes), keepdims=keeps)
        else:
            result = call.add(op, data, axes=axes, keepdims=keeps)
        return _shaped(call, result, axes)

    return convert


for _onnx, _names in {
    "ReduceSum": "sum sum_axis _np_sum",
    "ReduceMean": "mean _npi_mean",
    "ReduceMax": "max max_axis _np_max",
    "ReduceMin": "min min_axis _np_min",
    "ReduceProd": "prod _np_prod",
}.items():
    for _name in _names.split():
        CONVERTERS[_name] = _reduction(_onnx)


@converts("norm")
def _norm(call: Call) -> Any:
    axes = _reduced_axes(call)
    op = {1: "ReduceL1", 2: "ReduceL2"}[int(call.get("ord", 2))]
    keeps = int(bool(call.get("keepdims", False)))
    return _shaped(call, call.add(op, call.inputs[0], axes=axes, keepdims=keeps), axes)


@converts("argmax", "argmin", "_npi_argmax", "_npi_argmin")
def _arg(call: Call) -> Any:
    op = "ArgMax" if call.op.endswith("max") else "ArgMin"
    axis, data = call.get("axis"), call.inputs[0]
    keeps = int(bool(call.get("keepdims", False)))
    if axis is None:
        data, axis, keeps = call.add("Reshape", data, call.integers(-1)), 0, call.is_numpy ^ 1
    place = call.add(op, data, axis=int(axis), keepdims=keeps)
    if call.rank == 1 and not keeps and not call.is_numpy:
        place = call.add("Reshape", place, call.integers(1))
    return call.cast(place, call.output_types[0])


@converts("topk")
def _topk(call: Call) -> Any:
    kind = call.get("ret_typ", "indices")
    if kind == "mask":
        raise call.refuse("ret_typ 'mask' is not supported")
    data, axis = call.inputs[0], call.get("axis", -1)
    if axis is None:
        raise call.refuse("axis=None is not supported")
    count = int(call.get("k", 1)) or call.static(call.shapes[0])[axis]
    names = [call.graph.new_name(f"{call.name}_{part}") for part in ("values", "places")]
    values, places = call.add(
        "TopK",
        data,
        call.integers(count),
        outputs=names,
        axis=int(axis),
        largest=int(not call.get("is_ascend", False)),
    )
    places = call.cast(places, call.get("dtype", "float32"))
    return {"value": values, "indices": places, "both": [values, places]}[kind]


# --- shapes ---


@converts("Flatten", "flatten")
def _flatten(call: Call) -> Any:
    return call.add("Flatten", call.inputs[0], axis=1)


@converts("Reshape", "reshape", "_np_reshape", "_npi_reshape", "_npx_reshape")
def _reshape(call: Call) -> Any:
    key = "newshape" if "newshape" in call.attrs else "shape"
    wanted = call.get(key, ())
    wanted = [wanted] if isinstance(wanted, int) else list(wanted)
    plain = not call.get("reverse", False) and all(one >= -1 for one in wanted)
    # 0 keeps an extent in nd and in ONNX, in np it means none.
    if plain and not (call.is_numpy and 0 in wanted):
        return call.add("Reshape", call.inputs[0], call.integers(*wanted))
    return call.add("Reshape", call.inputs[0], call.integers(*call.static(call.output_shapes[0])))


@converts("reshape_like")
def _reshape_like(call: Call) -> Any:
    return call.add("Reshape", call.inputs[0], call.add("Shape", call.inputs[1]))


@converts("transpose", "_np_transpose", "_npi_transpose")
def _transpose(call: Call) -> Any:
    axes = call.axes("axes") or list(reversed(range(call.rank)))
    return call.add("Transpose", call.inputs[0], perm=axes)


@converts("SwapAxis", "swapaxes")
def _swapaxes(call: Call) -> Any:
    order = list(range(call.rank))
    first, second = int(call.get("dim1", 0)), int(call.get("dim2", 0))
    order[first], order[second] = order[second], order[first]
    return call.add("Transpose", call.inputs[0], perm=order)


@converts("expand_dims", "_npi_expand_dims")
def _expand_dims(call: Call) -> Any:
    return call.add("Unsqueeze", call.inputs[0], call.integers(int(call.get("axis"))))


@converts("squeeze", "_np_squeeze", "_npi_squeeze")
def _squeeze(call: Call) -> Any:
    axes = call.axes()
    if axes is None:
        axes = [one for one, extent in enumerate(call.static(call.shapes[0])) if extent == 1]
    result = call.add("Squeeze", call.inputs[0], call.integers(*axes))
    if len(axes) == call.rank and not call.is_numpy:
        return call.add("Reshape", result, call.integers(1))
    return result


@converts("Concat", "concat", "_npi_concatenate", "_npi_hstack")
def _concat(call: Call) -> Any:
    axis = call.get("dim", call.get("axis", 0 if call.is_numpy else 1))
    return call.add("Concat", *call.inputs, axis=int(axis))


@converts("stack", "_npi_stack")
def _stack(call: Call) -> Any:
    axis = int(call.get("axis", 0)) % (call.rank + 1)
    parts = [call.add("Unsqueeze", name, call.integers(axis)) for name in call.inputs]
    return call.add("Concat", *parts, axis=axis)


def _split_parts(call: Call, axis: int, count: int, sizes: list[int] | None) -> list[str]:
    names = [call.graph.new_name(f"{call.name}_part{number}") for number in range(count)]
    given = [] if sizes is None else [call.integers(*sizes)]
    call.add("Split", call.inputs[0], *given, outputs=names, axis=axis)
    if call.get("squeeze_axis", False):
        names = [call.add("Squeeze", name, call.integers(axis)) for name in names]
    return names


@converts("SliceChannel", "split")
def _slice_channel(call: Call) -> Any:
    axis = int(call.get("axis", 1)) % call.rank
    return _split_parts(call, axis, int(call.get("num_outputs")), None)


@converts("_split_v2")
def _split_v2(call: Call) -> Any:
    axis = int(call.get("axis", 0)) % call.rank
    sections = int(call.get("sections", 0))
    if sections:
        return _split_parts(call, axis, sections, None)
    ends = [*list(call.get("indices"))[1:], call.static(call.shapes[0])[axis]]
    begins = [0, *ends[:-1]]
    sizes = [end - begin for begin, end in zip(begins, ends, strict=True)]
    return _split_parts(call, axis, len(sizes), sizes)


def _slices(
    call: Call, axes: list[int], begins: list[Any], ends: list[Any], steps: list[Any]
) -> Any:
    """Cut along axes; None means the end that the step comes from or goes to."""
    most = onp.iinfo("int64").max
    steps = [1 if step is None else int(step) for step in steps]
    begins = [
        (0 if step > 0 else most) if begin is None else int(begin)
        for begin, step in zip(begins, steps, strict=True)
    ]
    ends = [
        (most if step > 0 else -most) if end is None else int(end)
        for end, step in zip(ends, steps, strict=True)
    ]
    return call.add(
        "Slice",
        call.inputs[0],
        call.integers(*begins),
        call.integers(*ends),
        call.integers(*axes),
        call.integers(*steps),
    )


@converts("slice", "_npi_slice")
def _slice(call: Call) -> Any:
    begins, ends = (
        [one] if isinstance(one, int) else list(one) for one in (call.get("begin"), call.get("end"))
    )
    step = call.get("step", ())
    steps = [step] if isinstance(step, int) else list(step or ())
    steps += [None] * (len(begins) - len(steps))
    return _slices(call, list(range(len(begins))), begins, ends, steps)


@converts("slice_axis")
def _slice_axis(call: Call) -> Any:
    axis = int(call.get("axis")) % call.rank
    return _slices(call, [axis], [call.get("begin")], [call.get("end")], [1])


@converts("slice_like")
def _slice_like(call: Call) -> Any:
    axes = call.axes("axes", ()) or list(range(call.rank))
    ends = [call.static(call.shapes[1])[axis] for axis in axes]
    return _slices(call, axes, [0] * len(axes), ends, [1] * len(axes))


@converts("reverse", "flip", "_npi_flip")
def _reverse(call: Call) -> Any:
    axes = call.axes() or list(range(call.rank))
    count = len(axes)
    return _slices(call, axes, [None] * count, [None] * count, [-1] * count)


@converts("tile", "_npi_tile")
def _tile(call: Call) -> Any:
    reps = call.get("reps")
    reps = [reps] if isinstance(reps, int) else list(reps)
    data = call.inputs[0]
    if len(reps) > call.rank:
        data = call.add("Unsqueeze", data, call.integers(*range(len(reps) - call.rank)))
    reps = [1] * (call.rank - len(reps)) + reps
    return call.add("Tile", data, call.integers(*reps))


@converts("repeat", "_np_repeat")
def _repeat(call: Call) -> Any:
    """Give every element an axis of its own, repeat along it, and join it with the one before."""
    axis, count = call.get("axis"), int(call.get("repeats"))
    data, rank = call.inputs[0], call.rank
    if axis is None:
        data, rank, axis = call.add("Reshape", data, call.integers(-1)), 1, 0
    axis = int(axis) % rank
    reps = [1] * (rank + 1)
    reps[axis + 1] = count
    tiled = call.add(
        "Tile", call.add("Unsqueeze", data, call.integers(axis + 1)), call.integers(*reps)
    )
    if rank == 1:
        return call.add("Reshape", tiled, call.integers(-1))
    shape = list(call.static(call.output_shapes[0]))
    return call.add("Reshape", tiled, call.integers(*shape))


@converts("Pad", "pad", "_npi_pad")
def _pad(call: Call) -> Any:
    widths = call.get("pad_width")
    flat = [int(one) for one in onp.ravel(widths)]
    mode = call.get("mode", "constant")
    if mode not in ("constant", "edge", "reflect"):
        raise call.refuse(f"the mode {mode} is not supported")
    value = call.get("constant_value", call.get("constant_values", 0))
    pads = call.integers(*flat[0::2], *flat[1::2])
    return call.add("Pad", call.inputs[0], pads, call.constant(value), mode=mode)


@converts("broadcast_to", "_np_broadcast_to", "_npi_broadcast_to")
def _broadcast_to(call: Call) -> Any:
    shape = call.get("shape")
    # 1 stretches nothing in Expand, so that 0, which keeps an extent, becomes 1.
    return call.add("Expand", call.inputs[0], call.integers(*(int(one) or 1 for one in shape)))


@converts("broadcast_axis", "broadcast_axes")
def _broadcast_axis(call: Call) -> Any:
    sizes = call.get("size")
    sizes = [sizes] if isinstance(sizes, int) else list(sizes)
    shape = [1] * call.rank
    for axis, size in zip(call.axes() or (), sizes, strict=True):
        shape[axis] = int(size)
    return call.add("Expand", call.inputs[0], call.integers(*shape))


@converts("broadcast_like")
def _broadcast_like(call: Call) -> Any:
    return call.add("Expand", call.inputs[0], call.add("Shape", call.inputs[1]))


@converts("depth_to_space")
def _depth_to_space(call: Call) -> Any:
    return call.add("DepthToSpace", call.inputs[0], blocksize=int(call.get("block_size")))


@converts("space_to_depth")
def _space_to_depth(call: Call) -> Any:
    return call.add("SpaceToDepth", call.inputs[0], blocksize=int(call.get("block_size")))


@converts("shape_array")
def _shape_array(call: Call) -> Any:
    return call.add("Shape", call.inputs[0])


@converts("size_array")
def _size_array(call: Call) -> Any:
    return call.add("Reshape", call.add("Size", call.inputs[0]), call.integers(1))


# --- elements chosen by index ---


@converts("take", "_npi_take")
def _take(call: Call) -> Any:
    axis, places = int(call.get("axis", 0)) % call.rank, call.cast(call.inputs[1], "int64")
    mode = call.get("mode", "clip")
    if mode == "clip":
        last = call.static(call.shapes[0])[axis] - 1
        places = call.add("Clip", places, call.constant(0, "int64"), call.constant(last, "int64"))
    elif mode == "wrap":
        extent = call.static(call.shapes[0])[axis]
        places = call.add("Mod", places, call.constant(extent, "int64"))
    return call.add("Gather", call.inputs[0], places, axis=axis)


@converts("gather_nd")
def _gather_nd(call: Call) -> Any:
    rank = len(call.shapes[1])
    places = call.add("Transpose", call.inputs[1], perm=[*range(1, rank), 0])
    return call.add("GatherND", call.inputs[0], call.cast(places, "int64"))


@converts("pick", "_npx_pick")
def _pick(call: Call) -> Any:
    axis = int(call.get("axis", -1)) % call.rank
    places = call.cast(call.inputs[1], "int64")
    if len(call.shapes[1]) < call.rank:
        places = call.add("Unsqueeze", places, call.integers(axis))
    chosen = call.add("GatherElements", call.inputs[0], places, axis=axis)
    if call.get("keepdims", False):
        return chosen
    return call.add("Squeeze", chosen, call.integers(axis))


@converts("one_hot")
def _one_hot(call: Call) -> Any:
    kind = call.get("dtype", "float32")
    values = [call.get("off_value", 0), call.get("on_value", 1)]
    return call.add(
        "OneHot",
        call.cast(call.inputs[0], "int64"),
        call.integers(int(call.get("depth"))),
        call.constant(values, kind),
        axis=-1,
    )


# --- new values ---


@converts("zeros_like", "_npi_zeros_like")
def _zeros_like(call: Call) -> Any:
    return call.add("Mul", call.inputs[0], call.constant(0))


@converts("ones_like", "_npi_ones_like")
def _ones_like(call: Call) -> Any:
    return call.add("Add", _zeros_like(call), call.constant(1))


def _filled(value: float | None) -> Converter:
    def convert(call: Call) -> Any:
        number = call.get("value", 0) if value is None else value
        kind = call.output_types[0]
        return call.add("Identity", call.constant(onp.full(call.output_shapes[0], number), kind))

    return convert


CONVERTERS |= {
    "_zeros": _filled(0),
    "_npi_zeros": _filled(0),
    "_ones": _filled(1),
    "_npi_ones": _filled(1),
    "_full": _filled(None),
    "_npi_full": _filled(None),
}


@converts("_arange", "_npi_arange")
def _arange(call: Call) -> Any:
    start, stop, step = call.get("start", 0), call.get("stop"), call.get("step", 1)
    values = onp.arange(start, stop, step) if stop is not None else onp.arange(0, start, step)
    values = onp.repeat(values, int(call.get("repeat", 1)))
    return call.add("Identity", call.constant(values, call.output_types[0]))

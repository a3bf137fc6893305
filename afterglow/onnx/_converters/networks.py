# SPDX-License-Identifier: Apache-2.0
"""Layers."""

from __future__ import annotations

import math
from typing import Any

import numpy as onp

from .._graph import Call
from .registry import converts


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
    if kind == "leaky":
        return call.add("LeakyRelu", data, alpha=slope)
    if kind == "rrelu":  # without training, the middle of the bounds, and no noise
        bounds = call.get("lower_bound", 0.125), call.get("upper_bound", 0.334)
        noise = call.add("Expand", call.constant(0, call.types[0]), call.add("Shape", data))
        return [call.add("LeakyRelu", data, alpha=sum(map(float, bounds)) / 2), noise]
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


@converts("BatchNorm", "SyncBatchNorm")
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
    epsilon, momentum = float(call.get("eps", 1e-3)), float(call.get("momentum", 0.9))
    values = (data, gamma, beta, mean, variance)
    result = call.add("BatchNormalization", *values, epsilon=epsilon, momentum=momentum)
    if moved:
        result = call.add("Transpose", result, perm=[order.index(one) for one in range(call.rank)])
    return result


converts("BatchNormWithReLU")(lambda call: call.add("Relu", _batch_norm(call)))


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


@converts("Convolution", "Deconvolution")
def _convolution(call: Call) -> Any:
    _channels_first(call)
    options = _window(call)
    count = len(options["kernel_shape"])
    options["group"] = int(call.get("num_group", 1))
    options["dilations"] = list(call.get("dilate", ()) or [1] * count)
    if call.op == "Convolution":
        return call.add("Conv", *call.inputs, **options)
    if any(call.get("target_shape", ()) or ()):
        del options["pads"]  # what is cut follows from the shape, the larger half in front
        options["output_shape"] = list(call.output_shapes[0][2:])
    else:
        options["output_padding"] = list(call.get("adj", ()) or [0] * count)
    return call.add("ConvTranspose", *call.inputs, **options)


@converts("Pooling")
def _pooling(call: Call) -> Any:
    _channels_first(call)
    kind = call.get("pool_type", "max")
    whole = {"max": "GlobalMaxPool", "avg": "GlobalAveragePool", "lp": "GlobalLpPool"}
    part = {"max": "MaxPool", "avg": "AveragePool", "lp": "LpPool"}
    if kind not in part:
        raise call.refuse(f"pool_type {kind!r} is not supported")
    if call.get("pooling_convention") == "same":
        raise call.refuse("the pooling_convention 'same' is not supported")
    if kind == "lp" and call.get("p_value") != 2:
        raise call.refuse("only p_value 2 is supported")  # others keep the sign of elements
    options: dict[str, Any] = {"p": 2} if kind == "lp" else {}
    if call.get("global_pool", False):
        return call.add(whole[kind], call.inputs[0], **options)
    if kind == "avg":
        options["count_include_pad"] = int(call.get("count_include_pad", True))
    if kind != "lp":
        options["ceil_mode"] = int(call.get("pooling_convention", "valid") == "full")
    return call.add(part[kind], call.inputs[0], **options, **_window(call))


@converts("AdaptiveAvgPooling2D")
def _adaptive_pooling(call: Call) -> Any:
    if call.output_shapes[0][2:] == (1, 1):
        return call.add("GlobalAveragePool", call.inputs[0])
    down, right = (
        call.constant(_windows_between(before, after))
        for before, after in zip(
            call.static(call.shapes[0])[2:], call.output_shapes[0][2:], strict=True
        )
    )
    across = call.add("Transpose", right, perm=[1, 0])
    return call.add("MatMul", call.add("MatMul", down, call.inputs[0]), across)


def _windows_between(before: int, after: int) -> Any:
    """Return the matrix that takes the means of windows, which cover an axis evenly."""
    matrix = onp.zeros((after, before))
    for place in range(after):
        start, end = place * before // after, -(-(place + 1) * before // after)
        matrix[place, start:end] = 1 / (end - start)
    return matrix


@converts("Crop")
def _crop(call: Call) -> Any:
    extents, sizes = call.static(call.shapes[0])[2:], call.output_shapes[0][2:]
    offset = call.get("offset", (0, 0))
    if call.get("center_crop", False):
        offset = [(whole - part) // 2 for whole, part in zip(extents, sizes, strict=True)]
    ends = [start + part for start, part in zip(offset, sizes, strict=True)]
    return call.add(
        "Slice",
        call.inputs[0],
        call.integers(*offset),
        call.integers(*ends),
        call.integers(2, 3),
    )


@converts("GridGenerator")
def _grid(call: Call) -> Any:
    if call.get("transform_type") != "affine":
        raise call.refuse("only transform_type 'affine' is supported")
    height, width = call.get("target_shape")
    rows, columns = onp.meshgrid(*(onp.linspace(-1, 1, n) for n in (height, width)), indexing="ij")
    places = onp.stack([columns, rows, onp.ones_like(rows)]).reshape(3, -1)
    matrices = call.add("Reshape", call.inputs[0], call.integers(-1, 2, 3))
    grid = call.add("MatMul", matrices, call.constant(places))
    return call.add("Reshape", grid, call.integers(-1, 2, height, width))


@converts("UpSampling")
def _upsampling(call: Call) -> Any:
    if call.get("sample_type") != "nearest" or len(call.inputs) != 1:
        raise call.refuse("only one input and sample_type 'nearest' are supported")
    scale = int(call.get("scale"))
    return call.add(
        "Resize",
        call.inputs[0],
        "",
        call.constant([1, 1, scale, scale], "float32"),
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )


@converts("BilinearResize2D")
def _resize(call: Call) -> Any:
    mode = "align_corners" if call.get("align_corners", True) else "half_pixel"
    sizes = call.integers(*call.static(call.output_shapes[0]))
    return call.add(
        "Resize",
        call.inputs[0],
        "",
        "",
        sizes,
        mode="linear",
        coordinate_transformation_mode=mode,
    )


@converts("ROIPooling")
def _roi_pooling(call: Call) -> Any:
    return call.add(
        "MaxRoiPool",
        *call.inputs,
        pooled_shape=list(call.get("pooled_size")),
        spatial_scale=float(call.get("spatial_scale")),
    )


@converts("ROIAlign")
def _roi_align(call: Call) -> Any:
    if call.get("position_sensitive", False) or call.get("aligned", False):
        raise call.refuse("position_sensitive and aligned are not supported")
    data, rois = call.inputs
    height, width = call.get("pooled_size")
    column = call.add("Gather", rois, call.integers(0), axis=1)
    images = call.add("Squeeze", column, call.integers(1))
    return call.add(
        "RoiAlign",
        data,
        call.add("Gather", rois, call.integers(1, 2, 3, 4), axis=1),
        call.cast(images, "int64"),
        output_height=height,
        output_width=width,
        sampling_ratio=max(int(call.get("sample_ratio", -1)), 0),
        spatial_scale=float(call.get("spatial_scale")),
    )


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

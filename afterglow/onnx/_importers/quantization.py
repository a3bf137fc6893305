# SPDX-License-Identifier: Apache-2.0
"""Numbers of few bits, with scales and zero points, and products of them."""

from __future__ import annotations

from typing import Any

import numpy as onp

from .._graph import onnx_module
from .graph import Node
from .products import product_of_integers
from .registry import imports
from .types import cast, dtype_named
from .values import dtype_of, rounded
from .windows import convolved


def _limits(dtype: onp.dtype[Any]) -> tuple[int, int]:
    """Return the least and the greatest number of a type of whole numbers."""
    limits = onp.iinfo(dtype) if dtype.kind in "iu" else onnx_module("ml_dtypes").iinfo(dtype)
    return int(limits.min), int(limits.max)


def _along(node: Node, value: Any, shape: tuple[int, ...]) -> Any:
    """Return scales or zero points so that they go with elements: one, one a line or a block."""
    axis, block = node.get("axis", 1), node.get("block_size", 0)
    if len(value.shape) == 0 or value.shape == (1,):
        return node.f.reshape(value, ())
    if block:
        wide = node.f.repeat(value, block, axis=axis)
        key = [slice(None)] * len(shape)
        key[axis] = slice(shape[axis])
        return wide[tuple(key)]
    extents = [1] * len(shape)
    extents[axis] = -1
    return node.f.reshape(value, tuple(extents))


def _rounded(node: Node, value: Any, zero: Any, dtype: onp.dtype[Any]) -> Any:
    """Return real numbers as whole ones, moved by a zero point, none beyond the limits."""
    least, most = _limits(dtype)
    value = rounded(node.f, value)
    if zero is not None:
        value = value + node.f.cast(zero, "float32")
    return cast(node, node.f.clip(value, least, most), dtype)


@imports("QuantizeLinear")
def _quantize_linear(node: Node) -> Any:
    dtype = dtype_of(node.values[2]) if node.has(2) else dtype_named(node.get("output_dtype") or 2)
    x = node[0]
    scale = _along(node, node[1], x.shape)
    scaled = node.f.cast(x, "float32") / node.f.cast(scale, "float32")
    if dtype.name.startswith("float"):
        return cast(node, scaled, dtype, bool(node.get("saturate", 1)))
    zero = _along(node, node[2], x.shape) if node.has(2) else None
    return _rounded(node, scaled, zero, dtype)


@imports("DequantizeLinear")
def _dequantize_linear(node: Node) -> Any:
    f, x = node.f, node[0]
    dtype = dtype_named(node.get("output_dtype")) if node.get("output_dtype") else dtype_of(node[1])
    value = f.cast(x, "float32")
    if node.has(2):
        value = value - f.cast(_along(node, node[2], x.shape), "float32")
    return cast(node, value * f.cast(_along(node, node[1], x.shape), "float32"), dtype)


def _moved(node: Node, index: int, zero: int, axis: int) -> Any:
    """Return whole numbers without their zero point: one, or one for each line of an axis."""
    f = node.f
    x = f.cast(node[index], "float64")
    if not node.has(zero):
        return x
    return x - _in_line(node, f.cast(node[zero], "float64"), len(x.shape), axis)


def _in_line(node: Node, value: Any, rank: int, axis: int) -> Any:
    if len(value.shape) != 1 or value.shape[0] == 1:
        return value if len(value.shape) > 1 else node.f.reshape(value, ())
    extents = [1] * rank
    extents[axis] = -1
    return node.f.reshape(value, tuple(extents))


@imports("MatMulInteger")
def _matmul_integer(node: Node) -> Any:
    x, y = _moved(node, 0, 2, -2), _moved(node, 1, 3, -1)
    return node.f.cast(product_of_integers(node.f, x, y), "int32")


@imports("QLinearMatMul")
def _qlinear_matmul(node: Node) -> Any:
    f = node.f
    x, y = _moved(node, 0, 2, -2), _moved(node, 3, 5, -1)
    rank = max(len(x.shape), len(y.shape))
    scales = [
        _in_line(node, f.cast(node[index], "float64"), rank, axis)
        for index, axis in ((1, -2), (4, -1), (6, -2))
    ]
    product = product_of_integers(f, x, y) * (scales[0] * scales[1] / scales[2])
    zero = _in_line(node, node[7], rank, -2)
    return _rounded(node, product, zero, dtype_of(node.values[7]))


@imports("ConvInteger")
def _conv_integer(node: Node) -> Any:
    x, weight = _moved(node, 0, 2, 1), _moved(node, 1, 3, 0)
    return node.f.cast(rounded(node.f, convolved(node, x, weight)), "int32")


@imports("QLinearConv")
def _qlinear_conv(node: Node) -> Any:
    f = node.f
    x, weight = _moved(node, 0, 2, 1), _moved(node, 3, 5, 0)
    found = convolved(node, x, weight)
    rank = len(x.shape)
    if node.has(8):
        found = found + _in_line(node, f.cast(node[8], "float64"), rank, 1)
    scales = [_in_line(node, f.cast(node[index], "float64"), rank, 1) for index in (1, 4, 6)]
    scaled = found * (scales[0] * scales[1] / scales[2])
    return _rounded(node, scaled, node[7], dtype_of(node.values[7]))

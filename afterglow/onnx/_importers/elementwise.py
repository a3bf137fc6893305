# SPDX-License-Identifier: Apache-2.0
"""Ops that compute each element by itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as onp

from .graph import Node
from .registry import imports
from .values import dtype_of, is_float, rounded


def _same(node: Node, value: Any) -> Any:
    """Return a result in the type of the first input."""
    return node.f.cast(value, dtype_of(node[0]))


def _row(op: str, name: str) -> None:
    @imports(op)
    def compute(node: Node) -> Any:
        return _same(node, getattr(node.f, name)(node[0]))


#: ONNX's name: the function of one input, whose result has its type.
for _op, _name in {
    "Abs": "abs",
    "Acos": "arccos",
    "Acosh": "arccosh",
    "Asin": "arcsin",
    "Asinh": "arcsinh",
    "Atan": "arctan",
    "Atanh": "arctanh",
    "BitwiseNot": "invert",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "Log": "log",
    "Neg": "negative",
    "Not": "logical_not",
    "Reciprocal": "reciprocal",
    "Relu": "relu",
    "Sigmoid": "sigmoid",
    "Sign": "sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Sqrt": "sqrt",
    "Tan": "tan",
    "Tanh": "tanh",
}.items():
    _row(_op, _name)


def _formula(op: str, formula: Callable[[Any, Any, Node], Any]) -> None:
    @imports(op)
    def compute(node: Node) -> Any:
        return _same(node, formula(node.f, node[0], node))


def _elu(f: Any, x: Any, alpha: float) -> Any:
    return f.where(x > 0, x, alpha * f.expm1(f.minimum(x, 0)))


def _softplus(f: Any, x: Any) -> Any:
    return f.maximum(x, 0) + f.log1p(f.exp(-f.abs(x)))


def _gelu(f: Any, x: Any, approximate: str) -> Any:
    if approximate == "tanh":
        return 0.5 * x * (1 + f.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + f.erf(x * math.sqrt(0.5)))


def _hard_sigmoid(f: Any, x: Any, alpha: float, beta: float) -> Any:
    return f.clip(alpha * x + beta, 0, 1)


def _selu(f: Any, x: Any, alpha: float, gamma: float) -> Any:
    return gamma * _elu(f, x, alpha)


#: ONNX's name: a formula of the functions, the input and the node with its attributes.
for _op, _rule in {
    "Celu": lambda f, x, n: (
        f.maximum(x, 0) + n.get("alpha", 1.0) * f.expm1(f.minimum(x, 0) / n.get("alpha", 1.0))
    ),
    "Elu": lambda f, x, n: _elu(f, x, n.get("alpha", 1.0)),
    "Gelu": lambda f, x, n: _gelu(f, x, n.get("approximate", "none")),
    "HardSigmoid": lambda f, x, n: _hard_sigmoid(f, x, n.get("alpha", 0.2), n.get("beta", 0.5)),
    "HardSwish": lambda f, x, n: x * _hard_sigmoid(f, x, 1 / 6, 0.5),
    "LeakyRelu": lambda f, x, n: f.where(x > 0, x, n.get("alpha", 0.01) * x),
    "Mish": lambda f, x, n: x * f.tanh(_softplus(f, x)),
    "Selu": lambda f, x, n: _selu(
        f, x, n.get("alpha", 1.6732632423543772), n.get("gamma", 1.0507009873554805)
    ),
    "Shrink": lambda f, x, n: f.where(
        x < -n.get("lambd", 0.5),
        x + n.get("bias", 0.0),
        f.where(x > n.get("lambd", 0.5), x - n.get("bias", 0.0), 0 * x),
    ),
    "Softplus": lambda f, x, n: _softplus(f, x),
    "Softsign": lambda f, x, n: x / (1 + f.abs(x)),
    "Swish": lambda f, x, n: x * f.sigmoid(n.get("alpha", 1.0) * x),
    "ThresholdedRelu": lambda f, x, n: f.where(x > n.get("alpha", 1.0), x, 0 * x),
}.items():
    _formula(_op, _rule)


#: ONNX's name: the function of two inputs, which are stretched.
_TWO = {
    "And": "logical_and",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Equal": "equal",
    "Greater": "greater",
    "GreaterOrEqual": "greater_equal",
    "Less": "less",
    "LessOrEqual": "less_equal",
    "Or": "logical_or",
    "Xor": "logical_xor",
}


def _two(op: str, name: str) -> None:
    @imports(op)
    def compute(node: Node) -> Any:
        return getattr(node.f, name)(node[0], node[1])


for _op, _name in _TWO.items():
    _two(_op, _name)


def _arithmetic(op: str, name: str) -> None:
    @imports(op)
    def compute(node: Node) -> Any:
        return _same(node, getattr(node.f, name)(node[0], node[1]))


for _op, _name in {"Add": "add", "Mul": "multiply", "Sub": "subtract"}.items():
    _arithmetic(_op, _name)


def _many(op: str, name: str) -> None:
    @imports(op)
    def compute(node: Node) -> Any:
        values = [node[index] for index in range(len(node))]
        total = reduce(getattr(node.f, name), values)
        return _same(node, total / len(node) if op == "Mean" else total)


for _op, _name in {"Max": "maximum", "Mean": "add", "Min": "minimum", "Sum": "add"}.items():
    _many(_op, _name)


@imports("Div")
def _div(node: Node) -> Any:
    """Divide; whole numbers towards zero."""
    x, y = node[0], node[1]
    if is_float(x):
        return _same(node, node.f.divide(x, y))
    if node.f.is_host:
        quotient = onp.abs(x) // onp.abs(y)
        return _same(node, onp.where((x < 0) != (y < 0), 0 - quotient, quotient))
    return _same(node, node.f.trunc(node.f.cast(x, "float64") / node.f.cast(y, "float64")))


@imports("Mod")
def _mod(node: Node) -> Any:
    """What is left after a division, with the sign of the divisor, or (fmod) of the dividend."""
    x, y = node[0], node[1]
    rest = node.f.mod(x, y)
    if is_float(x):  # MXNet has 0 there
        rest = node.f.where(y == 0, math.nan, rest)
    if node.get("fmod", 0):
        differs = node.f.logical_and(rest != 0, node.f.not_equal(x < 0, y < 0))
        rest = node.f.where(differs, rest - y, rest)
    return _same(node, rest)


@imports("Pow")
def _pow(node: Node) -> Any:
    x, y = node[0], node[1]
    if is_float(y) and not is_float(x):
        x = node.f.cast(x, dtype_of(y))
    elif dtype_of(y) != dtype_of(x):
        y = node.f.cast(y, dtype_of(x))
    return _same(node, node.f.power(x, y))


@imports("BitShift", on_host=True)
def _bit_shift(node: Node) -> Any:
    shift = onp.left_shift if node.get("direction") == "LEFT" else onp.right_shift
    return shift(node[0], node[1])


@imports("PRelu")
def _prelu(node: Node) -> Any:
    return _same(node, node.f.where(node[0] > 0, node[0], node[1] * node[0]))


@imports("Clip")
def _clip(node: Node) -> Any:
    """Limits are inputs since version 11."""
    x = node[0]
    low = node[1] if node.has(1) else node.get("min")
    high = node[2] if node.has(2) else node.get("max")
    if low is not None:
        x = node.f.maximum(x, low)
    if high is not None:
        x = node.f.minimum(x, high)
    return _same(node, x)


@imports("IsNaN")
def _is_nan(node: Node) -> Any:
    return node.f.isnan(node[0])


@imports("IsInf")
def _is_inf(node: Node) -> Any:
    found = node.f.isinf(node[0])
    if not node.get("detect_negative", 1):
        found = node.f.logical_and(found, node[0] > 0)
    if not node.get("detect_positive", 1):
        found = node.f.logical_and(found, node[0] < 0)
    return found


@imports("Round")
def _round(node: Node) -> Any:
    return rounded(node.f, node[0])


@imports("Where")
def _where(node: Node) -> Any:
    return node.f.where(node[0], node[1], node[2])


@imports("Identity")
def _identity(node: Node) -> Any:
    return node.values[0]

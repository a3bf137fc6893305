# SPDX-License-Identifier: Apache-2.0
"""Ops that work on elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as onp

from .._graph import Call
from .registry import Function, converts

# --- one operand ---


def _function(target: str) -> Function:
    return lambda call: call.add(target, call.inputs[0])


for _op, _target in {
    "abs": "Abs",
    "arccos": "Acos",
    "arccosh": "Acosh",
    "arcsin": "Asin",
    "arcsinh": "Asinh",
    "arctan": "Atan",
    "arctanh": "Atanh",
    "ceil": "Ceil",
    "cos": "Cos",
    "cosh": "Cosh",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "log": "Log",
    "negative": "Neg",
    "reciprocal": "Reciprocal",
    "relu": "Relu",
    "sigmoid": "Sigmoid",
    "sign": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "softsign": "Softsign",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
}.items():
    converts(_op)(_function(_target))


def _times(factor: float, of: str = "Identity") -> Function:
    """Return the converter of a multiple of the elements, or of a function of them."""

    def convert(call: Call) -> Any:
        data = call.inputs[0] if of == "Identity" else call.add(of, call.inputs[0])
        return call.add("Mul", data, call.constant(factor))

    return convert


converts("log2")(_times(1 / math.log(2), "Log"))
converts("log10")(_times(1 / math.log(10), "Log"))
converts("degrees")(_times(180 / math.pi))
converts("radians")(_times(math.pi / 180))


@converts("square")
def _square(call: Call) -> Any:
    return call.add("Mul", call.inputs[0], call.inputs[0])


@converts("rsqrt")
def _rsqrt(call: Call) -> Any:
    return call.add("Reciprocal", call.add("Sqrt", call.inputs[0]))


def _signed(call: Call, size: str) -> Any:
    return call.add("Mul", call.add("Sign", call.inputs[0]), size)


@converts("cbrt")
def _cbrt(call: Call) -> Any:
    return _signed(call, call.add("Pow", call.add("Abs", call.inputs[0]), call.constant(1 / 3)))


@converts("trunc")
def _trunc(call: Call) -> Any:
    return _signed(call, call.add("Floor", call.add("Abs", call.inputs[0])))


@converts("log1p")
def _log1p(call: Call) -> Any:
    return call.add("Log", call.add("Add", call.inputs[0], call.constant(1)))


@converts("expm1")
def _expm1(call: Call) -> Any:
    return call.add("Sub", call.add("Exp", call.inputs[0]), call.constant(1))


@converts("logical_not")
def _logical_not(call: Call) -> Any:
    return _truth(call, call.add("Not", call.cast(call.inputs[0], "bool")))


@converts("hard_sigmoid")
def _hard_sigmoid(call: Call) -> Any:
    return call.add(
        "HardSigmoid", call.inputs[0], alpha=call.get("alpha", 0.2), beta=call.get("beta", 0.5)
    )


@converts("clip")
def _clip(call: Call) -> Any:
    bounds = [call.get("a_min"), call.get("a_max")]
    return call.add(
        "Clip", call.inputs[0], *("" if one is None else call.constant(one) for one in bounds)
    )


@converts("smooth_l1")
def _smooth_l1(call: Call) -> Any:
    """Half the square where it is small, else the distance."""
    square = float(call.get("scalar", 1.0)) ** 2
    size = call.add("Abs", call.inputs[0])
    inner = call.add("Mul", call.add("Mul", size, size), call.constant(0.5 * square))
    outer = call.add("Sub", size, call.constant(0.5 / square))
    small = call.add("Less", size, call.constant(1 / square))
    return call.add("Where", small, inner, outer)


# --- two operands, the second of which may be a number ---


def _operands(call: Call) -> list[str]:
    """Return both operands in one type; a number is a constant."""
    wanted = onp.dtype(call.output_types[0])
    if wanted == "bool":  # of a comparison in np: the operands keep their own type
        wanted = onp.result_type(*call.types)
    names = [
        name if onp.dtype(kind) == wanted else call.cast(name, wanted)
        for name, kind in zip(call.inputs, call.types, strict=True)
    ]
    if len(names) == 1:
        names.append(call.constant(call.get("scalar", 1), wanted))
    return names[::-1] if call.is_swapped else names


def _truth(call: Call, value: str) -> str:
    """Return truth values as numbers, where the op gives numbers."""
    kind = onp.dtype(call.output_types[0])
    return value if kind == "bool" else call.cast(value, kind)


def _arithmetic(target: str) -> Function:
    return lambda call: call.add(target, *_operands(call))


def _comparison(target: str) -> Function:
    return lambda call: _truth(call, call.add(target, *_operands(call)))


def _logic(target: str) -> Function:
    return lambda call: _truth(
        call, call.add(target, *(call.cast(name, "bool") for name in _operands(call)))
    )


for _op, _target in {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "power": "Pow",
    "maximum": "Max",
    "minimum": "Min",
}.items():
    converts(_op)(_arithmetic(_target))

converts("_grad_add")(_arithmetic("Add"))

for _op, _target in {
    "equal": "Equal",
    "greater": "Greater",
    "less": "Less",
    "greater_equal": "GreaterOrEqual",
    "less_equal": "LessOrEqual",
}.items():
    converts(_op)(_comparison(_target))

for _op, _target in {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}.items():
    converts(_op)(_logic(_target))


@converts("not_equal")
def _not_equal(call: Call) -> Any:
    return _truth(call, call.add("Not", call.add("Equal", *_operands(call))))


@converts("modulo")
def _modulo(call: Call) -> Any:
    """Return the remainder with the sign of the divisor; of floats ONNX has only the other one."""
    left, right = _operands(call)
    if onp.dtype(call.output_types[0]).kind != "f":
        return call.add("Mod", left, right)
    times = call.add("Floor", call.add("Div", left, right))
    return call.add("Sub", left, call.add("Mul", times, right))


@converts("hypot")
def _hypot(call: Call) -> Any:
    squares = [call.add("Mul", name, name) for name in _operands(call)]
    return call.add("Sqrt", call.add("Add", *squares))


# --- more operands ---


@converts("add_n")
def _add_n(call: Call) -> Any:
    return call.add("Sum", *call.inputs)


@converts("where")
def _where(call: Call) -> Any:
    return call.add("Where", call.cast(call.inputs[0], "bool"), *call.inputs[1:])


def _where_with_number(is_first: bool) -> Function:
    def convert(call: Call) -> Any:
        values = [call.inputs[1], call.constant(call.get("scalar", 0), call.output_types[0])]
        truth = call.cast(call.inputs[0], "bool")
        return call.add("Where", truth, *(values[::-1] if is_first else values))

    return convert


converts("_npi_where_lscalar")(_where_with_number(True))
converts("_npi_where_rscalar")(_where_with_number(False))

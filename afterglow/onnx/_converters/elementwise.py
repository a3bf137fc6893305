# SPDX-License-Identifier: Apache-2.0
"""Ops that work on elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as onp

from .._graph import Call
from .registry import Function, convert_each, converts

# --- one operand ---


def function(target: str) -> Function:
    """Return the converter of an op that ONNX has by another name."""
    return lambda call: call.add(target, call.inputs[0])


_SAME = "abs ceil cos cosh erf exp floor log reciprocal relu sigmoid sign sin sinh softsign sqrt"
_INVERSE = "cos cosh sin sinh tan tanh"
convert_each({op: function(op.capitalize()) for op in f"{_SAME} tan tanh".split()})
convert_each({f"arc{op}": function(f"A{op}") for op in _INVERSE.split()})


def _times(factor: float) -> Function:
    return lambda call: call.add("Mul", call.inputs[0], call.constant(factor))


def _logarithm(base: float) -> Function:
    factor = 1 / math.log(base)
    return lambda call: call.add("Mul", call.add("Log", call.inputs[0]), call.constant(factor))


def _signed(call: Call, size: str) -> Any:
    return call.add("Mul", call.add("Sign", call.inputs[0]), size)


convert_each(
    {
        "negative": function("Neg"),
        "log2": _logarithm(2),
        "log10": _logarithm(10),
        "degrees": _times(180 / math.pi),
        "radians": _times(math.pi / 180),
        "square": lambda call: call.add("Mul", call.inputs[0], call.inputs[0]),
        "rsqrt": lambda call: call.add("Reciprocal", call.add("Sqrt", call.inputs[0])),
        "cbrt": lambda call: _signed(
            call, call.add("Pow", call.add("Abs", call.inputs[0]), call.constant(1 / 3))
        ),
        "trunc": lambda call: _signed(call, call.add("Floor", call.add("Abs", call.inputs[0]))),
        "log1p": lambda call: call.add("Log", call.add("Add", call.inputs[0], call.constant(1))),
        "expm1": lambda call: call.add("Sub", call.add("Exp", call.inputs[0]), call.constant(1)),
        "hard_sigmoid": lambda call: call.add(
            "HardSigmoid", call.inputs[0], alpha=call.get("alpha", 0.2), beta=call.get("beta", 0.5)
        ),
        "logical_not": lambda call: _truth(
            call, call.add("Not", call.cast(call.inputs[0], "bool"))
        ),
    }
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


convert_each(
    {
        "add": _arithmetic("Add"),
        "_grad_add": _arithmetic("Add"),
        "subtract": _arithmetic("Sub"),
        "multiply": _arithmetic("Mul"),
        "divide": _arithmetic("Div"),
        "power": _arithmetic("Pow"),
        "maximum": _arithmetic("Max"),
        "minimum": _arithmetic("Min"),
        "equal": _comparison("Equal"),
        "greater": _comparison("Greater"),
        "less": _comparison("Less"),
        "greater_equal": _comparison("GreaterOrEqual"),
        "less_equal": _comparison("LessOrEqual"),
        "not_equal": lambda call: _truth(
            call, call.add("Not", call.add("Equal", *_operands(call)))
        ),
        "logical_and": _logic("And"),
        "logical_or": _logic("Or"),
        "logical_xor": _logic("Xor"),
    }
)


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


converts("add_n")(lambda call: call.add("Sum", *call.inputs))


@converts("where", "_npi_where_lscalar", "_npi_where_rscalar")
def _where(call: Call) -> Any:
    condition, *values = call.inputs
    if len(values) == 1:
        values.append(call.constant(call.get("scalar", 0), call.output_types[0]))
    if call.op == "_npi_where_lscalar":
        values.reverse()
    return call.add("Where", call.cast(condition, "bool"), *values)

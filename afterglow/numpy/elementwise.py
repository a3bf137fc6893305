# SPDX-License-Identifier: Apache-2.0
"""Functions of each element by itself: spellings of the elementwise ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp

from .._core import Array, Operation, operation

__all__ = [
    "abs",
    "absolute",
    "add",
    "divide",
    "equal",
    "exp",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "log",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "negative",
    "not_equal",
    "power",
    "remainder",
    "sqrt",
    "subtract",
    "tanh",
    "true_divide",
]

_abs = operation("abs", False)
_negative = operation("negative", False)
_exp = operation("exp", False)
_log = operation("log", False)
_sqrt = operation("sqrt", False)
_tanh = operation("tanh", False)
_add = operation("add", False)
_subtract = operation("subtract", False)
_multiply = operation("multiply", False)
_divide = operation("divide", False)
_modulo = operation("modulo", False)
_power = operation("power", False)
_maximum = operation("maximum", False)
_minimum = operation("minimum", False)
_equal = operation("equal", False)
_not_equal = operation("not_equal", False)
_less = operation("less", False)
_less_equal = operation("less_equal", False)
_greater = operation("greater", False)
_greater_equal = operation("greater_equal", False)


def _call(call: Operation, host: Callable[..., Any], operands: tuple[Any, ...], out: Any) -> Any:
    """Call an op; operands without any array among them are worked out by NumPy."""
    if any(isinstance(operand, (Array, onp.ndarray)) for operand in operands):
        return call(*operands, out=out)
    for operand in operands:
        if not isinstance(operand, (int, float, onp.generic)):
            raise TypeError(f"type {type(operand)} not supported")
    return host(*operands)


# --- one operand ---


def abs(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the absolute values."""
    return _call(_abs, onp.absolute, (x,), out)


absolute = abs


def negative(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the values with their signs turned."""
    return _call(_negative, onp.negative, (x,), out)


def exp(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return e to the power of each element."""
    return _call(_exp, onp.exp, (x,), out)


def log(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the natural logarithms."""
    return _call(_log, onp.log, (x,), out)


def sqrt(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the square roots."""
    return _call(_sqrt, onp.sqrt, (x,), out)


def tanh(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the hyperbolic tangents."""
    return _call(_tanh, onp.tanh, (x,), out)


# --- two operands ---


def add(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the sums, broadcast."""
    return _call(_add, onp.add, (x1, x2), out)


def subtract(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the differences, broadcast."""
    return _call(_subtract, onp.subtract, (x1, x2), out)


def multiply(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the products, broadcast."""
    return _call(_multiply, onp.multiply, (x1, x2), out)


def divide(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the quotients, broadcast; integers give float32."""
    return _call(_divide, onp.divide, (x1, x2), out)


true_divide = divide


def mod(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the remainders with the sign of the divisor, broadcast."""
    return _call(_modulo, onp.mod, (x1, x2), out)


remainder = mod


def power(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return powers, broadcast."""
    return _call(_power, onp.power, (x1, x2), out)


def maximum(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the greater of each pair, broadcast; nan wins."""
    return _call(_maximum, onp.maximum, (x1, x2), out)


def minimum(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the smaller of each pair, broadcast; nan wins."""
    return _call(_minimum, onp.minimum, (x1, x2), out)


def equal(x1: Any, x2: Any, out: Any = None) -> Any:
    """Return where the operands are equal."""
    return _call(_equal, onp.equal, (x1, x2), out)


def not_equal(x1: Any, x2: Any, out: Any = None) -> Any:
    """Return where the operands differ."""
    return _call(_not_equal, onp.not_equal, (x1, x2), out)


def less(x1: Any, x2: Any, out: Any = None) -> Any:
    """Return where the first operand is smaller."""
    return _call(_less, onp.less, (x1, x2), out)


def less_equal(x1: Any, x2: Any, out: Any = None) -> Any:
    """Return where the first operand is not greater."""
    return _call(_less_equal, onp.less_equal, (x1, x2), out)


def greater(x1: Any, x2: Any, out: Any = None) -> Any:
    """Return where the first operand is greater."""
    return _call(_greater, onp.greater, (x1, x2), out)


def greater_equal(x1: Any, x2: Any, out: Any = None) -> Any:
    """Return where the first operand is not smaller."""
    return _call(_greater_equal, onp.greater_equal, (x1, x2), out)

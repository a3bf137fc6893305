# SPDX-License-Identifier: Apache-2.0
"""Functions of each element by itself: spellings of the elementwise ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp

from .._core import Array, Operation, operation
from ..error import ArrayTypeError
from ..ndarray._arguments import bound, mask
from ._arguments import need
from .indexing import nonzero

__all__ = [
    "abs",
    "absolute",
    "add",
    "clip",
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
    "square",
    "subtract",
    "tanh",
    "true_divide",
    "where",
]

_abs = operation("abs", False)
_negative = operation("negative", False)
_exp = operation("exp", False)
_log = operation("log", False)
_sqrt = operation("sqrt", False)
_square = operation("square", False)
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
_where = operation("where", False)
_clip = operation("clip", False)


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


def square(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the elements multiplied by themselves."""
    return _call(_square, onp.square, (x,), out)


def tanh(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the hyperbolic tangents."""
    return _call(_tanh, onp.tanh, (x,), out)


def clip(a: Any, a_min: Any, a_max: Any, out: Any = None) -> Any:
    """Return the elements, but ``a_min`` for smaller and ``a_max`` for greater ones; nan stays.

    One of the bounds may be ``None``.
    """
    if isinstance(a, (int, float, onp.generic)):
        return onp.clip(a, a_min, a_max)
    return _clip(need(a, "data"), bound(a_min, "a_min"), bound(a_max, "a_max"), out=out)


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


# --- a choice ---


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return the elements of ``x`` where the condition is not 0, else those of ``y``, broadcast.

    A condition that is a number returns ``x`` or ``y`` as they are; one that is alone is asked for
    its :func:`nonzero`.
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ArrayTypeError("[where] needs both x and y")
    if isinstance(condition, (int, float, onp.generic)):
        return x if condition != 0 else y
    condition = need(condition, "condition")
    return _where(mask(_not_equal, condition, x, y), x, y)

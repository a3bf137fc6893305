# SPDX-License-Identifier: Apache-2.0
"""Functions of each element by itself: spellings of the elementwise ops."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._core import Array, Operation, operation
from .._dtype import dtype_number
from ._arguments import bound, mask, need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "Cast",
    "abs",
    "add",
    "cast",
    "clip",
    "divide",
    "equal",
    "exp",
    "greater",
    "greater_equal",
    "lesser",
    "lesser_equal",
    "log",
    "maximum",
    "minimum",
    "modulo",
    "multiply",
    "negative",
    "not_equal",
    "power",
    "relu",
    "sigmoid",
    "sqrt",
    "square",
    "subtract",
    "tanh",
    "true_divide",
    "where",
]

_copy = operation("copy", True)
_abs = operation("abs", True)
_negative = operation("negative", True)
_exp = operation("exp", True)
_log = operation("log", True)
_sqrt = operation("sqrt", True)
_square = operation("square", True)
_tanh = operation("tanh", True)
_sigmoid = operation("sigmoid", True)
_relu = operation("relu", True)
_add = operation("add", True)
_subtract = operation("subtract", True)
_multiply = operation("multiply", True)
_divide = operation("divide", True)
_modulo = operation("modulo", True)
_power = operation("power", True)
_maximum = operation("maximum", True)
_minimum = operation("minimum", True)
_equal = operation("equal", True)
_not_equal = operation("not_equal", True)
_less = operation("less", True)
_less_equal = operation("less_equal", True)
_greater = operation("greater", True)
_greater_equal = operation("greater_equal", True)
_where = operation("where", True)
_clip = operation("clip", True)

# --- one array ---


def _unary(call: Operation, data: NDArray, out: NDArray | None) -> NDArray:
    result: NDArray = call(need(data), out=out)
    return result


def abs(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the absolute values."""
    return _unary(_abs, data, out)


def negative(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the values with their signs turned."""
    return _unary(_negative, data, out)


def exp(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return e to the power of each element."""
    return _unary(_exp, data, out)


def log(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the natural logarithms."""
    return _unary(_log, data, out)


def sqrt(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the square roots."""
    return _unary(_sqrt, data, out)


def square(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the elements multiplied by themselves."""
    return _unary(_square, data, out)


def tanh(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the hyperbolic tangents."""
    return _unary(_tanh, data, out)


def sigmoid(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return 1 / (1 + exp(-x))."""
    return _unary(_sigmoid, data, out)


def relu(data: NDArray, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the elements with negative ones replaced by 0."""
    return _unary(_relu, data, out)


def clip(
    data: NDArray, a_min: Any, a_max: Any, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the elements, but ``a_min`` for smaller and ``a_max`` for greater ones; nan stays."""
    result: NDArray = _clip(need(data), bound(a_min, "a_min"), bound(a_max, "a_max"), out=out)
    return result


def cast(data: NDArray, dtype: Any, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the values in another type."""
    result: NDArray = _copy(need(data), dtype=dtype_number(dtype), out=out)
    return result


Cast = cast


def where(
    condition: NDArray,
    x: NDArray,
    y: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the elements of ``x`` where the condition is not 0, else those of ``y``.

    A condition with one dimension chooses between the rows of ``x`` and ``y``.
    """
    need(condition, "condition")
    need(x, "x")
    need(y, "y")
    result: NDArray = _where(mask(_not_equal, condition, x, y), x, y, out=out)
    return result


# --- two operands, arrays or numbers ---


def _binary(call: Operation, host: Callable[[Any, Any], Any], lhs: Any, rhs: Any) -> Any:
    """Call an op; two numbers are worked out by Python, as MXNet does."""
    if isinstance(lhs, Array) or isinstance(rhs, Array):
        return call(lhs, rhs)
    if not isinstance(lhs, (int, float)) or not isinstance(rhs, (int, float)):
        raise TypeError(f"types ({type(lhs)}, {type(rhs)}) not supported")
    return host(lhs, rhs)


def add(lhs: Any, rhs: Any) -> Any:
    """Return the sums, broadcast."""
    return _binary(_add, operator.add, lhs, rhs)


def subtract(lhs: Any, rhs: Any) -> Any:
    """Return the differences, broadcast."""
    return _binary(_subtract, operator.sub, lhs, rhs)


def multiply(lhs: Any, rhs: Any) -> Any:
    """Return the products, broadcast."""
    return _binary(_multiply, operator.mul, lhs, rhs)


def divide(lhs: Any, rhs: Any) -> Any:
    """Return the quotients, broadcast; integers stay integers."""
    return _binary(_divide, operator.truediv, lhs, rhs)


true_divide = divide


def modulo(lhs: Any, rhs: Any) -> Any:
    """Return the remainders with the sign of the divisor, broadcast."""
    return _binary(_modulo, operator.mod, lhs, rhs)


def power(base: Any, exp: Any) -> Any:
    """Return base to the power of exp, broadcast."""
    return _binary(_power, operator.pow, base, exp)


def maximum(lhs: Any, rhs: Any) -> Any:
    """Return the greater of each pair, broadcast; nan wins."""
    return _binary(_maximum, builtins.max, lhs, rhs)


def minimum(lhs: Any, rhs: Any) -> Any:
    """Return the smaller of each pair, broadcast; nan wins."""
    return _binary(_minimum, builtins.min, lhs, rhs)


def equal(lhs: Any, rhs: Any) -> Any:
    """Return 1 where the operands are equal, else 0."""
    return _binary(_equal, lambda x, y: 1 if x == y else 0, lhs, rhs)


def not_equal(lhs: Any, rhs: Any) -> Any:
    """Return 1 where the operands differ, else 0."""
    return _binary(_not_equal, lambda x, y: 1 if x != y else 0, lhs, rhs)


def lesser(lhs: Any, rhs: Any) -> Any:
    """Return 1 where the left operand is smaller, else 0."""
    return _binary(_less, lambda x, y: 1 if x < y else 0, lhs, rhs)


def lesser_equal(lhs: Any, rhs: Any) -> Any:
    """Return 1 where the left operand is not greater, else 0."""
    return _binary(_less_equal, lambda x, y: 1 if x <= y else 0, lhs, rhs)


def greater(lhs: Any, rhs: Any) -> Any:
    """Return 1 where the left operand is greater, else 0."""
    return _binary(_greater, lambda x, y: 1 if x > y else 0, lhs, rhs)


def greater_equal(lhs: Any, rhs: Any) -> Any:
    """Return 1 where the left operand is not smaller, else 0."""
    return _binary(_greater_equal, lambda x, y: 1 if x >= y else 0, lhs, rhs)

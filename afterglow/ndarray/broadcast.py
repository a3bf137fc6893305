# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops of two arrays under the names of MXNet's operators, with ``out=``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core import Operation
from ..error import ArrayValueError
from ._arguments import need
from .elementwise import (
    _add,
    _divide,
    _equal,
    _greater,
    _greater_equal,
    _less,
    _less_equal,
    _maximum,
    _minimum,
    _modulo,
    _multiply,
    _not_equal,
    _power,
    _subtract,
)

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "broadcast_add",
    "broadcast_div",
    "broadcast_equal",
    "broadcast_greater",
    "broadcast_greater_equal",
    "broadcast_lesser",
    "broadcast_lesser_equal",
    "broadcast_maximum",
    "broadcast_minimum",
    "broadcast_minus",
    "broadcast_mod",
    "broadcast_mul",
    "broadcast_not_equal",
    "broadcast_plus",
    "broadcast_power",
    "broadcast_sub",
    "elemwise_add",
    "elemwise_div",
    "elemwise_mul",
    "elemwise_sub",
]


def _arrays(call: Operation, lhs: NDArray, rhs: NDArray, out: NDArray | None) -> NDArray:
    result: NDArray = call(need(lhs, "lhs"), need(rhs, "rhs"), out=out)
    return result


def broadcast_add(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the sums, broadcast."""
    return _arrays(_add, lhs, rhs, out)


def broadcast_sub(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the differences, broadcast."""
    return _arrays(_subtract, lhs, rhs, out)


def broadcast_mul(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the products, broadcast."""
    return _arrays(_multiply, lhs, rhs, out)


def broadcast_div(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the quotients, broadcast."""
    return _arrays(_divide, lhs, rhs, out)


def broadcast_mod(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the remainders, broadcast."""
    return _arrays(_modulo, lhs, rhs, out)


def broadcast_power(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return powers, broadcast."""
    return _arrays(_power, lhs, rhs, out)


def broadcast_maximum(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the greater of each pair, broadcast."""
    return _arrays(_maximum, lhs, rhs, out)


def broadcast_minimum(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the smaller of each pair, broadcast."""
    return _arrays(_minimum, lhs, rhs, out)


def broadcast_equal(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where the arrays are equal, else 0."""
    return _arrays(_equal, lhs, rhs, out)


def broadcast_not_equal(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where the arrays differ, else 0."""
    return _arrays(_not_equal, lhs, rhs, out)


def broadcast_lesser(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where the left array is smaller, else 0."""
    return _arrays(_less, lhs, rhs, out)


def broadcast_lesser_equal(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where the left array is not greater, else 0."""
    return _arrays(_less_equal, lhs, rhs, out)


def broadcast_greater(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where the left array is greater, else 0."""
    return _arrays(_greater, lhs, rhs, out)


def broadcast_greater_equal(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where the left array is not smaller, else 0."""
    return _arrays(_greater_equal, lhs, rhs, out)


broadcast_plus = broadcast_add
broadcast_minus = broadcast_sub


def _same_shape(call: Operation, lhs: NDArray, rhs: NDArray, out: NDArray | None) -> NDArray:
    if need(lhs, "lhs").shape != need(rhs, "rhs").shape:
        raise ArrayValueError(
            f"[elemwise_{call.name}] the shapes {lhs.shape} and {rhs.shape} must be equal; "
            f"broadcast_{call.name} stretches them"
        )
    return _arrays(call, lhs, rhs, out)


def elemwise_add(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the sums of two arrays of one shape."""
    return _same_shape(_add, lhs, rhs, out)


def elemwise_sub(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the differences of two arrays of one shape."""
    return _same_shape(_subtract, lhs, rhs, out)


def elemwise_mul(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the products of two arrays of one shape."""
    return _same_shape(_multiply, lhs, rhs, out)


def elemwise_div(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the quotients of two arrays of one shape."""
    return _same_shape(_divide, lhs, rhs, out)

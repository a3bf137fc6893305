# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops of two arrays under the names of MXNet's operators, with ``out=``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core import Operation, operation
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
    _logical_and,
    _logical_or,
    _logical_xor,
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
    "broadcast_hypot",
    "broadcast_lesser",
    "broadcast_lesser_equal",
    "broadcast_logical_and",
    "broadcast_logical_or",
    "broadcast_logical_xor",
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


_hypot = operation("hypot", True)


def _arrays(call: Operation, lhs: NDArray, rhs: NDArray, out: NDArray | None) -> NDArray:
    result: NDArray = call(need(lhs, "lhs"), need(rhs, "rhs"), out=out)
    return result


def broadcast_add(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the sums, broadcast.

    >>> from afterglow import nd
    >>> print(nd.broadcast_add(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[4. 8.]
     [5. 9.]]
    """
    return _arrays(_add, lhs, rhs, out)


def broadcast_sub(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the differences, broadcast.

    >>> from afterglow import nd
    >>> print(nd.broadcast_sub(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[-2.  2.]
     [-3.  1.]]
    """
    return _arrays(_subtract, lhs, rhs, out)


def broadcast_mul(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the products, broadcast.

    >>> from afterglow import nd
    >>> print(nd.broadcast_mul(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[ 3. 15.]
     [ 4. 20.]]
    """
    return _arrays(_multiply, lhs, rhs, out)


def broadcast_div(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the quotients, broadcast.

    >>> from afterglow import nd
    >>> print(nd.broadcast_div(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[0.33333334 1.6666666 ]
     [0.25       1.25      ]]
    """
    return _arrays(_divide, lhs, rhs, out)


def broadcast_mod(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the remainders, broadcast.

    >>> from afterglow import nd
    >>> print(nd.broadcast_mod(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[1. 2.]
     [1. 1.]]
    """
    return _arrays(_modulo, lhs, rhs, out)


def broadcast_power(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return powers, broadcast.

    >>> from afterglow import nd
    >>> print(nd.broadcast_power(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[  1. 125.]
     [  1. 625.]]
    """
    return _arrays(_power, lhs, rhs, out)


def broadcast_maximum(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the greater of each pair, broadcast.

    >>> from afterglow import nd
    >>> print(nd.broadcast_maximum(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[3. 5.]
     [4. 5.]]
    """
    return _arrays(_maximum, lhs, rhs, out)


def broadcast_minimum(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the smaller of each pair, broadcast.

    >>> from afterglow import nd
    >>> print(nd.broadcast_minimum(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[1. 3.]
     [1. 4.]]
    """
    return _arrays(_minimum, lhs, rhs, out)


def broadcast_equal(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where the arrays are equal, else 0.

    >>> from afterglow import nd
    >>> print(nd.broadcast_equal(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[0. 0.]
     [0. 0.]]
    """
    return _arrays(_equal, lhs, rhs, out)


def broadcast_not_equal(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where the arrays differ, else 0.

    >>> from afterglow import nd
    >>> print(nd.broadcast_not_equal(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[1. 1.]
     [1. 1.]]
    """
    return _arrays(_not_equal, lhs, rhs, out)


def broadcast_lesser(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where the left array is smaller, else 0.

    >>> from afterglow import nd
    >>> print(nd.broadcast_lesser(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[1. 0.]
     [1. 0.]]
    """
    return _arrays(_less, lhs, rhs, out)


def broadcast_lesser_equal(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where the left array is not greater, else 0.

    >>> from afterglow import nd
    >>> print(nd.broadcast_lesser_equal(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[1. 0.]
     [1. 0.]]
    """
    return _arrays(_less_equal, lhs, rhs, out)


def broadcast_greater(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where the left array is greater, else 0.

    >>> from afterglow import nd
    >>> print(nd.broadcast_greater(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[0. 1.]
     [0. 1.]]
    """
    return _arrays(_greater, lhs, rhs, out)


def broadcast_greater_equal(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where the left array is not smaller, else 0.

    >>> from afterglow import nd
    >>> print(nd.broadcast_greater_equal(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[0. 1.]
     [0. 1.]]
    """
    return _arrays(_greater_equal, lhs, rhs, out)


def broadcast_hypot(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return sqrt(lhs**2 + rhs**2), broadcast.

    >>> from afterglow import nd
    >>> print(nd.broadcast_hypot(nd.array([1, 5]), nd.array([[3], [4]])).asnumpy())
    [[3.1622777 5.8309517]
     [4.1231055 6.4031243]]
    """
    return _arrays(_hypot, lhs, rhs, out)


def broadcast_logical_and(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where both arrays are not 0, else 0.

    >>> from afterglow import nd
    >>> print(nd.broadcast_logical_and(nd.array([1, 5]), nd.array([0, 2])).asnumpy())
    [0. 1.]
    """
    return _arrays(_logical_and, lhs, rhs, out)


def broadcast_logical_or(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where one of the arrays is not 0, else 0.

    >>> from afterglow import nd
    >>> print(nd.broadcast_logical_or(nd.array([1, 5]), nd.array([0, 2])).asnumpy())
    [1. 1.]
    """
    return _arrays(_logical_or, lhs, rhs, out)


def broadcast_logical_xor(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return 1 where just one of the arrays is not 0, else 0.

    >>> from afterglow import nd
    >>> print(nd.broadcast_logical_xor(nd.array([1, 5]), nd.array([0, 2])).asnumpy())
    [1. 0.]
    """
    return _arrays(_logical_xor, lhs, rhs, out)


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
    """Return the sums of two arrays of one shape.

    >>> from afterglow import nd
    >>> print(nd.elemwise_add(nd.array([1, 5]), nd.array([3, 4])).asnumpy())
    [4. 9.]
    """
    return _same_shape(_add, lhs, rhs, out)


def elemwise_sub(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the differences of two arrays of one shape.

    >>> from afterglow import nd
    >>> print(nd.elemwise_sub(nd.array([1, 5]), nd.array([3, 4])).asnumpy())
    [-2.  1.]
    """
    return _same_shape(_subtract, lhs, rhs, out)


def elemwise_mul(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the products of two arrays of one shape.

    >>> from afterglow import nd
    >>> print(nd.elemwise_mul(nd.array([1, 5]), nd.array([3, 4])).asnumpy())
    [ 3. 20.]
    """
    return _same_shape(_multiply, lhs, rhs, out)


def elemwise_div(
    lhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the quotients of two arrays of one shape.

    >>> from afterglow import nd
    >>> print(nd.elemwise_div(nd.array([1, 5]), nd.array([3, 4])).asnumpy())
    [0.33333334 1.25      ]
    """
    return _same_shape(_divide, lhs, rhs, out)

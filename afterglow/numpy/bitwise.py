# SPDX-License-Identifier: Apache-2.0
"""``& | ^ ~`` of integers and masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp

from .._core import Array, Operation, operation
from .._dtype import BOOL, FLOATING, UINT8
from ..error import ArrayTypeError, as_ours
from ._arguments import check_options, need

__all__ = ["bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "invert"]

_and = operation("bitwise_and", False)
_or = operation("bitwise_or", False)
_xor = operation("bitwise_xor", False)
_both = operation("multiply", False)
_either = operation("add", False)
_differ = operation("not_equal", False)
_equal = operation("equal", False)


def bitwise_and(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the bits that both operands have, broadcast.

    >>> from afterglow import np
    >>> np.bitwise_and(np.array([5, 3], dtype="int32"), 6)
    array([4, 2], dtype=int32)
    """
    return _bitwise(_and, _both, onp.bitwise_and, x1, x2, out, kwargs)


def bitwise_or(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the bits that one of the operands has, broadcast.

    >>> from afterglow import np
    >>> np.bitwise_or(np.array([5, 3], dtype="int32"), 6)
    array([7, 7], dtype=int32)
    """
    return _bitwise(_or, _either, onp.bitwise_or, x1, x2, out, kwargs)


def bitwise_xor(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the bits that just one of the operands has, broadcast.

    >>> from afterglow import np
    >>> np.bitwise_xor(np.array([5, 3], dtype="int32"), 6)
    array([3, 5], dtype=int32)
    """
    return _bitwise(_xor, _differ, onp.bitwise_xor, x1, x2, out, kwargs)


def invert(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the bits that the operand does not have.

    >>> from afterglow import np
    >>> np.invert(np.array([0, 5], dtype="int32"))
    array([-1, -6], dtype=int32)
    """
    check_options("invert", kwargs)
    if isinstance(x, (int, float, onp.generic)):
        return onp.invert(x)
    x = need(x, "x")
    if x._dtype_number in FLOATING:
        raise ArrayTypeError("[invert] is for integers and booleans, not for floats")
    if x._dtype_number == BOOL:
        return _equal(x, 0, out=out)
    return _xor(x, 255 if x._dtype_number == UINT8 else -1, out=out)


bitwise_not = invert


def _bitwise(
    bits: Operation,
    masks: Operation,
    host: Callable[[Any, Any], Any],
    left: Any,
    right: Any,
    out: Any,
    options: dict[str, Any],
) -> Any:
    """Call an op; masks have one that needs no conversion, numbers are left to NumPy."""
    check_options(bits.name, options)
    arrays = [one for one in (left, right) if isinstance(one, (Array, onp.ndarray))]
    if not arrays:
        with as_ours(bits.name):
            return host(left, right)
    is_mask = all(isinstance(one, Array) and one._dtype_number == BOOL for one in (left, right))
    return (masks if is_mask else bits)(left, right, out=out)

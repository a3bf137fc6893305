# SPDX-License-Identifier: Apache-2.0
"""``& | ^ ~``. Masks run as ops; the bits of integers are worked out on the host for now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp

from .._core import Array, Operation, operation
from .._dtype import BOOL, FLOATING
from .._host import from_host
from ..error import ArrayTypeError
from ._arguments import need

__all__ = ["bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "invert"]

_both = operation("multiply", False)
_either = operation("add", False)
_differ = operation("not_equal", False)
_equal = operation("equal", False)
_subtract = operation("subtract", False)


def bitwise_and(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the bits that both operands have."""
    return _bitwise(_both, onp.bitwise_and, x1, x2, out)


def bitwise_or(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the bits that one of the operands has."""
    return _bitwise(_either, onp.bitwise_or, x1, x2, out)


def bitwise_xor(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the bits that just one of the operands has."""
    return _bitwise(_differ, onp.bitwise_xor, x1, x2, out)


def invert(x: Any, out: Any = None, **kwargs: Any) -> Any:
    """Return the bits that the operand does not have."""
    need(x, "x")
    _refuse_floats("invert", x)
    if x._dtype_number == BOOL:
        return _equal(x, 0, out=out)
    return _subtract(-1, x, out=out)


bitwise_not = invert


def _bitwise(
    masks: Operation, host: Callable[[Any, Any], Any], left: Any, right: Any, out: Any
) -> Any:
    array = left if isinstance(left, Array) else need(right, "x2")
    _refuse_floats(host.__name__, left, right)
    if all(isinstance(one, Array) and one._dtype_number == BOOL for one in (left, right)):
        return masks(left, right, out=out)
    # Waits for both.
    values = [one.asnumpy() if isinstance(one, Array) else one for one in (left, right)]
    result = from_host(onp.asarray(host(*values)), array._context_numbers, False)
    if out is None:
        return result
    out[...] = result
    return out


def _refuse_floats(name: str, *operands: Any) -> None:
    for one in operands:
        if isinstance(one, float) or (isinstance(one, Array) and one._dtype_number in FLOATING):
            raise ArrayTypeError(f"[{name}] is for integers and booleans, not for floats")

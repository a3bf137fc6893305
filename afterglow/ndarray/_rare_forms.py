# SPDX-License-Identifier: Apache-2.0
"""What the functions of ``nd`` that MXNet wrote by hand do with two numbers: as Python does."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as onp

from .._arrays.dtypes import dtype_number
from .._arrays.shapes import as_shape
from .._arrays.worlds import LEGACY
from ..context import context_numbers
from ..error import ArrayTypeError, as_ours

Function = Callable[[Any, Any], Any]


def _power(base: float, exponent: float) -> Any:
    """Return a power of a number; none of integers that would fill the memory with digits."""
    digits = base.bit_length() * exponent if isinstance(base, int) else 0
    if isinstance(exponent, int) and abs(base) > 1 and digits > 2**16:
        raise OverflowError(f"a power with about {digits} binary digits")
    return base**exponent


def _truth(function: Function) -> Function:
    return lambda x, y: 1 if function(x, y) else 0


#: By the name of the function: its op, and what it does with numbers.
_FUNCTIONS: dict[str, tuple[str, Function]] = {
    "add": ("add", operator.add),
    "subtract": ("subtract", operator.sub),
    "multiply": ("multiply", operator.mul),
    "divide": ("divide", operator.truediv),
    "modulo": ("modulo", operator.mod),
    "power": ("power", _power),
    "maximum": ("maximum", max),
    "minimum": ("minimum", min),
    "equal": ("equal", _truth(operator.eq)),
    "not_equal": ("not_equal", _truth(operator.ne)),
    "lesser": ("less", _truth(operator.lt)),
    "lesser_equal": ("less_equal", _truth(operator.le)),
    "greater": ("greater", _truth(operator.gt)),
    "greater_equal": ("greater_equal", _truth(operator.ge)),
    "logical_and": ("logical_and", _truth(lambda x, y: x and y)),
    "logical_or": ("logical_or", _truth(lambda x, y: x or y)),
    "logical_xor": ("logical_xor", _truth(lambda x, y: bool(x) ^ bool(y))),
}


def _of_numbers(name: str, op: str, host: Function) -> Callable[..., Any]:
    def function(lhs: Any, rhs: Any) -> Any:
        if isinstance(lhs, onp.ndarray) or isinstance(rhs, onp.ndarray):
            return getattr(LEGACY, op)(lhs, rhs)
        if not isinstance(lhs, (int, float)) or not isinstance(rhs, (int, float)):
            raise ArrayTypeError(f"types ({type(lhs)}, {type(rhs)}) not supported")
        with as_ours(name):
            return host(lhs, rhs)

    return function


def _zeros(
    shape: Any, ctx: Any = None, dtype: Any = None, stype: Any = None, out: Any = None, **_: Any
) -> Any:
    """Return zeros in a storage type."""
    if stype in (None, "default"):
        return LEGACY.zeros(
            shape=as_shape(shape), dtype=dtype_number(dtype), ctx=context_numbers(ctx), out=out
        )
    from . import sparse

    return sparse.zeros(stype, shape, ctx, dtype)


def forms() -> dict[str, Callable[..., Any]]:
    """Return the functions by name."""
    return {"zeros": _zeros} | {
        name: _of_numbers(name, op, host) for name, (op, host) in _FUNCTIONS.items()
    }

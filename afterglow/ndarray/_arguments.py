# SPDX-License-Identifier: Apache-2.0
"""Checks that the functions of ``nd`` share; some serve those of ``np`` too."""

from __future__ import annotations

from typing import Any

import numpy as onp

from .._arrays.dtypes import BOOL
from .._arrays.shapes import as_float
from .._core import Array, Operation, is_stand_in
from ..error import ArgumentError, ArrayTypeError


def need(value: Any, name: str = "data") -> Any:
    """Return ``value`` if it is an array, or will be; functions of ``nd`` take nothing else."""
    if not isinstance(value, Array) and not is_stand_in(value):
        raise ArgumentError(f"Argument {name} must have NDArray type, but got {value}")
    return value


def bound(value: Any, name: str) -> Any:
    """Return a bound of ``clip`` as the op takes it; an array without dimensions is waited for."""
    if isinstance(value, Array) and not value.ndim:
        value = value._number()
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return as_float(value, f"[clip] {name}")
    if value is None or isinstance(value, (int, float, onp.generic)):
        return value
    raise ArrayTypeError(f"[clip] {name} must be a number, not {type(value)}")


def mask(not_equal: Operation, condition: Any, *values: Any) -> Any:
    """Return a condition that the op "where" can convert to the type of ``values``.

    "Not zero" must be asked in the condition's own type: 1e-300 is true, but 0 in float32. A
    boolean stays true in any type, and a type is never lost in the common one of it and others.
    """
    kind = condition._dtype_number
    if kind == BOOL or any(isinstance(x, Array) and x._dtype_number == kind for x in values):
        return condition
    return not_equal(condition, 0)

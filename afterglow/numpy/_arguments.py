# SPDX-License-Identifier: Apache-2.0
"""Checks that the functions of ``np`` share."""

from __future__ import annotations

from typing import Any

import numpy as onp

from .._core import Array
from .._host import convert
from ..error import ArgumentError


def need(value: Any, name: str = "a") -> Any:
    """Return ``value`` as an array; NumPy arrays are copied, all else is refused."""
    if isinstance(value, Array):
        return value
    if isinstance(value, onp.ndarray):
        return convert(value, False, None)
    raise ArgumentError(f"Argument {name} must have NDArray type, but got {value}")

# SPDX-License-Identifier: Apache-2.0
"""Checks that the functions of ``nd`` share."""

from __future__ import annotations

from typing import Any

from .._core import Array, is_stand_in
from ..error import ArgumentError


def need(value: Any, name: str = "data") -> Any:
    """Return ``value`` if it is an array, or will be; functions of ``nd`` take nothing else."""
    if not isinstance(value, Array) and not is_stand_in(value):
        raise ArgumentError(f"Argument {name} must have NDArray type, but got {value}")
    return value

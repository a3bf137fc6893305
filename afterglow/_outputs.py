# SPDX-License-Identifier: Apache-2.0
"""Copies whose gradient is another than that of a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._core import is_recording, operation, record_call


def with_gradient(data: Any, value: Any, gradient: Callable[[Any], Any], out: Any = None) -> Any:
    """Return a value, made of detached arrays, whose gradient to ``data`` a function gives."""
    if is_recording():
        (value,) = record_call([data], [value], lambda heads: [gradient(heads[0])])
    return value if out is None else operation("copy", value._legacy)(value, out=out)


def blocked(data: Any, out: Any = None) -> Any:
    """Return a copy that takes no part in gradients."""
    return operation("copy", data._legacy)(data.detach(), out=out)


def straight_through(op: str, data: Any) -> Any:
    """Return what an op gives for each element, with the gradient of a copy."""
    value = operation(op, data._legacy)(data.detach())
    return with_gradient(data, value, lambda head: head)


def scaled_gradient(data: Any, scalar: float) -> Any:
    """Return a copy whose gradient is multiplied."""
    return with_gradient(data, blocked(data), lambda head: head * scalar)

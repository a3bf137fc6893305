# SPDX-License-Identifier: Apache-2.0
"""Functions of single elements that NumPy does not have."""

from __future__ import annotations

from typing import Any

from .._core import operation
from ..numpy import ndarray
from ..numpy._arguments import need

__all__ = ["relu", "sigmoid"]

_relu = operation("relu", False)
_sigmoid = operation("sigmoid", False)


def relu(data: Any, out: ndarray | None = None) -> ndarray:
    """Return the elements with negative ones replaced by 0."""
    result: ndarray = _relu(need(data, "data"), out=out)
    return result


def sigmoid(data: Any, out: ndarray | None = None) -> ndarray:
    """Return 1 / (1 + exp(-x))."""
    result: ndarray = _sigmoid(need(data, "data"), out=out)
    return result

# SPDX-License-Identifier: Apache-2.0
"""Matrix products by NumPy's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import operation
from .._shapes import Shape
from ..error import ArrayNotImplementedError, ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = ["dot", "matmul"]

_dot = operation("dot", False)
_multiply = operation("multiply", False)


def dot(a: Any, b: Any, out: ndarray | None = None) -> ndarray:
    """Return the product over the last axis of ``a`` and the last but one of ``b``."""
    need(a, "a")
    need(b, "b")
    result: ndarray
    if not a.ndim or not b.ndim:
        result = _multiply(a, b, out=out)
        return result
    if b.ndim > 2:
        b = b._permuted(_contracted_first(b.ndim))
    result = _dot(a, b, out=out)
    return result


def _contracted_first(ndim: int) -> Shape:
    return (ndim - 2, *range(ndim - 2), ndim - 1)


def matmul(a: Any, b: Any, out: ndarray | None = None, **kwargs: Any) -> ndarray:
    """Return the matrix product; leading axes of ``a`` are kept, ``b`` has at most two axes."""
    need(a, "a")
    need(b, "b")
    if not a.ndim or not b.ndim:
        raise ArrayValueError("[matmul] needs arrays of at least one dimension; * takes numbers")
    if b.ndim > 2:
        raise ArrayNotImplementedError(
            f"[matmul] takes a second array of at most two dimensions so far, not {b.shape}"
        )
    return dot(a, b, out)

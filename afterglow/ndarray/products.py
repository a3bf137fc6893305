# SPDX-License-Identifier: Apache-2.0
"""Matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core import operation
from ..error import ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = ["dot"]

_dot = operation("dot", True)


def dot(
    lhs: NDArray,
    rhs: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: str | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the product over the last axis of ``lhs`` and the first axis of ``rhs``.

    ``transpose_a`` takes the first axis of ``lhs`` instead, ``transpose_b`` the last of ``rhs``.
    """
    need(lhs, "lhs")
    need(rhs, "rhs")
    if lhs.ndim == rhs.ndim == 1 and (transpose_a or transpose_b):
        raise ArrayValueError("[dot] two vectors cannot be transposed")
    result: NDArray = _dot(lhs, rhs, bool(transpose_a), bool(transpose_b), out=out)
    return result

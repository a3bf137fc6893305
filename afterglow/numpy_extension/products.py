# SPDX-License-Identifier: Apache-2.0
"""Matrix products of stacks."""

from __future__ import annotations

from typing import Any

from .._core import operation
from .._shortcut import shortcut
from ..error import ArrayValueError
from ..numpy import ndarray
from ..numpy._arguments import need

__all__ = ["batch_dot"]

_batch_dot = operation("batch_dot", False)


@shortcut("batch_dot", "stack", "stack", "boolean", "boolean")
def batch_dot(
    lhs: Any,
    rhs: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: str | None = None,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray:
    """Return the matrix products of two stacks: ``lhs[i] x rhs[i]`` for every ``i``.

    >>> from afterglow import np, npx
    >>> npx.batch_dot(np.ones((5, 2, 3)), np.ones((5, 4, 3)), transpose_b=True).shape
    (5, 2, 4)
    """
    lhs, rhs = need(lhs, "lhs"), need(rhs, "rhs")
    if lhs.ndim < 3 or rhs.ndim < 3:
        raise ArrayValueError(
            f"[batch_dot] needs at least three dimensions, not {lhs.shape} and {rhs.shape}"
        )
    result: ndarray = _batch_dot(lhs, rhs, bool(transpose_a), bool(transpose_b), out=out)
    return result

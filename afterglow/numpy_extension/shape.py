# SPDX-License-Identifier: Apache-2.0
"""Shapes by codes and the like, for ``np`` arrays."""

from __future__ import annotations

from typing import Any

from .._core import operation
from .._shapes import as_integers, extended_reshape
from ..numpy import ndarray
from ..numpy._arguments import need

__all__ = ["reshape"]

_copy = operation("copy", False)


def reshape(a: Any, newshape: Any, reverse: bool = False, order: str = "C") -> ndarray:
    """Return a copy in another shape.

    -1 is found from the others, -2 keeps an extent, -3 leaves out a 1, -4 takes the rest, -5 merges
    two and -6 splits one into the two that follow.
    """
    wanted = as_integers(newshape, "newshape")
    view = need(a)._shaped(extended_reshape(a.shape, wanted, reverse))
    result: ndarray = _copy(view)
    return result

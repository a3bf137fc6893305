# SPDX-License-Identifier: Apache-2.0
"""Elements picked by index arrays, for ``np`` arrays."""

from __future__ import annotations

from typing import Any

from ..numpy import argwhere, ndarray

__all__ = ["nonzero"]


def nonzero(a: Any) -> ndarray:
    """Return the indices of all elements that are not 0, a row per element. Waits.

    >>> from afterglow import np, npx
    >>> npx.nonzero(np.array([[3, 0], [0, 4]]))
    array([[0, 0],
           [1, 1]], dtype=int64)
    """
    return argwhere(a)

# SPDX-License-Identifier: Apache-2.0
"""Sorting, for ``np`` arrays."""

from __future__ import annotations

from typing import Any

from .._ordering import Ordering
from ..numpy._arguments import need

__all__ = ["topk"]

_ordering = Ordering(False)


def topk(
    data: Any,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: str = "indices",
    is_ascend: bool = False,
    dtype: Any = "float32",
    out: Any = None,
    name: str | None = None,
) -> Any:
    """Return the ``k`` greatest elements along an axis, or with ``is_ascend`` the smallest.

    ``ret_typ`` says what of them: "indices", "value", "both" as a list, or "mask", which is 1 at
    their places and 0 elsewhere.

    >>> from afterglow import np, npx
    >>> npx.topk(np.array([3, 1, 2]), k=2, dtype="int32")
    array([0, 2], dtype=int32)
    """
    return _ordering.topk(need(data, "data"), axis, k, ret_typ, is_ascend, dtype, out)

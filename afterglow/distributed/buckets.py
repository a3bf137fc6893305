# SPDX-License-Identifier: Apache-2.0
"""Small arrays put together, so that fewer messages travel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._arrays.dtypes import DTYPES

__all__ = ["buckets"]

#: Bytes that travel together: what is larger travels alone, without being copied.
_ROOM = 1 << 20


def buckets(arrays: Sequence[Any]) -> list[list[int]]:
    """Return the numbers of arrays that travel together, of one type each, in order of their last.

    Those that are there first so travel first, and a few large ones do not part the small ones.
    """
    found: list[list[int]] = []
    filling: dict[int, tuple[list[int], int]] = {}  # by type: arrays, and the room that is left
    for number, array in enumerate(arrays):
        dtype = array._dtype_number
        bytes_ = array.size * DTYPES[dtype].itemsize
        if bytes_ > _ROOM:
            found.append([number])
            continue
        bucket, room = filling.pop(dtype, ([], _ROOM))
        if bytes_ > room:
            found.append(bucket)
            bucket, room = [], _ROOM
        filling[dtype] = ([*bucket, number], room - bytes_)
    return found + [bucket for bucket, _ in filling.values()]

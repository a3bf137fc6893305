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
    """Return the numbers of arrays that travel together: neighbours of one type, in order."""
    found: list[list[int]] = []
    room, dtype = 0, None
    for number, array in enumerate(arrays):
        bytes_ = array.size * DTYPES[array._dtype_number].itemsize
        if bytes_ > room or array._dtype_number != dtype:
            found.append([])
            room, dtype = _ROOM, array._dtype_number
        found[-1].append(number)
        room -= bytes_
    return found

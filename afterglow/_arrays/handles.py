# SPDX-License-Identifier: Apache-2.0
"""Handles, which MXNet gives to monitors in the place of arrays.

Programs cast what they are given to a handle, and make an array of that. They are given arrays here
that can be cast, and that are found again as long as the monitor runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..error import ArrayTypeError

_lent: dict[int, Any] = {}


@contextmanager
def lent(array: Any) -> Iterator[None]:
    """Let an array be found by its handle."""
    _lent[id(array)] = array
    try:
        yield
    finally:
        _lent.pop(id(array), None)


def handle_of(array: Any) -> ctypes.c_void_p:
    """Return the handle of an array."""
    return ctypes.c_void_p(id(array))


def array_of(handle: Any) -> Any:
    """Return the array of a handle."""
    found = _lent.get(getattr(handle, "value", None) or 0)
    if found is None:
        raise ArrayTypeError(
            f"NDArray of {handle!r}: it takes the handle of an array that a monitor is looking at; "
            "array() makes arrays"
        )
    return found

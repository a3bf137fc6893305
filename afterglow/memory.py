# SPDX-License-Identifier: Apache-2.0
"""Memory of arrays: figures, a limit, and giving back what is kept for reuse."""

from __future__ import annotations

from math import inf

import numpy as onp

from . import _core
from .error import ArrayTypeError, ArrayValueError

__all__ = ["active", "cached", "limit", "peak", "reset_peak", "set_limit", "trim"]


def active() -> int:
    """Return the bytes in use by arrays and unfinished calls."""
    return _core.statistics()["live_bytes"]


def peak() -> int:
    """Return the most bytes ever in use since the start or :func:`reset_peak`."""
    return _core.statistics()["peak_bytes"]


def cached() -> int:
    """Return the bytes kept for reuse."""
    return _core.statistics()["cached_bytes"]


def reset_peak() -> None:
    """Let the peak start again from what is in use now."""
    _core.reset_peak_memory()


def trim() -> None:
    """Give everything kept for reuse back to the system."""
    _core.trim_memory()


def limit() -> int | None:
    """Return the most bytes that arrays may use, or ``None`` without a limit."""
    return _core.memory_cap() or None


def set_limit(bytes: float | None) -> None:
    """Set the most bytes that arrays may use; a call past it fails with a clear error.

    ``None`` and infinity take the limit away.
    """
    if bytes is None or bytes == inf:
        _core.set_memory_cap(0)
        return
    if not isinstance(bytes, (int, float, onp.integer, onp.floating)):
        raise ArrayTypeError(f"a limit is a number of bytes, but got {bytes!r}")
    if not bytes >= 1:
        raise ArrayValueError(f"a limit must be positive, but got {bytes}; None takes it away")
    _core.set_memory_cap(min(int(bytes), 2**63 - 1))

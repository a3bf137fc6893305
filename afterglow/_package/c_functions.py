# SPDX-License-Identifier: Apache-2.0
"""What stands for MXNet's C functions, which programs import more often than they call them."""

from __future__ import annotations

from typing import Any

from ..error import ArrayAttributeError, MXNetError

__all__ = ["LIBRARY", "check_call"]


class _Library:
    def __getattr__(self, name: str) -> Any:
        raise ArrayAttributeError(f"[_LIB] there is no C function {name!r}: Afterglow has none")


LIBRARY = _Library()


def check_call(result: int) -> None:
    """Raise unless a C function returned 0."""
    if result != 0:
        raise MXNetError(f"[check_call] a C function returned {result}")

# SPDX-License-Identifier: Apache-2.0
"""Going between ``nd`` and ``np`` arrays: the same memory and the same place on the tape."""

from __future__ import annotations

from typing import Any

from ._core import Array, operation

_where = operation("where", False)


def in_world(array: Any, legacy: bool) -> Any:
    """Return an array as ``nd`` (legacy) or ``np`` knows it."""
    return array if array._legacy == legacy else array._as_class(legacy)


def where(condition: Any, left: Any, right: Any) -> Any:
    """Return elements of one or of the other, with NumPy's rules for arrays of both worlds.

    ``nd`` itself takes no numbers here and stretches nothing. The result is in the world of the
    condition.
    """
    values = (
        in_world(value, False) if isinstance(value, Array) else value
        for value in (condition, left, right)
    )
    return in_world(_where(*values), condition._legacy)

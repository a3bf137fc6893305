# SPDX-License-Identifier: Apache-2.0
"""The two worlds of arrays, ``np`` and ``nd``: ops that answer as one of them, and going between.

``NUMPY.take(x, indices)`` calls the op "take" of the core's table with NumPy's answers,
``LEGACY.take`` with those of ``nd``, ``WORLDS[x._legacy].take`` with those of the array.
"""

from __future__ import annotations

from typing import Any

from ._core import Array, Operation, operation


class World:
    """The ops of the core's table, as attributes, for arrays of ``nd`` (legacy) or ``np``."""

    def __init__(self, legacy: bool) -> None:
        self.legacy = legacy

    def __getattr__(self, name: str) -> Operation:
        found = operation(name, self.legacy)
        setattr(self, name, found)  # asked for once
        return found


NUMPY, LEGACY = World(False), World(True)
WORLDS = (NUMPY, LEGACY)


def in_world(array: Any, legacy: bool) -> Any:
    """Return an array as ``nd`` (legacy) or ``np`` knows it: memory and place on the tape stay."""
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
    return in_world(NUMPY.where(*values), condition._legacy)

# SPDX-License-Identifier: Apache-2.0
"""The two worlds of arrays, ``np`` and ``nd``: ops that answer as one of them, and going between.

``NUMPY.take(x, indices)`` calls the op "take" of the core's table with NumPy's answers,
``LEGACY.take`` with those of ``nd``, ``WORLDS[x._legacy].take`` with those of the array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._core import Array, operation

if TYPE_CHECKING:
    from ..ndarray.ndarray import NDArray
    from ..numpy.multiarray import ndarray

Answer = TypeVar("Answer")


class World(Generic[Answer]):
    """The ops of the core's table, as attributes, for arrays of ``nd`` (legacy) or ``np``."""

    def __init__(self, legacy: bool) -> None:
        self.legacy = legacy

    def __getattr__(self, name: str) -> Callable[..., Answer]:
        found = operation(name, self.legacy)
        setattr(self, name, found)  # asked for once
        return found


NUMPY: World[ndarray] = World(False)
LEGACY: World[NDArray] = World(True)
WORLDS: tuple[World[Any], World[Any]] = (NUMPY, LEGACY)


def in_world(array: Any, legacy: bool) -> Any:
    """Return an array as ``nd`` (legacy) or ``np`` knows it: memory and place on the tape stay."""
    return array if array._legacy == legacy else array._as_class(legacy)


def write_into(out: Any, results: Sequence[Any]) -> Any:
    """Write results into the array, or the list of arrays, that was given for them; return it."""
    for target, result in zip([out] if isinstance(out, Array) else out, results, strict=False):
        target._assign(in_world(result, target._legacy))
    return out


def pick_labels(data: Any, labels: Any, axis: int) -> Any:
    """Return the element of each line along an axis that its label names; the axis is kept.

    A negative label names the first element. The result of one that is too great cannot be read.
    """
    return WORLDS[data._legacy].pick_labels(data, in_world(labels, data._legacy), axis=axis)


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

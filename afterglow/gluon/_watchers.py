# SPDX-License-Identifier: Apache-2.0
"""Who is told when a block or a parameter changes."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._compiled import Compiled


class Watchers:
    """The compiled calls that depend on something, while they are alive.

    An interrupt inside of the loop over a ``weakref.WeakSet`` may leave the set as if the loop
    went on for ever, and then it keeps what has died. Here nothing is left to be undone.
    """

    def __init__(self) -> None:
        self._references: set[weakref.ref[Compiled]] = set()

    def add(self, compiled: Compiled) -> None:
        """Tell of changes from now on."""
        self._references.add(weakref.ref(compiled, self._references.discard))

    def alive(self) -> list[Compiled]:
        """Return those that are still there."""
        return [one for reference in tuple(self._references) if (one := reference()) is not None]

    def forget(self) -> None:
        """Let all start anew."""
        for compiled in self.alive():
            compiled.forget()

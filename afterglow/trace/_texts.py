# SPDX-License-Identifier: Apache-2.0
"""Numbers for texts, so that tables hold each text once."""

from __future__ import annotations

__all__ = ["Texts"]


class Texts:
    """A list of different texts, the first of them empty."""

    def __init__(self) -> None:
        self.all: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str) -> int:
        """Return the place of a text in the list; a new one is added."""
        number = self._numbers.setdefault(text, len(self.all))
        if number == len(self.all):
            self.all.append(text)
        return number

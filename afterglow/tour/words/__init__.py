# SPDX-License-Identifier: Apache-2.0
"""All sentences of the tour, in a table per language."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..quantities import three_digits
from .chinese import CHINESE
from .english import ENGLISH

LANGUAGES: dict[str, dict[str, str]] = {"en": ENGLISH, "zh": CHINESE}


class Words:
    """The sentences of one language; calling it fills one in."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._sentences = LANGUAGES[language]

    def __call__(self, key: str, **values: object) -> str:
        """Return the sentence with its gaps filled."""
        return self._sentences[key].format(**values)

    def times(self, ratio: float) -> str:
        """Say how many times as large something is."""
        return self("times", number=three_digits(ratio))


def preferred_language(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language that the locale asks for, as far as there is one."""
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    asked = next((environment[name] for name in names if environment.get(name)), "")
    return "zh" if asked.lower().startswith("zh") else "en"

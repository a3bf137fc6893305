# SPDX-License-Identifier: Apache-2.0
"""``mx.sym.npx``: the functions of ``mx.npx`` for symbols."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .symbol import function_of


class _Images(ModuleType):
    """``mx.sym.npx.image``: the functions of ``mx.npx.image`` for symbols."""

    def __getattr__(self, name: str) -> Any:
        return function_of(f"_npx__image_{name}", self.__name__, name, name)


image = _Images(f"{__name__}.image")


def __getattr__(name: str) -> Any:
    """Return the function of an op."""
    return function_of(f"_npx_{name}", __name__, name, name)

# SPDX-License-Identifier: Apache-2.0
"""Modules that notebooks take for granted, where they are not installed.

Notebooks import ``IPython.display`` and Matplotlib in their first cells. Figures are not shown here
in any case, so a document need not end there: its calls are taken, and nothing is drawn.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..books._figures import Nothing

_FIGURES = {"matplotlib", "matplotlib_inline", "mpl_toolkits"}
#: What ``IPython.display`` has to show things that a terminal cannot.
_MEDIA = ("Audio", "HTML", "Image", "Javascript", "Latex", "Markdown", "Math", "SVG", "Video")


def display(*values: object, **options: object) -> None:
    """Show values as a notebook does."""
    for value in values:
        if not isinstance(value, Nothing):
            print(repr(value))


def stand_in(note: Callable[[str], None]) -> None:
    """Find these modules from now on; ``note`` tells the user once that figures are missing."""
    sys.meta_path.append(_Finder(note))


class _Figures(ModuleType):
    """A module of Matplotlib's whose functions draw nothing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(Nothing(), name)


class _Medium:
    """Something for a browser."""

    def __init__(self, data: Any = None, *arguments: Any, **options: Any) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"<IPython.core.display.{type(self).__name__} object>"


def _nothing(*arguments: Any, **options: Any) -> None:
    pass


#: What notebooks use of IPython, for a terminal.
_IPYTHON: dict[str, dict[str, Any]] = {
    "IPython": {"get_ipython": _nothing},
    "IPython.display": {
        "display": display,
        "clear_output": _nothing,
        "set_matplotlib_formats": _nothing,
        **{medium: type(medium, (_Medium,), {}) for medium in _MEDIA},
    },
}


class _Finder(MetaPathFinder, Loader):
    """Finds what nobody else has found; it is asked last."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top, _, inner = fullname.partition(".")
        if inner and getattr(sys.modules[top].__spec__, "loader", None) is not self:
            return None  # the package is there, and has no such module
        if top in _FIGURES or fullname in _IPYTHON:
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if spec.name in _IPYTHON:
            module = ModuleType(spec.name, "What notebooks use of IPython.")
            module.__dict__.update(_IPYTHON[spec.name])
            return module
        self._note("Matplotlib is not installed: figures are not drawn")
        return _Figures(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ == "IPython":
            importlib.import_module("IPython.display")

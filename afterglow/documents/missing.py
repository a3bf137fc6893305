# SPDX-License-Identifier: Apache-2.0
"""Modules that notebooks take for granted, where they are not installed, or not in a notebook.

Notebooks import ``IPython.display`` and Matplotlib in their first cells. A document need not end
there: its calls are taken, and nothing is drawn.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from ..books._figures import Nothing
from .outputs import Screen

_FIGURES = {"matplotlib", "matplotlib_inline", "mpl_toolkits"}
#: What ``IPython.display`` has to show things that a terminal cannot.
_MEDIA = ("Audio", "HTML", "Image", "Javascript", "Latex", "Markdown", "Math", "SVG", "Video")
#: How those look on a page whose data is HTML, a text or a picture.
_LOOKS = {"HTML": "_repr_html_", "SVG": "_repr_svg_", "Markdown": "_repr_markdown_"}
_LOOKS |= {"Image": "_repr_png_"}


def stand_in(screen: Screen, note: Callable[[str], None]) -> None:
    """Find these modules from now on; ``note`` tells the user once that figures are missing."""
    sys.meta_path.append(_Finder(screen, note))
    sys.meta_path.insert(0, _Installed(screen))


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


def _medium(name: str) -> type[_Medium]:
    look = {_LOOKS[name]: lambda self: self.data} if name in _LOOKS else {}
    return type(name, (_Medium,), look)


def _ipython(screen: Screen) -> dict[str, dict[str, Any]]:
    """Return what notebooks use of IPython."""
    return {
        "IPython": {"get_ipython": _nothing},
        "IPython.display": {
            "display": screen.display,
            "clear_output": screen.clear,
            "set_matplotlib_formats": _nothing,
            **{medium: _medium(medium) for medium in _MEDIA},
        },
    }


class _Installed(MetaPathFinder):
    """Lets IPython, where it is installed, show values here: outside of notebooks it prints."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname == "IPython.display" else None
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                module.__dict__.update(
                    display=self._screen.display, clear_output=self._screen.clear
                )
                # Notebooks of the time of MXNet call it; newer versions do not have it.
                module.__dict__.setdefault("set_matplotlib_formats", _nothing)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


class _Finder(MetaPathFinder, Loader):
    """Finds what nobody else has found; it is asked last."""

    def __init__(self, screen: Screen, note: Callable[[str], None]) -> None:
        self._ipython = _ipython(screen)
        self._note = note

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top, _, inner = fullname.partition(".")
        if inner and getattr(sys.modules[top].__spec__, "loader", None) is not self:
            return None  # the package is there, and has no such module
        if top in _FIGURES or fullname in self._ipython:
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if spec.name in self._ipython:
            module = ModuleType(spec.name, "What notebooks use of IPython.")
            module.__dict__.update(self._ipython[spec.name])
            return module
        self._note("Matplotlib is not installed: figures are not drawn")
        return _Figures(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ == "IPython":
            importlib.import_module("IPython.display")

# SPDX-License-Identifier: Apache-2.0
"""``mx.sym``: the names of MXNet's symbols, so that programs that import them start.

There are no symbols: work is optimised while it waits, so a block is as fast without being
written down first. Whoever makes one is told so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from . import ndarray
from .error import ArrayNotImplementedError

__all__ = ["Group", "Symbol", "Variable", "load", "load_json", "var"]


def _refuse(name: str) -> NoReturn:
    raise ArrayNotImplementedError(
        f"[sym.{name}] there are no symbols; call the block or the function of nd or np with an "
        "array: calls are queued, fused and dropped without hybridize()"
    )


class Symbol:
    """A node of a graph; none can be made. The class is there for ``isinstance``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("Symbol")


def var(name: str, *args: Any, **kwargs: Any) -> Symbol:
    """Raise: there are no symbols."""
    _refuse("var")


Variable = var


def Group(symbols: Any, create_fn: Any = None) -> Symbol:  # noqa: N802
    """Raise: there are no symbols."""
    _refuse("Group")


def load(fname: str) -> Symbol:
    """Raise: there are no symbols."""
    _refuse("load")


def load_json(json_str: str) -> Symbol:
    """Raise: there are no symbols."""
    _refuse("load_json")


def __getattr__(name: str) -> Callable[..., NoReturn]:
    """Return, for the name of a function of nd, one that raises when it is called."""
    if name.startswith("_") or not callable(getattr(ndarray, name, None)):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return lambda *args, **kwargs: _refuse(name)

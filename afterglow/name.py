# SPDX-License-Identifier: Apache-2.0
"""``mx.name``: names for what the program does not name."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ._core import Scope

__all__ = ["NameManager", "Prefix"]


class Entered(threading.local):
    """The scope that this thread has entered."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.entered = make()


class HasCurrent(type):
    """The class of scopes whose ``current`` is the one of this thread: entered, or set."""

    _scopes: Entered

    @property
    def current(cls) -> Any:
        """The scope that this thread is in."""
        return cls._scopes.entered

    @current.setter
    def current(cls, scope: Any) -> None:
        cls._scopes.entered = scope


class NameManager(Scope, metaclass=HasCurrent):
    """Counts what is made by kind: fc0, fc1, pool0. As a ``with`` scope it starts anew.

    >>> from afterglow.name import NameManager
    >>> with NameManager() as names:
    ...     [names.get(None, "fc"), names.get(None, "fc"), names.get("mine", "fc")]
    ['fc0', 'fc1', 'mine']
    """

    def __init__(self) -> None:
        self._counter: dict[str, int] = {}

    def get(self, name: str | None, hint: str) -> str:
        """Return ``name``, or the next name for that kind of thing."""
        if name:
            return name
        count = self._counter.get(hint, 0)
        self._counter[hint] = count + 1
        return f"{hint}{count}"

    def _enter(self) -> Any:
        return self, [(NameManager._scopes, "entered", self)]


class Prefix(NameManager):
    """Puts a prefix before every name.

    >>> from afterglow.name import Prefix
    >>> Prefix("left_").get(None, "fc")
    'left_fc0'
    """

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        """Return ``name``, or the next one for that kind of thing, after the prefix."""
        return self._prefix + super().get(name, hint)


NameManager._scopes = Entered(NameManager)

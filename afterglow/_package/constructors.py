# SPDX-License-Identifier: Apache-2.0
"""Constructors of classes that differ from their base class in defaults alone."""

from __future__ import annotations

from inspect import signature
from types import FunctionType
from typing import Any


def inherit_constructor(klass: type[Any], **defaults: Any) -> None:
    """Give a class the constructor of its base, with other defaults.

    >>> from inspect import signature
    >>> from afterglow._package.constructors import inherit_constructor
    >>> class Base:
    ...     def __init__(self, name: str = "base") -> None:
    ...         self.name = name
    >>> class Other(Base): ...
    >>> inherit_constructor(Other, name="other")
    >>> Other().name, Base().name
    ('other', 'base')
    """
    base = klass.__init__
    values = (
        defaults.get(one.name, one.default)
        for one in signature(base).parameters.values()
        if one.default is not one.empty
    )
    own = FunctionType(base.__code__, base.__globals__, "__init__", tuple(values), base.__closure__)
    own.__qualname__ = f"{klass.__qualname__}.__init__"
    own.__annotations__ = base.__annotations__
    klass.__init__ = own


def handed_on(names: dict[str, Any], *but: str) -> dict[str, Any]:
    """Return by their names what a constructor was given, of which these are the ``locals()``.

    >>> from afterglow._package.constructors import handed_on
    >>> handed_on({"self": object(), "channels": 3, "layout": "NCW", "kwargs": {}}, "layout")
    {'channels': 3}
    """
    # A constructor that calls super() has a name for its class.
    ours = {"self", "__class__", "kwargs", *but}
    own = {key: value for key, value in names.items() if key not in ours}
    return {**own, **names.get("kwargs", {})}

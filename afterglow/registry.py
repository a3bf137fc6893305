# SPDX-License-Identifier: Apache-2.0
"""``mx.registry``: classes known by their names, for each base class.

>>> from afterglow import registry
>>> class Shape: ...
>>> register = registry.get_register_func(Shape, "shape")
>>> @register
... class Circle(Shape): ...
>>> type(registry.get_create_func(Shape, "shape")("circle")).__name__
'Circle'
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["get_alias_func", "get_create_func", "get_register_func", "get_registry"]

_registries: dict[type, dict[str, type]] = {}


def get_registry(base_class: type) -> dict[str, type]:
    """Return a copy of what is registered for a base class, by names in small letters."""
    return dict(_registries.get(base_class, {}))


def get_register_func(base_class: type, nickname: str) -> Callable[..., type]:
    """Return a decorator that makes subclasses known by their names, or by others."""
    registry = _registries.setdefault(base_class, {})

    def register(klass: type, name: str | None = None) -> type:
        """Make a class known by its name."""
        assert issubclass(klass, base_class), f"Can only register subclass of {base_class.__name__}"
        key = (klass.__name__ if name is None else name).lower()
        if registry.get(key, klass) is not klass:
            warnings.warn(
                f"New {nickname} {klass.__module__}.{klass.__name__} registered with name {key} is "
                f"overriding existing {nickname} {registry[key].__name__}",
                stacklevel=2,
            )
        registry[key] = klass
        return klass

    register.__doc__ = f"Register {nickname}."
    return register


def get_alias_func(base_class: type, nickname: str) -> Callable[..., Callable[[type], type]]:
    """Return a decorator that makes subclasses known by the names that it is given."""
    register = get_register_func(base_class, nickname)

    def alias(*aliases: str) -> Callable[[type], type]:
        def add(klass: type) -> type:
            for name in aliases:
                register(klass, name)
            return klass

        return add

    return alias


def get_create_func(base_class: type, nickname: str) -> Callable[..., Any]:
    """Return a function that makes objects by name, or by text ``["name", {arguments}]``."""
    registry = _registries.setdefault(base_class, {})

    def create(*args: Any, **kwargs: Any) -> Any:
        """Make an object of a registered class; objects of the base class are given back."""
        name, arguments = (args[0], args[1:]) if args else (kwargs.pop(nickname), ())
        if isinstance(name, base_class):
            extra = [*arguments, *kwargs]
            assert not extra, (
                f"{nickname} is already an instance. Additional arguments are invalid: {extra}"
            )
            return name
        if isinstance(name, dict):
            return create(**name)
        assert isinstance(name, str), f"{nickname} must be of string type"
        if name.startswith("["):
            name, keywords = json.loads(name)
            return create(name, **keywords)
        if name.startswith("{"):
            return create(**json.loads(name))
        assert name.lower() in registry, (
            f"{name} is not registered. Please register with {nickname}.register first"
        )
        return registry[name.lower()](*arguments, **kwargs)

    create.__doc__ = f"Create a {nickname}."
    return create

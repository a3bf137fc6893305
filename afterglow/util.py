# SPDX-License-Identifier: Apache-2.0
"""The switches with which MXNet programs ask for NumPy semantics.

Afterglow has no such mode: functions of ``mx.np`` always answer as NumPy does and functions of
``mx.nd`` as MXNet's classic interface. The switches are kept and can be read back, so that programs
which set them run.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = [
    "is_np_array",
    "is_np_shape",
    "np_array",
    "np_shape",
    "reset_np",
    "set_np",
    "set_np_shape",
    "use_np",
    "use_np_array",
    "use_np_shape",
]

Decorated = TypeVar("Decorated")


class _Switches(threading.local):
    """What this thread has switched on."""

    shape = False
    array = False


_switches = _Switches()


def set_np(shape: bool = True, array: bool = True, dtype: bool = False) -> None:
    """Note that NumPy semantics are wanted."""
    if array and not shape:
        raise ValueError(
            "NumPy arrays need NumPy shapes: set_np(shape=False, array=True) is refused"
        )
    _switches.shape = bool(shape)
    _switches.array = bool(array)


def reset_np() -> None:
    """Note that classic semantics are wanted."""
    set_np(shape=False, array=False)


def set_np_shape(active: bool) -> bool:
    """Set the switch for NumPy shapes and return what it was."""
    previous = _switches.shape
    _switches.shape = bool(active)
    return previous


def is_np_shape() -> bool:
    """Return the switch for NumPy shapes."""
    return _switches.shape


def is_np_array() -> bool:
    """Return the switch for NumPy arrays."""
    return _switches.array


@contextmanager
def np_shape(active: bool = True) -> Iterator[None]:
    """Set the switch for NumPy shapes in a ``with`` scope."""
    previous, _switches.shape = _switches.shape, bool(active)
    try:
        yield
    finally:
        _switches.shape = previous


@contextmanager
def np_array(active: bool = True) -> Iterator[None]:
    """Set the switch for NumPy arrays in a ``with`` scope."""
    previous, _switches.array = _switches.array, bool(active)
    try:
        yield
    finally:
        _switches.array = previous


def _with_switches(function: Any, *scopes: Callable[[], Any]) -> Any:
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        before = (_switches.shape, _switches.array)
        for scope in scopes:
            scope()
        try:
            return function(*args, **kwargs)
        finally:
            _switches.shape, _switches.array = before

    return wrapped


def _shape_on() -> None:
    _switches.shape = True


def _array_on() -> None:
    _switches.array = True


def use_np_shape(func: Decorated) -> Decorated:
    """Decorate a function or class to run with the switch for NumPy shapes on."""
    return _decorate(func, _shape_on)


def use_np_array(func: Decorated) -> Decorated:
    """Decorate a function or class to run with the switch for NumPy arrays on."""
    return _decorate(func, _array_on)


def use_np(func: Decorated) -> Decorated:
    """Decorate a function or class to run with both switches on."""
    return _decorate(func, _shape_on, _array_on)


def _decorate(target: Decorated, *scopes: Callable[[], Any]) -> Decorated:
    """Wrap a function, or every method that a class itself defines."""
    if not isinstance(target, type):
        wrapped: Decorated = _with_switches(target, *scopes)
        return wrapped
    for name, member in vars(target).copy().items():
        if callable(member) and not isinstance(member, type) and name != "__class_getitem__":
            setattr(target, name, _with_switches(member, *scopes))
    return target

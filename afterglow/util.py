# SPDX-License-Identifier: Apache-2.0
"""The switches with which MXNet programs ask for NumPy semantics.

Afterglow has no such mode: functions of ``mx.np`` always answer as NumPy does and functions of
``mx.nd`` as MXNet's classic interface. The switches are kept and can be read back, so that programs
which set them run.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

import numpy as onp

from ._arrays.dtypes import TYPES
from ._core import Scope, from_buffer
from .context import Context, gpu_memory_info, num_gpus
from .error import ArrayTypeError, ArrayValueError, MXNetError

__all__ = [
    "get_cuda_compute_capability",
    "get_gpu_count",
    "get_gpu_memory",
    "getenv",
    "is_np_array",
    "is_np_shape",
    "np_array",
    "np_shape",
    "reset_np",
    "restore_array",
    "set_module",
    "set_np",
    "set_np_shape",
    "setenv",
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
        raise ArrayValueError(
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


class _Switched(Scope):
    """Sets switches in a ``with`` scope."""

    def __init__(self, **switches: bool) -> None:
        self._switches = switches

    def _enter(self) -> Any:
        return None, [(_switches, name, on) for name, on in self._switches.items()]


class _HasSwitch(type):
    """The class of ``_NumpyArrayScope``, whose ``_current`` is what this thread has switched."""

    @property
    def _current(cls) -> Any:
        return _NumpyArrayScope(_switches.array)

    @_current.setter
    def _current(cls, scope: Any) -> None:
        _switches.array = scope._is_np_array


class _NumpyArrayScope(_Switched, metaclass=_HasSwitch):
    """MXNet's scope of the switch for NumPy arrays, which programs set as ``_current``."""

    def __init__(self, is_np_array: bool) -> None:
        super().__init__(array=is_np_array)
        self._is_np_array = is_np_array


def np_shape(active: bool = True) -> Any:
    """Set the switch for NumPy shapes in a ``with`` scope."""
    return _Switched(shape=bool(active))


def np_array(active: bool = True) -> Any:
    """Set the switch for NumPy arrays in a ``with`` scope."""
    return _NumpyArrayScope(bool(active))


def _with_switches(function: Any, scope: _Switched) -> Any:
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with scope:
            return function(*args, **kwargs)

    return wrapped


def use_np_shape(func: Decorated) -> Decorated:
    """Decorate a function or class to run with the switch for NumPy shapes on."""
    return _decorate(func, _Switched(shape=True))


def use_np_array(func: Decorated) -> Decorated:
    """Decorate a function or class to run with the switch for NumPy arrays on."""
    return _decorate(func, _Switched(array=True))


def use_np(func: Decorated) -> Decorated:
    """Decorate a function or class to run with both switches on."""
    return _decorate(func, _Switched(shape=True, array=True))


def _decorate(target: Decorated, scope: _Switched) -> Decorated:
    """Wrap a function, or every method and property that a class itself defines.

    Of what it inherits, that is wrapped which programs call, as ``initialize`` of a block is.
    """
    if isinstance(target, type):
        for name, member in {**_inherited(target), **vars(target)}.items():
            wrapped = _wrapped_member(member, scope)
            if wrapped is not None and name != "__class_getitem__":
                setattr(target, name, wrapped)
        return target
    if not callable(target):
        raise ArrayTypeError(
            f"NumPy semantics can decorate classes and callable objects, not {type(target)}"
        )
    result: Decorated = _with_switches(target, scope)
    return result


def _inherited(target: type) -> dict[str, Any]:
    """Return the public functions of the classes above one, the nearest of each name."""
    return {
        name: member
        for above in reversed(target.__mro__[1:])
        for name, member in vars(above).items()
        if isinstance(member, FunctionType) and (name == "__call__" or not name.startswith("_"))
    }


def _wrapped_member(member: Any, scope: _Switched) -> Any:
    if isinstance(member, (staticmethod, classmethod)):
        return type(member)(_with_switches(member.__func__, scope))
    if isinstance(member, property):
        get, set, delete = (
            part and _with_switches(part, scope) for part in (member.fget, member.fset, member.fdel)
        )
        return property(get, set, delete, member.__doc__)
    if callable(member) and not isinstance(member, type):
        return _with_switches(member, scope)
    return None


def set_module(module: str | None) -> Callable[[Decorated], Decorated]:
    """Return a decorator that says in which module a function or class is known.

    >>> from afterglow import util
    >>> @util.set_module("mxnet.numpy")
    ... def example(): ...
    >>> example.__module__
    'mxnet.numpy'
    """

    def decorate(target: Decorated) -> Decorated:
        if module is not None:
            target.__module__ = module
        return target

    return decorate


# --- the environment and the machine ---


def getenv(name: str) -> str | None:
    """Return an environment variable, or ``None``.

    >>> from afterglow import util
    >>> util.setenv("COLOUR", "blue")
    >>> util.getenv("COLOUR")
    'blue'
    """
    return os.environ.get(name)


def setenv(name: str, value: str | None) -> None:
    """Set an environment variable; ``None`` removes it."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def get_gpu_count() -> int:
    """Return the number of GPUs: of those that are pretended."""
    return num_gpus()


def get_gpu_memory(gpu_dev_id: int) -> tuple[int, int]:
    """Return how many bytes are free and how many there are, on a GPU."""
    return gpu_memory_info(gpu_dev_id)


def get_cuda_compute_capability(ctx: Context) -> int:
    """Raise: there is no GPU, but for pretended ones."""
    if not isinstance(ctx, Context) or ctx.device_type != "gpu":
        raise ArrayValueError(f"Expecting a gpu context to get cuda compute capability, got {ctx}")
    reason = "pretended GPUs have no CUDA" if num_gpus() else "num_gpus() is 0"
    raise MXNetError(f"{ctx} was asked for its compute capability, but {reason}")


def restore_array(host: onp.ndarray[Any, Any], context: tuple[int, int], legacy: bool) -> Any:
    """Return the array that a pickle holds: its values, the numbers of its device, nd or np.

    Pickles name this function, so it stays where it is.
    """
    number = TYPES.index(host.dtype.type)
    return from_buffer(onp.asarray(host, order="C"), host.shape, number, context, legacy)

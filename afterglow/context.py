# SPDX-License-Identifier: Apache-2.0
"""Devices: where arrays live and work is queued.

Every ``cpu(i)`` has a queue of its own, and with :func:`afterglow.engine.set_devices` a share of
the threads. ``gpu(i)`` can be named, so that programs which look for a GPU first keep working; an
:class:`~afterglow.base.MXNetError` comes when memory is asked of it, unless GPUs are pretended
(:func:`afterglow.engine.pretend_gpus`).
"""

from __future__ import annotations

import operator
import os
import re
import threading
from typing import Any, ClassVar

from . import _core
from ._core import Scope, use_contexts
from .error import ArrayTypeError, ArrayValueError, MXNetError

__all__ = [
    "Context",
    "cpu",
    "cpu_pinned",
    "current_context",
    "gpu",
    "gpu_memory_info",
    "num_gpus",
]


class _Scopes(threading.local):
    """The context that this thread is in, and the one outside of all scopes."""

    #: Whether any thread ever asked for another context than the first; until then nothing of the
    #: thread has to be looked at.
    used: ClassVar[bool] = False

    def __init__(self) -> None:
        self.entered: Context | None = None
        self.outermost = _cpu


class _HasDefault(type):
    """The class of ``Context``, whose ``default_ctx`` is the context of this thread."""

    @property
    def default_ctx(cls) -> Context:
        """The context in which this thread makes new arrays; it can be set."""
        return current_context()

    @default_ctx.setter
    def default_ctx(cls, ctx: Context) -> None:
        _use_scopes()
        if _scopes.entered is None:
            _scopes.outermost = ctx
        else:
            _scopes.entered = ctx


class _UnknownDeviceError(ArrayValueError, KeyError):
    """A device type that does not exist; MXNet finds no key for it."""

    __str__ = BaseException.__str__  # a KeyError would put its message into quotes


class Context(Scope, metaclass=_HasDefault):
    """A device: a type and a number. As a ``with`` scope it is where new arrays are made."""

    __slots__ = ("device_id", "device_typeid", "numbers")

    devtype2str: ClassVar[dict[int, str]] = {1: "cpu", 2: "gpu", 3: "cpu_pinned", 5: "cpu_shared"}
    devstr2type: ClassVar[dict[str, int]] = {"cpu": 1, "gpu": 2, "cpu_pinned": 3, "cpu_shared": 5}

    device_typeid: int
    device_id: int
    numbers: tuple[int, int]

    def __init__(self, device_type: str | Context, device_id: int = 0) -> None:
        if isinstance(device_type, Context):
            self.device_typeid = device_type.device_typeid
            self.device_id = device_type.device_id
        else:
            if device_type not in Context.devstr2type:
                raise _UnknownDeviceError(
                    f"there is no device type {device_type!r}; there are cpu, gpu, cpu_pinned and "
                    "cpu_shared"
                )
            try:
                number = operator.index(device_id)
            except TypeError:
                raise ArrayTypeError(
                    f"the number of a device is an integer, but got {device_id!r}"
                ) from None
            if not -(2**15) <= number < 2**15:
                raise ArrayValueError(
                    f"{device_type}({number}) was asked for; devices have numbers of 16 bits"
                )
            self.device_typeid = Context.devstr2type[device_type]
            self.device_id = number
        self.numbers = (self.device_typeid, self.device_id)

    @property
    def device_type(self) -> str:
        """Name of the device type."""
        return Context.devtype2str[self.device_typeid]

    def empty_cache(self) -> None:
        """Give memory that is kept for reuse back to the system."""
        from . import memory

        memory.trim()

    def __hash__(self) -> int:
        return hash(self.numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and self.numbers == other.numbers

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[Context], tuple[str, int]]:
        return (Context, (self.device_type, self.device_id))

    def _enter(self) -> Any:
        _use_scopes()
        return self, [(_scopes, "entered", self)]


_cpu = Context("cpu", 0)
_first = _cpu.numbers
_scopes = _Scopes()


def _use_scopes() -> None:
    if not _Scopes.used:
        _Scopes.used = True
        use_contexts()


def cpu(device_id: int = 0) -> Context:
    """Return a CPU context; each number has a queue of its own."""
    return Context("cpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """Return a context for page-locked memory: here, memory like any other."""
    return Context("cpu_pinned", device_id)


def gpu(device_id: int = 0) -> Context:
    """Return a GPU context. It can be named; memory can be had from it where GPUs are pretended."""
    return Context("gpu", device_id)


def num_gpus() -> int:
    """Return the number of GPUs: of those that are pretended, for there are no others."""
    return _core.pretended_gpus()


def gpu_memory_info(device_id: int = 0) -> tuple[int, int]:
    """Return how many bytes are free and how many there are, on a GPU.

    A pretended one has what the machine has, or what :func:`afterglow.memory.set_limit` leaves.
    """
    if not 0 <= device_id < num_gpus():
        raise MXNetError(
            f"gpu({device_id}) was asked for its memory, but num_gpus() is {num_gpus()}"
        )
    from . import memory

    page = os.sysconf("SC_PAGE_SIZE")
    free, total = (page * os.sysconf(f"SC_{which}PHYS_PAGES") for which in ("AV", ""))
    if limit := memory.limit():
        total = min(total, limit)
        free = min(free, max(0, total - memory.active()))
    return free, total


def current_context() -> Context:
    """Return the context in which this thread makes new arrays."""
    return _scopes.entered or _scopes.outermost


def set_default_context(ctx: Context) -> None:
    """Let this thread make new arrays there where no ``with`` scope says otherwise."""
    _use_scopes()
    _scopes.outermost = ctx


def context_numbers(ctx: Context | None) -> tuple[int, int]:
    """Return device type and id of a context; ``None`` means the current one."""
    if ctx is None:
        return current_context().numbers if _Scopes.used else _first
    if not isinstance(ctx, Context):
        raise ArrayTypeError(f"ctx must be a Context such as cpu(0), but got {ctx!r}")
    return ctx.numbers


def as_context_numbers(ctx: Context | str | None) -> tuple[int, int]:
    """Return device type and id as MXNet's ops take them: from text such as "cpu(0)" too."""
    if not isinstance(ctx, str):
        return context_numbers(ctx)
    match = re.fullmatch(r"(\w+)\((\d+)\)", ctx)
    if match is None or match[1] not in Context.devstr2type:
        raise ArrayValueError(f'ctx must be a Context or text such as "cpu(0)", but got {ctx!r}')
    return Context(match[1], int(match[2])).numbers


def context_of(numbers: tuple[int, int]) -> Context:
    """Return the context with these numbers."""
    return Context(Context.devtype2str[numbers[0]], numbers[1])

# SPDX-License-Identifier: Apache-2.0
"""The functions of ``mx.sym``, made from the table of ops."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ._ops import find
from .symbol import Symbol, create


@cache
def function_of(op: str, public: str | None = None) -> Callable[..., Symbol]:
    """Return the function that makes a symbol of an op; ``public`` is its name in a module."""
    entry = find(op)
    if not entry.is_known:
        raise AttributeError(f"there is no op {op!r}")

    def function(*args: Any, **kwargs: Any) -> Symbol:
        return create(op, args, kwargs, hint=public)

    function.__name__ = function.__qualname__ = public or op
    function.__doc__ = getattr(entry.function, "__doc__", None)
    return function

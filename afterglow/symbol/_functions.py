# SPDX-License-Identifier: Apache-2.0
"""The functions of ``mx.sym``, made from the table of ops."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ..error import MissingNameError
from ._ops import find
from .symbol import Symbol, create


@cache
def function_of(
    op: str, module: str, public: str, hint: str | None = None
) -> Callable[..., Symbol]:
    """Return the function of a module that makes a symbol of an op; ``hint`` names the nodes."""
    entry = find(op)
    if not entry.is_known:
        raise MissingNameError(module, public)

    def function(*args: Any, **kwargs: Any) -> Symbol:
        return create(op, args, kwargs, hint=hint)

    function.__name__ = function.__qualname__ = public
    if entry.function is None:
        function.__doc__ = "Write the op down; it can be saved and loaded, but does not run yet."
    else:
        function.__doc__ = entry.function.__doc__
    return function

# SPDX-License-Identifier: Apache-2.0
"""``mx.nd._internal`` and ``mx.nd.op``: functions by the names that operators and files know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core import Operation, operation
from ..error import MissingNameError


def __getattr__(name: str) -> Any:
    """Return the function of an op, by any of MXNet's names."""
    from ..symbol._ops import find  # graphs know all of these names

    entry = None if name.startswith("__") else find(name)
    if entry is None or entry.function is None:
        raise MissingNameError(__name__, name)
    if isinstance(entry.function, Operation):
        return entry.function
    return _with_out(entry.function)


def _with_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function, written for graphs, that also takes where its result goes."""

    def called(*args: Any, out: Any = None, name: str | None = None, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return result if out is None else operation("copy", True)(result, out=out)

    return called

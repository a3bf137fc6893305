# SPDX-License-Identifier: Apache-2.0
"""``mx.sym.contrib``: ops that MXNet calls experimental."""

from __future__ import annotations

from typing import Any, NoReturn

from ..error import ArrayNotImplementedError
from .symbol import function_of


def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise ArrayNotImplementedError("[sym.contrib] nodes that hold graphs are not implemented")


foreach = while_loop = cond = _refuse


def __getattr__(name: str) -> Any:
    """Return the function of an op."""
    return function_of(f"_contrib_{name}", __name__, name, name)

# SPDX-License-Identifier: Apache-2.0
"""The table of ONNX ops: which function computes which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .graph import Node

Function = Callable[["Node"], Any]


@dataclass(frozen=True)
class Entry:
    """How an op is computed."""

    compute: Function
    on_host: bool  # by NumPy, whatever its inputs are
    draws: bool  # random numbers, so it is never computed ahead


_ENTRIES: dict[tuple[str, str], Entry] = {}


def imports(
    *ops: str, domain: str = "", on_host: bool = False, draws: bool = False
) -> Callable[[Function], Function]:
    """Say that a function computes these ops: it is given a node, and returns its results."""

    def register(function: Function) -> Function:
        for op in ops:
            _ENTRIES[domain, op] = Entry(function, on_host, draws)
        return function

    return register


def find(domain: str, op: str) -> Entry | None:
    """Return how an op is computed; None if nobody says."""
    return _ENTRIES.get((domain, op))


def supported(domain: str = "", on_host: bool | None = None) -> list[str]:
    """Return the names of the ops of a domain that have a function of their own.

    With ``on_host`` only those that NumPy computes, or only those that it does not.
    """
    return sorted(
        op
        for (one, op), entry in _ENTRIES.items()
        if one == domain and on_host in (None, entry.on_host)
    )

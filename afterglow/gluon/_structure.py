# SPDX-License-Identifier: Apache-2.0
"""Whole blocks in files: how they nest, as MXNet writes it, and their parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

from ..error import MismatchError

if TYPE_CHECKING:
    from .block import Block

__all__ = ["describe", "renamed", "restore"]


def describe(block: Block) -> str:
    """Return how a block and those below nest, with their names and the keys of their children."""
    numbers = count()

    def described(one: Block) -> dict[str, Any]:
        key = f"{type(one).__name__.lower()}{next(numbers)}"
        entry: dict[str, Any] = {
            "orig_name": one.name,
            "hybridized": bool(getattr(one, "_active", False)),
            "children": {child.name: name for name, child in one._children.items()},
        }
        for child in one._children.values():
            entry.update(described(child))
        return {key: entry}

    return json.dumps(described(block))


def _below(entry: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in entry.values() if isinstance(one, dict) and "orig_name" in one]


def _pairs(
    block: Block, entry: dict[str, Any], ours: str = "", theirs: str = ""
) -> Iterator[tuple[Block, dict[str, Any], str, str]]:
    """Yield blocks with what is written of them, and the paths that lead to both."""
    below, keys = _below(entry), list(entry["children"].values())
    if len(below) != len(block._children):
        raise MismatchError(
            f"[Block.load] {block.name} has {len(block._children)} children, in the file "
            f"{entry['orig_name']} has {len(below)}"
        )
    yield block, entry, ours, theirs
    for key, part, (name, child) in zip(keys, below, block._children.items(), strict=False):
        yield from _pairs(child, part, f"{ours}{name}.", f"{theirs}{key}.")


def _read(text: str) -> dict[str, Any]:
    try:
        (entry,) = json.loads(text).values()
    except (ValueError, AttributeError):
        raise MismatchError("[Block.load] the file does not tell how blocks nest") from None
    return dict(entry)


def renamed(block: Block, text: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return arrays of a file by the attributes that lead to the parameters of a block."""
    found = {}
    for _, _, ours, theirs in _pairs(block, _read(text)):
        for name, array in arrays.items():
            path, _, own = name.rpartition(".")
            if path == theirs.removesuffix("."):
                found[ours + own] = array
    return found


def restore(block: Block, text: str) -> None:
    """Hybridize what was hybridized."""
    for one, entry, _, _ in _pairs(block, _read(text)):
        if entry.get("hybridized") and hasattr(one, "_active"):
            one.hybridize()

# SPDX-License-Identifier: Apache-2.0
"""What blocks are called with: symbols in nested lists, and how many inputs there are."""

from __future__ import annotations

import inspect
from typing import Any

from ..symbol.symbol import Symbol


def flat_symbols(values: Any) -> list[Symbol]:
    """Return the symbols in nested lists and tuples, in order."""
    if isinstance(values, Symbol):
        return [values]
    if isinstance(values, (list, tuple)):
        return [one for value in values for one in flat_symbols(value)]
    return []


def first_symbol(values: Any) -> Symbol | None:
    """Return the first symbol in nested lists and tuples."""
    return next(iter(flat_symbols(values)), None)


def count_inputs(block: Any) -> int:
    """Return how many inputs a block needs, as its signature says it."""
    if hasattr(block, "_input_names"):
        return len(block._input_names)
    for kind in type(block).__mro__:
        for name, leading in (("forward", 1), ("hybrid_forward", 2)):
            if name in vars(kind) and kind.__name__ != "HybridBlock":
                return max(1, len(_needed(vars(kind)[name], leading, block)))
    return 1


def _needed(function: Any, leading: int, block: Any) -> list[str]:
    """Return the arguments of a function without defaults that are no parameters of the block."""
    arguments = list(inspect.signature(function).parameters.values())[leading:]
    return [
        one.name
        for one in arguments
        if one.default is one.empty
        and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        and one.name not in block._reg_params
    ]

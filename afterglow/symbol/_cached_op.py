# SPDX-License-Identifier: Apache-2.0
"""``nd.CachedOp``: a graph that is called like an op."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._arrays.worlds import in_world
from ..error import ArrayTypeError
from ._run import Plan
from .symbol import Symbol

__all__ = ["CachedOp"]


class CachedOp:
    """Calls a graph with arrays for its inputs, in the order of ``list_inputs``.

    ``flags`` are taken and have no effect: calls are planned while they wait.
    """

    def __init__(self, sym: Symbol, flags: Iterable[tuple[str, Any]] = ()) -> None:
        self._names = sym.list_inputs()
        self._plan = Plan(sym._outputs)

    def __call__(self, *args: Any, out: Any = None, default_ctx: Any = None) -> Any:
        """Return the outputs: one array, or a list of several; or write them to ``out``."""
        if len(args) != len(self._names):
            raise ArrayTypeError(
                f"[CachedOp] {len(args)} arrays, needed are {len(self._names)}: "
                f"{', '.join(self._names)}"
            )
        by_name = dict(zip(self._names, args, strict=True))
        legacy = args[0]._legacy if args else True
        found = self._plan.run({node: by_name[node.name] for _, node in self._plan.variables})
        results = [in_world(one, legacy) for one in found]
        if out is not None:
            targets = list(out) if isinstance(out, (list, tuple)) else [out]
            for target, result in zip(targets, results, strict=True):
                target[:] = result
            return out
        return results[0] if len(results) == 1 else results

# SPDX-License-Identifier: Apache-2.0
"""A graph as a function of arrays."""

from __future__ import annotations

from typing import Any

from .._arrays.worlds import in_world, write_into
from ..error import ArrayTypeError
from ..symbol import Symbol
from ..symbol._run import Plan

__all__ = ["CachedOp"]


class CachedOp:
    """The function that a symbol is of its inputs, in the order of ``list_inputs()``.

    ``flags`` are what MXNet's compiler is told; there is nothing to be told here. Calls are
    recorded as any others are.

    >>> from afterglow import nd, sym
    >>> double = nd.CachedOp(sym.var("x") * 2)
    >>> double(nd.array([1, 2])).asnumpy()
    array([2., 4.], dtype=float32)
    """

    def __init__(self, sym: Symbol, flags: Any = (), thread_safe: bool = False) -> None:
        self._plan = Plan(sym._outputs)
        self._names = sym.list_inputs()

    def __call__(self, *args: Any, out: Any = None, default_ctx: Any = None) -> Any:
        """Compute the symbol from arrays, into ``out`` where that is given."""
        if len(args) != len(self._names):
            raise ArrayTypeError(
                f"[CachedOp] got {len(args)} arrays; {len(self._names)} are needed: "
                f"{', '.join(self._names)}"
            )
        given = dict(zip(self._names, args, strict=True))
        results = self._plan.run({node: given[node.name] for _, node in self._plan.variables})
        if out is not None:
            return write_into(out, results)
        if args:
            results = [in_world(result, args[0]._legacy) for result in results]
        return results[0] if len(results) == 1 else results

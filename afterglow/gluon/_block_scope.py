# SPDX-License-Identifier: Apache-2.0
"""MXNet's class of name scopes, for programs that make one by hand."""

from __future__ import annotations

from typing import Any

from .._core import Scope
from ..name import Prefix
from .block import Block
from .parameter import ParameterDict


class BlockScope(Scope):
    """The ``name_scope`` of a block, or of anything else that has a prefix."""

    def __init__(self, block: Any) -> None:
        self._block = block

    def _enter(self) -> Any:
        if isinstance(self._block, Block):
            return self._block.name_scope()._enter()
        _, changes = Prefix(self._block.prefix)._enter()
        return self, changes

    @staticmethod
    def create(
        prefix: str | None, params: ParameterDict | None, hint: str
    ) -> tuple[str, ParameterDict]:
        """Return prefix and parameters of a block that is made here; ``hint`` is what it is."""
        named = type(hint, (Block,), {"_alias": lambda self: hint})
        made = named(prefix=prefix, params=params)
        return made.prefix, made.params

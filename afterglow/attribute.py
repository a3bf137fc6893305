# SPDX-License-Identifier: Apache-2.0
"""``mx.attribute``: attributes for all symbols made in a ``with`` scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ._core import Scope
from .error import ArrayValueError
from .name import Current

__all__ = ["AttrScope"]


class AttrScope(Scope):
    """Gives attributes to the symbols made in a ``with`` scope; scopes add up.

    >>> from afterglow import AttrScope, sym
    >>> with AttrScope(ctx_group="stage1"):
    ...     x = sym.var("x")
    >>> x.attr("ctx_group")
    'stage1'
    """

    current: ClassVar[Any]

    def __init__(self, **kwargs: str) -> None:
        for value in kwargs.values():
            if not isinstance(value, str):
                raise ArrayValueError("Attributes need to be string")
        self._attributes = kwargs

    def get(self, attr: Mapping[str, str] | None) -> dict[str, str]:
        """Return attributes with those of the scope; what is given goes before."""
        return {**self._attributes, **(attr or {})}

    def _enter(self) -> Any:
        scope = type(self).__new__(type(self))
        scope._attributes = _scopes.entered.get(self._attributes)
        return self, [(_scopes, "entered", scope)]


_scopes = AttrScope.current = Current(AttrScope)  # with the attributes of all scopes around

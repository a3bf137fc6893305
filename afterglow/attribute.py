# SPDX-License-Identifier: Apache-2.0
"""``mx.attribute``: attributes for all symbols made in a ``with`` scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._core import Scope
from .error import ArrayValueError
from .name import Entered, HasCurrent

__all__ = ["AttrScope"]


class AttrScope(Scope, metaclass=HasCurrent):
    """Gives attributes to the symbols made in a ``with`` scope; scopes add up.

    >>> from afterglow import AttrScope, sym
    >>> with AttrScope(ctx_group="stage1"):
    ...     x = sym.var("x")
    >>> x.attr("ctx_group")
    'stage1'
    """

    def __init__(self, **kwargs: str) -> None:
        for value in kwargs.values():
            if not isinstance(value, str):
                raise ArrayValueError("Attributes need to be string")
        self._attr = kwargs

    def get(self, attr: Mapping[str, str] | None) -> dict[str, str]:
        """Return attributes with those of the scope; what is given goes before."""
        return {**self._attr, **(attr or {})}

    def _enter(self) -> Any:
        scope = type(self).__new__(type(self))
        scope._attr = AttrScope._scopes.entered.get(self._attr)
        return self, [(AttrScope._scopes, "entered", scope)]


AttrScope._scopes = Entered(AttrScope)  # with the attributes of all scopes around

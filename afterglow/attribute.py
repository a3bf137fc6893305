# SPDX-License-Identifier: Apache-2.0
"""``mx.attribute``: attributes for all symbols made in a ``with`` scope."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, ClassVar

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

    #: How many graphs inside of nodes were written down, by name.
    _subgraph_names: ClassVar[defaultdict[str, int]] = defaultdict(int)

    def __init__(self, **kwargs: str) -> None:
        for value in kwargs.values():
            if not isinstance(value, str):
                raise ArrayValueError("Attributes need to be string")
        self._attr = kwargs

    def get(self, attr: Mapping[str, str] | None) -> dict[str, str]:
        """Return attributes with those of the scope; what is given goes before."""
        return {**self._attr, **(attr or {})}

    @classmethod
    def _name_of_graph(cls, name: str) -> str:
        """Return a new name for a graph inside of a node, after that of the graph it is in."""
        around = cls.current.get(None).get("__subgraph_name__")
        full = f"{around}${name}" if around else name
        cls._subgraph_names[full] += 1
        return f"{full}{cls._subgraph_names[full] - 1}"

    def _enter(self) -> Any:
        scope = type(self).__new__(type(self))
        scope._attr = AttrScope._scopes.entered.get(self._attr)
        return self, [(AttrScope._scopes, "entered", scope)]


AttrScope._scopes = Entered(AttrScope)  # with the attributes of all scopes around

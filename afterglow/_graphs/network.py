# SPDX-License-Identifier: Apache-2.0
"""The nodes of a symbol in a row, for whoever writes, prints or draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..symbol import Symbol

Output = tuple[int, int]  #: the number of a node, and which of its outputs


@dataclass
class Node:
    """A variable or a call of an op."""

    name: str
    op: str
    attrs: dict[str, str]
    inputs: list[Output]

    @property
    def is_variable(self) -> bool:
        """Whether it stands for an array."""
        return self.op == "null"


def _numbers(symbol: Symbol) -> dict[int, int]:
    return {id(node): number for number, node in enumerate(symbol._nodes())}


def nodes_of(symbol: Symbol) -> list[Node]:
    """Return the nodes, each after those it depends on."""
    numbers = _numbers(symbol)
    return [
        Node(
            node.name,
            node.op,
            node.attributes,
            [(numbers[id(source)], index) for source, index in node.inputs],
        )
        for node in symbol._nodes()
    ]


def heads_of(symbol: Symbol) -> list[Output]:
    """Return which outputs of which nodes are those of the symbol."""
    numbers = _numbers(symbol)
    return [(numbers[id(node)], index) for node, index in symbol._outputs]


def by_output(symbol: Symbol, values: Sequence[Any]) -> dict[Output, Any]:
    """Return what was found out about ``get_internals()`` by node and output."""
    return dict(zip(heads_of(symbol.get_internals()), values, strict=True))

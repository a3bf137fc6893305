# SPDX-License-Identifier: Apache-2.0
"""Graphs inside of nodes: what a loop does in each step, and the sides of a branch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from .._arrays.shapes import Shape
from ..util import is_np_shape
from ._graph import Node, Output, auxiliary, in_order
from ._infer import Inference
from ._run import Plan


class Subgraph:
    """A graph that a node runs. Its variables, in order, are what it takes."""

    def __init__(self, heads: Sequence[Output]) -> None:
        self.heads = list(heads)

    @cached_property
    def inputs(self) -> list[Node]:
        """The variables."""
        return [node for node in in_order(node for node, _ in self.heads) if node.is_variable]

    @cached_property
    def states(self) -> list[int]:
        """Which inputs its ops change as states of their own."""
        found = auxiliary(in_order(node for node, _ in self.heads))
        return [place for place, node in enumerate(self.inputs) if node in found]

    @cached_property
    def _plan(self) -> Plan:
        return Plan(self.heads)

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the heads, computed from arrays for the inputs."""
        return self._plan.run(dict(zip(self.inputs, arrays, strict=True)))

    def shapes(self, known: Sequence[Shape | None]) -> tuple[list[Any], list[Any]]:
        """Return the shapes of inputs and heads that follow from some of the inputs."""
        found = Inference(self.heads, is_np_shape())
        found.infer_types({})
        found.complete_shapes(dict(zip(self.inputs, known, strict=True)))
        return (
            [found.shapes.get((node, 0)) for node in self.inputs],
            [found.shapes.get(head) for head in self.heads],
        )

    def types(self, known: Sequence[int | None]) -> tuple[list[int | None], list[int | None]]:
        """Return the types of inputs and heads that follow from some of the inputs."""
        found = Inference(self.heads, is_np_shape())
        found.complete_types(dict(zip(self.inputs, known, strict=True)))
        return (
            [found.types.get((node, 0)) for node in self.inputs],
            [found.types.get(head) for head in self.heads],
        )

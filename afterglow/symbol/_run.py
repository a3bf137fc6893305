# SPDX-License-Identifier: Apache-2.0
"""Running a graph with arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._arrays.worlds import in_world
from ..error import ArrayNotImplementedError, MXNetError
from ._graph import Node, Output, in_order

Watch = Callable[[Node, int, Any], None]


def failed(node: Node, error: Exception, arrays: Sequence[Any]) -> MXNetError:
    """Return the error of a node, which names it and the shapes of its inputs."""
    shapes = ", ".join(str(array.shape) for array in arrays)
    text = f"Error in operator {node.name}: {error}\n  inputs of {node.op}: {shapes or 'none'}"
    if isinstance(error, NotImplementedError):
        return ArrayNotImplementedError(text)
    return MXNetError(text)


class _Step:
    """A node to run: where its inputs are, where its outputs go, which values end with it."""

    def __init__(self, node: Node, sources: list[tuple[int, int]]) -> None:
        self.node = node
        self.entry = node.entry
        self.values = node.values
        self.names = node.input_names()
        self.sources = sources
        self.dying: list[int] = []

    def run(self, arrays: list[Any]) -> list[Any]:
        entry = self.entry
        try:
            return entry.call(
                self.values, self.names, [in_world(array, entry.legacy) for array in arrays]
            )
        except Exception as error:
            raise failed(self.node, error, arrays) from error


class Plan:
    """The order in which a graph runs. Values that nobody needs any more are let go."""

    def __init__(self, heads: Sequence[Output]) -> None:
        nodes = in_order(node for node, _ in heads)
        places = {node: place for place, node in enumerate(nodes)}
        self.variables = [(places[node], node) for node in nodes if node.is_variable]
        self._heads = [(places[node], index) for node, index in heads]
        self._size = len(nodes)
        self._steps: list[tuple[int, _Step]] = []
        last: dict[int, _Step] = {}
        for node in nodes:
            if node.is_variable:
                continue
            step = _Step(node, [(places[source], index) for source, index in node.inputs])
            self._steps.append((places[node], step))
            for place, _ in step.sources:
                last[place] = step
        kept = {place for place, _ in self._heads}
        for place, step in last.items():
            if place not in kept:
                step.dying.append(place)

    def run(self, given: Mapping[Node, Any], watch: Watch | None = None) -> list[Any]:
        """Return the heads, computed from the arrays that stand for variables."""
        results: list[Any] = [None] * self._size
        for place, node in self.variables:
            results[place] = [given[node]]
        for place, step in self._steps:
            arrays = [results[source][index] for source, index in step.sources]
            results[place] = step.run(arrays)
            if watch is not None:
                for index, array in enumerate(results[place]):
                    watch(step.node, index, array)
            for dying in step.dying:
                results[dying] = None
        return [results[place][index] for place, index in self._heads]

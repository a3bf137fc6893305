# SPDX-License-Identifier: Apache-2.0
"""Running a graph with arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._arrays.shapes import Shape
from .._arrays.worlds import in_world
from ..context import Context
from ..util import is_np_shape
from ._graph import Node, Output, failed, in_order
from ._infer import Inference
from ._shapes import is_complete

#: Sees a node, its inputs and its results.
Watch = Callable[[Node, Sequence[Any], Sequence[Any]], None]


class _Step:
    """A node to run: where its inputs are, where its outputs go, which values end with it."""

    def __init__(self, node: Node, sources: list[tuple[int, int]]) -> None:
        self.node = node
        self.entry = node.entry
        self.values = node.values
        self.names = node.input_names()
        self.sources = sources
        self.device: Context | None = None  #: where it runs; None for where its first input is
        self.dying: list[int] = []

    def run(self, arrays: list[Any], shape: Shape | None = None) -> list[Any]:
        entry = self.entry
        if self.device is not None:
            arrays = [array.as_in_context(self.device) for array in arrays]
        values = self.values if shape is None else {**self.values, "shape": shape}
        try:
            return entry.call(
                values, self.names, [in_world(array, entry.legacy) for array in arrays]
            )
        except Exception as error:
            raise failed(self.node, error, arrays) from error


class Plan:
    """The order in which a graph runs. Values that nobody needs any more are let go.

    With ``devices`` each call runs on its own, and what comes from another one is copied.
    """

    def __init__(
        self, heads: Sequence[Output], devices: Mapping[Node, Context] | None = None
    ) -> None:
        nodes = in_order(node for node, _ in heads)
        self._outputs = heads
        self._has_open = any(
            node.open_shape(unknown) is not None for node in nodes for unknown in (0, -1)
        )
        self._found: dict[tuple[Any, ...], dict[Node, Shape]] = {}
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
            step.device = None if devices is None else devices[node]
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
        shapes = self._open_shapes(given) if self._has_open else {}
        for place, step in self._steps:
            arrays = [results[source][index] for source, index in step.sources]
            results[place] = step.run(arrays, shapes.get(step.node))
            if watch is not None:
                watch(step.node, arrays, results[place])
            for dying in step.dying:
                results[dying] = None
        return [results[place][index] for place, index in self._heads]

    def _open_shapes(self, given: Mapping[Node, Any]) -> dict[Node, Shape]:
        """Return the shapes of new arrays that were left open, from those of the variables."""
        known = [(node, given[node]) for _, node in self.variables]
        key = (is_np_shape(), *((array.shape, array._dtype_number) for _, array in known))
        if key not in self._found:
            found = Inference(self._outputs, is_np_shape())
            found.infer_types({node.name: array.dtype for node, array in known})
            found.infer_shapes({node.name: array.shape for node, array in known})
            shapes = {node: found.shapes.get((node, 0)) for node in found.open_nodes()}
            self._found[key] = {
                node: shape for node, shape in shapes.items() if shape and is_complete(shape)
            }
        return self._found[key]

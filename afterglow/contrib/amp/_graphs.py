# SPDX-License-Identifier: Apache-2.0
"""Graphs with casts put in where ops take another type than they would get."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..._arrays.dtypes import dtype_number
from ...symbol._graph import Node, Output, auxiliary, in_order
from ...symbol.symbol import Symbol

FLOAT16, FLOAT32 = "float16", "float32"


@dataclass(frozen=True)
class Precisions:
    """What each op takes, by its name in files; ``exempt`` are names of nodes left alone."""

    low: Collection[str]
    full: Collection[str]
    conditional: Mapping[tuple[str, str], Collection[str]]
    widest: Collection[str]
    exempt: Collection[str]

    def of(self, node: Node) -> str | None:
        """Return the type that a node takes, ``"widest"``, or None where it takes any."""
        if node.name in self.exempt:
            return FLOAT32
        if node.op in self.low:
            return FLOAT16
        if node.op in self.full:
            return FLOAT32
        for (op, parameter), values in self.conditional.items():
            if node.op == op and str(node.attributes.get(parameter)) in values:
                return FLOAT32
        return "widest" if node.op in self.widest else None


class _Conversion:
    """A copy of a graph that grows node by node, with what is known of the types of outputs."""

    def __init__(self, precisions: Precisions, states: Collection[Node]) -> None:
        self._precisions = precisions
        self._states = states
        self._copies: dict[Node, Node] = {}
        self._types: dict[Output, str] = {}
        self._casts: dict[tuple[Output, str], Output] = {}

    def output(self, output: Output) -> Output:
        """Return where an output of the graph is in the copy."""
        return self._copies[output[0]], output[1]

    def add(self, node: Node) -> None:
        """Copy a node, whose inputs have been copied."""
        inputs = [self.output(one) for one in node.inputs]
        if node.is_variable:
            self._copies[node] = node.copy(())
            return
        wanted = self._precisions.of(node)
        changing = [place for place, (one, _) in enumerate(node.inputs) if one not in self._states]
        if wanted == "widest":
            wanted = self._widest([inputs[place] for place in changing])
        if wanted == "multicast":
            several = Node(
                "amp_multicast",
                f"{_name(inputs[changing[0]])}_amp_multicast",
                {"num_outputs": str(len(changing))},
                [inputs[place] for place in changing],
            )
            for number, place in enumerate(changing):
                inputs[place] = several, number
        elif wanted is not None:
            for place in changing:
                inputs[place] = self._cast(inputs[place], wanted)
        copy = self._copies[node] = node.copy(inputs)
        result = wanted or (self._types.get(inputs[0]) if inputs else None)
        if result in (FLOAT16, FLOAT32):
            for index in range(len(node.output_names())):
                self._types[copy, index] = result

    def _widest(self, inputs: list[Output]) -> str | None:
        types = {self._types.get(one) for one in inputs}
        if FLOAT32 in types:
            return FLOAT32
        if types == {FLOAT16}:
            return FLOAT16
        return "multicast" if len(inputs) > 1 else None

    def _cast(self, output: Output, wanted: str) -> Output:
        """Return an output in another type; nodes share a cast."""
        known = self._types.get(output)
        if known == wanted or (known is None and wanted == FLOAT32 and output[0].is_variable):
            return output
        if (output, wanted) not in self._casts:
            name = f"{_name(output)}_amp_cast_{wanted}"
            cast = Node("amp_cast", name, {"dtype": wanted}, [output]), 0
            self._casts[output, wanted] = cast
            self._types[cast] = wanted
        return self._casts[output, wanted]


def _name(output: Output) -> str:
    return output[0].output_name(output[1])


def converted(symbol: Symbol, precisions: Precisions) -> Symbol:
    """Return a symbol with casts where ops take another type than they would get."""
    nodes = in_order(node for node, _ in symbol._outputs)
    conversion = _Conversion(precisions, auxiliary(nodes))
    for node in nodes:
        conversion.add(node)
    return type(symbol)([conversion.output(one) for one in symbol._outputs])


def typed(symbol: Symbol, names: Collection[str], is_narrow: bool) -> Symbol:
    """Return a symbol whose variables of these names state that they are float32.

    If ``is_narrow``, those that are read by casts to float16 alone are float16, without the casts.
    """
    nodes = in_order(node for node, _ in symbol._outputs)
    readers: dict[Node, list[Node]] = {}
    for node in nodes:
        for source, _ in node.inputs:
            readers.setdefault(source, []).append(node)
    stated = {node for node in nodes if node.is_variable and node.name in names}
    narrow = {
        node
        for node in (stated if is_narrow else ())
        if node in readers
        and all(one.op == "amp_cast" and one.values["dtype"] == FLOAT16 for one in readers[node])
    }
    copies: dict[Node, Node] = {}
    for node in nodes:
        if node.op == "amp_cast" and node.inputs[0][0] in narrow:
            copies[node] = copies[node.inputs[0][0]]
            continue
        copy = copies[node] = node.copy([(copies[one], index) for one, index in node.inputs])
        if node in stated:
            wanted = FLOAT16 if node in narrow else FLOAT32
            copy.attributes["__dtype__"] = str(dtype_number(wanted))
    return type(symbol)([(copies[node], index) for node, index in symbol._outputs])

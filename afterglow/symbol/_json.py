# SPDX-License-Identifier: Apache-2.0
"""Graphs as JSON, laid out as MXNet's files are; older layouts are read too.

What is read is checked before it is used: an input may only name a node before its own, so a graph
from a file has no cycles.
"""

from __future__ import annotations

import json
from typing import Any

from ..error import ArrayValueError, MXNetError
from . import _loops
from ._attributes import HIDDEN, hidden
from ._graph import VARIABLE, Node, Output, auxiliary, in_order
from ._names import canonical
from ._subgraph import Subgraph

_VERSION = 10901  #: MXNet 1.9.1
_MOST_NESTED = 64  #: graphs inside of nodes of graphs; deeper ones are damage


# --- writing ---


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _object(members: list[tuple[str, str]], indent: int) -> str:
    """Return members in braces: one in a line of its own, several on lines each."""
    inner = [f"{_quoted(name)}: {text}" for name, text in members]
    return _layout("{", inner, "}", indent, len(inner) > 1)


def _layout(start: str, items: list[str], end: str, indent: int, lines: bool) -> str:
    if not lines:
        return start + ", ".join(items) + end
    margin = "\n" + " " * (indent + 2)
    return start + margin + f", {margin}".join(items) + "\n" + " " * indent + end


def _numbers(numbers: list[int], indent: int) -> str:
    return _layout("[", [str(number) for number in numbers], "]", indent, len(numbers) > 10)


def to_json(heads: list[Output], numpy_shapes: bool) -> str:
    """Return a graph as the text of a file."""
    versions = [("mxnet_version", f'["int", {_VERSION}]')]
    if numpy_shapes:
        versions.insert(0, ("is_np_shape", '["int", 1]'))
    return _object([*_members(heads, 0), ("attrs", _object(versions, 2))], 0)


def _members(heads: list[Output], indent: int) -> list[tuple[str, str]]:
    """Return the members of a graph."""
    nodes = in_order(node for node, _ in heads)
    numbers = {node: number for number, node in enumerate(nodes)}
    states = auxiliary(nodes)

    def written(output: Output) -> str:
        node, index = output
        return f"[{numbers[node]}, {index}, {int(node in states)}]"

    texts, rows = [], [0]
    for node in nodes:
        members = [("op", _quoted(node.op)), ("name", _quoted(node.name))]
        if node.attributes:
            attributes = sorted(node.attributes.items())
            texts_of = [(key, _quoted(value)) for key, value in attributes]
            members.append(("attrs", _object(texts_of, indent + 6)))
        members.append(("inputs", f"[{', '.join(written(one) for one in node.inputs)}]"))
        if node.subgraphs and "subgraph" not in node.attributes:
            graphs = [
                _object(_members(graph.heads, indent + 8), indent + 8) for graph in node.subgraphs
            ]
            members.append(("subgraphs", _layout("[", graphs, "]", indent + 6, True)))
        texts.append(_object(members, indent + 4))
        rows.append(rows[-1] + node.count_outputs())
    variables = [numbers[node] for node in nodes if node.is_variable]
    return [
        ("nodes", _layout("[", texts, "]", indent + 2, True)),
        ("arg_nodes", _numbers(variables, indent + 2)),
        ("node_row_ptr", _numbers(rows, indent + 2)),
        ("heads", f"[{', '.join(f'[{numbers[node]}, {i}, 0]' for node, i in heads)}]"),
    ]


# --- reading ---


class _Reader:
    """Reads one graph, and says where it is wrong."""

    def __init__(self, source: str) -> None:
        self._source = source

    def wrong(self, what: str) -> MXNetError:
        return ArrayValueError(f"[load_json] {self._source} is no graph, or damaged: {what}")

    def need(self, value: Any, kind: type, what: str) -> Any:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.wrong(f"{what} is {str(value)[:60]!r}; it must be {_KINDS[kind]}")
        return value

    def read(self, text: str) -> tuple[list[Output], bool]:
        try:
            graph = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.wrong(str(error)) from None
        heads = self._graph(graph, "the file", 0)
        attributes = graph.get("attrs") or {}
        return heads, bool(isinstance(attributes, dict) and "is_np_shape" in attributes)

    def _graph(self, graph: Any, what: str, depth: int) -> list[Output]:
        """Return the heads of a graph."""
        if depth > _MOST_NESTED:
            raise self.wrong(f"graphs are nested more than {_MOST_NESTED} deep")
        self.need(graph, dict, what)
        nodes: list[Node] = []
        for number, item in enumerate(self.need(graph.get("nodes"), list, "nodes")):
            nodes.append(self._node(number, item, nodes, depth))
        heads = [
            self._output(one, nodes, "a head")
            for one in self.need(graph.get("heads"), list, "heads")
        ]
        if not heads:
            raise self.wrong("there are no heads")
        return heads

    def _node(self, number: int, item: Any, nodes: list[Node], depth: int) -> Node:
        what = f"node {number}"
        self.need(item, dict, what)
        op = self.need(item.get("op"), str, f"the op of {what}")
        name = self.need(item.get("name"), str, f"the name of {what}")
        attributes: dict[str, str] = {}
        for key in ("param", "attr", "attrs"):  # what older versions of MXNet wrote, oldest first
            found = self.need(item.get(key) or {}, dict, f"{key} of {what}")
            for member, value in found.items():
                attributes[member] = self.need(value, str, f"{member} of {what} ({name})")
        inputs = [
            self._output(one, nodes, f"an input of {what} ({name})")
            for one in self.need(item.get("inputs", []), list, f"the inputs of {what}")
        ]
        if op == VARIABLE:
            if inputs:
                raise self.wrong(f"{what} ({name}) is a variable and has inputs")
            return Node(op, name, hidden(attributes))
        subgraphs = [
            Subgraph(self._graph(one, f"a graph in {what} ({name})", depth + 1))
            for one in self.need(item.get("subgraphs") or [], list, f"subgraphs of {what}")
        ]
        return self._upgraded(Node(op, name, attributes, inputs, subgraphs))

    def _output(self, item: Any, nodes: list[Node], what: str) -> Output:
        self.need(item, list, what)
        if not 2 <= len(item) <= 3:
            raise self.wrong(f"{what} has {len(item)} numbers; it must have 2 or 3")
        number, index = (self.need(one, int, what) for one in item[:2])
        if not 0 <= number < len(nodes):
            raise self.wrong(f"{what} is node {number}; there are {len(nodes)} before it")
        node = nodes[number]
        try:
            count = node.count_outputs()
        except (MXNetError, KeyError, TypeError, ValueError) as error:
            raise self.wrong(f"outputs of {node.name}: {error}") from None
        if index < 0 or (index >= count and (node.is_variable or node.entry.is_known)):
            raise self.wrong(f"{what} is output {index} of {node.name}, which has {count}")
        return node, index

    def _upgraded(self, node: Node) -> Node:
        """Return a node of an older version of MXNet as today's would be."""
        node.op = canonical(node.op.removesuffix("_v1"))
        self._spread_hidden(node)
        entry = node.entry
        if node.op in _loops.PARAMETERS:
            try:
                _loops.check(node.op, node.values, len(node.inputs))
            except (KeyError, TypeError, ValueError) as error:
                raise self.wrong(f"{node.name}: {error}") from None
        elif node.subgraphs and entry.is_known:
            raise self.wrong(f"{node.name} is a {node.op}, which holds no graphs")
        if not entry.is_known or entry.variadic:
            return node
        try:
            names = entry.input_names(node.values)
        except (MXNetError, KeyError, TypeError, ValueError) as error:
            raise self.wrong(f"attributes of {node.name}: {error!r}") from None
        # States were not listed as inputs once.
        for name in names[len(node.inputs) :]:
            node.inputs.append(node.new_input(name))
        return node

    def _spread_hidden(self, node: Node) -> None:
        """Give attributes such as weight_lr_mult to the variables they mean."""
        own: dict[str, str] = {}
        for key, value in node.attributes.items():
            for kind in HIDDEN:
                if key.endswith(f"_{kind}") and not key.startswith("__"):
                    wanted = f"{node.name}_{key.removesuffix(f'_{kind}')}"
                    for source, _ in node.inputs:
                        if source.is_variable and source.name == wanted:
                            source.attributes.setdefault(f"__{kind}__", value)
                    break
            else:
                own[key] = value
        node.attributes = hidden(own)


_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a text", int: "a whole number"}


def from_json(text: str, source: str) -> tuple[list[Output], bool]:
    """Return the heads of the graph in a text, and whether it has shapes as NumPy's."""
    return _Reader(source).read(text)


def subgraph_of(text: str) -> Subgraph:
    """Return the graph that a node keeps as text."""
    return Subgraph(from_json(text, "the attribute subgraph")[0])

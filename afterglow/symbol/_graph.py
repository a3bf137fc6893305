# SPDX-License-Identifier: Apache-2.0
"""Nodes of graphs, and walks over them. Graphs may be deep: nothing here recurses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .._arrays.shapes import Shape
from ..error import ArrayNotImplementedError, MXNetError
from ._attributes import Attributes
from ._custom import prop
from ._loops import PARAMETERS, places
from ._ops import Entry, find

if TYPE_CHECKING:
    from ._subgraph import Subgraph

VARIABLE = "null"  #: the op of variables, as files have it

#: Ops of one input whose name monitors are told; of all others they are told its number.
_NAME_THEIR_INPUT = frozenset(
    (
        *("Dropout", "GridGenerator", "L2Normalization", "LRN", "MakeLoss", "Pad", "Pooling"),
        *("SliceChannel", "SwapAxis", "_contrib_MultiBoxPrior", "_contrib_fft", "_contrib_ifft"),
        *("_contrib_index_array", "_contrib_quadratic", "_image_normalize", "_image_to_tensor"),
        *("_ravel_multi_index", "_split_v2", "_unravel_index", "col2im", "depth_to_space", "diag"),
        *("im2col", "log_softmax", "moments", "repeat", "reverse", "space_to_depth", "squeeze"),
        "tile",
    )
)


class Node:
    """A variable, or a call of an op: name, attributes (text), inputs, and graphs that it holds."""

    def __init__(
        self,
        op: str,
        name: str,
        attributes: dict[str, str],
        inputs: Sequence[Output] = (),
        subgraphs: Sequence[Subgraph] = (),
    ) -> None:
        self.op = op
        self.name = name
        self.attributes = attributes
        self.inputs = list(inputs)
        self.subgraphs = list(subgraphs) or _kept_as_text(op, attributes)

    def copy(self, inputs: Sequence[Output]) -> Node:
        """Return the same call of other inputs."""
        return Node(self.op, self.name, dict(self.attributes), inputs, self.subgraphs)

    def open_shape(self, unknown: int) -> Shape | None:
        """Return the shape of new arrays with an extent that is left open, as -1; else none.

        -1 always leaves one open; 0 does where shapes are not NumPy's. Random numbers without a
        shape have that of what stands beside them: all of it is open.
        """
        if self.inputs or self.is_variable:
            return None
        shape = self.values.get("shape")
        if not shape and unknown == 0 and self.op.startswith("_random_"):
            return ()
        if not isinstance(shape, tuple) or not {unknown, -1}.intersection(shape):
            return None
        return tuple(-1 if extent == unknown else extent for extent in shape)

    @property
    def is_variable(self) -> bool:
        """Whether it stands for an array to come."""
        return self.op == VARIABLE

    @property
    def is_loss(self) -> bool:
        """Whether its gradient starts by itself."""
        if self.op == "Custom":
            return not prop(self.attributes).need_top_grad_
        return self.entry.is_loss

    @property
    def draws(self) -> bool:
        """Whether it draws random numbers, even in passes that do not train."""
        if self.op == "Dropout":
            return self.values.get("mode") == "always"
        return self.op.startswith("_sample") or self.entry.is_random

    @cached_property
    def entry(self) -> Entry:
        """What is known of the op."""
        return find(self.op)

    @property
    def values(self) -> Attributes:
        """The parameters of the op, as what they mean, and the graphs that the node holds."""
        values = self.entry.values(self.attributes)
        return {**values, "subgraphs": self.subgraphs} if self.op in PARAMETERS else values

    def input_names(self) -> tuple[str, ...]:
        """Return the names of the inputs that are there."""
        return self.entry.input_names(self.values, len(self.inputs))

    def watched_names(self) -> tuple[str, ...]:
        """Return the names of the inputs as monitors are told them."""
        if self.entry.inputs == ("data",) and self.op not in _NAME_THEIR_INPUT:
            return ("input0",)
        return self.input_names()

    def output_names(self) -> tuple[str, ...]:
        """Return the names of the outputs, without that of the node."""
        return ("",) if self.is_variable else self.entry.output_names(self.values)

    def output_name(self, index: int) -> str:
        """Return the full name of an output."""
        if self.is_variable:
            return self.name
        names = self.output_names()
        own = names[index] if index < len(names) else f"output{index}"
        return f"{self.name}_{own}" if self.name else own

    def new_input(self, name: str) -> Output:
        """Return a variable for an input that nobody has given."""
        variable = Node(VARIABLE, f"{self.name}_{name}", dict(self.attributes))
        variable.begin(self.entry.initial.get(name))
        return variable, 0

    def begin(self, initial: str | None) -> None:
        """Let a variable begin as the op that it is for says, unless its own attributes do."""
        if initial is not None and self.is_variable:
            self.attributes.setdefault("__init__", initial)

    def count_outputs(self) -> int:
        """Return how many outputs files count."""
        return 1 if self.is_variable else self.entry.count_outputs(self.values)


def _kept_as_text(op: str, attributes: dict[str, str]) -> list[Subgraph]:
    """Return the graph that a node has as an attribute."""
    if op != "_CachedOp" or "subgraph" not in attributes:
        return []
    from ._json import subgraph_of

    return [subgraph_of(attributes["subgraph"])]


Output = tuple[Node, int]  #: a node and the number of its output


def in_order(heads: Iterable[Node]) -> list[Node]:
    """Return all nodes that heads depend on: inputs first, from left to right."""
    found: dict[Node, None] = {}
    for head in heads:
        if head in found:
            continue
        stack = [(head, iter(head.inputs))]
        entered = {head}
        while stack:
            node, left = stack[-1]
            for one, _ in left:
                if one not in found and one not in entered:
                    entered.add(one)
                    stack.append((one, iter(one.inputs)))
                    break
            else:
                stack.pop()
                found[node] = None
    return list(found)


def auxiliary(nodes: Iterable[Node]) -> set[Node]:
    """Return the variables that ops change as states of their own."""
    result = set()
    for node in nodes:
        if not node.is_variable and node.entry.auxiliary:
            for name, (source, _) in zip(node.input_names(), node.inputs, strict=False):
                if name in node.entry.auxiliary and source.is_variable:
                    result.add(source)
        if node.op == "Custom":
            count = len(prop(node.attributes).list_arguments())
            result.update(source for source, _ in node.inputs[count:] if source.is_variable)
        if node.op in PARAMETERS:
            for graph, taken in zip(node.subgraphs, places(node.op, node.values), strict=True):
                inputs = (node.inputs[taken[state]][0] for state in graph.states)
                result.update(source for source in inputs if source.is_variable)
    return result


def substituted(heads: Sequence[Output], replace: Callable[[Node], Output | None]) -> list[Output]:
    """Return a copy of a graph in which some variables are outputs of other graphs."""
    copies: dict[Node, Output | Node] = {}

    def new(output: Output) -> Output:
        copy = copies[output[0]]
        return copy if isinstance(copy, tuple) else (copy, output[1])

    for node in in_order(head for head, _ in heads):
        found = replace(node) if node.is_variable else None
        if found is not None:
            copies[node] = found
        elif node.is_variable:
            copies[node] = node
        else:
            copies[node] = node.copy([new(one) for one in node.inputs])
    return [new(head) for head in heads]


def failed(node: Node, error: Exception, arrays: Sequence[Any]) -> MXNetError:
    """Return the error of a node, which names it and the shapes of its inputs."""
    shapes = ", ".join(str(array.shape) for array in arrays)
    text = f"Error in operator {node.name}: {error}\n  inputs of {node.op}: {shapes or 'none'}"
    if isinstance(error, NotImplementedError):
        return ArrayNotImplementedError(text)
    return MXNetError(text)

# SPDX-License-Identifier: Apache-2.0
"""Shapes and types of a graph, found without computing anything.

Where an op does not say its result's shape itself, its function is called with arrays that have no
values, and what it issues is inferred and forgotten. For extents that are not known it is called
twice, with different numbers in their place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import autograd
from .._arrays.dtypes import BOOL, FLOAT32, INT32, dtype_number
from .._arrays.shapes import Shape, as_integers
from .._core import AnomalyScope, infer_only, operation
from ..error import MXNetError
from ._attributes import as_value
from ._graph import Node, Output, failed, in_order
from ._shapes import is_complete, merged

_Hole = tuple[int, int]  #: an input and the axis whose extent is not known

#: Ops that give what there is of an axis where it has fewer elements than are asked for.
_CUTS = frozenset(("slice", "slice_axis", "_npi_slice"))
#: Ops that leave the number of elements, and the order of the extents, as they are.
_RESHAPES = frozenset(("Reshape", "_np_reshape", "_npx_reshape"))

_MOST_PASSES = 32  #: over a graph; each but the last completes a shape


class _Probes:
    """Numbers in the place of unknown extents, twice: what stays the same in a result is known.

    An extent of the result that grows just as an unknown one is that one, and so many more. Extents
    of several inputs may have to be equal, so numbers are given to kinds of extents.
    """

    #: What kinds are: each extent is one, those of one axis are, or all are.
    TIES: tuple[Callable[[_Hole], _Hole], ...] = (
        lambda hole: hole,
        lambda hole: (0, hole[1]),
        lambda hole: (0, 0),
    )
    _UNIT = 60  # can be cut into 2, 3, 4, 5, 6, 10 and 12, and windows fit
    _STEPS = (7, 11, 13, 17, 19, 23, 29, 31)  # none is a multiple of another

    def __init__(self, shapes: Sequence[Shape], tie: Callable[[_Hole], _Hole]) -> None:
        self._shapes = shapes
        holes = [
            (place, axis)
            for place, shape in enumerate(shapes)
            for axis, extent in enumerate(shape)
            if extent == -1
        ]
        kinds = {kind: number for number, kind in enumerate(dict.fromkeys(map(tie, holes)))}
        self.can_be = len(kinds) <= len(self._STEPS)
        self._numbers = {hole: kinds[tie(hole)] for hole in holes}

    def _first(self, number: int) -> int:
        return self._UNIT * (number + 2)

    def shapes(self, again: bool) -> list[Shape]:
        """Return the shapes with numbers in them; others the second time."""
        return [
            tuple(
                self._first(self._numbers[place, axis])
                + again * self._UNIT * self._STEPS[self._numbers[place, axis]]
                if extent == -1
                else extent
                for axis, extent in enumerate(shape)
            )
            for place, shape in enumerate(self._shapes)
        ]

    def of_inputs(self, first: int, second: int, known: int) -> dict[_Hole, int]:
        """Return the extents of inputs that follow from one of a result, which is known."""
        for number in self._numbers.values():
            if second - first == self._UNIT * self._STEPS[number]:
                extent = known - (first - self._first(number))
                return {one: extent for one, same in self._numbers.items() if same == number}
        return {}


def _checked(shape: Shape) -> Shape:
    """Refuse what no shape can be: it comes from parameters that are no numbers, or negative."""
    extents = as_integers(shape, "shape")
    if any(extent < -1 for extent in extents):
        raise ValueError(f"{extents} has negative extents")
    return extents


class Inference:
    """The shapes and types of all outputs in a graph, as far as they follow from what is given."""

    def __init__(self, heads: Sequence[Output], numpy_shapes: bool) -> None:
        self.nodes = in_order(node for node, _ in heads)
        self._unknown = -1 if numpy_shapes else 0
        self.shapes: dict[Output, Shape | None] = {}
        self.types: dict[Output, int | None] = {}
        self._has_news = False  # in this pass
        self._done: set[Node] = set()
        self._asked: dict[Node, tuple[Shape | None, ...]] = {}  # with which shapes, at last

    # --- shapes ---

    def infer_shapes(self, given: Mapping[str, Any]) -> None:
        """Find all shapes that follow from those of some variables, given by name."""
        variables = [node for node in self.nodes if node.is_variable]
        shapes = {}
        for node in variables:
            shape = given.get(node.name)
            shapes[node] = None if shape is None else self._given(node, shape)
        self.complete_shapes(shapes)

    def complete_shapes(self, known: Mapping[Node, Shape | None]) -> None:
        """Find all shapes that follow from those of some variables; unknown extents are -1."""
        for node in self.nodes:
            if not node.is_variable:
                continue
            shape = known.get(node)
            if shape is None and "__shape__" in node.attributes:  # what is given goes before
                shape = self._given(node, as_value(node.attributes["__shape__"]))
            self.shapes[node, 0] = shape
        calls = [node for node in self.nodes if not node.is_variable]
        with autograd.pause():
            for _ in range(_MOST_PASSES):
                self._has_news = False
                for node in calls:
                    self._forward(node)
                for node in reversed(calls):
                    self._backward(node)
                if not self._has_news:
                    return

    def _given(self, node: Node, told: Any) -> Shape | None:
        try:
            return self._read(told)
        except (ValueError, TypeError) as error:
            raise MXNetError(f"the shape of {node.name} does not fit: {error}") from None

    def _read(self, value: Any) -> Shape | None:
        """Return a shape with unknown extents as -1."""
        shape = as_integers(value, "shape")
        if self._unknown == 0 and not shape:
            return None
        return tuple(-1 if extent == self._unknown or extent < 0 else extent for extent in shape)

    def public(self, shape: Shape | None) -> Shape | None:
        """Return a shape as the user knows it: unknown ones are () for nd and None for np."""
        if shape is None:
            return () if self._unknown == 0 else None
        return tuple(self._unknown if extent == -1 else extent for extent in shape)

    def _set(self, output: Output, shape: Shape | None, node: Node, what: str) -> None:
        """Add to what is known, and note whether it was news."""
        known = self.shapes.get(output)
        try:
            together = merged(known, None if shape is None else _checked(shape))
        except (ValueError, TypeError) as error:
            raise MXNetError(f"Error in operator {node.name}: shapes of {what}: {error}") from None
        self.shapes[output] = together
        self._has_news |= together != known

    def open_nodes(self) -> list[Node]:
        """Return the nodes of new arrays whose shapes have extents that are left open."""
        return [node for node in self.nodes if node.open_shape(self._unknown) is not None]

    def _forward(self, node: Node) -> None:
        """Find shapes of the results, and of inputs that the op says itself."""
        if node in self._done:
            return
        shape = node.open_shape(self._unknown)
        if shape is not None:
            self._set((node, 0), shape or None, node, "the new array")
            return
        names = node.input_names()
        try:
            known = [self.shapes.get(source) for source in node.inputs]
            inputs, results = node.entry.completed(node.values, names, known)
            for name, source, shape in zip(names, node.inputs, inputs, strict=True):
                if shape is not None:
                    self._set(source, shape, node, name)
            self._set_results(node, results)
            if not results or not all(map(is_complete, results)):
                self._set_results(node, self._called(node))
        except MXNetError as error:
            if str(error).startswith("Error in operator"):
                raise
            raise failed(node, error, ()) from error
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:
            raise failed(node, error, ()) from error

    def _set_results(self, node: Node, shapes: Sequence[Shape]) -> None:
        for index, shape in enumerate(shapes):
            self._set((node, index), shape, node, f"output {index}")

    def _called(self, node: Node) -> list[Shape]:
        """Return the shapes of the outputs of a call, as far as those of the inputs are known."""
        shapes = [self.shapes.get(source) for source in node.inputs]
        known = [shape for shape in shapes if shape is not None]
        is_callable = node.entry.function is not None and not node.subgraphs
        if len(known) < len(shapes) or not is_callable:
            return []
        if any(-1 in shape for shape in known):
            return self._probed(node, known)
        self._done.add(node)
        outputs = self._outputs_of(node, known)
        for index, output in enumerate(outputs):
            self.types[node, index] = output._dtype_number
        return [output.shape for output in outputs]

    def _outputs_of(self, node: Node, shapes: Sequence[Shape]) -> list[Any]:
        """Return what a call gives for inputs of these shapes; nothing has a value."""
        new = operation("copy", node.entry.legacy)
        arrays: list[Any] = []

        def call() -> list[Any]:
            for shape, source in zip(shapes, node.inputs, strict=True):
                arrays.append(new(0, shape=shape, dtype=self._type(source)))
            return node.entry.call(node.values, node.input_names(), arrays)

        try:
            with AnomalyScope(False, False):  # which would look at values
                outputs: list[Any] = infer_only(call)
                return outputs
        except Exception as error:
            raise failed(node, error, arrays) from error

    def _probed(self, node: Node, known: list[Shape]) -> list[Shape]:
        """Return what is known of the outputs where extents of the inputs are not."""
        count = len(node.output_names())
        key = (*known, *(self.shapes.get((node, index)) for index in range(count)))
        if not node.entry.takes_unknown or self._asked.get(node) == key:
            return []
        self._asked[node] = key
        for tie in _Probes.TIES:
            probes = _Probes(known, tie)
            if not probes.can_be:
                continue
            try:
                first, second = (
                    [one.shape for one in self._outputs_of(node, probes.shapes(again))]
                    for again in (False, True)
                )
            except MXNetError:  # extents that must be equal, or do not suit the op
                continue
            return self._from_probes(node, probes, first, second)
        return []

    def _from_probes(
        self, node: Node, probes: _Probes, first: list[Shape], second: list[Shape]
    ) -> list[Shape]:
        """Return what two answers say of the outputs, and tell inputs what outputs say of them."""
        results = []
        found: dict[_Hole, int] = {}
        for index, (one, other) in enumerate(zip(first, second, strict=True)):
            if len(one) != len(other):
                return []
            results.append(tuple(x if x == y else -1 for x, y in zip(one, other, strict=True)))
            told = self.shapes.get((node, index))
            for x, y, extent in zip(one, other, told or (), strict=False):
                if x != y and extent != -1:
                    found.update(probes.of_inputs(x, y, extent))
        if node.entry.name in _CUTS:
            taken = self.shapes[node.inputs[0]] or ()
            pairs = zip(results[0], taken, strict=True)
            results[0] = tuple(-1 if own == -1 and got > 1 else got for got, own in pairs)
        for (place, axis), extent in found.items():
            source = node.inputs[place]
            shape = list(self.shapes[source] or ())
            shape[axis] = extent
            self._set(source, tuple(shape), node, node.input_names()[place])
        return results

    def _type(self, source: Output) -> int:
        known = self.types.get(source)
        return FLOAT32 if known is None else known

    def _backward(self, node: Node) -> None:
        """Tell inputs what is known of the result: of ops on elements, and of other shapes."""
        shape = self.shapes.get((node, 0))
        if shape is None:
            return
        for place in node.entry.places_alike(node.input_names()):
            self._set(node.inputs[place], shape, node, "the inputs")
        if node.entry.name in _RESHAPES:
            self._set(node.inputs[0], self._before(node, shape), node, "the input")
        if node.op == "_rnn_param_concat":
            self._share(node, shape)

    def _share(self, node: Node, shape: Shape) -> None:
        """Tell vectors of weights that are not known: equal parts of what the others leave.

        The layers of both directions see the same data.
        """
        known = [self.shapes.get(source) for source in node.inputs]
        places = [place for place, one in enumerate(known) if one == (-1,)]
        left = shape[0] - sum(one[0] for one in known if one is not None and one != (-1,))
        if not places or None in known or shape[0] == -1 or left % len(places):
            return
        for place in places:
            self._set(node.inputs[place], (left // len(places),), node, "the weights")

    def _before(self, node: Node, shape: Shape) -> Shape | None:
        """Return what was reshaped: the one extent that is not known follows from the others."""
        own = self.shapes.get(node.inputs[0])
        if own is None or own.count(-1) != 1 or not is_complete(shape):
            return own
        rest = math.prod(extent for extent in own if extent != -1)
        if not rest or math.prod(shape) % rest:
            return own
        return tuple(math.prod(shape) // rest if extent == -1 else extent for extent in own)

    # --- types ---

    def infer_types(self, given: Mapping[str, Any]) -> None:
        """Find all types that follow from those of some variables, by name."""
        variables = [node for node in self.nodes if node.is_variable]
        named = [node for node in variables if given.get(node.name) is not None]
        self.complete_types({node: dtype_number(given[node.name]) for node in named})

    def complete_types(self, known: Mapping[Node, int | None]) -> None:
        """Find all types that follow from those of some variables."""
        for node in self.nodes:
            if node.is_variable:
                declared = node.attributes.get("__dtype__")
                kind = known.get(node)
                if kind is None and declared is not None and declared.lstrip("-").isdigit():
                    kind = int(declared) if 0 <= int(declared) <= BOOL else None
                self.types[node, 0] = kind
        for nodes in (self.nodes, self.nodes[::-1], self.nodes):  # and what comes from behind
            if nodes is not self.nodes and None not in self.types.values():
                return
            for node in nodes:
                if not node.is_variable:
                    try:
                        self._node_types(node)
                    except (TypeError, KeyError, IndexError) as error:
                        raise failed(node, error, ()) from error

    def _node_types(self, node: Node) -> None:
        entry, values = node.entry, node.values
        if entry.types is not None:
            kinds, results = entry.types(values, [self.types.get(one) for one in node.inputs])
            for output, kind in zip(node.inputs, kinds, strict=True):
                if self.types.get(output) is None:
                    self.types[output] = kind
            for index, kind in enumerate(results):
                self.types[node, index] = kind
            return
        names = node.input_names()
        # A condition has a type of its own, and lengths are integers.
        is_choice = entry.name.startswith(("where", "_npi_where"))
        has_lengths = entry.name in ("softmax", "_npx_softmax")
        same = node.inputs[1:] if is_choice else node.inputs[: 1 if has_lengths else None]
        for source in node.inputs[1:] if has_lengths else ():
            if self.types.get(source) is None:
                self.types[source] = INT32
        known = [self.types[source] for source in same if self.types.get(source) is not None]
        common = known[0] if known else None
        follows = values.get("dtype") in (None, "None") and entry.result_type is None
        if common is None and follows:  # what the result is needed as
            common = self.types.get((node, 0))
        if entry.name == "Embedding":  # indices have any type
            weight = dtype_number(values.get("dtype"), FLOAT32)
            self.types.setdefault(node.inputs[1], weight)
            if self.types[node.inputs[1]] is None:
                self.types[node.inputs[1]] = weight
        elif common is not None:
            for name, source in zip(names, node.inputs, strict=False):
                if self.types.get(source) is None and source in same:
                    self.types[source] = self._input_type(entry.name, name, common)
        result: int | None
        if follows:
            result = common if node.inputs else FLOAT32
        elif entry.result_type is not None and values.get("dtype") in (None, "None"):
            result = entry.result_type
        else:
            result = dtype_number(values["dtype"])
        for index in range(len(node.output_names())):
            self.types[node, index] = result

    @staticmethod
    def _input_type(op: str, name: str, common: int) -> int:
        # The statistics of half precision are kept in single.
        narrow = op == "BatchNorm" and name != "data"
        return FLOAT32 if narrow and common == dtype_number("float16") else common

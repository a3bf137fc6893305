# SPDX-License-Identifier: Apache-2.0
"""Shapes and types of a graph, found without computing anything.

Where an op does not say its result's shape itself, its function is called with stand-ins: arrays
whose values can never be, so that calls are issued, which infers shapes, and skipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NoReturn

from .. import autograd
from .._arrays.dtypes import BOOL, FLOAT32, dtype_number
from .._arrays.shapes import Shape, as_integers
from .._core import AnomalyScope, is_serial, operation
from .._interoperation.host_calls import Host, declare_host
from ..error import MXNetError
from ._attributes import as_value
from ._graph import Node, Output, failed, in_order

_MOST_PASSES = 32  #: over a graph; each but the last completes a shape


@declare_host("infer_shape", infer=lambda like: like)
def _never(like: Host) -> NoReturn:
    """Return what can never be computed."""
    raise MXNetError("the value was asked for while only the shape was to be found")


@cache
def _poisoned(dtype: int, legacy: bool) -> Any:
    """Return an array of one element that can never be computed."""
    one = operation("copy", legacy)(0, shape=(1,), dtype=dtype)
    if is_serial():  # calls run at once then, and would fail
        return one
    with suppress(MXNetError), AnomalyScope(False, False):  # which would raise at the call
        array = _never(one)
        array.wait_to_read()
    return array


def stand_in(shape: Shape, dtype: int, legacy: bool) -> Any:
    """Return an array of that shape whose value nobody can ask for."""
    one = _poisoned(dtype, legacy)
    return operation("copy", legacy)(one._view(0, shape, (0,) * len(shape)))


def merged(first: Shape | None, second: Shape | None) -> Shape | None:
    """Return what two descriptions of a shape say together; unknown extents are -1."""
    if first is None or second is None:
        return second if first is None else first
    if len(first) != len(second):
        raise ValueError(f"{shown(first)} against {shown(second)}")
    for one, other in zip(first, second, strict=True):
        if one != other and one != -1 and other != -1:
            raise ValueError(f"{shown(first)} against {shown(second)}")
    return tuple(max(one, other) for one, other in zip(first, second, strict=True))


def _checked(shape: Shape) -> Shape:
    """Refuse what no shape can be: it comes from parameters that are no numbers, or negative."""
    extents = as_integers(shape, "shape")
    if any(extent < -1 for extent in extents):
        raise ValueError(f"{extents} has negative extents")
    return extents


def shown(shape: Shape) -> str:
    """Return a shape for a message."""
    inner = ", ".join("?" if extent == -1 else str(extent) for extent in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def is_complete(shape: Shape | None) -> bool:
    """Tell whether all extents are known."""
    return shape is not None and -1 not in shape


class Inference:
    """The shapes and types of all outputs in a graph, as far as they follow from what is given."""

    def __init__(self, heads: Sequence[Output], numpy_shapes: bool) -> None:
        self.nodes = in_order(node for node, _ in heads)
        self._unknown = -1 if numpy_shapes else 0
        self.shapes: dict[Output, Shape | None] = {}
        self.types: dict[Output, int | None] = {}
        self._done: set[Node] = set()

    # --- shapes ---

    def infer_shapes(self, given: Mapping[str, Any]) -> None:
        """Find all shapes that follow from those of some variables, by name, as programs say them."""
        variables = [node for node in self.nodes if node.is_variable]
        shapes = {}
        for node in variables:
            shape = given.get(node.name)
            shapes[node] = None if shape is None else self._given(node, None, shape)
        self.complete_shapes(shapes)

    def complete_shapes(self, known: Mapping[Node, Shape | None]) -> None:
        """Find all shapes that follow from those of some variables; unknown extents are -1."""
        for node in self.nodes:
            if not node.is_variable:
                continue
            shape = known.get(node)
            if "__shape__" in node.attributes:
                shape = self._given(node, shape, as_value(node.attributes["__shape__"]))
            self.shapes[node, 0] = shape
        calls = [node for node in self.nodes if not node.is_variable]
        with autograd.pause():
            for _ in range(_MOST_PASSES):
                changed = False
                for node in calls:
                    changed |= self._forward(node)
                for node in reversed(calls):
                    changed |= self._backward(node)
                if not changed:
                    return

    def _given(self, node: Node, known: Shape | None, told: Any) -> Shape | None:
        try:
            return merged(known, self._read(told))
        except (ValueError, TypeError) as error:
            raise MXNetError(f"the shape of {node.name} does not fit: {error}") from None

    def _read(self, value: Any) -> Shape | None:
        """Return a shape with unknown extents as -1."""
        shape = as_integers(value, "shape")
        if self._unknown == 0 and not shape:
            return None
        return tuple(-1 if extent == self._unknown or extent < 0 else extent for extent in shape)

    def public(self, shape: Shape | None) -> Shape:
        """Return a shape with unknown extents as the user knows them."""
        if shape is None:
            return ()
        return tuple(self._unknown if extent == -1 else extent for extent in shape)

    def _set(self, output: Output, shape: Shape | None, node: Node, what: str) -> bool:
        """Add to what is known; tell whether it was news."""
        known = self.shapes.get(output)
        try:
            together = merged(known, None if shape is None else _checked(shape))
        except (ValueError, TypeError) as error:
            raise MXNetError(f"Error in operator {node.name}: shapes of {what}: {error}") from None
        self.shapes[output] = together
        return together != known

    def open_nodes(self) -> list[Node]:
        """Return the nodes of new arrays whose shapes have extents that are left open."""
        return [node for node in self.nodes if node.open_shape(self._unknown)]

    def _forward(self, node: Node) -> bool:
        if node in self._done:
            return False
        shape = node.open_shape(self._unknown)
        if shape is not None:
            return self._set((node, 0), shape, node, "the new array")
        names = node.input_names()
        changed = False
        results: Sequence[Shape]
        try:
            known = [self.shapes.get(source) for source in node.inputs]
            inputs, results = node.entry.completed(node.values, names, known)
            for name, source, shape in zip(names, node.inputs, inputs, strict=True):
                if shape is not None:
                    changed |= self._set(source, shape, node, name)
            results = results or self._called(node)
        except MXNetError as error:
            if str(error).startswith("Error in operator"):
                raise
            raise failed(node, error, ()) from error
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:
            raise failed(node, error, ()) from error
        for index, shape in enumerate(results):
            changed |= self._set((node, index), shape, node, f"output {index}")
        return changed

    def _called(self, node: Node) -> list[Shape]:
        """Return the shapes of the outputs of a call, if those of the inputs are known."""
        entry = node.entry
        shapes = [self.shapes.get(source) for source in node.inputs]
        known = [shape for shape in shapes if shape is not None and -1 not in shape]
        if len(known) < len(shapes) or entry.function is None:
            return []
        self._done.add(node)
        arrays = [
            stand_in(shape, self._type(source), entry.legacy)
            for shape, source in zip(known, node.inputs, strict=True)
        ]
        try:
            outputs = entry.call(node.values, node.input_names(), arrays)
        except Exception as error:
            raise failed(node, error, arrays) from error
        for index, output in enumerate(outputs):
            self.types[node, index] = output._dtype_number
        return [output.shape for output in outputs]

    def _type(self, source: Output) -> int:
        known = self.types.get(source)
        return FLOAT32 if known is None else known

    def _backward(self, node: Node) -> bool:
        """Tell inputs of ops on elements what is known of the result."""
        shape = self.shapes.get((node, 0))
        if shape is None:
            return False
        if node.entry.name in ("FullyConnected", "Convolution"):
            return self._set_rows(node, shape[0])
        if not node.entry.alike:
            return False
        changed = False
        for place in node.entry.places_alike(node.input_names()):
            changed |= self._set(node.inputs[place], shape, node, "the inputs")
        return changed

    def _set_rows(self, node: Node, rows: int) -> bool:
        """Tell the data of a product or convolution how many samples the result has."""
        data = self.shapes.get(node.inputs[0])
        if rows == -1 or not data or data[0] != -1:
            return False
        return self._set(node.inputs[0], (rows, *data[1:]), node, "data")

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
        for _ in range(2):  # the second time with what came from behind
            for node in self.nodes:
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
        # A condition has a type of its own.
        is_choice = entry.name.startswith(("where", "_npi_where"))
        same = node.inputs[1:] if is_choice else node.inputs
        known = [self.types[source] for source in same if self.types.get(source) is not None]
        common = known[0] if known else None
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
        if values.get("dtype") not in (None, "None"):
            result = dtype_number(values["dtype"])
        elif entry.result_type is not None:
            result = entry.result_type
        else:
            result = common if node.inputs else FLOAT32
        for index in range(len(node.output_names())):
            self.types[node, index] = result

    @staticmethod
    def _input_type(op: str, name: str, common: int) -> int:
        # The statistics of half precision are kept in single.
        narrow = op == "BatchNorm" and name != "data"
        return FLOAT32 if narrow and common == dtype_number("float16") else common

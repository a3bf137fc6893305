# SPDX-License-Identifier: Apache-2.0
"""From a symbol and its parameters to a file."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as onp

from .. import ndarray as nd
from .. import symbol as symbols
from .._core import Array
from .._graphs.network import Node, by_output, heads_of, nodes_of
from .._package.namespace import mxnet_ops
from ..error import ArrayNotImplementedError, ArrayTypeError, ArrayValueError
from ..symbol._names import canonical
from ._converters import find
from ._graph import OPSET, Call, Graph, element_type, onnx_module

#: The version of the file format that goes with the version of the ops.
_IR_VERSION = 7


def get_operator_support(opset_version: int | None = None) -> list[str]:
    """Return the names of the ops that can be written.

    >>> from afterglow import onnx
    >>> "FullyConnected" in onnx.get_operator_support()
    True
    """
    if opset_version not in (None, OPSET):
        raise ArrayValueError(f"[onnx] there is opset {OPSET}, not {opset_version}")
    return sorted(name for name in mxnet_ops()[0] if find(canonical(name)))


def export_model(
    sym: Any,
    params: Any,
    in_shapes: Sequence[Sequence[int]] | None = None,
    in_types: Any = onp.float32,
    onnx_file_path: str | os.PathLike[str] = "model.onnx",
    verbose: bool = False,
    dynamic: bool = False,
    dynamic_input_shapes: Sequence[Sequence[int | str | None]] | None = None,
    run_shape_inference: bool = False,
    input_type: Any = None,
    input_shape: Any = None,
) -> str | os.PathLike[str]:
    """Write a symbol with its parameters to an ONNX file (opset 13); return the file's name.

    ``sym`` and ``params`` are a symbol and a dictionary (or two: arguments and auxiliary states),
    or the names of files that hold them. ``in_shapes`` and ``in_types`` are those of the inputs, in
    the order of ``list_inputs()``; labels are no inputs. With ``dynamic`` extents may differ from
    those in ``in_shapes``: all of them, or the ones that are None or named in
    ``dynamic_input_shapes``.
    """
    onnx = onnx_module()
    shapes = input_shape if in_shapes is None else in_shapes
    types = in_types if input_type is None else input_type
    symbol = _symbol(sym)
    values = _parameters(params)
    if shapes is None:
        raise ArrayValueError("[onnx] in_shapes is needed: the shapes of the inputs")
    model = _Model(symbol, values, shapes, types, dynamic, dynamic_input_shapes)
    proto = model.build()
    if run_shape_inference:
        proto = onnx_module("onnx.shape_inference").infer_shapes(proto)
    onnx.checker.check_model(proto)
    onnx.save_model(proto, os.fspath(onnx_file_path))
    if verbose:
        logging.info("Exported ONNX file %s saved to disk", onnx_file_path)
    return onnx_file_path


def _symbol(sym: Any) -> Any:
    if isinstance(sym, (str, os.PathLike)):
        return symbols.load(os.fspath(sym))
    if not isinstance(sym, symbols.Symbol):
        raise ArrayTypeError(f"[onnx] sym must be a Symbol or the name of a file, not {type(sym)}")
    return sym


def _parameters(params: Any) -> dict[str, Any]:
    """Return NumPy arrays by name."""
    if isinstance(params, (str, os.PathLike)):
        params = nd.load(os.fspath(params))
    parts = [params] if isinstance(params, Mapping) else params
    joined: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            name = key.removeprefix("arg:").removeprefix("aux:")
            joined[name] = value.asnumpy() if isinstance(value, Array) else onp.asarray(value)
    return joined


class _Model:
    """A symbol on its way into an ONNX graph."""

    def __init__(
        self,
        symbol: Any,
        values: dict[str, Any],
        in_shapes: Sequence[Sequence[int]],
        in_types: Any,
        dynamic: bool,
        dynamic_shapes: Sequence[Sequence[Any]] | None,
    ) -> None:
        self.symbol = symbol
        self.values = values
        self.nodes = nodes_of(symbol)
        self.heads = heads_of(symbol)
        self.needed = self._needed()
        self.inputs = [
            self.nodes[number].name
            for number in sorted(self.needed)
            if self.nodes[number].is_variable and self.nodes[number].name not in values
        ]
        if len(self.inputs) != len(in_shapes):
            raise ArrayValueError(
                f"[onnx] {len(in_shapes)} shapes in in_shapes for the inputs {self.inputs}; an "
                "input is what params has no value for"
            )
        kinds = in_types if isinstance(in_types, (list, tuple)) else [in_types] * len(self.inputs)
        self.input_types = dict(zip(self.inputs, map(onp.dtype, kinds), strict=True))
        self.input_shapes = {
            name: tuple(shape) for name, shape in zip(self.inputs, in_shapes, strict=True)
        }
        self.dynamic_shapes: dict[str, Any] = {}
        if dynamic:
            free = dynamic_shapes or [[None] * len(shape) for shape in in_shapes]
            self.dynamic_shapes = dict(zip(self.inputs, free, strict=True))
        self.graph = Graph(dynamic)
        self.shapes, self.types = self._inferred()

    @staticmethod
    def _used_inputs(node: Node) -> list[tuple[int, int]]:
        converter = find(node.op)
        return node.inputs if converter is None else node.inputs[: converter.reads]

    def _needed(self) -> set[int]:
        """Return the numbers of the nodes that the outputs need without training."""
        found: set[int] = set()
        open_nodes = [number for number, _ in self.heads]
        while open_nodes:
            number = open_nodes.pop()
            if number not in found:
                found.add(number)
                open_nodes += [one for one, _ in self._used_inputs(self.nodes[number])]
        return found

    def _inferred(self) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Return the shapes and types of all results inside, by node and output."""
        inside = self.symbol.get_internals()
        known = {**self.input_shapes}
        kinds = {**self.input_types}
        for name in inside.list_inputs():
            if name in self.values:
                known[name] = self.values[name].shape
                kinds[name] = self.values[name].dtype
        _, shapes, _ = inside.infer_shape(**known)
        if shapes is None:
            raise ArrayValueError(f"[onnx] in_shapes {self.input_shapes} do not say all shapes")
        _, types, _ = inside.infer_type(**kinds)
        found = by_output(self.symbol, types or [None] * len(shapes))
        return by_output(self.symbol, [tuple(shape) for shape in shapes]), {
            output: onp.dtype("float32" if kind is None else kind) for output, kind in found.items()
        }

    def _outputs(self, number: int) -> list[tuple[int, int]]:
        """Return the keys of the outputs of a node."""
        keys: list[tuple[int, int]] = []
        while (number, len(keys)) in self.shapes:
            keys.append((number, len(keys)))
        return keys

    def build(self) -> Any:
        """Return the model."""
        helper, numpy_helper = onnx_module("onnx.helper"), onnx_module("onnx.numpy_helper")
        graph = self.graph
        results: dict[tuple[int, int], str] = {}
        graph.reserve(*(node.name for node in self.nodes))
        for number in sorted(self.needed):
            node = self.nodes[number]
            if node.is_variable:
                results[number, 0] = node.name
                continue
            for index, name in enumerate(self._converted(number, results)):
                results[number, index] = name
        outputs = []
        for head in dict.fromkeys(self.heads):
            name = self.nodes[head[0]].name
            shown = f"{name}{head[1]}" if len(self._outputs(head[0])) > 1 else name
            # Results are renamed here: what a call is made of has names of its own.
            if results[head] != shown:
                graph.add("Identity", results[head], stem=name, outputs=[shown])
            shape: Any = [None] * len(self.shapes[head]) if graph.is_dynamic else self.shapes[head]
            outputs.append(
                helper.make_tensor_value_info(shown, element_type(self.types[head]), shape)
            )
        inputs = [
            helper.make_tensor_value_info(
                name, element_type(self.input_types[name]), self._input_shape(name)
            )
            for name in self.inputs
        ]
        used = {one for node in graph.nodes for one in node.input}
        constants = {**self.values, **graph.constants}
        initializers = [
            numpy_helper.from_array(onp.asarray(value, order="C"), name)
            for name, value in constants.items()
            if name in used
        ]
        body = helper.make_graph(graph.nodes, "afterglow", inputs, outputs, initializers)
        return helper.make_model(
            body,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=_IR_VERSION,
            producer_name="afterglow",
        )

    def _input_shape(self, name: str) -> list[Any]:
        free = self.dynamic_shapes.get(name)
        if free is None:
            return list(self.input_shapes[name])
        return [f"{name}_{axis}" if extent is None else extent for axis, extent in enumerate(free)]

    def _converted(self, number: int, results: Mapping[tuple[int, int], str]) -> list[str]:
        node = self.nodes[number]
        converter = find(node.op)
        if converter is None:
            raise ArrayNotImplementedError(
                f"[onnx] {node.op} ({node.name}) cannot be written; "
                "onnx.get_operator_support() lists what can"
            )
        used = self._used_inputs(node)
        own = self._outputs(number)
        call = Call(
            graph=self.graph,
            name=node.name,
            op=node.op,
            attrs=node.attrs,
            inputs=[results[one] for one in used],
            shapes=[self.shapes[one] for one in used],
            types=[self.types[one] for one in used],
            output_shapes=[self.shapes[one] for one in own],
            output_types=[self.types[one] for one in own],
            is_swapped=converter.is_swapped,
        )
        made = converter.write(call)
        return made if isinstance(made, list) else [made]

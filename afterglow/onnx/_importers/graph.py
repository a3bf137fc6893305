# SPDX-License-Identifier: Apache-2.0
"""ONNX graphs as they are run: node by node, by the functions of the table.

What follows from constants alone is computed once, when the graph is read. Ops without a function
of their own are run by their definition, where ONNX, or the model, defines them with other ops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as onp

from ..._arrays.dtypes import is_known
from ...context import current_context
from ...error import ArrayNotImplementedError, ArrayValueError, MXNetError
from .._graph import onnx_module
from .registry import Entry, find
from .values import ARRAYS, HOSTS, Host, as_host, dtype_of

#: Of the attributes whose type has that number, the field that has the value.
_FIELDS = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings"}
_TENSOR, _GRAPH = 4, 5

Scope = dict[str, Any]


def plain_domain(domain: str) -> str:
    """Return the name of a domain; that of ONNX itself has two."""
    return "" if domain == "ai.onnx" else domain


class Step:
    """One node of a graph, as it is before it has values."""

    def __init__(
        self, proto: Any, model: Model, versions: Mapping[str, int], around: Mapping[str, Any]
    ) -> None:
        self.op: str = proto.op_type
        self.domain = plain_domain(proto.domain)
        self.version = versions.get(self.domain, 1)
        self.name: str = proto.name or next(iter(proto.output), "")
        self.inputs: list[str] = list(proto.input)
        while self.inputs and not self.inputs[-1]:
            self.inputs.pop()
        self.outputs: list[str] = list(proto.output)
        self.model = model
        self.attributes: dict[str, Any] = {}
        for one in proto.attribute:
            if not one.ref_attr_name:
                self.attributes[one.name] = self.read(one, versions, around)
            elif one.ref_attr_name in around:  # of the function that it stands in
                self.attributes[one.name] = around[one.ref_attr_name]
        self.entry: Entry | None = find(self.domain, self.op)
        self.is_defined = (self.domain, self.op) in model.functions or (
            self.entry is None and _schema_of(self) is not None
        )
        if self.version < 7 and "broadcast" in self.attributes:
            raise self.refuse("it stretches inputs as opsets before 7 do; 9 or later is needed")
        if self.entry is None and not self.is_defined:
            raise self.refuse("it cannot be read; docs/onnx.md lists what can")
        # Not the message itself, which would keep the whole file in memory.
        self.text = b"" if self.entry else proto.SerializeToString()  # for the definition
        self.dying: list[str] = []  # values that nobody needs after this node
        self.definitions: dict[Any, Graph] = {}  # by what they depend on

    def read(self, attribute: Any, versions: Mapping[str, int], around: Mapping[str, Any]) -> Any:
        """Return the value of an attribute."""
        if attribute.type not in _FIELDS:
            return None  # refused by the op that asks for it
        value = getattr(attribute, _FIELDS[attribute.type])
        if attribute.type == _TENSOR:
            return self.model.tensor(value)
        if attribute.type == _GRAPH:
            return Graph(value, self.model, versions, around)
        if isinstance(value, bytes):
            return value.decode(errors="replace")
        if isinstance(value, (int, float)):
            return value
        return [one.decode(errors="replace") if isinstance(one, bytes) else one for one in value]

    def refuse(self, why: str) -> ArrayNotImplementedError:
        """Return the error that says why a node cannot be run."""
        return ArrayNotImplementedError(f"[onnx] {self.where()}: {why}")

    def where(self) -> str:
        """Return how errors name the node."""
        return (
            f"{self.op} (domain {self.domain or 'ai.onnx'}, opset {self.version}, "
            f"node {self.name!r})"
        )

    def needed(self) -> Iterator[str]:
        """Return the names of the values that it needs, those of graphs inside too."""
        yield from filter(None, self.inputs)
        for value in self.attributes.values():
            if isinstance(value, Graph):
                yield from value.from_outside()


class Node:
    """A step with the values of its inputs, as functions of the table are given it."""

    def __init__(
        self,
        step: Step,
        values: Sequence[Any],
        scope: Scope,
        functions: Any = None,
    ) -> None:
        self.step = step
        self.values = list(values)
        self.attributes = step.attributes
        self.scope = scope
        self.version = step.version
        self.f: Any = functions or self._functions()

    def _functions(self) -> Any:
        """Return who computes: NumPy, if all is on the host or a type is not one of arrays'."""
        present = [value for value in self.values if value is not None]
        if self.step.entry is not None and self.step.entry.on_host:
            return HOSTS
        sketch = next((one for one in present if hasattr(one, "sketcher")), None)
        if sketch is not None:
            return sketch.sketcher
        if all(isinstance(one, onp.ndarray) for one in present):
            return HOSTS
        return ARRAYS if all(is_known(dtype_of(one)) for one in present) else HOSTS

    def __getitem__(self, index: int) -> Any:
        """Return the value of an input; None if it is not given."""
        value = self.values[index] if index < len(self.values) else None
        if value is None:
            return None
        if self.f.is_host:
            return self.host(index)
        return self.step.model.twin(value) if self.f is ARRAYS else self.f.value(value)

    def __len__(self) -> int:
        return len(self.values)

    def has(self, index: int) -> bool:
        """Tell whether an input is given."""
        return index < len(self.values) and self.values[index] is not None

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute."""
        return self.attributes.get(name, default)

    def host(self, index: int) -> Any:
        """Return the value of an input as NumPy's array; None if it is not given. Waits for it."""
        if not self.has(index):
            return None
        value = self.values[index]
        return value.known(self) if hasattr(value, "sketcher") else as_host(value)

    def numbers(self, index: int, name: str = "") -> list[Any] | None:
        """Return an input as a list of numbers, or the attribute that older versions have."""
        found: list[Any] | None = self.get(name)
        return self.host(index).ravel().tolist() if self.has(index) else found

    def number(self, index: int, default: Any = None) -> Any:
        """Return an input that is one number."""
        return self.host(index).ravel()[0].item() if self.has(index) else default

    def on_host(self) -> Node:
        """Return the node with values that NumPy computes with."""
        return Node(self.step, self.values, self.scope, HOSTS)

    def refuse(self, why: str) -> ArrayNotImplementedError:
        """Return the error that says why a node cannot be run."""
        return self.step.refuse(why)

    @property
    def count(self) -> int:
        """The number of outputs."""
        return len(self.step.outputs)


class Graph:
    """A graph, or the body of a function: steps in order, constants, names of ends."""

    def __init__(
        self,
        proto: Any,
        model: Model,
        versions: Mapping[str, int],
        around: Mapping[str, Any],
    ) -> None:
        is_function = not hasattr(proto, "initializer")
        self._is_function = is_function
        self.name: str = proto.name
        self.outputs: list[str] = [one if is_function else one.name for one in proto.output]
        self.weights: dict[str, Host] = (
            {} if is_function else {one.name: model.tensor(one) for one in proto.initializer}
        )
        self.infos: list[Any] = (
            []
            if is_function
            else [_copied(one) for one in proto.input if one.name not in self.weights]
        )
        self.inputs: list[str] = (
            list(proto.input) if is_function else [one.name for one in self.infos]
        )
        if not is_function and proto.sparse_initializer:
            raise ArrayNotImplementedError(
                f"[onnx] graph {proto.name!r} has sparse initializers; dense ones are needed"
            )
        self.steps = [Step(one, model, versions, around) for one in proto.node]
        self._end_lives()

    def _end_lives(self) -> None:
        """Note at each step which values nobody needs after it."""
        seen = set(self.outputs)
        for step in reversed(self.steps):
            made = set(step.outputs)
            names = dict.fromkeys([*step.needed(), *made])
            step.dying = [name for name in names if name and name not in seen]
            seen.update(names)

    def from_outside(self) -> set[str]:
        """Return the names of values that are made outside of the graph."""
        own = {*self.inputs, *self.weights}
        found: set[str] = set()
        for step in self.steps:
            found.update(name for name in step.needed() if name not in own)
            own.update(step.outputs)
        return found | (set(self.outputs) - own)

    def fold(self, scope: Scope) -> None:
        """Compute what follows from the constants in the scope, and leave out those steps."""
        left = []
        for step in self.steps:
            is_fixed = step.entry is not None and not step.entry.draws
            # A graph inside of a step may need what is not there.
            if is_fixed and all(name in scope for name in step.needed()):
                for name, value in zip(step.outputs, self.run_step(step, scope), strict=False):
                    scope[name] = value
            else:
                left.append(step)
        self.steps = left
        self._end_lives()

    def run(self, scope: Scope) -> list[Any]:
        """Return the outputs; the scope has the inputs and what may be used from outside."""
        for step in self.steps:
            for name, value in zip(step.outputs, self.run_step(step, scope), strict=False):
                scope[name] = value
            for name in step.dying:
                scope.pop(name, None)
        for name in self.outputs:
            # A definition need not make the outputs that nobody asks for.
            if scope.setdefault(name) is None and not self._is_function:
                raise ArrayValueError(f"[onnx] no node of {self.name!r} makes the output {name!r}")
        return [scope[name] for name in self.outputs]

    def run_step(self, step: Step, scope: Scope) -> Sequence[Any]:
        """Return the results of one step."""
        try:
            values = [scope[name] if name else None for name in step.inputs]
        except KeyError as error:
            raise ArrayValueError(
                f"[onnx] {step.where()} needs {error.args[0]!r}, which nothing before it makes"
            ) from None
        node = Node(step, values, scope)
        try:
            made = step.entry.compute(node) if not step.is_defined else run_definition(node)  # type: ignore[union-attr]
        except MXNetError as error:
            error.add_note(f"in the ONNX node {step.where()}")
            raise
        except Exception as error:  # of NumPy, or of attributes that are not there
            what = f"{type(error).__name__}: {error}"
            raise ArrayValueError(f"[onnx] {step.where()} cannot be run: {what}") from error
        # NumPy gives numbers instead of arrays without axes.
        return [
            onp.asarray(one) if isinstance(one, onp.generic) else one
            for one in (made if isinstance(made, tuple) else (made,))
        ]


def _copied(message: Any) -> Any:
    """Return a part of a file that does not keep the rest of it in memory."""
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def versions_of(proto: Any) -> dict[str, int]:
    """Return the versions of ops that a model, or a function, is written with, by domain."""
    return {plain_domain(one.domain): one.version for one in proto.opset_import}


class Model:
    """What the steps of a model share: functions that it defines, constants as arrays.

    It does not know the graphs, which know it: what arrays belong to ends without cycles.
    """

    def __init__(self, proto: Any) -> None:
        self._to_array: Callable[[Any], Host] = onnx_module("onnx.numpy_helper").to_array
        self.functions = {
            (plain_domain(one.domain), one.name): _copied(one) for one in proto.functions
        }
        self._twins: dict[tuple[int, tuple[int, int]], Any] = {}  # by identity and device
        self.constants: dict[int, Host] = {}

    def tensor(self, proto: Any) -> Host:
        """Return the numbers of a tensor of the file."""
        try:
            return onp.asarray(self._to_array(proto))
        except Exception as error:  # of struct, NumPy and the package
            raise ArrayValueError(f"[onnx] tensor {proto.name!r} is damaged: {error}") from error

    def keep(self, value: Host) -> None:
        """Make one array of a constant when it is needed, instead of one for every use."""
        self.constants[id(value)] = value

    def twin(self, value: Any) -> Any:
        """Return a value as an array; that of a constant is made once for each device."""
        if id(value) not in self.constants:
            return ARRAYS.value(value)
        key = (id(value), current_context().numbers)
        if key not in self._twins:
            self._twins[key] = ARRAYS.value(value)
        return self._twins[key]

    def definition(self, node: Node) -> Graph:
        """Return the graph that defines the op of a node."""
        step = node.step
        function = self.functions.get((step.domain, step.op))
        if function is None:
            schema = _schema_of(step)
            function, key = _standard_definition(schema, node)
        else:
            key = ()
        if key not in step.definitions:
            given = {**_defaults(function, step), **node.attributes}
            step.definitions[key] = Graph(function, self, versions_of(function), given)
        return step.definitions[key]


def _schema_of(step: Step) -> Any:
    """Return what ONNX says of an op that it defines by others."""
    definitions = onnx_module("onnx.defs")
    try:
        schema = definitions.get_schema(step.op, step.version, step.domain)
    except Exception:  # of a class that differs between versions of the package
        return None
    is_defined = schema.has_function or schema.has_context_dependent_function
    return schema if is_defined else None


def _latest(versions: Sequence[int], version: int) -> int | None:
    """Return the latest version that is not after another; else the first of all."""
    fit = [one for one in versions if one <= version]
    return max(fit) if fit else min(versions, default=None)


def _standard_definition(schema: Any, node: Node) -> tuple[Any, Any]:
    """Return the function that defines an op, and what it depends on."""
    onnx = onnx_module("onnx")
    step = node.step
    function = onnx.FunctionProto()
    version = _latest(schema.function_opset_versions, step.version)
    if version is not None:
        function.ParseFromString(schema.get_function_with_opset_version(version))
        return function, version
    version = _latest(schema.context_dependent_function_opset_versions, step.version)
    helper = onnx_module("onnx.helper")
    types = []
    for value in node.values:
        kind = onnx.TypeProto()
        if value is not None:
            number = helper.np_dtype_to_tensor_dtype(dtype_of(value))
            kind = helper.make_tensor_type_proto(number, list(value.shape))
        types.append(kind)
    call = onnx.NodeProto()
    call.ParseFromString(step.text)
    for one in reversed(range(len(call.attribute))):
        if call.attribute[one].ref_attr_name:  # of the function that it stands in
            name = call.attribute[one].name
            del call.attribute[one]
            if name in node.attributes:
                call.attribute.append(helper.make_attribute(name, node.attributes[name]))
    function.ParseFromString(
        schema.get_context_dependent_function_with_opset_version(
            version, call.SerializeToString(), [one.SerializeToString() for one in types]
        )
    )
    return function, tuple(one.SerializeToString() for one in types)


def _defaults(function: Any, step: Step) -> dict[str, Any]:
    """Return the attributes of a function that nobody gives."""
    found = {one.name: step.read(one, {}, {}) for one in getattr(function, "attribute_proto", ())}
    if (step.domain, step.op) in step.model.functions:
        return found
    schema = _schema_of(step)
    for name, one in schema.attributes.items():
        if one.default_value.name or one.default_value.type:
            found[name] = step.read(one.default_value, {}, {})
    return found


def run_definition(node: Node) -> tuple[Any, ...]:
    """Return the results of a node by the definition of its op."""
    body = node.step.model.definition(node)
    scope: Scope = dict(zip(body.inputs, node.values, strict=False))
    for name in body.inputs[len(node.values) :]:
        scope[name] = None
    return tuple(body.run(scope))

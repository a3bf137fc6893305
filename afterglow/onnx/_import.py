# SPDX-License-Identifier: Apache-2.0
"""From an ONNX file to a symbol with its parameters, or to a block."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as onp

from .. import ndarray as nd
from .. import numpy as np
from .. import symbol as symbols
from .._arrays.dtypes import is_known
from .._arrays.worlds import in_world
from .._core import AnomalyScope, Array, infer_only
from ..context import current_context
from ..error import ArrayTypeError, ArrayValueError
from ..gluon.block import HybridBlock
from ..gluon.parameter import ParameterDict
from ..symbol.symbol import Symbol
from ._graph import onnx_module
from ._importers import Graph, Model, versions_of
from ._importers.graph import Scope
from ._importers.sketches import Sketch, Sketcher
from ._importers.types import dtype_named
from ._importers.values import ARRAYS, Host, known_type

Path = str | os.PathLike[str]

#: Ops that need real numbers as numbers, so that these are no parameters.
_READERS = frozenset(("Dropout", "OneHot", "Pad", "Range", "Resize", "Upsample"))


def import_model(model_file: Path) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return the graph of an ONNX file as a symbol, its parameters and its auxiliary states.

    The shapes are those of the model's inputs; extents that it leaves open are 1 while the symbol
    is made, and may be others later where the graph does not compute with them.
    """
    imported = _Imported(model_file)
    return imported.as_symbol(imported.parameters)


def import_to_gluon(model_file: Path, ctx: Any = None) -> ImportedBlock:
    """Return a block that computes what an ONNX file says, with its parameters on ``ctx``.

    It runs node by node with arrays of any shape that the model allows, can be trained, and
    hybridized.
    """
    return ImportedBlock(_Imported(model_file), ctx)


def get_model_metadata(model_file: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return the names, shapes and types of the inputs, the names and shapes of the outputs.

    Extents that are not known are 0; types are ONNX's numbers of them.
    """
    proto = _read(model_file).graph
    weights = {one.name for one in proto.initializer}
    inputs = [
        (one.name, _extents(one), one.type.tensor_type.elem_type)
        for one in proto.input
        if one.name not in weights
    ]
    outputs = [(one.name, _extents(one)) for one in proto.output]
    return {"input_tensor_data": inputs, "output_tensor_data": outputs}


def _extents(info: Any) -> tuple[int, ...]:
    return tuple(one.dim_value for one in info.type.tensor_type.shape.dim)


def _read(model_file: Any) -> Any:
    """Return the model in a file, or the model itself."""
    onnx = onnx_module()
    if isinstance(model_file, onnx.ModelProto):
        return model_file
    try:
        return onnx.load_model(os.fspath(model_file))
    except FileNotFoundError:
        raise
    except Exception as error:  # of protobuf, whose classes differ between versions
        raise ArrayValueError(f"[onnx] {model_file} is no ONNX model: {error}") from error


class _Imported:
    """A model with its constants sorted: parameters, and what only tells shapes and the like."""

    def __init__(self, model_file: Any) -> None:
        proto = _read(model_file)
        self.model = Model(proto)
        self.graph = Graph(proto.graph, self.model, versions_of(proto), {})
        readers: dict[str, set[str]] = {}
        self.states: set[str] = set()  # that a norm follows, and no gradient
        for step in self.graph.steps:
            for name in step.needed():
                readers.setdefault(name, set()).add(step.op)
            if step.op == "BatchNormalization":
                self.states.update(step.inputs[3:5])
        self.parameters: dict[str, Host] = {}
        self.fixed: Scope = {}
        for name, value in self.graph.weights.items():
            is_weight = value.ndim > 0 and value.dtype.kind == "f" and is_known(value.dtype)
            if is_weight and not readers.get(name, set()) <= _READERS:
                self.parameters[name] = value
            else:
                self.fixed[name] = value
        self.graph.weights.clear()
        self.graph.fold(self.fixed)
        for value in self.fixed.values():
            self.model.keep(value)

    def as_symbol(
        self, parameters: Mapping[str, Host]
    ) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """Return symbol, parameters and states."""
        sketcher = Sketcher({id(value): name for name, value in self.fixed.items()})

        def run() -> list[Any]:
            scope = dict(self.fixed)
            for name, value in parameters.items():
                scope[name] = sketcher.variable(name, value)
            for info in self.graph.infos:
                scope[info.name] = _sketch_of_input(sketcher, info)
            return self.graph.run(scope)

        with AnomalyScope(False, False):  # which would look at values
            outputs = [sketcher.value(one) for one in infer_only(run)]
        heads = [one.symbol.as_nd_ndarray() for one in outputs]
        graph = heads[0] if len(heads) == 1 else symbols.Group(heads)
        values = {
            name: nd.array(value, dtype=known_type(value.dtype).name)
            for name, value in sketcher.constants.items()
        }
        arguments, states = graph.list_arguments(), graph.list_auxiliary_states()
        return (
            graph,
            {name: value for name, value in values.items() if name in arguments},
            {name: value for name, value in values.items() if name in states},
        )


def _sketch_of_input(sketcher: Sketcher, info: Any) -> Sketch:
    dtype = dtype_named(info.type.tensor_type.elem_type)
    if not is_known(dtype):
        raise ArrayTypeError(
            f"[onnx] the input {info.name!r} of the model is of type {dtype}, which no array of a "
            "symbol can have; import_to_gluon takes NumPy arrays of it"
        )
    kind = dtype.name
    if not info.type.tensor_type.HasField("shape"):
        raise ArrayValueError(
            f"[onnx] the model does not say the shape of its input {info.name!r}, which a symbol "
            "needs; import_to_gluon does without"
        )
    shape = tuple(extent or 1 for extent in _extents(info))
    variable = symbols.var(info.name, dtype=kind).as_np_ndarray()
    return Sketch(sketcher, np.zeros(shape, dtype=kind), variable)


class ImportedBlock(HybridBlock):
    """A block that runs the graph of an ONNX model; :func:`import_to_gluon` makes it.

    Parameters have the names that they have in the model.
    """

    def __init__(self, imported: _Imported, ctx: Any = None) -> None:
        super().__init__(prefix=None, params=None)
        self._prefix = ""
        self._params = ParameterDict("")
        self._imported = imported
        self._symbol: Any = None
        self._ctx = ctx
        self._names = list(imported.parameters)
        for name in self._names:
            value = imported.parameters.pop(name)  # it need not be in memory twice
            given = {"grad_req": "null"} if name in imported.states else {}
            parameter = self.params.get(name, shape=value.shape, dtype=value.dtype.name, **given)
            parameter._load_init(nd.array(value, dtype=value.dtype.name), ctx)
        self._reg_params = dict(self._params.items())

    def __repr__(self) -> str:
        graph = self._imported.graph
        return (
            f"{type(self).__name__}({', '.join(graph.inputs)} -> {', '.join(graph.outputs)}, "
            f"{len(graph.steps)} nodes)"
        )

    def forward(self, *args: Any) -> Any:
        """Compute the outputs of the model from its inputs, in the model's order."""
        inputs = self._imported.graph.inputs
        if len(args) != len(inputs):
            raise ArrayValueError(
                f"[onnx] {len(args)} arrays were given; the model has the inputs {inputs}"
            )
        results = self._composed(args) if _are_symbols(args) else self._run(args)
        return results[0] if len(results) == 1 else results

    def _composed(self, args: Sequence[Symbol]) -> list[Any]:
        if self._symbol is None:
            values = {name: self._params[name]._reduce().asnumpy() for name in self._names}
            self._symbol, constants, _ = self._imported.as_symbol(values)
            for name, value in constants.items():
                if name not in self._params:
                    self.params.get_constant(name, value).initialize(ctx=self._ctx)
        inputs = dict(zip(self._imported.graph.inputs, args, strict=True))
        return list(self._symbol._composed(inputs, None))

    def _run(self, args: Sequence[Any]) -> list[Any]:
        imported = self._imported
        first: Any = next((one for one in args if isinstance(one, Array)), None)
        context = current_context() if first is None else first.context
        scope = dict(imported.fixed)
        for name in self._names:
            scope[name] = in_world(self._params[name].data(context), False)
        for name, value in zip(imported.graph.inputs, args, strict=True):
            scope[name] = in_world(value, False) if isinstance(value, Array) else value
        legacy = first is not None and first._legacy
        with context:
            return [self._result(one, legacy) for one in imported.graph.run(scope)]

    def _result(self, value: Any, legacy: bool) -> Any:
        """Return an output as an array, unless arrays cannot be of its type."""
        if isinstance(value, onp.ndarray) and is_known(value.dtype):
            value = ARRAYS.value(value)
        return in_world(value, legacy) if isinstance(value, Array) else value

    def hybrid_forward(self, *args: Any, **kwargs: Any) -> Any:
        """Raise: ``forward`` runs the graph."""
        raise NotImplementedError


def _are_symbols(args: Sequence[Any]) -> bool:
    return bool(args) and all(isinstance(one, Symbol) for one in args)

# SPDX-License-Identifier: Apache-2.0
"""Blocks made of graphs, from files or from symbols."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import commonprefix
from typing import Any

from .. import symbol
from .._arrays.dtypes import FLOAT16, TYPES, dtype_number
from .._arrays.nesting import flat
from .._arrays.worlds import in_world
from .._core import Array
from ..error import ArrayValueError
from ..symbol._run import Plan
from ..symbol.symbol import Symbol
from ..util import is_np_array
from .block import HybridBlock
from .parameter import DeferredInitializationError, ParameterDict

__all__ = ["SymbolBlock"]


def _flat(values: Any, what: str) -> list[Any]:
    return flat(values, (Symbol, Array), what, ArrayValueError)


class SymbolBlock(HybridBlock):
    """A block that computes what a graph says. The variables that are no inputs are parameters.

    >>> from afterglow import gluon, nd, sym
    >>> x = sym.var("x")
    >>> dense = sym.FullyConnected(x, num_hidden=1, name="fc")
    >>> block = gluon.SymbolBlock(dense, x)
    >>> block.initialize("ones")
    >>> block(nd.array([[1, 2]]))
    <BLANKLINE>
    [[4.]]
    <NDArray 1x1 @cpu(0)>
    """

    def __init__(self, outputs: Any, inputs: Any, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=None, params=None)
        self._prefix = ""
        self._params = ParameterDict("", params)
        self._inputs: list[Symbol] = _flat(inputs, "inputs")
        if isinstance(outputs, (list, tuple)) and len(outputs) == 1:
            outputs = outputs[0]
        heads = _flat(outputs, "outputs")
        graph = heads[0] if len(heads) == 1 else symbol.Group(heads, type(heads[0]))
        self._symbol: Symbol = graph
        self._is_single = isinstance(outputs, Symbol) and len(outputs) == 1
        self._plan: Plan | None = None
        for one in self._inputs:
            assert one._outputs[0][0].is_variable, (
                f"Input symbols must be variable, but {one} is an output of operators"
            )
        self._input_names = [str(one.name) for one in self._inputs]
        self._add_parameters()

    def _add_parameters(self) -> None:
        """Make a parameter of every variable that is no input."""
        for name, attributes in self._symbol.attr_dict().items():
            stype = attributes.get("__storage_type__", "0")
            assert stype in ("0", "-1") or name in self._input_names, (
                f"SymbolBlock doesn't support Parameter '{name}' because its storage type is not "
                "'default'."
            )
        graph, inputs = self._symbol, set(self._input_names)
        known = {
            str(one.name): int(one.list_attr()["__dtype__"])
            for one in self._inputs
            if "__dtype__" in one.list_attr() and one.name in graph.list_inputs()
        }
        types = graph.infer_type_partial(**{name: TYPES[kind] for name, kind in known.items()})
        for names, kinds, request in (
            (graph.list_arguments(), types[0], "write"),
            (graph.list_auxiliary_states(), types[2], "null"),
        ):
            given = {} if request == "write" else {"grad_req": "null"}
            for name, kind in zip(names, kinds, strict=True):
                if name not in inputs:
                    dtype = "float32" if kind is None else kind
                    self.params.get(name, allow_deferred_init=True, dtype=dtype, **given)
        prefix = len(commonprefix(list(self._params.keys())))  # noqa: RUF071 - letter by letter
        self._reg_params = {name[prefix:]: parameter for name, parameter in self._params.items()}

    @staticmethod
    def imports(
        symbol_file: str,
        input_names: str | Sequence[str],
        param_file: str | None = None,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> SymbolBlock:
        """Return the block that ``export`` or ``save_checkpoint`` has written.

        >>> from afterglow import gluon, nd
        >>> net = gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.export("dense")
        >>> block = gluon.SymbolBlock.imports("dense-symbol.json", ["data"], "dense-0000.params")
        >>> block(nd.ones((4, 3))).shape
        (4, 2)
        """
        graph = symbol.load(symbol_file)
        if is_np_array():
            graph = graph.as_np_ndarray()
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        inputs = [symbol.var(name, dtype=None if param_file else "float32") for name in names]
        block = SymbolBlock(graph, inputs)
        if param_file is not None:
            given = (param_file, ctx, allow_missing, ignore_extra)
            block.collect_params().load(*given, cast_dtype=True, dtype_source="saved")
        return block

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(\n{self._symbol!r} : {len(self._inputs)} -> "
            f"{len(self._symbol)}\n)"
        )

    def forward(self, x: Any, *args: Any) -> Any:
        """Compute the graph from arrays, or put symbols in place of its inputs."""
        given = _flat([x, *args], "inputs")
        assert len(given) == len(self._inputs), (
            f"Invalid input format: {len(given)} inputs, there must be {len(self._inputs)}"
        )
        by_name = dict(zip(self._input_names, given, strict=True))
        if isinstance(given[0], Symbol):
            composed = self._symbol._composed(by_name, None)
            return composed if self._is_single else list(composed)
        results = self._run(given, by_name)
        return results[0] if self._is_single else results

    def _run(self, given: list[Any], by_name: dict[str, Any]) -> list[Any]:
        if self._plan is None:
            self._plan = Plan(self._symbol._outputs)
        place, legacy = given[0]._context_numbers, given[0]._legacy
        arrays = {}
        for _, node in self._plan.variables:
            array = by_name.get(node.name)
            arrays[node] = self._array(node.name, place, given) if array is None else array
        return [in_world(result, legacy) for result in self._plan.run(arrays)]

    def _array(self, name: str, place: tuple[int, int], given: list[Any]) -> Any:
        parameter = self._params[name]
        try:
            return parameter._at(place)
        except DeferredInitializationError:
            self.infer_shape(*given)
            for one in self._params.values():
                one._finish_deferred_init()
            return parameter._at(place)

    def infer_shape(self, *args: Any, **kwargs: Any) -> None:
        """Complete the shapes of the parameters from the inputs."""
        known: dict[str, Any] = {
            name: array.shape for name, array in zip(self._input_names, args, strict=True)
        }
        graph = self._symbol
        names = [*graph.list_arguments(), *graph.list_auxiliary_states()]
        for name, parameter in self._params.items():
            if parameter.shape is not None and name in names:
                known[name] = parameter.shape
        known = {name: shape for name, shape in known.items() if name in names}
        arguments, _, states = graph.infer_shape(**known)
        if arguments is None:
            raise ValueError(
                "Deferred initialization failed because shape cannot be inferred: the shapes of "
                f"parameters do not follow from {known}"
            )
        for name, shape in zip(names, [*arguments, *states], strict=True):
            if name in self._params:
                self._params[name].shape = shape

    def cast(self, dtype: Any) -> None:
        """Change the type of the parameters; statistics stay in single precision."""
        super().cast(dtype)
        if dtype_number(dtype) != FLOAT16:
            return
        for node in self._symbol._nodes():
            if node.op == "BatchNorm":
                for source, _ in node.inputs[1:]:
                    if source.name in self._params:
                        self._params[source.name].cast("float32")

    def hybrid_forward(self, *args: Any, **kwargs: Any) -> Any:
        """Raise: ``forward`` computes the graph."""
        raise NotImplementedError

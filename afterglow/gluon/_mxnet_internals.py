# SPDX-License-Identifier: Apache-2.0
"""Private attributes of MXNet's parameters and blocks that programs use, made from ours."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .._arrays.nesting import flat
from .._core import Array
from ..context import Context, context_of
from ..error import ArrayValueError
from ..symbol.symbol import Symbol

if TYPE_CHECKING:
    from ._compiled import Compiled

__all__ = ["BlockInternals", "ParameterInternals", "flatten", "regroup"]


class _Copies(list[Any]):
    """The arrays of a parameter, one for each device; one that is put in is used from then on."""

    def __init__(self, arrays: Iterable[Any], put: Callable[[int, Any], None]) -> None:
        super().__init__(arrays)
        self._put = put

    def __setitem__(self, index: Any, array: Any) -> None:
        super().__setitem__(index, array)
        for number, one in enumerate(self):
            self._put(number, one)


class ParameterInternals:
    """What MXNet's parameters keep."""

    name: str
    _grad_req: str
    _parameter_arrays: dict[tuple[int, int], Any] | None
    _parameter_deferred: tuple[Any, list[Context], Any, Any] | None
    _parameter_trainer: weakref.ref[Any] | None

    if TYPE_CHECKING:

        def _parameter_changed(self) -> None: ...

    @property
    def _data(self) -> list[Any] | None:
        """The arrays; one may be replaced by a computed one, so that gradients pass through it."""
        arrays = self._parameter_arrays
        return None if arrays is None else _Copies(arrays.values(), self._put)

    @_data.setter
    def _data(self, arrays: list[Any] | None) -> None:
        if arrays is None:
            self._parameter_arrays = None
        else:
            self._parameter_arrays = {one._context_numbers: one for one in arrays}
        self._parameter_changed()

    def _put(self, number: int, array: Any) -> None:
        arrays = self._parameter_arrays
        assert arrays is not None
        place = list(arrays)[number]
        if arrays[place] is not array:
            arrays[place] = array
            self._parameter_changed()

    @property
    def _grad(self) -> list[Any] | None:
        """The gradients, where some are wanted."""
        arrays = self._parameter_arrays
        if arrays is None or self._grad_req == "null":
            return None
        return [array.grad for array in arrays.values()]

    @property
    def _ctx_list(self) -> list[Context] | None:
        """The devices."""
        arrays = self._parameter_arrays
        return None if arrays is None else [context_of(place) for place in arrays]

    @property
    def _ctx_map(self) -> list[list[int | None]]:
        """By kind of device, the number of each device's array."""
        found: list[list[int | None]] = [[], []]
        for number, (kind, device) in enumerate(self._parameter_arrays or ()):
            row = found[kind & 1]
            row += [None] * (device + 1 - len(row))
            row[device] = number
        return found

    @property
    def _deferred_init(self) -> tuple[Any, ...]:
        """What the arrays will be made from when their shape is known."""
        return self._parameter_deferred or ()

    @property
    def _trainer(self) -> Any:
        """The trainer that updates it."""
        return None if self._parameter_trainer is None else self._parameter_trainer()

    def _set_trainer(self, trainer: Any) -> None:
        """Note who updates it."""
        self._parameter_trainer = None if trainer is None else weakref.ref(trainer)


class _Computed:
    """An attribute that is computed, unless a program has assigned one of that name."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, block: Any, kind: type) -> Any:
        return self if block is None else self._compute(block)


class BlockInternals:
    """What MXNet's hybrid blocks keep of the graph that they have written down."""

    _block_compiled: Compiled

    if TYPE_CHECKING:

        def _block_graph(self) -> Any: ...

    @_Computed
    def _in_format(self) -> Any:
        """How the inputs that were last given nest; see ``_format``."""
        given = self._block_compiled.inputs_like_given(lambda number, count: Symbol)
        return None if given is None else [_format(one) for one in given]

    @_Computed
    def _out_format(self) -> Any:
        """How the outputs nest, once a graph can be made of the block."""
        if self._in_format is None:
            return None
        return _format(self._block_graph())

    @_Computed
    def _cached_graph(self) -> tuple[Any, ...]:
        """The inputs and the outputs as symbols; empty before the first call."""
        if self._in_format is None:
            return ()
        graph = self._block_graph()
        given = [name for name in graph.list_inputs() if name.startswith("data")]
        inputs = [one for one in graph.get_internals() if one.name in given]
        return inputs, graph

    def _clear_cached_op(self) -> None:
        """Forget what was written down."""
        self._block_compiled.forget()


def _format(value: Any) -> Any:
    """Return 0 for one array, -1 for None, and so many for a symbol with several outputs."""
    if isinstance(value, (list, tuple)):
        return [_format(one) for one in value]
    if isinstance(value, Symbol):
        count = len(value.list_outputs())
        return count if count > 1 else 0
    return -1 if value is None else 0


def flatten(args: Any, inout_str: str) -> tuple[list[Any], Any]:
    """Return the arrays and symbols in nested lists, and how these nest, as MXNet writes it."""
    what = f"When hybridized, the {inout_str} of HybridBlock"
    return flat(args, (Symbol, Array, type(None)), what, ArrayValueError), _format(args)


def regroup(args: list[Any], fmt: Any) -> tuple[Any, list[Any]]:
    """Nest flat values as a format says; return also those that are left."""
    if isinstance(fmt, int):
        if fmt == -1:
            return None, args[1:]
        return (args[0], args[1:]) if fmt == 0 else (args[:fmt], args[fmt:])
    if not isinstance(args, (list, tuple)):
        raise ValueError(
            "When hybridized, the output of HybridBlock must be (nested) list of Symbol or NDArray,"
            f" but got {args} of type {type(args)}"
        )
    nested = []
    for one in fmt:
        value, args = regroup(args, one)
        nested.append(value)
    return nested, args

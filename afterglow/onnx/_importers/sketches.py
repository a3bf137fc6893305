# SPDX-License-Identifier: Apache-2.0
"""Running a graph with symbols instead of arrays.

A sketch is a symbol beside an array that has its shape and type, and no value. So functions of ops
see shapes as they do with arrays, and what they call is written down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as onp

from ... import symbol
from ..._core import Array
from ...error import ArrayNotImplementedError, MissingNameError
from .graph import Node
from .values import ARRAYS, Host, as_array, known_type

_symbols: Any = symbol


class Sketch:
    """A symbol, with an array that has its shape and type."""

    def __init__(self, sketcher: Sketcher, array: Any, graph: Any, host: Any = None) -> None:
        self.sketcher = sketcher
        self.array = array
        self.symbol = graph
        self._host = host

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self.array.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return self.array.dtype

    def astype(self, dtype: Any) -> Sketch:
        """Return it in another type."""
        kind = onp.dtype(dtype).name
        return Sketch(self.sketcher, self.array.astype(kind), self.symbol.astype(kind))

    def __getitem__(self, key: Any) -> Sketch:
        return Sketch(self.sketcher, self.array[key], self.symbol[key])

    def known(self, node: Node) -> Host:
        """Return the value, if it is one of the model's."""
        if self._host is None:
            raise node.refuse(
                "what it gives depends on values that a symbol does not have; import_to_gluon "
                "runs such models"
            )
        host: Host = self._host
        return host

    def __neg__(self) -> Any:
        return self.sketcher.negative(self)

    def __add__(self, other: Any) -> Any:
        return self.sketcher.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return self.sketcher.add(self, other)

    def __sub__(self, other: Any) -> Any:
        return self.sketcher.subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return self.sketcher.subtract(other, self)

    def __mul__(self, other: Any) -> Any:
        return self.sketcher.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return self.sketcher.multiply(self, other)

    def __truediv__(self, other: Any) -> Any:
        return self.sketcher.divide(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.sketcher.divide(other, self)

    def __pow__(self, other: Any) -> Any:
        return self.sketcher.power(self, other)

    def __gt__(self, other: Any) -> Any:
        return self.sketcher.greater(self, other)

    def __lt__(self, other: Any) -> Any:
        return self.sketcher.less(self, other)

    def __ge__(self, other: Any) -> Any:
        return self.sketcher.greater_equal(self, other)

    def __le__(self, other: Any) -> Any:
        return self.sketcher.less_equal(self, other)

    def __eq__(self, other: object) -> Any:
        return self.sketcher.equal(self, other)

    def __ne__(self, other: object) -> Any:
        return self.sketcher.not_equal(self, other)

    __array_ufunc__ = None  # a NumPy array leaves its operators to a sketch


class Sketcher:
    """The functions of ``np`` and ``npx`` for sketches, and variables for constants.

    ``names`` are those of the model's constants, by their identity.
    """

    is_host = False

    def __init__(self, names: Mapping[int, str]) -> None:
        self.names = names
        self.constants: dict[str, Host] = {}  # by the name of the variable
        self._made: dict[int, tuple[Host, Any, Any]] = {}

    def variable(self, name: str, host: Host) -> Sketch:
        """Return a variable whose value is that of a constant of the model."""
        if id(host) not in self._made:
            while name in self.constants:
                name += "_"
            self.constants[name] = host
            graph = _symbols.var(name, shape=host.shape, dtype=known_type(host.dtype).name)
            self._made[id(host)] = (host, as_array(host), graph.as_np_ndarray())
        _, array, graph = self._made[id(host)]
        return Sketch(self, array, graph, host)

    def value(self, value: Any) -> Any:
        """Return a value that functions take: a sketch; a number if it is a constant number."""
        if isinstance(value, Sketch):
            return value
        host = value.asnumpy() if isinstance(value, Array) else value
        return self.variable(self.names.get(id(host), "constant"), host)

    @staticmethod
    def cast(value: Any, dtype: Any) -> Any:
        """Return a value in another type."""
        return value if onp.dtype(value.dtype) == dtype else value.astype(dtype)

    def reshape(self, value: Any, shape: tuple[int, ...]) -> Sketch:
        """Return a sketch in another shape; extents in front that stay may be others later."""
        value = self.value(value)
        array = ARRAYS.reshape(value.array, shape)
        codes = list(array.shape)
        for place, (old, new) in enumerate(zip(value.shape, array.shape, strict=False)):
            if old != new:
                break
            codes[place] = -2  # copied
        return Sketch(self, array, _symbols.npx.reshape(value.symbol, newshape=tuple(codes)))

    def update(self, data: Any, places: Any, values: Any) -> Any:
        """Return rows of which some are replaced."""
        return self.index_update(data, self.expand_dims(self.value(places), 0), values)

    def add_at(self, data: Any, places: Any, values: Any) -> Any:
        """Return rows to some of which others are added."""
        return self.index_add(data, self.expand_dims(self.value(places), 0), values)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        of_arrays = getattr(ARRAYS, name)
        of_symbols = _function(name)

        def call(*args: Any, **given: Any) -> Any:
            taken, named = self._taken(args), {key: self._taken(one) for key, one in given.items()}
            array, graph = (
                function(
                    *_side(taken, side), **{key: _side(one, side) for key, one in named.items()}
                )
                for function, side in ((of_arrays, "array"), (of_symbols, "symbol"))
            )
            if isinstance(array, (list, tuple)):
                return [Sketch(self, *pair) for pair in zip(array, graph, strict=True)]
            return Sketch(self, array, graph)

        return call

    def _taken(self, value: Any) -> Any:
        """Return an argument with sketches and numbers in place of arrays."""
        if isinstance(value, (list, tuple)):
            return type(value)(self._taken(one) for one in value)
        if isinstance(value, onp.ndarray) and value.ndim == 0:
            return value.item()
        if isinstance(value, (Array, onp.ndarray)):
            return self.value(value)
        return value


def _side(value: Any, name: str) -> Any:
    """Return an argument with one side of each sketch."""
    if isinstance(value, (list, tuple)):
        return type(value)(_side(one, name) for one in value)
    return getattr(value, name) if isinstance(value, Sketch) else value


def _function(name: str) -> Callable[..., Any]:
    """Return a function of symbols."""
    for module in (_symbols.npx, _symbols.np):
        try:
            found: Callable[..., Any] = getattr(module, name)
        except (MissingNameError, AttributeError):
            continue
        return found
    raise ArrayNotImplementedError(
        f"[onnx] symbols have no function {name}; import_to_gluon runs such models"
    )

# SPDX-License-Identifier: Apache-2.0
"""What layers and losses are written with: functions for whatever a layer is called with.

For users ``F`` is what MXNet makes it, ``nd`` or ``sym``, and each of them has another idea of
what a function is called and takes. Layers of our own ask for the functions that go with their
input: ops of arrays, which answer in the world of these, or nodes of symbols, as MXNet writes them.
Both are named as in the table of ops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from .. import symbol
from .._arrays.op_functions import table
from .._arrays.shapes import Shape, normal_axis
from .._arrays.worlds import WORLDS, World, pick_labels, where
from .._core import Array
from ..symbol.numpy import _Symbol

_symbols: Any = symbol

Function = Callable[..., Any]


@cache
def _other_axes(axis: int, rank: int) -> Shape:
    """Return all axes but one."""
    kept = normal_axis(axis, rank)
    return tuple(other for other in range(rank) if other != kept)


class _Arrays(World[Any]):
    """Ops of arrays of ``nd`` (legacy) or ``np``, and what is made of several of them."""

    where = staticmethod(where)
    pick_labels = staticmethod(pick_labels)

    @staticmethod
    def reshape_like(x: Any, other: Any) -> Any:
        return x._shaped(other.shape)

    @staticmethod
    def reshape(x: Any, codes: Shape) -> Any:
        """Return an array in another shape, with the codes of ``nd``."""
        return x._shaped_by_codes(codes, False)

    @staticmethod
    def transpose(x: Any, order: Shape) -> Any:
        return x.transpose(order)

    def over_samples(self, name: str, x: Any, axis: int) -> Any:
        """Return a reduction over all axes but that of the batch."""
        axes = _other_axes(axis, x.ndim)
        return getattr(self, name)(x, axis=axes) if axes else x

    @staticmethod
    def join(parts: list[Any], axis: int, name: str | None = None) -> Any:
        return WORLDS[parts[0]._legacy].concat(parts, axis=axis)

    @staticmethod
    def recurrent(
        x: Any, weights: list[Any], states: list[Any], lengths: list[Any], **given: Any
    ) -> Any:
        """Return what recurrent layers make of sequences, and the last states."""
        return WORLDS[x._legacy].recurrent_layers([x, *states, *lengths, *weights], **given)

    choose = staticmethod(where)

    def steps(self, x: Any, count: int, axis: int) -> list[Any]:
        """Return what lies along an axis one by one."""
        parts = self.SliceChannel(x, num_outputs=count, axis=axis, squeeze_axis=True)
        return parts if isinstance(parts, list) else [parts]

    @staticmethod
    def plus(x: Any, y: Any) -> Any:
        return x + y

    @staticmethod
    def times(x: Any, y: Any) -> Any:
        return x * y

    def elemwise_add(self, x: Any, y: Any, name: str | None = None) -> Any:
        return self.add(x, y)

    def elemwise_sub(self, x: Any, y: Any, name: str | None = None) -> Any:
        return self.subtract(x, y)

    def elemwise_mul(self, x: Any, y: Any, name: str | None = None) -> Any:
        return self.multiply(x, y)


class _Symbols:
    """Nodes of symbols of ``nd``."""

    def __getattr__(self, name: str) -> Any:
        return _legacy_function(name)

    def reshape(self, x: Any, codes: Shape) -> Any:
        """Return a symbol in another shape, with the codes of ``nd``."""
        return _symbols.reshape(x, shape=codes)

    def transpose(self, x: Any, order: Shape) -> Any:
        return _symbols.transpose(x, axes=order)

    def pick_labels(self, x: Any, labels: Any, axis: int) -> Any:
        return self.pick(x, labels, axis=axis, keepdims=True, __labels__=True)

    def over_samples(self, name: str, x: Any, axis: int) -> Any:
        """Return a reduction over all axes but that of the batch."""
        return getattr(_symbols, name)(x, axis=axis, exclude=True)

    def join(self, parts: list[Any], axis: int, name: str | None = None) -> Any:
        return _symbols.concat(*parts, dim=axis, name=name)

    def stack(self, parts: list[Any], axis: int) -> Any:
        return _symbols.stack(*parts, axis=axis)

    def recurrent(
        self, x: Any, weights: list[Any], states: list[Any], lengths: list[Any], **given: Any
    ) -> Any:
        """Return what recurrent layers make of sequences, and the last states."""
        flat = [_symbols.reshape(weight, shape=-1) for weight in weights]
        packed = _symbols._internal._rnn_param_concat(*flat, dim=0)
        named = zip(("state", "state_cell"), states, strict=False)
        ends = zip(("sequence_length",), lengths, strict=False)
        return self.RNN(x, packed, **dict(named), **dict(ends), **given)

    def choose(self, condition: Any, left: Any, right: Any) -> Any:
        """Return elements of one or the other, of symbols that are alike."""
        return _symbols.where(condition, left, right)

    def steps(self, x: Any, count: int, axis: int) -> list[Any]:
        """Return what lies along an axis one by one."""
        return list(_symbols.split(x, axis=axis, num_outputs=count, squeeze_axis=1))

    def plus(self, x: Any, y: Any) -> Any:
        """Return the sums of symbols that are alike."""
        return x + y

    def times(self, x: Any, y: Any) -> Any:
        """Return the products of symbols that are alike."""
        return x * y


#: Functions that stretch their arguments have names of their own among symbols of ``nd``.
_LEGACY_NAMES = {"copy": "identity", "multiply": "broadcast_mul", "subtract": "broadcast_sub"}


class _NumpySymbols(_Symbols):
    """Nodes of symbols of ``np``, and those of ``nd`` for what there is no other."""

    def __getattr__(self, name: str) -> Any:
        return _numpy_function(name)

    def over_samples(self, name: str, x: Any, axis: int) -> Any:
        """Return a reduction over all axes but that of the batch."""
        first = x if axis == 0 else x.swapaxes(0, axis)
        return getattr(_symbols.np, name)(_symbols.npx.batch_flatten(first), axis=1)

    def join(self, parts: list[Any], axis: int, name: str | None = None) -> Any:
        return _symbols.np.concatenate(parts, axis=axis)

    def stack(self, parts: list[Any], axis: int) -> Any:
        return _symbols.np.stack(parts, axis=axis)

    def plus(self, x: Any, y: Any) -> Any:
        """Return the sums of symbols that are alike; those of ``np`` would be stretched."""
        return _symbols.elemwise_add(x, y)

    def times(self, x: Any, y: Any) -> Any:
        """Return the products of symbols that are alike."""
        return _symbols.elemwise_mul(x, y)

    def tanh(self, x: Any, name: str | None = None) -> Any:
        return _symbols.np.tanh(x)

    def relu(self, x: Any, name: str | None = None) -> Any:
        return _symbols.npx.relu(x)

    def sigmoid(self, x: Any, name: str | None = None) -> Any:
        return _symbols.npx.sigmoid(x)  # MXNet gives the node of a layer no name here


@cache
def _legacy_function(name: str) -> Function:
    """Return the function of ``sym`` that a name of the table stands for."""
    public = _LEGACY_NAMES.get(name, name)
    if public.startswith("image_"):
        found = getattr(_symbols.image, public.removeprefix("image_"))
    else:
        found = getattr(_symbols, public, None) or getattr(_symbols.contrib, public)
    function: Function = found
    return function


@cache
def _numpy_function(name: str) -> Function:
    """Return the function of ``npx``, ``np`` or ``nd`` that a name of the table stands for."""
    known = table()[name]["mxnet_names"] if name in table() else ()
    for spelling in known:
        if spelling.startswith("_npx__image_"):
            return getattr(_symbols.npx.image, spelling.removeprefix("_npx__image_"))  # type: ignore[no-any-return]
        if spelling.startswith("_npx_"):
            function: Function = getattr(_symbols.npx, spelling.removeprefix("_npx_"))
            return function
    return getattr(_symbols.np, name, None) or _legacy_function(name)


_ARRAYS = (_Arrays(False), _Arrays(True))
_SYMBOLS, _NUMPY_SYMBOLS = _Symbols(), _NumpySymbols()


def functions(x: Any) -> Any:
    """Return the functions that go with an array or a symbol."""
    if isinstance(x, Array):
        return _ARRAYS[x._legacy]  # type: ignore[attr-defined]
    return _NUMPY_SYMBOLS if isinstance(x, _Symbol) else _SYMBOLS


def has_shape(x: Any) -> bool:
    """Tell whether the shape is known: that of symbols is not."""
    return isinstance(x, Array)

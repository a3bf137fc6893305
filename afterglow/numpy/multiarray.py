# SPDX-License-Identifier: Apache-2.0
"""The class of ``mx.np`` arrays. Its methods are spellings of the functions of the same name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as onp

from .._arrays import printing as _printing
from .._arrays.dtypes import DTYPES
from .._core import Operation, operation
from ..context import Context
from ..error import ArrayNotImplementedError
from ..ndarray import NDArray
from . import _ops, elementwise, indexing
from ._arguments import need

__all__ = ["ndarray"]

#: A name of the module is found in less time than one of the class.
_copy = operation("copy", False)


class _Absent:
    """Hides a method of ``nd`` arrays that ``np`` arrays do not have."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        raise AttributeError(f"'ndarray' object has no attribute '{self._name}'", name=self._name)


def _in_place(function: Callable[..., Any]) -> Any:
    """Return an operator that writes into the array on its left."""

    def operate(self: ndarray, other: Any) -> ndarray:
        function(self, other, out=self)
        return self

    return operate


class ndarray(NDArray):  # noqa: N801
    """An array that answers as NumPy does, with MXNet's types: float32 unless one is named."""

    __slots__ = ()

    _legacy: ClassVar[bool] = False
    _copy: ClassVar[Operation] = _copy

    @property
    def dtype(self) -> onp.dtype[Any]:
        """The type of the elements."""
        return DTYPES[self._dtype_number]

    def __repr__(self) -> str:
        return _printing.numpy_repr(self.asnumpy(), self.context)

    def __str__(self) -> str:
        return _printing.numpy_str(self.asnumpy(), self.context)

    _repr_pretty_ = NDArray._repr_pretty_  # IPython looks for it where it finds __repr__

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if not self.ndim:
            return format(self.item(), spec)
        raise TypeError(f"Cannot format an ndarray of shape {self.shape} with {spec!r}")

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return importlib.import_module("afterglow.numpy")

    def __round__(self, ndigits: int | None = None) -> Any:
        return onp.round(self, ndigits or 0)

    def __matmul__(self, other: Any) -> Any:
        return _ops.matmul(self, need(other, "b"))

    def __rmatmul__(self, other: Any) -> Any:
        return _ops.matmul(need(other), self)

    def __imatmul__(self, other: Any) -> Self:
        _ops.matmul(self, need(other, "b"), self)
        return self

    __and__ = __rand__ = _ops.bitwise_and
    __or__ = __ror__ = _ops.bitwise_or
    __xor__ = __rxor__ = _ops.bitwise_xor
    __iand__ = _in_place(_ops.bitwise_and)
    __ior__ = _in_place(_ops.bitwise_or)
    __ixor__ = _in_place(_ops.bitwise_xor)
    __invert__ = _ops.invert
    __floor__, __ceil__, __trunc__ = _ops.floor, _ops.ceil, _ops.trunc

    def as_in_context(self, context: Context) -> Self:
        """Return the array on that device: the same memory when it is there already."""
        moved = super().as_in_context(context)
        return self.detach() if moved is self else moved

    def as_in_ctx(self, ctx: Context) -> Self:
        """Return the array on that device: itself when it is there already, else a copy."""
        return super().as_in_context(ctx)

    # --- copies ---

    def copy(self, order: str = "C") -> Self:
        """Return a copy on the same device."""
        if order != "C":
            raise ArrayNotImplementedError(f"[copy] arrays are stored in order 'C', not {order!r}")
        return _copy(self)  # type: ignore[no-any-return]

    def astype(  # type: ignore[override]
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Self:
        """Return the values in another type; without ``copy`` the array itself if it has it."""
        if copy and dtype is not None:
            return _copy(self, dtype)  # type: ignore[no-any-return]
        return self._cast(dtype, copy)

    def reshape(self, *args: Any, **kwargs: Any) -> Self:
        """Return a copy in another shape; one extent may be -1."""
        if kwargs.pop("order", "C") != "C":
            raise ArrayNotImplementedError("[reshape] reads elements in order 'C'")
        wanted = args[0] if len(args) == 1 else args
        if not args:
            wanted = kwargs.pop("newshape", kwargs.pop("shape", ()))
        if kwargs:
            raise TypeError(f"reshape() got an unexpected keyword argument {next(iter(kwargs))!r}")
        result: Any = _ops.reshape(self, wanted)
        return result  # type: ignore[no-any-return]

    def flatten(self, order: str = "C") -> Self:  # type: ignore[override]
        """Return a copy with one axis."""
        return self.reshape(-1, order=order)

    ravel = flatten
    squeeze = _ops.squeeze  # type: ignore[assignment]

    def transpose(self, *axes: Any) -> ndarray:  # type: ignore[override]
        """Return a copy with the axes in another order."""
        return _ops.transpose(self, axes[0] if len(axes) == 1 else axes)

    swapaxes = _ops.swapaxes  # type: ignore[assignment]
    broadcast_to = _ops.broadcast_to  # type: ignore[assignment]

    # --- products and reductions ---

    def clip(self, min: Any = None, max: Any = None, out: ndarray | None = None) -> Any:
        """Return the elements, but no smaller and no greater than two bounds."""
        return _ops.clip(self, min, max, out)

    dot = _ops.dot

    def sum(  # type: ignore[override]
        self,
        axis: Any = None,
        dtype: Any = None,
        out: ndarray | None = None,
        keepdims: bool = False,
    ) -> ndarray:
        """Return the sum over axes."""
        return _ops.sum(self, axis, dtype, keepdims, out=out)

    mean = _ops.mean  # type: ignore[assignment]

    def max(self, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:  # type: ignore[override]
        """Return the greatest element along axes."""
        return _ops.max(self, axis, keepdims, out)

    def min(self, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:  # type: ignore[override]
        """Return the smallest element along axes."""
        return _ops.min(self, axis, keepdims, out)

    # --- elementwise ---

    round = elementwise.around  # type: ignore[assignment]

    # --- reductions ---

    prod = _ops.prod  # type: ignore[assignment]
    std = _ops.std
    var = _ops.var

    def all(self, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
        """Return whether no element along axes is 0."""
        return _ops.all(self, axis, keepdims, out)

    def any(self, axis: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
        """Return whether an element along axes is not 0."""
        return _ops.any(self, axis, keepdims, out)

    argmax = _ops.argmax  # type: ignore[assignment]
    argmin = _ops.argmin  # type: ignore[assignment]
    cumsum = _ops.cumsum

    # --- sorting ---

    def sort(  # type: ignore[override]
        self, axis: int = -1, kind: Any = None, order: Any = None
    ) -> None:
        """Put the elements in order along an axis, in place."""
        self._assign(_ops.sort(self, axis, kind, order))

    argsort = _ops.argsort  # type: ignore[assignment]

    # --- picking elements ---

    take = _ops.take  # type: ignore[assignment]
    nonzero = indexing.nonzero

    # --- shapes ---

    repeat = _ops.repeat  # type: ignore[assignment]

    def reshape_view(self, *args: Any, **kwargs: Any) -> Self:
        """Return a view in another shape, by the codes of ``nd``."""
        return super().reshape(*args, **kwargs)

    slice_assign = slice_assign_scalar = NDArray.slice_assign


for _name in vars(NDArray):
    if not _name.startswith("_") and _name not in vars(ndarray):
        setattr(ndarray, _name, _Absent(_name))

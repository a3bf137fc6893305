# SPDX-License-Identifier: Apache-2.0
"""What ``nd.NDArray`` and ``np.ndarray`` have in common.

Operators, waiting and values are in the compiled base class. Here are indexing, copies and the
protocols of Python; what asks for a value waits for it, everything else only issues calls.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as onp

from .. import _core, autograd
from .._core import (
    Array,
    Operation,
    first_stale,
    from_buffer,
    mark_variable,
    origin_of,
    set_stale,
    true_positions,
)
from .._interoperation import dlpack as _dlpack
from .._interoperation import numpy_protocols as _interop
from .._interoperation.host import convert, host_array
from ..context import Context, context_of
from ..error import ArrayTypeError, ArrayValueError, as_ours
from ..util import restore_array
from .dtypes import BOOL, dtype_number
from .keys import Block, Selection, read_key
from .shapes import Shape
from .worlds import NUMPY, WORLDS


class ArrayBase(Array):
    """An array: a shape, a type, a place, and a value that may still be on its way."""

    __slots__ = ()

    __array_priority__ = 1000.0

    _legacy: ClassVar[bool]
    _copy: ClassVar[Operation]

    # --- description ---

    @property
    def context(self) -> Context:
        """The device that holds the array."""
        return context_of(self._context_numbers)

    ctx = context

    @property
    def stype(self) -> str:
        """The storage type: "default" is dense."""
        return "default"

    @property
    def writable(self) -> bool:
        """Whether the array can be written to: always."""
        return True

    @property
    def grad(self) -> Any:
        """The gradient of a variable; ``None`` for all other arrays."""
        origin = origin_of(self)
        return origin[0].gradient if origin is not None and origin[0].is_variable else None

    def __len__(self) -> int:
        if not self.ndim:
            raise _UnsizedError("len() of unsized object")
        return self.shape[0]

    # --- views: the same memory ---

    def _permuted(self, order: Shape) -> Self:
        """Return a copy with the axes in that order."""
        return self._copied(self._reordered(order))

    def _copied(self, view: Self) -> Self:
        result: Self = self._copy(view)
        return result

    def detach(self) -> Self:
        """Return the same memory as a new array that takes no part in recording."""
        return self._detached()

    def as_nd_ndarray(self) -> Any:
        """Return the same memory as an ``nd.NDArray``."""
        return self._as_class(True)

    def as_np_ndarray(self) -> Any:
        """Return the same memory as an ``np.ndarray``."""
        return self._as_class(False)

    # --- gradients ---

    @property
    def _fresh_grad(self) -> bool:
        """Whether ``backward`` has computed the gradient since somebody used it."""
        return first_stale([self]) < 0

    @_fresh_grad.setter
    def _fresh_grad(self, fresh: bool) -> None:
        set_stale([self], not fresh)

    def attach_grad(self, grad_req: str = "write", stype: str | None = None) -> None:
        """Make the array a variable: ``backward`` leaves its gradient in ``grad``.

        ``grad_req`` is "write", "add", or "null": then there is no gradient, ``grad`` is None.
        ``stype`` may be "row_sparse" or "csr", for gradients that are mostly zero.
        """
        request = autograd.request_number(grad_req)
        if request and stype not in (None, "default"):
            from ..ndarray.sparse import attach_gradient

            attach_gradient(self, request, stype)
            return
        mark_variable(self, self._filled_like(0) if request else None, request)

    def _filled_like(self, value: float) -> Any:
        place = self._context_numbers
        return self._copy(value, shape=self.shape, dtype=self._dtype_number, ctx=place)

    def backward(
        self, out_grad: Any = None, retain_graph: bool = False, train_mode: bool = True
    ) -> None:
        """Queue the computation of the gradients of what this array was computed from."""
        gradients = None if out_grad is None else [out_grad]
        autograd.backward([self], gradients, retain_graph, train_mode)

    def zero_grad(self) -> None:
        """Set the gradient to zero."""
        gradient = self.grad
        if gradient is not None:
            gradient._assign(0)

    # --- indexing ---

    def _select(self, key: Any) -> Self:
        """Return ``self[key]`` for keys that the compiled class leaves: masks, lists, several."""
        if type(key) is type(self) and key._dtype_number == BOOL:
            ndim = key.ndim
            if ndim and key.shape == self.shape[:ndim]:
                return self._masked(key, ndim)
        block = read_key(self, key, self._legacy)
        if isinstance(block, Selection):
            return self._gather(block)
        shape, strides = block.shape, block.strides
        if block.scalar and self._legacy:
            shape = strides = (1,)  # nd has no arrays without dimensions here
        view = self._view(block.offset, shape, strides)
        return view if block.contiguous else self._copied(view)

    def _store(self, key: Any, value: Any) -> None:
        """Write ``self[key] = value`` where the compiled class does not."""
        if type(key) is type(self) and self.ndim and key._dtype_number != BOOL:
            self._store_at(key, value)
            return
        block = read_key(self, key, self._legacy)
        if isinstance(block, Selection):
            self._scatter(block, value)
        elif 0 not in block.shape:
            shape, strides = block.shape, block.strides
            if block.scalar and self._legacy:
                shape = strides = (1,)  # nd has no arrays without dimensions here
            stored = self._stored(value, len(shape))
            if block.contiguous and shape == self.shape:
                self._assign(stored)
            else:
                self._write(stored, block.offset, shape, strides)

    def _store_at(self, key: Any, value: Any) -> None:
        """Write where one index array points."""
        shape, strides = self.shape, self._strides
        values = self._in_own_type(self._stored(value, len(shape) - 1 + key.ndim))
        result = WORLDS[self._legacy].scatter([self._view(0, shape, strides), values, key])
        self._written(result, 0, shape, strides)

    def _masked(self, mask: Any, ndim: int) -> Self:
        """Return the elements where a mask over the first axes is true. Waits for the mask."""
        positions = true_positions(mask._shaped((mask.size,)))
        rows = self._shaped((mask.size, *self.shape[ndim:]))
        result: Self = WORLDS[self._legacy].take(rows, positions)
        return result

    def _block(self, block: Block) -> Self:
        return self._view(block.offset, block.shape, block.strides)

    def _stored(self, value: Any, ndim: int) -> Any:
        """Return what ``_assign`` takes; foreign memory is copied at once."""
        if isinstance(value, (int, float)):
            return value
        if isinstance(value, ArrayBase):
            if value._legacy != self._legacy:
                raise ArrayTypeError(
                    f"Cannot assign {type(value)} to {type(self)}; convert it with "
                    f"{'as_nd_ndarray' if self._legacy else 'as_np_ndarray'}()"
                )
            return value._without_leading_ones(ndim)
        if value is None:
            return float("nan")
        if isinstance(value, onp.generic):
            return convert(value, self._legacy, self)
        host = self._host_value(value)
        stored: Self = from_buffer(
            host, host.shape, self._dtype_number, self._context_numbers, self._legacy
        )
        return stored._without_leading_ones(ndim)

    def _host_value(self, value: Any) -> onp.ndarray[Any, Any]:
        if not isinstance(value, (str, bytes, dict, set)):
            try:
                return host_array(value, self._dtype_number)
            except (TypeError, ValueError):
                pass
        raise ArrayTypeError(
            f"{type(self)} does not support assignment with non-array-like object {value} of type "
            f"{type(value)}"
        )

    def _without_leading_ones(self, ndim: int) -> Self:
        extra = self.ndim - ndim
        if extra > 0 and all(extent == 1 for extent in self.shape[:extra]):
            return self._shaped(self.shape[extra:])
        return self

    def _gather(self, selection: Selection) -> Self:
        """Return the elements that index arrays name. Waits for masks: they decide the shape."""
        view = self._view(selection.offset, selection.shape, selection.strides)
        indices = selection.index_arrays(self)
        result: Self = WORLDS[self._legacy].gather([view, *indices], axis=selection.axis)
        return result

    def _scatter(self, selection: Selection, value: Any) -> None:
        """Write the elements that index arrays name. Waits for a mask if the values are many."""
        target = self._view(selection.offset, selection.shape, selection.strides)
        place = (selection.offset, selection.shape, selection.strides)
        if selection.mask is not None and target._store_masked(selection, selection.mask, value):
            self._written(target, *place)
            return
        indices = selection.index_arrays(self)
        positions = max(index.ndim for index in indices)
        stored = self._stored(value, target.ndim - len(indices) + positions)
        values = self._in_own_type(stored)
        result = WORLDS[self._legacy].scatter([target, values, *indices], axis=selection.axis)
        self._written(result, *place)

    def _in_own_type(self, stored: Any) -> Any:
        if isinstance(stored, Array) and stored._dtype_number != self._dtype_number:
            return self._copy(stored, dtype=self._dtype_number)
        return stored

    def _store_masked(self, selection: Selection, mask: Any, value: Any) -> bool:
        """Write one value to all elements that a mask names, without waiting for the mask.

        The value may be an array that is repeated along the axes of the mask. Returns False where
        each element has a value of its own: the mask decides how many there are.
        """
        behind = self.ndim - selection.axis - mask.ndim
        stored = self._stored(value, self.ndim - mask.ndim + 1)
        if isinstance(stored, ArrayBase):
            shape = stored.shape
            if stored.ndim > behind:
                axis = stored.ndim - behind - 1
                if shape[axis] != 1:
                    return False
                stored = stored._shaped((*shape[:axis], *(1,) * mask.ndim, *shape[axis + 1 :]))
            stored = self._in_own_type(stored)
        else:
            stored = self._copy(stored, shape=(), dtype=self._dtype_number)
        if self.size:
            condition = mask._shaped((*mask.shape, *(1,) * behind))
            operands = (one._as_class(False) for one in (condition, stored, self))
            chosen = NUMPY.where(*operands)
            self._assign(chosen._as_class(self._legacy))
        return True

    def __iter__(self) -> Iterator[Self]:
        return (self[position] for position in range(len(self)))

    # --- copies ---

    def _cast(self, dtype: Any, copy: bool) -> Self:
        number = dtype_number(dtype)
        if not copy and number == self._dtype_number:
            return self
        result: Self = self._copy(self, number)
        return result

    def copyto(self, other: Any) -> Any:
        """Copy into another array, which is returned, or to a device, as a new array."""
        if isinstance(other, ArrayBase) and other._legacy == self._legacy:
            if other is self:
                warnings.warn(
                    "You are attempting to copy an array to itself", RuntimeWarning, stacklevel=2
                )
                return False
            if other.shape != self.shape:
                raise ArrayValueError(
                    f"[copyto] the shapes {self.shape} and {other.shape} must be equal"
                )
            other._assign(self)
            return other
        if isinstance(other, Context):
            return self._copy(self, context=other.numbers)
        raise ArrayTypeError(f"copyto does not support type {type(other)}")

    def as_in_context(self, context: Context) -> Self:
        """Return the array on that device: itself when it is there already, else a copy."""
        if isinstance(context, Context) and context.numbers == self._context_numbers:
            return self
        result: Self = self.copyto(context)
        return result

    def as_in_ctx(self, ctx: Context) -> Self:
        """Return the array on that device: itself when it is there already, else a copy."""
        return self.as_in_context(ctx)

    def __copy__(self) -> Self:
        return self._copied(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self._copied(self)

    def __reduce__(self) -> tuple[Any, ...]:
        host = _core.Array.asnumpy(self)
        kind, number = self._context_numbers
        # Pretended GPUs are those of this process.
        place = (1, 0) if kind == Context.devstr2type["gpu"] else (kind, number)
        return (restore_array, (host, place, self._legacy))

    # What MXNet has pickled is made without a value, and told it then.

    def __new__(cls, handle: None) -> Self:
        """Return an array that ``__setstate__`` is to fill. Handles of MXNet's are refused."""
        if handle is not None:
            raise ArrayTypeError(f"{cls.__name__} of {handle!r}: array() makes arrays")
        return cls._unfilled()

    @classmethod
    def _unfilled(cls) -> Self:
        made: Self = restore_array(onp.zeros(0, onp.float32), (1, 0), cls._legacy)
        return made

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Become the array whose bytes, as in a file, MXNet has pickled."""
        from .._formats.params import array_from_bytes

        if state["handle"] is not None:
            self._swap(array_from_bytes(bytes(state["handle"]), self._legacy, "a pickle"))

    # --- values: these wait ---

    def item(self, *args: int) -> bool | int | float:
        """Return one element as a Python number; without an index the array must have just one."""
        if args:
            with as_ours("item"):
                value: bool | int | float = self.asnumpy().item(*args)
            return value
        if self.size != 1:
            raise ArrayValueError("can only convert an array of size 1 to a Python scalar")
        return self._number()

    def tolist(self) -> Any:
        """Return the value as nested lists of Python numbers."""
        return self.asnumpy().tolist()

    # --- NumPy ---

    def __array__(
        self, dtype: Any = None, copy: bool | None = None
    ) -> onp.ndarray[Any, onp.dtype[Any]]:
        if copy is False:
            host: onp.ndarray[Any, onp.dtype[Any]] = onp.from_dlpack(self)
            if dtype is not None and host.dtype != dtype:
                raise ValueError(f"{host.dtype} cannot become {dtype} without a copy")
            return host
        host = self.asnumpy()
        return host if dtype is None else host.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc: onp.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _interop.call_ufunc(self, ufunc, method, inputs, kwargs)

    def __array_function__(
        self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return _interop.call_function(self, func, args, kwargs)

    # --- memory shared with other libraries: see _dlpack ---

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        return _dlpack.export(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _dlpack.CPU_DEVICE

    def to_dlpack_for_read(self) -> Any:
        """Return a DLPack capsule that shares the memory. Waits for the value."""
        return _core.to_dlpack(self, False, False, False)

    def to_dlpack_for_write(self) -> Any:
        """Return a DLPack capsule through which the memory is written. Waits for its readers."""
        return _core.to_dlpack(self, False, False, True)


class _UnsizedError(ArrayTypeError, IndexError):
    """``len`` of an array without dimensions: TypeError in ``np``, IndexError in ``nd``."""


_restore = restore_array  # the name in pickles of earlier versions

# SPDX-License-Identifier: Apache-2.0
"""The classes of sparse arrays.

An array holds the arrays that it is made of in place of memory (``src/array/sparse.h``). These are
never written: a write gives the sparse array other ones, so results may share indices with what
they were computed from.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any, ClassVar, NoReturn, Self

import numpy as onp

from ... import autograd
from ..._arrays.dtypes import DTYPES, dtype_number
from ..._arrays.worlds import LEGACY
from ..._core import mark_variable, set_sparse_parts, sparse_parts
from ...context import Context
from ...error import ArrayTypeError, ArrayValueError, MXNetError
from ..creation import array as dense_array
from ..ndarray import NDArray
from . import _structure
from ._structure import assemble

__all__ = ["BaseSparseNDArray", "CSRNDArray", "NotSupportedForSparseNDArray", "RowSparseNDArray"]


class NotSupportedForSparseNDArray(MXNetError):  # noqa: N818 - the name is MXNet's
    """A function that dense arrays alone have."""

    def __init__(self, function: Any, alias: str | None, *args: Any) -> None:
        self.function = getattr(function, "__name__", str(function))
        self.alias = alias
        self.args_text = ", ".join(str(type(one)) for one in args)
        super().__init__(
            f"Function {self.function}{f' (namely operator {alias!r})' if alias else ''} with "
            f"arguments ({self.args_text}) is not supported for SparseNDArray and only available "
            "in NDArray."
        )


class BaseSparseNDArray(NDArray):
    """An array that does not store its zeros."""

    __slots__ = ()

    _stype: ClassVar[str]
    _aux_count: ClassVar[int]

    # --- description ---

    @property
    def stype(self) -> str:
        """The storage type: "csr" or "row_sparse"."""
        return self._stype

    @property
    def data(self) -> Any:
        """A copy of the values that are stored."""
        return sparse_parts(self)[0].copy()

    @property
    def indices(self) -> Any:
        """A copy of the columns of the values, or of the rows that are stored, as int64."""
        return sparse_parts(self)[1].copy()

    @property
    def _num_aux(self) -> int:
        return self._aux_count

    @property
    def _aux_types(self) -> list[Any]:
        return [onp.int64] * self._aux_count

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"\n<{type(self).__name__} {shape} @{self.context}>"

    __str__ = __repr__

    def __hash__(self) -> int:
        return id(self) >> 4

    def __bool__(self) -> bool:
        return bool(self.tostype("default"))

    def __reduce__(self) -> tuple[Any, ...]:
        parts = [None if one is None else one.asnumpy() for one in sparse_parts(self)]
        return (_restored, (self.shape, *parts, self._context_numbers))

    @classmethod
    def _unfilled(cls) -> Self:
        from ._creation import zeros

        made: Self = zeros(cls._stype, (0, 0))
        return made

    # --- waiting ---

    def wait_to_read(self, timeout: float | None = None) -> None:
        """Wait for the values."""
        for part in sparse_parts(self):
            if part is not None:
                part.wait_to_read(timeout)

    def wait_to_write(self, timeout: float | None = None) -> None:
        """Wait for the values: parts are never written, so nothing else is to be waited for."""
        self.wait_to_read(timeout)

    def asnumpy(self) -> Any:
        """Return a dense NumPy array. Waits."""
        with autograd.pause():
            return self.tostype("default").asnumpy()

    # --- operators ---

    def __add__(self, other: Any) -> Any:
        return LEGACY.add(self, other)

    def __sub__(self, other: Any) -> Any:
        return LEGACY.subtract(self, other)

    def __mul__(self, other: Any) -> Any:
        return LEGACY.multiply(self, other)

    def __truediv__(self, other: Any) -> Any:
        return LEGACY.divide(self, other)

    def __mod__(self, other: Any) -> Any:
        return LEGACY.modulo(self, other)

    def __pow__(self, other: Any) -> Any:
        return LEGACY.power(self, other)

    def __radd__(self, other: Any) -> Any:
        return LEGACY.add(other, self)

    def __rsub__(self, other: Any) -> Any:
        return LEGACY.subtract(other, self)

    def __rmul__(self, other: Any) -> Any:
        return LEGACY.multiply(other, self)

    def __rtruediv__(self, other: Any) -> Any:
        return LEGACY.divide(other, self)

    def __rmod__(self, other: Any) -> Any:
        return LEGACY.modulo(other, self)

    def __rpow__(self, other: Any) -> Any:
        return LEGACY.power(other, self)

    def __neg__(self) -> Any:
        return LEGACY.negative(self)

    def __abs__(self) -> Any:
        return LEGACY.abs(self)

    def __eq__(self, other: object) -> Any:
        return False if other is None else LEGACY.equal(self, other)

    def __ne__(self, other: object) -> Any:
        return True if other is None else LEGACY.not_equal(self, other)

    def __lt__(self, other: Any) -> Any:
        return LEGACY.less(self, other)

    def __le__(self, other: Any) -> Any:
        return LEGACY.less_equal(self, other)

    def __gt__(self, other: Any) -> Any:
        return LEGACY.greater(self, other)

    def __ge__(self, other: Any) -> Any:
        return LEGACY.greater_equal(self, other)

    def __iadd__(self, other: Any) -> Self:
        return self._become(self + other)

    def __isub__(self, other: Any) -> Self:
        return self._become(self - other)

    def __imul__(self, other: Any) -> Self:
        return self._become(self * other)

    def __itruediv__(self, other: Any) -> Self:
        return self._become(self / other)

    def __imod__(self, other: Any) -> Self:
        return self._become(self % other)

    # --- parts ---

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice) and key == slice(None):
            return self
        raise MXNetError(
            f"[{self.stype}] was given the key {key!r}; {type(self).__name__} has [:] alone, "
            "retain() keeps some of its rows"
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        if not isinstance(key, slice) or key != slice(None):
            raise ArrayTypeError(f"{type(self).__name__} only supports [:] for assignment")
        self._assign(value)

    def _assign(self, value: Any) -> None:
        """Take over the value of an array, or one number."""
        if isinstance(value, (int, float)):
            if self.stype == "csr" and value:
                raise ArrayValueError("Assigning numeric types to CSRNDArray is not implemented")
            value = self._filled_like(value) if value else zeros_like(self)
        elif not isinstance(value, NDArray):
            if not isinstance(value, (onp.ndarray, onp.generic)):
                raise ArrayTypeError(f"type {type(value)} not supported")
            value = dense_array(value, dtype=self.dtype)
        self._become(value)

    def _become(self, value: Any) -> Self:
        """Take over the value of another array of any kind, in the type and place of this one."""
        if value is self:
            return self
        if value.shape != self.shape:
            raise ArrayValueError(
                f"[{self.stype}] an array of shape {value.shape} was given; {self.shape} is needed"
            )
        with autograd.pause():
            data, *others = sparse_parts(value.tostype(self.stype))
            if data._dtype_number != self._dtype_number or _elsewhere(data, self):
                data = LEGACY.copy(data, dtype=self._dtype_number, context=self._context_numbers)
                place = self._context_numbers
                others = [
                    None if one is None else LEGACY.copy(one, context=place) for one in others
                ]
            set_sparse_parts(self, data, *others)
        return self

    def _filled_like(self, value: float) -> Any:
        if not value:
            return zeros_like(self)
        place = self._context_numbers
        return LEGACY.copy(value, shape=self.shape, dtype=self._dtype_number, ctx=place)

    def zeros_like(self, **kwargs: Any) -> Any:
        """Return zeros of the same kind, shape and type."""
        return zeros_like(self)

    def zero_grad(self) -> None:
        """Set the gradient to zero."""
        if self.grad is not None:
            self.grad[:] = 0

    # --- copies ---

    def _as_class(self, legacy: bool) -> Any:
        """Return the array itself; for ``np``, which has no such arrays, a dense copy."""
        return self if legacy else NDArray._as_class(self.tostype("default"), False)

    def copy(self) -> Self:
        """Return a copy on the same device."""
        result: Any = LEGACY.copy(self)
        copied: Self = result
        return copied

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def _cast(self, dtype: Any, copy: bool) -> Self:
        number = dtype_number(dtype)
        if not copy and number == self._dtype_number:
            return self
        result: Any = LEGACY.copy(self, number)
        converted: Self = result
        return converted

    def copyto(self, other: Any) -> Any:
        """Copy into another array, which is returned, or to a device, as a new array."""
        if isinstance(other, Context):
            return LEGACY.copy(self, context=other.numbers)
        if not isinstance(other, NDArray):
            raise ArrayTypeError(f"copyto does not support type {type(other)}")
        if other is self:
            warnings.warn(
                "You are attempting to copy an array to itself", RuntimeWarning, stacklevel=2
            )
            return False
        if other.stype not in ("default", self.stype):
            raise ArrayTypeError(f"copyto does not support destination stype {other.stype}")
        if other.shape != self.shape:
            raise ArrayValueError(
                f"[copyto] the shapes {self.shape} and {other.shape} must be equal"
            )
        other[:] = self if other._dtype_number == self._dtype_number else self.astype(other.dtype)
        return other

    def attach_grad(self, grad_req: str = "write", stype: str | None = None) -> None:
        """Make the array a variable; its gradient has its own storage type unless one is named."""
        attach_gradient(self, autograd.request_number(grad_req), stype or self.stype)

    @property
    def T(self) -> Any:  # noqa: N802 - as NumPy names it
        """The array with its axes reversed, dense."""
        return LEGACY.transpose(self)

    # --- what is not there ---

    def reshape(self, *shape: Any, **kwargs: Any) -> NoReturn:
        """Refuse: dense arrays alone have another shape without a copy."""
        raise NotSupportedForSparseNDArray(self.reshape, None, *shape)

    def _at(self, index: Any) -> NoReturn:
        raise NotSupportedForSparseNDArray(self._at, "[idx]", index)

    def _slice(self, start: Any, stop: Any) -> NoReturn:
        raise NotSupportedForSparseNDArray(self._slice, None, start, stop)

    # --- checks ---

    def check_format(self, full_check: bool = True) -> None:
        """Raise unless the indices are a valid description of the array. Waits for them."""
        raise NotImplementedError

    def _refuse_format(self, what: str) -> NoReturn:
        raise MXNetError(f"[check_format] {type(self).__name__} of shape {self.shape}: {what}")


class CSRNDArray(BaseSparseNDArray):
    """A matrix as compressed rows.

    The columns of row ``i`` are ``indices[indptr[i]:indptr[i + 1]]``, in order and each once, the
    values at the same places of ``data``.

    >>> from afterglow import nd
    >>> x = nd.array([[0, 1, 0], [2, 0, 3]]).tostype("csr")
    >>> print(x.data.asnumpy(), x.indices.asnumpy(), x.indptr.asnumpy())
    [1. 2. 3.] [1 0 2] [0 1 3]
    """

    __slots__ = ()

    _stype: ClassVar[str] = "csr"
    _aux_count: ClassVar[int] = 2

    @property
    def indptr(self) -> Any:
        """A copy of where the rows begin and end, as int64."""
        return sparse_parts(self)[2].copy()

    def __getitem__(self, key: Any) -> Any:
        """Return rows as a new array; one row too has two axes."""
        from ._calls import row_range

        rows = self.shape[0]
        if isinstance(key, (int, onp.integer)) and not isinstance(key, bool):
            position = int(key)
            if not -rows <= position < rows:
                raise _RowError(f"[csr] row {key} was asked for; there are {rows}")
            return row_range(self, position % rows, position % rows + 1)
        if not isinstance(key, slice):
            raise ArrayValueError(f"[csr] was given the key {key!r}; a row or a slice is needed")
        if key.step not in (None, 1):
            raise ArrayValueError("CSRNDArray only supports continuous slicing on axis 0")
        if key == slice(None):
            return self
        start, stop, _ = key.indices(rows)
        return row_range(self, start, max(start, stop))

    def tostype(self, stype: str) -> Any:
        """Return the array as "default" or "csr"."""
        if stype == "row_sparse":
            raise ArrayValueError("cast_storage from csr to row_sparse is not supported")
        return cast_storage(self, stype)

    def asscipy(self) -> Any:
        """Return the same matrix of SciPy. Waits."""
        matrices: Any = import_module("scipy.sparse")
        data, indices, indptr = (one.asnumpy() for one in sparse_parts(self))
        return matrices.csr_matrix(
            (data, indices, indptr), shape=self.shape, dtype=DTYPES[self._dtype_number]
        )

    def check_format(self, full_check: bool = True) -> None:
        """Raise unless rows and columns are in order and within the shape. Waits for them."""
        indptr, columns = _structure.indptr_of(self), _structure.indices_of(self)
        stored = sparse_parts(self)[0].shape[0]
        if self.ndim != 2:
            self._refuse_format("csr has two axes")
        if len(indptr) != self.shape[0] + 1:
            self._refuse_format(f"indptr has {len(indptr)} elements; one more than rows is needed")
        if indptr[0] != 0 or indptr[-1] != len(columns) or len(columns) != stored:
            self._refuse_format(
                f"indptr goes from {indptr[0]} to {indptr[-1]} for {len(columns)} indices and "
                f"{stored} values"
            )
        if not full_check:
            return
        if (onp.diff(indptr) < 0).any():
            self._refuse_format("indptr does not grow")
        if ((columns < 0) | (columns >= self.shape[1])).any():
            self._refuse_format(f"indices go beyond {self.shape[1]} columns")
        if (onp.diff(_structure.places_of(self)) <= 0).any():
            self._refuse_format("the columns of a row are not in order, or not each once")


class RowSparseNDArray(BaseSparseNDArray):
    """An array of which some rows are stored: ``dense[indices[i]]`` is ``data[i]``, others are 0.

    >>> from afterglow import nd
    >>> x = nd.array([[1, 2], [0, 0], [3, 4]]).tostype("row_sparse")
    >>> print(x.indices.asnumpy())
    [0 2]
    >>> print(x.data.asnumpy())
    [[1. 2.]
     [3. 4.]]
    """

    __slots__ = ()

    _stype: ClassVar[str] = "row_sparse"
    _aux_count: ClassVar[int] = 1

    def tostype(self, stype: str) -> Any:
        """Return the array as "default" or "row_sparse"."""
        if stype == "csr":
            raise ArrayValueError("cast_storage from row_sparse to csr is not supported")
        return cast_storage(self, stype)

    def retain(self, indices: Any, out: Any = None) -> Any:
        """Return the array with these rows, and zeros elsewhere."""
        from ._calls import retain

        return retain(self, indices, out=out)

    def check_format(self, full_check: bool = True) -> None:
        """Raise unless the rows are in order and within the shape. Waits for them."""
        rows, data = _structure.indices_of(self), sparse_parts(self)[0]
        if data.shape != (len(rows), *self.shape[1:]):
            self._refuse_format(f"there are {len(rows)} indices for data of shape {data.shape}")
        if not full_check or not len(rows):
            return
        if rows[0] < 0 or rows[-1] >= self.shape[0]:
            self._refuse_format(f"indices go beyond {self.shape[0]} rows")
        if (onp.diff(rows) <= 0).any():
            self._refuse_format("the indices are not in order, or not each once")


class _RowError(MXNetError, IndexError):
    """A row that is not there."""


def _elsewhere(one: Any, other: Any) -> bool:
    return bool(one._context_numbers != other._context_numbers)


def _restored(shape: Any, data: Any, indices: Any, indptr: Any, context: tuple[int, int]) -> Any:
    """Return an array that was pickled."""
    from ..._interoperation.host import from_host

    return assemble(shape, from_host(data, context, True), indices, indptr)


def zeros_like(array: Any, stype: str | None = None) -> Any:
    """Return zeros of the shape, type and place of an array, in a storage type or its own."""
    return empty(array.shape, stype or array.stype, array._dtype_number, array._context_numbers)


def attach_gradient(array: Any, request: int, stype: str) -> None:
    """Make an array a variable whose gradient has a storage type; a request is a number."""
    mark_variable(array, zeros_like(array, stype) if request else None, request)


def empty(shape: Any, stype: str, number: int, place: tuple[int, int]) -> Any:
    """Return an array that stores nothing, of a type given by its number."""
    if stype == "default":
        return LEGACY.copy(0, shape=shape, dtype=number, ctx=place)
    rows = stype == "row_sparse"
    width = shape[1:] if rows else ()
    data = LEGACY.copy(0, shape=(0, *width), dtype=number, ctx=place)
    nothing = LEGACY.copy(0, shape=(0,), dtype=_structure.INT64, ctx=place)
    if rows:
        return assemble(shape, data, nothing)
    if len(shape) != 2:
        raise ArrayValueError(f"[csr] the shape is {tuple(shape)}; two axes are needed")
    starts = LEGACY.copy(0, shape=(shape[0] + 1,), dtype=_structure.INT64, ctx=place)
    return assemble(shape, data, nothing, starts)


def cast_storage(data: Any, stype: str, out: Any = None) -> Any:
    """Return an array in a storage type: "default", "row_sparse" or "csr"."""
    from ._calls import cast

    return cast(data, stype, out=out)

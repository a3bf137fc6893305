# SPDX-License-Identifier: Apache-2.0
"""The class of ``mx.nd`` arrays. Its methods are spellings of the functions of the same name."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from .._arrays import printing as _printing
from .._arrays.base import ArrayBase
from .._arrays.dtypes import TYPES
from .._core import Operation, operation
from ..error import ArgumentError, ArrayValueError
from . import _ops, reduce, shape

__all__ = ["NDArray"]


class NDArray(ArrayBase):
    """An array that answers as ``mx.nd`` does.

    A full reduction has shape (1,), comparisons give 0 and 1 in the type of the array, and both
    operands of an operator must have the same type.
    """

    __slots__ = ()

    _legacy: ClassVar[bool] = True
    _copy: ClassVar[Operation] = operation("copy", True)

    @property
    def dtype(self) -> Any:
        """The type of the elements, as NumPy's class."""
        return TYPES[self._dtype_number]

    def __repr__(self) -> str:
        return _printing.legacy_text(self.asnumpy(), self.context)

    __str__ = __repr__

    def asscalar(self) -> Any:
        """Return the only element as a NumPy scalar. Waits."""
        if self.size != 1:
            raise ArrayValueError("The current array is not a scalar")
        return self.asnumpy().reshape(())[()]

    # --- copies and views ---

    def copy(self) -> Self:
        """Return a copy on the same device."""
        return self._copied(self)

    def astype(self, dtype: Any, copy: bool = True) -> Self:
        """Return the values in another type; without ``copy`` the array itself if it has it."""
        return self._cast(dtype, copy)

    def reshape(self, *shape: Any, **kwargs: Any) -> Self:
        """Return a view in another shape.

        0 keeps an extent, -1 is found from the others, -2 takes the rest, -3 merges two and -4
        splits one into the two that follow; with ``reverse=True`` they count from the right.
        """
        wanted: Any = shape[0] if len(shape) == 1 else shape
        if not shape:
            wanted = kwargs.pop("shape", None)
            if wanted is None:
                raise ArgumentError("Shape must be provided.")
        reverse = kwargs.pop("reverse", False)
        if kwargs:
            raise TypeError(f"reshape() got an unexpected keyword argument {next(iter(kwargs))!r}")
        return self._shaped_by_codes(wanted, bool(reverse))

    def reshape_like(self, rhs: NDArray, **kwargs: Any) -> NDArray:
        """Return a copy in the shape of another array."""
        return _ops.reshape_like(self, rhs, **kwargs)

    def expand_dims(self, axis: int, inplace: bool = False) -> NDArray:
        """Return a copy with one more axis; a view with ``inplace``."""
        result = _ops.expand_dims(self, axis)
        return self._shaped(result.shape) if inplace else result

    def squeeze(self, axis: Any = None, inplace: bool = False) -> NDArray:
        """Return a copy without axes of extent 1; a view with ``inplace``."""
        result = _ops.squeeze(self, axis)
        return self._shaped(result.shape) if inplace else result

    def flatten(self, inplace: bool = False) -> Self:
        """Return a copy with two axes; a view with ``inplace``."""
        view = self.reshape(0, -1) if self.ndim > 1 else self.reshape(-1, 1)
        return view if inplace else self._copied(view)

    def transpose(self, axes: Any = None, **kwargs: Any) -> NDArray:
        """Return a copy with the axes in another order."""
        return _ops.transpose(self, axes, **kwargs)

    def swapaxes(self, dim1: int = 0, dim2: int = 0, **kwargs: Any) -> NDArray:
        """Return a copy with two axes exchanged."""
        return _ops.swapaxes(self, dim1, dim2, **kwargs)

    def broadcast_to(self, shape: Any) -> NDArray:
        """Return a copy stretched to a shape."""
        return _broadcast_to(self, shape)

    def broadcast_like(self, other: NDArray) -> NDArray:
        """Return a copy stretched to the shape of another array."""
        return _ops.broadcast_like(self, other)

    def slice(self, begin: Any, end: Any, step: Any = None, **kwargs: Any) -> NDArray:
        """Return a copy of a block."""
        return shape.slice(self, begin, end, step, **kwargs)

    def slice_axis(self, axis: int, begin: int, end: Any, **kwargs: Any) -> NDArray:
        """Return a copy of a part of one axis."""
        return _ops.slice_axis(self, axis, begin, end, **kwargs)

    def zeros_like(self, **kwargs: Any) -> NDArray:
        """Return zeros of the same shape and type."""
        return self._filled_like(0)

    def ones_like(self, **kwargs: Any) -> NDArray:
        """Return ones of the same shape and type."""
        return self._filled_like(1)

    def _filled_like(self, value: float) -> NDArray:
        result: NDArray = self._copy(
            value, shape=self.shape, dtype=self._dtype_number, ctx=self._context_numbers
        )
        return result

    # --- shapes ---

    def flip(self, axis: Any, **kwargs: Any) -> NDArray:
        """Return the elements in reverse order along axes."""
        return _ops.flip(self, axis, **kwargs)

    def tile(self, reps: Any, **kwargs: Any) -> NDArray:
        """Return the whole array several times along its axes."""
        return _ops.tile(self, reps, **kwargs)

    def repeat(self, repeats: int, axis: int | None = None, **kwargs: Any) -> NDArray:
        """Return every element several times in a row."""
        return _ops.repeat(self, repeats, axis, **kwargs)

    def pad(self, mode: str, pad_width: Any, *args: Any, **kwargs: Any) -> NDArray:
        """Return the array with more elements around it."""
        return _ops.pad(self, mode, pad_width, *args, **kwargs)

    split = _ops.split

    def split_v2(self, indices_or_sections: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a list of parts along an axis: a number of equal ones, or cut at indices."""
        return shape.split_v2(self, indices_or_sections, *args, **kwargs)

    def diag(self, k: int = 0, **kwargs: Any) -> NDArray:
        """Return a diagonal, or a matrix with a vector on one."""
        return _ops.diag(self, k, **kwargs)

    def broadcast_axes(self, axis: Any = (), size: Any = (), **kwargs: Any) -> NDArray:
        """Return a copy with axes of extent 1 stretched to the sizes given."""
        return _ops.broadcast_axes(self, axis, size, **kwargs)

    def depth_to_space(self, block_size: int, **kwargs: Any) -> NDArray:
        """Return blocks of pixels that were spread over the channels as an image."""
        return _ops.depth_to_space(self, block_size, **kwargs)

    def space_to_depth(self, block_size: int, **kwargs: Any) -> NDArray:
        """Return the pixels of every block as channels."""
        return _ops.space_to_depth(self, block_size, **kwargs)

    def slice_like(self, shape_like: NDArray, axes: Any = (), **kwargs: Any) -> NDArray:
        """Return the beginning of the array, as long as another one along axes."""
        return _ops.slice_like(self, shape_like, axes, **kwargs)

    def slice_assign(self, rhs: Any, begin: Any, end: Any, step: Any = None) -> Self:
        """Write an array into a block, from begin to end, and return the whole."""
        block = shape.block_of(self, begin, end, step)
        if block.size:
            self._write(rhs, block._offset - self._offset, block.shape, block._strides)
        return self

    slice_assign_scalar = slice_assign

    def shape_array(self, **kwargs: Any) -> NDArray:
        """Return the shape as an array of int64."""
        return shape.shape_array(self, **kwargs)

    def size_array(self, **kwargs: Any) -> NDArray:
        """Return the number of elements as an array of int64."""
        return shape.size_array(self, **kwargs)

    def __index__(self) -> int:
        number = None if self.ndim else self._number()
        if type(number) is not int:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return number

    def __idiv__(self, other: Any) -> Self:
        """Divide in place, by the name that Python 2 had."""
        self /= other
        return self

    def __contains__(self, value: Any) -> bool:
        found: Any = self == value
        return bool(found.asnumpy().any())

    # --- elementwise ---

    abs = _ops.abs
    exp = _ops.exp
    log = _ops.log
    sqrt = _ops.sqrt
    square = _ops.square
    tanh = _ops.tanh
    sigmoid = _ops.sigmoid
    relu = _ops.relu
    sin = _ops.sin
    cos = _ops.cos
    tan = _ops.tan
    arcsin = _ops.arcsin
    arccos = _ops.arccos
    arctan = _ops.arctan
    sinh = _ops.sinh
    cosh = _ops.cosh
    arcsinh = _ops.arcsinh
    arccosh = _ops.arccosh
    arctanh = _ops.arctanh
    degrees = _ops.degrees
    radians = _ops.radians
    expm1 = _ops.expm1
    log1p = _ops.log1p
    log2 = _ops.log2
    log10 = _ops.log10
    rsqrt = _ops.rsqrt
    cbrt = _ops.cbrt
    rcbrt = _ops.rcbrt
    reciprocal = _ops.reciprocal
    sign = _ops.sign
    floor = _ops.floor
    ceil = _ops.ceil
    trunc = _ops.trunc
    fix = _ops.trunc
    rint = _ops.rint
    round = _ops.round

    def clip(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the elements within bounds."""
        return _ops.clip(self, *args, **kwargs)

    # --- reductions ---

    sum = _ops.sum
    mean = _ops.mean
    max = _ops.max
    min = _ops.min

    def norm(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the 1-norm or 2-norm."""
        return reduce.norm(self, *args, **kwargs)

    prod = _ops.prod

    def nansum(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the sum over axes; nan counts as 0."""
        return reduce.nansum(self, *args, **kwargs)

    def nanprod(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the product over axes; nan counts as 1."""
        return reduce.nanprod(self, *args, **kwargs)

    argmax = _ops.argmax
    argmin = _ops.argmin
    argmax_channel = _ops.argmax_channel

    # --- sorting ---

    def sort(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the elements in order along an axis."""
        return _ops.sort(self, *args, **kwargs)

    def argsort(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the indices that put the elements in order."""
        return _ops.argsort(self, *args, **kwargs)

    def topk(self, *args: Any, **kwargs: Any) -> Any:
        """Return the greatest elements along an axis."""
        return _ops.topk(self, *args, **kwargs)

    # --- softmax ---

    softmax = _ops.softmax
    log_softmax = _ops.log_softmax
    softmin = _ops.softmin

    # --- picking elements ---

    take = _ops.take
    pick = _ops.pick
    one_hot = _ops.one_hot


_broadcast_to = _ops.broadcast_to

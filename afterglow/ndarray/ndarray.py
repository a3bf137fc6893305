# SPDX-License-Identifier: Apache-2.0
"""The class of ``mx.nd`` arrays. Its methods are spellings of the functions of the same name."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from .._arrays import handles as _handles
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

    def __new__(cls, handle: Any, writable: bool = True) -> Self:
        """Return the array of a handle, as monitors of MXNet do; without one, for unpickling."""
        if handle is None:
            return super().__new__(cls, None)
        return _handles.array_of(handle)  # type: ignore[no-any-return]

    @property
    def _as_parameter_(self) -> Any:
        """What ``ctypes`` takes the array for."""
        return _handles.handle_of(self)

    @property
    def dtype(self) -> Any:
        """The type of the elements, as NumPy's class."""
        return TYPES[self._dtype_number]

    def __repr__(self) -> str:
        return _printing.legacy_text(self.asnumpy(), self.context)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        from ..notebooks.display import array_html

        return array_html(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print for IPython, where a failed array is an output like others."""
        from ..notebooks.display import array_text

        for number, line in enumerate(array_text(self).split("\n")):
            if number:
                printer.break_()
            printer.text(line)

    def asscalar(self) -> Any:
        """Return the only element as a NumPy scalar. Waits."""
        if self.size != 1:
            raise ArrayValueError("The current array is not a scalar")
        return self.asnumpy().reshape(())[()]

    # --- copies and views ---

    def tostype(self, stype: str) -> Any:
        """Return the array in a storage type: "default", "row_sparse" or "csr". Waits."""
        from .sparse import cast_storage

        return cast_storage(self, stype)

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

    reshape_like = _ops.reshape_like

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

    def broadcast_like(self, other: NDArray) -> NDArray:
        """Return a copy stretched to the shape of another array."""
        return _ops.broadcast_like(self, other)

    swapaxes = _ops.swapaxes
    broadcast_to = _ops.broadcast_to
    slice = shape.slice
    slice_axis = _ops.slice_axis

    def zeros_like(self, **kwargs: Any) -> Any:
        """Return zeros of the same shape and type."""
        return self._filled_like(0)

    def ones_like(self, **kwargs: Any) -> Any:
        """Return ones of the same shape and type."""
        return self._filled_like(1)

    # --- shapes ---

    flip = _ops.flip
    tile = _ops.tile
    repeat = _ops.repeat
    pad = _ops.pad
    split = _ops.split
    split_v2 = shape.split_v2
    diag = _ops.diag
    broadcast_axes = _ops.broadcast_axis
    depth_to_space = _ops.depth_to_space
    space_to_depth = _ops.space_to_depth
    slice_like = _ops.slice_like

    def slice_assign(self, rhs: Any, begin: Any, end: Any, step: Any = None) -> Self:
        """Write an array into a block, from begin to end, and return the whole."""
        block = shape.block_of(self, begin, end, step)
        if block.size:
            self._write(rhs, block._offset - self._offset, block.shape, block._strides)
        return self

    slice_assign_scalar = slice_assign
    shape_array = shape.shape_array
    size_array = shape.size_array

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
    norm = reduce.norm
    prod = _ops.prod
    nansum = reduce.nansum
    nanprod = reduce.nanprod
    argmax = _ops.argmax
    argmin = _ops.argmin
    argmax_channel = _ops.argmax_channel

    # --- sorting ---

    sort = _ops.sort
    argsort = _ops.argsort
    topk = _ops.topk

    # --- softmax ---

    softmax = _ops.softmax
    log_softmax = _ops.log_softmax
    softmin = _ops.softmin

    # --- picking elements ---

    take = _ops.take
    pick = _ops.pick
    one_hot = _ops.one_hot

# SPDX-License-Identifier: Apache-2.0
"""The class of ``mx.nd`` arrays. Its methods are spellings of the functions of the same name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from .. import _printing
from .._array import ArrayBase
from .._core import Operation, operation
from .._dtype import TYPES
from .._shapes import as_integers, expanded, legacy_reshape, squeezed
from ..error import ArgumentError, ArrayValueError
from . import elementwise, reduce, shape, sorting
from . import softmax as softmax_family

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
        return self._shaped(legacy_reshape(self.shape, as_integers(wanted, "shape"), bool(reverse)))

    def reshape_like(self, rhs: NDArray, **kwargs: Any) -> NDArray:
        """Return a copy in the shape of another array."""
        return shape.reshape_like(self, rhs, **kwargs)

    def expand_dims(self, axis: int, inplace: bool = False) -> Self:
        """Return a copy with one more axis; a view with ``inplace``."""
        view = self._shaped(expanded(self.shape, axis))
        return view if inplace else self._copied(view)

    def squeeze(self, axis: Any = None, inplace: bool = False) -> Self:
        """Return a copy without axes of extent 1; a view with ``inplace``."""
        view = self._shaped(squeezed(self.shape, axis) or (1,))
        return view if inplace else self._copied(view)

    def flatten(self, inplace: bool = False) -> Self:
        """Return a copy with two axes; a view with ``inplace``."""
        view = self.reshape(0, -1) if self.ndim > 1 else self.reshape(-1, 1)
        return view if inplace else self._copied(view)

    def transpose(self, axes: Sequence[int] | None = None, **kwargs: Any) -> NDArray:
        """Return a copy with the axes in another order."""
        return shape.transpose(self, axes, **kwargs)

    def swapaxes(self, dim1: int = 0, dim2: int = 0, **kwargs: Any) -> NDArray:
        """Return a copy with two axes exchanged."""
        return shape.swapaxes(self, dim1, dim2, **kwargs)

    def broadcast_to(self, shape: Any) -> NDArray:
        """Return a copy stretched to a shape."""
        return _broadcast_to(self, shape)

    def broadcast_like(self, other: NDArray) -> NDArray:
        """Return a copy stretched to the shape of another array."""
        return _broadcast_to(self, other.shape)

    def slice(self, begin: Any, end: Any, step: Any = None, **kwargs: Any) -> NDArray:
        """Return a copy of a block."""
        return shape.slice(self, begin, end, step, **kwargs)

    def slice_axis(self, axis: int, begin: int, end: int | None, **kwargs: Any) -> NDArray:
        """Return a copy of a part of one axis."""
        return shape.slice_axis(self, axis, begin, end, **kwargs)

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

    # --- elementwise ---

    def abs(self, **kwargs: Any) -> NDArray:
        """Return the absolute values."""
        return elementwise.abs(self, **kwargs)

    def exp(self, **kwargs: Any) -> NDArray:
        """Return e to the power of each element."""
        return elementwise.exp(self, **kwargs)

    def log(self, **kwargs: Any) -> NDArray:
        """Return the natural logarithms."""
        return elementwise.log(self, **kwargs)

    def sqrt(self, **kwargs: Any) -> NDArray:
        """Return the square roots."""
        return elementwise.sqrt(self, **kwargs)

    def square(self, **kwargs: Any) -> NDArray:
        """Return the elements multiplied by themselves."""
        return elementwise.square(self, **kwargs)

    def tanh(self, **kwargs: Any) -> NDArray:
        """Return the hyperbolic tangents."""
        return elementwise.tanh(self, **kwargs)

    def sigmoid(self, **kwargs: Any) -> NDArray:
        """Return 1 / (1 + exp(-x))."""
        return elementwise.sigmoid(self, **kwargs)

    def relu(self, **kwargs: Any) -> NDArray:
        """Return the elements with negative ones replaced by 0."""
        return elementwise.relu(self, **kwargs)

    def clip(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the elements, but no smaller and no greater than two bounds."""
        return elementwise.clip(self, *args, **kwargs)

    # --- reductions ---

    def sum(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the sum over axes."""
        return reduce.sum(self, *args, **kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the mean over axes."""
        return reduce.mean(self, *args, **kwargs)

    def max(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the greatest element along axes."""
        return reduce.max(self, *args, **kwargs)

    def min(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the smallest element along axes."""
        return reduce.min(self, *args, **kwargs)

    def norm(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the 1-norm or 2-norm."""
        return reduce.norm(self, *args, **kwargs)

    def prod(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the product over axes."""
        return reduce.prod(self, *args, **kwargs)

    def nansum(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the sum over axes; nan counts as 0."""
        return reduce.nansum(self, *args, **kwargs)

    def nanprod(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the product over axes; nan counts as 1."""
        return reduce.nanprod(self, *args, **kwargs)

    def argmax(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return where the greatest elements along an axis are."""
        return reduce.argmax(self, *args, **kwargs)

    def argmin(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return where the smallest elements along an axis are."""
        return reduce.argmin(self, *args, **kwargs)

    def argmax_channel(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return where the greatest elements along axis 1 are."""
        return reduce.argmax_channel(self, *args, **kwargs)

    # --- sorting ---

    def sort(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the elements in order along an axis."""
        return sorting.sort(self, *args, **kwargs)

    def argsort(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the indices that put the elements in order."""
        return sorting.argsort(self, *args, **kwargs)

    def topk(self, *args: Any, **kwargs: Any) -> Any:
        """Return the greatest elements along an axis."""
        return sorting.topk(self, *args, **kwargs)

    # --- softmax and sequences ---

    def softmax(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the softmax along an axis."""
        return softmax_family.softmax(self, *args, **kwargs)

    def log_softmax(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the logarithm of the softmax along an axis."""
        return softmax_family.log_softmax(self, *args, **kwargs)

    def softmin(self, *args: Any, **kwargs: Any) -> NDArray:
        """Return the softmax of the negative elements."""
        return softmax_family.softmin(self, *args, **kwargs)

    # --- picking elements ---

    # --- products ---


_broadcast_to = shape.broadcast_to

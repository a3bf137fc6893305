# SPDX-License-Identifier: Apache-2.0
"""Reductions that are more than an op. Over all axes the result has shape (1,)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._arrays.dtypes import FLOATING, optional_number
from .._arrays.shapes import as_axes
from .._arrays.worlds import LEGACY
from ..error import ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = ["moments", "nanprod", "nansum", "norm"]


def _without_nan(data: NDArray, value: float) -> NDArray:
    """Return the array with ``value`` for nan; integers are what they are."""
    if need(data)._dtype_number not in FLOATING:
        return data
    filler = LEGACY.copy(
        value, shape=data.shape, dtype=data._dtype_number, ctx=data._context_numbers
    )
    return LEGACY.where(LEGACY.equal(data, data), data, filler)


def nansum(
    data: NDArray,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the sum over the axes; nan counts as 0.

    >>> from afterglow import nd
    >>> nd.nansum(nd.array([1, float("nan"), 2])).asnumpy()
    array([3.], dtype=float32)
    """
    return LEGACY.sum(_without_nan(data, 0), as_axes(axis), bool(keepdims), bool(exclude), out=out)


def nanprod(
    data: NDArray,
    axis: Any = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the product over the axes; nan counts as 1.

    >>> from afterglow import nd
    >>> nd.nanprod(nd.array([3, float("nan"), 2])).asnumpy()
    array([6.], dtype=float32)
    """
    return LEGACY.prod(_without_nan(data, 1), as_axes(axis), bool(keepdims), bool(exclude), out=out)


def norm(
    data: NDArray,
    ord: int = 2,
    axis: Any = None,
    out_dtype: Any = None,
    keepdims: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the 1-norm or 2-norm of the elements along the axes.

    >>> from afterglow import nd
    >>> nd.norm(nd.array([[3, 4], [6, 8]]), axis=1).asnumpy()
    array([ 5., 10.], dtype=float32)
    """
    if ord not in (1, 2):
        raise ArrayValueError(f"[norm] ord must be 1 or 2, but got {ord}")
    function = LEGACY.norm1 if ord == 1 else LEGACY.norm2
    dtype = optional_number(out_dtype)
    return function(need(data), axis=as_axes(axis), keepdims=bool(keepdims), dtype=dtype, out=out)


def moments(
    data: NDArray,
    axes: Any = None,
    keepdims: bool = False,
    out: Any = None,
    name: str | None = None,
) -> list[NDArray]:
    """Return mean and variance over the axes, which must be named.

    >>> from afterglow import nd
    >>> mean, variance = nd.moments(nd.array([[1, 2], [3, 6]]), axes=(0,))
    >>> mean.asnumpy(), variance.asnumpy()
    (array([2., 4.], dtype=float32), array([1., 4.], dtype=float32))
    """
    if not as_axes(axes):
        raise ArrayValueError("[moments] axes must name at least one axis")
    targets = (None, None) if out is None else out
    axes, keepdims = as_axes(axes), bool(keepdims)
    squares = LEGACY.square(LEGACY.subtract(data, LEGACY.mean(need(data), axes, True)))
    return [
        LEGACY.mean(data, axes, keepdims, out=targets[0]),
        LEGACY.mean(squares, axes, keepdims, out=targets[1]),
    ]

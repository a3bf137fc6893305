# SPDX-License-Identifier: Apache-2.0
"""Arrays out of nothing, or out of what Python holds. The default type is float32."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._arrays.dtypes import FLOAT64, INT64, dtype_number
from .._arrays.shapes import Shape, as_float, as_shape
from .._arrays.worlds import NUMPY
from .._core import Array, from_plain
from .._interoperation.host import from_host, host_array
from ..context import Context, context_numbers
from ..error import (
    ArrayNotImplementedError,
    ArrayTypeError,
    ArrayValueError,
    as_ours,
)
from ._arguments import need
from ._ops import arange, eye, stack

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    "array",
    "blackman",
    "copy",
    "diag_indices_from",
    "empty",
    "empty_like",
    "hamming",
    "hanning",
    "identity",
    "indices",
    "linspace",
    "logspace",
    "meshgrid",
]


def array(object: Any, dtype: Any = None, ctx: Context | None = None) -> ndarray:
    """Return an array with the values of a list, a number, a NumPy array or another array.

    Arrays, ours and NumPy's, keep their type, and so do columns of tables and others that can
    become NumPy arrays; all else becomes float32 unless a type is named.

    >>> np.array([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    >>> np.array([1, 2], dtype="int32").dtype
    dtype('int32')
    """
    copied = from_plain(object, dtype, None if ctx is None else context_numbers(ctx), False)
    return _converted(object, dtype, ctx) if copied is None else copied


def _converted(object: Any, dtype: Any, ctx: Context | None) -> ndarray:
    """Return an array of what is neither a plain NumPy array nor lists of numbers."""
    result: ndarray
    context = context_numbers(ctx)
    if isinstance(object, Array):
        if getattr(object, "_legacy", False):
            raise ArrayValueError(
                "np.array was given an nd array; as_np_ndarray() turns it into an np array"
            )
        number = dtype_number(dtype, object._dtype_number)
        return NUMPY.copy(object, dtype=number, context=context)
    if isinstance(object, (onp.ndarray, onp.generic)) and dtype is None:
        result = from_host(onp.asarray(object), context, False)
        return result
    if dtype is None and hasattr(type(object), "__array__"):
        source = onp.asarray(object)
        if source.dtype.kind in "biuf":
            result = from_host(source, context, False)
            return result
    number = dtype_number(dtype)
    if isinstance(object, (list, tuple)) and any(isinstance(item, Array) for item in object):
        return NUMPY.copy(stack(object), dtype=number, context=context)
    try:
        host = host_array(object, number)
    except (TypeError, ValueError) as error:
        raise ArrayTypeError(str(error)) from None
    result = from_host(host, context, False, number)
    return result


def copy(a: ndarray, out: ndarray | None = None) -> ndarray:
    """Return a copy.

    >>> np.copy(np.array([1, 2]))
    array([1., 2.])
    """
    return NUMPY.copy(need(a), out=out)


def _check_order(order: str) -> None:
    if order != "C":
        raise ArrayNotImplementedError(f"arrays are stored in order 'C', not {order!r}")


def empty(
    shape: Any, dtype: Any = onp.float32, order: str = "C", ctx: Context | None = None
) -> ndarray:
    """Return an array whose values are whatever the memory held.

    >>> np.empty((2, 3)).shape
    (2, 3)
    """
    _check_order(order)
    return NUMPY.empty(shape=as_shape(shape), dtype=dtype_number(dtype), ctx=context_numbers(ctx))


def empty_like(
    prototype: Any, dtype: Any = None, order: str = "C", subok: bool = False, shape: Any = None
) -> ndarray:
    """Return an array like another one with whatever the memory held.

    >>> np.empty_like(np.zeros((2, 3))).shape
    (2, 3)
    """
    _check_order(order)
    like = need(prototype, "prototype")
    return NUMPY.empty(
        shape=like.shape if shape is None else as_shape(shape),
        dtype=dtype_number(dtype, like._dtype_number),
        ctx=like._context_numbers,
    )


def linspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    ctx: Context | None = None,
) -> Any:
    """Return ``num`` evenly spaced numbers from start to stop, and their distance on request.

    >>> np.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    >>> np.linspace(0, 1, 4, endpoint=False, retstep=True)
    (array([0.  , 0.25, 0.5 , 0.75]), 0.25)
    """
    if axis != 0 or not all(isinstance(end, (int, float, onp.number)) for end in (start, stop)):
        raise ArrayNotImplementedError("[linspace] takes numbers as start and stop, and axis 0")
    first, last = as_float(start, "[linspace] start"), as_float(stop, "[linspace] stop")
    count = operator.index(num)
    number, context = dtype_number(dtype), context_numbers(ctx)
    result = NUMPY.linspace(first, last, count, endpoint, number, ctx=context)
    gaps = count - 1 if endpoint else count
    return (result, (last - first) / gaps if gaps > 0 else float("nan")) if retstep else result


def logspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: Any = None,
    axis: int = 0,
    ctx: Context | None = None,
) -> ndarray:
    """Return ``num`` numbers from base ** start to base ** stop at equal ratios.

    >>> np.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    exponents = linspace(start, stop, num, endpoint, False, onp.float64, axis, ctx)
    number = dtype_number(dtype)
    powers = NUMPY.power(as_float(base, "[logspace] base"), exponents)
    return powers if number == FLOAT64 else NUMPY.copy(powers, dtype=number)


def identity(n: int, dtype: Any = None, ctx: Context | None = None) -> ndarray:
    """Return a square matrix with ones on the diagonal.

    >>> np.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    if not isinstance(n, (int, onp.integer)):
        raise ArrayTypeError("Input 'n' should be an integer")
    return eye(n, dtype=dtype, ctx=ctx)


def diag_indices_from(arr: Any) -> tuple[ndarray, ...]:
    """Return the indices of the main diagonal, one array per axis.

    >>> np.diag_indices_from(np.zeros((2, 2)))
    (array([0, 1], dtype=int64), array([0, 1], dtype=int64))
    """
    extents = need(arr, "arr").shape
    if len(extents) < 2 or len(set(extents)) > 1:
        raise ArrayValueError(
            f"[diag_indices_from] needs two or more axes of one extent, but the shape is {extents}"
        )
    return tuple(NUMPY.arange(extent, dtype=INT64) for extent in extents)


# --- grids ---


def meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> list[ndarray]:
    """Return the coordinates of a grid, one array per vector; ``indexing="ij"`` keeps their order.

    >>> np.meshgrid(np.array([1, 2]), np.array([3, 4, 5]))[1]
    array([[3., 3.],
           [4., 4.],
           [5., 5.]])
    >>> [x.shape for x in np.meshgrid(np.zeros((2,)), np.zeros((3,)), sparse=True)]
    [(1, 2), (3, 1)]
    """
    if indexing not in ("xy", "ij"):
        raise ArrayValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    vectors = [need(one, "xi") for one in xi]
    order = list(range(len(vectors)))
    if indexing == "xy":
        order[:2] = order[1::-1]
    shape = [vectors[axis].size for axis in order]
    grid = []
    for axis, vector in zip(order, vectors, strict=True):
        extents = [1] * len(vectors)
        extents[axis] = vector.size
        line = vector._shaped(tuple(extents))
        grid.append(NUMPY.copy(line) if sparse else NUMPY.copy(line, shape=tuple(shape)))
    return grid


def indices(
    dimensions: Sequence[int], dtype: Any = onp.int32, ctx: Context | None = None
) -> ndarray:
    """Return the index of every element of a shape: one array per axis, stacked.

    >>> np.indices((2, 2))
    array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]], dtype=int32)
    """
    if not isinstance(dimensions, (tuple, list)):
        raise ArrayValueError("The dimensions must be sequence of ints")
    shape = as_shape(dimensions)
    result = empty((len(shape), *shape), dtype, ctx=ctx)
    for axis, extent in enumerate(shape):
        if result.size:
            line: Shape = tuple(extent if one == axis else 1 for one in range(len(shape)))
            result[axis]._assign(arange(extent, dtype=onp.int64, ctx=ctx)._shaped(line))
    return result


# --- windows ---


def blackman(M: int, dtype: Any = onp.float32, ctx: Context | None = None) -> ndarray:  # noqa: N803
    """Return the Blackman window of ``M`` points.

    >>> np.blackman(3).shape
    (3,)
    """
    return _window(onp.blackman, M, dtype, ctx)


def hamming(M: int, dtype: Any = onp.float32, ctx: Context | None = None) -> ndarray:  # noqa: N803
    """Return the Hamming window of ``M`` points.

    >>> np.hamming(3)
    array([0.08, 1.  , 0.08])
    """
    return _window(onp.hamming, M, dtype, ctx)


def hanning(M: int, dtype: Any = onp.float32, ctx: Context | None = None) -> ndarray:  # noqa: N803
    """Return the Hann window of ``M`` points.

    >>> np.hanning(3)
    array([0., 1., 0.])
    """
    return _window(onp.hanning, M, dtype, ctx)


def _window(
    function: Callable[[int], onp.ndarray[Any, Any]], points: int, dtype: Any, ctx: Context | None
) -> ndarray:
    context, number = context_numbers(ctx), dtype_number(dtype)
    with as_ours(function.__name__):
        window = function(points)
    result: ndarray = from_host(window, context, False, number)
    return result

# SPDX-License-Identifier: Apache-2.0
"""Products of vectors, matrices and stacks of them by NumPy's rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as onp

from .. import _einsum
from .._core import Array, operation
from .._dtype import BOOL, INT64
from .._shapes import Shape, as_integers, normal_axis
from .._shortcut import shortcut
from ..error import ArrayValueError
from ._arguments import check_options, need

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    "cross",
    "dot",
    "einsum",
    "inner",
    "kron",
    "matmul",
    "tensordot",
    "trace",
    "vdot",
]

_batch_dot = operation("batch_dot", False)
_concat = operation("concat", False)
_copy = operation("copy", False)
_dot = operation("dot", False)
_multiply = operation("multiply", False)
_subtract = operation("subtract", False)
_sum = operation("sum", False)


@shortcut("dot", "ranked", "matrix")
def dot(a: Any, b: Any, out: ndarray | None = None) -> ndarray:
    """Return the product over the last axis of ``a`` and the last but one of ``b``.

    >>> from afterglow import np
    >>> np.dot(np.array([[1, 2], [3, 4]]), np.array([1, 10]))
    array([21., 43.])
    """
    a, b = need(a, "a"), need(b, "b")
    result: ndarray
    if not a.ndim or not b.ndim:
        result = _multiply(a, b, out=out)
        return result
    if b.ndim > 2:
        b = b._permuted(_contracted_first(b.ndim))
    result = _dot(a, b, out=out)
    return result


def _contracted_first(ndim: int) -> Shape:
    return (ndim - 2, *range(ndim - 2), ndim - 1)


def matmul(a: Any, b: Any, out: ndarray | None = None, **kwargs: Any) -> ndarray:
    """Return the matrix product; axes in front of the last two are a stack and are broadcast.

    >>> from afterglow import np
    >>> np.matmul(np.ones((4, 1, 2, 3)), np.ones((5, 3, 2))).shape
    (4, 5, 2, 2)
    """
    check_options("matmul", kwargs)
    a, b = need(a, "a"), need(b, "b")
    if not a.ndim or not b.ndim:
        raise ArrayValueError("[matmul] needs arrays of at least one dimension; * takes numbers")
    if b.ndim <= 2:  # all rows of the stack in one product
        return dot(a, b, out)
    row = a.ndim == 1
    if row:
        a = a._shaped((1, *a.shape))
    stack = _common_stack(a.shape[:-2], b.shape[:-2])
    left, right = (_stretched(each, stack) for each in (a, b))
    if not row:
        result: ndarray = _batch_dot(left, right, out=out)
        return result
    shape = (*stack, b.shape[-1])
    if out is None:
        result = _batch_dot(left, right)._shaped(shape)
        return result
    if need(out, "out").shape != shape:
        raise ArrayValueError(f"[matmul] out has shape {out.shape}, the result has shape {shape}")
    _batch_dot(left, right, out=out._shaped((*stack, 1, b.shape[-1])))
    return out


@lru_cache(maxsize=1024)
def _common_stack(left: Shape, right: Shape) -> Shape:
    try:
        return onp.broadcast_shapes(left, right)
    except ValueError:
        raise ArrayValueError(
            f"[matmul] stacks of {left} and {right} matrices cannot be broadcast"
        ) from None


def _stretched(array: ndarray, stack: Shape) -> ndarray:
    """Return a view with the matrices repeated to a stack of that shape."""
    if array.shape[:-2] == stack:
        return array
    extents, strides = array.shape, array._strides
    missing = len(stack) + 2 - array.ndim
    steps = [0 if extent == 1 else stride for extent, stride in zip(extents, strides, strict=True)][
        :-2
    ]
    return array._view(0, (*stack, *extents[-2:]), (*[0] * missing, *steps, *strides[-2:]))


def vdot(a: Any, b: Any) -> ndarray:
    """Return the product of all elements of one array with those of another, summed.

    >>> from afterglow import np
    >>> np.vdot(np.array([[1, 2], [3, 4]]), np.array([1, 10, 100, 1000]))
    array(4321.)
    """
    a, b = need(a, "a"), need(b, "b")
    result: ndarray = _dot(a._shaped((a.size,)), b._shaped((b.size,)))
    return result


def inner(a: Any, b: Any) -> ndarray:
    """Return the product over the last axes of both arrays.

    >>> from afterglow import np
    >>> np.inner(np.array([[1, 2], [3, 4]]), np.array([1, 10]))
    array([21., 43.])
    """
    a, b = need(a, "a"), need(b, "b")
    if not a.ndim or not b.ndim:
        return dot(a, b)
    return tensordot(a, b, ((-1,), (-1,)))


def kron(a: Any, b: Any) -> ndarray:
    """Return blocks of ``b``, each times an element of ``a``.

    >>> from afterglow import np
    >>> np.kron(np.array([1, 10]), np.array([1, 2]))
    array([ 1.,  2., 10., 20.])
    """
    a, b = need(a, "a"), need(b, "b")
    ndim = max(a.ndim, b.ndim)
    left, right = ((1,) * (ndim - each.ndim) + each.shape for each in (a, b))
    apart = [tuple(extent for each in left for extent in (each, 1))]
    apart.append(tuple(extent for each in right for extent in (1, each)))
    products = _multiply(a._shaped(apart[0]), b._shaped(apart[1]))
    result: ndarray = products._shaped(tuple(x * y for x, y in zip(left, right, strict=True)))
    return result


def tensordot(a: Any, b: Any, axes: Any = 2) -> ndarray:
    """Return the product summed over some axes: the last of ``a`` with the first of ``b``.

    ``axes`` is their number, or two sequences that name the axes of ``a`` and of ``b``.

    >>> from afterglow import np
    >>> np.tensordot(np.ones((2, 3, 4)), np.ones((4, 3, 5)), ((1, 2), (1, 0))).shape
    (2, 5)
    """
    a, b = need(a, "a"), need(b, "b")
    _check_types("tensordot", (a, b))
    if isinstance(axes, Sequence):
        axes = tuple(as_integers(each, "axes") for each in axes)
    inputs, output = _tensordot_labels(a.shape, b.shape, axes)
    result: ndarray = _einsum.contract((a, b), inputs, output)
    return result


@lru_cache(maxsize=1024)
def _tensordot_labels(a: Shape, b: Shape, axes: Any) -> tuple[tuple[Shape, Shape], Shape]:
    """Return names for all axes, the same for those that are summed over, and the result's."""
    left, right = _summed_axes(a, b, axes)
    labels = list(range(len(a), len(a) + len(b)))
    for one, other in zip(left, right, strict=True):
        if a[one] != b[other]:
            raise ArrayValueError(f"[tensordot] axis {one} of {a} and axis {other} of {b} differ")
        labels[other] = one
    kept = [axis for axis in range(len(a)) if axis not in left]
    kept += [label for label in labels if label >= len(a)]
    return (tuple(range(len(a))), tuple(labels)), tuple(kept)


def _summed_axes(a: Shape, b: Shape, axes: Any) -> tuple[Shape, Shape]:
    if isinstance(axes, tuple):
        if len(axes) != 2:
            raise ArrayValueError(
                f"[tensordot] axes are {axes}; needs a number, or the axes of a and those of b"
            )
        left = tuple(normal_axis(axis, len(a)) for axis in axes[0])
        right = tuple(normal_axis(axis, len(b)) for axis in axes[1])
        if len(left) != len(right) or len(set(left)) < len(left) or len(set(right)) < len(right):
            raise ArrayValueError(f"[tensordot] axes {axes} must name as many of one as of other")
        return left, right
    (count,) = as_integers(axes, "axes")
    if not 0 <= count <= min(len(a), len(b)):
        raise ArrayValueError(f"[tensordot] {a} and {b} do not both have {count} axes to sum over")
    return tuple(range(len(a) - count, len(a))), tuple(range(count))


def einsum(*operands: Any, out: ndarray | None = None, optimize: Any = False, **kwargs: Any) -> Any:
    """Return the sum of products that subscripts describe.

    Every letter is an axis; letters that the result lacks are summed over. ``...`` stands for axes
    without names. Three arrays and more are multiplied in a good order, or in the one that
    ``optimize`` names: "greedy", "optimal" or a path of ``numpy.einsum_path``.

    >>> from afterglow import np
    >>> np.einsum("ij,jk->ik", np.ones((2, 3)), np.ones((3, 2)))
    array([[3., 3.],
           [3., 3.]])
    >>> np.einsum("ii", np.eye(4))
    array(4.)
    """
    if kwargs:
        check_options("einsum", kwargs)
    described = bool(operands) and isinstance(operands[0], str)
    given = operands[1:] if described else operands[: len(operands) // 2 * 2 : 2]
    arrays: Sequence[Any] = [need(each, "operands") for each in given]
    if not arrays:
        raise ArrayValueError("[einsum] needs at least one array")
    _check_types("einsum", arrays)
    if described:
        result = _einsum.contract_as(operands[0], arrays, optimize)
    else:
        names, last = operands[1::2], operands[-1] if len(operands) % 2 else None
        _einsum.check_numbers([*names, *([] if last is None else [last])])
        inputs, output = _einsum.named(names, last, [each.shape for each in arrays], names)
        result = _einsum.contract(arrays, inputs, output, optimize)
    return result if out is None else _copy(result, out=out)


def _check_types(op: str, arrays: Sequence[Array]) -> None:
    kinds = {each._dtype_number for each in arrays}
    if len(kinds) > 1:
        raise ArrayValueError(f"[{op}] inputs must have the same type; convert one with astype")


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, out: ndarray | None = None
) -> ndarray:
    """Return the sum of the diagonal, ``offset`` above the main one.

    >>> from afterglow import np
    >>> np.trace(np.eye(3))
    array(3.)
    """
    if need(a).ndim < 2:
        raise ArrayValueError(f"[trace] needs at least two dimensions, not {a.shape}")
    first, second = normal_axis(axis1, a.ndim), normal_axis(axis2, a.ndim)
    if first == second:
        raise ArrayValueError(f"[trace] axis1 and axis2 are the same axis: {first}")
    rows, columns = a.shape[first], a.shape[second]
    down, across = a._strides[first], a._strides[second]
    length = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    start = 0 if not length else offset * across if offset > 0 else -offset * down
    rest = [axis for axis in range(a.ndim) if axis not in (first, second)]
    diagonal = a._view(
        start,
        (*(a.shape[axis] for axis in rest), length),
        (*(a._strides[axis] for axis in rest), down + across),
    )
    kind = INT64 if a._dtype_number == BOOL else a._dtype_number
    result: ndarray = _sum(diagonal, axis=(len(rest),), dtype=kind, out=out)
    return result


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> ndarray:
    """Return the vectors at right angles to two vectors of three (or two) elements.

    >>> from afterglow import np
    >>> np.cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    array([0., 0., 1.])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    left, right = _components(need(a, "a"), axisa), _components(need(b, "b"), axisb)
    if not (2 <= len(left) <= 3 and 2 <= len(right) <= 3):
        raise ArrayValueError(f"[cross] needs vectors of 2 or 3 elements: {a.shape} and {b.shape}")

    result: ndarray
    if len(left) == len(right) == 2:
        result = _area(left, right, 0, 1)
        return result
    parts = [_area(left, right, i, j) for i, j in ((1, 2), (2, 0), (0, 1))]
    place = normal_axis(axisc, parts[0].ndim + 1)
    result = _concat([_with_axis(each, place) for each in parts], axis=place)
    return result


def _area(left: list[ndarray], right: list[ndarray], i: int, j: int) -> Any:
    """Return ``left[i] * right[j] - left[j] * right[i]``, where a third element may be missing."""
    if max(i, j) < min(len(left), len(right)):
        return _subtract(_multiply(left[i], right[j]), _multiply(left[j], right[i]))
    # One term is zero: the one with the element that is not there.
    first = i < len(left) and j < len(right)
    return _multiply(left[i], right[j]) if first else -_multiply(left[j], right[i])


def _with_axis(array: ndarray, place: int) -> ndarray:
    return array._shaped((*array.shape[:place], 1, *array.shape[place:]))


def _components(array: ndarray, axis: int) -> list[ndarray]:
    """Return views of the elements of vectors along an axis."""
    place = normal_axis(axis, array.ndim)
    shape, strides = array.shape, array._strides
    rest, steps = (each[:place] + each[place + 1 :] for each in (shape, strides))
    return [array._view(i * strides[place], rest, steps) for i in range(shape[place])]

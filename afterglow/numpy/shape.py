# SPDX-License-Identifier: Apache-2.0
"""What arrays look like, and functions of shapes that are more than an op."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._arrays.shapes import Shape, normal_axis
from .._arrays.worlds import NUMPY
from .._core import Array
from ..error import (
    ArrayValueError,
)
from ._arguments import need

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    "array_split",
    "broadcast_arrays",
    "dsplit",
    "hsplit",
    "may_share_memory",
    "ndim",
    "shape",
    "shares_memory",
    "size",
    "split",
    "vsplit",
]


# --- descriptions ---


def shape(a: Any) -> Shape:
    """Return the extent of every axis.

    >>> np.shape(np.zeros((2, 3)))
    (2, 3)
    """
    return a.shape if isinstance(a, Array) else onp.shape(a)


def ndim(a: Any) -> int:
    """Return the number of axes.

    >>> np.ndim(np.zeros((2, 3)))
    2
    """
    return a.ndim if isinstance(a, Array) else onp.ndim(a)


def size(a: Any, axis: int | None = None) -> int:
    """Return the number of elements, or the extent of one axis.

    >>> np.size(np.zeros((2, 3)))
    6
    >>> np.size(np.zeros((2, 3)), 1)
    3
    """
    extents = shape(a)
    return prod(extents) if axis is None else extents[normal_axis(axis, len(extents))]


def may_share_memory(a: Any, b: Any, max_work: int | None = None) -> bool:
    """Tell whether two arrays lie in the same part of memory.

    >>> x = np.zeros((2, 3))
    >>> np.may_share_memory(x, x[1]), np.may_share_memory(x[0], x[1])
    (True, False)
    """
    return bool(need(a)._shares_memory(need(b, "b")))


shares_memory = may_share_memory


def broadcast_arrays(*args: Any) -> list[ndarray]:
    """Return the arrays stretched to their common shape; those that have it are not copied.

    >>> [x.shape for x in np.broadcast_arrays(np.zeros((3,)), np.zeros((2, 1)))]
    [(2, 3), (2, 3)]
    """
    arrays = [need(one) for one in args]
    try:
        common = onp.broadcast_shapes(*(one.shape for one in arrays))
    except ValueError as error:
        raise ArrayValueError(f"[broadcast_arrays] {error}") from None
    return [one if one.shape == common else NUMPY.np_broadcast_to(one, common) for one in arrays]


# --- parts ---


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Return a list of parts along an axis: a number of equal ones, or cut at indices.

    >>> np.split(np.array([1, 2, 3]), [1])
    [array([1.]), array([2., 3.])]
    """
    return _parts(NUMPY.split, ary, indices_or_sections, axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Return a list of parts along an axis; the first ones may be longer by one element.

    >>> [len(part) for part in np.array_split(np.zeros((8,)), 3)]
    [3, 3, 2]
    """
    return _parts(NUMPY.array_split, ary, indices_or_sections, axis)


def _parts(op: Callable[..., Any], ary: Any, given: Any, *axis: int) -> list[ndarray]:
    """Return the list of parts; ``given`` is a number of them, or where they begin."""
    array = need(ary, "ary")
    if isinstance(given, (int, onp.integer)):
        given = int(given)
    elif not isinstance(given, (tuple, list, set, onp.ndarray)):
        raise ArrayValueError(
            "indices_or_sections must be either int, or tuple / list / set of ints"
        )
    parts = op(array, sorted(given) if isinstance(given, set) else given, *axis)
    return parts if isinstance(parts, list) else [parts]


def hsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Return a list of parts along the second axis; of a vector along its only one.

    >>> [part.shape for part in np.hsplit(np.zeros((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    return _parts(NUMPY.hsplit, ary, indices_or_sections)


def vsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Return a list of parts along the first axis.

    >>> [part.shape for part in np.vsplit(np.zeros((2, 4)), 2)]
    [(1, 4), (1, 4)]
    """
    return _parts(NUMPY.vsplit, ary, indices_or_sections)


def dsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Return a list of parts along the third axis.

    >>> [part.shape for part in np.dsplit(np.zeros((2, 3, 4)), 2)]
    [(2, 3, 2), (2, 3, 2)]
    """
    return _parts(NUMPY.dsplit, ary, indices_or_sections)

# SPDX-License-Identifier: Apache-2.0
"""Products by NumPy's rules that are more than one op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._arrays.shapes import as_integers
from .._arrays.worlds import NUMPY
from .._mathematics import einsum as _einsum
from ..error import ArrayValueError
from ._arguments import check_options, need

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = ["einsum", "tensordot"]


def matmul(a: Any, b: Any, out: ndarray | None = None, **kwargs: Any) -> ndarray:
    """Refuse what is no array, and keywords that NumPy has and that mean nothing here."""
    check_options("matmul", kwargs)
    return NUMPY.matmul(need(a, "a"), need(b, "b"), out=out)


def dot(a: Any, b: Any, out: ndarray | None = None) -> ndarray:
    """Take arrays without dimensions, and second ones with more than two."""
    a, b = need(a, "a"), need(b, "b")
    if not a.ndim or not b.ndim:
        return NUMPY.multiply(a, b, out=out)
    if b.ndim > 2:
        b = b._permuted((b.ndim - 2, *range(b.ndim - 2), b.ndim - 1))
    return NUMPY.dot(a, b, out=out)


RARE = {"dot": dot, "matmul": matmul}


def tensordot(a: Any, b: Any, axes: Any = 2) -> ndarray:
    """Return the product summed over some axes: the last of ``a`` with the first of ``b``.

    ``axes`` is their number, or two sequences that name the axes of ``a`` and of ``b``.

    >>> from afterglow import np
    >>> np.tensordot(np.ones((2, 3, 4)), np.ones((4, 3, 5)), ((1, 2), (1, 0))).shape
    (2, 5)
    """
    a, b = need(a, "a"), need(b, "b")
    if not isinstance(axes, Sequence):
        return NUMPY.tensordot_int_axes(a, b, *as_integers(axes, "axes"))
    if len(axes) != 2:
        raise ArrayValueError(
            f"[tensordot] axes are {axes}; needs a number, or the axes of a and those of b"
        )
    return NUMPY.tensordot(a, b, *(as_integers(each, "axes") for each in axes))


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
    if len({each._dtype_number for each in arrays}) > 1:
        raise ArrayValueError("[einsum] inputs must have the same type; convert one with astype")
    if described:
        result = _einsum.contract_as(operands[0], arrays, optimize)
    else:
        names, last = operands[1::2], operands[-1] if len(operands) % 2 else None
        _einsum.check_numbers([*names, *([] if last is None else [last])])
        inputs, output = _einsum.named(names, last, [each.shape for each in arrays], names)
        result = _einsum.contract(arrays, inputs, output, optimize)
    return result if out is None else NUMPY.copy(result, out=out)

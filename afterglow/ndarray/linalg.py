# SPDX-License-Identifier: Apache-2.0
"""``mx.nd.linalg``: decompositions and products of stacks of matrices.

The last two axes are the matrix; axes in front of them are a stack. float32 and float64 only.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as onp

from .. import _decompositions
from .._core import operation
from .._dtype import INT64
from .._host import from_host
from .._host_calls import Host
from .._shapes import as_float, normal_axis
from ..error import ArrayMemoryError, ArrayTypeError, ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "det",
    "extractdiag",
    "extracttrian",
    "gelqf",
    "gemm",
    "gemm2",
    "inverse",
    "makediag",
    "maketrian",
    "potrf",
    "potri",
    "slogdet",
    "sumlogdiag",
    "syevd",
    "syrk",
    "trmm",
    "trsm",
]

_add = operation("add", True)
_batch_dot = operation("batch_dot", True)
_concat = operation("concat", True)
_copy = operation("copy", True)
_log = operation("log", True)
_multiply = operation("multiply", True)
_sum = operation("sum", True)
_take = operation("take", True)

_floats = (onp.float32, onp.float64)


def _floating(op: str, array: NDArray, name: str = "A") -> NDArray:
    if need(array, name).dtype not in _floats:
        raise ArrayTypeError(f"[{op}] needs float32 or float64, but {name} is {array.dtype}")
    return array


def _matrices(op: str, array: NDArray, name: str = "A") -> NDArray:
    if need(array, name).ndim < 2:
        raise ArrayValueError(f"[{op}] needs matrices, but {name} has shape {array.shape}")
    return _floating(op, array, name)


def _square(op: str, array: NDArray, name: str = "A") -> NDArray:
    if _matrices(op, array, name).shape[-1] != array.shape[-2]:
        raise ArrayValueError(f"[{op}] needs square matrices, but {name} has shape {array.shape}")
    return array


def _delivered(result: Any, out: NDArray | None) -> Any:
    return result if out is None else _copy(result, out=out)


def _scaled(array: Any, factor: float) -> Any:
    return array if factor == 1 else _multiply(array, as_float(factor, "[linalg] a factor"))


# --- products ---


def gemm(
    A: NDArray,  # noqa: N803
    B: NDArray,  # noqa: N803
    C: NDArray,  # noqa: N803
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    axis: int = -2,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return ``alpha * A x B + beta * C``; the rows of the matrices are along ``axis``.

    >>> from afterglow import nd
    >>> nd.linalg.gemm(nd.ones((2, 3)), nd.ones((3, 2)), nd.ones((2, 2)), beta=4.0).asnumpy()
    array([[7., 7.],
           [7., 7.]], dtype=float32)
    """
    _matrices("gemm", C, "C")
    product = _product("gemm", A, B, transpose_a, transpose_b, alpha, axis)
    if product.shape != C.shape:
        raise ArrayValueError(
            f"[gemm] the product has shape {product.shape}, but C has shape {C.shape}"
        )
    result: NDArray = _add(product, _scaled(C, beta), out=out)
    return result


def gemm2(
    A: NDArray,  # noqa: N803
    B: NDArray,  # noqa: N803
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    axis: int = -2,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return ``alpha * A x B``; the rows of the matrices are along ``axis``.

    >>> from afterglow import nd
    >>> nd.linalg.gemm2(nd.ones((2, 3)), nd.ones((2, 3)), transpose_b=True, alpha=0.5).asnumpy()
    array([[1.5, 1.5],
           [1.5, 1.5]], dtype=float32)
    """
    result: NDArray = _delivered(
        _product("gemm2", A, B, transpose_a, transpose_b, alpha, axis), out
    )
    return result


def _product(
    op: str,
    left: NDArray,
    right: NDArray,
    transpose_left: bool,
    transpose_right: bool,
    alpha: float,
    axis: int,
) -> Any:
    _matrices(op, left)
    ndim = _matrices(op, right, "B").ndim
    rows = normal_axis(axis, left.ndim)
    if ndim != left.ndim or rows == ndim - 1:
        raise ArrayValueError(
            f"[{op}] needs stacks of one shape with rows before columns, but got {left.shape} and "
            f"{right.shape} with axis {axis}"
        )
    if rows != ndim - 2:
        left, right = (_rows_moved(each, rows, ndim - 2) for each in (left, right))
    product = _batch_dot(left, right, bool(transpose_left), bool(transpose_right))
    result = _scaled(product, alpha)
    return result if rows == ndim - 2 else _copy(_rows_moved(result, ndim - 2, rows))


def _rows_moved(array: NDArray, source: int, target: int) -> NDArray:
    """Return a view with one axis at another place."""
    order = [axis for axis in range(array.ndim) if axis != source]
    order.insert(target, source)
    shape, strides = array.shape, array._strides
    return array._view(
        0, tuple(shape[axis] for axis in order), tuple(strides[axis] for axis in order)
    )


def syrk(
    A: NDArray,  # noqa: N803
    transpose: bool = False,
    alpha: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return ``alpha`` times each matrix times its transpose (``transpose``: the other way round).

    >>> from afterglow import nd
    >>> nd.linalg.syrk(nd.array([[1, 2]]), transpose=True).asnumpy()
    array([[1., 2.],
           [2., 4.]], dtype=float32)
    """
    product = _batch_dot(_matrices("syrk", A), A, bool(transpose), not transpose)
    result: NDArray = _delivered(_scaled(product, alpha), out)
    return result


def trmm(
    A: NDArray,  # noqa: N803
    B: NDArray,  # noqa: N803
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return ``alpha * A x B``, or ``B x A`` with ``rightside``; one triangle of ``A`` counts.

    >>> from afterglow import nd
    >>> nd.linalg.trmm(nd.array([[1, 9], [1, 1]]), nd.array([[2], [3]])).asnumpy()
    array([[2.],
           [5.]], dtype=float32)
    """
    _square("trmm", A)
    _matrices("trmm", B, "B")
    triangle = _decompositions.triangle(A, bool(lower))
    if rightside:
        product = _batch_dot(B, triangle, False, bool(transpose))
    else:
        product = _batch_dot(triangle, B, bool(transpose), False)
    result: NDArray = _delivered(_scaled(product, alpha), out)
    return result


def trsm(
    A: NDArray,  # noqa: N803
    B: NDArray,  # noqa: N803
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the solution X of ``A x X = alpha * B``, or of ``X x A`` with ``rightside``.

    Only one triangle of ``A`` is looked at. A zero on its diagonal gives inf and nan.

    >>> from afterglow import nd
    >>> nd.linalg.trsm(nd.array([[2, 9], [1, 1]]), nd.array([[2], [3]])).asnumpy()
    array([[1.],
           [2.]], dtype=float32)
    """
    _square("trsm", A)
    _matrices("trsm", B, "B")
    if A.shape[:-2] != B.shape[:-2] or A.shape[-1] != B.shape[-1 if rightside else -2]:
        raise ArrayValueError(f"[trsm] A of shape {A.shape} does not fit B of shape {B.shape}")
    if A.dtype != B.dtype:
        raise ArrayValueError(f"[trsm] A is {A.dtype}, but B is {B.dtype}")

    turns = bool(transpose) != bool(rightside)  # X A = B is A' X' = B'
    lower = bool(lower) != turns
    factor = _decompositions.triangle(_decompositions.turned(A) if turns else A, lower)
    right = _scaled(_decompositions.turned(B) if rightside else B, alpha)
    found = _decompositions.solve_triangular(factor, right, lower)
    result: NDArray = _delivered(_decompositions.turned(found) if rightside else found, out)
    return result


# --- decompositions ---


def potrf(
    A: NDArray,  # noqa: N803
    out: NDArray | None = None,
    name: str | None = None,
    *,
    lower: bool = True,
) -> NDArray:
    """Return the Cholesky factors: triangular L with ``A = L x L'``.

    >>> from afterglow import nd
    >>> nd.linalg.potrf(nd.array([[4, 2], [2, 5]])).asnumpy()
    array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    _square("potrf", A)
    factor = _decompositions.cholesky(A if lower else _decompositions.turned(A))
    result: NDArray = _delivered(factor if lower else _decompositions.turned(factor), out)
    return result


def potri(
    A: NDArray,  # noqa: N803
    out: NDArray | None = None,
    name: str | None = None,
    *,
    lower: bool = True,
) -> NDArray:
    """Return the inverse of ``L x L'`` from its Cholesky factor L.

    >>> from afterglow import nd
    >>> nd.linalg.potri(nd.array([[2, 0], [0, 4]])).asnumpy()
    array([[0.25  , 0.    ],
           [0.    , 0.0625]], dtype=float32)
    """
    factor = _square("potri", A) if lower else _decompositions.turned(_square("potri", A))
    inverted = _decompositions.inverse(_decompositions.triangle(factor, lower=True))
    result: NDArray = _batch_dot(inverted, inverted, True, False, out=out)
    return result


def inverse(
    A: NDArray,  # noqa: N803
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the inverse matrices.

    >>> from afterglow import nd
    >>> nd.linalg.inverse(nd.array([[2, 0], [0, 4]])).asnumpy()
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    result: NDArray = _delivered(_decompositions.inverse(_square("inverse", A)), out)
    return result


def det(
    A: NDArray,  # noqa: N803
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the determinants.

    >>> from afterglow import nd
    >>> nd.linalg.det(nd.array([[2, 0], [0, 4]])).asnumpy()
    array([8.], dtype=float32)
    """
    shape = _square("det", A).shape[:-2] or (1,)
    result: NDArray = _delivered(_decompositions.determinant(A, shape), out)
    return result


def slogdet(
    A: NDArray,  # noqa: N803
    out: list[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Return the signs of the determinants and the logarithms of their absolute values.

    >>> from afterglow import nd
    >>> [part.asnumpy().tolist() for part in nd.linalg.slogdet(nd.array([[-1, 0], [0, 1]]))]
    [[-1.0], [0.0]]
    """
    shape = _square("slogdet", A).shape[:-2] or (1,)
    return _all_delivered(_decompositions.log_determinant(A, shape), out)


def gelqf(
    A: NDArray,  # noqa: N803
    out: list[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Return Q with orthonormal rows and lower triangular L with ``A = L x Q``.

    >>> from afterglow import nd
    >>> q, l = nd.linalg.gelqf(nd.array([[3, 4]]))
    >>> nd.dot(l, q).asnumpy().round(3)
    array([[3., 4.]], dtype=float32)
    """
    rows, columns = _matrices("gelqf", A).shape[-2:]
    if rows > columns:
        raise ArrayValueError(f"[gelqf] needs at least as many columns as rows, not {A.shape}")

    q, r = _decompositions.orthogonal_triangular(_decompositions.turned(A))
    return _all_delivered([_decompositions.turned(q), _decompositions.turned(r)], out)


def syevd(
    A: NDArray,  # noqa: N803
    out: list[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Return U, whose rows are eigenvectors, and the eigenvalues of symmetric matrices.

    >>> from afterglow import nd
    >>> u, values = nd.linalg.syevd(nd.array([[2, 0], [0, 1]]))
    >>> values.asnumpy()
    array([1., 2.], dtype=float32)
    """
    values, vectors = _decompositions.symmetric_eigen(_square("syevd", A))
    return _all_delivered([_decompositions.turned(vectors), values], out)


def _all_delivered(results: list[Any], out: list[NDArray] | None) -> list[NDArray]:
    if out is None:
        return results
    return [_copy(result, out=target) for result, target in zip(results, out, strict=True)]


# --- diagonals and triangles ---


def sumlogdiag(
    A: NDArray,  # noqa: N803
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the sum of the logarithms of each diagonal.

    >>> from afterglow import nd
    >>> nd.linalg.sumlogdiag(nd.ones((3, 2, 2))).asnumpy()
    array([0., 0., 0.], dtype=float32)
    """
    diagonal = _diagonal(_square("sumlogdiag", A), 0)
    result: NDArray = _sum(_log(diagonal), axis=(diagonal.ndim - 1,), out=out)
    return result


def _diagonal(array: NDArray, offset: int) -> NDArray:
    """Return a view of the diagonal of square matrices."""
    length = array.shape[-1] - abs(offset)
    *stack, row, column = array._strides
    start = offset * column if offset > 0 else -offset * row
    return array._view(start, (*array.shape[:-2], length), (*stack, row + column))


def extractdiag(
    A: NDArray,  # noqa: N803
    offset: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the diagonals, ``offset`` above the main one.

    >>> from afterglow import nd
    >>> nd.linalg.extractdiag(nd.array([[1, 2], [3, 4]])).asnumpy()
    array([1., 4.], dtype=float32)
    """
    _check_offset("extractdiag", _square("extractdiag", A), offset)
    result: NDArray = _copy(_diagonal(A, offset), out=out)
    return result


def _check_offset(op: str, array: NDArray, offset: int) -> None:
    if abs(offset) >= array.shape[-1]:
        raise ArrayValueError(f"[{op}] there is no diagonal {offset} in shape {array.shape}")


def makediag(
    A: NDArray,  # noqa: N803
    offset: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return matrices with the elements on a diagonal and zeros around it.

    >>> from afterglow import nd
    >>> nd.linalg.makediag(nd.array([1, 2]), offset=1).asnumpy()
    array([[0., 1., 0.],
           [0., 0., 2.],
           [0., 0., 0.]], dtype=float32)
    """
    if not _floating("makediag", A).ndim:
        raise ArrayValueError("[makediag] needs at least one dimension")
    *stack, length = A.shape
    side = length + abs(offset)
    if side > 2**24:
        raise ArrayMemoryError(f"[makediag] an offset of {offset} makes matrices of {side} rows")
    repeated = A._view(0, (*stack, length, side), (*A._strides, 0))
    rows = _decompositions.masked(repeated, onp.eye(length, side, max(offset, 0)))
    if offset:
        blank = _copy(
            0, shape=(*stack, abs(offset), side), dtype=A._dtype_number, ctx=A._context_numbers
        )
        rows = _concat([rows, blank] if offset > 0 else [blank, rows], axis=len(stack))
    result: NDArray = _delivered(rows, out)
    return result


def _triangle(side: int, offset: int, lower: bool) -> tuple[Host, Host]:
    """Return rows and columns in packed order: lower triangles by rows, upper ones by columns."""
    if offset < 0 or (offset == 0 and lower):
        return onp.tril_indices(side, offset)
    columns, rows = onp.tril_indices(side, -offset)
    return rows, columns


def extracttrian(
    A: NDArray,  # noqa: N803
    offset: int = 0,
    lower: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the elements of the triangle below (or above) a diagonal, which belongs to it.

    A positive ``offset`` stands for an upper triangle, a negative one for a lower.

    >>> from afterglow import nd
    >>> nd.linalg.extracttrian(nd.array([[1, 2], [3, 4]])).asnumpy()
    array([1., 3., 4.], dtype=float32)
    """
    _check_offset("extracttrian", _square("extracttrian", A), offset)
    rows, columns = _triangle(A.shape[-1], offset, lower)
    side = A.shape[-1]
    flat = A._shaped((*A.shape[:-2], side * side))
    result: NDArray = _taken(flat, rows * side + columns, out)
    return result


def _taken(array: Any, places: Host, out: NDArray | None) -> Any:
    """Return elements along the last axis."""
    index = from_host(places, array._context_numbers, True, INT64)
    return _take(array, index, axis=array.ndim - 1, mode="clip", out=out)


def maketrian(
    A: NDArray,  # noqa: N803
    offset: int = 0,
    lower: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return matrices with the elements in a triangle and zeros elsewhere.

    >>> from afterglow import nd
    >>> nd.linalg.maketrian(nd.array([1, 2, 3])).asnumpy()
    array([[1., 0.],
           [2., 3.]], dtype=float32)
    """
    length = A.shape[-1] if _floating("maketrian", A).ndim else 0
    short = (isqrt(8 * length + 1) - 1) // 2
    if not length or short * (short + 1) // 2 != length:
        raise ArrayValueError(f"[maketrian] {length} elements do not fill a triangle: {A.shape}")
    side = short + abs(offset)
    if side > 2**24:
        raise ArrayMemoryError(f"[maketrian] an offset of {offset} makes matrices of {side} rows")
    rows, columns = _triangle(side, offset, lower)
    shape = (*A.shape[:-1], side, side)

    stack = A.shape[:-1]
    nothing = _copy(0, shape=(*stack, 1), dtype=A._dtype_number, ctx=A._context_numbers)
    places = onp.full((side, side), length)  # where the nothing is
    places[rows, columns] = onp.arange(length)
    found = _taken(_concat([A, nothing], axis=A.ndim - 1), places.ravel(), None)
    result: NDArray = _delivered(found._shaped(shape), out)
    return result

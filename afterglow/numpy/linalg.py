# SPDX-License-Identifier: Apache-2.0
"""``np.linalg``: norms, decompositions and equations.

The last two axes are the matrix; axes in front of them are a stack. Decompositions are computed by
NumPy on a worker, in float32 or float64 as the array is; integers are taken as float64.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as onp

from .. import _decompositions
from .._core import Operation, is_recording, operation
from .._dtype import DTYPES, FLOAT16, FLOATING
from .._host import from_host
from .._host_calls import Host, on_host, on_host_several
from .._shapes import Shape, as_axes, normal_axis
from .._shortcut import shortcut
from ..error import ArrayNotImplementedError, ArrayTypeError, ArrayValueError, as_ours
from . import _ops
from ._arguments import need
from .products import dot, matmul

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    "cholesky",
    "cond",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "tensorinv",
    "tensorsolve",
]

_copy = operation("copy", False)
_norm1 = operation("norm1", False)
_norm2 = operation("norm2", False)


# --- what the functions share ---


def _matrices(op: str, array: Any, name: str = "a") -> ndarray:
    """Return the array in a type that decompositions take."""
    matrices: ndarray = need(array, name)
    if matrices.ndim < 2:
        raise ArrayValueError(f"[{op}] needs matrices, but {name} has shape {matrices.shape}")
    return _floating(op, matrices)


def _floating(op: str, array: ndarray) -> ndarray:
    if array._dtype_number == FLOAT16:
        raise ArrayTypeError(f"[{op}] array type float16 is unsupported in linalg")
    return array if array._dtype_number in FLOATING else array.astype("float64")


def _square(op: str, array: Any, name: str = "a") -> ndarray:
    matrices = _matrices(op, array, name)
    if matrices.shape[-1] != matrices.shape[-2]:
        raise ArrayValueError(
            f"[{op}] needs square matrices, but {name} has shape {matrices.shape}"
        )
    return matrices


def _one(op: str, function: Callable[..., Any], *inputs: ndarray, shape: Shape) -> ndarray:
    result: ndarray = on_host(
        op, function, *inputs, shape=shape, dtype=inputs[0].dtype, legacy=False
    )
    return result


def _several(
    op: str, function: Callable[..., Any], array: ndarray, *shapes: Shape
) -> list[ndarray]:
    outputs = [(shape, array.dtype) for shape in shapes]
    return on_host_several(op, function, array, outputs=outputs, legacy=False)


# --- norms ---


def reduce(call: Operation, x: Any, axis: Any, keepdims: bool) -> ndarray:
    """Call a reduction."""
    result: ndarray = call(x, as_axes(axis), keepdims=bool(keepdims))
    return result


@shortcut("norm2", "array", "other", "two axes", "boolean")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> ndarray:
    """Return the norm of vectors or matrices; by default the 2-norm of all elements.

    Vectors have the norms inf, -inf, 0 and any other power; matrices "fro", "nuc", inf, -inf, 1,
    -1, 2 and -2.

    >>> from afterglow import np
    >>> np.linalg.norm(np.array([[3, 4], [6, 8]]), axis=1)
    array([ 5., 10.])
    """
    x = need(x, "x")
    if isinstance(axis, list):
        raise ArrayTypeError("[norm] axis must be None, an integer or a tuple of integers")
    axes = as_axes(axis)
    if axes is not None and len(axes) > 2:
        raise ArrayValueError(f"[norm] needs one axis or two, not {axes}")
    if ord is None:
        return reduce(_norm2, x, axis, keepdims)
    if axes is None:
        axes = tuple(range(x.ndim))[-2:]
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ArrayValueError(f"[norm] ord={ord!r} needs a vector or a matrix, not shape {x.shape}")


def _vector_norm(x: ndarray, ord: Any, axis: Shape, keepdims: bool) -> ndarray:
    if ord in (1, 2, "fro"):
        return reduce(_norm1 if ord == 1 else _norm2, x, axis, keepdims)
    if ord == inf:
        return _ops.max(abs(x), axis, keepdims=keepdims)
    if ord == -inf:
        return _ops.min(abs(x), axis, keepdims=keepdims)
    if ord == 0:
        return _ops.sum(_ops.not_equal(x, 0), axis, x.dtype, keepdims)
    if isinstance(ord, (int, float)):
        result: ndarray = _ops.sum(abs(x) ** ord, axis, keepdims=keepdims) ** (1 / ord)
        return result
    raise ArrayValueError(f"[norm] there is no norm {ord!r} of a vector")


#: Norms that are made of singular values, and what makes them.
_of_singular_values: dict[Any, Callable[..., Any]] = {
    "nuc": _ops.sum,
    2: _ops.max,
    -2: _ops.min,
}


def _matrix_norm(x: ndarray, ord: Any, axes: Shape, keepdims: bool) -> ndarray:
    if ord in ("fro", "f"):
        return reduce(_norm2, x, axes, keepdims)
    rows, columns = (normal_axis(axis, x.ndim) for axis in axes)
    if rows == columns:
        raise ArrayValueError(f"[norm] the axes {axes} are the same")
    if ord in _of_singular_values:
        values = _singular_values("norm", _axes_last(x, rows, columns))
        result: ndarray = _of_singular_values[ord](values, -1)
        if not keepdims:
            return result
        shape = (1 if axis in (rows, columns) else n for axis, n in enumerate(x.shape))
        return result._shaped(tuple(shape))
    if ord not in (1, -1, inf, -inf):
        raise ArrayValueError(f"[norm] there is no norm {ord!r} of a matrix")
    added, compared = (rows, columns) if ord in (1, -1) else (columns, rows)
    sums = reduce(_norm1, x, added, keepdims=True)
    choose = _ops.max if ord > 0 else _ops.min
    return choose(sums, (added, compared), keepdims=keepdims)


def _axes_last(x: ndarray, rows: int, columns: int) -> ndarray:
    rest = [axis for axis in range(x.ndim) if axis not in (rows, columns)]
    order = (*rest, rows, columns)
    return x if order == tuple(range(x.ndim)) else x._permuted(order)


def _singular_values(op: str, x: ndarray) -> ndarray:
    result: ndarray = _decompositions.singular_values(_matrices(op, x, "x"))
    return result


def cond(x: Any, p: Any = None) -> ndarray:
    """Return how much errors can grow when equations with these matrices are solved.

    >>> from afterglow import np
    >>> np.linalg.cond(np.array([[4, 0], [0, 2]]))
    array(2.)
    """
    matrices = _matrices("cond", x, "x")
    return _one(
        "cond",
        lambda a: onp.linalg.cond(_decompositions.finite(a), p),
        matrices,
        shape=matrices.shape[:-2],
    )


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False) -> ndarray:  # noqa: N803
    """Return the number of singular values greater than ``tol``.

    >>> from afterglow import np
    >>> int(np.linalg.matrix_rank(np.ones((3, 3))))
    1
    """
    array = need(A, "A")
    matrices = _matrices("matrix_rank", array if array.ndim > 1 else array._shaped((1, array.size)))
    limit = tol.asnumpy() if hasattr(tol, "asnumpy") else tol
    result: ndarray = on_host(
        "matrix_rank",
        lambda a: onp.linalg.matrix_rank(_decompositions.finite(a), limit, hermitian),
        matrices,
        shape=matrices.shape[:-2],
        dtype=onp.int64,
        legacy=False,
    )
    return result


# --- determinants, inverses, equations ---


def det(a: Any) -> ndarray:
    """Return the determinants.

    >>> from afterglow import np
    >>> np.linalg.det(np.array([[2, 0], [0, 4]]))
    array(8.)
    """
    matrices = _square("det", a)
    result: ndarray = _decompositions.determinant(matrices, matrices.shape[:-2])
    return result


def slogdet(a: Any) -> list[ndarray]:
    """Return the signs of the determinants and the logarithms of their absolute values.

    >>> from afterglow import np
    >>> sign, logarithm = np.linalg.slogdet(np.array([[-1, 0], [0, 1]]))
    >>> sign
    array(-1.)
    """
    matrices = _square("slogdet", a)
    return _decompositions.log_determinant(matrices, matrices.shape[:-2])


def inv(a: Any) -> ndarray:
    """Return the inverse matrices.

    >>> from afterglow import np
    >>> np.linalg.inv(np.array([[2, 0], [0, 4]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    result: ndarray = _decompositions.inverse(_square("inv", a))
    return result


def pinv(a: Any, rcond: Any = 1e-15, hermitian: bool = False) -> ndarray:
    """Return the pseudo-inverses; singular values below ``rcond`` times the greatest count as 0.

    >>> from afterglow import np
    >>> np.linalg.pinv(np.array([[2.0], [0.0]])).asnumpy().round(3)
    array([[0.5, 0. ]], dtype=float32)
    """
    result: ndarray = _decompositions.pseudo_inverse(_matrices("pinv", a), rcond, hermitian)
    return result


def solve(a: Any, b: Any) -> ndarray:
    """Return the solution x of ``a @ x = b``; with one axis less than ``a``, ``b`` holds vectors.

    >>> from afterglow import np
    >>> np.linalg.solve(np.array([[2, 0], [0, 4]]), np.array([2, 2]))
    array([1. , 0.5])
    """
    matrices = _square("solve", a)
    right: ndarray = _floating("solve", need(b, "b"))
    vectors = right.ndim == matrices.ndim - 1
    *stack, size, _ = matrices.shape
    if (right.shape[-1:] if vectors else right.shape[-2:-1]) != (size,):
        raise ArrayValueError(f"[solve] {matrices.shape} and {right.shape} do not fit")
    try:
        leading = onp.broadcast_shapes(tuple(stack), right.shape[: -1 if vectors else -2])
    except ValueError:
        raise ArrayValueError(
            f"[solve] the stacks of {matrices.shape} and {right.shape} cannot be broadcast"
        ) from None
    columns = right._shaped((*right.shape, 1)) if vectors else right
    result: ndarray = _decompositions.solve(_stacked(matrices, leading), _stacked(columns, leading))
    return result._shaped(result.shape[:-1]) if vectors else result


def _stacked(matrices: ndarray, leading: Shape) -> ndarray:
    """Return the matrices, repeated to a stack of that shape."""
    shape = (*leading, *matrices.shape[-2:])
    if shape == matrices.shape:
        return matrices
    result: ndarray = _copy(matrices, shape=shape)
    return result


def tensorinv(a: Any, ind: int = 2) -> ndarray:
    """Return the inverse for ``tensordot`` over ``ind`` axes.

    >>> from afterglow import np
    >>> np.linalg.tensorinv(np.eye(6).reshape((6, 2, 3)), ind=1).shape
    (2, 3, 6)
    """
    array = need(a)
    if ind <= 0:
        raise ArrayValueError(f"[tensorinv] ind must be positive, but is {ind}")
    front, back = array.shape[:ind], array.shape[ind:]
    return inv(_as_square("tensorinv", array, prod(front)))._shaped((*back, *front))


def _as_square(op: str, array: ndarray, side: int) -> ndarray:
    if side * side != array.size:
        raise ArrayValueError(f"[{op}] shape {array.shape} does not make a square matrix")
    return array._shaped((side, side))


def tensorsolve(a: Any, b: Any, axes: Any = None) -> ndarray:
    """Return the solution x of ``tensordot(a, x, x.ndim) = b``; ``axes`` of ``a`` go to its end.

    >>> from afterglow import np
    >>> np.linalg.tensorsolve(np.eye(6).reshape((2, 3, 6)), np.ones((2, 3))).shape
    (6,)
    """
    array, right = need(a), need(b, "b")
    if axes is not None:
        moved = [normal_axis(axis, array.ndim) for axis in as_axes(axes) or ()]
        order = [axis for axis in range(array.ndim) if axis not in moved]
        array = array._permuted((*order, *moved))
    shape = array.shape[right.ndim :]
    square = _as_square("tensorsolve", array, prod(shape))
    return solve(square, right._shaped((right.size,)))._shaped(shape)


def lstsq(a: Any, b: Any, rcond: Any = "warn") -> tuple[ndarray, ndarray, int, ndarray]:
    """Return the x closest to solving ``a @ x = b``, the residuals, the rank and singular values.

    Waits: how many residuals there are depends on the rank.

    >>> from afterglow import np
    >>> x, _, rank, _ = np.linalg.lstsq(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))
    >>> round(float(x[0]), 3), rank
    (2.0, 1)
    """
    left, right = _matrices("lstsq", a), _floating("lstsq", need(b, "b"))
    limit = -1 if rcond == "warn" else rcond
    try:
        host = _decompositions.finite(left.asnumpy())
    except ValueError as error:
        raise ArrayValueError(f"[lstsq] {error}") from None
    with as_ours("lstsq"):
        found, residuals, rank, values = onp.linalg.lstsq(host, right.asnumpy(), limit)
    x = _decompositions.least_squares(left, right, found)
    context = left._context_numbers
    rest, singular = (from_host(each, context, False) for each in (residuals, values))
    if is_recording():  # compositions, which have gradients
        singular = _decompositions.singular_values(left)
        if residuals.size:
            errors = _ops.square(right - dot(left, x))
            rest = _ops.sum(errors, 0, keepdims=right.ndim == 1)
    return x, rest, int(rank), singular


# --- decompositions ---


def svd(a: Any) -> tuple[ndarray, ndarray, ndarray]:
    """Return ``ut``, ``l`` and ``v`` with ``a = ut @ diag(l) @ v``, singular values descending.

    >>> from afterglow import np
    >>> ut, l, v = np.linalg.svd(np.array([[3, 0, 0], [0, 4, 0]]))
    >>> l
    array([4., 3.])
    """
    ut, values, v = _decompositions.singular(_matrices("svd", a))
    return ut, values, v


def cholesky(a: Any) -> ndarray:
    """Return the lower triangular L with ``a = L @ L.T``.

    >>> from afterglow import np
    >>> np.linalg.cholesky(np.array([[4, 2], [2, 5]]))
    array([[2., 0.],
           [1., 2.]])
    """
    result: ndarray = _decompositions.cholesky(_square("cholesky", a))
    return result


def qr(a: Any, mode: Any = "reduced") -> Any:
    """Return Q with orthonormal columns and upper triangular R with ``a = Q @ R``.

    ``mode`` may be "reduced", "complete" or "r", which gives R alone.

    >>> from afterglow import np
    >>> q, r = np.linalg.qr(np.ones((3, 2)))
    >>> q.shape, r.shape
    ((3, 2), (2, 2))
    """
    matrices = _matrices("qr", a)
    *stack, rows, columns = matrices.shape
    if mode not in ("reduced", "complete", "r"):
        raise ArrayNotImplementedError(f"[qr] there is no mode {mode!r}")
    if mode == "complete" and rows > columns:
        return tuple(
            _several(
                "qr in mode complete",
                lambda x: onp.linalg.qr(x, "complete"),
                matrices,
                (*stack, rows, rows),
                (*stack, rows, columns),
            )
        )
    q, r = _decompositions.orthogonal_triangular(matrices)
    return r if mode == "r" else (q, r)


def eigh(a: Any, UPLO: str = "L") -> tuple[ndarray, ndarray]:  # noqa: N803
    """Return eigenvalues, ascending, and eigenvectors as columns, of symmetric matrices.

    >>> from afterglow import np
    >>> np.linalg.eigh(np.array([[2, 0], [0, 1]]))[0]
    array([1., 2.])
    """
    values, vectors = _decompositions.symmetric_eigen(_lower("eigh", a, UPLO))
    return values, vectors


def eigvalsh(a: Any, UPLO: str = "L") -> ndarray:  # noqa: N803
    """Return the eigenvalues of symmetric matrices, ascending.

    >>> from afterglow import np
    >>> np.linalg.eigvalsh(np.array([[2, 0], [0, 1]]))
    array([1., 2.])
    """
    result: ndarray = _decompositions.symmetric_eigenvalues(_lower("eigvalsh", a, UPLO))
    return result


def _lower(op: str, a: Any, name: str) -> ndarray:
    """Return symmetric matrices so that what counts of them are the lower triangles."""
    if name not in ("L", "U"):
        raise ArrayValueError(f"[{op}] UPLO must be 'L' or 'U', but is {name!r}")
    matrices = _square(op, a)
    return matrices if name == "L" else _decompositions.turned(matrices)


def eig(a: Any) -> tuple[ndarray, ndarray]:
    """Return real eigenvalues and eigenvectors as columns; complex ones are refused at the read.

    >>> from afterglow import np
    >>> np.linalg.eig(np.array([[2, 0], [0, 1]]))[0]
    array([2., 1.])
    """
    matrices = _square("eig", a)
    values, vectors = _several(
        "eig",
        lambda x: tuple(map(_real, onp.linalg.eig(x))),
        matrices,
        matrices.shape[:-1],
        matrices.shape,
    )
    return values, vectors


def eigvals(a: Any) -> ndarray:
    """Return the eigenvalues if they are real; complex ones are refused at the read.

    >>> from afterglow import np
    >>> np.linalg.eigvals(np.array([[2, 0], [0, 1]]))
    array([2., 1.])
    """
    matrices = _square("eigvals", a)
    return _one(
        "eigvals", lambda x: _real(onp.linalg.eigvals(x)), matrices, shape=matrices.shape[:-1]
    )


def _real(values: Host) -> Host:
    if onp.iscomplexobj(values) and onp.any(values.imag):
        raise ValueError("complex eigenvalues are not supported")
    return onp.real(values)


# --- products ---


def matrix_power(a: Any, n: int) -> ndarray:
    """Return ``n`` matrices multiplied; a negative ``n`` takes the inverse.

    >>> from afterglow import np
    >>> np.linalg.matrix_power(np.array([[1, 1], [0, 1]]), 5)
    array([[1., 5.],
           [0., 1.]])
    """
    array: ndarray = need(a)
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        raise ArrayValueError(f"[matrix_power] needs square matrices, not {array.shape}")
    exponent = operator.index(n)
    if exponent == 0:
        one = onp.eye(array.shape[-1], dtype=DTYPES[array._dtype_number])
        unit = from_host(one, array._context_numbers, False)
        identity: ndarray = _copy(unit, shape=array.shape)
        return identity
    base = inv(array) if exponent < 0 else array
    result = _raised(base, abs(exponent))
    return result.copy() if result is array else result


def _raised(base: ndarray, exponent: int) -> ndarray:
    result = base
    for bit in f"{exponent:b}"[1:]:
        result = matmul(result, result)
        if bit == "1":
            result = matmul(result, base)
    return result


def multi_dot(arrays: Sequence[Any], *, out: ndarray | None = None) -> ndarray:
    """Return the product of several matrices in the order that takes the fewest operations.

    The first and the last may be vectors.

    >>> from afterglow import np
    >>> np.linalg.multi_dot([np.ones((9, 2)), np.ones((2, 9)), np.ones((9, 1))]).shape
    (9, 1)
    """
    chain = [need(each, "arrays") for each in arrays]
    if len(chain) < 2:
        raise ArrayValueError("[multi_dot] needs at least two arrays")
    vectors = chain[0].ndim == 1, chain[-1].ndim == 1
    if vectors[0]:
        chain[0] = chain[0]._shaped((1, chain[0].size))
    if vectors[1]:
        chain[-1] = chain[-1]._shaped((chain[-1].size, 1))
    for each in chain:
        if each.ndim != 2:
            raise ArrayValueError(f"[multi_dot] needs matrices, not an array of shape {each.shape}")
    sides = [chain[0].shape[0], *(each.shape[1] for each in chain)]
    product = _multiplied(chain, _best_cuts(sides), 0, len(chain) - 1)
    shape = product.shape[1 if vectors[0] else 0 : 1 if vectors[1] else 2]
    result: ndarray = product._shaped(shape)
    return result if out is None else _copy(result, out=out)


def _best_cuts(sides: list[int]) -> dict[tuple[int, int], int]:
    """Return where each part of a chain is best cut in two, by the operations it takes."""
    count = len(sides) - 1
    costs = {(first, first): 0 for first in range(count)}
    cuts: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            options = [
                (
                    costs[first, cut]
                    + costs[cut + 1, last]
                    + sides[first] * sides[cut + 1] * sides[last + 1],
                    cut,
                )
                for cut in range(first, last)
            ]
            costs[first, last], cuts[first, last] = min(options)
    return cuts


def _multiplied(
    chain: list[ndarray], cuts: dict[tuple[int, int], int], first: int, last: int
) -> ndarray:
    if first == last:
        return chain[first]
    cut = cuts[first, last]
    return dot(_multiplied(chain, cuts, first, cut), _multiplied(chain, cuts, cut + 1, last))

# SPDX-License-Identifier: Apache-2.0
"""``mx.nd.linalg``: decompositions and products of stacks of matrices.

The last two axes are the matrix; axes in front of them are a stack. float32 and float64 only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as onp

from .._arrays.shapes import as_float
from .._arrays.worlds import LEGACY
from .._mathematics import decompositions as _decompositions
from ..error import ArrayTypeError, ArrayValueError
from . import _linalg_ops
from ._arguments import need
from ._linalg_ops import *  # noqa: F403

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [*_linalg_ops.__all__, "gelqf", "slogdet", "syevd", "trsm"]


def _matrices(op: str, array: NDArray, name: str = "A") -> NDArray:
    if need(array, name).ndim < 2:
        raise ArrayValueError(f"[{op}] needs matrices, but {name} has shape {array.shape}")
    if array.dtype not in (onp.float32, onp.float64):
        raise ArrayTypeError(f"[{op}] needs float32 or float64, but {name} is {array.dtype}")
    return array


def _square(op: str, array: NDArray, name: str = "A") -> NDArray:
    if _matrices(op, array, name).shape[-1] != array.shape[-2]:
        raise ArrayValueError(f"[{op}] needs square matrices, but {name} has shape {array.shape}")
    return array


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
    right = _decompositions.turned(B) if rightside else B
    if alpha != 1:
        right = LEGACY.multiply(right, as_float(alpha, "[linalg] a factor"))
    found = _decompositions.solve_triangular(factor, right, lower=lower)
    result: NDArray = _decompositions.turned(found) if rightside else found
    return result if out is None else LEGACY.copy(result, out=out)


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
    return _all_delivered(_decompositions.log_determinant(A, shape=shape), out)


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
    return [LEGACY.copy(result, out=target) for result, target in zip(results, out, strict=True)]

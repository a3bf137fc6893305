# SPDX-License-Identifier: Apache-2.0
"""Matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import operation
from ..error import ArrayValueError
from ._arguments import need
from .linalg import det as linalg_det
from .linalg import extractdiag as linalg_extractdiag
from .linalg import extracttrian as linalg_extracttrian
from .linalg import gelqf as linalg_gelqf
from .linalg import gemm as linalg_gemm
from .linalg import gemm2 as linalg_gemm2
from .linalg import inverse as linalg_inverse
from .linalg import makediag as linalg_makediag
from .linalg import maketrian as linalg_maketrian
from .linalg import potrf as linalg_potrf
from .linalg import potri as linalg_potri
from .linalg import slogdet as linalg_slogdet
from .linalg import sumlogdiag as linalg_sumlogdiag
from .linalg import syrk as linalg_syrk
from .linalg import trmm as linalg_trmm
from .linalg import trsm as linalg_trsm

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "batch_dot",
    "dot",
    "khatri_rao",
    "linalg_det",
    "linalg_extractdiag",
    "linalg_extracttrian",
    "linalg_gelqf",
    "linalg_gemm",
    "linalg_gemm2",
    "linalg_inverse",
    "linalg_makediag",
    "linalg_maketrian",
    "linalg_potrf",
    "linalg_potri",
    "linalg_slogdet",
    "linalg_sumlogdiag",
    "linalg_syrk",
    "linalg_trmm",
    "linalg_trsm",
]

_dot = operation("dot", True)
_batch_dot = operation("batch_dot", True)
_copy = operation("copy", True)
_multiply = operation("multiply", True)


def dot(
    lhs: NDArray,
    rhs: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: str | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the product over the last axis of ``lhs`` and the first axis of ``rhs``.

    ``transpose_a`` takes the first axis of ``lhs`` instead, ``transpose_b`` the last of ``rhs``.

    >>> from afterglow import nd
    >>> nd.dot(nd.array([[1, 2], [3, 4]]), nd.array([1, 10])).asnumpy()
    array([21., 43.], dtype=float32)
    """
    need(lhs, "lhs")
    need(rhs, "rhs")
    if lhs.ndim == rhs.ndim == 1 and (transpose_a or transpose_b):
        raise ArrayValueError("[dot] two vectors cannot be transposed")
    result: NDArray = _dot(lhs, rhs, bool(transpose_a), bool(transpose_b), out=out)
    return result


def batch_dot(
    lhs: NDArray,
    rhs: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: str | None = None,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the matrix products of two stacks: ``lhs[i] x rhs[i]`` for every ``i``.

    >>> from afterglow import nd
    >>> nd.batch_dot(nd.ones((5, 2, 3)), nd.ones((5, 4, 3)), transpose_b=True).shape
    (5, 2, 4)
    """
    need(lhs, "lhs")
    need(rhs, "rhs")
    if lhs.ndim < 3 or rhs.ndim < 3:
        raise ArrayValueError(
            f"[batch_dot] needs at least three dimensions, not {lhs.shape} and {rhs.shape}"
        )
    result: NDArray = _batch_dot(lhs, rhs, bool(transpose_a), bool(transpose_b), out=out)
    return result


def khatri_rao(*args: Any, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Return the Kronecker products of the columns of matrices.

    >>> from afterglow import nd
    >>> nd.khatri_rao(nd.array([[1, 2], [3, 4]]), nd.array([[1, 10]])).asnumpy()
    array([[ 1., 20.],
           [ 3., 40.]], dtype=float32)
    """
    if not args:
        raise ArrayValueError("[khatri_rao] needs at least one matrix")
    for matrix in args:
        need(matrix, "args")
    for matrix in args:
        if matrix.ndim != 2 or matrix.shape[1] != args[0].shape[1]:
            shapes = ", ".join(str(each.shape) for each in args)
            raise ArrayValueError(
                f"[khatri_rao] needs matrices with equally many columns, not {shapes}"
            )
    result: NDArray = _copy(args[0])
    for matrix in args[1:]:
        (high, columns), (rows, _) = result.shape, matrix.shape
        products = _multiply(result._shaped((high, 1, columns)), matrix._shaped((1, rows, columns)))
        result = products._shaped((high * rows, columns))
    if out is None:
        return result
    result = _copy(result, out=out)
    return result

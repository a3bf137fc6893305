# SPDX-License-Identifier: Apache-2.0
"""``np.linalg``: norms, decompositions and equations.

The last two axes are the matrix; axes in front of them are a stack. What is no op is computed by
NumPy on a worker, in float32 or float64 as the array is; integers are taken as float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as onp

from .._arrays.dtypes import INT64
from .._arrays.worlds import NUMPY
from .._core import Array, is_recording
from .._interoperation.host import from_host
from .._interoperation.host_calls import Host, Spec, declare_host
from .._mathematics import decompositions as _decompositions
from .._mathematics.gradients import ZERO
from ..error import ArrayNotImplementedError, ArrayValueError, as_ours
from . import _linalg_ops
from ._arguments import need
from ._linalg_ops import *  # noqa: F403

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = [
    *_linalg_ops.__all__,
    "cond",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "lstsq",
    "matrix_rank",
    "pinv",
    "qr",
    "slogdet",
    "svd",
]

# --- what the functions share ---


def _matrices(op: str, array: Any, name: str = "a") -> ndarray:
    """Return the array in a type that decompositions take."""
    matrices: ndarray = need(array, name)
    if matrices.ndim < 2:
        raise ArrayValueError(f"[{op}] needs matrices, but {name} has shape {matrices.shape}")
    result: ndarray = _decompositions.floating(op, matrices)
    return result


def _square(op: str, array: Any, name: str = "a") -> ndarray:
    matrices = _matrices(op, array, name)
    if matrices.shape[-1] != matrices.shape[-2]:
        raise ArrayValueError(
            f"[{op}] needs square matrices, but {name} has shape {matrices.shape}"
        )
    return matrices


@declare_host("cond", infer=lambda a, p: Spec(a.shape[:-2], a.dtype))
def _cond(a: Host, *, p: Any = None) -> Any:
    """Return how much errors can grow when equations with these matrices are solved."""
    return onp.linalg.cond(_decompositions.finite(a), p)


def cond(x: Any, p: Any = None) -> ndarray:
    """Return how much errors can grow when equations with these matrices are solved.

    >>> from afterglow import np
    >>> np.linalg.cond(np.array([[4, 0], [0, 2]]))
    array(2.)
    """
    result: ndarray = _cond(_matrices("cond", x, "x"), p=p, legacy=False)
    return result


@declare_host(
    "matrix_rank",
    infer=lambda a, tol, hermitian: Spec(a.shape[:-2], INT64),
    gradient=[ZERO],
)
def _rank(a: Host, *, tol: Any = None, hermitian: bool = False) -> Any:
    """Return the number of singular values greater than ``tol``."""
    return onp.linalg.matrix_rank(_decompositions.finite(a), tol, hermitian)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False) -> ndarray:  # noqa: N803
    """Return the number of singular values greater than ``tol``.

    >>> from afterglow import np
    >>> int(np.linalg.matrix_rank(np.ones((3, 3))))
    1
    """
    array = need(A, "A")
    matrices = _matrices("matrix_rank", array if array.ndim > 1 else array._shaped((1, array.size)))
    limit = tol.asnumpy() if hasattr(tol, "asnumpy") else tol
    result: ndarray = _rank(matrices, tol=limit, hermitian=hermitian, legacy=False)
    return result


# --- determinants, inverses, equations ---


def slogdet(a: Any) -> list[ndarray]:
    """Return the signs of the determinants and the logarithms of their absolute values.

    >>> from afterglow import np
    >>> sign, logarithm = np.linalg.slogdet(np.array([[-1, 0], [0, 1]]))
    >>> sign
    array(-1.)
    """
    matrices = _square("slogdet", a)
    result: list[ndarray] = _decompositions.log_determinant(matrices, shape=matrices.shape[:-2])
    return result


def pinv(a: Any, rcond: Any = 1e-15, hermitian: bool = False) -> ndarray:
    """Return the pseudo-inverses; singular values below ``rcond`` times the greatest count as 0.

    >>> from afterglow import np
    >>> np.linalg.pinv(np.array([[2.0], [0.0]])).asnumpy().round(3)
    array([[0.5, 0. ]], dtype=float32)
    """
    one_each = isinstance(rcond, Array)
    result: ndarray = _decompositions.pseudo_inverse(
        _matrices("pinv", a),
        rcond if one_each else None,
        rcond=None if one_each else rcond,
        hermitian=hermitian,
    )
    return result


def lstsq(a: Any, b: Any, rcond: Any = "warn") -> tuple[ndarray, ndarray, int, ndarray]:
    """Return the x closest to solving ``a @ x = b``, the residuals, the rank and singular values.

    Waits: how many residuals there are depends on the rank.

    >>> from afterglow import np
    >>> x, _, rank, _ = np.linalg.lstsq(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))
    >>> round(float(x[0]), 3), rank
    (2.0, 1)
    """
    left, right = _matrices("lstsq", a), _decompositions.floating("lstsq", need(b, "b"))
    limit = -1 if rcond == "warn" else rcond
    try:
        host = _decompositions.finite(left.asnumpy())
    except ValueError as error:
        raise ArrayValueError(f"[lstsq] {error}") from None
    with as_ours("lstsq"):
        found, residuals, rank, values = onp.linalg.lstsq(host, right.asnumpy(), limit)
    context = left._context_numbers
    solution, rest, singular = (
        from_host(each, context, False) for each in (found, residuals, values)
    )
    x = _decompositions.least_squares(left, right, solution)
    if is_recording():  # compositions, which have gradients
        singular = _decompositions.singular_values(left)
        if residuals.size:
            errors = NUMPY.square(right - NUMPY.dot(left, x))
            rest = NUMPY.sum(errors, (0,), right.ndim == 1)
    return x, rest, int(rank), singular


# --- decompositions ---


def svd(a: Any) -> tuple[ndarray, ndarray, ndarray]:
    """Return ``ut``, ``l`` and ``v`` with ``a = ut @ diag(l) @ v``, singular values descending.

    >>> from afterglow import np
    >>> ut, l, v = np.linalg.svd(np.array([[3, 0, 0], [0, 4, 0]]))
    >>> l
    array([4., 3.])
    """
    ut, values, v = NUMPY.svd(need(a))
    return ut, values, v


def qr(a: Any, mode: Any = "reduced") -> Any:
    """Return Q with orthonormal columns and upper triangular R with ``a = Q @ R``.

    ``mode`` may be "reduced", "complete" or "r", which gives R alone.

    >>> from afterglow import np
    >>> q, r = np.linalg.qr(np.ones((3, 2)))
    >>> q.shape, r.shape
    ((3, 2), (2, 2))
    """
    matrices = _matrices("qr", a)
    if mode not in ("reduced", "complete", "r"):
        raise ArrayNotImplementedError(f"[qr] there is no mode {mode!r}")
    q, r = _decompositions.orthogonal_triangular(matrices, mode == "complete")
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


def _real(values: Host) -> Host:
    if onp.iscomplexobj(values) and onp.any(values.imag):
        raise ValueError("complex eigenvalues are not supported")
    return onp.real(values)


@declare_host("eig", infer=lambda a: [Spec(a.shape[:-1], a.dtype), a])
def _eig(a: Host) -> tuple[Host, Host]:
    """Return real eigenvalues and eigenvectors as columns; complex ones are refused."""
    values, vectors = onp.linalg.eig(a)
    return _real(values), _real(vectors)


def eig(a: Any) -> tuple[ndarray, ndarray]:
    """Return real eigenvalues and eigenvectors as columns; complex ones are refused at the read.

    >>> from afterglow import np
    >>> np.linalg.eig(np.array([[2, 0], [0, 1]]))[0]
    array([2., 1.])
    """
    values, vectors = _eig(_square("eig", a), legacy=False)
    return values, vectors


@declare_host("eigvals", infer=lambda a: Spec(a.shape[:-1], a.dtype))
def _eigvals(a: Host) -> Host:
    """Return the eigenvalues if they are real; complex ones are refused."""
    return _real(onp.linalg.eigvals(a))


def eigvals(a: Any) -> ndarray:
    """Return the eigenvalues if they are real; complex ones are refused at the read.

    >>> from afterglow import np
    >>> np.linalg.eigvals(np.array([[2, 0], [0, 1]]))
    array([2., 1.])
    """
    result: ndarray = _eigvals(_square("eigvals", a), legacy=False)
    return result

# SPDX-License-Identifier: Apache-2.0
"""Decompositions of stacks of matrices that are no ops of the core, with their gradients.

NumPy computes them on a worker. Rules see no parameters: what the functions of ``nd.linalg`` and
``np.linalg`` can be asked for besides is composed of these and of ops, and so is every gradient.
All answer in the world of their first argument.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as onp

from .._arrays.dtypes import FLOAT16, FLOATING
from .._arrays.shapes import Shape
from .._arrays.worlds import WORLDS, World
from .._interoperation.host import from_host
from .._interoperation.host_calls import Host, Spec, declare_host
from ..error import ArrayNotImplementedError, ArrayTypeError
from .gradients import RecordedCall, Rule


def _world(array: Any) -> World[Any]:
    return WORLDS[array._legacy]


def _cost(a: Spec, *_: Spec | None, **__: Any) -> float:
    """Return a guess at the nanoseconds that a decomposition takes."""
    return 5e3 + 20.0 * prod(a.shape) * a.shape[-1]


# --- what gradients are made of ---


def finite(host: Host) -> Host:
    """Return matrices; refuse elements with which LAPACK's iteration may never end."""
    if not onp.isfinite(host).all():
        raise ValueError("SVD did not converge: not all elements are finite")
    return host


def floating(op: str, array: Any) -> Any:
    """Return an array of ``np`` in a type that decompositions take."""
    if array._dtype_number == FLOAT16:
        raise ArrayTypeError(f"[{op}] array type float16 is unsupported in linalg")
    return array if array._dtype_number in FLOATING else array.astype("float64")


def product(a: Any, b: Any, turn_a: bool = False, turn_b: bool = False) -> Any:
    """Return the products of two stacks of matrices, transposed where asked."""
    return _world(a).matmul(a, b, turn_a, turn_b)


def turned(a: Any) -> Any:
    """Return the transposed matrices."""
    return a._permuted((*range(a.ndim - 2), a.ndim - 1, a.ndim - 2))


def _host_like(host: Host, like: Any) -> Any:
    return from_host(host, like._context_numbers, like._legacy, like._dtype_number)


def triangle(a: Any, lower: bool, offset: int = 0) -> Any:
    """Return one triangle of each matrix, up to a diagonal, with zeros elsewhere."""
    rows, columns = a.shape[-2:]
    mask = onp.tri(rows, columns, offset) if lower else onp.tri(columns, rows, offset).T
    copy = _world(a).copy
    counted = copy(_host_like(mask, a), shape=a.shape)
    zeros = copy(0, shape=a.shape, dtype=a._dtype_number, ctx=a._context_numbers)
    return _world(a).where(counted, a, zeros)


def _rows(vector: Any) -> Any:
    """Return a vector that multiplies the columns of matrices."""
    return vector._shaped((*vector.shape[:-1], 1, vector.shape[-1]))


def _columns(vector: Any) -> Any:
    """Return a vector that multiplies the rows of matrices."""
    return vector._shaped((*vector.shape, 1))


def _scaled(a: Any, factors: Any) -> Any:
    return _world(a).multiply(a, _world(a).copy(factors, shape=a.shape))


def _gaps(values: Any) -> Any:
    """Return one by (column - row) of each pair of values, and 0 for a value and itself."""
    count = values.shape[-1]
    shape = (*values.shape, count)
    copy = _world(values).copy
    gaps = copy(_rows(values), shape=shape) - copy(_columns(values), shape=shape)
    unit = copy(_host_like(onp.eye(count), values), shape=shape)
    # The diagonal is taken out before the division, so that no rule meets 1 / 0.
    return (1 - unit) / (gaps + unit)


# --- determinants and equations ---


def _log_determinant_gradient(c: RecordedCall, g: Any) -> Any:
    if g[1] is None:
        return c.zeros(0)
    numbers = g[1]._shaped((*c.shape(0)[:-2], 1, 1))  # one for each matrix
    return _scaled(turned(_world(c[0]).inverse_or_zero(c[0])), numbers)


@declare_host(
    "slogdet",
    infer=lambda a, shape: [Spec(shape, a.dtype)] * 2,
    gradient=[Rule(_log_determinant_gradient, (0,))],
    cost=_cost,
)
def log_determinant(a: Host, *, shape: Shape) -> list[Host]:
    """Return signs of the determinants and logarithms of their absolute values, in a shape."""
    return [part.reshape(shape) for part in onp.linalg.slogdet(a)]


def _solved_back(c: RecordedCall, g: Any) -> Any:
    return _world(c[0]).solve(turned(c[0]), g)


@declare_host(
    "trsm",
    infer=lambda a, b, lower: b,
    gradient=[
        Rule(lambda c, g: -product(_solved_back(c, g), c.output, turn_b=True), (0,), output=True),
        Rule(_solved_back, (0,)),
    ],
    cost=_cost,
)
def solve_triangular(a: Host, b: Host, *, lower: bool = True) -> Host:
    """Return the x with ``a x = b``; zeros on the diagonal of the triangles give inf and nan."""
    solution = b.copy()
    rows = range(a.shape[-1])
    with onp.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for row in rows if lower else reversed(rows):
            known = slice(0, row) if lower else slice(row + 1, None)
            rest = (a[..., row, None, known] @ solution[..., known, :])[..., 0, :]
            solution[..., row, :] = (solution[..., row, :] - rest) / a[..., row, row, None]
    return solution


def _pseudo_inverse_gradient(a: Any, p: Any, g: Any) -> Any:
    """Return the gradient of ``a`` for that of its pseudo-inverse, while the rank stays."""
    outer = product(p, p, turn_b=True)
    inner = product(p, p, turn_a=True)
    # What the columns of a, and its rows, do not reach.
    beside_columns = product(g, outer, turn_a=True)
    beside_columns = beside_columns - product(a, product(p, beside_columns))
    beside_rows = product(inner, g, turn_b=True)
    beside_rows = beside_rows - product(product(beside_rows, p), a)
    return beside_columns + beside_rows - product(product(p, g, turn_a=True), p, turn_b=True)


@declare_host(
    "pinv",
    infer=lambda a, *_, **__: Spec((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype),
    gradient=[
        Rule(lambda c, g: _pseudo_inverse_gradient(c[0], c.output, g), (0,), output=True),
        None,
    ],
    cost=_cost,
)
def pseudo_inverse(
    a: Host, limits: Host | None = None, *, rcond: Any = 1e-15, hermitian: bool = False
) -> Host:
    """Return the pseudo-inverses; one limit for all singular values, or an array with one each."""
    result: Host = onp.linalg.pinv(finite(a), rcond if limits is None else limits, hermitian)
    return result


def _as_columns(vectors: Any) -> Any:
    return vectors if vectors.ndim == 2 else _columns(vectors)


def _least_squares_left(c: RecordedCall, g: Any) -> Any:
    of_inverse = product(_as_columns(g), _as_columns(c[1]), turn_b=True)
    return _pseudo_inverse_gradient(c[0], pseudo_inverse(c[0]), of_inverse)


def _least_squares_right(c: RecordedCall, g: Any) -> Any:
    inverted = pseudo_inverse(c[0])
    return product(inverted, _as_columns(g), turn_a=True)._shaped(c.shape(1))


@declare_host(
    "lstsq",
    infer=lambda a, b, found: Spec(found.shape, a.dtype),
    gradient=[Rule(_least_squares_left, (0, 1)), Rule(_least_squares_right, (0,)), None],
    cost=_cost,
)
def least_squares(a: Host, b: Host, found: Host) -> Host:
    """Return the x closest to solving ``a x = b``, which was found already."""
    return found


# --- decompositions ---


def _directions(vectors: Host, axis: int) -> Host:
    """Return -1 for vectors along an axis whose element of greatest size is negative, else 1."""
    if not vectors.size:
        return onp.ones_like(vectors.sum(axis, keepdims=True))
    greatest, least = vectors.max(axis, keepdims=True), vectors.min(axis, keepdims=True)
    negative = greatest < -least
    if (greatest == -least).any():  # of two elements of greatest size the first one counts
        places = onp.abs(vectors).argmax(axis, keepdims=True)
        negative = onp.take_along_axis(vectors, places, axis) < 0
    signs: Host = 1 - 2 * negative.astype(vectors.dtype)
    return signs


def _eigen_gradient(c: RecordedCall, g: Any) -> Any:
    values, vectors = c.output_at(0), c.output_at(1)
    inner = None
    if g[1] is not None:
        inner = product(vectors, g[1], turn_a=True) * _gaps(values)
        inner = product(vectors, inner)
    if g[0] is not None:
        straight = _scaled(vectors, _rows(g[0]))
        inner = straight if inner is None else inner + straight
    whole = product(inner, vectors, turn_b=True)
    return (whole + turned(whole)) * 0.5  # it is symmetric


@declare_host(
    "eigh",
    infer=lambda a: [Spec(a.shape[:-1], a.dtype), a],
    gradient=[Rule(_eigen_gradient, output=True)],
    cost=_cost,
)
def symmetric_eigen(a: Host) -> tuple[Host, Host]:
    """Return eigenvalues, ascending, and eigenvectors as columns; lower triangles count.

    Of the two directions of a vector it is the one whose greatest element is positive.
    """
    values, vectors = onp.linalg.eigh(a)
    return values, vectors * _directions(vectors, -2)


def _eigenvalues_gradient(c: RecordedCall, g: Any) -> Any:
    _, vectors = symmetric_eigen(c[0])
    return product(_scaled(vectors, _rows(g)), vectors, turn_b=True)


@declare_host(
    "eigvalsh",
    infer=lambda a: Spec(a.shape[:-1], a.dtype),
    gradient=[Rule(_eigenvalues_gradient, (0,))],
    cost=_cost,
)
def symmetric_eigenvalues(a: Host) -> Host:
    """Return the eigenvalues of symmetric matrices, ascending; lower triangles count."""
    return onp.linalg.eigvalsh(a)


def _singular_values_gradient(c: RecordedCall, g: Any) -> Any:
    left, _, right = _world(c[0]).svd(c[0])
    return product(_scaled(left, _rows(g)), right)


@declare_host(
    "singular_values",
    infer=lambda a: Spec((*a.shape[:-2], min(a.shape[-2:])), a.dtype),
    gradient=[Rule(_singular_values_gradient, (0,))],
    cost=_cost,
)
def singular_values(a: Host) -> Host:
    """Return the singular values, descending."""
    return onp.linalg.svd(finite(a), compute_uv=False)


def _orthogonal_gradient(c: RecordedCall, g: Any) -> Any:
    q, r = c.output_at(0), c.output_at(1)
    if q.shape != c.shape(0):
        raise ArrayNotImplementedError("[qr in mode complete] has no gradient")
    to_q, to_r = g
    parts = []
    if to_r is not None:
        parts.append(product(r, to_r, turn_b=True))
    if to_q is not None:
        parts.append(-product(to_q, q, turn_a=True))
    inner = sum(parts[1:], start=parts[0])
    below = triangle(inner, lower=True, offset=-1)
    result = product(q, below + turned(triangle(inner, lower=True)))
    if to_q is not None:
        result = result + to_q
    return turned(_world(r).solve(r, turned(result)))


def _infer_orthogonal(a: Spec, complete: bool) -> list[Spec]:
    *stack, rows, columns = a.shape
    width = rows if complete else columns
    return [Spec((*stack, rows, width), a.dtype), Spec((*stack, width, columns), a.dtype)]


@declare_host(
    "qr",
    infer=_infer_orthogonal,
    gradient=[Rule(_orthogonal_gradient, output=True)],
    cost=_cost,
)
def _tall_orthogonal(a: Host, *, complete: bool = False) -> Any:
    """Return Q and R of matrices that are not wider than high; Q is square if it is complete."""
    return onp.linalg.qr(a, "complete" if complete else "reduced")


def orthogonal_triangular(a: Any, complete: bool = False) -> list[Any]:
    """Return Q with orthonormal columns and upper triangular R with ``a = Q R``."""
    *stack, rows, columns = a.shape
    if rows >= columns:
        return _tall_orthogonal(a, complete=complete and rows > columns)  # type: ignore[no-any-return]
    strides = a._strides
    first, rest = (
        _world(a).copy(a._view(start * strides[-1], (*stack, rows, width), strides))
        for start, width in ((0, rows), (rows, columns - rows))
    )
    q, r = orthogonal_triangular(first)
    return [q, _world(a).concat([r, product(q, rest, turn_a=True)], axis=a.ndim - 1)]

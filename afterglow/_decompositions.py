# SPDX-License-Identifier: Apache-2.0
"""Decompositions, inverses and equations of stacks of matrices, with their gradients.

NumPy computes them on a worker. None of them has parameters: what the functions of ``nd.linalg``
and ``np.linalg`` can be asked for besides is composed of these and of ops, and so is every
gradient. All answer in the world of their first argument.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as onp

from ._core import Operation, operation
from ._dtype import FLOAT32, FLOAT64
from ._gradients import RecordedCall, Rule, define
from ._host import from_host
from ._host_calls import Host, on_host, on_host_several
from ._shapes import Shape

_operation = cache(operation)


def _op(like: Any, name: str) -> Operation:
    return _operation(name, like._legacy)


def _cost(a: Any) -> float:
    """Return a guess at the nanoseconds that a decomposition takes."""
    return 5e3 + 20.0 * a.size * a.shape[-1]  # type: ignore[no-any-return]


def _has_kernel(*inputs: Any) -> bool:
    """Tell whether the compiled ops take these matrices."""
    first = inputs[0]._dtype_number
    return first in (FLOAT32, FLOAT64) and all(
        each._contiguous and each._dtype_number == first for each in inputs
    )


def _one(name: str, function: Callable[..., Any], *inputs: Any, shape: Shape) -> Any:
    first = inputs[0]
    return on_host(
        name,
        function,
        *inputs,
        shape=shape,
        dtype=first._dtype_number,
        legacy=first._legacy,
        cost=_cost(first),
    )


def _several(name: str, function: Callable[..., Any], a: Any, *shapes: Shape) -> list[Any]:
    outputs = [(shape, a._dtype_number) for shape in shapes]
    return on_host_several(name, function, a, outputs=outputs, legacy=a._legacy, cost=_cost(a))


# --- what gradients are made of ---


def finite(host: Host) -> Host:
    """Return matrices; refuse elements with which LAPACK's iteration may never end."""
    if not onp.isfinite(host).all():
        raise ValueError("SVD did not converge: not all elements are finite")
    return host


def product(a: Any, b: Any, turn_a: bool = False, turn_b: bool = False) -> Any:
    """Return the products of two stacks of matrices, transposed where asked."""
    return _op(a, "batch_dot")(a, b, turn_a, turn_b)


def turned(a: Any) -> Any:
    """Return the transposed matrices."""
    return a._permuted((*range(a.ndim - 2), a.ndim - 1, a.ndim - 2))


def _host_like(host: Host, like: Any) -> Any:
    return from_host(host, like._context_numbers, like._legacy, like._dtype_number)


def masked(a: Any, mask: Host) -> Any:
    """Return the matrices with zeros where the mask has them; ``a`` may be a view."""
    counted = _op(a, "copy")(_host_like(mask, a), shape=a.shape)
    zeros = _op(a, "copy")(0, shape=a.shape, dtype=a._dtype_number, ctx=a._context_numbers)
    return _op(a, "where")(counted, a, zeros)


def triangle(a: Any, lower: bool, offset: int = 0) -> Any:
    """Return one triangle of each matrix, up to a diagonal, with zeros elsewhere."""
    rows, columns = a.shape[-2:]
    return masked(a, onp.tri(rows, columns, offset) if lower else onp.tri(columns, rows, offset).T)


def _halved_triangle(a: Any) -> Any:
    """Return the lower triangle of each matrix with half of the diagonal."""
    weights = onp.tri(a.shape[-1]) - 0.5 * onp.eye(a.shape[-1])
    return _scaled(a, _host_like(weights, a))


def _symmetric(a: Any) -> Any:
    return (a + turned(a)) * 0.5


def _skew(a: Any) -> Any:
    return a - turned(a)


def _rows(vector: Any) -> Any:
    """Return a vector that multiplies the columns of matrices."""
    return vector._shaped((*vector.shape[:-1], 1, vector.shape[-1]))


def _columns(vector: Any) -> Any:
    """Return a vector that multiplies the rows of matrices."""
    return vector._shaped((*vector.shape, 1))


def _scaled(a: Any, factors: Any) -> Any:
    return _op(a, "multiply")(a, _op(a, "copy")(factors, shape=a.shape))


def _numbers(g: Any, like: Shape) -> Any:
    """Return one number per matrix, so that it multiplies the matrix."""
    return g._shaped((*like[:-2], 1, 1))


def _gaps(values: Any) -> Any:
    """Return one by (column - row) of each pair of values, and 0 for a value and itself."""
    count = values.shape[-1]
    shape = (*values.shape, count)
    copy = _op(values, "copy")
    gaps = copy(_rows(values), shape=shape) - copy(_columns(values), shape=shape)
    unit = copy(_host_like(onp.eye(count), values), shape=shape)
    # The diagonal is taken out before the division, so that no rule meets 1 / 0.
    return (1 - unit) / (gaps + unit)


# --- inverses and equations ---


def inverse(a: Any) -> Any:
    """Return the inverse matrices; singular ones are refused at the read."""
    if _has_kernel(a):
        return _op(a, "inverse")(a)
    return _one("inverse", onp.linalg.inv, a, shape=a.shape)


def _inverse_gradient(c: RecordedCall, g: Any) -> Any:
    return -product(product(c.output, g, turn_a=True), c.output, turn_b=True)


define("inverse", Rule(_inverse_gradient, output=True))


def _regular_inverse(a: Host) -> Host:
    flat = a.reshape(-1, *a.shape[-2:])
    result = onp.zeros_like(flat)
    regular = onp.linalg.det(flat) != 0
    result[regular] = onp.linalg.inv(flat[regular])
    return result.reshape(a.shape)


def _inverse_or_zero(a: Any) -> Any:
    """Return the inverse matrices, and zeros for singular ones."""
    return _one("inverse_or_zero", _regular_inverse, a, shape=a.shape)


define("inverse_or_zero", Rule(_inverse_gradient, output=True))


def determinant(a: Any, shape: Shape) -> Any:
    """Return the determinants in a shape."""
    if _has_kernel(a):
        return _op(a, "det")(a)._shaped(shape)
    return _one("det", lambda x: onp.linalg.det(x).reshape(shape), a, shape=shape)


def _determinant_gradient(c: RecordedCall, g: Any) -> Any:
    return _scaled(turned(_inverse_or_zero(c[0])), _numbers(g * c.output, c.shape(0)))


define("det", Rule(_determinant_gradient, (0,), output=True))


def log_determinant(a: Any, shape: Shape) -> list[Any]:
    """Return signs of the determinants and logarithms of their absolute values, in a shape."""

    def find(x: Host) -> list[Host]:
        return [part.reshape(shape) for part in onp.linalg.slogdet(x)]

    return _several("slogdet", find, a, shape, shape)


def _log_determinant_gradient(c: RecordedCall, g: Any) -> Any:
    if g[1] is None:
        return c.zeros(0)
    return _scaled(turned(_inverse_or_zero(c[0])), _numbers(g[1], c.shape(0)))


define("slogdet", Rule(_log_determinant_gradient, (0,)))


def solve(a: Any, b: Any) -> Any:
    """Return the x with ``a x = b``, matrices in stacks of one shape."""
    if _has_kernel(a, b):
        return _op(a, "solve")(a, b)
    return _one("solve", onp.linalg.solve, a, b, shape=b.shape)


def solve_triangular(a: Any, b: Any, lower: bool) -> Any:
    """Return the x with ``a x = b``; zeros on the diagonal of the triangles give inf and nan."""
    return _one("trsm", lambda x, y: _substituted(x, y, lower), a, b, shape=b.shape)


def _substituted(a: Host, b: Host, lower: bool) -> Host:
    """Solve row after row."""
    solution = b.copy()
    rows = range(a.shape[-1])
    with onp.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for row in rows if lower else reversed(rows):
            known = slice(0, row) if lower else slice(row + 1, None)
            rest = (a[..., row, None, known] @ solution[..., known, :])[..., 0, :]
            solution[..., row, :] = (solution[..., row, :] - rest) / a[..., row, row, None]
    return solution


for _name in ("solve", "trsm"):
    define(
        _name,
        Rule(
            lambda c, g: -product(solve(turned(c[0]), g), c.output, turn_b=True), (0,), output=True
        ),
        Rule(lambda c, g: solve(turned(c[0]), g), (0,)),
    )


def pseudo_inverse(a: Any, limit: Any, hermitian: bool) -> Any:
    """Return the pseudo-inverses; ``limit`` is a number, or an array with one per matrix."""
    shape = (*a.shape[:-2], a.shape[-1], a.shape[-2])
    if hasattr(limit, "_dtype_number"):
        return _one(
            "pinv", lambda x, y: onp.linalg.pinv(finite(x), y, hermitian), a, limit, shape=shape
        )
    return _one("pinv", lambda x: onp.linalg.pinv(finite(x), limit, hermitian), a, shape=shape)


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


define(
    "pinv", Rule(lambda c, g: _pseudo_inverse_gradient(c[0], c.output, g), (0,), output=True), None
)


def least_squares(a: Any, b: Any, found: Host) -> Any:
    """Return the x closest to solving ``a x = b``, which was found already."""
    return _one("lstsq", lambda *_: found, a, b, shape=found.shape)


def _as_columns(vectors: Any) -> Any:
    return vectors if vectors.ndim == 2 else _columns(vectors)


def _least_squares_left(c: RecordedCall, g: Any) -> Any:
    of_inverse = product(_as_columns(g), _as_columns(c[1]), turn_b=True)
    return _pseudo_inverse_gradient(c[0], pseudo_inverse(c[0], 1e-15, False), of_inverse)


def _least_squares_right(c: RecordedCall, g: Any) -> Any:
    inverted = pseudo_inverse(c[0], 1e-15, False)
    return product(inverted, _as_columns(g), turn_a=True)._shaped(c.shape(1))


define("lstsq", Rule(_least_squares_left, (0, 1)), Rule(_least_squares_right, (0,)))


# --- decompositions ---


def cholesky(a: Any) -> Any:
    """Return lower triangular matrices that, times their transposes, are those of ``a``."""
    if _has_kernel(a):
        return _op(a, "cholesky")(a)
    return _one("cholesky", onp.linalg.cholesky, a, shape=a.shape)


def _cholesky_gradient(c: RecordedCall, g: Any) -> Any:
    factor = c.output
    inverted = inverse(factor)
    middle = _halved_triangle(product(factor, g, turn_a=True))
    return _symmetric(product(product(inverted, middle, turn_a=True), inverted))


define("cholesky", Rule(_cholesky_gradient, output=True))


def symmetric_eigen(a: Any) -> list[Any]:
    """Return eigenvalues, ascending, and eigenvectors as columns; lower triangles count.

    Of the two directions of a vector it is the one whose greatest element is positive.
    """

    def decompose(x: Host) -> tuple[Host, Host]:
        values, vectors = onp.linalg.eigh(x)
        return values, vectors * _directions(vectors, -2)

    return _several("eigh", decompose, a, a.shape[:-1], a.shape)


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
    return _symmetric(product(inner, vectors, turn_b=True))


define("eigh", Rule(_eigen_gradient, output=True))


def symmetric_eigenvalues(a: Any) -> Any:
    """Return the eigenvalues of symmetric matrices, ascending; lower triangles count."""
    return _one("eigvalsh", onp.linalg.eigvalsh, a, shape=a.shape[:-1])


def _eigenvalues_gradient(c: RecordedCall, g: Any) -> Any:
    _, vectors = symmetric_eigen(c[0])
    return product(_scaled(vectors, _rows(g)), vectors, turn_b=True)


define("eigvalsh", Rule(_eigenvalues_gradient, (0,)))


def singular(a: Any) -> list[Any]:
    """Return the three factors of the thin singular value decomposition.

    Of the two directions of a row of the last it is the one whose greatest element is positive.
    """
    if _has_kernel(a):
        return _op(a, "svd")(a)  # type: ignore[no-any-return]
    *stack, rows, columns = a.shape
    count = min(rows, columns)

    def decompose(x: Host) -> tuple[Host, Host, Host]:
        left, values, right = onp.linalg.svd(finite(x), full_matrices=False)
        signs = _directions(right, -1)
        return left * signs.swapaxes(-1, -2), values, right * signs

    return _several(
        "svd",
        decompose,
        a,
        (*stack, rows, count),
        (*stack, count),
        (*stack, count, columns),
    )


def _singular_gradient(c: RecordedCall, g: Any) -> Any:
    left, values, right = (c.output_at(index) for index in range(3))
    to_left, to_values, to_right = g
    rows, columns = c.shape(0)[-2:]
    parts = []
    if to_values is not None:
        parts.append(product(_scaled(left, _rows(to_values)), right))
    gaps = _gaps(values * values) if to_left is not None or to_right is not None else None
    if to_left is not None:
        along = product(left, to_left, turn_a=True)
        inner = _scaled(_skew(along) * gaps, _rows(values))
        parts.append(product(product(left, inner), right))
        if rows > columns:
            rest = to_left - product(left, along)
            parts.append(product(_scaled(rest, _rows(1 / values)), right))
    if to_right is not None:
        along = product(right, to_right, turn_b=True)
        inner = _scaled(_skew(along) * gaps, _columns(values))
        parts.append(product(product(left, inner), right))
        if columns > rows:
            rest = to_right - product(along, right, turn_a=True)
            parts.append(product(left, _scaled(rest, _columns(1 / values))))
    return sum(parts[1:], start=parts[0])


define("svd", Rule(_singular_gradient, output=True))


def singular_values(a: Any) -> Any:
    """Return the singular values, descending."""
    shape = (*a.shape[:-2], min(a.shape[-2:]))
    return _one(
        "singular_values", lambda x: onp.linalg.svd(finite(x), compute_uv=False), a, shape=shape
    )


def _singular_values_gradient(c: RecordedCall, g: Any) -> Any:
    left, _, right = singular(c[0])
    return product(_scaled(left, _rows(g)), right)


define("singular_values", Rule(_singular_values_gradient, (0,)))


def orthogonal_triangular(a: Any) -> list[Any]:
    """Return Q with orthonormal columns and upper triangular R with ``a = Q R``."""
    *stack, rows, columns = a.shape
    if rows >= columns:
        return _several("qr", onp.linalg.qr, a, a.shape, (*stack, columns, columns))
    strides = a._strides
    first, rest = (
        _op(a, "copy")(a._view(start * strides[-1], (*stack, rows, width), strides))
        for start, width in ((0, rows), (rows, columns - rows))
    )
    q, r = orthogonal_triangular(first)
    return [q, _op(a, "concat")([r, product(q, rest, turn_a=True)], axis=a.ndim - 1)]


def _orthogonal_gradient(c: RecordedCall, g: Any) -> Any:
    q, r = c.output_at(0), c.output_at(1)
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
    return turned(solve(r, turned(result)))


define("qr", Rule(_orthogonal_gradient, output=True))

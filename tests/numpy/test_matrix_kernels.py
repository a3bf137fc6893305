# SPDX-License-Identifier: Apache-2.0
"""Inverses, equations and decompositions against NumPy and against what they are defined by."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest
from support import raises_at_the_read

import afterglow as mx
from afterglow import np

SHAPES = [(1, 1), (3, 3), (5, 2, 2), (2, 3, 7, 7), (40, 40), (0, 3, 3), (0, 0), (2, 0, 0)]
TYPES = ["float32", "float64"]


def _matrices(shape: tuple[int, ...], dtype: str) -> Any:
    host = onp.random.default_rng(sum(shape)).standard_normal(shape)
    return (host + 3 * onp.eye(*shape[-2:])).astype(dtype)


def _close(result: Any, expected: Any, dtype: str) -> None:
    host = result.asnumpy()
    assert host.dtype == dtype
    assert host.shape == expected.shape
    accuracy = 1e-3 if dtype == "float32" else 1e-10
    onp.testing.assert_allclose(host, expected, rtol=accuracy, atol=accuracy)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_answers_are_those_of_numpy(shape: tuple[int, ...], dtype: str) -> None:
    host = _matrices(shape, dtype)
    array = np.array(host)
    _close(np.linalg.inv(array), onp.linalg.inv(host), dtype)
    _close(np.linalg.det(array), onp.asarray(onp.linalg.det(host)), dtype)
    right = _matrices((*shape[:-1], 4), dtype)
    _close(np.linalg.solve(array, np.array(right)), onp.linalg.solve(host, right), dtype)
    positive = host @ host.swapaxes(-1, -2) + onp.eye(shape[-1], dtype=dtype)
    _close(np.linalg.cholesky(np.array(positive)), onp.linalg.cholesky(positive), dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(3, 3), (2, 5, 3), (4, 9), (1, 6), (30, 12), (0, 2, 3)], ids=str)
def test_singular_values(shape: tuple[int, ...], dtype: str) -> None:
    host = onp.random.default_rng(1).standard_normal(shape).astype(dtype)
    left, values, right = np.linalg.svd(np.array(host))
    _close(values, onp.linalg.svd(host, compute_uv=False), dtype)
    product = left.asnumpy() * values.asnumpy()[..., None, :] @ right.asnumpy()
    onp.testing.assert_allclose(product, host, atol=1e-4)
    for factor in (left.asnumpy().swapaxes(-1, -2), right.asnumpy()):
        unit = factor @ factor.swapaxes(-1, -2)
        onp.testing.assert_allclose(
            unit, onp.broadcast_to(onp.eye(unit.shape[-1]), unit.shape), atol=1e-4
        )
    rows = right.asnumpy().reshape(-1, shape[-1])
    for row in rows:
        assert row[onp.argmax(abs(row))] > 0


def test_determinants_neither_overflow_nor_vanish_on_the_way() -> None:
    scale = onp.diag(onp.array([1e200, 1e200, 1e-200, 1e-200, 2.0]))
    assert float(np.linalg.det(np.array(scale))) == pytest.approx(2.0)
    assert float(
        np.linalg.det(np.array(onp.diag([1e-200, 1e-200, 1e200, 1e200])))
    ) == pytest.approx(1)
    assert float(np.linalg.det(np.zeros((3, 3)))) == 0
    assert onp.isinf(float(np.linalg.det(np.eye(30) * 1e3)))
    swapped = onp.eye(4)[[1, 0, 2, 3]]
    assert float(np.linalg.det(np.array(swapped))) == -1


@raises_at_the_read
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (np.linalg.inv, "Singular matrix"),
        (lambda a: np.linalg.solve(a, np.ones((2, 1))), "Singular matrix"),
        (np.linalg.cholesky, "not positive definite"),
        (lambda a: np.linalg.svd(a * float("nan"))[1], "SVD did not converge"),
    ],
)
def test_failures_come_at_the_read(function: Any, message: str) -> None:
    result = function(np.array([[1.0, 2.0], [2.0, 4.0]]) * -1)
    with pytest.raises(ValueError, match=message):
        result.asnumpy()


def test_only_the_lower_triangle_counts() -> None:
    host = onp.array([[4.0, 99.0], [2.0, 5.0]])
    factor = np.linalg.cholesky(np.array(host)).asnumpy()
    onp.testing.assert_allclose(factor, [[2, 0], [1, 2]])


def test_nd_answers_the_same() -> None:
    host = _matrices((2, 4, 4), "float32")
    onp.testing.assert_allclose(
        mx.nd.linalg.inverse(mx.nd.array(host)).asnumpy(),
        onp.linalg.inv(host),
        rtol=1e-3,
        atol=1e-4,
    )
    assert mx.nd.linalg.det(mx.nd.array(host[0])).shape == (1,)

# SPDX-License-Identifier: Apache-2.0
"""BatchNorm in training, whose channels are summed by kernels where their rows are long enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from afterglow import autograd, nd

EPSILON = 1e-3


def normalised(x: Any, gamma: Any, beta: Any, axis: int) -> Any:
    """Return what BatchNorm does, by NumPy."""
    others = tuple(i for i in range(x.ndim) if i != axis % x.ndim)
    shape = [x.shape[i] if i == axis % x.ndim else 1 for i in range(x.ndim)]
    mean, variance = x.mean(others, keepdims=True), x.var(others, keepdims=True)
    return (x - mean) / np.sqrt(variance + EPSILON) * gamma.reshape(shape) + beta.reshape(shape)


def run(host: Any, gamma: Any, beta: Any, weights: Any, axis: int, fix_gamma: bool) -> list[Any]:
    """Return the result, the gradients of a weighted sum of it, and the moved averages."""
    x, scale, shift = (nd.array(each, dtype=each.dtype) for each in (host, gamma, beta))
    averages = nd.zeros(gamma.shape, dtype=gamma.dtype), nd.ones(gamma.shape, dtype=gamma.dtype)
    for each in (x, scale, shift):
        each.attach_grad()
    with autograd.record():
        y = nd.BatchNorm(
            x, scale, shift, *averages, eps=EPSILON, axis=axis, fix_gamma=fix_gamma, momentum=0.5
        )
        loss = (y * nd.array(weights, dtype=weights.dtype)).sum()
    loss.backward()
    arrays = (y, x.grad, scale.grad, shift.grad, *averages)
    return [each.asnumpy() for each in arrays]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fix_gamma", [True, False])
@pytest.mark.parametrize("shape", [(5, 3, 4, 6), (2, 4, 33), (1, 2, 3, 3, 3), (40, 7, 2, 2)])
def test_channels_first_and_last_agree(shape: Any, fix_gamma: bool, dtype: str) -> None:
    """Rows of one element are computed by other ops than long ones."""
    generator = np.random.default_rng(3)
    x, weights = (generator.normal(1, 2, shape).astype(dtype) for _ in range(2))
    gamma, beta = (generator.normal(1, 1, shape[1]).astype(dtype) for _ in range(2))
    first = run(x, gamma, beta, weights, 1, fix_gamma)
    last = run(np.moveaxis(x, 1, -1), gamma, beta, np.moveaxis(weights, 1, -1), -1, fix_gamma)
    tolerance = {"rtol": 1e-3, "atol": 1e-4} if dtype == "float32" else {"rtol": 1e-9}
    scale = np.ones_like(gamma) if fix_gamma else gamma
    np.testing.assert_allclose(first[0], normalised(x, scale, beta, 1), **tolerance)
    for ours, theirs in zip(first[:2], last[:2], strict=True):
        np.testing.assert_allclose(ours, np.moveaxis(theirs, -1, 1), **tolerance)
    for ours, theirs in zip(first[2:], last[2:], strict=True):
        np.testing.assert_allclose(ours, theirs, **tolerance)


def test_gradients_are_slopes() -> None:
    """First and second gradients of all three inputs, by finite differences."""
    generator = np.random.default_rng(5)
    shape = (2, 3, 3, 4)
    hosts = [generator.normal(0.5, 1, shape), *(generator.normal(1, 0.3, (3,)) for _ in range(2))]
    weights, directions = (
        [generator.normal(size=each) for each in (shape, (3,), (3,))] for _ in range(2)
    )

    def first_gradients(values: list[Any], again: bool) -> tuple[Any, list[Any]]:
        arrays = [nd.array(each, dtype="float64") for each in values]
        for each in arrays:
            each.attach_grad()
        averages = nd.zeros((3,), dtype="float64"), nd.ones((3,), dtype="float64")
        with autograd.record():
            y = nd.BatchNorm(*arrays, *averages, eps=EPSILON, fix_gamma=False)
            loss = (nd.tanh(y) * nd.array(weights[0], dtype="float64")).sum()
            if again:
                found = autograd.grad(loss, arrays, create_graph=True)
                total = sum(
                    (each * nd.array(direction, dtype="float64")).sum()
                    for each, direction in zip(found, directions, strict=True)
                )
        (total if again else loss).backward()
        value = float((total if again else loss).asscalar())
        return value, [each.grad.asnumpy() for each in arrays]

    step = 1e-5
    for again in (False, True):
        _, gradients = first_gradients(hosts, again)
        for which in range(3):
            for place in [(0,) * hosts[which].ndim, (-1,) * hosts[which].ndim]:
                slopes = []
                for sign in (1, -1):
                    moved = [each.copy() for each in hosts]
                    moved[which][place] += sign * step
                    slopes.append(first_gradients(moved, again)[0])
                slope = (slopes[0] - slopes[1]) / (2 * step)
                assert gradients[which][place] == pytest.approx(slope, rel=1e-5, abs=1e-7)

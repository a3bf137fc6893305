# SPDX-License-Identifier: Apache-2.0
"""Norms of any shape against plain formulas, forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest

from afterglow import autograd, nd

Numbers = onp.ndarray[Any, Any]


def drawn(random: onp.random.RandomState) -> tuple[tuple[int, ...], int]:
    """Return a shape with extents from 1 on, now and then a large one, and one of its axes."""
    shape = [int(n) for n in random.randint(1, 8, random.randint(2, 6))]
    if random.randint(3) == 0:
        shape[random.randint(len(shape))] = int(random.randint(60, 300))
    return tuple(shape), int(random.randint(len(shape)))


def normal(
    x: Numbers, gamma: Numbers, beta: Numbers, g: Numbers, axes: tuple[int, ...], eps: float
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the result, the gradient of the data, and what the data became before its scale."""
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    deviation = onp.sqrt(variance + eps)
    plain = (x - mean) / deviation
    inner = g * gamma
    rest = inner.mean(axes, keepdims=True) + plain * (inner * plain).mean(axes, keepdims=True)
    return plain * gamma + beta, (inner - rest) / deviation, plain


def close(found: Any, wanted: Numbers, scale: float = 1.0) -> None:
    bound = 2e-4 if found.dtype == onp.float32 else 1e-9
    onp.testing.assert_allclose(found.asnumpy(), wanted, bound, bound * max(scale, 1))


@pytest.mark.parametrize("number", range(40))
def test_batch_norm(number: int, seed: int) -> None:
    random = onp.random.RandomState((seed + number) % 2**32)
    shape, axis = drawn(random)
    dtype = ("float32", "float64")[number % 2]
    others = tuple(i for i in range(len(shape)) if i != axis)
    along = tuple(n if i == axis else 1 for i, n in enumerate(shape))
    x, g = random.normal(1, 2, shape), random.normal(0, 1, shape)
    gamma, beta, mean = (random.normal(0, 1, shape[axis]) for _ in range(3))
    variance = random.uniform(0.5, 2, shape[axis])
    is_fixed, eps = bool(random.randint(2)), 0.01
    data, scale, shift, *averages = (
        nd.array(one, dtype=dtype) for one in (x, gamma, beta, mean, variance)
    )
    for one in (data, scale, shift):
        one.attach_grad()
    given = {"axis": axis, "eps": eps, "momentum": 0.7, "fix_gamma": is_fixed}
    with autograd.record():
        result = nd.BatchNorm(data, scale, shift, *averages, **given)
    result.backward(nd.array(g, dtype=dtype))
    used = onp.ones_like(gamma) if is_fixed else gamma
    wanted, slope, plain = normal(x, used.reshape(along), beta.reshape(along), g, others, eps)
    count = float(x.size // shape[axis])
    close(result, wanted)
    close(data.grad, slope, abs(slope).max())
    close(shift.grad, g.sum(others), count**0.5)
    close(scale.grad, 0 * gamma if is_fixed else (g * plain).sum(others), count**0.5)
    close(averages[0], 0.7 * mean + 0.3 * x.mean(others))
    close(averages[1], 0.7 * variance + 0.3 * x.var(others))
    moved = [one.asnumpy().reshape(along) for one in averages]
    predicted = (x - moved[0]) / onp.sqrt(moved[1] + eps) * used.reshape(along)
    found = nd.BatchNorm(data, scale, shift, *averages, **given)
    close(found, predicted + beta.reshape(along), abs(predicted).max())


@pytest.mark.parametrize("number", range(30))
def test_layer_norm(number: int, seed: int) -> None:
    random = onp.random.RandomState((seed + number) % 2**32)
    shape, axis = drawn(random)
    dtype = ("float32", "float64")[number % 2]
    along = tuple(n if i == axis else 1 for i, n in enumerate(shape))
    x, g = random.normal(1, 2, shape), random.normal(0, 1, shape)
    gamma, beta = (random.normal(0, 1, shape[axis]) for _ in range(2))
    data, scale, shift = (nd.array(one, dtype=dtype) for one in (x, gamma, beta))
    for one in (data, scale, shift):
        one.attach_grad()
    with autograd.record():
        result = nd.LayerNorm(data, scale, shift, axis=axis, eps=0.01)
    result.backward(nd.array(g, dtype=dtype))
    wanted, slope, plain = normal(x, gamma.reshape(along), beta.reshape(along), g, (axis,), 0.01)
    others = tuple(i for i in range(len(shape)) if i != axis)
    count = float(x.size // shape[axis])
    close(result, wanted)
    close(data.grad, slope, abs(slope).max())
    close(shift.grad, g.sum(others), count**0.5)
    close(scale.grad, (g * plain).sum(others), count**0.5)


@pytest.mark.parametrize("number", range(20))
def test_group_and_instance_norm(number: int, seed: int) -> None:
    random = onp.random.RandomState((seed + number) % 2**32)
    groups, each = (int(n) for n in random.randint(1, 4, 2))
    space = tuple(int(n) for n in random.randint(1, 20, random.randint(1, 4)))
    shape = (int(random.randint(1, 4)), groups * each, *space)
    is_instance = number % 2 == 1
    parts = shape[1] if is_instance else groups
    x, g = random.normal(1, 2, shape), random.normal(0, 1, shape)
    gamma, beta = (random.normal(0, 1, parts) for _ in range(2))
    data, scale, shift = (nd.array(one, dtype="float64") for one in (x, gamma, beta))
    for one in (data, scale, shift):
        one.attach_grad()
    with autograd.record():
        if is_instance:
            result = nd.InstanceNorm(data, scale, shift, eps=0.01)
        else:
            result = nd.GroupNorm(data, scale, shift, num_groups=groups, eps=0.01)
    result.backward(nd.array(g, dtype="float64"))
    split, along = (shape[0], parts, -1), (1, parts, 1)
    inner = g.reshape(split)
    wanted, slope, plain = normal(
        x.reshape(split), gamma.reshape(along), beta.reshape(along), inner, (2,), 0.01
    )
    close(result, wanted.reshape(shape))
    close(data.grad, slope.reshape(shape))
    close(shift.grad, inner.sum((0, 2)))
    close(scale.grad, (inner * plain).sum((0, 2)))

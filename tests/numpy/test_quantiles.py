# SPDX-License-Identifier: Apache-2.0
"""Quantiles against NumPy, also where some elements are infinite or nan."""

from __future__ import annotations

import math
from typing import Any

import numpy as onp
import pytest

from afterglow import autograd, np

METHODS = ["linear", "lower", "higher", "midpoint", "nearest"]
FRACTIONS = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]


def between(line: Any, fraction: float, method: str) -> float:
    """Return one quantile as its definition says; what has no weight does not count."""
    if onp.isnan(line).any():
        return math.nan
    ordered = sorted(line.tolist())
    place = fraction * (len(ordered) - 1)
    low, high = math.floor(place), math.ceil(place)
    if low == high or method == "lower":
        return ordered[low]
    if method == "higher":
        return ordered[high]
    if method == "nearest":
        return ordered[round(place)]
    share = 0.5 if method == "midpoint" else place - low
    if ordered[low] == ordered[high]:
        return ordered[low]
    return (1 - share) * ordered[low] + share * ordered[high]


def lines(kind: str) -> Any:
    generator = onp.random.default_rng(5)
    host = generator.standard_normal((40, 5)).astype(kind)
    for value, chance in ((math.inf, 0.25), (-math.inf, 0.25), (math.nan, 0.05)):
        host[generator.random(host.shape) < chance] = value
    return host


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("recorded", [False, True])
def test_infinite_elements(method: str, recorded: bool) -> None:
    host = lines("float64")
    x = np.array(host)
    x.attach_grad()
    for fraction in FRACTIONS:
        if recorded:
            with autograd.record():
                found = np.quantile(x, fraction, axis=1, interpolation=method)
        else:
            found = np.quantile(x, fraction, axis=1, interpolation=method)
        expected = [between(line, fraction, method) for line in host]
        onp.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-12)
        # NumPy says nan of 0 times infinity; where it gives a number, it is this one.
        with onp.errstate(invalid="ignore"):
            theirs: Any = onp.quantile(host, fraction, axis=1, method=method)  # type: ignore[call-overload]
        known = ~onp.isnan(theirs)
        onp.testing.assert_allclose(found.asnumpy()[known], theirs[known], rtol=1e-12)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), -1])
def test_median_is_that_of_numpy(axis: Any, keepdims: bool) -> None:
    host = lines("float64")
    with onp.errstate(invalid="ignore"):
        expected = onp.median(host, axis, keepdims=keepdims)
    onp.testing.assert_array_equal(np.median(np.array(host), axis, keepdims=keepdims), expected)
    for odd in (
        [1, 2, math.inf],
        [-math.inf, 2, math.inf],
        [1, math.inf],
        [-math.inf, -math.inf, 3],
    ):
        assert np.median(np.array(odd)).item() == onp.median(odd)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 1, (0, 2)])
@pytest.mark.parametrize("kind", ["float32", "float64", "int32", "bool"])
def test_percentiles_of_plain_numbers(kind: str, axis: Any, keepdims: bool) -> None:
    host = (onp.random.default_rng(1).standard_normal((4, 5, 6)) * 50).astype(kind)
    x = np.array(host)
    q = [0, 12.5, 50, 77, 100]
    for method in METHODS:
        expected: Any = onp.percentile(  # type: ignore[call-overload]
            host.astype("float64"), q, axis, method=method, keepdims=keepdims
        )
        for given in (q, np.array(q)):
            found = np.percentile(x, given, axis, interpolation=method, keepdims=keepdims)
            assert found.shape == expected.shape
            onp.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-6)


def test_fractions_out_of_range() -> None:
    with pytest.raises(ValueError, match="between 0 and"):
        np.quantile(np.ones(3), 1.5)
    with pytest.raises(ValueError, match="between 0 and"):
        np.percentile(np.ones(3), np.array([101])).asnumpy()

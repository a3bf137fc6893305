# SPDX-License-Identifier: Apache-2.0
"""One memory that several arrays know by storages of their own: statements see it as NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest

from afterglow import nd, np

SIZES = [8, 1000, 300_000]


def by_dlpack(host: Any) -> tuple[Any, Any]:
    x = np.array(host)
    return x, np.from_dlpack(x)


def by_dlpack_twice(host: Any) -> tuple[Any, Any]:
    x = np.array(host)
    return np.from_dlpack(x), np.from_dlpack(x)


def by_numpy(host: Any) -> tuple[Any, Any]:
    return nd.from_numpy(host, zero_copy=True), nd.from_numpy(host, zero_copy=True)


def shift_right(x: Any, y: Any) -> None:
    y[1:] = x[:-1]


def shift_left(x: Any, y: Any) -> None:
    y[:-1] = x[1:]


def reverse(x: Any, y: Any) -> None:
    y[:] = x[::-1]


def add(x: Any, y: Any) -> None:
    y[1:] += x[:-1]


def scatter(x: Any, y: Any) -> None:
    y[[0, 1, 2, 3]] = x[4:8]
    y[[3, 2, 1]] = x[0:3]


@pytest.mark.parametrize("alias", [by_dlpack, by_dlpack_twice, by_numpy])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("change", [shift_right, shift_left, reverse, add, scatter])
def test_overlapping_aliases(
    alias: Callable[[Any], tuple[Any, Any]],
    size: int,
    change: Callable[[Any, Any], None],
) -> None:
    expected = onp.arange(size, dtype="float32")
    x, y = alias(expected.copy())
    change(expected, expected)
    change(x, y)
    onp.testing.assert_array_equal(x.asnumpy(), expected)
    onp.testing.assert_array_equal(y.asnumpy(), expected)

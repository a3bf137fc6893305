# SPDX-License-Identifier: Apache-2.0
"""Sizes beyond 64 bits, and beyond any memory, are refused before memory is taken."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest
from support import runs_later

import afterglow as mx
from afterglow import _core, memory, nd, np
from afterglow.error import ArrayIndexError, ArrayMemoryError, ArrayOverflowError, ArrayValueError

FAR = 2**62
#: Which of our classes is which of Python's.
OURS: dict[type[Exception], type[Exception]] = {
    MemoryError: ArrayMemoryError,
    OverflowError: ArrayOverflowError,
    ValueError: ArrayValueError,
}

TOO_LARGE: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "pad": (lambda: np.pad(np.ones(10), 2**63 - 1), MemoryError),
    "pad pair": (lambda: np.pad(np.ones((1, 2)), ((0, 0), (FAR, FAR))), MemoryError),
    "pad beyond": (lambda: np.pad(np.ones(10), 2**64), OverflowError),
    "tile": (lambda: np.tile(np.ones(3), FAR), MemoryError),
    "tile of a number": (lambda: np.tile(1, (256, FAR, 256)), ValueError),
    "tile of nothing": (lambda: np.tile(np.ones((0, 3)), (1, FAR)), MemoryError),
    "repeat": (lambda: np.repeat(np.ones(3), FAR), MemoryError),
    "repeat of nothing": (lambda: np.repeat(np.ones((0, 3)), FAR, axis=1), MemoryError),
    "concatenate": (
        lambda: np.concatenate([np.ones((0, FAR))] * 2, axis=1),
        MemoryError,
    ),
    "broadcast_to": (lambda: np.broadcast_to(np.ones(1), (FAR, 8)), MemoryError),
    "one_hot": (lambda: nd.one_hot(nd.ones(8), FAR), MemoryError),
    "eye": (lambda: np.eye(2**40), MemoryError),
    "outer": (lambda: np.zeros((FAR,)), MemoryError),
    "shape": (lambda: np.zeros(2**63), OverflowError),
    "nd shape": (lambda: nd.zeros((2, 2**63)), OverflowError),
    "arange": (lambda: np.arange(-(2**63), 5), OverflowError),
    "arange of nan": (lambda: np.arange(float("nan")), ValueError),
    "arange without end": (lambda: nd.arange(float("inf")), OverflowError),
    "arange by numbers too large": (lambda: np.arange(0, 10**400, 0.5), OverflowError),
    "repeated arange": (lambda: nd.arange(0, 2**40, repeat=2**30), MemoryError),
    "repeated arange wrapping": (lambda: nd.arange(0, 2**33 + 1, repeat=2**31), MemoryError),
    "draws": (lambda: np.random.multinomial(10, [0.5, 0.5], size=(FAR,)), MemoryError),
    "samples": (lambda: nd.random.multinomial(nd.ones((2,)), shape=(FAR, 4)), MemoryError),
    "device": (lambda: mx.cpu(70000), ValueError),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_refused_before_memory_is_taken(name: str) -> None:
    action, error = TOO_LARGE[name]
    mx.nd.waitall()
    memory.reset_peak()
    before = memory.peak()
    with pytest.raises(OURS[error]):
        getattr(action(), "asnumpy", lambda: None)()
    assert memory.peak() - before < 1 << 20


def test_last_number_of_a_range() -> None:
    assert np.arange(2**63 - 3, 2**63 - 1, dtype="int64").asnumpy().tolist() == [
        2**63 - 3,
        2**63 - 2,
    ]
    with pytest.raises(OverflowError):
        np.arange(2**62, 2**64, 2**62, dtype="int64")


@runs_later
def test_no_memory_for_a_copy() -> None:
    with pytest.raises(ArrayMemoryError, match="1099511627776"):
        np.zeros((2**40,)).asnumpy()


def test_lines_with_more_places_than_a_word_holds() -> None:
    line = np.empty((2**32 + 1,), dtype="int8")
    for find in (np.argsort, lambda x: nd.topk(x.as_nd_ndarray(), k=5)):
        with pytest.raises(ArrayValueError, match="4294967297"):
            find(line)


def test_names_that_are_no_text() -> None:
    with pytest.raises(UnicodeEncodeError):
        _core.operation("exp", True)(nd.ones((1,)), **{"\ud800": 1})
    with pytest.raises(UnicodeEncodeError):
        _core.operation("copy", True)(nd.ones((1,)), dtype="\ud800")


class Shortens:
    """An extent that empties the list it stands in."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __index__(self) -> int:
        self.items.clear()
        return 1


def test_lists_that_shrink_while_they_are_read() -> None:
    extents: list[Any] = []
    extents += [Shortens(extents), *range(1000, 1100)]
    with pytest.raises(mx.MXNetError):
        _core.operation("copy", True)(0, shape=extents)
    assert sys.getrefcount(extents) < 10
    array = nd.array(onp.ones(3))
    assert _core.operation("copy", True)(array, shape=[2, 3]).shape == (2, 3)


def test_powers_and_parts_without_end() -> None:
    for action in (
        lambda: nd.power(2, 2**63),
        lambda: nd.true_divide(10**400, 3),
        lambda: np.around(np.ones(3), 10**6),
        lambda: np.ldexp(np.ones(3), 10**6),
        lambda: np.random.normal(10**400),
        lambda: np.linspace(0, 10**400),
        lambda: np.linspace(10**400, 1.5),
        lambda: np.logspace(1.5, 10**400),
        lambda: nd.linspace(1.5, 10**400, 3),
        lambda: np.ediff1d(np.ones(3), to_end=10**400),
        lambda: np.linalg.lstsq(np.ones((3, 3)), np.ones(3), 10**400),
        lambda: nd.linalg.gemm2(nd.ones((3, 3)), nd.ones((3, 3)), alpha=10**400),
        lambda: nd.contrib.gradientmultiplier(nd.ones(3), 10**400),
        lambda: np.lcm(2**64, 3),
    ):
        with pytest.raises(ArrayOverflowError):
            action()
    for action in (
        lambda: np.array_split(np.ones(3), 2**62),
        lambda: nd.split(nd.ones((2, 0)), num_outputs=2**62, axis=1),
        lambda: np.hanning(2**50),
        lambda: np.tile(2, 2**50),
    ):
        with pytest.raises(ArrayMemoryError):
            action()
    assert nd.power(2, 100) == 2**100
    assert np.diff(np.ones((2, 3)), n=2**62).shape == (2, 0)
    with pytest.raises(ArrayValueError):
        np.unravel_index(np.ones(3), ())
    with pytest.raises(ArrayIndexError):
        np.ones(3).item(2**40)
    with pytest.raises(ZeroDivisionError):
        np.arange(1, 2, 0)


@pytest.mark.parametrize("odd", [math.inf, math.nan])
def test_singular_values_of_what_is_not_finite(odd: float) -> None:
    with pytest.raises(ArrayValueError, match="finite"):
        np.linalg.svd(np.array([[odd, 1], [2, 3]]))[1].asnumpy()

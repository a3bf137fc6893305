# SPDX-License-Identifier: Apache-2.0
"""Sizes beyond 64 bits, and beyond any memory, are refused before memory is taken."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import _core, memory, nd, np
from afterglow.error import ArrayMemoryError, ArrayValueError

FAR = 2**62

TOO_LARGE: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "pad": (lambda: np.pad(np.ones(10), 2**63 - 1), MemoryError),
    "pad pair": (lambda: np.pad(np.ones((1, 2)), ((0, 0), (FAR, FAR))), MemoryError),
    "pad beyond": (lambda: np.pad(np.ones(10), 2**64), OverflowError),
    "tile": (lambda: np.tile(np.ones(3), FAR), MemoryError),
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
    try:
        value = action()
        getattr(value, "asnumpy", lambda: None)()
        pytest.fail("nothing was raised")
    except error as caught:
        assert isinstance(caught, mx.MXNetError)
    assert memory.peak() - before < 1 << 20


def test_last_number_of_a_range() -> None:
    assert np.arange(2**63 - 3, 2**63 - 1, dtype="int64").asnumpy().tolist() == [
        2**63 - 3,
        2**63 - 2,
    ]
    with pytest.raises(OverflowError):
        _core.operation("arange", False)(start=2**62, step=2**62, count=3, dtype=6)


def test_no_memory_for_a_copy() -> None:
    with pytest.raises(ArrayMemoryError, match="1099511627776"):
        np.zeros((2**40,)).asnumpy()


def test_lines_with_more_places_than_a_word_holds() -> None:
    line = np.empty((2**32 + 1,), dtype="int8")
    for find in (np.argsort, lambda x: nd.topk(x.as_nd_ndarray(), k=5)):
        with pytest.raises(ArrayValueError, match="4294967297"):
            find(line)


def test_names_that_are_no_text() -> None:
    with pytest.raises(ValueError):
        _core.operation("exp", True)(nd.ones((1,)), **{"\ud800": 1})
    with pytest.raises(ValueError):
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

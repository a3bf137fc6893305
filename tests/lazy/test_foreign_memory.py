# SPDX-License-Identifier: Apache-2.0
"""Contract 7: what is made from NumPy's memory is copied before the statement returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as onp
import pytest
from support import busy_engine

import afterglow as mx

SIZES = (4, 1000, 1_000_000)


@pytest.fixture(params=["nd", "np"])
def front(request: pytest.FixtureRequest) -> Any:
    return getattr(mx, request.param)


@pytest.fixture
def busy() -> Iterator[None]:
    """Keep the engine at work, so that nothing issued now runs soon."""
    with busy_engine():
        yield


STATEMENTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "array": lambda f, x, a: f.array(a),
    "array with a dtype": lambda f, x, a: f.array(a, dtype="float32"),
    "array of a view": lambda f, x, a: f.array(a[::-1]),
    "add": lambda f, x, a: x + a,
    "in place": lambda f, x, a: x.__iadd__(a),
    "store": lambda f, x, a: stored(x, slice(None), a),
    "store a part": lambda f, x, a: stored(x, slice(1, None), a[1:]),
    "store with steps": lambda f, x, a: stored(x, slice(None, None, 2), a[::2]),
    "maximum": lambda f, x, a: f.maximum(x, f.array(a)),
}


def stored(x: Any, key: slice, value: Any) -> Any:
    x[key] = value
    return x


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", STATEMENTS)
def test_copied_before_the_statement_returns(front: Any, name: str, size: int, busy: None) -> None:
    a = onp.arange(size, dtype="float32") % 100 + 1
    x = front.zeros((size,))
    expected = {
        "array of a view": a[::-1].copy(),
        "store a part": onp.concatenate([[0], a[1:]]).astype("float32"),
        "store with steps": onp.where(onp.arange(size) % 2, 0, a).astype("float32"),
    }.get(name, a.copy())
    y = STATEMENTS[name](front, x, a)
    a[:] = -1
    onp.testing.assert_array_equal(y.asnumpy(), expected)


def test_numpy_on_the_left(front: Any, busy: None) -> None:
    a = onp.arange(100_000, dtype="float32")
    x = front.ones((100_000,))
    y = a + x
    assert type(y) is type(x)
    a[:] = 0
    onp.testing.assert_array_equal(y.asnumpy(), onp.arange(100_000, dtype="float32") + 1)


def test_lists_and_buffers(front: Any) -> None:
    values = [1.0, 2.0, 3.0]
    x = front.array(values)
    values[0] = 9.0
    assert x.asnumpy().tolist() == [1, 2, 3]
    memory = bytearray(onp.arange(4, dtype="float32").tobytes())
    y = front.array(onp.frombuffer(memory, dtype="float32"))
    memory[:] = bytes(16)
    assert y.asnumpy().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("size", SIZES)
def test_asnumpy_is_a_writable_copy(front: Any, size: int) -> None:
    x = front.ones((size,)) + 1
    value = x.asnumpy()
    assert value.flags.writeable
    assert value.flags.owndata
    value[:] = 7
    assert (x.asnumpy() == 2).all()
    x += 1
    assert (value == 7).all()


def test_asarray_copies(front: Any) -> None:
    x = front.ones((3,))
    value = onp.asarray(x)
    assert type(value) is onp.ndarray
    assert value.dtype == "float32"
    value[:] = 5
    assert x.asnumpy().tolist() == [1, 1, 1]


@pytest.mark.parametrize("size", SIZES)
def test_a_read_sees_its_moment(front: Any, size: int, busy: None) -> None:
    # Writers issued after the copy began must not be seen by it, writers before it must.
    x = front.zeros((size,))
    seen = []
    for _ in range(20):
        x += 1
        seen.append(x.asnumpy())
        x *= 1
    for step, value in enumerate(seen):
        assert (value == step + 1).all()

# SPDX-License-Identifier: Apache-2.0
"""Random keys, read and written, against NumPy."""

from __future__ import annotations

import random
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow.error import MXNetError

both = pytest.mark.parametrize("front", [mx.nd, mx.np], ids=["nd", "np"])
TYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool")


def random_slice(extent: int) -> slice:
    def bound() -> int | None:
        return random.choice([None, random.randint(-extent - 2, extent + 2)])

    return slice(bound(), bound(), random.choice([None, 1, 1, 2, 3, -1, -2]))


def random_key(shape: tuple[int, ...]) -> Any:
    items: list[Any] = []
    for extent in shape[: random.randint(0, len(shape))]:
        if extent and random.random() < 0.4:
            items.append(random.randrange(-extent, extent))
        else:
            items.append(random_slice(extent))
    if random.random() < 0.3:
        items.insert(random.randint(0, len(items)), None)
    if random.random() < 0.3 and len(items) < len(shape):
        items.append(...)
    return tuple(items) if len(items) != 1 or random.random() < 0.5 else items[0]


def random_array(front: Any) -> tuple[Any, onp.ndarray]:
    shape = tuple(random.choice([0, 1, 2, 3, 5]) for _ in range(random.randint(1, 4)))
    host = onp.random.randint(0, 100, shape).astype(random.choice(TYPES))
    return front.array(host, dtype=host.dtype), host


@both
def test_loads(front: Any) -> None:
    for _ in range(400):
        x, host = random_array(front)
        key = random_key(host.shape)
        found, expected = x[key], host[key]
        if front is mx.nd and expected.ndim == 0:
            expected = expected.reshape(1)
        assert found.shape == expected.shape, (host.shape, key)
        assert found.asnumpy().dtype == host.dtype
        onp.testing.assert_array_equal(found.asnumpy(), expected, err_msg=f"{host.shape} {key}")


@both
def test_stores(front: Any) -> None:
    for _ in range(400):
        x, host = random_array(front)
        key = random_key(host.shape)
        wanted = onp.random.randint(0, 50, host[key].shape)
        # A value that broadcasts: leading axes cut off, or some axes 1.
        if wanted.ndim and random.random() < 0.5:
            wanted = wanted[:1] if random.random() < 0.5 else wanted[0] if len(wanted) else wanted
        value: Any = wanted
        if random.random() < 0.5:
            value = front.array(wanted, dtype=random.choice(TYPES[:7]))
        elif random.random() < 0.3:
            value = 3
            wanted = onp.array(3)
        host[key] = wanted
        x[key] = value
        onp.testing.assert_array_equal(x.asnumpy(), host, err_msg=f"{host.shape} {key}")


@both
def test_lists_and_arrays_as_keys(front: Any) -> None:
    host = onp.arange(24, dtype="float32").reshape(2, 3, 4)
    keys = [
        [1, 0, 1],
        (slice(None), [0, 2]),
        ([0, 1], [2, 0]),
        onp.array([[0, 1], [1, 0]]),
        (0, [0, -1], slice(1, 3)),
    ]
    for key in keys:
        x = front.array(host)
        onp.testing.assert_array_equal(x[key].asnumpy(), host[key])
        changed = host.copy()
        changed[key] = -5
        x[key] = -5
        onp.testing.assert_array_equal(x.asnumpy(), changed)
    ours = front.array([1, 0], dtype="int32")
    onp.testing.assert_array_equal(front.array(host)[ours].asnumpy(), host[[1, 0]])
    floats = front.array([1, 0])  # MXNet indexes with floats too
    onp.testing.assert_array_equal(front.array(host)[floats].asnumpy(), host[[1, 0]])


@both
def test_index_array_out_of_range(front: Any) -> None:
    with pytest.raises(IndexError):
        front.ones((3,))[[5]]
    with pytest.raises(MXNetError):
        front.ones((3,))[onp.array([-4])] = 1


def test_masks() -> None:
    x = mx.np.arange(12).reshape((3, 4))
    assert x[x > 8].asnumpy().tolist() == [9, 10, 11]
    x[(x > 2) & (x < 6)] = 0
    assert x.asnumpy().tolist() == [[0, 1, 2, 0], [0, 0, 6, 7], [8, 9, 10, 11]]
    assert x[x > 100].shape == (0,)
    assert x[True].shape == (1, 3, 4)
    # In nd a comparison gives numbers, and numbers are indices.
    y = mx.nd.arange(3)
    assert y[y > 0].asnumpy().tolist() == [0, 1, 1]


@both
@pytest.mark.parametrize("key", ["a", 1.0, {1}, 2j])
def test_keys_that_make_no_sense(front: Any, key: Any) -> None:
    with pytest.raises(ValueError, match="slicing with key"):
        front.ones((3,))[key]
    with pytest.raises(MXNetError):
        front.ones((3,))[key] = 1


@both
def test_refused_stores(front: Any) -> None:
    x = front.zeros((3, 4))
    for value in ("a", {}, object(), [[1], [2, 3]], ["a"]):
        with pytest.raises(TypeError):
            x[:] = value
    for value in (front.zeros((3,)), onp.zeros(3), [1, 2, 3], front.zeros((2, 3, 4))):
        with pytest.raises(ValueError, match="broadcast"):
            x[:] = value
    other = mx.np if front is mx.nd else mx.nd
    with pytest.raises(TypeError, match="ndarray"):
        x[:] = other.zeros((3, 4))
    assert (x.asnumpy() == 0).all()


@both
def test_values_are_cast_as_c_does(front: Any) -> None:
    x = front.zeros((3,), dtype="uint8")
    x[:] = onp.array([1.7, 300, 2]).astype("int64")
    assert x.asnumpy().tolist() == [1, 44, 2]
    with pytest.raises(OverflowError):
        x[:] = [1.7, 300, 2]
    x[1] = 2.9
    x[2] = True
    assert x.asnumpy().tolist() == [1, 2, 1]
    y = front.zeros((2,))
    y[:] = None
    assert onp.isnan(y.asnumpy()).all()
    z = front.zeros((1,), dtype="int64")
    z[:] = 2**53 + 1
    assert z.asnumpy().tolist() == [2**53 + 1]

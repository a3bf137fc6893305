# SPDX-License-Identifier: Apache-2.0
"""``np`` against NumPy: shapes, types and values over random arguments."""

from __future__ import annotations

import random
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import np

TYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool")
TOLERANCE = {"float16": 5e-3, "float32": 1e-5, "float64": 1e-11}


def close(ours: Any, expected: Any) -> None:
    host = ours.asnumpy()
    assert host.shape == onp.shape(expected)
    tolerance = TOLERANCE.get(host.dtype.name, 0)
    onp.testing.assert_allclose(host, expected, rtol=tolerance, atol=tolerance)


def random_pair() -> tuple[onp.ndarray, onp.ndarray]:
    """Two shapes that broadcast."""
    shape = [random.choice([1, 2, 3, 4]) for _ in range(random.randint(0, 3))]
    left = [1 if random.random() < 0.2 else extent for extent in shape]
    right = [1 if random.random() < 0.2 else extent for extent in shape][random.randint(0, 1) :]
    return onp.random.randint(1, 9, left), onp.random.randint(1, 9, right)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "minimum", "mod"])
def test_arithmetic(name: str) -> None:
    for _ in range(40):
        left, right = random_pair()
        dtype = random.choice(TYPES[:7])
        left, right = left.astype(dtype), right.astype(dtype)
        close(getattr(np, name)(np.array(left), np.array(right)), getattr(onp, name)(left, right))


def test_division_and_power() -> None:
    for dtype in TYPES[:7]:
        left, right = onp.array([7, 1, 4]).astype(dtype), onp.array([2, 3, 3]).astype(dtype)
        ours = np.array(left) / np.array(right)
        assert ours.dtype == (dtype if dtype.startswith("float") else "float32")
        close(ours, (left / right).astype(ours.dtype))
        close(np.array(left) ** np.array(right), left**right)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min"])
def test_reductions(name: str) -> None:
    for _ in range(60):
        shape = tuple(random.choice([1, 2, 3, 5]) for _ in range(random.randint(0, 4)))
        host = onp.random.randint(0, 50, shape).astype(random.choice(TYPES[:7]))
        axes = random.sample(range(-len(shape), 0), random.randint(0, len(shape)))
        axis: Any = random.choice([None, tuple(axes)])
        keepdims = random.random() < 0.5
        ours = getattr(np, name)(np.array(host), axis=axis, keepdims=keepdims)
        expected = getattr(onp, name)(host, axis=axis, keepdims=keepdims)
        if name == "sum":
            expected = expected.astype(host.dtype)  # the type stays, as in MXNet
        if name == "mean" and host.dtype.kind != "f":
            assert ours.dtype == "float32"
            onp.testing.assert_allclose(ours.asnumpy(), expected, rtol=1e-6)
        else:
            close(ours, expected)


def test_reduction_types() -> None:
    flags = np.array([True, False, True], dtype="bool")
    assert (np.sum(flags).dtype, np.sum(flags).item()) == ("int64", 2)
    assert np.mean(flags).dtype == "float32"
    assert np.sum(np.ones((3,)), dtype="float64").dtype == "float64"
    assert np.sum(np.ones((2, 3)), axis=0, out=np.zeros((3,))).asnumpy().tolist() == [2, 2, 2]
    assert onp.isnan(np.mean(np.zeros((0,))).item())
    assert np.sum(np.zeros((0, 3)), axis=1).shape == (0,)
    with pytest.raises(ValueError, match="nothing to reduce"):
        np.max(np.zeros((0,)))


def test_norms() -> None:
    vector = onp.array([3.0, -4.0, 0.0])
    for order in (None, 1, 2, 3, 0, onp.inf, -onp.inf):
        close(np.linalg.norm(np.array(vector), ord=order), onp.linalg.norm(vector, ord=order))
    matrix = onp.arange(6.0).reshape(2, 3) - 2
    for order in (None, "fro", 1, -1, onp.inf, -onp.inf):
        for keepdims in (False, True):
            close(
                np.linalg.norm(np.array(matrix), ord=order, keepdims=keepdims),
                onp.linalg.norm(matrix, ord=order, keepdims=keepdims),
            )
    cube = onp.arange(24.0).reshape(2, 3, 4)
    close(np.linalg.norm(np.array(cube), 1, (0, 2)), onp.linalg.norm(cube, 1, (0, 2)))
    close(np.linalg.norm(np.array(cube), axis=1), onp.linalg.norm(cube, axis=1))
    close(np.linalg.norm(np.array(matrix), ord=2), onp.linalg.norm(matrix, ord=2))
    for axis in (None, -1, (0,), (2, 0)):
        for keepdims in (False, True):
            close(
                np.linalg.norm(np.array(cube), axis=axis, keepdims=keepdims),
                onp.linalg.norm(cube, axis=axis, keepdims=keepdims),
            )
    with pytest.raises(ValueError, match="one axis or two"):
        np.linalg.norm(np.array(cube), axis=(0, 1, 2))
    with pytest.raises(TypeError, match="axis must be"):
        np.linalg.norm(np.array(cube), axis=[0])


@pytest.mark.parametrize("place", [0, 1023, 1024, 500_000, 999_999, None])
def test_one_of_many_truth_values_decides(place: int | None) -> None:
    some = onp.zeros(1_000_000, bool)
    if place is not None:
        some[place] = True
    assert np.any(np.array(some, dtype="bool")).item() is (place is not None)
    assert np.all(np.array(~some, dtype="bool")).item() is (place is None)
    # What is read has not been computed yet.
    numbers = np.array(some, dtype="float32")
    assert np.any(numbers > 0.5).item() is (place is not None)
    assert np.all((numbers + 1) < 1.5).item() is (place is None)


@pytest.mark.parametrize(
    ("left", "right"),
    [((), (2, 3)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)),
     ((2, 3, 4), (4, 2)), ((2, 3, 4), (5, 4, 2)), ((2, 0), (0, 3)), ((0, 2), (2, 3))],
)  # fmt: skip
def test_dot(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = onp.array(onp.random.rand(*left)), onp.array(onp.random.rand(*right))
    close(np.dot(np.array(a), np.array(b)), onp.dot(a, b))
    if len(left) and len(right) in (1, 2):
        close(np.array(a) @ np.array(b), a @ b)
        close(a @ np.array(b), a @ b)


def test_shapes() -> None:
    for _ in range(60):
        shape = tuple(random.choice([0, 1, 2, 3]) for _ in range(random.randint(1, 4)))
        host = onp.random.rand(*shape).astype("float32")
        x = np.array(host)
        order = random.sample(range(len(shape)), len(shape))
        close(np.transpose(x, order), onp.transpose(host, order))
        close(x.T, host.T)
        close(np.expand_dims(x, order[0]), onp.expand_dims(host, order[0]))
        close(np.squeeze(x), onp.squeeze(host))
        close(np.ravel(x), onp.ravel(host))
        close(x.reshape(-1) if host.size else x.reshape((0,)), host.reshape(host.size))
        close(np.swapaxes(x, 0, -1), onp.swapaxes(host, 0, -1))
        close(np.broadcast_to(x, (2, *shape)), onp.broadcast_to(host, (2, *shape)))
        axis = random.randrange(-len(shape), len(shape))
        close(np.concatenate([x, x], axis=axis), onp.concatenate([host, host], axis=axis))
        close(np.stack([x, x], axis=axis), onp.stack([host, host], axis=axis))
    close(np.concatenate([np.ones((2, 1)), np.zeros((3,))], axis=None), [1, 1, 0, 0, 0])


def test_creation() -> None:
    assert np.full((2,), True).dtype == "bool"
    assert np.full((2, 2), np.array([1, 2], dtype="int64")).asnumpy().tolist() == [[1, 2], [1, 2]]
    assert np.full_like(np.ones((2,), dtype="int8"), 7.5).asnumpy().tolist() == [7, 7]
    assert np.empty_like(np.ones((2,), dtype="int8")).dtype == "int8"
    assert np.zeros_like(np.ones((2,)), dtype="int32").dtype == "int32"
    values, step = np.linspace(0, 1, 5, retstep=True)
    assert step == 0.25
    close(values, onp.linspace(0, 1, 5))
    for n, m, k in ((3, None, 0), (2, 4, 1), (4, 2, -1), (2, 2, 5), (3, 3, -3)):
        close(np.eye(n, m, k), onp.eye(n, m, k))
    assert np.arange(0).shape == (0,)
    assert np.array([np.array([1, 2]), np.array([3, 4])]).shape == (2, 2)
    for dtype in ("uint16", "complex64"):
        with pytest.raises(KeyError):
            np.array(onp.zeros(2, dtype))
    with pytest.raises(ValueError, match="as_np_ndarray"):
        np.array(mx.nd.ones((2,)))
    with pytest.raises(NotImplementedError):
        np.zeros((2,), order="F")
    with pytest.raises(ZeroDivisionError):
        np.arange(3, step=0)


def test_mixed_types() -> None:
    small = np.array([200, 1], dtype="uint8") + np.array([-1, 1], dtype="int8")
    assert (small.dtype, small.asnumpy().tolist()) == ("int32", [199, 2])
    assert (np.ones((1,), dtype="float16") + np.ones((1,), dtype="int64")).dtype == "float16"
    assert (np.ones((1,), dtype="int32") == np.ones((1,), dtype="int64")).dtype == "bool"
    joined = np.concatenate([np.ones((1,)), np.ones((1,), dtype="int32")])
    assert joined.dtype == "float32"


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64"])
def test_bits(dtype: str) -> None:
    left = onp.array([0, 1, 3, 255]).astype(dtype)
    right = onp.array([1, 1, 5, 0]).astype(dtype)
    x, y = np.array(left), np.array(right)
    close(x & y, left & right)
    close(x | y, left | right)
    close(x ^ y, left ^ right)
    close(~x, ~left)
    close(np.bitwise_and(x, y, out=np.zeros((4,), dtype=dtype)), left & right)
    if dtype != "bool":
        close(x & 1, left & 1)
        close(1 | x, 1 | left)
    with pytest.raises(TypeError, match="floats"):
        np.ones((4,)) & x


def test_constants_and_types() -> None:
    assert (np.pi, np.e, np.inf, np.newaxis) == (onp.pi, onp.e, onp.inf, None)
    assert onp.isnan(np.nan)
    for name in TYPES[:7]:
        assert getattr(np, name) is getattr(onp, name)
    assert np.bool is np.bool_ is onp.bool_


def test_methods_that_np_arrays_do_not_have() -> None:
    x = np.ones((2, 2))
    for name in ("exp", "asscalar", "slice", "relu", "norm", "expand_dims", "zeros_like"):
        assert not hasattr(x, name)
        with pytest.raises(AttributeError, match=name):
            getattr(x, name)

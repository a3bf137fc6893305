# SPDX-License-Identifier: Apache-2.0
"""``np.where``, ``np.clip``, ``np.square`` and powers against NumPy."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd, np

TYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool")
TOLERANCE = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-13}
nan, inf = float("nan"), float("inf")


def check(ours: Any, expected: Any) -> None:
    """Equal shape, type, values and signs of zeros."""
    host = ours.asnumpy()
    expected = onp.asarray(expected)
    assert (host.shape, host.dtype) == (expected.shape, expected.dtype)
    onp.testing.assert_allclose(host, expected, rtol=TOLERANCE.get(host.dtype.name, 0), atol=0)
    if host.dtype.kind == "f":
        zeros = host == 0
        assert (onp.signbit(host) == onp.signbit(expected))[zeros].all()


def host_values(shape: tuple[int, ...], dtype: str) -> onp.ndarray:
    return onp.random.randint(0, 9, shape).astype(dtype)


# --- where ---


@pytest.mark.parametrize("condition_type", TYPES)
@pytest.mark.parametrize("value_type", TYPES)
def test_where_of_each_type(condition_type: str, value_type: str) -> None:
    condition = onp.random.randint(0, 2, (3, 5)).astype(condition_type)
    x, y = host_values((3, 5), value_type), host_values((3, 5), value_type)
    check(np.where(np.array(condition), np.array(x), np.array(y)), onp.where(condition, x, y))


def test_where_of_random_shapes() -> None:
    for _ in range(60):
        shape = [random.choice([1, 2, 3, 70]) for _ in range(random.randint(0, 3))]
        hosts = []
        for _ in range(3):
            stretched = [1 if random.random() < 0.3 else extent for extent in shape]
            hosts.append(host_values(tuple(stretched[random.randint(0, 1) :]), "float32"))
        condition, x, y = hosts
        condition = condition > 4
        check(np.where(*map(np.array, (condition, x, y))), onp.where(condition, x, y))


def test_where_of_views() -> None:
    x = onp.arange(24, dtype="float32").reshape(4, 6)
    ours = np.array(x)
    check(np.where(ours.T > 7, ours.T, ours.T[::-1]), onp.where(x.T > 7, x.T, x.T[::-1]))
    check(np.where(ours[1] > 7, ours[2], ours[3]), onp.where(x[1] > 7, x[2], x[3]))


def test_where_asks_in_the_type_of_the_condition() -> None:
    tiny = np.array([1e-300, 0, nan], dtype="float64")
    assert np.where(tiny, np.ones(3), np.zeros(3)).tolist() == [1, 0, 1]
    assert np.where(tiny, 1, 0).tolist() == [1, 0, 1]
    large = np.array([2**32, 2**40, 0], dtype="int64")
    assert np.where(large, *np.array([[1] * 3, [2] * 3], dtype="int32")).tolist() == [1, 1, 2]
    assert np.where(large, *np.array([[1] * 3, [2] * 3], dtype="uint8")).tolist() == [1, 1, 2]
    half = np.array([0.25, 0, -0.0])
    assert np.where(half, 1, np.array([2, 2, 2], dtype="int32")).tolist() == [1, 2, 2]


def test_where_of_different_types_answers_in_the_common_one() -> None:
    mask = np.array([1, 0], dtype="bool")
    ours = np.where(mask, np.array([1, 2], dtype="int32"), np.array([0.5, 1.5]))
    assert (ours.dtype, ours.tolist()) == (onp.float32, [1, 1.5])
    ours = np.where(mask, np.array([1, 2], dtype="uint8"), np.array([-1, -2], dtype="int8"))
    assert (ours.dtype, ours.tolist()) == (onp.int32, [1, -2])


def test_where_with_numbers() -> None:
    mask = np.array([True, False])
    assert np.where(mask, 1, 2.5).dtype == onp.float32
    exact = np.where(mask, 2**53 + 1, np.array([5, 6], dtype="int64"))
    assert exact.tolist() == [2**53 + 1, 6]
    x, y = np.ones((2,)), np.zeros((3,))
    assert np.where(1, x, y) is x
    assert np.where(onp.float32(0), x, y) is y


def test_where_of_nothing() -> None:
    assert np.where(np.zeros((0, 3)), np.ones((3,)), 1).shape == (0, 3)
    assert np.where(np.zeros((0,)), np.zeros((1,)), np.zeros((0,))).shape == (0,)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: np.where(np.ones((2,)), 1), TypeError, r"\[where\].*both"),
        (lambda: np.where(np.ones((2,)), np.ones((3,)), 1), ValueError, r"\[where\].*\(3,\)"),
        (lambda: np.where([1, 0], 1, 2), TypeError, "condition"),
        (lambda: np.where(np.ones((2,)), [1, 2], 1), TypeError, "list"),
        (lambda: np.where(nd.ones((2,)), np.ones((2,)), 1), TypeError, r"\[where\].*converts it"),
        (lambda: np.where(np.ones((2,)), nd.ones((2,)), 1), TypeError, r"\[where\].*converts it"),
    ],
)
def test_where_refuses(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


# --- clip ---


@pytest.mark.parametrize("dtype", TYPES[:7])
def test_clip_of_each_type(dtype: str) -> None:
    for low, high in ((2, 6), (6, 2), (0, 0), (3, 100)):
        host = host_values((3, 70), dtype)
        # Where low > high, MXNet looks at the upper bound first.
        expected = onp.where(host > high, high, onp.where(host < low, low, host)).astype(dtype)
        check(np.clip(np.array(host), low, high), expected)
        check(np.array(host).clip(low, high), expected)
        check(np.array(host).T.clip(low, high), expected.T)
        if low <= high:
            assert (expected == onp.clip(host, low, high)).all()


def test_clip_without_a_bound() -> None:
    for dtype in TYPES[:7]:
        host = onp.array([0, 3, 100]).astype(dtype)
        check(np.clip(np.array(host), None, 5), onp.clip(host, None, 5).astype(dtype))
        check(np.clip(np.array(host), 5, None), onp.clip(host, 5, None).astype(dtype))
        check(np.array(host).clip(max=5), onp.clip(host, None, 5).astype(dtype))


def test_clip_of_special_values() -> None:
    host = onp.array([nan, -inf, inf, -0.0, 0.0, 1.5], "float32")
    check(np.clip(np.array(host), 0, 1), onp.array([nan, 0, 1, -0.0, 0, 1], "float32"))
    check(np.clip(np.array(host), nan, nan), host)
    check(np.clip(np.array(host), -inf, inf), host)
    exact = np.clip(np.array([0, 1], dtype="float64"), 0.1, 0.3)
    assert exact.tolist() == [0.1, 0.3]


def test_clip_of_integers_with_bounds_out_of_reach() -> None:
    bytes_ = np.array([0, 7, 255], dtype="uint8")
    assert np.clip(bytes_, -1, 300).tolist() == [0, 7, 255]
    assert np.clip(bytes_, 300, 400).tolist() == [255, 255, 255]
    assert np.clip(bytes_, -inf, 10.9).tolist() == [0, 7, 10]
    assert np.clip(bytes_, 1e30, inf).tolist() == [255, 255, 255]
    assert np.clip(bytes_, nan, 5).tolist() == [0, 5, 5]
    wide = np.array([-(2**63), 2**53 + 1, 2**63 - 1], dtype="int64")
    assert np.clip(wide, -(10**30), 10**30).tolist() == wide.tolist()
    assert np.clip(wide, -1.9, 2**53 + 1).tolist() == [-1, 2**53 + 1, 2**53 + 1]


def test_clip_takes_numbers_of_all_kinds() -> None:
    x = np.array([1, 2, 3])
    assert np.clip(x, onp.float32(1.5), onp.int64(2)).tolist() == [1.5, 2, 2]
    assert np.clip(x, np.array(1.5), np.array(2, dtype="int32")).tolist() == [1.5, 2, 2]
    assert np.clip(onp.array([1, 2, 3]), 0, 2).tolist() == [1, 2, 2]
    assert np.clip(5, 0, 2) == 2


def test_clip_into_out() -> None:
    x, out = np.array([1, 2, 3]), np.zeros((3,))
    assert np.clip(x, 2, 2.5, out=out) is out
    assert out.tolist() == [2, 2, 2.5]
    assert x.clip(2, None, out=x) is x
    assert x.tolist() == [2, 2, 3]
    rows = np.zeros((2, 3))
    np.clip(x, 0, 2, out=rows[1])
    assert rows.tolist() == [[0, 0, 0], [2, 2, 2]]


def test_clip_of_nothing() -> None:
    assert np.clip(np.zeros((0, 2)), 0, 1).shape == (0, 2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: np.clip(np.ones((2,)), None, None), ValueError, r"\[clip\].*a_min or a_max"),
        (lambda: np.clip(np.ones((2,)), [1, 2], 2), TypeError, r"\[clip\] a_min must be a number"),
        (lambda: np.clip(np.ones((2,)), 1, np.ones((2,))), TypeError, r"\[clip\] a_max must be"),
        (lambda: np.clip(np.ones((2,)), "1", 2), TypeError, r"\[clip\] a_min must be a number"),
        (lambda: np.clip([1, 2], 0, 1), TypeError, "data"),
        (lambda: np.clip(np.ones((2,), dtype="bool"), 0, 1), TypeError, r"\[clip\].*booleans"),
        (lambda: np.clip(np.ones((2,)), 0, 1, out=np.ones((3,))), ValueError, r"\[clip\] out has"),
    ],
)
def test_clip_refuses(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
    with pytest.raises(mx.MXNetError, match=text):
        call()


# --- square and powers ---


@pytest.mark.parametrize("dtype", TYPES[:7])
def test_square(dtype: str) -> None:
    host = host_values((3, 70), dtype)
    check(np.square(np.array(host)), onp.square(host))
    check(np.square(np.array(host).T), onp.square(host.T))
    assert np.square(np.zeros((0, 2), dtype=dtype)).shape == (0, 2)
    out = np.zeros((3, 70), dtype=dtype)
    assert np.square(np.array(host), out=out) is out
    check(out, onp.square(host))
    assert np.square(3) == 9
    assert not hasattr(out, "square")


def test_square_of_booleans() -> None:
    assert np.square(np.ones((2,), dtype="bool")).dtype == onp.bool_
    with pytest.raises(TypeError, match=r"\[square\].*booleans"):
        nd.square(nd.ones((2,), dtype="bool"))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 1.0, 2.0, 3.0, True])
@pytest.mark.parametrize("dtype", TYPES[:7])
def test_powers_of_each_type(dtype: str, exponent: float) -> None:
    host = onp.array([[0, 1, 2], [3, 5, 4]]).astype(dtype)
    if dtype != "uint8":
        host[0] *= onp.array(-1).astype(dtype)
    expected = host ** onp.array(int(exponent)).astype(dtype)
    check(np.array(host) ** exponent, expected)
    check(np.array(host).T ** exponent, expected.T)
    ours = np.array(host)
    ours **= exponent
    check(ours, expected)


@pytest.mark.parametrize("exponent", [-1, 0, 0.5, 1, 2, 2.5, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_of_special_values(dtype: str, exponent: float) -> None:
    host = onp.array([-0.0, 0.0, -inf, inf, nan, -1.5, 1e25, -1e25, 1e-25, 2], dtype)
    with onp.errstate(all="ignore"):
        expected = onp.power(host, onp.full_like(host, exponent))  # a number 0.5 would be a root
    check(np.array(host) ** exponent, expected)


def test_powers_of_integers_cut_the_exponent_and_wrap() -> None:
    assert (np.array([3, -3], dtype="int32") ** 2.9).tolist() == [9, 9]
    assert (np.array([3, 7], dtype="int32") ** 0.5).tolist() == [1, 1]
    assert (np.array([46341], dtype="int32") ** 2).tolist() == [46341**2 - 2**32]
    assert (np.array([20], dtype="int8") ** 3).tolist() == [8000 % 256]
    assert (np.array([True, False], dtype="bool") ** 2).dtype == onp.int64


def test_the_first_power_is_a_copy() -> None:
    x = np.array([1, 2])
    y = x**1
    y[:] = 0
    assert x.tolist() == [1, 2]
    assert (np.array([True, False], dtype="bool") ** 1).tolist() == [1, 0]

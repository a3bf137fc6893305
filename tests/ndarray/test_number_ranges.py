# SPDX-License-Identifier: Apache-2.0
"""Python's numbers beside arrays of integers: exact, or an error; never another number."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd, np
from afterglow.error import ArrayOverflowError

WORLDS = [nd, np]
KINDS = ["uint8", "int8", "int32", "int64"]
COMPARISONS = [
    operator.lt,
    operator.le,
    operator.eq,
    operator.ne,
    operator.gt,
    operator.ge,
]
NUMBERS: list[Any] = [
    *(-(2**70), -(2**63) - 1, -(2**63), -(2**31) - 1, -(2**31), -129, -128, -1, 0, 1, 127, 128),
    *(255, 256, 2**31 - 1, 2**31, 2**32 + 1, 2**53 + 1, 2**63 - 1, 2**63, 2**70),
    *(-math.inf, -1e30, -(2.0**63), -128.5, -0.5, 0.5, 1.5, 127.5, 255.5, 2.0**31, 2.0**63, 1e30),
    *(math.inf, math.nan),
]


def elements(kind: str) -> list[int]:
    """Return the ends of a type, and numbers between them."""
    limits = onp.iinfo(kind)
    return [limits.min, limits.min + 1, 0, 1, 2, 127, limits.max - 1, limits.max]


def test_class_of_the_error() -> None:
    assert issubclass(ArrayOverflowError, mx.MXNetError)
    assert issubclass(ArrayOverflowError, OverflowError)


def refused(action: Callable[[], Any]) -> None:
    with pytest.raises(ArrayOverflowError):
        action()


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("kind", KINDS)
def test_comparisons_are_exact(world: Any, kind: str) -> None:
    values = elements(kind)
    x = world.array(onp.array(values, kind), dtype=kind)
    for number in NUMBERS:
        for compare in COMPARISONS:
            expected = [compare(value, number) for value in values]
            assert compare(x, number).asnumpy().tolist() == expected, (compare, number)
            mirrored = [compare(number, value) for value in values]
            assert compare(number, x).asnumpy().tolist() == mirrored, (compare, number)
    # The op itself takes the number on the left too.
    less = world.lesser if world is nd else world.less
    assert less(2**40, x).asnumpy().tolist() == [value > 2**40 for value in values]


@pytest.mark.parametrize("kind", KINDS)
def test_comparisons_are_those_of_numpy(kind: str) -> None:
    host = onp.array(elements(kind), kind)
    x = np.array(host)
    for number in (n for n in NUMBERS if isinstance(n, int)):
        for compare in COMPARISONS:
            assert compare(x, number).asnumpy().tolist() == compare(host, number).tolist()


ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.mod, operator.pow]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("kind", KINDS)
def test_arithmetic_takes_what_the_type_holds(world: Any, kind: str) -> None:
    host = onp.array([1, 2, 3], kind)
    x = world.array(host, dtype=kind)
    limits = onp.iinfo(kind)
    for number in (limits.min, limits.max):
        onp.testing.assert_array_equal((x * number).asnumpy(), host * number)
        onp.testing.assert_array_equal((number - x).asnumpy(), number - host)
    for number in (limits.min - 1, limits.max + 1, 2**70, -(2**70), 1e30, math.inf, math.nan):
        for operation in ARITHMETIC:
            refused(lambda: operation(x, number))  # noqa: B023
            refused(lambda: operation(number, x))  # noqa: B023
        refused(lambda: world.maximum(x, number))  # noqa: B023
    assert x.asnumpy().tolist() == [1, 2, 3]


def in_place(x: Any, number: Any) -> None:
    x += number


def store(key: Any) -> Callable[[Any, Any], None]:
    return lambda x, number: x.__setitem__(key, number)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(
    "write",
    [
        in_place,
        store(0),
        store(slice(None)),
        store([0, 1]),
        lambda x, number: x.__setitem__([0, 1], [number, 1]),
        lambda x, number: x.__setitem__(slice(2), [1, number]),
        lambda x, number: x.__setitem__(x._copy(x), number),
    ],
)
@pytest.mark.parametrize("number", [2**31, -(2**40), 2**70])
def test_writes_store_the_number_or_nothing(world: Any, write: Any, number: Any) -> None:
    x = world.array([0, 1, 2], dtype="int32")
    refused(lambda: write(x, number))
    assert x.asnumpy().tolist() == [0, 1, 2]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("number", "kind"), [(2**40, "int32"), (-1, "uint8"), (2**63, "int64")])
def test_new_arrays_hold_their_numbers(world: Any, number: int, kind: str) -> None:
    refused(lambda: world.full((2,), number, dtype=kind))
    refused(lambda: world.array([1, number], dtype=kind))
    refused(lambda: world.array(number, dtype=kind))
    refused(lambda: world.arange(number, number + 3, dtype=kind))
    refused(lambda: world.linspace(0, number, 3, dtype=kind))
    refused(lambda: world.array([[1, 2], [number, 1]], dtype=kind))
    # NumPy's arrays are cast, as NumPy does it.
    host = onp.array([2**40 + 5, -1])
    cast = world.array(host, dtype="uint8")
    assert cast.asnumpy().tolist() == host.astype("uint8").tolist()


def test_numbers_of_np_functions() -> None:
    x = np.array([1, 2, 3], dtype="uint8")
    for number in (-1, 256):
        refused(lambda: np.where(x > 1, x, number))  # noqa: B023
        refused(lambda: np.full_like(x, number))  # noqa: B023
        refused(lambda: np.bitwise_or(x, number))  # noqa: B023
        refused(lambda: x.__ixor__(number))  # noqa: B023
        refused(lambda: mx.npx.one_hot(x, 4, on_value=number, dtype="uint8"))  # noqa: B023
    refused(lambda: np.arange(-1, 3, dtype="uint8"))
    refused(lambda: np.arange(300, dtype="uint8"))
    assert np.arange(256, dtype="uint8").asnumpy()[-1] == 255
    assert np.clip(x, -5, 2**70).asnumpy().tolist() == [1, 2, 3]
    wide = x.astype("int64")
    assert np.ediff1d(wide, 2**53 + 1, 2**62 + 1).tolist() == [2**62 + 1, 1, 1, 2**53 + 1]


@pytest.mark.parametrize("world", WORLDS)
def test_floats_take_integers_of_any_size(world: Any) -> None:
    x = world.array([1, 2])
    onp.testing.assert_array_equal((x + 2**70).asnumpy(), onp.float32([2**70] * 2))
    half = world.array([1, 2], dtype="float16")
    assert (half + 10**6).asnumpy().tolist() == [math.inf] * 2
    assert (half + 1e6).asnumpy().tolist() == [math.inf] * 2
    refused(lambda: x * 10**400)
    refused(lambda: x < 10**400)
    refused(lambda: world.array([10**400]))


@pytest.mark.parametrize("world", WORLDS)
def test_truth_values_take_any_number(world: Any) -> None:
    x = world.array([0, 1], dtype="bool")
    x[0] = 300
    assert x.asnumpy().tolist() == [True, True]
    assert (x + 300).asnumpy().tolist() == [301, 301]
    assert (x < 2**70).asnumpy().all()


def test_recorded_and_hybridized_comparisons_are_exact() -> None:
    x = nd.array([1, 2, 3], dtype="int32")
    with mx.autograd.record():
        assert (x > 1.5).asnumpy().tolist() == [0, 1, 1]
    net = mx.gluon.nn.HybridLambda(lambda F, x: x < 2**40)
    net.hybridize()
    for _ in range(3):
        assert net(x).asnumpy().tolist() == [1, 1, 1]

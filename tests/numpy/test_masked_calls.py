# SPDX-License-Identifier: Apache-2.0
"""``where`` and ``initial`` of np functions, truth values as numbers, and other odd operands."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import memory, nd, np
from afterglow.error import ArrayTypeError, ArrayValueError

HOST = onp.array([[3, 1, 4], [1, 5, 9]], "float32")
MASK = onp.array([[True, False, True], [False, False, True]])


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "less"])
def test_elements_that_a_mask_names(name: str) -> None:
    x, mask = np.array(HOST), np.array(MASK)
    ours, theirs = getattr(np, name), getattr(onp, name)
    kind = "bool" if name == "less" else "float32"
    out = np.ones((2, 3), dtype=kind)
    expected = onp.ones((2, 3), kind)
    assert ours(x, 2, out=out, where=mask) is out
    theirs(HOST, onp.float32(2), out=expected, where=MASK)
    onp.testing.assert_array_equal(out.asnumpy(), expected)
    for given in (mask, MASK, MASK.tolist()):
        result = ours(x, 2, where=given)
        zeros = onp.zeros((2, 3), kind)
        onp.testing.assert_array_equal(result.asnumpy(), theirs(HOST, 2, out=zeros, where=MASK))
    assert ours(x, 2, where=True).asnumpy().tolist() == theirs(HOST, 2).tolist()
    with pytest.raises(NotImplementedError, match="where=False leaves all out"):
        ours(x, 2, where=False)
    assert ours(x, 2, out=out, where=False).asnumpy().tolist() == expected.tolist()
    row = np.exp(x, where=mask[0])
    onp.testing.assert_allclose(
        row.asnumpy(), onp.exp(HOST, out=onp.zeros_like(HOST), where=MASK[0]), rtol=1e-6
    )
    assert ours(x, 2, where=x).asnumpy().tolist() == theirs(HOST, 2).tolist()  # none is 0


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "any", "all"])
def test_reductions_of_some_elements(name: str, axis: Any, keepdims: bool) -> None:
    options: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    ours, theirs = getattr(np, name), getattr(onp, name)
    initials: list[dict[str, Any]] = [{"initial": 2}, {"initial": 100}]
    if name in ("mean", "any", "all"):
        initials = [{}]
    x, mask = np.array(HOST), np.array(MASK)
    for initial in initials:
        with onp.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):
            masked = theirs(HOST, where=MASK, **options, **initial)
            row = theirs(HOST, where=MASK[0], **options, **initial)
        whole = theirs(HOST, **options, **initial)
        onp.testing.assert_allclose(ours(x, where=mask, **options, **initial).asnumpy(), masked)
        onp.testing.assert_allclose(ours(x, where=MASK[0], **options, **initial).asnumpy(), row)
        onp.testing.assert_allclose(ours(x, **options, **initial).asnumpy(), whole)


def test_reductions_that_need_a_first_number() -> None:
    x = np.array(HOST)
    for reduce in (np.max, np.min):
        with pytest.raises(ArrayValueError):
            reduce(x, where=np.array(MASK))
        assert reduce(np.zeros((0,)), initial=5).item() == 5
    with pytest.raises(ArrayValueError):
        np.sum(x, where=np.array([True, False]))
    with pytest.raises(OverflowError):
        np.max(np.array([1], dtype="int8"), initial=300)
    assert np.sum(np.zeros((0,)), initial=5).item() == 5


@pytest.mark.parametrize(
    "name", ["abs", "square", "floor", "ceil", "trunc", "rint", "exp", "sqrt", "sin", "log1p"]
)
def test_functions_of_truth_values(name: str) -> None:
    host = onp.array([True, False])
    result = getattr(np, name)(np.array(host))
    expected = getattr(onp, name)(host)
    kept = name in ("abs", "square", "floor", "ceil", "trunc")
    assert result.dtype == (onp.bool_ if kept else onp.float32) or name == "rint"
    onp.testing.assert_allclose(
        result.asnumpy().astype("float32"), expected.astype("float32"), rtol=1e-3
    )
    with pytest.raises(ArrayTypeError):
        getattr(nd, name)(nd.array(host, dtype="bool"))


def test_operators_of_truth_values() -> None:
    host, other = onp.array([True, False, True]), onp.array([True, True, False])
    x, y = np.array(host), np.array(other)
    for name in ("maximum", "minimum", "add", "multiply"):
        result = getattr(np, name)(x, y)
        assert result.dtype == onp.bool_
        assert result.asnumpy().tolist() == getattr(onp, name)(host, other).tolist()
    for refused in (lambda: x - y, lambda: np.sign(x), lambda: x % y):
        with pytest.raises(ArrayTypeError):
            refused()


def test_least_common_multiples_of_mixed_types() -> None:
    left, right = onp.array([4, 250], "uint8"), onp.array([6, -7], "int8")
    result = np.lcm(np.array(left), np.array(right))
    assert result.dtype == onp.int32
    assert result.asnumpy().tolist() == onp.lcm(left, right).tolist()
    with pytest.raises(OverflowError):
        np.lcm(np.array(left), 300)


class Second:
    def __index__(self) -> int:
        return 1


@pytest.mark.parametrize("front", [nd, np])
def test_keys_that_can_be_integers(front: Any) -> None:
    x = front.array(HOST)
    second = Second()
    onp.testing.assert_array_equal(x[second].asnumpy(), HOST[1])
    onp.testing.assert_array_equal(x[second, second].asnumpy().item(), 5)
    onp.testing.assert_array_equal(x[:, second:].asnumpy(), HOST[:, 1:])
    x[0, second] = 7
    assert x.asnumpy()[0, 1] == 7
    with pytest.raises(mx.MXNetError):
        x["a"]


def test_limits_of_memory() -> None:
    memory.set_limit(10**9)
    assert memory.limit() == 10**9
    memory.set_limit(math.inf)
    assert memory.limit() is None
    memory.set_limit(1e9)
    assert memory.limit() == 10**9
    memory.set_limit(2**70)
    assert memory.limit() == 2**63 - 1
    memory.set_limit(None)
    for wrong in (0, -1, math.nan, -math.inf):
        with pytest.raises(ArrayValueError):
            memory.set_limit(wrong)
    with pytest.raises(ArrayTypeError):
        memory.set_limit("1 GB")  # type: ignore[arg-type]
    assert memory.limit() is None

# SPDX-License-Identifier: Apache-2.0
"""``nd.where``, ``nd.clip``, ``nd.square`` and chains of methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd

TYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64")


@pytest.mark.parametrize("condition_type", [*TYPES, "bool"])
@pytest.mark.parametrize("dtype", [*TYPES, "bool"])
def test_where(condition_type: str, dtype: str) -> None:
    condition = onp.random.randint(0, 2, (3, 5)).astype(condition_type)
    x, y = onp.random.randint(0, 9, (2, 3, 5)).astype(dtype)
    ours = nd.where(*(nd.array(a, dtype=a.dtype) for a in (condition, x, y)))
    assert type(ours) is nd.NDArray
    assert ours.dtype == x.dtype
    assert (ours.asnumpy() == onp.where(condition, x, y)).all()


def test_where_chooses_rows() -> None:
    x = onp.arange(24, dtype="float32").reshape(4, 3, 2)
    condition = onp.array([1, 0, 0, 2], "float32")
    expected = onp.where(condition[:, None, None], x, -x)
    for dtype in ("float32", "float64", "int32"):
        ours = nd.where(nd.array(condition, dtype=dtype), nd.array(x), -nd.array(x))
        assert (ours.asnumpy() == expected).all()
    one = nd.where(nd.array([0]), nd.ones((1, 3)), nd.zeros((1, 3)))
    assert one.asnumpy().tolist() == [[0, 0, 0]]
    views = nd.where(nd.array(condition)[1:3], nd.array(x)[1:3], -nd.array(x)[1:3])
    assert (views.asnumpy() == expected[1:3]).all()


def test_where_asks_in_the_type_of_the_condition() -> None:
    condition = nd.array([1e-300, 0, 0.5], dtype="float64")
    for dtype in TYPES:
        ours = nd.where(condition, nd.ones((3,), dtype=dtype), nd.zeros((3,), dtype=dtype))
        assert ours.asnumpy().tolist() == [1, 0, 1]


def test_where_into_out() -> None:
    condition, x, y = nd.array([1, 0]), nd.array([1, 2]), nd.array([5, 6])
    out = nd.zeros((2,))
    assert nd.where(condition, x, y, out=out) is out
    assert out.asnumpy().tolist() == [1, 6]
    nd.where(condition, x, y, out=y)
    assert y.asnumpy().tolist() == [1, 6]
    nd.where(condition, x, y, out=condition)
    assert condition.asnumpy().tolist() == [1, 6]


def test_where_of_nothing() -> None:
    assert nd.where(nd.zeros((0, 2)), nd.zeros((0, 2)), nd.zeros((0, 2))).shape == (0, 2)
    assert nd.where(nd.zeros((0,)), nd.zeros((0, 2)), nd.zeros((0, 2))).shape == (0, 2)


def _ones(*shape: int, dtype: str = "float32") -> Any:
    return nd.ones(shape, dtype=dtype)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nd.where(_ones(2), _ones(2), _ones(2, 2)), r"\[where_rows\].*\(2, 2\) float32"),
        (
            lambda: nd.where(_ones(1, 2), _ones(2, 2), _ones(2, 2)),
            r"\[where_rows\].*one value per row",
        ),
        (
            lambda: nd.where(_ones(3), _ones(2, 3), _ones(2, 3)),
            r"\[where_rows\].*one value per row",
        ),
        (lambda: nd.where(_ones(1), _ones(2), _ones(2)), r"\[where_rows\].*one value per row"),
        (
            lambda: nd.where(_ones(2), _ones(2), _ones(2, dtype="int32")),
            r"\[where_rows\].*same type",
        ),
        (lambda: nd.where(_ones(2), _ones(2), 1), "Argument y must have NDArray type"),
        (lambda: nd.where(1, _ones(2), _ones(2)), "Argument condition must have NDArray type"),
        (lambda: nd.where(_ones(2), _ones(2), mx.np.ones((2,))), r"\[where_rows\].*converts it"),
        (
            lambda: nd.where(_ones(2), _ones(2), _ones(2), out=_ones(3)),
            r"\[where_rows\] copy: out has shape",
        ),
        (lambda: nd.clip(_ones(2), None, 1), r"\[clip\] a_min must be a number"),
        (lambda: nd.clip(_ones(2), 1, None), r"\[clip\] a_max must be a number"),
        (lambda: nd.clip(_ones(2), _ones(2), 1), r"\[clip\] a_min must be a number"),
        (lambda: nd.clip(2, 0, 1), "Argument data must have NDArray type"),
        (lambda: nd.clip(_ones(2, dtype="bool"), 0, 1), r"\[clip\].*booleans"),
        (lambda: nd.square(_ones(2, dtype="bool")), r"\[square\].*booleans"),
    ],
)
def test_refusals(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(mx.MXNetError, match=text):
        call()


@pytest.mark.parametrize("dtype", TYPES)
def test_clip_and_square(dtype: str) -> None:
    host = onp.arange(12).reshape(3, 4).astype(dtype)
    x = nd.array(host, dtype=dtype)
    for clipped in (
        nd.clip(x, 2, 7),
        x.clip(2, 7),
        x.clip(a_min=2, a_max=7.5 if dtype[0] in "ui" else 7),
    ):
        assert type(clipped) is nd.NDArray
        assert clipped.dtype == host.dtype
        assert (clipped.asnumpy() == host.clip(2, 7)).all()
    for squared in (nd.square(x), x.square(), x**2, x**2.0):
        assert squared.dtype == host.dtype
        assert (squared.asnumpy() == host * host).all()
    assert ((x**3).asnumpy() == host * host * host).all()


def test_clip_into_out() -> None:
    x, out = nd.array([1, float("nan"), 3]), nd.zeros((3,))
    assert nd.clip(x, 2, 2.5, out=out) is out
    onp.testing.assert_array_equal(out.asnumpy(), [2, float("nan"), 2.5])
    assert x.clip(0, 1, out=x) is x
    onp.testing.assert_array_equal(x.asnumpy(), [1, float("nan"), 1])


def test_chains_of_methods() -> None:
    host = onp.array([[0.5, 1], [2, 3]], "float32")
    x = nd.array(host)
    onp.testing.assert_allclose(x.exp().sqrt().asnumpy(), onp.sqrt(onp.exp(host)), rtol=1e-6)
    chain = x.square().sqrt().tanh().log().abs().relu().sigmoid().clip(0.5, 0.6)
    expected = (1 / (1 + onp.exp(onp.log(onp.tanh(host))))).clip(0.5, 0.6)
    onp.testing.assert_allclose(chain.asnumpy(), expected, rtol=1e-6)
    assert x.square().sum().log().shape == (1,)
    for name in ("where", "maximum", "negative", "power"):
        assert not hasattr(x, name)  # MXNet has no such methods

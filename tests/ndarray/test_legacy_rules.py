# SPDX-License-Identifier: Apache-2.0
"""Answers that only ``nd`` gives, and rules that differ from MXNet on purpose."""

from __future__ import annotations

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd

TYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64")


@pytest.mark.parametrize("dtype", TYPES)
def test_full_reductions_and_comparisons(dtype: str) -> None:
    x = nd.array([[1, 2], [3, 4]], dtype=dtype)
    for reduced in (nd.sum(x), x.mean(), x.max(), x.min(), x.norm()):
        assert (reduced.shape, reduced.dtype) == ((1,), x.dtype)
    compared = x > 2
    assert compared.dtype == x.dtype
    assert compared.asnumpy().tolist() == [[0, 0], [1, 1]]


def test_both_operands_have_one_type() -> None:
    with pytest.raises(mx.MXNetError, match=r"float32.*int32"):
        nd.ones((2,)) + nd.ones((2,), dtype="int32")


def test_classes_do_not_mix() -> None:
    for statement in (
        lambda: nd.ones((2,)) + mx.np.ones((2,)),
        lambda: mx.np.ones((2,)) + nd.ones((2,)),
        lambda: nd.exp(mx.np.ones((2,))),
        lambda: mx.np.exp(nd.ones((2,))),
        lambda: mx.np.dot(nd.ones((2,)), mx.np.ones((2,))),
    ):
        with pytest.raises(TypeError, match="converts it"):
            statement()


def test_integer_division_by_zero_ends_nothing() -> None:
    x = nd.array([7, -7, 0], dtype="int32")
    assert (x / 0).asnumpy().tolist() == [0, 0, 0]
    assert (x / nd.zeros((3,), dtype="int32")).asnumpy().tolist() == [0, 0, 0]
    assert (x % 0).asnumpy().tolist() == [0, 0, 0]
    assert (1 / nd.zeros((1,), dtype="int64")).asnumpy().tolist() == [0]


def test_zero_size_and_no_dimensions() -> None:
    empty = nd.zeros((0, 3))
    assert (empty + 1).shape == (0, 3)
    assert nd.sum(empty, axis=0).asnumpy().tolist() == [0, 0, 0]
    assert nd.concat(empty, nd.ones((2, 3)), dim=0).shape == (2, 3)
    assert bool(empty) is False
    scalar = nd.array(3)
    assert scalar.shape == ()
    assert float(scalar + 1) == 4
    with pytest.raises(ValueError, match="nothing to reduce"):
        nd.max(empty)


def test_sums_of_float16_do_not_stall() -> None:
    ones = nd.ones((5000,), dtype="float16")
    assert nd.sum(ones).asscalar() == 5000
    assert nd.mean(nd.ones((70000,), dtype="float16")).asscalar() == 1


def test_scalars() -> None:
    value = nd.array([2.5]).asscalar()
    assert isinstance(value, onp.float32)
    assert nd.array([[4]], dtype="int32").asscalar() == 4
    for make in (nd.array([1.5, 2]).asscalar, nd.array([1.5, 2]).item):
        with pytest.raises(ValueError, match="scalar"):
            make()
    x = nd.array([7], dtype="int64")
    assert (float(x), int(x), x.item(), x.tolist()) == (7.0, 7, 7, [7])
    assert type(x.item()) is int
    assert type(nd.array([1], dtype="bool").item()) is bool
    assert nd.arange(6).reshape((2, 3)).item(1, 2) == 5


def test_methods_are_the_functions() -> None:
    x = nd.array([[1.0, 4.0], [9.0, 16.0]])
    for name in ("abs", "exp", "log", "sqrt", "tanh", "sigmoid", "relu", "sum", "mean", "norm"):
        onp.testing.assert_array_equal(getattr(x, name)().asnumpy(), getattr(nd, name)(x).asnumpy())
    onp.testing.assert_array_equal(x.transpose().asnumpy(), x.asnumpy().T)
    assert x.expand_dims(1).shape == (2, 1, 2)
    assert x.expand_dims(0).squeeze().shape == (2, 2)
    assert x.broadcast_like(nd.zeros((3, 2, 2))).shape == (3, 2, 2)
    assert x.slice(begin=(0, 1), end=(2, 2)).asnumpy().tolist() == [[4], [16]]
    assert x.slice_axis(axis=1, begin=0, end=1).shape == (2, 1)
    assert x.swapaxes(0, 1).asnumpy().tolist() == [[1, 9], [4, 16]]
    assert x.zeros_like().asnumpy().sum() == 0
    assert x.ones_like().asnumpy().sum() == 4
    assert x.flatten().shape == (2, 2)
    assert x.reshape_like(nd.zeros((4,))).shape == (4,)


def test_reshape_function_checks_sizes() -> None:
    with pytest.raises(ValueError, match="size 4"):
        nd.reshape(nd.ones((4,)), (3,))
    with pytest.raises(ValueError, match="size 4"):
        nd.reshape(nd.ones((4,)), (5,))


@pytest.mark.parametrize(
    ("shape", "codes", "result"),
    [
        ((2, 3, 4), (0, -1), (2, 12)),
        ((2, 3, 4), (-2,), (2, 3, 4)),
        ((2, 3, 4), (-3, 0), (6, 4)),
        ((2, 3, 4), (0, -3), (2, 12)),
        ((2, 3, 4), (-4, 1, 2, -2), (1, 2, 3, 4)),
        ((8, 3), (-4, -1, 2, 0), (4, 2, 3)),
        ((0, 3), (0, -3), None),
        ((2, 3), (-1, -1), None),
        ((2, 3), (0, 0, 0), None),
        ((2, 3), (-4, 2), None),
    ],
)
def test_reshape_codes(
    shape: tuple[int, ...], codes: tuple[int, ...], result: tuple[int, ...] | None
) -> None:
    x = nd.zeros(shape)
    if result is None:
        with pytest.raises(mx.MXNetError):
            x.reshape(codes)
    else:
        assert x.reshape(codes).shape == x.reshape(*codes).shape == result


def test_arange_and_its_kin() -> None:
    assert nd.arange(0, 4, 2, repeat=3).asnumpy().tolist() == [0, 0, 0, 2, 2, 2]
    assert nd.arange(3, 0, -1, dtype="int8").asnumpy().tolist() == [3, 2, 1]
    onp.testing.assert_allclose(nd.linspace(1, 2, 5).asnumpy(), onp.linspace(1, 2, 5), rtol=1e-6)
    for n, m, k in ((3, 0, 0), (2, 4, 1), (4, 2, -1), (2, 2, 5), (3, 3, -3)):
        onp.testing.assert_array_equal(nd.eye(n, m, k).asnumpy(), onp.eye(n, m or None, k))
    assert nd.full((1,), 2**53 + 1, dtype="int64").asscalar() == 2**53 + 1


def test_products() -> None:
    onp.random.seed(1)
    a, b = onp.random.rand(3, 4), onp.random.rand(3, 5)
    for dtype, tolerance in (("float32", 1e-5), ("float64", 1e-12), ("float16", 1e-2)):
        product = nd.dot(nd.array(a, dtype=dtype), nd.array(b, dtype=dtype), transpose_a=True)
        onp.testing.assert_allclose(product.asnumpy(), a.T @ b, rtol=tolerance)
    whole = nd.dot(nd.array([[1, 2]], dtype="int32"), nd.array([[3], [4]], dtype="int32"))
    assert (whole.asscalar(), whole.dtype) == (11, onp.int32)

# SPDX-License-Identifier: Apache-2.0
"""Reductions, searches, running sums and quantiles, beside NumPy and MXNet's own answers."""

from __future__ import annotations

import doctest
import itertools

import numpy as onp
import pytest

from afterglow import autograd, nd, np
from afterglow.error import AxisError, MXNetError
from afterglow.ndarray import reduce as nd_reduce
from afterglow.numpy import reduce as np_reduce

TYPES = ["float16", "float32", "float64", "uint8", "int8", "int32", "int64"]
SHAPES = [(7,), (3, 5), (2, 3, 4), (1, 1), (70, 1030), (3, 2050), (2, 300, 3)]
nan, inf = float("nan"), float("inf")


def sample(shape, dtype, seed=0, high=6):
    generator = onp.random.default_rng(seed)
    low = 0 if dtype == "uint8" else 1 - high
    return generator.integers(low, high, shape).astype(dtype)


def axes_of(shape):
    rank = len(shape)
    single = [*range(-rank, rank)]
    return [None, *single, *itertools.combinations(range(rank), 2)]


@pytest.mark.parametrize("module", [nd_reduce, np_reduce])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


# --- products ---


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (12, 1, 9)])
def test_prod(shape, dtype):
    host = sample(shape, dtype, high=3) | 1 if dtype[0] in "iu" else sample(shape, dtype, high=3)
    for axis, keepdims in itertools.product(axes_of(shape), (False, True)):
        wanted = host.astype("int64").prod(axis, keepdims=keepdims)
        found = np.prod(np.array(host, dtype=dtype), axis=axis, keepdims=keepdims)
        assert found.dtype == dtype
        assert found.shape == wanted.shape
        assert (found.asnumpy() == wanted.astype(dtype)).all(), (axis, keepdims)
        legacy = nd.prod(nd.array(host, dtype=dtype), axis=axis, keepdims=keepdims)
        assert legacy.shape == (wanted.shape or (1,))
        assert (legacy.asnumpy().reshape(wanted.shape) == wanted.astype(dtype)).all()


def test_prod_is_wide():
    host = onp.full((3000,), 2.0, "float32")
    host[1::2] = 0.5
    host[:8:2], host[1:8:2] = 1e30, 1e-30
    assert abs(np.prod(np.array(host)).item() - 1) < 1e-3
    rows = onp.stack([host, host])
    assert abs(np.prod(np.array(rows.T), axis=0).asnumpy() - 1).max() < 1e-3


def test_prod_of_integers_wraps():
    assert nd.prod(nd.array([[100, 100, 3]], dtype="int8")).asnumpy().tolist() == [48]
    assert np.prod(np.array([200, 100, 3], dtype="uint8")).item() == 96
    assert np.prod(np.array([100, 100, 3], dtype="int8"), dtype="int64").item() == 30000


def test_prod_other_forms():
    x = np.array([[True, False], [True, True]], dtype="bool")
    assert np.prod(x).dtype == onp.int64
    assert np.prod(x, axis=1).asnumpy().tolist() == [0, 1]
    assert np.prod(np.zeros((0, 3)), axis=0).asnumpy().tolist() == [1, 1, 1]
    out = np.zeros((2,))
    assert np.prod(np.array([[1, 2], [3, 4]]), 1, out=out) is out
    assert out.asnumpy().tolist() == [2, 12]
    assert np.array([[1, 2], [3, 4]]).prod(0).asnumpy().tolist() == [3, 8]
    assert nd.array([[1, 2], [3, 4]]).prod(axis=0, exclude=True).asnumpy().tolist() == [2, 12]
    fused = np.arange(1, 5001).reshape(5, 1000)
    assert np.prod(fused * 0 + 2, axis=1, dtype="float64").asnumpy().tolist() == [2.0**1000] * 5


# --- sums with nan, moments, norms ---


def test_sums_without_nan():
    x = nd.array([[1, nan, 2], [5, 0, nan]])
    assert nd.nansum(x).asnumpy().tolist() == [8]
    assert nd.nansum(x, axis=0).asnumpy().tolist() == [6, 0, 2]
    assert x.nansum(axis=0, exclude=True).asnumpy().tolist() == [3, 5]
    assert nd.nanprod(x, axis=1, keepdims=True).asnumpy().tolist() == [[2], [0]]
    assert x.nanprod().asnumpy().tolist() == [0]
    assert nd.nansum(nd.array([1, 2], dtype="int32")).asnumpy().tolist() == [3]
    out = nd.zeros((1,))
    assert nd.nansum(x, out=out) is out
    assert out.asnumpy().tolist() == [8]


def test_moments():
    x = nd.array([[1, 5, 2], [5, 0, 5]])
    mean, variance = nd.moments(x, axes=(0,))
    assert mean.asnumpy().tolist() == [3, 2.5, 3.5]
    assert variance.asnumpy().tolist() == [4, 6.25, 2.25]
    mean, variance = nd.moments(x, axes=(0, 1), keepdims=True)
    assert mean.asnumpy().tolist() == [[3]]
    assert variance.asnumpy() == pytest.approx(onp.array([[4.3333335]]))
    with pytest.raises(ValueError, match="axes"):
        nd.moments(x)


def test_norm_forms():
    x = nd.array([[1, 5, 2], [5, 0, 5]])
    assert nd.norm(x).asnumpy() == pytest.approx([8.944272])
    assert nd.norm(x, ord=1, axis=(0, 1)).asnumpy().tolist() == [18]
    assert nd.norm(x, ord=1, axis=1, keepdims=True).asnumpy().tolist() == [[8], [10]]
    assert x.astype("int32").norm().asnumpy().tolist() == [8]
    assert nd.norm(x, axis=0, out_dtype="float64").dtype is onp.float64
    with pytest.raises(ValueError, match="ord"):
        nd.norm(x, ord=3)


# --- searches ---


@pytest.mark.parametrize("dtype", [*TYPES, "bool"])
@pytest.mark.parametrize("shape", [*SHAPES, (140000,), (1100, 300), (2, 1500, 70)])
def test_argmax_argmin(shape, dtype):
    host = sample(shape, "int64", high=2 if dtype == "bool" else 60)
    host = abs(host).astype(dtype) if dtype in ("bool", "uint8") else host.astype(dtype)
    x = np.array(host, dtype=dtype)
    for axis in [None, *range(-len(shape), len(shape))]:
        for name in ("argmax", "argmin"):
            found = getattr(np, name)(x, axis)
            wanted = getattr(onp, name)(host, axis)
            assert found.dtype == onp.int64
            assert found.shape == wanted.shape
            assert (found.asnumpy() == wanted).all(), (name, axis)
            if dtype in ("float32", "int32"):
                legacy = getattr(nd, name)(x.as_nd_ndarray(), axis=axis)
                assert legacy.dtype is onp.dtype(dtype).type
                assert (legacy.asnumpy().reshape(wanted.shape) == wanted).all()


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (140000,), (2000, 40)])
def test_nan_is_found_first(shape):
    host = sample(shape, "float32", high=9)
    flat = host.reshape(-1)
    flat[[-1, len(flat) // 2]] = nan
    for dtype in ("float16", "float32", "float64"):
        typed = host.astype(dtype)
        for axis in [None, *range(len(shape))]:
            for name in ("argmax", "argmin"):
                wanted = getattr(onp, name)(typed, axis)
                found = getattr(np, name)(np.array(typed, dtype=dtype), axis)
                assert (found.asnumpy() == wanted).all()


def test_argmax_forms():
    x = nd.array([[1, 5, 2], [5, 0, 5]])
    assert nd.argmax(x).asnumpy().tolist() == [1]
    assert nd.argmax(x, keepdims=True).shape == (1, 1)
    assert nd.argmax(x, axis=-1, keepdims=True).asnumpy().tolist() == [[1], [0]]
    assert x.argmin(axis=0).asnumpy().tolist() == [0, 1, 0]
    assert nd.argmax_channel(x).asnumpy().tolist() == [1, 0]
    assert nd.ones((2, 3, 4)).argmax_channel().shape == (2, 4)
    assert nd.argmax(nd.array([-inf, -inf]), axis=0).asnumpy().tolist() == [0]
    out = nd.zeros((2,))
    assert nd.argmax(x, axis=1, out=out) is out
    assert out.asnumpy().tolist() == [1, 0]
    y = x.as_np_ndarray()
    assert y.argmax().shape == ()
    assert y.argmin(1).asnumpy().tolist() == [0, 1]
    place = np.zeros((), dtype="int64")
    assert np.argmax(y, out=place) is place
    assert place.item() == 1
    assert np.argmax(np.array(3.0), axis=0).item() == 0
    assert np.argmax(np.zeros((0, 3)), axis=1).asnumpy().shape == (0,)
    assert np.argmax(np.zeros((4, 3, 0)), axis=1).asnumpy().shape == (4, 0)
    assert np.argmax(y[1:]).item() == 0  # a view that does not start at the beginning


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        (lambda: np.argmax(np.zeros((0, 3))), ValueError),
        (lambda: np.argmax(np.zeros((0, 3)), axis=0), ValueError),
        (lambda: np.argmax(np.ones((2, 3)), axis=4), ValueError),
        (lambda: np.argmax(np.ones((2, 3)), axis=(0, 1)), TypeError),
        (lambda: nd.argmax(nd.ones((2, 3)), axis=2), ValueError),
        (lambda: nd.argmax_channel(nd.ones((3,))), ValueError),
        (lambda: nd.argmax([1, 2]), AssertionError),
        (lambda: np.argmax(np.ones((2,)), out=np.zeros(())), TypeError),
        (lambda: np.cumsum(np.ones((2, 3)), axis=3), ValueError),
        (lambda: nd.cumsum(nd.ones((2, 3)), axis=5), ValueError),
        (lambda: np.average(np.ones((2, 3)), weights=np.ones((2,))), ValueError),
        (lambda: np.average(np.ones((2, 3)), axis=0, weights=np.ones((3,))), ValueError),
        (lambda: np.percentile(np.ones((2,)), 130), ValueError),
        (lambda: np.percentile(np.ones((2,)), 30, interpolation="foo"), ValueError),
        (lambda: np.max(np.zeros((0,))), ValueError),
        (lambda: np.any(np.ones((2, 3)), axis=2), ValueError),
        (lambda: np.percentile(np.ones((2,)), np.array([130])).asnumpy(), ValueError),
    ],
)
def test_refusals(statement, error):
    with pytest.raises(error):
        statement()


# --- running sums ---


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [*SHAPES, (5, 0), (3, 1, 600)])
def test_cumsum(shape, dtype):
    host = sample(shape, dtype)
    for axis in [None, *range(-len(shape), len(shape))]:
        wanted = host.astype("int64").cumsum(axis).astype(dtype)
        found = np.cumsum(np.array(host, dtype=dtype), axis)
        assert found.dtype == dtype
        assert found.shape == wanted.shape
        assert (found.asnumpy() == wanted).all(), axis
        legacy = nd.cumsum(nd.array(host, dtype=dtype), axis=axis)
        assert (legacy.asnumpy() == wanted).all()


def test_cumsum_forms():
    x = np.array([[1.5, 2.5], [3.5, 4.5]])
    assert np.cumsum(x, dtype="int32").asnumpy().tolist() == [1, 3, 6, 10]
    assert x.cumsum(0).asnumpy().tolist() == [[1.5, 2.5], [5, 7]]
    assert np.cumsum(np.array([True, True], dtype="bool")).dtype == onp.int64
    assert np.cumsum(np.array(3.0)).asnumpy().tolist() == [3]
    out = np.zeros((2, 2))
    assert np.cumsum(x, axis=1, out=out) is out
    assert out.asnumpy().tolist() == [[1.5, 4], [3.5, 8]]
    small = onp.full((100000,), 0.1, "float32")
    found = np.cumsum(np.array(small)).asnumpy()
    wanted = small.astype("float64").cumsum()
    assert abs(found / wanted - 1).max() < 1e-7


def test_cumsum_from_the_end():
    from afterglow._core import operation

    host = sample((3, 1500), "float32")
    call = operation("running_sum", False)
    for axis in (0, 1):
        wanted = onp.flip(onp.flip(host, axis).cumsum(axis), axis)
        assert (call(np.array(host), axis, True).asnumpy() == wanted).all()


# --- truth ---


@pytest.mark.parametrize("dtype", [*TYPES, "bool"])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (0, 3), (70, 1030)])
def test_any_all(shape, dtype):
    host = (onp.random.default_rng(1).random(shape) < 0.5).astype(dtype)
    x = np.array(host, dtype=dtype)
    for name, axis in itertools.product(("any", "all"), axes_of(shape)):
        for keepdims in (False, True):
            wanted = getattr(onp, name)(host, axis=axis, keepdims=keepdims)
            found = getattr(np, name)(x, axis, keepdims)
            assert found.dtype == onp.bool_
            assert found.shape == wanted.shape
            assert (found.asnumpy() == wanted).all(), (name, axis)


def test_truth_forms():
    x = np.array([[1, 0], [nan, 1e-300]], dtype="float64")
    assert x.all(0).asnumpy().tolist() == [True, False]
    assert x.any(axis=1, keepdims=True).asnumpy().tolist() == [[True], [True]]
    assert np.any(np.array(3.0)).item() is True
    out = np.zeros((2,), dtype="bool")
    assert np.all(x, axis=1, out=out) is out
    assert out.asnumpy().tolist() == [False, True]
    assert np.count_nonzero(x).item() == 3


# --- spread ---


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (70, 1030)])
def test_std_var(shape, dtype):
    host = sample(shape, dtype)
    wide = host.astype("float64")
    for axis, ddof in itertools.product(axes_of(shape), (0, 1)):
        for name in ("std", "var"):
            if onp.size(wide) // onp.size(wide.sum(axis)) <= ddof:
                continue
            wanted = getattr(onp, name)(wide, axis, ddof=ddof, keepdims=True)
            found = getattr(np, name)(np.array(host, dtype=dtype), axis, ddof=ddof, keepdims=True)
            assert found.dtype == (dtype if dtype.startswith("float") else "float32")
            assert found.shape == wanted.shape
            tolerance = {"float16": 2e-3, "float64": 1e-12}.get(dtype, 1e-5)
            assert onp.allclose(found.asnumpy(), wanted, tolerance, tolerance), (name, axis)


def test_spread_forms():
    x = np.array([[1, 5, 2], [5, 0, 5]])
    assert x.std().item() == pytest.approx(2.0816660)
    assert x.var(axis=(0, 1), keepdims=True).asnumpy() == pytest.approx(onp.array([[4.3333335]]))
    assert np.std(x, axis=0, ddof=1).asnumpy() == pytest.approx([2.828427, 3.5355339, 2.1213202])
    assert np.std(x.astype("int32"), axis=1, dtype="float64").dtype == onp.float64
    assert np.std(x, ddof=6).item() == inf
    assert np.var(np.array(3.0)).item() == 0
    out = np.zeros((3,))
    assert np.var(x, 0, out=out) is out
    assert out.asnumpy().tolist() == [4, 6.25, 2.25]
    far = np.array(onp.array([1e6, 1e6 + 1, 1e6 + 2], "float32"))
    assert np.var(far).item() == pytest.approx(2 / 3)
    assert np.ptp(x, axis=0).asnumpy().tolist() == [4, 5, 3]
    assert np.ptp(x).item() == 5


def test_sum_with_initial():
    x = np.array([[1, 2], [3, 4]])
    assert np.sum(x, initial=3).item() == 13
    assert np.sum(x, axis=0, initial=3).asnumpy().tolist() == [7, 9]
    assert np.max(x, 0, True).asnumpy().tolist() == [[3, 4]]


def test_average():
    x = np.array([[1, 5, 2], [5, 0, 5]])
    assert np.average(x).item() == 3
    found = np.average(x, axis=0, weights=np.array([1, 3]))
    assert found.asnumpy().tolist() == [4, 1.25, 4.25]
    found, total = np.average(x, axis=1, weights=np.array([1, 3, 0]), returned=True)
    assert found.asnumpy().tolist() == [4, 1.25]
    assert (total.shape, total.item()) == ((), 4)
    found, total = np.average(x, weights=np.ones((2, 3)), returned=True)
    assert (found.item(), total.item()) == (3, 6)
    found, total = np.average(x, axis=1, returned=True)
    assert total.item() == 3
    assert np.average(x, axis=(0, 1)).item() == 3
    three = onp.random.default_rng(0).random((2, 3, 4)).astype("float32")
    weights = onp.array([1, 2, 3], "float32")
    wanted = onp.average(three, 1, weights)
    assert onp.allclose(np.average(np.array(three), 1, np.array(weights)).asnumpy(), wanted)


# --- quantiles ---


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_percentile(dtype, interpolation):
    host = sample((4, 5, 3), dtype)
    x = np.array(host, dtype=dtype)
    for axis, keepdims in itertools.product([None, 0, -1, (0, 2)], (False, True)):
        for q in (30, onp.array([0.0, 12.5, 100.0])):
            wanted = onp.percentile(
                host.astype("float64"), q, axis, method=interpolation, keepdims=keepdims
            )
            given = q if isinstance(q, int) else np.array(q)
            found = np.percentile(
                x, given, axis=axis, interpolation=interpolation, keepdims=keepdims
            )
            assert found.dtype == ("float64" if dtype == "float64" else "float32")
            assert found.shape == wanted.shape
            assert onp.allclose(found.asnumpy(), wanted)


def test_quantile_forms():
    x = np.array([[1, 5, 2], [5, 0, 5]])
    assert np.percentile(x, 30, axis=0).asnumpy() == pytest.approx([2.2, 1.5, 2.9])
    assert np.quantile(x, 0.25).item() == 1.25
    found = np.quantile(x, np.array([0.25, 0.5]), axis=1)
    assert found.asnumpy().tolist() == [[1.5, 2.5], [2, 5]]
    assert np.quantile(x, (0.25, 0.5), axis=1).shape == (2, 2)
    out = np.zeros(())
    assert np.quantile(x, 0.5, out=out) is out
    assert out.item() == 3.5
    assert np.median(x, axis=1, keepdims=True).asnumpy().tolist() == [[2], [5]]
    assert onp.isnan(np.percentile(np.array([1, nan]), 30).item())
    assert onp.isnan(np.median(np.zeros((0,))).item())


def test_only_nd_has_them():
    for name in (
        "nansum",
        "nanprod",
        "argmax_channel",
        "topk",
        "softmax",
        "log_softmax",
        "softmin",
    ):
        assert hasattr(nd.NDArray, name)
        assert not hasattr(np.ones((2,)), name)


def test_numpy_knows_more_forms():
    x = np.array([[1, 5, 2], [5, 0, 5]])
    assert onp.argmax(x, axis=1, keepdims=True).asnumpy().tolist() == [[1], [0]]
    assert onp.prod(x, axis=1, initial=2).asnumpy().tolist() == [20, 0]
    assert onp.max(x, axis=1, initial=7).asnumpy().tolist() == [7, 7]
    assert isinstance(onp.quantile(x, 0.3, method="lower"), np.ndarray)


def test_arguments_by_position():
    x = np.array([[1, 5, 2], [5, 0, 5]])
    for function in (np.max, np.min, np.amax, np.amin, np.all, np.any):
        assert function(x, 0, True).shape == (1, 3)  # as MXNet
        assert function(x, 0, None, True).shape == (1, 3)  # as NumPy
    out = np.zeros((3,))
    assert np.max(x, 0, out, False) is out
    assert np.max(x, 0, False, out) is out
    assert out.asnumpy().tolist() == [5, 5, 5]


@pytest.mark.parametrize(
    "call",
    [
        lambda: np.max(np.ones((2, 3)), 5),
        lambda: nd.max(nd.ones((2, 3)), axis=-3),
        lambda: nd.concat(nd.ones((2, 3)), nd.ones((2, 3)), dim=5),
        lambda: np.cumsum(np.ones((2, 3)), axis=2),
        lambda: np.take(np.ones((2, 3)), np.array([0]), axis=5),
        lambda: nd.pick(nd.ones((2, 3)), nd.array([0, 0]), axis=7),
        lambda: np.expand_dims(np.ones((2, 3)), 5),
        lambda: nd.softmax(nd.ones((2, 3)), axis=2),
        lambda: np.argmax(np.ones((2, 3)), axis=2),
        lambda: np.sort(np.ones((2, 3)), axis=2),
    ],
)
def test_axes_that_do_not_exist(call):
    with pytest.raises(AxisError, match="axis"):
        call()
    assert issubclass(AxisError, (ValueError, IndexError, MXNetError))


@pytest.mark.parametrize("values", [[1, nan, 3], [4, 4, 1]])
@pytest.mark.parametrize("how", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles_while_recording(values, how):
    x = np.array([values, values[::-1]], dtype="float64")
    x.attach_grad()
    for q in (0, 30, [50, 100]):
        for axis in (None, 0, 1, (0, 1)):
            plain = np.percentile(x, q, axis=axis, interpolation=how).asnumpy()
            with autograd.record():
                found = np.percentile(x, q, axis=axis, interpolation=how)
            onp.testing.assert_allclose(found.asnumpy(), plain, rtol=1e-12)

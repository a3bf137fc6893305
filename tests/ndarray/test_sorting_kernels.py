# SPDX-License-Identifier: Apache-2.0
"""Sorting, searching and keys against NumPy, over types, lengths and axes."""

import numpy as onp
import pytest

from afterglow import autograd, nd, np

TYPES = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64")
#: Short lines alone and in company, lines of several digits, one that several threads sort.
SHAPES = [
    (0,),
    (1,),
    (7,),
    (300,),
    (5000,),
    (200_000,),
    (13, 40),
    (40, 300),
    (3, 500, 5),
    (2000, 20),
    (4, 0, 3),
]


def values(shape, dtype):
    generator = onp.random.default_rng(len(shape) + sum(shape))
    if dtype == "uint8":
        return generator.integers(0, 255, shape).astype(dtype)
    host = (generator.standard_normal(shape) * 20).astype(dtype)
    if dtype.startswith("float") and host.size > 4:
        host.reshape(-1)[:4] = onp.nan, -0.0, 0.0, -onp.nan
        host.reshape(-1)[-1] = onp.inf
    return host


def descending(host, axis):
    """Return the places in descending order; equal elements keep theirs."""
    order = onp.argsort(onp.flip(host, axis), axis, kind="stable")
    return host.shape[axis] - 1 - onp.flip(order, axis)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_order_is_that_of_numpy(shape, dtype):
    host = values(shape, dtype)
    ours, legacy = np.array(host), nd.array(host, dtype=dtype)
    for axis in range(host.ndim):
        onp.testing.assert_array_equal(np.sort(ours, axis).asnumpy(), onp.sort(host, axis))
        order = onp.argsort(host, axis, kind="stable")
        onp.testing.assert_array_equal(np.argsort(ours, axis).asnumpy(), order)
        order = descending(host, axis)
        found = nd.argsort(legacy, axis, is_ascend=False, dtype="int64")
        onp.testing.assert_array_equal(found.asnumpy(), order)
        found = nd.sort(legacy, axis, is_ascend=False)
        onp.testing.assert_array_equal(found.asnumpy(), onp.flip(onp.sort(host, axis), axis))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(7,), (5000,), (40, 300), (3, 500, 5)])
@pytest.mark.parametrize("count", [1, 2, 33, 0])
def test_first_elements(shape, dtype, count):
    host = values(shape, dtype)
    legacy = nd.array(host, dtype=dtype)
    for axis in range(host.ndim):
        if count > shape[axis]:
            continue
        order = onp.take(descending(host, axis), range(count or shape[axis]), axis)
        found, places = nd.topk(legacy, axis, count, "both", dtype="int32")
        onp.testing.assert_array_equal(places.asnumpy(), order)
        onp.testing.assert_array_equal(found.asnumpy(), onp.take_along_axis(host, order, axis))
        mask = onp.zeros_like(host)
        onp.put_along_axis(mask, order, 1, axis)
        onp.testing.assert_array_equal(nd.topk(legacy, axis, count, "mask").asnumpy(), mask)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("length", [0, 1, 2, 5, 1000])
def test_search(dtype, side, length):
    generator = onp.random.default_rng(length)
    line = onp.sort(generator.integers(0, 50, length)).astype(dtype)
    wanted = generator.integers(0, 60, (17, 300)).astype(dtype)
    if dtype == "float32":
        wanted[0, :2] = onp.nan, -onp.inf
    found = np.searchsorted(np.array(line), np.array(wanted), side)
    onp.testing.assert_array_equal(found.asnumpy(), onp.searchsorted(line, wanted, side))


@pytest.mark.parametrize("count", [None, 2])
def test_gradient_goes_where_elements_came_from(count):
    x = nd.array([[3, 1, 2], [0, 5, 4]])
    x.attach_grad()
    with autograd.record():
        y = nd.sort(x) if count is None else nd.topk(x, k=count, ret_typ="value")
    y.backward(nd.array([[10, 20, 30][:count], [40, 50, 60][:count]]))
    expected = [[30, 10, 20], [40, 60, 50]] if count is None else [[10, 0, 20], [0, 40, 50]]
    onp.testing.assert_array_equal(x.grad.asnumpy(), expected)


KEYS = [
    2,
    -1,
    slice(None),
    slice(1, 3),
    slice(None, None, 2),
    slice(None, None, -1),
    slice(3, 1),
    slice(-100, 100),
    ...,
    None,
    (),
    (1, 2, 0),
    (slice(None), 1),
    (..., 1),
    (1, ...),
    (None, slice(1), None, ..., -2),
    (slice(None, None, -2), slice(4, None, -3), None),
    (0, slice(2, 2)),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_plain_keys(key):
    host = onp.arange(60.0, dtype="float32").reshape(4, 5, 3)
    ours = np.array(host)
    onp.testing.assert_array_equal(ours[key].asnumpy(), host[key])
    ours[key] = 7
    host[key] = 7
    onp.testing.assert_array_equal(ours.asnumpy(), host)


@pytest.mark.parametrize("key", [4, -5, (0, 0, 0, 0), (..., ...), (0, 5), 2**70], ids=str)
def test_keys_that_do_not_fit(key):
    with pytest.raises(IndexError):
        np.zeros((4, 5, 3))[key]


@pytest.mark.parametrize("size", [0, 1, 7, 100_000])
@pytest.mark.parametrize("cut", [0.0, 0.5, 1.0])
def test_masks(size, cut):
    generator = onp.random.default_rng(size)
    host, mask = generator.standard_normal(size, "float32"), generator.random(size) < cut
    ours, legacy = np.array(host), nd.array(host)
    onp.testing.assert_array_equal(ours[np.array(mask)].asnumpy(), host[mask])
    ours[np.array(mask)] = 2
    host[mask] = 2
    onp.testing.assert_array_equal(ours.asnumpy(), host)
    if size:
        legacy[:] = 1
        onp.testing.assert_array_equal(legacy.asnumpy(), onp.ones(size))


def test_mask_over_the_first_axes():
    host = onp.arange(24).reshape(2, 3, 4)
    mask = onp.array([[True, False, True], [False, True, False]])
    onp.testing.assert_array_equal(np.array(host)[np.array(mask)].asnumpy(), host[mask])


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_store_where_indices_point(dtype):
    host = onp.zeros((5, 3), "float32")
    ours, index = np.array(host), onp.array([[3, 1], [0, 3]])
    rows = onp.arange(12.0).reshape(2, 2, 3)
    ours[np.array(index, dtype=dtype)] = np.array(rows)
    host[index] = rows
    onp.testing.assert_array_equal(ours.asnumpy(), host)


def test_elements_outside_are_told_of():
    x = np.arange(10)
    onp.testing.assert_array_equal(x[np.array([-1, 3], dtype="int32")].asnumpy(), [9, 3])
    with pytest.raises(IndexError):
        x[np.array([0, 10], dtype="int64")].wait_to_read()


@pytest.mark.parametrize("dtype", [*TYPES, "bool"])
@pytest.mark.parametrize("shape", [(7,), (500,), (3000,), (3, 900), (2, 1500, 3)])
@pytest.mark.parametrize("ascending", [True, False])
def test_first_ones_of_many_ties(dtype, shape, ascending):
    generator = onp.random.default_rng(3)
    host = generator.integers(0, 5, shape).astype(dtype)
    if dtype.startswith("float"):
        host[generator.random(shape) < 0.1] = onp.nan
        host[generator.random(shape) < 0.1] = -0.0
    axis = len(shape) - 1 if len(shape) < 3 else 1
    order = onp.argsort(host, axis, kind="stable") if ascending else descending(host, axis)
    ours = nd.array(host, dtype=dtype)
    for keep in {1, 3, 33, shape[axis] // 2, shape[axis] - 1, shape[axis]}:
        if keep > shape[axis]:
            continue
        first = onp.take(order, range(keep), axis)
        options = {"axis": axis, "k": keep, "is_ascend": ascending, "dtype": "int32"}
        onp.testing.assert_array_equal(nd.topk(ours, **options).asnumpy(), first)
        expected = onp.take_along_axis(host, first, axis)
        for ret_typ in ("value", "both"):
            found = nd.topk(ours, ret_typ=ret_typ, **options)
            if ret_typ == "both":
                onp.testing.assert_array_equal(found[1].asnumpy(), first)
                found = found[0]
            onp.testing.assert_array_equal(found.asnumpy(), expected)
        mask = onp.zeros(shape, dtype)
        onp.put_along_axis(mask, first, 1, axis)
        onp.testing.assert_array_equal(
            nd.topk(ours, ret_typ="mask", **options).asnumpy(), mask.astype(dtype)
        )

# SPDX-License-Identifier: Apache-2.0
"""Orders, counts and differences, beside NumPy and MXNet's own answers."""

from __future__ import annotations

import doctest

import numpy as onp
import pytest

from afterglow import nd, np, npx
from afterglow.ndarray import sorting as nd_sorting
from afterglow.numpy import sorting as np_sorting

TYPES = ["float16", "float32", "float64", "uint8", "int8", "int32", "int64"]
ties = [[3, 1, 3, 2, 1, 3], [0, 0, 0, 0, 0, 0]]


def sample(shape, dtype="float32", high=50):
    return onp.random.default_rng(3).integers(0, high, shape).astype(dtype)


@pytest.mark.parametrize("module", [nd_sorting, np_sorting])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(9,), (3, 7), (2, 5, 4), (0, 3)])
def test_sort_and_argsort(shape, dtype):
    host = sample(shape, dtype, 6)
    x, legacy = np.array(host, dtype=dtype), nd.array(host, dtype=dtype)
    for axis in [None, *range(-len(shape), len(shape))]:
        wanted = onp.sort(host, axis)
        order = onp.argsort(host, axis, kind="stable")
        assert (np.sort(x, axis).asnumpy() == wanted).all()
        assert (nd.sort(legacy, axis=axis).asnumpy() == wanted).all()
        found = np.argsort(x, axis)
        assert found.dtype == onp.int64
        assert (found.asnumpy() == order).all()
        found = nd.argsort(legacy, axis=axis)
        assert found.dtype is onp.float32
        assert (found.asnumpy() == order).all()
        down = nd.sort(legacy, axis=axis, is_ascend=False)
        assert (down.asnumpy() == onp.flip(wanted, axis or 0)).all()


def test_ties_keep_their_order():
    x = nd.array(ties)
    assert nd.argsort(x).asnumpy().tolist() == [[1, 4, 3, 0, 2, 5], [0, 1, 2, 3, 4, 5]]
    down = nd.argsort(x, is_ascend=False, dtype="int32")
    assert down.dtype is onp.int32
    assert down.asnumpy().tolist() == [[0, 2, 5, 3, 1, 4], [0, 1, 2, 3, 4, 5]]


def test_sort_forms():
    x = nd.array(ties)
    out = nd.zeros((2, 6))
    assert nd.sort(x, out=out) is out
    assert out.asnumpy().tolist() == [[1, 1, 2, 3, 3, 3], [0] * 6]
    assert x.sort(is_ascend=False).asnumpy()[0].tolist() == [3, 3, 3, 2, 1, 1]
    assert x.argsort(axis=0).asnumpy().tolist() == [[1] * 6, [0] * 6]
    y = np.array([3, 1, 2])
    assert y.sort() is None
    assert y.asnumpy().tolist() == [1, 2, 3]
    assert np.array([3, 1, 2]).argsort().asnumpy().tolist() == [1, 2, 0]
    assert np.sort(np.array([[1, 0]], dtype="bool")).asnumpy().tolist() == [[False, True]]
    assert (onp.sort(np.array([3.0, 1.0])).asnumpy() == [1, 3]).all()


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [  # MXNet's answers
        ({}, [[0], [0]]),
        ({"k": 3}, [[0, 2, 5], [0, 1, 2]]),
        ({"k": 3, "is_ascend": True}, [[1, 4, 3], [0, 1, 2]]),
        ({"k": 2, "ret_typ": "value"}, [[3, 3], [0, 0]]),
        ({"k": 2, "ret_typ": "mask"}, [[1, 0, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]]),
        ({"k": 0}, [[0, 2, 5, 3, 1, 4], [0, 1, 2, 3, 4, 5]]),
        ({"k": -1, "ret_typ": "value"}, [[3, 3, 3, 2, 1, 1], [0] * 6]),
        ({"k": 3, "axis": None}, [0, 2, 5]),
        ({"k": 3, "axis": None, "ret_typ": "value"}, [3, 3, 3]),
        ({"k": 3, "axis": None, "ret_typ": "mask"}, [[1, 0, 1, 0, 0, 1], [0] * 6]),
        ({"k": 1, "axis": 0}, [[0] * 6]),
    ],
)
def test_topk(arguments, wanted):
    assert nd.topk(nd.array(ties), **arguments).asnumpy().tolist() == wanted
    assert npx.topk(np.array(ties), **arguments).asnumpy().tolist() == wanted


def test_topk_of_both():
    values, indices = nd.topk(nd.array(ties), k=2, ret_typ="both", dtype="int32")
    assert values.asnumpy().tolist() == [[3, 3], [0, 0]]
    assert indices.asnumpy().tolist() == [[0, 2], [0, 1]]
    assert indices.dtype is onp.int32
    values, indices = nd.array(ties, dtype="int32").topk(k=2, ret_typ="both", axis=0)
    assert values.dtype is onp.int32
    assert indices.asnumpy().tolist() == [[0] * 6, [1] * 6]
    out = [nd.zeros((2, 1)), nd.zeros((2, 1))]
    assert nd.topk(nd.array(ties), ret_typ="both", out=out)[1] is out[1]
    assert out[0].asnumpy().tolist() == [[3], [0]]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("ascending", [False, True])
def test_topk_of_long_lines(dtype, axis, ascending):
    host = sample((3, 4000) if axis else (4000, 3), dtype, 200)
    found = nd.topk(nd.array(host, dtype=dtype), axis, 25, is_ascend=ascending, dtype="int64")
    order = onp.argsort(host.astype("int64") * (1 if ascending else -1), axis, kind="stable")
    assert (found.asnumpy() == onp.take(order, range(25), axis)).all()


def test_topk_counts_nan_as_greatest():
    host = sample((4000,))
    host[[5, 7]] = onp.nan
    found = nd.topk(nd.array(host), k=3, dtype="int32").asnumpy().tolist()
    assert found[:2] == [5, 7]
    assert nd.topk(nd.array(host), k=1, dtype="int32").asnumpy().tolist() == [5]
    low = nd.topk(nd.array(host), k=3, is_ascend=True, dtype="int32").asnumpy()
    assert (host[low] == 0).all()


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        (lambda: nd.topk(nd.array(ties), k=7), ValueError),
        (lambda: nd.topk(nd.array(ties), ret_typ="foo"), ValueError),
        (lambda: nd.topk(nd.array(ties), dtype="int8"), TypeError),
        (lambda: nd.argsort(nd.array(ties), axis=3), ValueError),
        (lambda: nd.argsort(nd.array(ties), dtype="int8"), TypeError),
        (lambda: nd.sort([1, 2]), AssertionError),
        (lambda: np.sort(np.array(3.0)), ValueError),
        (lambda: np.sort(np.array(ties), axis=4), ValueError),
        (lambda: nd.histogram(nd.array(ties), bins=[0, 1]), ValueError),
        (lambda: np.histogram(np.array(ties), density=True), NotImplementedError),
        (lambda: np.bincount(np.array([1.0])), TypeError),
        (lambda: np.bincount(np.array([-1], dtype="int32")), ValueError),
        (lambda: np.bincount(np.array([[1]], dtype="int32")), ValueError),
        (lambda: np.diff(np.array(3.0)), ValueError),
        (lambda: np.diff(np.array(ties), n=-1), ValueError),
        (lambda: np.diff(np.array(ties), prepend=1), NotImplementedError),
        (lambda: np.searchsorted(np.array(ties), 1), ValueError),
        (lambda: np.searchsorted(np.array([1]), 1, "up"), ValueError),
    ],
)
def test_refusals(statement, error):
    with pytest.raises(error):
        statement()


def test_unique():
    x = np.array(ties)
    assert np.unique(x).asnumpy().tolist() == [0, 1, 2, 3]
    values, counts = np.unique(x, return_counts=True)
    assert counts.dtype == onp.int64
    assert counts.asnumpy().tolist() == [6, 2, 1, 3]
    _, first, inverse, _ = np.unique(x, True, True, True)
    assert first.asnumpy().tolist() == [6, 1, 3, 0]
    assert inverse.asnumpy().tolist() == [3, 1, 3, 2, 1, 3, 0, 0, 0, 0, 0, 0]
    values, first, inverse = np.unique(x, return_index=True, return_inverse=True, axis=1)
    assert values.asnumpy().tolist() == [[1, 2, 3], [0, 0, 0]]
    assert first.asnumpy().tolist() == [1, 3, 0]
    assert inverse.asnumpy().tolist() == [2, 0, 2, 1, 0, 2]
    assert np.unique(x.astype("int32")).dtype == onp.int32
    assert np.unique(np.array(3.0)).asnumpy().tolist() == [3]
    assert np.unique(np.zeros((0, 3))).shape == (0,)


def test_bincount():
    x = np.array([1, 1, 3], dtype="int32")
    assert np.bincount(x, minlength=6).asnumpy().tolist() == [0, 2, 0, 1, 0, 0]
    assert np.bincount(x).dtype == onp.int32
    weighted = np.bincount(x, weights=np.array([0.5, 0.5, 2]))
    assert weighted.dtype == onp.float32
    assert weighted.asnumpy().tolist() == [0, 1, 0, 2]
    assert np.bincount(np.zeros((0,), dtype="int64")).shape == (0,)


def test_histogram():
    counts, edges = nd.histogram(nd.array(ties), bins=3, range=(0, 6))
    assert (counts.dtype, edges.dtype) == (onp.int64, onp.float32)
    assert counts.asnumpy().tolist() == [8, 4, 0]
    assert edges.asnumpy().tolist() == [0, 2, 4, 6]
    counts, edges = nd.histogram(nd.array(ties), bins=3)
    assert counts.dtype is onp.float32
    assert counts.asnumpy().tolist() == [6, 2, 4]
    counts, edges = nd.histogram(nd.array(ties), nd.array([0, 1, 3]))
    assert counts.asnumpy().tolist() == [6, 6]
    for bins in (np.array([0, 1, 3]), [0, 1, 3]):
        counts, edges = np.histogram(np.array(ties), bins)
        assert counts.asnumpy().tolist() == [6, 6]
        assert edges.asnumpy().tolist() == [0, 1, 3]
    counts, edges = np.histogram(np.array(ties, dtype="float64"))
    assert edges.dtype == onp.float64
    assert counts.asnumpy().sum() == 12


@pytest.mark.parametrize("shape", [(9,), (3, 7), (2, 5, 4)])
def test_diff(shape):
    host = sample(shape)
    for axis in range(-len(shape), len(shape)):
        for n in (0, 1, 2, 9):
            found = np.diff(np.array(host), n, axis)
            wanted = onp.diff(host, n, axis)
            assert found.shape == wanted.shape
            assert (found.asnumpy() == wanted).all()


def test_ediff1d():
    x = np.array([[1, 5, 2], [5, 0, 5]])
    assert np.ediff1d(x).asnumpy().tolist() == [4, -3, 3, -5, 5]
    assert np.ediff1d(x.astype("int32"), to_end=9.5).asnumpy().tolist() == [4, -3, 3, -5, 5, 9]
    found = np.ediff1d(x, np.array([1, 2]), to_begin=np.array([[7, 8]]))
    assert found.asnumpy().tolist() == [7, 8, 4, -3, 3, -5, 5, 1, 2]
    assert np.ediff1d(np.array(3.0)).shape == (0,)


def test_searchsorted():
    x = np.array([1, 2, 3])
    assert np.searchsorted(x, 2.5).item() == 2
    assert np.searchsorted(x, np.array([[2.5, 0]])).asnumpy().tolist() == [[2, 0]]
    assert np.searchsorted(x, np.array([2, 0]), side="right").asnumpy().tolist() == [2, 0]
    mixed = np.array([3, 1, 2])
    found = np.searchsorted(mixed, np.array([2.5]), sorter=np.argsort(mixed))
    assert found.asnumpy().tolist() == [2]


@pytest.mark.parametrize("left", ["float32", "float64", "int32", "int64", "uint8", "float16"])
@pytest.mark.parametrize("right", ["float32", "int8", "int64", "bool"])
def test_searchsorted_of_two_types(left, right):
    line, values = onp.array([0, 1, 1, 2, 100]), onp.array([[1, 0], [1, 1]])
    expected = onp.searchsorted(line.astype(left), values.astype(right), "right")
    found = np.searchsorted(np.array(line, dtype=left), np.array(values, dtype=right), side="right")
    assert found.asnumpy().tolist() == expected.tolist()


def test_searchsorted_is_exact_where_types_meet():
    line = np.array([2**24, 2**24 + 1, 2**24 + 2], dtype="int32")
    assert int(np.searchsorted(line, np.array(2.0**24 + 2))) == 2
    assert int(np.searchsorted(line, 2**24 + 1)) == 1
    assert np.searchsorted(line, [0, 2.0**25]).asnumpy().tolist() == [0, 3]


def test_searchsorted_needs_an_array_as_sorter():
    line = np.array([1.0, 2.0])
    for sorter in (1, 0.5):
        with pytest.raises(TypeError, match="searchsorted"):
            np.searchsorted(line, line, sorter=sorter)


def test_both_results_of_topk_are_written_where_asked():
    x = nd.array([[3, 1, 2]])
    values, places = nd.zeros((1, 2)), nd.zeros((1, 2))
    result = nd.topk(x, k=2, ret_typ="both", out=[values, places])
    assert result[0] is values
    assert result[1] is places
    assert values.asnumpy().tolist() == [[3, 2]]
    assert places.asnumpy().tolist() == [[0, 2]]
    with pytest.raises(ValueError, match="2 results"):
        nd.topk(x, k=2, ret_typ="both", out=[values])

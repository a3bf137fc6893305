# SPDX-License-Identifier: Apache-2.0
"""take, pick, gather_nd and their kin. Literal answers are those of MXNet 1.9.1."""

from __future__ import annotations

import doctest
import importlib
from typing import Any

import numpy as onp
import pytest
from support import raises_at_the_read

from afterglow import nd, np, npx
from afterglow.error import MXNetError
from afterglow.ndarray.contrib import boolean_mask, index_array, index_copy

both = pytest.mark.parametrize("front", [nd, np], ids=["nd", "np"])
TYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool")
INDEX_TYPES = ("float32", "int32", "int64", "uint8", "int8", "float64", "float16")


def table(front: Any) -> Any:
    return front.arange(12).reshape((3, 4))


@pytest.mark.parametrize("name", ["ndarray.indexing", "numpy.indexing", "numpy_extension.indexing"])
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"afterglow.{name}"))
    assert result.attempted
    assert not result.failed


# --- take ---


@pytest.mark.parametrize(
    ("mode", "rows"),
    [("clip", [0, 2, 2, 0, 0]), ("wrap", [0, 2, 2, 2, 1])],
)
@both
def test_take_modes(front: Any, mode: str, rows: list[int]) -> None:
    x = table(front)
    index = front.array([0, 2, 5, -1, -5])
    expected = onp.arange(12).reshape(3, 4)[rows].tolist()
    assert front.take(x, index, axis=0, mode=mode).asnumpy().tolist() == expected
    assert x.take(index, axis=0, mode=mode).asnumpy().tolist() == expected


@raises_at_the_read
def test_take_raises_when_it_is_read() -> None:
    x = table(nd)
    fine = nd.take(x, nd.array([0, 2]), mode="raise")
    assert fine.asnumpy()[:, 0].tolist() == [0, 8]
    for bad in (nd.array([3]), nd.array([-1])):
        result = nd.take(x, bad, mode="raise")
        with pytest.raises(IndexError, match="out of bounds"):
            result.asnumpy()
    y = table(np)
    assert np.take(y, np.array([-1, 5])).asnumpy().tolist() == [11, 5]
    for bad in (np.array([12]), np.array([-13])):
        result = np.take(y, bad)
        with pytest.raises(MXNetError, match="out of bounds"):
            result.asnumpy()


@both
@pytest.mark.parametrize("dtype", TYPES)
def test_take_types_and_axes(front: Any, dtype: str) -> None:
    host = onp.random.randint(0, 100, (3, 4, 5)).astype(dtype)
    x = front.array(host, dtype=dtype)
    for index_type in INDEX_TYPES:
        index = onp.random.randint(0, 3, (2, 3)).astype(index_type)
        ours = front.array(index, dtype=index_type)
        for axis in (0, 1, 2, -1):
            found = front.take(x, ours, axis=axis)
            assert found.asnumpy().dtype == dtype
            onp.testing.assert_array_equal(
                found.asnumpy(), onp.take(host, index.astype("int64"), axis=axis)
            )


@both
def test_take_of_fractions_and_nan(front: Any) -> None:
    x = front.arange(3)
    index = front.array([0.9, 1.5, float("nan"), -0.5, 1e30, -1e30])
    assert front.take(x, index, mode="clip").asnumpy().tolist() == [0, 1, 0, 0, 2, 0]


@both
def test_take_into_out(front: Any) -> None:
    x = table(front)
    out = front.zeros((2, 4))
    assert front.take(x, front.array([2, 0]), axis=0, out=out) is out
    assert out.asnumpy()[:, 0].tolist() == [8, 0]
    whole = front.zeros((4, 4))
    front.take(x, front.array([2, 0]), axis=0, out=whole[1:3])
    assert whole.asnumpy()[:, 1].tolist() == [0, 9, 1, 0]
    # The result goes where the array was.
    front.take(x, front.array([2, 1, 0]), axis=0, out=x)
    assert x.asnumpy()[:, 0].tolist() == [8, 4, 0]
    with pytest.raises(ValueError, match="out has shape"):
        front.take(x, front.array([2, 0]), axis=0, out=front.zeros((3, 4)))


def test_take_in_np() -> None:
    x = table(np)
    assert np.take(x, np.array(1, dtype="int32")).shape == ()
    assert np.take(x, 5).item() == 5
    assert np.take(x, [[0, 1]]).asnumpy().tolist() == [[0, 1]]
    assert np.take(x, onp.array([3, 2]), axis=1).asnumpy()[0].tolist() == [3, 2]
    assert np.take(x, np.zeros((0,), dtype="int64"), axis=1).shape == (3, 0)
    assert x.take(np.array([[0, 1]], dtype="int64"), axis=1).shape == (3, 1, 2)
    assert np.take(np.zeros((0, 2)), np.zeros((0,)), axis=0).shape == (0, 2)
    with pytest.raises(IndexError):
        np.take(np.zeros((0, 2)), np.array([0]), axis=0, mode="clip")
    with pytest.raises(TypeError):
        np.take(x, [0.5])
    assert onp.take(x, [1, 2]).asnumpy().tolist() == [1, 2]


@both
def test_refusals(front: Any) -> None:
    x = table(front)
    with pytest.raises(ValueError, match="axis 5"):
        front.take(x, front.array([1]), axis=5)
    with pytest.raises(ValueError, match="mode"):
        front.take(x, front.array([1]), mode="foo")
    with pytest.raises(AssertionError):
        front.take([1], front.array([0]))


def test_nd_takes_nothing_but_arrays() -> None:
    with pytest.raises(AssertionError, match="indices"):
        nd.take(table(nd), [0, 1])
    with pytest.raises(AssertionError, match="index"):
        nd.pick(table(nd), [0, 1, 2])


@both
def test_embedding(front: Any) -> None:
    call = nd.Embedding if front is nd else npx.embedding
    weight = front.arange(8).reshape((4, 2))
    found = call(front.array([1, 30, -1]), weight, input_dim=4, output_dim=2)
    assert found.asnumpy().tolist() == [[2, 3], [6, 7], [0, 1]]
    assert call(front.array([[1], [2]]), weight, 4, 2).shape == (2, 1, 2)
    half = weight.astype("float16")
    assert call(front.array([1]), half, 4, 2, dtype="float16").asnumpy().dtype == "float16"
    with pytest.raises(ValueError, match="input_dim"):
        call(front.array([1]), weight, input_dim=5, output_dim=2)
    with pytest.raises(ValueError, match="needs input_dim"):
        call(front.array([1]), weight)
    with pytest.raises(TypeError, match="dtype"):
        call(front.array([1]), weight, 4, 2, dtype="float64")


def test_large_embedding() -> None:
    host = onp.random.rand(5000, 257).astype("float32")
    index = onp.random.randint(0, 5000, (40, 50))
    found = nd.Embedding(nd.array(index), nd.array(host), input_dim=5000, output_dim=257)
    onp.testing.assert_array_equal(found.asnumpy(), host[index])


# --- pick ---


@pytest.mark.parametrize(
    ("index", "options", "expected"),
    [
        ([0, 1, 3], {}, [0, 5, 11]),
        ([0, 1, 30], {}, [0, 5, 11]),
        ([0, -1, 30], {"mode": "wrap"}, [0, 7, 10]),
        ([0, -1, -30], {}, [0, 4, 8]),
        ([0, 1, 3, 0], {"axis": 0}, [0, 5, 10, 3]),
        ([[0], [1], [3]], {"keepdims": True}, [[0], [5], [11]]),
        ([[0], [1], [3]], {}, [0, 5, 11]),
        ([0, 1, 3], {"keepdims": True}, [[0], [5], [11]]),
        ([0, 1, 3], {"axis": 1}, [0, 5, 11]),
    ],
)
@both
def test_pick(front: Any, index: Any, options: dict[str, Any], expected: Any) -> None:
    pick = nd.pick if front is nd else npx.pick
    assert pick(table(front), front.array(index), **options).asnumpy().tolist() == expected
    if front is nd:
        picked = table(nd).pick(nd.array(index), **options)
        assert picked.asnumpy().tolist() == expected
        assert nd.choose_element_0index is nd.pick


@both
def test_pick_anywhere(front: Any) -> None:
    pick = nd.pick if front is nd else npx.pick
    host = onp.random.rand(4, 5, 6).astype("float32")
    for axis in (0, 1, 2, -2):
        shape = list(host.shape)
        extent = shape[axis]
        shape[axis] = 1
        index = onp.random.randint(0, extent, shape)
        expected = onp.take_along_axis(host, index, axis)
        for dtype in INDEX_TYPES:
            ours = front.array(index, dtype=dtype)
            found = pick(front.array(host), ours, axis=axis, keepdims=True)
            onp.testing.assert_array_equal(found.asnumpy(), expected)
            found = pick(front.array(host), front.squeeze(ours, axis), axis=axis)
            onp.testing.assert_array_equal(found.asnumpy(), expected.squeeze(axis))
    assert pick(front.arange(3), front.array([1])).shape == (1,)


@both
def test_pick_refuses(front: Any) -> None:
    pick = nd.pick if front is nd else npx.pick
    x = table(front)
    # MXNet broadcasts no index.
    for shape in [(2,), (1,), (1, 1), (3, 2), (3, 4), (4,), (3, 1, 1)]:
        with pytest.raises(ValueError, match=r"without axis 1, \(3,\) or \(3, 1\)"):
            pick(x, front.zeros(shape))
    with pytest.raises(ValueError, match=r"without axis 0, \(4,\) or \(1, 4\)"):
        pick(x[:1], front.zeros((2, 4)), axis=0, keepdims=True)
    with pytest.raises(ValueError, match="axis"):
        pick(x, front.array([0, 1, 3]), axis=None)
    with pytest.raises(ValueError, match="mode"):
        pick(x, front.array([0, 1, 3]), mode="raise")


def test_batch_take() -> None:
    x = table(nd)
    assert nd.batch_take(x, nd.array([0, 7, -3], dtype="int32")).asnumpy().tolist() == [0, 7, 8]
    column = nd.array([[0], [7], [-3]], dtype="int32")
    assert nd.batch_take(x, column).asnumpy().tolist() == [[0], [7], [8]]
    with pytest.raises(ValueError, match="index per row"):
        nd.batch_take(x, nd.array([0, 1]))


def test_fill_element_0index() -> None:
    filled = nd.fill_element_0index(table(nd), nd.array([9, 8, 7]), nd.array([0, 1, 3]))
    assert filled.asnumpy().tolist() == [[9, 1, 2, 3], [4, 8, 6, 7], [8, 9, 10, 7]]


def test_take_along_axis() -> None:
    host = onp.random.rand(3, 4, 5)
    x = np.array(host)
    for axis, extent in ((0, 3), (1, 4), (-1, 5)):
        shape = list(host.shape)
        shape[axis] = 7
        index = onp.random.randint(-extent, extent, shape)
        expected = onp.take_along_axis(host, index, axis)
        found = np.take_along_axis(x, np.array(index), axis)
        onp.testing.assert_array_equal(found.asnumpy(), expected)
        onp.testing.assert_array_equal(np.take_along_axis(x, index, axis).asnumpy(), expected)
    flat = np.take_along_axis(x, np.array([5, 0], dtype="int64"), None)
    onp.testing.assert_array_equal(flat.asnumpy(), host.reshape(-1)[[5, 0]])
    with pytest.raises(ValueError, match="as many axes"):
        np.take_along_axis(x, np.array([0], dtype="int64"), 0)


# --- gather and scatter ---


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        ([[0, 1], [1, 3]], [1, 7]),
        ([[0, 1]], [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ([[0, -1], [1, -3]], [1, 9]),
        ([[[0, 1]], [[1, 2]]], [[1, 6]]),
    ],
)
@both
def test_gather_nd(front: Any, indices: Any, expected: Any) -> None:
    call = nd.gather_nd if front is nd else npx.gather_nd
    assert call(table(front), front.array(indices)).asnumpy().tolist() == expected


@both
def test_gather_nd_refuses(front: Any) -> None:
    call = nd.gather_nd if front is nd else npx.gather_nd
    x = table(front)
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        call(x, front.array([[0, 7], [1, 3]])).asnumpy()
    with pytest.raises(MXNetError, match="two axes"):
        call(x, front.array([0, 1]))
    with pytest.raises(MXNetError, match="too many"):
        call(x, front.array([[0, 1], [1, 3], [0, 0]]))


@pytest.mark.parametrize(
    ("data", "indices", "shape", "expected"),
    [
        ([2, 3, 0], [[1, 1, 0], [0, 1, 0]], (2, 2), [[0, 0], [2, 3]]),
        ([2, 3, 9], [[1, 1, 1], [0, 1, 1]], (2, 2), [[0, 0], [2, 9]]),
        ([[2, 3], [4, 5]], [[1, 0]], (2, 2), [[4, 5], [2, 3]]),
        ([[2, 3], [4, 5]], [[1, 0]], (3, 2), [[4, 5], [2, 3], [0, 0]]),
    ],
)
def test_scatter_nd(data: Any, indices: Any, shape: Any, expected: Any) -> None:
    for dtype in ("float32", "int8", "int64", "float16"):
        found = nd.scatter_nd(nd.array(data, dtype=dtype), nd.array(indices), shape=shape)
        assert found.asnumpy().tolist() == expected
        assert found.dtype == onp.dtype(dtype).type


def test_scatter_nd_refuses() -> None:
    with pytest.raises(ValueError, match="data has shape"):
        nd.scatter_nd(nd.array([1, 2]), nd.array([[0]]), shape=(2,))
    with pytest.raises(IndexError, match="index 2"):
        nd.scatter_nd(nd.array([1]), nd.array([[2]]), shape=(2,)).asnumpy()


@pytest.mark.parametrize("dtype", TYPES)
def test_index_update_and_add(dtype: str) -> None:
    host = onp.random.randint(0, 5, (4, 3, 30)).astype(dtype)
    index = onp.random.randint(0, 3, (2, 50))
    values = onp.random.randint(0, 3, (50, 30)).astype(dtype)
    updated, added = host.copy(), host.copy()
    updated[tuple(index)] = values
    onp.add.at(added, tuple(index), values)
    x, ours = np.array(host, dtype=dtype), np.array(index)
    stored = np.array(values, dtype=dtype)
    onp.testing.assert_array_equal(npx.index_update(x, ours, stored).asnumpy(), updated)
    onp.testing.assert_array_equal(npx.index_add(x, ours, stored).asnumpy(), added)
    onp.testing.assert_array_equal(x.asnumpy(), host)


def test_index_copy() -> None:
    for dtype in ("int64", "float32", "int32"):
        index = nd.array([0, 3], dtype=dtype)
        found = index_copy(nd.zeros((4, 2)), index, nd.ones((2, 2)))
        assert found.asnumpy().tolist() == [[1, 1], [0, 0], [0, 0], [1, 1]]
    with pytest.raises(ValueError, match="rows of shape"):
        index_copy(nd.zeros((4, 2)), nd.array([0]), nd.ones((2, 2)))


# --- one-hot ---


@both
def test_one_hot(front: Any) -> None:
    call = nd.one_hot if front is nd else npx.one_hot
    found = call(front.array([1, -1, 5, 1.7]), 3, on_value=8, off_value=1, dtype="int32")
    assert found.asnumpy().tolist() == [[1, 8, 1], [1, 1, 1], [1, 1, 1], [1, 8, 1]]
    assert found.asnumpy().dtype == "int32"
    index = onp.random.randint(0, 10, (30, 4))
    for dtype in INDEX_TYPES:
        found = call(front.array(index, dtype=dtype), depth=10, dtype=dtype)
        assert found.asnumpy().dtype == dtype
        onp.testing.assert_array_equal(found.asnumpy(), onp.eye(10)[index])
    assert call(front.array([1]), 2, dtype="uint8", on_value=2.7).asnumpy().tolist() == [[0, 2]]
    assert call(front.array([1]), 0).shape == (1, 0)
    with pytest.raises(MXNetError, match="bool"):
        call(front.array([1]), 2, dtype="bool")
    with pytest.raises(MXNetError, match="depth"):
        call(front.array([1]), -2)


def test_one_hot_forms() -> None:
    assert npx.one_hot(np.array(1), 3).asnumpy().tolist() == [0, 1, 0]
    assert nd.array([1, 0]).one_hot(2).asnumpy().tolist() == [[0, 1], [1, 0]]
    large = nd.one_hot(nd.arange(3000), 300)
    onp.testing.assert_array_equal(large.asnumpy(), onp.eye(3000, 300))
    out = nd.zeros((2, 3))
    assert nd.onehot_encode(nd.array([1, 0]), out) is out
    assert out.asnumpy().tolist() == [[0, 1, 0], [1, 0, 0]]
    for shape in ((), (2,), (2, 1, 3)):
        with pytest.raises(MXNetError, match="matrix"):
            nd.onehot_encode(nd.array([1, 0]), nd.zeros(shape))
    with pytest.raises(MXNetError, match="out"):
        nd.onehot_encode(nd.zeros((2, 2)), None)  # type: ignore[arg-type]
    for name in ("pick", "one_hot"):
        assert not hasattr(np.array([1]), name)


# --- places ---


def test_ravel_and_unravel() -> None:
    flat = nd.ravel_multi_index(nd.array([[3, 6, 6], [4, 5, 1]]), shape=(7, 6))
    assert (flat.asnumpy().tolist(), flat.dtype) == ([22, 41, 37], onp.float32)
    flat = nd.ravel_multi_index(nd.array([[3, 6, 6], [4, 5, 1]], dtype="int32"), shape=(-1, 6))
    assert (flat.asnumpy().tolist(), flat.dtype) == ([22, 41, 37], onp.int32)
    rows = nd.unravel_index(nd.array([22, 41, 37]), shape=(7, 6))
    assert rows.asnumpy().tolist() == [[3, 6, 6], [4, 5, 1]]
    rows = nd.unravel_index(nd.array([22, 41, 370], dtype="int64"), shape=(-1, 6))
    assert rows.asnumpy().tolist() == [[3, 6, 61], [4, 5, 4]]
    with pytest.raises(ValueError, match="row for each axis"):
        nd.ravel_multi_index(nd.array([1, 2, 3]), shape=(7, 6))
    first, second = np.unravel_index(np.array([22, 41], dtype="int64"), (7, 6))
    assert (first.asnumpy().tolist(), second.asnumpy().tolist()) == ([3, 6], [4, 5])
    assert [int(one) for one in np.unravel_index(22, (7, 6))] == [3, 4]
    with pytest.raises(MXNetError, match="out of bounds"):
        np.unravel_index(np.array([99]), (7, 6))[0].asnumpy()
    with pytest.raises(NotImplementedError):
        np.unravel_index(np.array([1]), (7, 6), order="F")


@pytest.mark.parametrize("shape", [(2, 3), (4,), (0, 3), (2, 1, 3)])
def test_nonzero(shape: tuple[int, ...]) -> None:
    host = onp.random.randint(0, 2, shape).astype("float32")
    x = np.array(host)
    for found in (np.nonzero(x), x.nonzero(), np.where(x)):
        assert type(found) is tuple
        for part, expected in zip(found, host.nonzero(), strict=True):
            assert part.dtype == onp.int64
            onp.testing.assert_array_equal(part.asnumpy(), expected)
    onp.testing.assert_array_equal(npx.nonzero(x).asnumpy(), onp.argwhere(host))
    onp.testing.assert_array_equal(np.argwhere(x).asnumpy(), onp.argwhere(host))
    onp.testing.assert_array_equal(np.flatnonzero(x).asnumpy(), onp.flatnonzero(host))
    (places,) = np.nonzero(np.array(5.0))
    assert places.asnumpy().tolist() == [0]


def test_boolean_mask() -> None:
    x = table(nd)
    assert boolean_mask(x, nd.array([0, 1, 2])).asnumpy()[:, 0].tolist() == [4, 8]
    assert boolean_mask(x, nd.array([0, 0, 0])).shape == (0, 4)
    assert boolean_mask(x, nd.array([0, 1, 0, 1]), axis=1).asnumpy()[0].tolist() == [1, 3]
    with pytest.raises(MXNetError, match="does not fit"):
        boolean_mask(x, nd.array([0, 1]))


def test_index_array() -> None:
    x = nd.zeros((2, 2))
    assert index_array(x).asnumpy().tolist() == [[[0, 0], [0, 1]], [[1, 0], [1, 1]]]
    assert index_array(x, axes=(1,)).asnumpy().tolist() == [[[0], [1]], [[0], [1]]]
    assert index_array(x).dtype == onp.int64


# --- other numbers of elements ---


def test_compress_and_extract() -> None:
    host = onp.arange(12, dtype="float32").reshape(3, 4)
    x = np.array(host)
    for condition in ([0, 1, 1], onp.array([0, 1, 1]), np.array([0, 1, 1])):
        found = np.compress(condition, x, axis=0)
        onp.testing.assert_array_equal(found.asnumpy(), host[1:])
    onp.testing.assert_array_equal(np.compress([0, 1], x).asnumpy(), [1])
    onp.testing.assert_array_equal(np.extract(x > 3, x).asnumpy(), host[host > 3])


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("obj", [1, -1, slice(0, 2), [0, 2], onp.array([-1, 0]), [1, 1], []])
def test_delete(obj: Any, axis: int | None) -> None:
    host = onp.arange(12, dtype="float32").reshape(3, 4)
    places = onp.array(obj, dtype="int64") if isinstance(obj, list) else obj
    expected = onp.delete(host, places, axis)
    onp.testing.assert_array_equal(np.delete(np.array(host), obj, axis).asnumpy(), expected)
    if isinstance(obj, (list, onp.ndarray)):
        for dtype in ("int64", "float32"):
            ours = np.array(obj, dtype=dtype)
            found = np.delete(np.array(host), ours, axis)
            onp.testing.assert_array_equal(found.asnumpy(), expected)


@pytest.mark.parametrize(
    ("obj", "values", "axis"),
    [
        (1, 5, None),
        (1, [1, 2, 3, 4], 0),
        (slice(0, 2), [7, 8], 1),
        ([1, 1], 9, 1),
        ([0, 2], [7, 8], 1),
        ([2, 0], [[7, 8]], 1),
        (1, [7.5], 1),
        (1, [[1], [2], [3]], 1),
        ([1], [[1], [2], [3]], 1),
        (1, [1, 2, 3], 1),
        (-1, 4, 1),
        (3, 4, 0),
        ([0, 12, -1], [1, 2, 3], None),
        (1, [[1, 2, 3, 4], [5, 6, 7, 8]], 0),
    ],
)
def test_insert(obj: Any, values: Any, axis: int | None) -> None:
    host = onp.arange(12, dtype="float32").reshape(3, 4)
    expected = onp.insert(host, obj, values, axis)
    x = np.array(host)
    given = [values, onp.array(values), np.array(values)]
    for one in given:
        onp.testing.assert_array_equal(np.insert(x, obj, one, axis).asnumpy(), expected)
    if isinstance(obj, list):
        ours = np.array(obj, dtype="int64")
        onp.testing.assert_array_equal(np.insert(x, ours, values, axis).asnumpy(), expected)


def test_delete_and_insert_refuse() -> None:
    x = table(np)
    for call in (lambda: np.delete(x, 9, 1), lambda: np.insert(x, 9, 9, axis=1)):
        with pytest.raises(IndexError, match="out of bounds"):
            call()
    with pytest.raises(MXNetError, match="axis 5"):
        np.delete(x, 1, 5)
    small = np.insert(np.array([1, 2], dtype="int32"), 1, 2.5)
    assert (small.asnumpy().tolist(), small.dtype) == ([1, 2, 2], onp.int32)


def test_append() -> None:
    x = table(np)
    assert np.append(x, np.ones((1, 4)), axis=0).shape == (4, 4)
    assert np.append(x, np.ones((1, 4))).shape == (16,)
    assert np.append(x, np.ones((3, 1)), axis=-1).asnumpy()[:, -1].tolist() == [1, 1, 1]
    with pytest.raises(MXNetError):
        np.append(x, np.ones(3), axis=0)
    with pytest.raises(AssertionError):
        np.append(x, [1, 2])


# --- errors name the line ---


@raises_at_the_read
def test_failure_names_its_line() -> None:
    result = nd.take(nd.ones((3,)), nd.array([5]), mode="raise") + 1
    with pytest.raises(IndexError, match=r"(?s)\[take\] index 5 .*test_picking\.py"):
        result.asnumpy()

# SPDX-License-Identifier: Apache-2.0
"""Keys with index arrays and masks, read and written, against NumPy."""

from __future__ import annotations

import random
from typing import Any

import numpy as onp
import pytest
from support import busy_engine, raises_at_the_read

import afterglow as mx
from afterglow.error import MXNetError

both = pytest.mark.parametrize("front", [mx.nd, mx.np], ids=["nd", "np"])
TYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool")
INDEX_TYPES = ("float32", "int32", "int64", "uint8", "int8", "float64", "float16")


# --- random keys ---


class Keys:
    """Draws keys, as we take them and as NumPy does."""

    def __init__(self, front: Any, shape: tuple[int, ...]) -> None:
        self.front = front
        self.shape = shape
        self.ours: list[Any] = []
        self.host: list[Any] = []
        # All index arrays of a key broadcast to this shape.
        self.positions = tuple(random.choice([0, 1, 2, 3]) for _ in range(random.randint(1, 2)))

    def draw(self) -> tuple[Any, Any]:
        axis = 0
        while axis < len(self.shape) and random.random() < 0.85:
            axis += self.draw_item(axis)
        if random.random() < 0.25:
            self.insert(None, None)
        if random.random() < 0.2:
            self.insert(..., ...)
        if len(self.host) == 1 and random.random() < 0.5:
            return self.ours[0], self.host[0]
        return tuple(self.ours), tuple(self.host)

    def insert(self, ours: Any, host: Any) -> None:
        """Put an item that uses no axis anywhere; the ellipsis then stands for what is left."""
        place = len(self.host) if host is ... else random.randint(0, len(self.host))
        self.ours.insert(place, ours)
        self.host.insert(place, host)

    def draw_item(self, axis: int) -> int:
        extent = self.shape[axis]
        kind = random.random()
        if kind < 0.3:
            bounds = [random.choice([None, random.randint(-extent - 1, extent + 1)]) for _ in "ab"]
            self.add(slice(*bounds, random.choice([None, 1, 2, -1, -2])))
        elif kind < 0.45 and extent:
            self.add(random.choice([int, onp.int64])(random.randrange(-extent, extent)))
        elif kind < 0.6 and self.front is mx.np:
            return self.add_mask(axis)
        else:
            self.add_index(extent)
        return 1

    def add(self, item: Any) -> None:
        self.ours.append(item)
        self.host.append(item)

    def add_index(self, extent: int) -> None:
        shape = self.positions[random.randint(0, len(self.positions) - 1) :]
        shape = tuple(1 if random.random() < 0.2 else length for length in shape)
        if not extent:
            shape = (*shape[:-1], 0)
        low = 0 if extent else -1
        host = onp.random.randint(min(-extent, low), max(extent, 0), shape).astype("int64")
        form = random.random()
        if form < 0.3 and (host.size or host.ndim == 1):  # other empty lists have no shape
            ours: Any = host.tolist()
        elif form < 0.5:
            ours = host
        else:
            dtype = random.choice(INDEX_TYPES)
            host = onp.abs(host) % max(extent, 1) if dtype == "uint8" else host
            ours = self.front.array(host, dtype=dtype)
        self.ours.append(ours)
        self.host.append(host)

    def add_mask(self, axis: int) -> int:
        rank = random.randint(1, len(self.shape) - axis)
        mask = onp.random.rand(*self.shape[axis : axis + rank]) < 0.5
        self.host.append(mask)
        self.ours.append(random.choice([mask, mx.np.array(mask, dtype="bool")]))
        return rank


def random_array(front: Any) -> tuple[Any, onp.ndarray]:
    shape = tuple(random.choice([1, 2, 3, 5, 0]) for _ in range(random.randint(1, 4)))
    host = onp.random.randint(0, 100, shape).astype(random.choice(TYPES))
    return front.array(host, dtype=host.dtype), host


def attempt(function: Any) -> tuple[Any, bool]:
    """Return what a function gives, or whether it refuses its arguments."""
    try:
        return function(), True
    except (IndexError, ValueError):
        return None, False


@both
def test_random_loads(front: Any) -> None:
    for _ in range(600):
        x, host = random_array(front)
        key, host_key = Keys(front, host.shape).draw()
        expected, fits = attempt(lambda host=host, key=host_key: host[key])
        found, accepted = attempt(lambda x=x, key=key: x[key].asnumpy())
        assert accepted == fits, f"{host.shape} {host_key}"
        if fits:
            if front is mx.nd and not onp.ndim(expected):
                expected = onp.reshape(expected, 1)
            assert found.dtype == host.dtype
            assert found.shape == expected.shape, f"{host.shape} {host_key}"
            onp.testing.assert_array_equal(found, expected, err_msg=f"{host.shape} {host_key}")


@both
def test_random_stores(front: Any) -> None:
    for _ in range(600):
        x, host = random_array(front)
        key, host_key = Keys(front, host.shape).draw()
        named, fits = attempt(lambda host=host, key=host_key: host[key])
        if not fits:
            continue
        values = onp.random.randint(0, 50, onp.shape(named))
        if values.ndim and random.random() < 0.6:
            values = random.choice([values[:1], values[0] if len(values) else values, values[None]])
        stored: Any = values
        if random.random() < 0.5:
            stored = front.array(values, dtype=random.choice(TYPES[:7]))
        elif random.random() < 0.4:
            stored = 3
            values = onp.array(3)
        # NumPy does not drop leading axes of one element where a mask is all of the key.
        host[host_key] = values[0] if values.ndim > named.ndim else values
        x[key] = stored
        onp.testing.assert_array_equal(x.asnumpy(), host, err_msg=f"{host.shape} {host_key}")


@both
def test_random_changes_in_place(front: Any) -> None:
    for _ in range(200):
        host = onp.random.randint(0, 100, (4, 3, 5)).astype("float32")
        x = front.array(host)
        key, host_key = Keys(front, host.shape).draw()
        _, fits = attempt(lambda host=host, key=host_key: host[key])
        if not fits:
            continue
        host[host_key] += 7
        x[key] += 7
        onp.testing.assert_array_equal(x.asnumpy(), host, err_msg=str(host_key))


# --- the rules one by one ---


def table(front: Any) -> Any:
    return front.arange(24).reshape((2, 3, 4))


@both
@pytest.mark.parametrize(
    ("key", "shape"),
    [
        (([0, 1], slice(None), 0), (2, 3)),
        ((0, slice(None), [0, 1]), (2, 3)),
        ((slice(None), 0, [0, 1]), (2, 2)),
        ((slice(None), [[0, 1], [1, 2], [0, 0]]), (2, 3, 2, 4)),
        (([0], None, [1]), (1, 1, 4)),
        ((slice(None), [0], ..., [1]), (1, 2)),
        ((..., [0, 1, 3]), (2, 3, 3)),
        (([[0], [1]], [0, 2]), (2, 2, 4)),
        ((slice(None, None, -1), [0, 2], slice(None, None, 2)), (2, 2, 2)),
    ],
)
def test_where_the_axes_go(front: Any, key: Any, shape: tuple[int, ...]) -> None:
    host = onp.arange(24, dtype="float32").reshape(2, 3, 4)
    found = table(front)[key]
    assert found.shape == shape == host[key].shape
    onp.testing.assert_array_equal(found.asnumpy(), host[key])


@both
def test_last_store_wins(front: Any) -> None:
    x = front.zeros((3, 70))
    index = onp.random.randint(0, 3, 1000)
    rows = onp.arange(70000, dtype="float32").reshape(1000, 70)
    host = onp.zeros((3, 70), "float32")
    host[index] = rows
    x[front.array(index, dtype="int32")] = front.array(rows)
    onp.testing.assert_array_equal(x.asnumpy(), host)


@both
def test_large_loads_and_stores(front: Any) -> None:
    host = onp.random.rand(3, 2000, 130).astype("float32")
    x = front.array(host)
    index = onp.random.permutation(2000)[:1500]
    ours = front.array(index, dtype="int32")
    onp.testing.assert_array_equal(x[:, ours].asnumpy(), host[:, index])
    onp.testing.assert_array_equal(x[0][ours].asnumpy(), host[0, index])
    values = onp.random.rand(3, 1500, 130).astype("float32")
    x[:, ours] = front.array(values)
    host[:, index] = values
    onp.testing.assert_array_equal(x.asnumpy(), host)
    x[1, ours] = 5
    host[1, index] = 5
    onp.testing.assert_array_equal(x.asnumpy(), host)


@both
def test_values_that_overlap_their_target(front: Any) -> None:
    host = onp.arange(20, dtype="float32").reshape(5, 4)
    x = front.array(host)
    x[[1, 2, 3]] = x[0:3]
    host[[1, 2, 3]] = host[0:3].copy()
    onp.testing.assert_array_equal(x.asnumpy(), host)
    y = front.array([2, 0, 1])
    y[y] = front.array([10, 20, 30])
    assert y.asnumpy().tolist() == [20, 30, 10]


@both
def test_index_arrays_are_not_waited_for(front: Any) -> None:
    index = mx.nd.array([1, 0])
    x = front.arange(12).reshape((3, 4))
    with busy_engine() as targets:
        unfinished = targets[-1][0, :2] * 0 + index
        later = unfinished if front is mx.nd else unfinished.as_np_ndarray()
        rows = x[later]
        x[later] = 9
        if front is mx.np:
            mask = mx.np.zeros((3,)) + later[0] > 0
            x[mask] = -1
        assert not x.is_ready()
        del unfinished, later
    assert rows.asnumpy().tolist() == [[4, 5, 6, 7], [0, 1, 2, 3]]
    assert x.asnumpy()[:, 0].tolist() == ([9, 9, 8] if front is mx.nd else [-1] * 3)


# --- masks ---


def test_masks_in_np() -> None:
    host = onp.arange(12, dtype="float32").reshape(3, 4)
    for value, stored in [
        (0, 0),
        (onp.float32(2), 2),
        (mx.np.array([7.5]), [7.5]),
        (mx.np.array(3, dtype="int32"), 3),
        (mx.np.arange(6), onp.arange(6)),
    ]:
        x, expected = mx.np.array(host), host.copy()
        x[x > 5] = value
        expected[host > 5] = stored
        assert x.asnumpy().tolist() == expected.tolist()
    rows = mx.np.array([True, False, True], dtype="bool")
    x, expected = mx.np.array(host), host.copy()
    x[rows] = mx.np.array([1, 2, 3, 4])
    x[rows, 1:3] = mx.np.array([[5, 6]])
    x[rows, 3] = mx.np.array([8, 9], dtype="int64")
    expected[rows.asnumpy()] = [1, 2, 3, 4]
    expected[rows.asnumpy(), 1:3] = [[5, 6]]
    expected[rows.asnumpy(), 3] = [8, 9]
    assert x.asnumpy().tolist() == expected.tolist()
    with pytest.raises(ValueError, match="broadcast"):
        x[x > 5] = mx.np.array([1, 2])
    with pytest.raises(IndexError, match="boolean index did not match"):
        x[mx.np.array([True, False], dtype="bool")]
    with pytest.raises(IndexError, match="too many"):
        x[onp.ones((3, 4, 1), bool)]


def test_truth_values_without_axes() -> None:
    x = mx.np.arange(3)
    assert x[True].shape == (1, 3)
    assert x[False].shape == (0, 3)
    assert x[onp.bool_(True), ..., None].shape == (1, 3, 1)
    assert x[mx.np.array(True, dtype="bool")].shape == (1, 3)
    assert mx.np.array(5.0)[True].asnumpy().tolist() == [5]
    assert mx.np.array(5.0)[mx.np.array(False, dtype="bool")].shape == (0,)
    y = mx.np.array(5.0)
    y[mx.np.array(True, dtype="bool")] = 2
    assert y.item() == 2


def test_truth_values_in_nd() -> None:
    """On the host they are 0 and 1. Arrays of type bool are masks; MXNet refuses those."""
    x = mx.nd.arange(12).reshape((3, 4))
    mask = onp.array([True, False, True])
    for key in (mask, mask.tolist()):
        assert x[key].asnumpy()[:, 0].tolist() == [4, 0, 4]
    assert x[1, mask].asnumpy().tolist() == [5, 4, 5]
    assert x[True].asnumpy().tolist() == [4, 5, 6, 7]
    assert x[x > 5].shape == (3, 4, 4)
    assert x[mx.nd.array(mask, dtype="bool")].asnumpy()[:, 0].tolist() == [0, 8]
    with pytest.raises(ValueError, match="slicing with key"):
        x[onp.bool_(True)]


# --- one element, or none ---


@both
def test_index_without_axes(front: Any) -> None:
    x = front.arange(12).reshape((3, 4))
    one = mx.np.array(1, dtype="int32") if front is mx.np else mx.np.array(1).as_nd_ndarray()
    assert x[one].asnumpy().tolist() == [4, 5, 6, 7]
    assert x[onp.array(1)].asnumpy().tolist() == [4, 5, 6, 7]
    assert x[one, [0, 1]].asnumpy().tolist() == [4, 5]
    assert x[one, 2].shape == (() if front is mx.np else (1,))
    x[one] = 0
    assert x.asnumpy().sum() == 66 - 22


@both
def test_empty_indices(front: Any) -> None:
    x = front.arange(12).reshape((3, 4))
    for key in ([], onp.array([]), front.zeros((0,), dtype="int32")):
        assert x[key].shape == (0, 4)
        x[key] = 5
    assert x[:, []].shape == (3, 0)
    assert x.asnumpy().sum() == 66


@both
def test_subclasses_and_the_other_world(front: Any) -> None:
    other = mx.np if front is mx.nd else mx.nd
    x = front.arange(12).reshape((3, 4))
    assert x[other.array([2, 0])].asnumpy()[:, 0].tolist() == [8, 0]
    assert type(x[other.array([2, 0])]) is type(x)
    with pytest.raises(TypeError):
        x[[0]] = other.ones((4,))


# --- what is refused ---


@raises_at_the_read
@both
def test_indices_out_of_range(front: Any) -> None:
    x = front.zeros((3, 4))
    for key in ([3], [-4], (slice(None), [0, 4]), onp.array([[0, 9]])):
        with pytest.raises(IndexError, match="out of bounds for axis"):
            x[key]
        with pytest.raises(IndexError, match="out of bounds"):
            x[key] = 1
    found = x[front.array([0, 3])]
    with pytest.raises(IndexError, match=r"index 3 is out of bounds for an axis of size 3"):
        found.asnumpy()
    assert (x.asnumpy() == 0).all()
    x[front.array([-4], dtype="int32")] = 1
    with pytest.raises(IndexError, match=r"(?s)index -4 .*test_advanced_indexing\.py"):
        x.asnumpy()
    with pytest.raises(IndexError):
        front.zeros((0, 4))[front.array([0])].asnumpy()


@raises_at_the_read
@both
def test_a_refused_store_poisons_until_all_is_written(front: Any) -> None:
    x = front.zeros((3, 4))
    x[front.array([5])] = 1
    x[front.array([0])] = 2
    for _ in range(2):
        with pytest.raises(IndexError, match="index 5"):
            x.asnumpy()
    x[:] = 3
    x[front.array([0])] = 4
    assert x.asnumpy()[:, 0].tolist() == [4, 3, 3]


@both
@pytest.mark.parametrize("key", [["a"], [[0], [1, 2]], (0, [0], [0]), ([0, 1], [0, 1, 2])])
def test_keys_that_make_no_sense(front: Any, key: Any) -> None:
    with pytest.raises(IndexError):
        front.ones((3, 4))[key]
    with pytest.raises(MXNetError):
        front.ones((3, 4))[key] = 1
    with pytest.raises(IndexError, match="ellipsis"):
        front.ones((3, 4))[..., [0], ...]
    with pytest.raises(ValueError, match="slicing with key"):
        front.ones((3, 4))[[0], 1.0]


@both
def test_values_that_do_not_fit(front: Any) -> None:
    x = front.zeros((3, 4))
    for value in (front.ones((3,)), onp.ones(3), [1, 2, 3], front.ones((2, 2, 4))):
        with pytest.raises(ValueError, match="broadcast"):
            x[[0, 1]] = value
    for value in ("a", {}, object()):
        with pytest.raises(TypeError):
            x[[0, 1]] = value
    assert (x.asnumpy() == 0).all()


@both
def test_values_are_cast_as_c_does(front: Any) -> None:
    x = front.zeros((3,), dtype="uint8")
    x[[0, 1, 2]] = onp.array([1.7, 44.3, 2])
    assert x.asnumpy().tolist() == [1, 44, 2]
    with pytest.raises(OverflowError):
        x[[0, 1, 2]] = [1.7, 300, 2]
    x[[1]] = 2.9
    x[front.array([2])] = front.array([3.9])
    assert x.asnumpy().tolist() == [1, 2, 3]
    y = front.zeros((2,), dtype="bool")
    y[[1]] = 5
    assert y.asnumpy().tolist() == [False, True]

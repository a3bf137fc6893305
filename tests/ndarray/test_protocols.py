# SPDX-License-Identifier: Apache-2.0
"""What Python, NumPy and other libraries ask of an array."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from typing import Any

import numpy as onp
import pytest
from support import busy_engine, raises_at_the_read

import afterglow as mx
from afterglow import _core, nd, np

both = pytest.mark.parametrize("front", [nd, np], ids=["nd", "np"])
DTYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool"]


def address(array: Any) -> int:
    return int(onp.from_dlpack(array).__array_interface__["data"][0])


# --- Python ---


@both
def test_is_a_sequence(front: Any) -> None:
    x = front.array([[1, 2], [3, 4], [5, 6]])
    assert [row.asnumpy().tolist() for row in reversed(x)] == [[5, 6], [3, 4], [1, 2]]
    assert x.__getitem__(1).asnumpy().tolist() == [3, 4]
    x.__setitem__((0, 1), 9)
    assert x.asnumpy().tolist() == [[1, 9], [3, 4], [5, 6]]
    with pytest.raises(TypeError, match="deleted"):
        del x[0]


@pytest.mark.parametrize("key", [0, slice(1, 3), slice(None, None, 2), (slice(None), 1), ..., None])
@both
def test_stores_and_selects_what_numpy_does(front: Any, key: Any) -> None:
    host = onp.arange(12, dtype="float32").reshape(4, 3)
    x = front.array(host)
    onp.testing.assert_array_equal(x[key].asnumpy(), host[key])
    for value in (7, 2.5, True, front.array([5]), onp.float32(3), host[key] * 2):
        x[key] = value
        host[key] = value.asnumpy() if isinstance(value, _core.Array) else value
        onp.testing.assert_array_equal(x.asnumpy(), host)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "bool"])
def test_masks_and_indices_as_in_numpy(dtype: str) -> None:
    host = onp.array([[1, 0], [1, 1], [0, 1]]).astype(dtype)
    rows = onp.array([True, False, True])
    places = onp.array([2, 0, 2])
    for key in (rows, host.astype("bool"), places):
        x = np.array(host)
        ours = np.array(key)
        expected = host.copy()
        onp.testing.assert_array_equal(x[ours].asnumpy(), host[key])
        for value in (0, 1, 1.0):
            x[ours] = value
            expected[key] = value
            assert x.dtype == expected.dtype
            onp.testing.assert_array_equal(x.asnumpy(), expected)
    with pytest.raises(IndexError):
        np.array(host)[np.array(onp.array([True]))]


def test_takes_foreign_byte_order() -> None:
    assert np.array(onp.array([1, 2], dtype=">f4")).asnumpy().tolist() == [1, 2]


@both
def test_truth(front: Any) -> None:
    assert bool(front.array([2]))
    assert not bool(front.array([0.0]))
    assert not front.zeros((0,))
    with pytest.raises(ValueError, match="with multiple elements is ambiguous"):
        bool(front.array([1, 2]))


@both
def test_length_iteration_and_membership(front: Any) -> None:
    x = front.array([1.0, 2.0, 3.0])
    assert len(x) == 3
    assert [float(item) for item in x] == [1, 2, 3]
    assert [float(item) for item in reversed(x)] == [3, 2, 1]
    assert [row.shape for row in front.ones((2, 3))] == [(3,), (3,)]
    assert 2 in x
    assert 5 not in x
    _, *rest = x
    assert len(rest) == 2
    assert 3 not in front.ones((2, 2))
    assert 1 in front.ones((2, 2))
    with pytest.raises(TypeError):
        assert None in x
    with pytest.raises((TypeError, IndexError)):
        len(front.array(3.0).reshape(()))


@both
def test_hash_and_equality(front: Any) -> None:
    x, y = front.array([1.0]), front.array([1.0])
    assert hash(x) == hash(x)
    assert len({x: 1, y: 2}) == 2
    assert (x == y).asnumpy().tolist() == [1]
    for other in (None, "a", [1.0]):
        with pytest.raises(TypeError, match="not supported"):
            x == other  # noqa: B015


def test_numbers() -> None:
    one = np.array([2])
    assert (float(one), int(one), complex(one)) == (2.0, 2, 2 + 0j)
    assert f"{one.sum():.2f}" == "2.00"
    assert f"{np.array([2])}" == "[2.]"
    assert "%.2f %d" % (one, one) == "2.00 2"  # noqa: UP031
    with pytest.raises(TypeError, match="format"):
        f"{one:.2f}"
    with pytest.raises(TypeError, match="size-1"):
        float(np.ones((2,)))
    assert f"{nd.array([2])}" == "\n[2.]\n<NDArray 1 @cpu(0)>"
    with pytest.raises(TypeError, match="format"):
        f"{nd.array([2]):.2f}"


@both
def test_arrays_are_no_integers(front: Any) -> None:
    position = front.array([1], dtype="int32")
    with pytest.raises(TypeError):
        [1, 2, 3][position]
    with pytest.raises(TypeError):
        range(position)


@both
@pytest.mark.parametrize("dtype", DTYPES)
def test_copies_and_pickles(front: Any, dtype: str) -> None:
    x = front.array([[0, 1, 2], [3, 4, 5]], dtype=dtype)
    for source in (x, x[1], x[:, 1], x[:0]):
        value = source.asnumpy()
        for made in (
            copy.copy(source),
            copy.deepcopy(source),
            *(
                pickle.loads(pickle.dumps(source, protocol))
                for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
            ),
        ):
            assert type(made) is type(source)
            assert made.dtype == source.dtype
            onp.testing.assert_array_equal(made.asnumpy(), value)
            if made.size:
                made[:] = 1 - made[:] if dtype == "bool" else 7
                onp.testing.assert_array_equal(source.asnumpy(), value)
    both_in_one = pickle.loads(pickle.dumps({"a": x, "b": [x, x]}))
    assert both_in_one["b"][0] is both_in_one["b"][1]


@both
def test_no_buffer(front: Any) -> None:
    with pytest.raises(TypeError, match="bytes-like"):
        memoryview(front.ones((2,)))


@both
def test_no_new_attributes(front: Any) -> None:
    with pytest.raises(AttributeError):
        front.ones((2,)).anything = 1


# --- NumPy ---


@both
def test_array_with_and_without_copy(front: Any) -> None:
    x = front.array([1.0, 2.0])
    assert onp.array(x).tolist() == [1, 2]
    assert x.__array__("int32").dtype == "int32"
    shared = x.__array__(copy=False)
    x += 1
    assert shared.tolist() == [2, 3]
    with pytest.raises(ValueError, match="without a copy"):
        x.__array__("int32", copy=False)
    owned = x.__array__(copy=True)
    x += 1
    assert owned.tolist() == [2, 3]


def test_functions_come_from_the_array_namespace() -> None:
    x = np.ones((2, 2))
    assert x.__array_namespace__() is np
    assert x.__array_namespace__(api_version="2023.12").sum(x) == 4


@both
def test_ufuncs_of_many_forms(front: Any) -> None:
    x = front.array([0.25, 0.5])
    host = x.asnumpy()
    for name in ("sin", "cos", "arctan", "floor", "ceil", "log1p", "expm1", "sign", "rint", "tan"):
        result = getattr(onp, name)(x)
        assert type(result) is type(x)
        onp.testing.assert_allclose(result.asnumpy(), getattr(onp, name)(host), rtol=2e-6)
    for name in ("hypot", "fmax", "arctan2", "logaddexp", "copysign"):
        result = getattr(onp, name)(x, x)
        assert type(result) is type(x)
        onp.testing.assert_allclose(result.asnumpy(), getattr(onp, name)(host, host), rtol=2e-6)
    assert onp.multiply.outer(x, x).shape == (2, 2)
    assert onp.add.accumulate(x).asnumpy().tolist() == [0.25, 0.75]
    fraction, exponent = onp.frexp(x)
    assert fraction.asnumpy().tolist() == [0.5, 0.5]
    assert exponent.asnumpy().tolist() == [-1, 0]
    out = front.zeros((2,))
    assert onp.matmul(np.ones((2, 2)), np.ones((2, 2)), out=(target := np.zeros((2, 2)))) is target
    assert target.tolist() == [[2, 2], [2, 2]]
    assert onp.logaddexp(x, x, out=out) is out
    onp.testing.assert_allclose(out.asnumpy(), onp.logaddexp(host, host), rtol=1e-6)


def test_arguments_that_only_numpy_has() -> None:
    x = np.array([1.0, 2.0, 6.0])
    chosen = onp.array([True, True, False])
    assert onp.sum(x, where=chosen).tolist() == 3
    assert onp.mean(x, where=chosen, dtype="float64").tolist() == 1.5
    assert onp.max(x, initial=9, axis=0).tolist() == 9
    assert onp.add(x, 1, where=chosen, out=np.zeros((3,))).tolist() == [2, 3, 0]
    with pytest.raises(TypeError):
        onp.sum(x, no_such=1)


def test_functions_that_only_numpy_has() -> None:
    x = np.array([[3.0, 1.0], [2.0, 5.0]])
    host = x.asnumpy()
    for call in (
        lambda a: onp.median(a, axis=0),
        lambda a: onp.percentile(a, 30),
        lambda a: onp.linalg.matrix_rank(a),
        lambda a: onp.apply_along_axis(onp.sum, 0, a),
    ):
        result = call(x)
        assert type(result) is np.ndarray
        onp.testing.assert_allclose(result.asnumpy(), call(host))
    values = onp.unique_counts(np.array([1.0, 1.0, 2.0]))
    assert values.counts.tolist() == [2, 1]
    out = np.zeros((2,), dtype="float64")
    assert onp.nanmedian(x, axis=0, out=out) is out
    assert out.tolist() == [2.5, 3]


# --- memory shared with others ---


@both
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (0, 2), (50, 60)])
def test_export_shares_memory(front: Any, dtype: str, shape: tuple[int, ...]) -> None:
    x = front.ones(shape or (1,), dtype=dtype)
    if not shape:
        x = np.ones((), dtype=dtype) if front is np else x
    view = onp.from_dlpack(x)
    assert view.dtype == dtype
    assert view.shape == x.shape
    onp.testing.assert_array_equal(view, x.asnumpy())
    assert x.__dlpack_device__() == (1, 0)
    if not x.size:
        return
    assert address(x) == view.__array_interface__["data"][0]
    x[...] = 0
    assert not view.any()
    view[...] = 1
    assert x.asnumpy().all()


@both
def test_views_are_exported_where_they_lie(front: Any) -> None:
    x = front.arange(24).reshape((4, 6))
    x = x.copy()
    part = x[2]
    assert address(part) - address(x) == 2 * 6 * 4
    view = onp.from_dlpack(part)
    view[0] = -1
    assert x.asnumpy()[2, 0] == -1


@both
def test_export_waits_for_the_value(front: Any) -> None:
    x = front.zeros((1000,))
    with busy_engine():
        for _ in range(5):
            x = x + 1
        assert (onp.from_dlpack(x) == 5).all()


@both
def test_statements_on_shared_memory_are_done_when_they_return(front: Any) -> None:
    x = front.zeros((100_000,))
    view = onp.from_dlpack(x)
    with busy_engine(80):
        for step in range(1, 4):
            x += 1
            assert (view == step).all()
        y = x * 2
        view[:] = 7  # the product above has read what was there before
        assert (y.asnumpy() == 6).all()
        x[10:20] = 3
        assert (view[10:20] == 3).all()
        part = x[5:7]
        part *= 2
        assert view[5:7].tolist() == [14, 14]


@both
def test_shared_memory_outlives_its_array(front: Any) -> None:
    mx.waitall()
    before = mx.memory.active()
    x = front.ones((300_000,)) + 1
    view = onp.from_dlpack(x)
    del x
    for _ in range(20):
        (front.zeros((300_000,)) + 5).wait_to_read()
    assert (view == 2).all()
    del view
    mx.waitall()
    assert mx.memory.active() <= before


@both
def test_sharing_ends(front: Any) -> None:
    x = front.zeros((5_000_000,))
    view = onp.from_dlpack(x)
    capsules = [x.__dlpack__() for _ in range(3)]
    del view
    capsules.clear()
    with busy_engine():
        x += 1
        assert not x.is_ready()  # asynchronous again
        assert (x.asnumpy() == 1).all()


@both
def test_arguments_of_dlpack(front: Any) -> None:
    x = front.ones((2,))
    assert '"dltensor"' in repr(x.__dlpack__())
    assert '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 0)))
    assert '"dltensor_versioned"' in repr(x.__dlpack__(dl_device=(1, 0), max_version=(1, 1)))
    copied = onp.from_dlpack(x, copy=True)
    copied[:] = 5
    assert x.asnumpy().tolist() == [1, 1]
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))


@raises_at_the_read
@both
def test_poisoned_arrays_are_not_exported(front: Any) -> None:
    _core.inject_failure(0, 1)
    x = front.ones((2,)) + 1
    for _ in range(2):
        with pytest.raises(ValueError, match="injected"):
            x.__dlpack__()


@both
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (0, 2), (50, 60)])
def test_import_shares_memory(front: Any, dtype: str, shape: tuple[int, ...]) -> None:
    host = onp.ones(shape, dtype)
    x = front.from_dlpack(host)
    assert type(x) is (nd.NDArray if front is nd else np.ndarray)
    assert x.shape == shape
    assert onp.dtype(x.dtype) == dtype
    onp.testing.assert_array_equal(x.asnumpy(), host)
    if not x.size:
        return
    assert address(x) == host.__array_interface__["data"][0]
    x[...] = 0
    assert not host.any()
    host[...] = 1
    assert x.asnumpy().all()
    assert x.copy().asnumpy().all()


@both
def test_import_of_what_has_gaps_or_is_read_only(front: Any) -> None:
    host = onp.arange(24.0, dtype="float32").reshape(4, 6)
    for source in (
        host.T,
        host[:, ::2],
        host[::-1],
        host[1:, 2:5],
        onp.broadcast_to(host[0], (2, 6)),
    ):
        x = front.from_dlpack(source)
        onp.testing.assert_array_equal(x.asnumpy(), source)
        x += 1
        onp.testing.assert_array_equal(x.asnumpy(), source + 1)
    onp.testing.assert_array_equal(host, onp.arange(24.0).reshape(4, 6))
    host.flags.writeable = False
    x = front.from_dlpack(host)
    x += 1
    assert host[0, 0] == 0
    with pytest.raises(ValueError, match="copied"):
        np.from_dlpack(host, copy=False)
    with pytest.raises(ValueError, match="copied"):
        np.from_dlpack(onp.ones((4, 6)).T, copy=False)
    own = onp.zeros(3)
    np.from_dlpack(own, copy=True)[:] = 1
    assert own.tolist() == [0, 0, 0]
    assert np.from_dlpack(own, device="cpu", copy=False).shape == (3,)
    with pytest.raises(ValueError, match="device"):
        np.from_dlpack(own, device="gpu")


@both
def test_borrowed_memory_lives_as_long_as_calls_need_it(front: Any) -> None:
    released = []

    class Owner(onp.ndarray):
        def __del__(self) -> None:
            released.append(True)

    host = onp.ones(100_000, "float32").view(Owner)
    x = front.from_dlpack(host)
    view = x[1:]
    y = x + 1
    del host, x
    gc.collect()
    assert not released
    assert (view.asnumpy() == 1).all()
    del view
    mx.waitall()
    gc.collect()
    assert released
    assert (y.asnumpy() == 2).all()


@both
def test_a_capsule_is_taken_once(front: Any) -> None:
    x = front.array([1.0, 2.0])
    capsule = x.to_dlpack_for_read()
    y = front.from_dlpack(capsule)
    assert y.asnumpy().tolist() == [1, 2]
    with pytest.raises(AssertionError, match="capsule"):
        front.from_dlpack(capsule)
    for wrong in (3, "a", None, [1.0]):
        with pytest.raises(AssertionError, match="capsule"):
            front.from_dlpack(wrong)
    y += 1
    assert x.asnumpy().tolist() == [2, 3]


def test_types_that_no_array_has() -> None:
    for host in (onp.ones(2, "int16"), onp.ones(2, "complex64"), onp.ones(2, "uint32")):
        with pytest.raises(TypeError, match="no array can have"):
            nd.from_dlpack(host)


@both
def test_capsules_to_read_and_to_write(front: Any) -> None:
    x = front.zeros((1000,))
    for capsule in (
        x.to_dlpack_for_write(),
        nd.to_dlpack_for_write(x),
        nd.to_dlpack_for_read(x),
        x.to_dlpack_for_read(),
    ):
        y = front.from_dlpack(capsule)
        y += 1
    assert (x.asnumpy() == 4).all()
    x.to_dlpack_for_read()  # nobody takes it
    with pytest.raises(AssertionError):
        nd.to_dlpack_for_read([1])


def test_from_numpy() -> None:
    host = onp.ones((2, 3), "float32")
    x = nd.from_numpy(host)
    assert not host.flags.writeable
    x[:] = 4
    assert host.tolist() == [[4] * 3] * 2
    assert type(nd.from_numpy(host, array_cls=np.ndarray)) is np.ndarray
    with pytest.raises(ValueError, match="c-contiguous"):
        nd.from_numpy(onp.ones((2, 3)).T)
    other = onp.ones((2, 3)).T
    y = nd.from_numpy(other, zero_copy=False)
    assert y.shape == (3, 2)
    assert y.dtype == onp.float64
    assert other.flags.writeable
    y[:] = 0
    assert other.all()
    with pytest.raises(ValueError, match="int16 is not supported"):
        nd.from_numpy(onp.ones(2, "int16"))
    with pytest.raises(KeyError):
        nd.from_numpy(onp.ones(2, "int16"), zero_copy=False)


def test_between_our_own_arrays() -> None:
    x = nd.ones((3,))
    y = np.from_dlpack(x)
    y += 1
    assert x.asnumpy().tolist() == [2, 2, 2]


def test_many_threads_share() -> None:
    x = np.zeros((1000,))

    def work() -> None:
        for _ in range(200):
            view = onp.from_dlpack(x)
            assert view.shape == (1000,)
            borrowed = np.from_dlpack(onp.ones(1000, "float32"))
            (borrowed + 1).wait_to_read()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (x.asnumpy() == 0).all()

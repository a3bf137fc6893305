# SPDX-License-Identifier: Apache-2.0
"""Arrays out of nothing or out of Python: against NumPy, and answers recorded from MXNet 1.9.1."""

from __future__ import annotations

import doctest
import importlib
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import _core, nd, np, npx
from afterglow._arrays.dtypes import TYPES
from afterglow.ndarray.contrib import arange_like

both = pytest.mark.parametrize("front", [nd, np], ids=["nd", "np"])


def check(ours: Any, expected: Any, dtype: Any = "float32") -> None:
    value = onp.asarray(expected, dtype=dtype)
    assert onp.dtype(ours.dtype) == value.dtype
    assert ours.shape == value.shape
    onp.testing.assert_allclose(ours.asnumpy(), value, rtol=1e-6, atol=1e-7)


# --- counting ---


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (nd.arange(5), [0, 1, 2, 3, 4]),
        (nd.arange(2, 5), [2, 3, 4]),
        (nd.arange(5, 2, -1), [5, 4, 3]),
        (nd.arange(0, 5, 2), [0, 2, 4]),
        (nd.arange(0.5, 3), [0.5, 1.5, 2.5]),
        (nd.arange(0, 3, repeat=2), [0, 0, 1, 1, 2, 2]),
        (nd.arange(0, 5, step=2, repeat=3), [0, 0, 0, 2, 2, 2, 4, 4, 4]),
        (nd.arange(start=2, stop=None, infer_range=True), [0, 1]),
        (nd.arange(0, 1, 0.3), [0, 0.3, 0.6, 0.9]),
        (np.arange(5), [0, 1, 2, 3, 4]),
        (np.arange(1, 5, 2), [1, 3]),
        (np.arange(start=1, stop=4), [1, 2, 3]),
        (np.arange(5, 1, -2), [5, 3]),
        (np.arange(5, 1), []),
        (np.arange(0), []),
        (nd.linspace(0, 1, 5), [0, 0.25, 0.5, 0.75, 1]),
        (nd.linspace(0, 1, 5, endpoint=False), [0, 0.2, 0.4, 0.6, 0.8]),
        (nd.linspace(0, 1, 1), [0]),
        (nd.linspace(0, 1, 0), []),
        (np.linspace(0, 1, 5), [0, 0.25, 0.5, 0.75, 1]),
        (np.linspace(3, 1, num=3), [3, 2, 1]),
        (np.linspace(0, 1, 0), []),
        (np.logspace(0, 2, 3), [1, 10, 100]),
        (np.logspace(0, 3, 4, base=2), [1, 2, 4, 8]),
        (np.logspace(0, 3, 3, endpoint=False, base=2), [1, 2, 4]),
        (np.logspace(0, 2, 0), []),
    ],
)
def test_ranges(ours: Any, expected: list[float]) -> None:
    check(ours, expected)


@both
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "uint8", "int8", "int32", "int64"]
)
def test_ranges_by_type(front: Any, dtype: str) -> None:
    check(front.arange(3, 10, 3, dtype=dtype), [3, 6, 9], dtype)
    check(front.linspace(0, 8, 5, dtype=dtype), [0, 2, 4, 6, 8], dtype)


def test_defaults_of_the_ranges() -> None:
    assert nd.arange(3, dtype=None).dtype == onp.float64
    assert np.arange(3, dtype=None).dtype == onp.float32
    assert np.linspace(0, 1).shape == (50,)
    assert np.logspace(0, 2).shape == (50,)
    check(nd.linspace(0, 10, 5, dtype="int32"), [0, 2, 5, 7, 10], "int32")
    check(np.logspace(0, 2, 3, dtype="int32"), [1, 10, 100], "int32")
    third = np.linspace(0, 1, 4, dtype="float64").asnumpy()[1]
    assert third == 1 / 3
    array, step = np.linspace(0, 1, 5, endpoint=False, retstep=True)
    assert (array.shape, step) == ((5,), 0.2)
    assert np.linspace(0, 1, 5, retstep=True)[1] == 0.25


@both
def test_integers_are_counted_exactly(front: Any) -> None:
    start = 2**53
    x = front.arange(start, start + 4, dtype="int64")
    assert x.asnumpy().tolist() == [start, start + 1, start + 2, start + 3]
    y = front.arange(start + 8, start, -3, dtype="int64")
    assert y.asnumpy().tolist() == [start + 8, start + 5, start + 2]
    assert front.arange(1 << 20, dtype="int32").asnumpy()[-1] == (1 << 20) - 1


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: nd.arange(5, 2), ValueError),
        (lambda: nd.arange(0), ValueError),
        (lambda: nd.arange(0, 3, step=0), ValueError),
        (lambda: nd.arange(3, dtype="bool"), TypeError),
        (lambda: nd.linspace(0, 1, -1), ValueError),
        (lambda: np.arange(3, dtype="bool"), TypeError),
        (lambda: np.linspace(0, 1, -1), ValueError),
        (lambda: np.linspace(0, 1, 3, axis=1), NotImplementedError),
        (lambda: np.linspace([0, 1], [1, 2], 3), NotImplementedError),
        (lambda: np.logspace(0, 2, -1), ValueError),
        (lambda: np.logspace(0, 2, 3, axis=1), NotImplementedError),
        (lambda: np.eye(-1), ValueError),
        (lambda: np.identity(2.5), TypeError),
        (lambda: np.zeros((2,), order="F"), NotImplementedError),
        (lambda: np.zeros_like(np.ones((2,)), order="F"), NotImplementedError),
        (lambda: np.zeros_like(3), AssertionError),
        (lambda: np.zeros((-1,)), ValueError),
        (lambda: nd.zeros((2,), stype="rows"), ValueError),
        (lambda: nd.empty((2,), stype="csr"), ValueError),
        (lambda: nd.array([[1, 2], [3]]), TypeError),
        (lambda: nd.array("a"), TypeError),
        (lambda: nd.array(np.ones((2,))), TypeError),
        (lambda: np.array([[1, 2], [3]]), TypeError),
        (lambda: np.array("a"), TypeError),
        (lambda: np.array(nd.ones((2,))), ValueError),
        (lambda: np.diag(np.zeros((2, 2, 2))), ValueError),
        (lambda: np.diag(np.array(1.0)), ValueError),
        (lambda: np.diagonal(np.zeros((3,))), ValueError),
        (lambda: np.diag_indices_from(np.zeros((2, 3))), ValueError),
        (lambda: np.diag_indices_from(np.zeros((3,))), ValueError),
        (lambda: np.tril(np.array(1.0)), ValueError),
        (lambda: np.tril([[1, 2], [3, 4]]), AssertionError),
        (lambda: np.meshgrid(np.zeros((2,)), indexing="zz"), ValueError),
        (lambda: np.indices(3), ValueError),
    ],
)
def test_refusals(call: Any, kind: type[Exception]) -> None:
    for expected in (kind, mx.MXNetError):
        with pytest.raises(expected):
            call()


def test_python_errors_of_np() -> None:
    with pytest.raises(ZeroDivisionError):
        np.arange(1, 2, 0)
    with pytest.raises(TypeError):
        np.meshgrid(np.zeros((2,)), wrong=1)


@pytest.mark.parametrize("call", [arange_like, npx.arange_like], ids=["nd", "npx"])
def test_arange_like(call: Any) -> None:
    front = nd if call is arange_like else np
    x = front.zeros((2, 3))
    check(call(x), [[0, 1, 2], [3, 4, 5]])
    check(call(x, axis=1), [0, 1, 2])
    check(call(x, axis=-2), [0, 1])
    check(call(x, start=1, step=2), [[1, 3, 5], [7, 9, 11]])
    check(call(x, repeat=2), [[0, 0, 1], [1, 2, 2]])
    check(call(x, repeat=4), [[0, 0, 0], [0, 1, 1]])
    check(call(x, repeat=2, axis=0), [0, 0])
    check(call(x.astype("int32")), [[0, 1, 2], [3, 4, 5]], "int32")
    check(call(x.astype("float16"), axis=0), [0, 1], "float16")
    out = front.zeros((3,))
    assert call(x, axis=1, out=out) is out
    assert type(call(x)) is type(x)


# --- filling ---


@both
def test_filled(front: Any) -> None:
    check(front.zeros(3), onp.zeros(3))
    check(front.zeros((2, 3), dtype="int32"), onp.zeros((2, 3)), "int32")
    check(front.ones((2,), dtype=bool), [True, True], bool)
    check(front.full((2,), 3), [3, 3])
    check(front.full((2,), 3.7, dtype="int32"), [3, 3], "int32")
    check(front.zeros((0, 2)), onp.zeros((0, 2)))
    check(front.zeros(()), 0)
    assert front.empty((2, 3)).shape == (2, 3)
    assert front.zeros((2,), ctx=mx.cpu(1)).ctx == mx.cpu(1)


def test_like() -> None:
    x = np.array([[1, 2, 3]], dtype="int32")
    check(np.zeros_like(x), [[0, 0, 0]], "int32")
    check(np.ones_like(x, dtype="float64"), [[1, 1, 1]], "float64")
    check(np.full_like(x, 3.7), [[3, 3, 3]], "int32")
    check(np.full_like(x, 3, dtype="int8"), [[3, 3, 3]], "int8")
    check(np.full_like(x, np.array(5)), [[5, 5, 5]], "int32")
    check(np.zeros_like(onp.ones(2, "float32")), [0, 0])
    assert np.empty_like(x, dtype="bool").dtype == onp.bool_
    assert np.empty_like(x, shape=(4,)).shape == (4,)
    check(np.full((2, 2), np.array([1, 2])), [[1, 2], [1, 2]])
    check(np.full((2,), True), [True, True], bool)
    check(nd.zeros_like(nd.ones((2,), dtype="int64")), [0, 0], "int64")


@pytest.mark.parametrize("shape", [(3, 3), (2, 3), (3, 2), (2, 0), (0, 0), (1, 4)])
@pytest.mark.parametrize("k", [-5, -1, 0, 1, 2, 5])
def test_eye(shape: tuple[int, int], k: int) -> None:
    check(np.eye(*shape, k=k), onp.eye(*shape, k=k))
    if shape[1]:
        check(nd.eye(*shape, k, dtype="int32"), onp.eye(*shape, k=k), "int32")


def test_eye_forms() -> None:
    check(nd.eye(3), onp.eye(3))
    check(nd.eye(2, 0), onp.eye(2))
    check(np.eye(2, dtype="int32"), onp.eye(2), "int32")
    check(np.eye(2, ctx=mx.cpu()), onp.eye(2))
    check(np.identity(2), onp.eye(2))
    check(np.identity(2, dtype=int), onp.eye(2), "int64")


# --- from Python ---


@pytest.mark.parametrize(
    ("source", "nd_type", "np_type"),
    [
        ([1, 2], "float32", "float32"),
        ([True, False], "float32", "float32"),
        (3, "float32", "float32"),
        (True, "float32", "float32"),
        ([], "float32", "float32"),
        (range(3), "float32", "float32"),
        (onp.array([1, 2]), "float32", "int64"),
        (onp.array([1.0, 2.0]), "float32", "float64"),
        (onp.float64(3), "float32", "float64"),
        (onp.int32(3), "float32", "int32"),
        ([onp.int64(3)], "float32", "float32"),
        ([onp.array([1, 2])], "float32", "float32"),
        (onp.array([True]), "float32", "bool"),
    ],
)
def test_types_of_arrays(source: Any, nd_type: str, np_type: str) -> None:
    check(nd.array(source), source, nd_type)
    check(np.array(source), source, np_type)
    check(nd.array(source, dtype="int8"), source, "int8")
    check(np.array(source, "int8"), source, "int8")


def test_arrays_from_arrays() -> None:
    x = nd.array([1, 2], dtype="int32")
    check(nd.array(x), [1, 2], "int32")
    check(nd.array(x, dtype="float64"), [1, 2], "float64")
    y = np.array([1, 2], dtype="int32")
    check(np.array(y), [1, 2], "int32")
    copied = np.array(y)
    copied[:] = 0
    assert y.asnumpy().tolist() == [1, 2]
    assert nd.array([1, 2], mx.cpu(1), "int32").ctx == mx.cpu(1)
    assert onp.isnan(nd.array(None).asnumpy())
    assert onp.isnan(np.array(None).asnumpy())
    check(nd.array(onp.arange(6)[::2]), [0, 2, 4])


class _Rows(list[Any]):
    """A list that only NumPy converts, for what is a list of Python's itself is read natively."""


_INSIDE = [0.5, -1.7, 1e300, 5e-324, float("inf"), float("nan"), 0, 1, -1, 200, 2**24 + 1, 2**31,
           2**53 + 1, 2**63, 10**400, True, None, "7", 2j, onp.float64(3), [1], (2, 3)]  # fmt: skip


def _answer(make: Any, source: Any) -> Any:
    try:
        value = make(source).asnumpy()
    except Exception as error:
        return type(error), str(error)
    return value.dtype, value.shape, value.tobytes()


@both
@pytest.mark.parametrize("dtype", [None, *TYPES, int, "uint16", "nonsense", []])
def test_lists_become_what_numpy_makes_of_them(front: Any, dtype: Any) -> None:
    generator = onp.random.RandomState(7)
    for _ in range(400):
        shape = generator.randint(0 if generator.rand() < 0.1 else 1, 4, generator.randint(1, 4))
        usual = generator.choice(len(_INSIDE), 2)

        def nested(shape: Any, usual: Any = usual) -> Any:
            if not len(shape):
                rare = generator.rand() < 0.02
                return _INSIDE[generator.randint(len(_INSIDE)) if rare else generator.choice(usual)]
            items = [nested(shape[1:]) for _ in range(shape[0])]
            return items if generator.rand() < 0.8 else tuple(items)

        source = nested(shape)
        ours = _answer(lambda given: front.array(given, dtype=dtype), source)
        assert ours == _answer(lambda given: front.array(given, dtype=dtype), _Rows(source)), source


@both
def test_lists_that_hold_themselves_and_deep_ones_are_refused(front: Any) -> None:
    endless: list[Any] = []
    endless.append(endless)
    deep: Any = 1.0
    for _ in range(70):
        deep = [deep]
    for source in (endless, deep, [[1.0] * 2000] + [[1.0]] * 2000):
        with pytest.raises(mx.MXNetError):
            front.array(source)


@both
def test_lists_on_other_devices(front: Any) -> None:
    with mx.cpu(1):
        assert front.array([1, 2]).ctx == mx.cpu(1)
        assert front.array([1, 2], ctx=mx.cpu(2)).ctx == mx.cpu(2)
    with pytest.raises(mx.MXNetError, match="gpu"):
        front.array([1, 2], ctx=mx.gpu())
    with pytest.raises(TypeError, match="ctx"):
        front.array([1, 2], ctx="cpu")


# --- matrices and grids ---

MATRIX_CALLS = """
np.diag(v)
np.diag(v, -2)
np.diag(v, 1)
np.diag(m)
np.diag(m, 1)
np.diag(m, -1)
np.diag(m, 5)
np.diagflat(m, 1)
np.diagflat(v)
np.diagflat(v[:0])
np.diagonal(x)
np.diagonal(x, 1, 1, 2)
np.diagonal(x, -1, -1, 0)
np.diagonal(m, 9)
np.tril(m)
np.tril(m, -1)
np.tril(x, 1)
np.tril(v)
np.triu(m)
np.triu(m, 1)
np.triu(x, -1)
np.triu(v)
""".strip().splitlines()


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "float16"])
@pytest.mark.parametrize("call", MATRIX_CALLS)
def test_matrix_parts(call: str, dtype: str) -> None:
    hosts: dict[str, Any] = {
        "x": (1 + onp.arange(24).reshape(2, 3, 4)).astype(dtype),
        "m": (1 + onp.arange(6).reshape(2, 3)).astype(dtype),
        "v": (1 + onp.arange(3)).astype(dtype),
    }
    ours = eval(call, {"np": np, **{name: np.array(value) for name, value in hosts.items()}})
    check(ours, eval(call, {"np": onp, **hosts}), dtype)


def test_triangles() -> None:
    x = np.array([[onp.nan, onp.inf], [1, onp.nan]])
    check(np.tril(x, -1), [[0, 0], [1, 0]])
    for arguments in ((3,), (2, 3), (3, 2, 1), (3, 3, -1), (0,), (2, 3, 7)):
        check(np.tri(*arguments), onp.tri(*arguments))
    check(np.tri(2, dtype="int32"), [[1, 0], [1, 1]], "int32")


def test_diag_indices_from() -> None:
    first, second, third = np.diag_indices_from(np.zeros((3, 3, 3)))
    for one in (first, second, third):
        check(one, [0, 1, 2], "int64")
    first[:] = 0
    check(second, [0, 1, 2], "int64")


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("lengths", [(), (3,), (3, 2), (3, 2, 4), (0, 2)])
def test_meshgrid(lengths: tuple[int, ...], sparse: bool, indexing: Any) -> None:
    vectors = [onp.arange(length, dtype="float32") for length in lengths]
    ours = np.meshgrid(*map(np.array, vectors), indexing=indexing, sparse=sparse, copy=True)
    expected = onp.meshgrid(*vectors, indexing=indexing, sparse=sparse)
    assert isinstance(ours, list)
    assert len(ours) == len(expected)
    for one, other in zip(ours, expected, strict=True):
        check(one, other)


def test_meshgrid_of_matrices() -> None:
    first, second = np.meshgrid(np.arange(6).reshape(2, 3), np.arange(3), copy=False)
    check(first, onp.tile(onp.arange(6), (3, 1)))
    check(second, onp.repeat(onp.arange(3)[:, None], 6, 1))


def test_indices() -> None:
    check(np.indices((2, 3)), onp.indices((2, 3)), "int32")
    check(np.indices([2, 1, 3], dtype="float16"), onp.indices((2, 1, 3)), "float16")
    check(np.indices((0, 2)), onp.indices((0, 2)), "int32")
    assert np.indices((2,), dtype=int).dtype == onp.int64


@pytest.mark.parametrize("name", ["blackman", "hamming", "hanning"])
def test_windows(name: str) -> None:
    for points in (0, 1, 2, 5, 12):
        check(getattr(np, name)(points), getattr(onp, name)(points))
    check(getattr(np, name)(7, dtype="float64"), getattr(onp, name)(7), "float64")
    assert getattr(np, name)(5, ctx=mx.cpu(1)).ctx == mx.cpu(1)


@pytest.mark.skipif(_core.is_serial(), reason="the serial engine computes at the call")
def test_creation_does_not_wait() -> None:
    slow = np.random.uniform(size=(400, 400))
    for _ in range(20):
        slow = np.dot(slow, slow) * 1e-3
    made = [np.tril(slow), np.diag(slow), np.pad(slow, 1), np.flip(slow), np.tile(slow, (2, 1))]
    assert not all(one.is_ready() for one in made)
    mx.waitall()


# --- documentation ---


@pytest.mark.parametrize(
    "module",
    [
        "ndarray.creation",
        "ndarray.shape",
        "numpy.creation",
        "numpy.shape",
        "numpy_extension.shape",
    ],
)
def test_examples(module: str) -> None:
    """The examples of the docstrings give what they show, and there is one for every function."""
    home: Any = importlib.import_module(f"afterglow.{module}")
    names = {"nd": nd, "np": np, "npx": npx, "onp": onp}
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    for name in home.__all__:
        function = getattr(home, name)
        tests = [test for test in finder.find(function, name, globs=dict(names)) if test.examples]
        assert tests, f"{name} has no example"
        for test in tests:
            runner.run(test)
    assert not runner.failures

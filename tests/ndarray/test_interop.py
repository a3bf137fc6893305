# SPDX-License-Identifier: Apache-2.0
"""NumPy beside our arrays: operands on either side, its functions, its conversions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow.error import ArrayTypeError

both = pytest.mark.parametrize("front", [mx.nd, mx.np], ids=["nd", "np"])
OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.mod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]


@both
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_operators_with_numpy_arrays(front: Any, op: Any) -> None:
    host = onp.array([[1, 2, 3], [4, 5, 6]], "float32")
    row = onp.array([3, 2, 1], "float32")
    x, y = front.array(host), front.array(row)
    for result in (op(x, row), op(host, y), op(x, y)):
        assert type(result) is type(x)
        onp.testing.assert_allclose(result.asnumpy(), op(host, row), rtol=1e-6)


@both
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
@pytest.mark.parametrize("scalar", [onp.float64(2), onp.float32(2), onp.int64(2), onp.uint8(2)])
def test_operators_with_numpy_scalars(front: Any, op: Any, scalar: Any) -> None:
    host = onp.array([1, 2, 3], "float32")
    x = front.array(host)
    for result, expected in ((op(x, scalar), op(host, 2)), (op(scalar, x), op(2, host))):
        assert type(result) is type(x)
        onp.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-6)
        if expected.dtype != bool:
            assert onp.dtype(result.dtype) == "float32"


def test_type_of_numpy_operands() -> None:
    whole = onp.array([1, 2])
    assert (mx.nd.ones((2,)) + whole).dtype == onp.float32
    assert (mx.nd.ones((2,), dtype="int32") + onp.array([1.7, 2])).asnumpy().tolist() == [2, 3]
    assert (mx.np.ones((2,)) + onp.array([1.5, 2])).dtype == "float64"
    assert (mx.np.ones((2,), dtype="int32") + whole).dtype == "int64"


@both
def test_in_place_on_either_side(front: Any) -> None:
    x = front.ones((2,))
    same = x
    x += onp.array([1, 2])
    assert x is same
    assert x.asnumpy().tolist() == [2, 3]
    host = onp.ones(2, "float32")
    kept = host
    host += x
    assert host is kept
    assert host.tolist() == [3, 4]


@both
def test_refused_operands(front: Any) -> None:
    x = front.ones((2,))
    for other in (None, "a", [1, 2], (1, 2), {}, object(), 1j, onp.array(["a", "b"])):
        for op in (operator.add, operator.eq, operator.lt):
            with pytest.raises(TypeError):
                op(x, other)


@both
def test_conversion(front: Any) -> None:
    x = front.arange(6).reshape((2, 3))
    host = onp.asarray(x)
    assert (host.dtype, host.shape) == (onp.float32, (2, 3))
    host[:] = 9  # a copy
    assert x.asnumpy().max() == 5
    assert onp.array(x, dtype="int8").dtype == onp.int8
    assert onp.array([x, x]).shape == (2, 2, 3)
    assert onp.asarray(front.array(2.5)).tolist() == 2.5
    with pytest.raises(ValueError, match="copy"):
        onp.asarray(x, copy=False, dtype="int8")
    assert onp.asarray(x, copy=True).sum() == 15


@both
def test_ufuncs(front: Any) -> None:
    x = front.array([1.0, 4.0])
    ours = onp.sqrt(x)
    assert type(ours) is type(x)
    assert ours.asnumpy().tolist() == [1, 2]
    out = front.zeros((2,))
    assert onp.add(x, 1, out=out) is out
    assert out.asnumpy().tolist() == [2, 5]
    host = onp.zeros(2)
    assert onp.multiply(x, x, out=host) is host
    assert host.tolist() == [1, 16]
    # Not among our ops: on the host, and back.
    sine = onp.sin(x)
    assert type(sine) is type(x)
    onp.testing.assert_allclose(sine.asnumpy(), onp.sin([1.0, 4.0]), rtol=1e-6)
    assert onp.sin(x, out=out) is out
    onp.testing.assert_allclose(out.asnumpy(), onp.sin([1.0, 4.0]), rtol=1e-6)
    assert onp.add.reduce(x).asnumpy().tolist() == 5
    assert onp.add(x, 1, dtype="float64").asnumpy().tolist() == [2, 5]
    parts = onp.modf(x)
    assert [type(part) for part in parts] == [type(x), type(x)]


@both
def test_functions(front: Any) -> None:
    x = front.arange(6).reshape((2, 3))
    host = x.asnumpy()
    for name in ("sum", "mean", "max", "min", "transpose", "cumsum", "argsort", "ravel", "median"):
        function = getattr(onp, name)
        result = function(x)
        assert type(result) is type(x), name
        onp.testing.assert_allclose(
            onp.squeeze(result.asnumpy()), onp.squeeze(function(host)), rtol=1e-6
        )
    onp.testing.assert_array_equal(onp.concatenate([x, x]).asnumpy(), onp.vstack([host, host]))
    assert onp.allclose(x, host)
    assert onp.array_equal(x, host)
    assert onp.shape(x) == (2, 3)


@both
def test_functions_take_arguments_as_in_numpy(front: Any) -> None:
    x = front.arange(6).reshape((2, 3))
    host = x.asnumpy()
    for result, expected in (
        (onp.sum(x, 1, onp.float64), onp.sum(host, 1, onp.float64)),
        (onp.concatenate([x, host], axis=None), onp.concatenate([host, host], axis=None)),
        (onp.reshape(x, (3, 2), order="F"), onp.reshape(host, (3, 2), order="F")),
        (onp.split(x, 3, 1)[2], onp.split(host, 3, 1)[2]),
        (onp.linalg.norm(x, axis=0), onp.linalg.norm(host, axis=0)),
    ):
        assert type(result) is type(x)
        onp.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-6)
        assert onp.dtype(result.dtype) == expected.dtype
    place = onp.argmax(x, 1)  # NumPy leaves it to the method, whose indices are floats in nd
    assert place.asnumpy().tolist() == [2, 2]
    assert onp.dtype(place.dtype) == ("float32" if front is mx.nd else "int64")
    out = front.zeros((3,))
    assert onp.sum(x, axis=0, out=out) is out
    assert out.asnumpy().tolist() == [3, 5, 7]


@both
def test_functions_have_gradients(front: Any) -> None:
    x = front.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with mx.autograd.record():
        y = onp.prod(x) + onp.cumsum(x)[1] + onp.deg2rad(x).sum()
    y.backward()
    expected = onp.array([7.0, 4.0, 2.0]) + onp.deg2rad(1.0)
    onp.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-6)


@both
def test_ufuncs_of_other_names(front: Any) -> None:
    x = front.array([-2.5, -0.5, 0.5, 1.5])
    host = x.asnumpy()
    for ufunc in (onp.fabs, onp.absolute, onp.rint, onp.rad2deg, onp.trunc):
        onp.testing.assert_allclose(ufunc(x).asnumpy(), ufunc(host), 1e-6, err_msg=ufunc.__name__)
    for ufunc in (onp.remainder, onp.true_divide, onp.logical_xor):
        onp.testing.assert_allclose(ufunc(x, 2).asnumpy(), ufunc(host, 2))


def test_our_functions_take_what_is_like_an_array() -> None:
    host = onp.array([1.0, 2.0])
    assert mx.np.exp(host).dtype == "float64"
    assert mx.np.add(host, host).asnumpy().tolist() == [2, 4]
    assert mx.np.concatenate([host, mx.np.ones((1,))]).asnumpy().tolist() == [1, 2, 1]
    assert type(mx.np.exp(2.0)) is onp.float64
    for wrong in ([1, 2], "a", None):
        with pytest.raises(TypeError):
            mx.np.exp(wrong)
        with pytest.raises(AssertionError, match="must have NDArray type"):
            mx.nd.exp(wrong)
        with pytest.raises(AssertionError, match="must have NDArray type"):
            mx.np.sum(wrong)


def test_numpy_functions_that_know_more_forms_than_ours() -> None:
    x = mx.np.array([3.0, 0.0, -1.0])
    assert onp.where(x)[0].tolist() == [0, 2]
    bounds = onp.zeros(3, "float32"), onp.ones(3, "float32")
    assert onp.clip(x, *bounds).tolist() == [1.0, 0.0, 0.0]
    assert onp.clip(x, 0, 2).tolist() == [2.0, 0.0, 0.0]
    assert onp.square(x).tolist() == [9.0, 0.0, 1.0]


class Column:
    """A column of a table: it becomes a NumPy array, and answers for arrays beside it."""

    __array_priority__ = 1000

    def __init__(self, host: Any) -> None:
        self.host = onp.asarray(host)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.host if dtype is None else self.host.astype(dtype)

    def __array_ufunc__(self, *arguments: Any, **keywords: Any) -> Any:
        return NotImplemented

    def __add__(self, other: Any) -> Any:
        return Column(self.host + onp.asarray(other))

    __radd__ = __add__

    def __eq__(self, other: Any) -> Any:
        return Column(self.host == onp.asarray(other))


class Plain:
    """Something that becomes a NumPy array, and knows nothing more."""

    def __init__(self, host: Any) -> None:
        self.host = onp.asarray(host)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.host if dtype is None else self.host.astype(dtype)


@both
def test_columns_of_tables_beside_arrays(front: Any) -> None:
    x = front.array([1, 2, 3], dtype="int64")
    column = Column([1, 2**24 + 1, 3])
    for result in (x + column, column + x):
        assert type(result) is Column
        assert result.host.tolist() == [2, 2**24 + 3, 6]
    assert (x == column).host.tolist() == [True, False, True]
    y = x
    y += column  # in place, so that it stays an array
    assert y is x
    assert x.asnumpy().tolist() == [2, 2**24 + 3, 6]
    result = x + Plain([1, 1, 1])
    assert type(result) is type(x)
    assert result.asnumpy().tolist() == [3, 2**24 + 4, 7]
    with pytest.raises(ArrayTypeError):
        x + Plain(["a", "b", "c"])


def test_columns_of_tables_keep_their_type() -> None:
    numbers = [1, 2**24 + 1, 2**53 + 1]
    for source in (onp.array(numbers), Column(numbers), Plain(numbers)):
        array = mx.np.array(source)
        assert array.dtype == onp.int64
        assert array.asnumpy().tolist() == numbers
    assert mx.np.array(Column([0.5])).dtype == onp.float64
    assert mx.np.array(Column(onp.array([1, 2.5], object))).dtype == onp.float32
    assert mx.nd.array(Column(numbers), dtype="int64").asnumpy().tolist() == numbers


def test_series_of_pandas() -> None:
    pandas = pytest.importorskip("pandas", reason="the package pandas is not installed")
    series = pandas.Series([1, 2**24 + 1], index=[5, 6])
    assert mx.np.array(series).asnumpy().tolist() == [1, 2**24 + 1]
    for result in (mx.np.array([1, 2], dtype="int64") + series, series + mx.np.array([1, 2])):
        assert isinstance(result, pandas.Series)
        assert result.index.tolist() == [5, 6]

# SPDX-License-Identifier: Apache-2.0
"""Functions that only NumPy has, under ``mx.np``; and control flow in ``nd.contrib``."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd, np
from afterglow.numpy import fallback

#: What MXNet 1.9.1 itself leaves to NumPy, with arguments. Names that became ours pass as well.
X = [3.0, 1.0, 2.0]
CALLS: dict[str, tuple[Any, ...]] = {
    "allclose": (X, X),
    "apply_along_axis": (onp.sum, 0, X),
    "argpartition": (X, 1),
    "argwhere": (X,),
    "array_equal": (X, X),
    "array_equiv": (X, X),
    "compress": ([True, False, True], X),
    "corrcoef": ([X, [1.0, 5.0, 2.0]],),
    "correlate": (X, X),
    "count_nonzero": (X,),
    "cov": (X,),
    "digitize": (X, [0.0, 2.0]),
    "divmod": (X, 2.0),
    "extract": ([True, False, True], X),
    "flatnonzero": (X,),
    "float_power": (X, 2.0),
    "frexp": (X,),
    "heaviside": (X, 1.0),
    "histogram_bin_edges": (X,),
    "i0": (X,),
    "interp": ([1.5], [1.0, 2.0], [10.0, 20.0]),
    "intersect1d": (X, [1.0, 3.0]),
    "isclose": (X, X),
    "isin": (X, [1.0]),
    "lexsort": ([X, X],),
    "modf": (X,),
    "nanargmax": (X,),
    "nanargmin": (X,),
    "nancumsum": (X,),
    "nanmax": (X,),
    "nanmedian": (X,),
    "nanmin": (X,),
    "nanpercentile": (X, 50),
    "nanprod": (X,),
    "nanquantile": (X, 0.5),
    "ndim": (X,),
    "partition": (X, 1),
    "poly": (X,),
    "polyadd": (X, X),
    "polydiv": (X, X),
    "polyfit": (X, X, 1),
    "polyint": (X,),
    "polymul": (X, X),
    "polysub": (X, X),
    "positive": (X,),
    "ptp": (X,),
    "roots": ([1.0, -3.0, 2.0],),
    "searchsorted": ([1.0, 2.0, 3.0], X),
    "select": ([[True, False, True]], [X]),
    "setdiff1d": (X, [1.0]),
    "setxor1d": (X, [1.0]),
    "signbit": (X,),
    "size": (X,),
    "spacing": (X,),
    "take_along_axis": (X, [0], 0),
    "trim_zeros": (X,),
    "union1d": (X, X),
    "unwrap": (X,),
    "vander": (X,),
    "median": (X,),
    "gradient": (X,),
    "nanstd": (X,),
}


def converted(value: Any, make: Any) -> Any:
    """Return lists of numbers as arrays, and lists of lists as lists of them."""
    if isinstance(value, list) and value and not isinstance(value[0], list):
        return make(value, dtype={bool: "bool", int: "int64"}.get(type(value[0]), "float64"))
    return [converted(item, make) for item in value] if isinstance(value, list) else value


def ours(value: Any) -> Any:
    return converted(value, np.array)


def theirs(value: Any) -> Any:
    return converted(value, onp.array)


def same(result: Any, expected: Any) -> None:
    if isinstance(expected, (tuple, list)):
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            same(one, other)
    elif isinstance(expected, (onp.ndarray, onp.generic)):
        assert type(result) is np.ndarray or not isinstance(result, (onp.ndarray, onp.generic))
        onp.testing.assert_allclose(onp.asarray(result), expected, rtol=1e-6)
    else:
        assert result == expected


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:np.:RuntimeWarning")
def test_what_mxnet_leaves_to_numpy(name: str) -> None:
    if not hasattr(onp, name):
        pytest.skip(f"this NumPy has no {name}")
    expected = getattr(onp, name)(*map(theirs, CALLS[name]))
    same(getattr(np, name)(*map(ours, CALLS[name])), expected)


def fresh(name: str) -> Any:
    """Return a function that has not warned yet."""
    fallback._wrapped.cache_clear()
    return getattr(np, name)


def test_one_warning_per_name() -> None:
    nanmedian = fresh("nanmedian")
    with pytest.warns(RuntimeWarning, match=r"np\.nanmedian is not part of Afterglow") as seen:
        nanmedian(np.array([1.0, 3.0]))
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.nanmedian(np.array([1.0, 3.0])) == 2
    with pytest.warns(RuntimeWarning, match=r"np\.unwrap"):
        np.unwrap(np.array([1.0, 3.0]))
    assert np.nanmedian is nanmedian


@pytest.mark.filterwarnings("ignore:np.:RuntimeWarning")
def test_results_and_arguments() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert type(np.nanmedian(x, axis=0)) is np.ndarray
    assert np.nanmedian(x, axis=0).dtype == "float32"
    assert np.percentile(x, q=50).shape == ()
    out = np.zeros((2,))
    assert np.nanmedian(x, axis=0, out=out) is out
    assert out.tolist() == [2, 3]
    with mx.cpu(1):
        assert np.nanmedian(x).ctx == mx.cpu(1)
    assert np.isrealobj(x) is True
    q = np.linalg.matrix_norm(x)
    assert type(q) is np.ndarray
    result = np.unique_counts(np.array([1.0, 1.0]))
    assert type(result.counts) is np.ndarray


def test_names() -> None:
    assert "axis" in inspect.signature(np.nanmedian).parameters
    assert np.nanmedian.__name__ == "nanmedian"
    assert np.spacing.__name__ == "spacing"
    assert np.euler_gamma == onp.euler_gamma
    assert np.int16 is onp.int16
    assert np.finfo("float32").max > 1e38
    assert np.PINF == -np.NINF == float("inf")
    assert np.NaN != np.NAN
    assert np.trapz is np.trapezoid
    for name in ("no_such_function", "_globals", "__all_names__", "ma", "testing", "matrix"):
        with pytest.raises(AttributeError, match=f"afterglow.numpy' has no attribute '{name}'"):
            getattr(np, name)
        assert not hasattr(np, name)
    with pytest.raises(AttributeError, match=r"afterglow.numpy.linalg' has no"):
        np.linalg.no_such_function
    with pytest.raises(AttributeError):
        np.random.no_such_function


def test_our_functions_are_not_replaced() -> None:
    for name in ("sum", "exp", "concatenate", "array"):
        assert getattr(np, name) is vars(np)[name]


# --- control flow ---


def test_foreach() -> None:
    data, state = nd.arange(6).reshape((3, 2)), nd.zeros((2,))
    out, last = nd.contrib.foreach(lambda x, s: (x + s, s + x), data, state)
    assert out.asnumpy().tolist() == [[0, 1], [2, 4], [6, 9]]
    assert last.asnumpy().tolist() == [6, 9]
    outs, states = nd.contrib.foreach(
        lambda x, s: ([x[0], [x[1] * 2]], [s[0] + x[0]]), [data, data], [state]
    )
    assert outs[0].asnumpy().tolist() == data.asnumpy().tolist()
    assert outs[1][0].asnumpy().tolist() == [[0, 2], [4, 6], [8, 10]]
    assert states[0].asnumpy().tolist() == [6, 9]
    assert nd.contrib.foreach(lambda x, s: ([], s), data, []) == ([], [])
    for wrong in (
        lambda: nd.contrib.foreach(lambda x, s: (x, s), 3, state),
        lambda: nd.contrib.foreach(lambda x, s: (x, s), data, 3),
        lambda: nd.contrib.foreach(lambda x, s: (1, s), data, state),
    ):
        with pytest.raises(AssertionError, match="nested"):
            wrong()
    with pytest.raises(ValueError, match="no rows"):
        nd.contrib.foreach(lambda x, s: (x, s), nd.zeros((0, 2)), state)


def test_while_loop() -> None:
    first, total = nd.array([0], dtype="int64"), nd.array([1], dtype="int64")
    outs, last = nd.contrib.while_loop(
        lambda i, s: i <= 5,
        lambda i, s: ([i + s], [i + 1, s + i]),
        (first, total),
        max_iterations=10,
    )
    assert outs[0].shape == (10, 1)
    assert outs[0].asnumpy()[:6, 0].tolist() == [1, 2, 4, 7, 11, 16]
    assert [int(x) for x in last] == [6, 16]
    out, i = nd.contrib.while_loop(lambda i: i <= 20, lambda i: (i, i + 1), first, 3)
    assert out.asnumpy().tolist() == [[0], [1], [2]]
    assert int(i) == 3
    assert nd.contrib.while_loop(lambda i: i < 0, lambda i: (i, [i]), [first], 3)[0] == []
    assert nd.contrib.while_loop(lambda i: i < 2, lambda i: (None, [i + 1]), [first], 3)[0] == []
    for arguments, message in (
        ((lambda i: i < 2, lambda i: (i, [i]), [first]), "max_iterations"),
        ((lambda i: i < 2, lambda i: (i, [i]), [first], "a"), "max_iteration"),
        ((lambda i: i < 2, lambda i: (i, [i, i]), [first], 3), "consistent"),
        ((lambda: True, lambda: ([], []), [], 3), "at least one"),
    ):
        with pytest.raises(ValueError, match=message):
            nd.contrib.while_loop(*arguments)  # type: ignore[arg-type]


def test_cond() -> None:
    a, b = nd.array([1]), nd.array([2])
    assert float(nd.contrib.cond(a * b < 5, lambda: a + b, lambda: a - b)) == 3
    first, (second,) = nd.contrib.cond(a * b > 5, lambda: a, lambda: [a - b, [b]])
    assert (float(first), float(second)) == (-1, 2)
    with pytest.raises(ValueError, match="not a scalar"):
        nd.contrib.cond(nd.array([1, 2]), lambda: a, lambda: b)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8", "int64"])
def test_kinds_of_numbers(dtype: str) -> None:
    special = [1.0, float("inf"), float("nan"), -float("inf")]
    host = onp.array(special if dtype.startswith("float") else [0, 1, 2, 3], dtype)
    x = nd.array(host, dtype=dtype)
    for name in ("isnan", "isinf", "isfinite"):
        result = getattr(nd.contrib, name)(x)
        assert result.dtype == onp.dtype(dtype).type
        assert result.asnumpy().tolist() == getattr(onp, name)(host).tolist()
        with pytest.raises(AssertionError):
            getattr(nd.contrib, name)([1.0])


def test_div_sqrt_dim() -> None:
    x = nd.arange(8).reshape((2, 4))
    assert nd.contrib.div_sqrt_dim(x).asnumpy().tolist() == [[0, 0.5, 1, 1.5], [2, 2.5, 3, 3.5]]
    assert nd.contrib.div_sqrt_dim(data=x, out=x) is x


def test_contrib_names() -> None:
    with pytest.raises(AttributeError, match="no_such"):
        nd.contrib.no_such


@pytest.mark.parametrize(
    "function", [lambda x: np.nanmedian(x), lambda x: onp.gradient(x), lambda x: np.modf(x)[0]]
)
def test_gradients_are_refused(function):
    x = np.array([1.5, 2, 4])
    x.attach_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with mx.autograd.record():
            y = function(x) * x[0] + x
    with pytest.raises(NotImplementedError, match="has no gradient"):
        y.backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with mx.autograd.record():
            y = function(x.detach()) * x[0]
    y.backward()
    assert x.grad.asnumpy()[0] != 0

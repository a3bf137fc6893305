# SPDX-License-Identifier: Apache-2.0
"""Compiled functions: NumPy's answers for plain arguments and all others, recorded or not."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import numpy as onp
import pytest
from support import raises_at_the_read

import afterglow as mx
from afterglow import autograd, np, npx

_generator = onp.random.default_rng(3)
_vector = _generator.standard_normal(6).astype("float32")
_matrix = _generator.standard_normal((3, 4)).astype("float32")
_cube = _generator.standard_normal((2, 3, 4)).astype("float32")
_truth = _matrix > 0
_places = onp.array([2, 0, -1])

#: Calls that NumPy answers too: the function's name and its arguments.
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("exp", (_matrix,), {}),
    ("exp", (2.5,), {}),
    ("maximum", (_matrix, 0.5), {}),
    ("maximum", (0.5, _matrix), {}),
    ("add", (_matrix, _matrix[0]), {}),
    ("where", (_truth, _matrix, 0.0), {}),
    ("where", (_matrix, _matrix, -_matrix), {}),
    ("clip", (_matrix, -1, 0.5), {}),
    ("clip", (_matrix, None, 0.5), {}),
    ("sum", (_cube,), {}),
    ("sum", (_cube, 1), {}),
    ("sum", (_cube, (0, 2)), {"keepdims": True}),
    ("sum", (_cube, None), {"dtype": "float64"}),
    ("sum", (_cube, -1), {"initial": 2.0}),
    ("mean", (_cube,), {"axis": -1}),
    ("max", (_cube, 0), {}),
    ("min", (_cube,), {"axis": (1, 2)}),
    ("prod", (_cube, 2), {}),
    ("any", (_truth,), {}),
    ("any", (_truth, 0), {}),
    ("any", (_truth[:0],), {}),
    ("all", (_truth[:0], 0), {}),
    ("all", (_matrix, 1), {}),
    ("argmax", (_vector,), {}),
    ("argmax", (_matrix,), {}),
    ("argmax", (_matrix, -1), {}),
    ("argmin", (_matrix, 0), {}),
    ("std", (_cube,), {}),
    ("std", (_cube, 1), {}),
    ("std", (_cube, -1), {"ddof": 1}),
    ("sort", (_matrix,), {}),
    ("sort", (_matrix, 0), {}),
    ("sort", (_matrix,), {"axis": None}),
    ("argsort", (_matrix, 1), {}),
    ("argsort", (_matrix, None), {}),
    ("searchsorted", (onp.sort(_vector), _matrix), {}),
    ("searchsorted", (onp.sort(_vector), _matrix), {"side": "right"}),
    ("unique", (onp.array([3, 1, 3, 2], "int32"),), {}),
    ("unique", (onp.array([[1.5, -1.0], [1.5, 0.0]], "float32"),), {}),
    ("unique", (onp.array([1.0, onp.nan, onp.nan], "float32"),), {}),
    ("swapaxes", (_cube, 0, -1), {}),
    ("flip", (_cube,), {}),
    ("flip", (_cube, 1), {}),
    ("flip", (_cube, (0, 2)), {}),
    ("flip", (_cube[:0],), {}),
    ("roll", (_cube, 5), {}),
    ("roll", (_cube, -2, 1), {}),
    ("roll", (_cube, 3, 1), {}),
    ("roll", (_cube, (1, 2), (0, 1)), {}),
    ("tile", (_matrix, 2), {}),
    ("tile", (_matrix, (2, 1, 3)), {}),
    ("tile", (_matrix, (0, 1)), {}),
    ("tile", (_matrix[:, :1], (1, 300)), {}),
    ("tile", (_generator.standard_normal((100, 1)), (1, 3)), {}),
    ("repeat", (_matrix, 2), {}),
    ("repeat", (_matrix, 3, 1), {}),
    ("repeat", (_matrix, [1, 0, 2], 0), {}),
    ("repeat", (_generator.standard_normal(200), 3), {}),
    ("pad", (_matrix, ((1, 2), (0, 3))), {}),
    ("pad", (_matrix, 2), {}),
    ("pad", (_matrix, (1, 2)), {"mode": "edge"}),
    ("stack", ((_matrix, _matrix + 1),), {}),
    ("stack", ([_matrix, _matrix + 1], -1), {}),
    ("concatenate", ((_matrix, _matrix[:1]),), {}),
    ("concatenate", ((_matrix, _matrix), 1), {}),
    ("concatenate", ((_matrix, _vector), None), {}),
    ("broadcast_to", (_vector, (2, 6)), {}),
    ("zeros", (3,), {}),
    ("zeros", ((2, 0),), {"dtype": "int32"}),
    ("ones", ((2, 3),), {"dtype": onp.float64}),
    ("full", ((2,), 7.5), {"dtype": "float32"}),
    ("full", (3, True), {"dtype": "bool"}),
    ("eye", (3,), {}),
    ("eye", (3, 4), {"k": -1}),
    ("eye", (2, 3, 5), {}),
    ("arange", (5,), {"dtype": "float32"}),
    ("arange", (7, 1, -2), {"dtype": "int64"}),
    ("arange", (1, 7, 3), {"dtype": "int32"}),
    ("arange", (3, 1), {"dtype": "int32"}),
    ("arange", (0.5, 2, 0.5), {"dtype": "float32"}),
    ("dot", (_matrix, _matrix.T.copy()), {}),
    ("dot", (_vector, _vector), {}),
    ("dot", (_vector[:3], _cube), {}),
    ("outer", (_vector, _matrix), {}),
    ("take", (_matrix, _places), {"axis": 0}),
    ("take", (_matrix, _places), {}),
    ("take", (_vector, _places), {}),
    ("take", (_vector, onp.array([9, -9])), {"mode": "clip"}),
    ("nonzero", (_truth[0],), {}),
    ("nonzero", (onp.array([0.0, -0.0, 2.0, onp.nan], "float32"),), {}),
    ("nonzero", (onp.array([0, -3, 0, 1], "int8"),), {}),
    ("nonzero", (onp.array([0, 1, -0.0], "float16"),), {}),
    ("nonzero", (_truth,), {}),
    ("array", (_cube,), {}),
    ("array", (_cube[:, ::2],), {}),
    ("array", (onp.array([1, 2], "uint8"),), {}),
    ("array", (onp.array([[True], [False]]),), {}),
    ("array", (onp.array(2.5, "float64"),), {}),
]


def _ours(value: Any) -> Any:
    if isinstance(value, (tuple, list)) and any(isinstance(one, onp.ndarray) for one in value):
        return type(value)(map(_ours, value))
    return np.array(value, dtype=value.dtype.name) if isinstance(value, onp.ndarray) else value


def _host(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_host(one) for one in value]
    return value.asnumpy() if isinstance(value, np.ndarray) else value


def _recorded(function: Any) -> Any:
    def call(*arguments: Any, **options: Any) -> Any:
        with autograd.record():
            return function(*arguments, **options)

    return call


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_answers_are_those_of_numpy(call: Any) -> None:
    name, arguments, options = call
    function = getattr(np, name)
    given = arguments if name == "array" else tuple(map(_ours, arguments))
    expected = getattr(onp, name)(*arguments, **options)
    for each in (function, _recorded(function)):
        result = each(*given, **options)
        onp.testing.assert_allclose(_host(result), expected, rtol=1e-5, atol=1e-6)
        if isinstance(result, np.ndarray):
            assert result.shape == onp.shape(expected)


def test_types_are_those_of_the_function() -> None:
    for text in ("zeros(3)", "full(2, 3)", "arange(4)", "eye(2)", "ones(2, dtype=None)"):
        assert eval(f"np.{text}", {"np": np}).dtype == onp.float32
    assert np.random.randint(0, 5, 3).dtype == onp.int64
    assert np.random.uniform(size=2, dtype="float64").dtype == onp.float64
    assert np.random.normal(0.0, 1.0, (2, 3)).shape == (2, 3)
    assert np.random.uniform().shape == ()
    x = np.array([1.7, -1.7])
    assert x.astype("int32").asnumpy().tolist() == [1, -1]
    assert x.astype("float32", copy=False) is x
    assert x.copy() is not x
    assert x.astype(None).dtype == onp.float32


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("np.exp('x')", TypeError),
        ("np.exp()", TypeError),
        ("np.sum(x, axis=3)", ValueError),
        ("np.sum(x, axes=0)", TypeError),
        ("np.sort(x, axis=2)", ValueError),
        ("np.swapaxes(x, 0, 5)", ValueError),
        ("np.roll(x, 'a')", TypeError),
        ("np.tile(x, -1)", ValueError),
        ("np.repeat(x, -1)", ValueError),
        ("np.pad(x, -1)", ValueError),
        ("np.stack((x, y))", ValueError),
        ("np.zeros(-1)", ValueError),
        ("np.zeros(2, dtype='complex64')", TypeError),
        ("np.arange(1, 2, 0)", ZeroDivisionError),
        ("np.outer(x, y.astype('float64'))", ValueError),
        ("np.dot(x, y)", ValueError),
        ("np.random.normal(0.0, -1.0, 3)", ValueError),
        ("np.random.uniform(size=2, dtype='int32')", TypeError),
        ("np.random.randint(3, 3, 2)", ValueError),
        ("np.random.permutation(-1)", ValueError),
        ("np.concatenate((x, y), 1)", ValueError),
        ("np.concatenate(())", ValueError),
        ("npx.gather_nd(x, x)", ValueError),
        ("npx.batch_dot(x, x)", ValueError),
        ("np.exp(mx.nd.ones(2))", TypeError),
    ],
)
def test_errors_are_those_of_the_function(text: str, error: type[Exception]) -> None:
    names = {"np": np, "npx": npx, "mx": mx, "x": np.ones(4), "y": np.ones(3)}
    with pytest.raises(error):
        eval(text, names)


@raises_at_the_read
def test_places_outside_are_told_at_the_read_and_change_nothing() -> None:
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(IndexError, match="index 3 is out of bounds for an axis of size 3"):
        np.take(x, np.array([0, 3], dtype="int64")).asnumpy()
    y = x.copy()
    y[np.array([0, -4], dtype="int32")] = np.array([7.0, 8.0])
    with pytest.raises(IndexError, match="index -4"):
        y.asnumpy()
    x[np.array([2, 0], dtype="int32")] = np.array([7.0, 8.0])
    assert x.asnumpy().tolist() == [8, 2, 7]


def test_arrays_are_made_where_the_scope_says() -> None:
    with mx.cpu(1):
        made = [np.zeros(2), np.full(2, 1.5), np.eye(2), np.arange(3), np.array(_vector)]
        made += [np.random.uniform(size=2), np.random.permutation(3), np.exp(np.ones(2))]
    assert {one.ctx for one in made} == {mx.cpu(1)}
    assert np.zeros(2).ctx == mx.cpu(0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("np.exp(x).sum()", "exp"),
        ("np.sum(np.swapaxes(x, 0, 1) * x.T)", "2 x"),
        ("np.std(x)", None),
        ("np.sum(np.tile(x, (2, 1)))", "2"),
        ("np.sum(x.copy().astype('float64'))", "1"),
    ],
)
def test_gradients_pass(text: str, expected: str | None) -> None:
    host = _matrix.copy()
    x = np.array(host)
    x.attach_grad()
    with autograd.record():
        result = eval(text, {"np": np, "x": x})
    result.backward()
    answers = {
        "exp": onp.exp(host),
        "2 x": 2 * host,
        "2": onp.full_like(host, 2),
        "1": onp.ones_like(host),
        None: (host - host.mean()) / (host.size * host.std()),
    }
    onp.testing.assert_allclose(x.grad.asnumpy(), answers[expected], rtol=1e-4)


def test_seeds_count_the_same_draws() -> None:
    draws = []
    for _ in range(2):
        np.random.seed(5)
        draws.append(
            [np.random.uniform(size=3).asnumpy().tolist(), np.random.permutation(9).tolist()]
        )
    assert draws[0] == draws[1]
    assert sorted(draws[0][1]) == list(range(9))


def test_looks_like_the_function() -> None:
    assert np.exp.__name__ == "exp"
    assert np.exp.__doc__.splitlines()[2].startswith("Return e to the power")
    assert list(inspect.signature(np.sum).parameters)[:3] == ["a", "axis", "dtype"]
    assert pickle.loads(pickle.dumps(np.exp)) is np.exp
    assert copy.deepcopy(np.exp) is np.exp
    assert np.ndarray.copy(np.ones(2)).shape == (2,)
    assert repr(np.exp) == "<op np.exp>"

# SPDX-License-Identifier: Apache-2.0
"""Ops of the table as functions of public namespaces: text, signature, stub, pickle, errors."""

from __future__ import annotations

import doctest
import inspect
import pickle
from typing import Any

import pytest
import stubs

import afterglow as mx
from afterglow import nd, np, npx
from afterglow._arrays import op_functions as _op_functions

SPACES = {
    "nd": mx.nd,
    "nd.contrib": mx.nd.contrib,
    "nd.linalg": mx.nd.linalg,
    "nd.random": mx.nd.random,
    "np": mx.np,
    "np.linalg": mx.np.linalg,
    "np.random": mx.np.random,
    "npx": mx.npx,
    "npx.random": mx.npx.random,
}
FUNCTIONS = [
    (space, name, getattr(SPACES[space], name))
    for space in SPACES
    for name in _op_functions.functions(space)
]


@pytest.mark.parametrize("file", stubs.STUBS)
def test_stubs_are_those_of_the_table(file: str) -> None:
    assert (stubs.PACKAGE / file).read_text() == stubs.text_of(file)


def test_public_modules_have_them() -> None:
    assert len(FUNCTIONS) > 30
    for space, name, _ in FUNCTIONS:
        function = getattr(SPACES[space], name)
        assert name in SPACES[space].__all__
        assert name in _op_functions.spelling_of(function).names
        assert getattr(SPACES[space], function.__name__) is function
        assert function.__qualname__ == function.__name__
        assert function.__module__ == SPACES[space].__name__


@pytest.mark.parametrize(
    "function", {id(one): one for _, _, one in FUNCTIONS}.values(), ids=lambda one: one.__name__
)
def test_texts_begin_with_the_signature_and_tell_the_truth(function: Any) -> None:
    signature, line, *_ = [one for one in function.__doc__.splitlines() if one]
    assert signature == function.__name__ + str(inspect.signature(function))
    assert line.endswith("."), line
    examples = doctest.DocTestParser().get_doctest(
        function.__doc__, {}, function.__name__, None, None
    )
    assert examples.examples
    assert doctest.DocTestRunner(verbose=False).run(examples).failed == 0


def test_parameters_say_what_they_are() -> None:
    for _, _, function in FUNCTIONS:
        for name, (kind, _, text) in _op_functions.table()[function.name]["described"].items():
            assert kind, (function, name)
            assert text, (function, name)


def test_they_are_pickled_by_name_and_bound_as_methods() -> None:
    for function in (nd.FullyConnected, npx.activation, nd.contrib.sign_ste):
        assert pickle.loads(pickle.dumps(function)) is function

    class Model:
        activate = nd.Activation

    with pytest.raises(mx.MXNetError, match="data must have NDArray type"):
        Model().activate("relu")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: nd.softmax(nd.ones((2,)), axes=1),
            TypeError,
            "unexpected argument 'axes'; it takes",
        ),
        (lambda: nd.Flatten(), TypeError, "takes 1 arrays, got 0"),
        (lambda: nd.Flatten(nd.ones((2,)), None, None, 1), TypeError, "too many arguments"),
        (lambda: nd.Flatten(nd.ones((2,)), data=nd.ones((2,))), TypeError, "more than one value"),
        (lambda: nd.Flatten(np.ones((2,))), TypeError, "as_nd_ndarray"),
        (lambda: nd.Activation(nd.ones((2,))), ValueError, "needs act_type"),
        (lambda: nd.Activation(nd.ones((2,)), act_type="swish"), ValueError, "'relu', 'sigmoid'"),
        (lambda: nd.BatchNorm(*[nd.ones((2, 2))] * 5, eps="x"), TypeError, "eps must be a number"),
        (lambda: npx.batch_flatten("text"), TypeError, "data must have NDArray type"),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        call()
    assert isinstance(caught.value, mx.MXNetError)


def test_out_and_name_by_position() -> None:
    x, out = nd.array([[-1, 2]]), nd.zeros((1, 2))
    assert nd.Activation(x, "relu", out, "node") is out
    assert out.asnumpy().tolist() == [[0, 2]]

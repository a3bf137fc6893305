# SPDX-License-Identifier: Apache-2.0
"""Contract 3: wrong shapes, types and arguments raise at the call, with what was seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import afterglow as mx
from afterglow import _core

REFUSED: dict[str, tuple[Callable[[Any], object], type[Exception], list[str]]] = {
    "broadcast": (
        lambda f: f.ones((2, 3)) + f.ones((2, 4)),
        ValueError,
        ["[add]", "(2, 3) float32", "(2, 4) float32"],
    ),
    "broadcast of three dimensions": (
        lambda f: f.maximum(f.ones((2, 3, 4)), f.ones((3, 3))),
        ValueError,
        ["[maximum]", "(2, 3, 4) float32", "(3, 3) float32"],
    ),
    "dot": (
        lambda f: f.dot(f.ones((2, 3)), f.ones((4, 5))),
        ValueError,
        ["[dot]", "(2, 3) float32", "(4, 5) float32"],
    ),
    "axis": (lambda f: f.ones((2, 3)).sum(axis=2), ValueError, ["[sum]", "axis 2", "(2, 3)"]),
    "axis twice": (lambda f: f.ones((2, 3)).sum(axis=(0, 0)), ValueError, ["[sum]", "(2, 3)"]),
    "concat": (
        lambda f: (
            f.concat(f.ones((2, 3)), f.ones((3, 4)), dim=0)
            if f is mx.nd
            else f.concatenate([f.ones((2, 3)), f.ones((3, 4))], axis=0)
        ),
        ValueError,
        ["[concat]", "(2, 3) float32", "(3, 4) float32"],
    ),
    "out of another shape": (
        lambda f: f.exp(f.ones((2, 3)), out=f.ones((2, 4))),
        ValueError,
        ["[exp]", "(2, 3)", "(2, 4)"],
    ),
    "out of another type": (
        lambda f: f.exp(f.ones((2,)), out=f.ones((2,), dtype="int32")),
        TypeError,
        ["[exp]", "float32", "int32"],
    ),
    "grow in place": (
        lambda f: f.ones((2,)).__iadd__(f.ones((2, 2))),
        ValueError,
        ["[add]", "(2,)", "(2, 2)"],
    ),
    "store": (
        lambda f: f.ones((2, 4)).__setitem__(slice(None), f.ones((3,))),
        ValueError,
        ["(3,)", "(2, 4)"],
    ),
    "index": (lambda f: f.ones((2, 3))[5], IndexError, ["index 5", "axis 0", "size 2"]),
    "index of the second axis": (
        lambda f: f.ones((2, 3))[0, 4],
        IndexError,
        ["index 4", "axis 1", "size 3"],
    ),
    "too many indices": (lambda f: f.ones((2, 3))[0, 0, 0], IndexError, ["3", "2 dimensions"]),
    "text": (lambda f: f.ones((2,)) + "a", TypeError, ["str"]),
    "nothing": (lambda f: f.ones((2,)) + None, TypeError, ["NoneType"]),
    "negative shape": (lambda f: f.zeros((-2, 3)), ValueError, ["(-2, 3)"]),
    "too large": (lambda f: f.zeros((2**40, 2**40)), MemoryError, [str(2**40)]),
    "unknown type": (lambda f: f.zeros((2,), dtype="float99"), TypeError, ["float99"]),
    "absent device": (
        lambda f: f.zeros((2,), ctx=mx.gpu(3)),
        mx.MXNetError,
        ["gpu(3)", "num_gpus() is 0"],
    ),
    "array for an absent device": (
        lambda f: f.array([1.0], ctx=mx.gpu(0)),
        mx.MXNetError,
        ["gpu(0)", "num_gpus() is 0"],
    ),
    "copy to an absent device": (
        lambda f: f.ones((2,)).copyto(mx.gpu(1)),
        mx.MXNetError,
        ["gpu(1)", "num_gpus() is 0"],
    ),
    "reshape": (lambda f: f.ones((2, 3)).reshape((4, 2)), ValueError, ["(4, 2)", "6"]),
    "float of many": (lambda f: float(f.ones((2, 3))), TypeError, ["(2, 3)"]),
    "truth of many": (lambda f: bool(f.ones((2, 3))), ValueError, ["ambiguous"]),
    "random scale": (
        lambda f: f.random.normal(0, -1, (2,)),
        ValueError,
        ["random_normal", "-1"],
    ),
    "random of integers": (
        lambda f: f.random.uniform(0, 1, (2,), dtype="int32"),
        TypeError,
        ["int32"],
    ),
}


@pytest.mark.parametrize("front", ["nd", "np"])
@pytest.mark.parametrize("name", REFUSED)
def test_refused_at_the_call(name: str, front: str) -> None:
    statement, kind, words = REFUSED[name]
    mx.nd.waitall()
    with pytest.raises(kind) as caught:
        statement(getattr(mx, front))
    text = str(caught.value)
    del caught
    for word in words:
        assert word in text
    # Nothing was issued that could fail later, and the next statement works.
    mx.nd.waitall()
    assert (getattr(mx, front).ones((2,)) + 1).asnumpy().tolist() == [2, 2]


def test_types_that_do_not_meet_in_legacy_arrays() -> None:
    with pytest.raises(mx.MXNetError, match=r"\[add\].*\(2,\) float32.*\(2,\) int32"):
        mx.nd.ones((2,)) + mx.nd.ones((2,), dtype="int32")


def test_maximum_of_nothing() -> None:
    with pytest.raises(ValueError, match=r"\[max\].*\(0, 3\) float32"):
        mx.np.zeros((0, 3)).max(axis=0)


def test_a_refused_statement_changes_nothing() -> None:
    x = mx.nd.ones((2,))
    version = x._version
    issued = _core.statistics()["issued"]
    with pytest.raises(ValueError, match="broadcast"):
        x += mx.nd.ones((3,))
    with pytest.raises(ValueError, match="broadcast"):
        x[:] = mx.nd.ones((3,))
    assert x._version == version
    assert _core.statistics()["issued"] <= issued + 2  # the two arrays on the right
    assert x.asnumpy().tolist() == [1, 1]

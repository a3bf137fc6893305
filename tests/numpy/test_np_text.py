# SPDX-License-Identifier: Apache-2.0
"""Printing and formatting beyond the recorded cases."""

from __future__ import annotations

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd, np


def test_repr_reads_back() -> None:
    names = {"array": np.array, "float64": "float64", "int32": "int32", "nan": float("nan")}
    for x in (np.arange(3), np.arange(4, dtype="int32").reshape((2, 2)), np.array(1.5)):
        again = eval(repr(x), dict(names))
        assert again.dtype == x.dtype
        onp.testing.assert_array_equal(again.asnumpy(), x.asnumpy())


def test_print_options_are_numpys() -> None:
    x = np.array([1 / 3, 2 / 3])
    with onp.printoptions(precision=2):
        assert str(x) == "[0.33 0.67]"
        assert repr(x) == "array([0.33, 0.67])"
        assert "[0.33 0.67]" in repr(x.as_nd_ndarray())
    before = onp.get_printoptions()
    try:
        np.set_printoptions(precision=3, threshold=5)
        assert str(x) == "[0.333 0.667]"
        assert "..." in repr(np.arange(10))
    finally:
        onp.set_printoptions(**before)


def test_summaries_do_not_name_the_shape() -> None:
    assert repr(np.arange(2000)).endswith("1.999e+03])")
    assert repr(np.zeros((2000,), dtype="int32")) == "array([0, 0, 0, ..., 0, 0, 0], dtype=int32)"


def test_format() -> None:
    assert f"{np.array(1.23456):.2f}" == "1.23"
    assert f"{np.array(7, dtype='int32'):03d}" == "007"
    assert f"{np.arange(2)}" == "[0. 1.]"
    assert "%.1f" % np.array([2.5]) == "2.5"  # noqa: UP031
    for x in (np.arange(2), nd.arange(2), nd.array([1.0])):
        with pytest.raises(TypeError):
            f"{x:.2f}"


def test_other_devices_are_shown() -> None:
    x = np.zeros((2,), ctx=mx.cpu_pinned(0))
    assert repr(x) == "array([0., 0.], ctx=cpu_pinned(0))"
    assert str(x) == "[0. 0.] @cpu_pinned(0)"
    assert repr(np.zeros((2,), ctx=mx.cpu(3))) == "array([0., 0.])"
    assert repr(nd.zeros((2,), ctx=mx.cpu(3))) == "\n[0. 0.]\n<NDArray 2 @cpu(3)>"


def test_round() -> None:
    assert round(np.array(1.567), 1).item() == pytest.approx(1.6)
    assert round(np.array([1.2, 2.7])).asnumpy().tolist() == [1, 3]

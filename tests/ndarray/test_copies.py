# SPDX-License-Identifier: Apache-2.0
"""Pickle, copy and what else makes an array out of an array."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as onp
import pytest

import afterglow as mx

both = pytest.mark.parametrize("front", [mx.nd, mx.np], ids=["nd", "np"])
TYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool")


@both
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(), (0, 2), (3,), (2, 3)])
def test_pickle(front: Any, dtype: str, shape: tuple[int, ...]) -> None:
    x = front.array(onp.arange(int(onp.prod(shape))).reshape(shape), dtype=dtype, ctx=mx.cpu(1))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        y = pickle.loads(pickle.dumps(x + 0 if dtype != "bool" else x, protocol))
        assert type(y) is type(x)
        assert (y.shape, y.dtype, y.ctx) == (x.shape, x.dtype, mx.cpu(1))
        onp.testing.assert_array_equal(y.asnumpy(), x.asnumpy())


@both
def test_pickle_of_a_view_holds_the_view_only(front: Any) -> None:
    x = front.zeros((1000, 100))
    assert len(pickle.dumps(x[3])) < 2000


@both
def test_copy_module(front: Any) -> None:
    x = front.arange(3)
    nested = {"x": x, "again": x}
    for y in (copy.copy(x), copy.deepcopy(x), copy.deepcopy(nested)["x"], x.copy()):
        assert type(y) is type(x)
        y[:] = 9
        assert x.asnumpy().tolist() == [0, 1, 2]


@both
def test_astype(front: Any) -> None:
    x = front.array([1.7, -2.3, 0])
    assert x.astype("float32") is not x
    assert x.astype("float32", copy=False) is x
    assert x.astype("int32").asnumpy().tolist() == [1, -2, 0]
    assert x.astype(bool).asnumpy().tolist() == [True, True, False]
    assert onp.dtype(x.astype(onp.float64).dtype) == "float64"
    assert onp.dtype(x.astype(mx.nd.zeros(2, dtype="int8")).dtype) == "int8"
    for dtype in ("float99", "uint16", "complex64", "datetime64"):
        with pytest.raises(mx.MXNetError):
            x.astype(dtype)


def test_class_changes_share_memory() -> None:
    x = mx.nd.zeros((2,))
    y = x.as_np_ndarray()
    assert type(y) is mx.np.ndarray
    y += 3
    assert x.asnumpy().tolist() == [3, 3]
    assert type(y.as_nd_ndarray()) is mx.nd.NDArray
    x.detach()[:] = 1
    assert y.asnumpy().tolist() == [1, 1]


@both
def test_properties_are_read_only(front: Any) -> None:
    x = front.ones((2, 3))
    for name in ("shape", "dtype", "size", "ndim", "T", "context", "stype", "grad"):
        with pytest.raises(AttributeError):
            setattr(x, name, 1)
    with pytest.raises(AttributeError):
        x.no_such_attribute
    assert (x.size, x.ndim, x.stype, x.grad) == (6, 2, "default", None)


def test_arrays_are_made_by_functions() -> None:
    for kind in (mx.nd.NDArray, mx.np.ndarray):
        with pytest.raises(TypeError):
            kind()

# SPDX-License-Identifier: Apache-2.0
"""Parameters and their dictionaries: MXNet's names, texts and classes of errors."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, init, nd, np, npx
from afterglow.gluon import Constant, Parameter, ParameterDict


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of arrays, in a simple format where there is no other."""
    if hasattr(nd, "save"):
        return

    def save(filename: str, data: Any) -> None:
        Path(filename).write_bytes(pickle.dumps({key: data[key].asnumpy() for key in data}))

    def load(filename: str) -> Any:
        held = pickle.loads(Path(filename).read_bytes())
        return {key: nd.array(value, dtype=value.dtype) for key, value in held.items()}

    monkeypatch.setattr(nd, "save", save, raising=False)
    monkeypatch.setattr(nd, "load", load, raising=False)


def made(shape: Any = (2, 3), **kwargs: Any) -> Parameter:
    parameter = Parameter("weight", shape=shape, **kwargs)
    parameter.initialize("ones")
    return parameter


# --- one parameter ---


def test_text() -> None:
    text = "Parameter weight (shape=(3, 2), dtype=<class 'numpy.float32'>)"
    assert repr(Parameter("weight", shape=(3, 2))) == text
    assert repr(Parameter("w", dtype="float64")) == "Parameter w (shape=None, dtype=float64)"
    assert Parameter("w", shape=3).shape == (3,)


def test_before_initialization() -> None:
    parameter = Parameter("w", shape=(2,))
    for call in (parameter.data, parameter.grad, parameter.list_data, parameter.list_grad):
        with pytest.raises(RuntimeError, match="Parameter 'w' has not been initialized"):
            call()
    with pytest.raises(RuntimeError, match="has not been initialized"):
        parameter.list_ctx()
    with pytest.raises(ValueError, match="Cannot reset context"):
        parameter.reset_ctx(mx.cpu())
    with pytest.raises(AssertionError, match="has not been initialized"):
        parameter.set_data(nd.ones((2,)))
    parameter.zero_grad()
    parameter.cast("float64")
    assert parameter.dtype == "float64"


def test_deferred_initialization() -> None:
    parameter = Parameter("w", shape=(2, 0), allow_deferred_init=True)
    parameter.initialize("ones", ctx=[mx.cpu(0), mx.cpu(1)])
    with pytest.raises(gluon.DeferredInitializationError, match="deferred"):
        parameter.data()
    assert issubclass(gluon.DeferredInitializationError, mx.MXNetError)
    assert parameter.list_ctx() == [mx.cpu(0), mx.cpu(1)]
    parameter.shape = (2, 3)
    parameter._finish_deferred_init()
    assert [array.shape for array in parameter.list_data()] == [(2, 3)] * 2
    assert parameter.data(mx.cpu(1)).context == mx.cpu(1)


@pytest.mark.parametrize("shape", [(0, 2), (-1, 2), None])
def test_unknown_shapes_need_leave(shape: Any) -> None:
    with pytest.raises(ValueError, match="invalid shape"):
        Parameter("w", shape=shape).initialize()


def test_value_before_the_shape_is_known() -> None:
    parameter = Parameter("w", shape=(0,), allow_deferred_init=True)
    parameter.initialize()
    parameter.set_data(nd.array([1, 2]))
    parameter._finish_deferred_init()
    assert parameter.data().asnumpy().tolist() == [1, 2]


def test_shapes_are_only_completed() -> None:
    parameter = made()
    with pytest.raises(AssertionError, match=r"Expected shape \(5, 5\) is incompatible"):
        parameter.shape = (5, 5)
    with pytest.raises(AssertionError):
        parameter.set_data(nd.ones((3, 2)))


def test_initializing_twice() -> None:
    parameter = made()
    with pytest.warns(UserWarning, match="already initialized, ignoring"):
        parameter.initialize("zeros")
    assert parameter.data().asnumpy().all()
    parameter.initialize("zeros", force_reinit=True)
    assert not parameter.data().asnumpy().any()


def test_whose_initializer() -> None:
    parameter = Parameter("anything", shape=(2,), init="ones")
    parameter.initialize(default_init=init.Zero())
    assert parameter.data().asnumpy().tolist() == [1, 1]
    parameter.initialize(init.Constant(3), force_reinit=True)
    assert parameter.data().asnumpy().tolist() == [3, 3]
    parameter = Parameter("anything", shape=(2,))
    parameter.initialize(default_init="ones")
    assert parameter.data().asnumpy().tolist() == [1, 1]


@pytest.mark.parametrize("value", [nd.array([1, 2]), np.array([1, 2]), onp.array([1, 2], "int8")])
def test_set_data(value: Any) -> None:
    parameter = made((2,))
    array = parameter.data()
    parameter.set_data(value)
    assert parameter.data() is array
    assert array.asnumpy().tolist() == [1, 2]


def test_devices() -> None:
    parameter = Parameter("w", shape=(2,))
    parameter.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    first, second = parameter.list_data()
    assert first.asnumpy().tolist() == second.asnumpy().tolist()
    assert parameter.data() is first
    with mx.cpu(1):
        assert parameter.data() is second
    with pytest.raises(RuntimeError, match=r"was not initialized on context cpu\(2\)"):
        parameter.data(mx.cpu(2))
    second[:] = first + 2
    expected = first.asnumpy() + 1
    parameter.reset_ctx(mx.cpu(3))
    assert parameter.list_ctx() == [mx.cpu(3)]
    onp.testing.assert_allclose(parameter.data().asnumpy(), expected, 1e-6)


@pytest.mark.parametrize("ctx", ["cpu", 0, ["cpu"]])
def test_what_is_not_a_device(ctx: Any) -> None:
    with pytest.raises(mx.MXNetError, match="must be a Context"):
        Parameter("w", shape=(1,)).initialize(ctx=ctx)
    with pytest.raises(mx.MXNetError, match="must be a Context"):
        made().data(ctx)


def test_gradients_are_read_from_the_array() -> None:
    parameter = made((2,))
    data = parameter.data()
    for factor in (2, 3):
        with autograd.record():
            total = (data * factor).sum()
        total.backward()
        assert parameter.grad().asnumpy().tolist() == [factor] * 2
    parameter.zero_grad()
    assert parameter.list_grad()[0].asnumpy().tolist() == [0, 0]


def test_requests() -> None:
    with pytest.raises(AssertionError, match="grad_req must be one of"):
        Parameter("w", grad_req="x")
    parameter = made((2,))
    parameter.grad_req = "null"
    with pytest.raises(RuntimeError, match="because grad_req='null'"):
        parameter.grad()
    with autograd.record():
        assert parameter.data().grad is None
    parameter.grad_req = "add"
    for _ in range(2):
        with autograd.record():
            total = parameter.data().sum()
        total.backward()
    assert parameter.grad().asnumpy().tolist() == [2, 2]
    assert Parameter("w", differentiable=False).grad_req == "null"


def test_cast() -> None:
    parameter = made((2,))
    parameter.cast("float64")
    assert parameter.data().dtype == parameter.grad().dtype == onp.float64
    parameter.dtype = "float16"
    assert parameter.data().dtype == onp.float16


def test_a_parameter_holds_no_second_reference_to_its_gradient() -> None:
    parameter = made((2,))
    gc.collect()
    before = mx._core.live_handles()
    for _ in range(3):
        parameter.grad()
    assert mx._core.live_handles() == before


def test_numpy_mode() -> None:
    npx.set_np()
    try:
        parameter = Parameter("w", shape=(2, 0), allow_deferred_init=True)
        assert parameter.shape == (2, -1)
        parameter.shape = (2, 3)
        parameter.initialize()
        assert type(parameter.data()) is type(parameter.grad()) is np.ndarray
        assert type(Constant("c", [1]).value) is np.ndarray
    finally:
        npx.reset_np()
    parameter.initialize(force_reinit=True)
    assert type(parameter.data()) is nd.NDArray


def test_dense_parameters_have_no_rows_to_ask_for() -> None:
    parameter = made()
    with pytest.raises(RuntimeError):
        parameter.row_sparse_data(nd.ones((1,)))
    with pytest.raises(RuntimeError):
        parameter.list_row_sparse_data(nd.ones((1,)))
    with pytest.raises(AssertionError, match="must be one of"):
        Parameter("w", stype="foo")


# --- constants ---


@pytest.mark.parametrize("value", [[1, 2], onp.array([1.0, 2.0]), nd.array([1, 2])])
def test_constant(value: Any) -> None:
    constant = Constant("c", value)
    assert repr(constant) == "Constant c (shape=(2,), dtype=<class 'numpy.float32'>)"
    constant.initialize()
    assert constant.data().asnumpy().tolist() == [1, 2]
    with pytest.warns(UserWarning, match="does not support grad_req"):
        constant.grad_req = "write"
    assert constant.grad_req == "null"
    with pytest.raises(RuntimeError):
        constant.grad()


# --- dictionaries ---


def test_get() -> None:
    params = ParameterDict("pre_")
    weight = params.get("weight", shape=(2, 0), allow_deferred_init=True)
    assert weight.name == "pre_weight"
    assert params["pre_weight"] is weight
    assert list(params) == list(params.keys()) == ["pre_weight"]
    assert "pre_weight" in params
    assert params.get("weight", shape=(0, 3)) is weight
    assert weight.shape == (2, 3)
    for attribute, value in {"shape": (4, 3), "dtype": "float64", "lr_mult": 5}.items():
        with pytest.raises(AssertionError, match=f"for attribute '{attribute}'"):
            params.get("weight", **{attribute: value})
    params.get("weight", init="zeros", dtype="float32")
    with pytest.raises(AssertionError, match="desired 'ones' vs stored 'zeros'"):
        params.get("weight", init="ones")
    with pytest.raises(KeyError):
        params["nothing"]


def test_get_constant() -> None:
    params = ParameterDict("pre_")
    constant = params.get_constant("c", onp.array([1.0, 2.0]))
    assert params.get_constant("c") is params.get_constant("c", [1, 2]) is constant
    with pytest.raises(AssertionError, match="doesn't match"):
        params.get_constant("c", [1, 3])
    with pytest.raises(KeyError, match="No constant named 'pre_z'"):
        params.get_constant("z")
    params.get("weight", shape=(1,))
    with pytest.raises(AssertionError, match="not a constant"):
        params.get_constant("weight", [1])


def test_sharing() -> None:
    params = ParameterDict("pre_")
    weight = params.get("weight", shape=(2,))
    other = ParameterDict("pre_", shared=params)
    assert list(other) == []
    assert other.get("weight") is weight
    assert list(other) == ["pre_weight"]


def test_update() -> None:
    first, second = ParameterDict("a_"), ParameterDict("a_")
    first.get("x", shape=(1,))
    second.get("y", shape=(1,))
    first.update(second)
    assert list(first) == ["a_x", "a_y"]
    first.update(second)
    third = ParameterDict("a_")
    third.get("x", shape=(1,))
    with pytest.raises(AssertionError, match="different Parameters with the same name 'a_x'"):
        first.update(third)


def test_all_at_once() -> None:
    params = ParameterDict()
    for name in ("a", "b"):
        params.get(name, shape=(2,))
    params.setattr("lr_mult", 3)
    params.initialize(init.One(), ctx=mx.cpu(1))
    assert params.list_ctx() == [mx.cpu(1)]
    params.reset_ctx(mx.cpu(0))
    params.zero_grad()
    assert [value.lr_mult for value in params.values()] == [3, 3]
    assert all(value.data().asnumpy().all() for _, value in params.items())
    text = "Parameter a (shape=(2,), dtype=<class 'numpy.float32'>)"
    assert repr(params).startswith(f"(\n  {text}\n")


@pytest.mark.usefixtures("files")
def test_files(tmp_path: Path) -> None:
    name = str(tmp_path / "x.params")
    params = ParameterDict("net_")
    params.get("weight", shape=(2,), init="ones")
    params.initialize()
    with pytest.raises(ValueError, match="does not start with 'zz'"):
        params.save(name, strip_prefix="zz")
    params.save(name, strip_prefix="net_")
    assert list(nd.load(name)) == ["weight"]
    other = ParameterDict("new_")
    other.get("weight", shape=(0,))
    with pytest.raises(AssertionError, match="'new_weight' is missing"):
        other.load(name)
    with pytest.raises(AssertionError, match="restore_prefix is 'zz'"):
        other.load(name, restore_prefix="zz")
    other.load(name, ctx=mx.cpu(1), restore_prefix="new_")
    assert other["new_weight"].data(mx.cpu(1)).asnumpy().tolist() == [1, 1]
    with pytest.raises(AssertionError, match="previous initialized on"):
        other.load(name, ctx=mx.cpu(0), restore_prefix="new_")
    with pytest.raises(AssertionError, match="is not present in ParameterDict"):
        ParameterDict().load(name)
    ParameterDict().load(name, ignore_extra=True)
    other.get("bias", shape=(1,))
    other.load(name, restore_prefix="new_", allow_missing=True)


@pytest.mark.usefixtures("files")
def test_files_with_other_types_and_shapes(tmp_path: Path) -> None:
    name = str(tmp_path / "x.params")
    params = ParameterDict()
    params.get("w", shape=(2,), init="ones")
    params.initialize()
    params.save(name)
    other = ParameterDict()
    weight = other.get("w", shape=(2,), dtype="float64")
    with pytest.raises(AssertionError, match="dtype incompatible"):
        other.load(name)
    other.load(name, cast_dtype=True)
    assert weight.data().dtype == onp.float64
    other.load(name, cast_dtype=True, dtype_source="saved")
    assert weight.data().dtype == onp.float32
    third = ParameterDict()
    third.get("w", shape=(3,))
    with pytest.raises(AssertionError, match="shape incompatible"):
        third.load(name)

# SPDX-License-Identifier: Apache-2.0
"""Layers: MXNet's answers, gradients against finite differences, both worlds, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from gluon.cases import LAYERS, answer_of_layer, numbers
from support import runs_later

import afterglow as mx
from afterglow import autograd, gluon, nd, np, npx
from afterglow.gluon import nn

ANSWERS = json.loads(Path(__file__).with_name("mxnet.json").read_text())["layers"]


def legacy_array(host: Any) -> Any:
    return nd.array(host, dtype=host.dtype)


def numpy_array(host: Any) -> Any:
    return np.array(host, dtype=host.dtype)


@pytest.fixture
def numpy_mode() -> Any:
    npx.set_np()
    yield
    npx.reset_np()


def check(found: dict[str, Any], name: str) -> None:
    expected = ANSWERS[name]
    assert found.keys() == expected.keys()
    if name == "selu":  # MXNet's gradient is not the slope: it scales negative outputs twice
        expected = {key: value for key, value in expected.items() if key != "grad"}
    if name == "batch norm, fixed":  # MXNet overwrites the gamma that it does not use
        expected = {key: value for key, value in expected.items() if key != "gamma"}
    for key, value in expected.items():
        onp.testing.assert_allclose(found[key], value, 2e-5, 1e-5, err_msg=key)


@pytest.mark.parametrize("name", LAYERS)
def test_like_mxnet(name: str) -> None:
    check(answer_of_layer(mx, name, legacy_array), name)


@pytest.mark.parametrize("name", [name for name in LAYERS if name != "hybrid lambda"])
@pytest.mark.usefixtures("numpy_mode")
def test_the_same_in_numpy_mode(name: str) -> None:
    check(answer_of_layer(mx, name, numpy_array), name)


@pytest.mark.parametrize(
    "name", [name for name, (text, _) in LAYERS.items() if "Dropout" not in text]
)
def test_gradient_is_the_slope(name: str) -> None:
    text, shape = LAYERS[name]
    layer = eval(text, {"nn": nn, "contrib": gluon.contrib})
    layer.initialize()
    layer.cast("float64")
    host = numbers(shape, 21, "float64")
    x = nd.array(host, dtype="float64")
    layer(x)
    for seed, parameter in enumerate(layer.collect_params().values()):
        values = abs(numbers(parameter.shape, 30 + seed, "float64"))
        parameter.set_data(nd.array(values, dtype="float64"))
    x.attach_grad()

    def total(array: Any) -> Any:
        y = layer(array)
        return (y * nd.array(numbers(y.shape, 40, "float64"), dtype="float64")).sum()

    with autograd.record():
        result = total(x)
    result.backward()
    step = 1e-6
    direction = numbers(shape, 50, "float64")
    with autograd.train_mode():
        up = total(nd.array(host + step * direction, dtype="float64")).asscalar()
        down = total(nd.array(host - step * direction, dtype="float64")).asscalar()
    slope = (up - down) / (2 * step)
    assert (x.grad.asnumpy() * direction).sum() == pytest.approx(slope, rel=1e-4, abs=1e-6)


# --- what MXNet prints ---


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        ("nn.Dense(3)", "Dense(None -> 3, linear)"),
        ("nn.Dense(3, activation='relu', in_units=4)", "Dense(4 -> 3, Activation(relu))"),
        ("nn.Activation('relu')", "Activation(relu)"),
        ("nn.LeakyReLU(0.1)", "LeakyReLU(0.1)"),
        ("nn.PReLU()", "PReLU(\n\n)"),
        ("nn.ELU(0.5)", "ELU(\n\n)"),
        ("nn.Swish()", "Swish(\n\n)"),
        ("nn.Dropout(0.5)", "Dropout(p = 0.5, axes=())"),
        ("nn.Dropout(0.5, axes=(1,))", "Dropout(p = 0.5, axes=(1,))"),
        (
            "nn.BatchNorm()",
            "BatchNorm(axis=1, eps=1e-05, momentum=0.9, fix_gamma=False, "
            "use_global_stats=False, in_channels=None)",
        ),
        (
            "nn.BatchNorm(scale=False, in_channels=3, use_global_stats=True)",
            "BatchNorm(axis=1, eps=1e-05, momentum=0.9, fix_gamma=True, "
            "use_global_stats=True, in_channels=3)",
        ),
        (
            "nn.LayerNorm()",
            "LayerNorm(eps=1e-05, axis=-1, center=True, scale=True, in_channels=0)",
        ),
        (
            "nn.InstanceNorm()",
            "InstanceNorm(eps=1e-05, axis=1, center=True, scale=False, in_channels=0)",
        ),
        ("nn.GroupNorm(2)", "GroupNorm(eps=1e-05, num_groups=2, center=True, scale=True)"),
        ("nn.Embedding(10, 4)", "Embedding(10 -> 4, float32)"),
        ("nn.Flatten()", "Flatten"),
        ("nn.Lambda('tanh')", "Lambda(tanh)"),
        ("nn.Lambda(lambda x: x)", "Lambda(<lambda>)"),
        ("nn.HybridLambda('tanh')", "HybridLambda(tanh)"),
        ("contrib.nn.Identity()", "Identity(\n\n)"),
        ("contrib.nn.HybridConcurrent(axis=1)", "HybridConcurrent(\n\n)"),
    ],
)
def test_repr(layer: str, text: str) -> None:
    assert repr(eval(layer, {"nn": nn, "contrib": gluon.contrib})) == text


@pytest.mark.usefixtures("numpy_mode")
def test_repr_in_numpy_mode() -> None:
    assert repr(nn.Dense(2)) == "Dense(-1 -> 2, linear)"
    assert repr(nn.BatchNorm()).endswith("in_channels=-1)")


# --- single layers ---


def test_dense_takes_shapes_from_the_first_batch() -> None:
    layer = nn.Dense(2)
    layer.initialize()
    with pytest.raises(gluon.DeferredInitializationError):
        layer.weight.data()
    layer(nd.ones((3, 4, 5)))
    assert layer.weight.shape == (2, 20)
    with pytest.raises(mx.MXNetError, match="20"):
        layer(nd.ones((3, 4)))


def test_dropout() -> None:
    layer, x = nn.Dropout(0.25), nd.ones((200, 50))
    assert layer(x).asnumpy().all()
    x.attach_grad()
    with autograd.record():
        y = layer(x)
    y.backward()
    values = y.asnumpy()
    assert set(onp.unique(values)) == {0, onp.float32(1 / 0.75)}
    assert abs((values == 0).mean() - 0.25) < 0.03
    onp.testing.assert_array_equal(x.grad.asnumpy(), values)


@pytest.mark.parametrize("rate", [1.5, -0.5, float("nan")])
def test_dropout_refuses_what_is_no_share(rate: float) -> None:
    with pytest.raises(ValueError, match=f"rate is {rate}.* from 0 to 1"):
        nn.Dropout(rate)
    assert not nn.Dropout(1)(nd.zeros((2,))).asnumpy().any()


def _chain(*layers: Any) -> Any:
    chain = nn.HybridSequential()
    chain.add(*layers)
    return chain


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("mode", [autograd.predict_mode, autograd.train_mode, autograd.record])
@pytest.mark.parametrize("world", [nd, np])
@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Dropout(0.5),
        lambda: nn.Dropout(0),
        lambda: nn.Flatten(),
        lambda: nn.Activation("relu"),
        lambda: nn.LeakyReLU(1.0),
        lambda: _chain(nn.Dropout(0.5), nn.Flatten()),
    ],
)
def test_writing_to_a_result_leaves_the_input(
    make: Any, world: Any, mode: Any, hybridized: bool
) -> None:
    layer, batch = make(), world.ones((2, 3))
    if hybridized:
        layer.hybridize()
    for _ in range(4):
        with mode():
            result = layer(batch)
        result += 100
        result[:] = 7
        assert batch.asnumpy().tolist() == [[1, 1, 1]] * 2


@runs_later
def test_copies_of_layers_run_with_their_neighbours() -> None:
    x = nd.ones((64, 8, 8))
    net = _chain(nn.Activation("tanh"), nn.Dropout(0.5), nn.Flatten(), nn.Dropout(0.5))
    net(x).wait_to_read()
    before = mx.engine.stats()
    y = net(x * 2)
    y.wait_to_read()
    after = mx.engine.stats()
    # x * 2, tanh and the first two copies are one pass.
    assert after["fused_calls"] - before["fused_calls"] >= 4
    onp.testing.assert_allclose(y.asnumpy(), onp.full((64, 64), onp.tanh(2)), 1e-6)


def test_dropout_along_axes() -> None:
    with autograd.train_mode():
        values = nn.Dropout(0.5, axes=(0,))(nd.ones((4, 100))).asnumpy()
    assert (values == values[0]).all()
    assert 0 < (values[0] == 0).sum() < 100


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_dropout_keeps_the_type(dtype: str) -> None:
    with autograd.train_mode():
        assert nn.Dropout(0.5)(nd.ones((4,), dtype=dtype)).dtype == onp.dtype(dtype)
        assert nn.Dropout(0.5)(np.ones((4,), dtype=dtype)).dtype == onp.dtype(dtype)


def test_batch_norm_averages_what_is_recorded() -> None:
    layer = nn.BatchNorm(in_channels=2)
    layer.initialize()
    x = nd.array([[1, 2], [3, 5], [4, 9]])
    with autograd.record():
        y = layer(x)
    y.backward()
    onp.testing.assert_allclose(layer.running_mean.data().asnumpy(), [0.26666674, 0.5333335], 1e-6)
    onp.testing.assert_allclose(layer.running_var.data().asnumpy(), [1.0555556, 1.7222223], 1e-6)
    before = layer.running_mean.data().asnumpy()
    with autograd.train_mode():
        layer(x)
    layer(x)
    onp.testing.assert_array_equal(layer.running_mean.data().asnumpy(), before)


def test_batch_norm_of_half_precision() -> None:
    layer = nn.BatchNorm(in_channels=2)
    layer.initialize()
    layer.cast("float16")
    assert layer.gamma.data().dtype == onp.float32
    with autograd.record():
        y = layer(nd.array([[1, 2], [3, 5]], dtype="float16"))
    assert y.dtype == onp.float16
    onp.testing.assert_allclose(y.asnumpy(), [[-1, -1], [1, 1]], 1e-3)


def test_batch_norm_refuses_other_channels() -> None:
    layer = nn.BatchNorm(in_channels=3)
    layer.initialize()
    with pytest.raises(mx.MXNetError, match=r"needs shape \(2,\)"):
        layer(nd.ones((4, 2)))


NORMS: dict[str, tuple[Any, list[int]]] = {
    "BatchNorm": (nd.BatchNorm, [3, 3, 3, 3]),
    "LayerNorm": (nd.LayerNorm, [4, 4]),
    "InstanceNorm": (nd.InstanceNorm, [3, 3]),
    "GroupNorm": (lambda *inputs: nd.GroupNorm(*inputs, num_groups=3), [3, 3]),
}


@pytest.mark.parametrize("name", NORMS)
def test_norms_refuse_parameters_of_other_sizes(name: str) -> None:
    layer, sizes = NORMS[name]
    x = nd.ones((2, 3, 4))
    right = [nd.ones((size,)) for size in sizes]
    assert layer(x, *right).shape == x.shape
    for place in range(len(sizes)):
        for shape in ((), (1,), (sizes[place] + 1,), (1, sizes[place])):
            wrong = [*right[:place], nd.ones(shape), *right[place + 1 :]]
            with pytest.raises(mx.MXNetError, match=name):
                layer(x, *wrong)


def test_batch_norm_relu() -> None:
    layer = nn.BatchNormReLU(in_channels=1)
    layer.initialize()
    onp.testing.assert_allclose(layer(nd.array([[-1], [2]])).asnumpy(), [[0], [2]], 1e-4)


def test_which_parameters_are_learnt() -> None:
    def requests(layer: Any) -> dict[str, str]:
        return {key: value.grad_req for key, value in layer._reg_params.items()}

    assert requests(nn.BatchNorm(scale=False, center=False)) == dict.fromkeys(
        ("gamma", "beta", "running_mean", "running_var"), "null"
    )
    assert requests(nn.LayerNorm(center=False)) == {"gamma": "write", "beta": "null"}
    assert requests(nn.InstanceNorm()) == {"gamma": "null", "beta": "write"}


def test_group_norm_has_a_scale_per_group() -> None:
    layer = nn.GroupNorm(2)
    layer.initialize()
    layer.gamma.set_data(nd.array([1, 2]))
    found = layer(nd.arange(24).reshape((2, 4, 3))).asnumpy()[0]
    row = [-1.4638476, -0.8783086, -0.29276952, 0.29276952, 0.8783086, 1.4638476]
    onp.testing.assert_allclose(found[:2].ravel(), row, 1e-5)
    onp.testing.assert_allclose(found[2:].ravel(), [2 * value for value in row], 1e-5)


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "uint8"])
def test_embedding(dtype: str) -> None:
    layer = nn.Embedding(4, 2)
    layer.initialize()
    layer.weight.set_data(nd.arange(8).reshape((4, 2)))
    with autograd.record():
        y = layer(nd.array([[0, 3], [3, 7]], dtype=dtype))
    y.backward()
    assert y.dtype == onp.float32
    assert y.asnumpy().tolist() == [[[0, 1], [6, 7]], [[6, 7], [6, 7]]]
    assert layer.weight.grad().asnumpy().tolist() == [[1, 1], [0, 0], [0, 0], [3, 3]]


def test_embedding_of_a_column_and_in_numpy_mode() -> None:
    layer = nn.Embedding(4, 3)
    layer.initialize()
    assert layer(nd.array([[1.7]])).shape == (1, 1, 3)
    assert isinstance(layer(np.array([1, 2])), np.ndarray)


def test_large_inputs_have_finite_gradients() -> None:
    for layer in (nn.ELU(), nn.SELU(), nn.GELU(), nn.Swish(), nn.Activation("softrelu")):
        x = nd.array([-200.0, -1, 0.5, 200])
        x.attach_grad()
        with autograd.record():
            y = layer(x)
        y.backward()
        assert onp.isfinite(y.asnumpy()).all()
        assert onp.isfinite(x.grad.asnumpy()).all(), layer


def test_concurrent() -> None:
    for kind in (gluon.contrib.nn.Concurrent, gluon.contrib.nn.HybridConcurrent):
        both = kind(axis=1)
        both.add(gluon.contrib.nn.Identity(), nn.Activation("relu"))
        assert both(nd.array([[1, -2]])).asnumpy().tolist() == [[1, -2, 1, 0]]
        assert both(np.array([[1, -2]])).asnumpy().tolist() == [[1, -2, 1, 0]]
    first = gluon.contrib.nn.HybridConcurrent(axis=0)
    first.add(gluon.contrib.nn.Identity(), gluon.contrib.nn.Identity())
    assert first(nd.ones((2, 3))).shape == (4, 3)


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda: nn.Activation("nothing")(nd.ones((2,))), mx.MXNetError),
        (lambda: nn.LeakyReLU(-1), AssertionError),
        (lambda: nn.Lambda("nosuch"), AssertionError),
        (lambda: nn.Lambda(3), ValueError),
        (lambda: nn.HybridLambda(3), ValueError),
        (lambda: nn.Dense(3)(nd.ones((2, 3))), RuntimeError),
        (lambda: nn.Dense(3)(1), ValueError),
    ],
)
def test_refusals(function: Any, error: type[BaseException]) -> None:
    with pytest.raises(error):
        function()


def test_norms_refuse_too_few_axes() -> None:
    for layer in (nn.InstanceNorm(in_channels=2), nn.GroupNorm()):
        layer.initialize()
        with pytest.raises(mx.MXNetError, match="at least 3 axes"):
            layer(nd.ones((2, 2)))

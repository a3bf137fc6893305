# SPDX-License-Identifier: Apache-2.0
"""Small modules of MXNet's: features, old gradients, TensorBoard, scopes of threads."""

from __future__ import annotations

import doctest
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd
from afterglow.attribute import AttrScope
from afterglow.context import Context
from afterglow.contrib import autograd, tensorboard
from afterglow.gluon.block import _BlockScope
from afterglow.model import BatchEndParam
from afterglow.name import NameManager
from afterglow.util import _NumpyArrayScope


def in_thread(function: Any) -> Any:
    """Return what a function returns in a thread of its own."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def test_features() -> None:
    features = mx.runtime.Features()
    assert features is mx.runtime.Features()
    assert not features.is_enabled("cuda")
    assert features.is_enabled("INT64_TENSOR_SIZE")
    assert repr(features["CUDA"]) == "✖ CUDA"
    assert [one.name for one in mx.runtime.feature_list()] == list(features)
    with pytest.raises(RuntimeError, match="'NOSUCH' is unknown"):
        features.is_enabled("nosuch")


def test_where_the_library_is() -> None:
    assert Path(mx.libinfo.find_lib_path()[0]).exists()
    assert mx.libinfo.__version__ == "1.9.1"
    with pytest.raises(RuntimeError, match="include path"):
        mx.libinfo.find_include_path()


def test_gradients_by_their_old_names() -> None:
    def product(x: Any, y: Any) -> Any:
        return x * x * y

    x, y = nd.array([2.0]), nd.array([5.0])
    gradients, value = autograd.grad_and_loss(product)(x, y)
    assert [float(one) for one in gradients] == [20, 4]
    assert float(value) == 20
    assert float(autograd.grad(product, argnum=1)(x, y)[0]) == 4
    with pytest.raises(TypeError, match="must be NDArrays"):
        autograd.grad(product)(1, 2)
    assert not autograd.set_is_training(True)
    with autograd.test_section():
        assert not mx.autograd.is_recording()
    assert autograd.set_is_training(False)
    with autograd.train_section():
        assert mx.autograd.is_training()
    assert not mx.autograd.is_recording()


def test_rows_share_a_rate() -> None:
    rule = mx.optimizer.contrib.GroupAdaGrad(learning_rate=0.1, wd=0)
    weight, history = onp.ones((3, 4), "float32"), onp.zeros((3, 1), "float32")
    array = nd.array(weight)
    state = rule.create_state(0, array)
    for number in range(1, 4):
        gradient = onp.arange(12, dtype="float32").reshape(3, 4) / number
        rule.update(0, array, nd.array(gradient), state)
        history += (gradient**2).mean(axis=1, keepdims=True)
        weight -= 0.1 * gradient / onp.sqrt(history + 1e-5)
    onp.testing.assert_allclose(array.asnumpy(), weight, rtol=1e-5)
    with pytest.raises(ValueError, match="must be matrices"):
        rule.create_state(0, nd.ones((3,)))
    with pytest.raises(ValueError, match="no weight decay"):
        mx.optimizer.create("groupadagrad", wd=0.1).update(0, array, array, state)


def test_metrics_for_tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []

    class Writer:
        def __init__(self, folder: str) -> None:
            written.append(folder)

        def add_scalar(self, tag: str, value: float, global_step: int) -> None:
            written.append((tag, value, global_step))

    for package in ("mxboard", "torch.utils.tensorboard", "tensorboardX"):
        monkeypatch.setitem(sys.modules, package, None)
    callback = tensorboard.LogMetricsCallback("logs", prefix="train")
    metric = mx.metric.Accuracy()
    metric.update([nd.array([0])], [nd.array([[1.0, 0.0]])])
    param = BatchEndParam(epoch=3, nbatch=0, eval_metric=metric, locals=None)
    callback(param._replace(eval_metric=None))
    with pytest.raises(RuntimeError, match="pip install"):
        callback(param)
    package = ModuleType("tensorboardX")
    package.SummaryWriter = Writer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensorboardX", package)
    callback(param)
    assert written == ["logs", ("train-accuracy", 1.0, 3)]


def test_the_context_of_a_thread_is_set() -> None:
    def other() -> Any:
        Context.default_ctx = mx.cpu(7)
        with mx.cpu(3):
            Context.default_ctx = mx.cpu(4)
            inside = mx.current_context()
        return inside, mx.current_context(), nd.ones((1,)).context

    assert in_thread(other) == (mx.cpu(4), mx.cpu(7), mx.cpu(7))
    assert Context.default_ctx == mx.cpu(0)


def test_scopes_of_a_thread_are_set() -> None:
    def other() -> Any:
        AttrScope.current = AttrScope(x="hello")
        NameManager.current = NameManager()
        _NumpyArrayScope._current = _NumpyArrayScope(True)
        symbol = mx.sym.var("a") + 1
        return symbol.attr("x"), symbol.name, mx.is_np_array()

    before = NameManager.current
    attribute, name, is_numpy = in_thread(other)
    assert (attribute, is_numpy) == ("hello", True)
    assert name.endswith("0")
    assert NameManager.current is before
    assert not AttrScope.current._attr
    assert not mx.is_np_array()
    assert not _NumpyArrayScope._current._is_np_array


def test_name_scopes_that_are_made_by_hand() -> None:
    net = mx.gluon.nn.Sequential(prefix="net_")
    with _BlockScope(net):
        assert mx.gluon.nn.Dense(1).prefix == "net_dense0_"
        prefix, params = _BlockScope.create(None, None, "layer")
        assert (prefix, params.prefix) == ("net_layer0_", "net_layer0_")


@pytest.mark.parametrize("module", [mx.runtime, mx.libinfo, autograd], ids=lambda one: one.__name__)
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0

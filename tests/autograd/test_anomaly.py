# SPDX-License-Identifier: Apache-2.0
"""``autograd.detect_anomaly``: the first result that is not finite is named, and nothing else."""

from __future__ import annotations

import inspect
import re
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest
from support import run_child

import afterglow as mx
from afterglow import autograd, gluon, nd, np, npx


def line() -> int:
    """Return the line that calls this."""
    return sys._getframe(1).f_lineno


def refused(call: Callable[[], Any]) -> str:
    """Return what is said; the traceback, which holds arrays, is gone then."""
    try:
        call()
    except mx.MXNetError as error:
        return str(error)
    raise AssertionError("nothing was refused")


def place(number: int, function: str) -> str:
    return f"issued at .*test_anomaly.py:{number} in {function}"


def test_the_call_is_named() -> None:
    x = nd.array([[1, 0, -1], [2, 3, 0]])
    with autograd.detect_anomaly():
        y = x + 1 - 1
        here = line() + 1
        said = refused(lambda: nd.log(y))
    assert said.startswith(
        "[log] the result, (2, 3) float32, has 1 nan and 2 inf, but all inputs are finite; "
        "inputs: (2, 3) float32; their values: -1 to 3\n"
    )
    assert re.search(place(here, "<lambda>"), said)
    assert not onp.isfinite(nd.log(x).asnumpy()).all()  # and afterwards it is a value again


@pytest.mark.parametrize(
    "call",
    [
        lambda: nd.array([1, 2]) / nd.array([1, 0]),
        lambda: np.array([1.0, 2.0], dtype="float64") / 0,
        lambda: np.array([60000.0, 1.0], dtype="float16") * 2,
        lambda: nd.ones((3, 4)).T[1:, ::2] * 1e30 * 1e30,
        lambda: np.array([1e30]).dot(np.array([1e30])),
        lambda: np.exp(np.array(1000.0)),
        lambda: np.linalg.det(np.array([[1e30, 0.0], [0.0, 1e30]])),
    ],
)
def test_kinds_of_calls(call: Any) -> None:
    call()
    with autograd.detect_anomaly(), pytest.raises(mx.MXNetError, match="all inputs are finite"):
        call()


def test_a_nan_that_was_given_is_told_at_its_first_call() -> None:
    data = nd.array([onp.nan, 1, onp.inf])
    weight = nd.ones((3,))
    with autograd.detect_anomaly():
        assert onp.isnan(data.asnumpy()[0])  # reading it is no call
        here = line() + 1
        said = refused(lambda: data * weight)
        assert "its inputs have inf" in refused(lambda: nd.array([onp.inf]) - nd.array([onp.inf]))
    assert said.startswith(
        "[multiply] the result, (3,) float32, has 1 nan and 1 inf, and its inputs have nan; "
        "inputs: (3,) float32, (3,) float32; their values: 1 and 1 nan and 1 inf, 1\n"
    )
    assert re.search(place(here, "<lambda>"), said)


def test_what_was_meant_is_passed_on() -> None:
    with autograd.detect_anomaly():
        mask = np.where(np.array([True, False]), np.ones(2), -onp.inf)
        assert npx.softmax(mask + 1).tolist() == [1, 0]
        assert np.isinf(np.full((2,), onp.inf)).all()
        assert np.isnan(np.array([1, onp.nan])).asnumpy().tolist() == [False, True]
        assert np.nan_to_num(np.array([1, onp.nan])).tolist() == [1, 0]
        assert nd.zeros((0, 3)).sum(axis=1).shape == (0,)
        assert int((nd.arange(4) > 1).sum().asscalar()) == 2


def test_writes_in_place() -> None:
    x = np.array([1.0, 2.0])
    with autograd.detect_anomaly():
        x += 1
        with pytest.raises(mx.MXNetError, match="has 2 inf"):
            x /= 0
        x[:] = 3
        with pytest.raises(mx.MXNetError, match="has 1 inf"):
            x[1:] = np.exp(np.array([1000.0]))


def test_backward_names_the_line_of_the_forward_call() -> None:
    x = np.array([0.0, 4.0])
    x.attach_grad()
    with autograd.detect_anomaly():
        with autograd.record():
            there = line() + 1
            y = np.sqrt(x)
            loss = (y * 2).sum()
        said = refused(loss.backward)
    name = "test_backward_names_the_line_of_the_forward_call"
    assert "has 1 inf, but all inputs are finite" in said
    assert re.search(rf"in the gradient of \[sqrt\] {place(there, name)}", said)


class Root(gluon.HybridBlock):
    """The square roots of what a layer gives."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.dense = gluon.nn.Dense(2, in_units=2, use_bias=False, weight_initializer="ones")

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.sqrt(self.dense(x)) * 3


ROOT_LINE = inspect.getsourcelines(Root.hybrid_forward)[1] + 1


@pytest.mark.parametrize("hybridize", [False, True])
def test_networks(hybridize: bool) -> None:
    net = Root()
    net.initialize()
    if hybridize:
        net.hybridize()
    for _ in range(3):
        net(nd.ones((1, 2))).wait_to_read()
    with autograd.detect_anomaly():
        said = refused(lambda: net(nd.array([[1, -2]])))
    assert said.startswith("[sqrt] the result, (1, 2) float32, has 2 nan")
    assert re.search(place(ROOT_LINE, "hybrid_forward"), said)
    assert said.endswith("\n  in layer net")


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("whole", [False, True], ids=["backward", "all"])
def test_gradients_of_networks(hybridize: bool, whole: bool) -> None:
    net = Root()
    net.initialize()
    if hybridize:
        net.hybridize()
    for _ in range(3):
        with autograd.record():
            net(nd.ones((1, 2))).backward()
    with autograd.detect_anomaly(whole), autograd.record():
        y = net(nd.array([[1, -1]]))
    with autograd.detect_anomaly():
        said = refused(y.backward)
    assert re.search(rf"in the gradient of \[sqrt\] {place(ROOT_LINE, 'hybrid_forward')}", said)


def test_training_goes_as_without() -> None:
    def trained(on: bool) -> Any:
        mx.random.seed(3)
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(8, activation="relu"), gluon.nn.BatchNorm(), gluon.nn.Dropout(0.5))
        net.add(gluon.nn.Dense(3))
        net.initialize(mx.init.Xavier())
        net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "adam")
        loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
        x, y = nd.random.normal(shape=(16, 5)), nd.arange(16) % 3
        with autograd.detect_anomaly(on):
            for _ in range(4):
                with autograd.record():
                    loss = loss_of(net(x), y)
                loss.backward()
                trainer.step(16)
        return [value.data().asnumpy() for value in net.collect_params().values()]

    for without, on in zip(trained(False), trained(True), strict=True):
        onp.testing.assert_array_equal(without, on)


def test_functions_of_python() -> None:
    class Root(autograd.Function):
        def forward(self, x: Any) -> Any:
            self.save_for_backward(x)
            return nd.sqrt(x)

        def backward(self, dy: Any) -> Any:
            (x,) = self._saved  # type: ignore[attr-defined]
            return dy / (2 * nd.sqrt(x))

        def save_for_backward(self, *arrays: Any) -> None:
            self._saved = arrays

    x = nd.array([0, 1])
    x.attach_grad()
    with autograd.record():
        y = Root()(x)
    with autograd.detect_anomaly(), pytest.raises(mx.MXNetError, match="in the gradient of"):
        y.backward()


def test_symbols() -> None:
    code = """
        y = mx.sym.log(mx.sym.tanh(mx.sym.var("x")) + 1)
        print(y.infer_shape(x=(2, 4))[1])
        print(y.eval(x=nd.ones((1,)))[0].shape)
        try:
            y.eval(x=nd.ones((1,)) * -100)
        except MXNetError as error:
            print("[log] the result" in str(error))
    """
    prelude = "import afterglow as mx\nfrom afterglow import MXNetError, nd\n"
    done = run_child(prelude + inspect.cleandoc(code), AFTERGLOW_DETECT_ANOMALY="1")
    assert done.out.splitlines() == ["[(2, 4)]", "(1,)", "True"], done.err


# --- the switch ---


def is_on() -> bool:
    try:
        np.log(np.zeros(1))
    except mx.MXNetError:
        return True
    return False


def test_scopes_nest_and_end() -> None:
    assert not is_on()
    with autograd.detect_anomaly():
        assert is_on()
        with autograd.detect_anomaly(False):
            assert not is_on()
        assert is_on()
        with pytest.raises(ZeroDivisionError), autograd.detect_anomaly(False):
            _ = 1 // 0
        assert is_on()
    assert not is_on()
    scope = autograd.detect_anomaly()
    assert not is_on()
    with scope, scope:
        assert is_on()
    assert not is_on()
    with pytest.raises(mx.MXNetError, match="not entered"):
        scope.__exit__()


def test_a_call_switches() -> None:
    autograd.detect_anomaly(True)
    try:
        assert is_on()
    finally:
        autograd.detect_anomaly(False)
    assert not is_on()
    with autograd.detect_anomaly(True):
        assert is_on()
    assert not is_on()


def test_it_belongs_to_a_thread() -> None:
    found: list[bool] = []
    with autograd.detect_anomaly():
        thread = threading.Thread(target=lambda: found.append(is_on()))
        thread.start()
        thread.join()
    assert found == [False]


@pytest.mark.parametrize("engine", ["threaded", "serial"])
def test_the_environment_switches_it_on_everywhere(engine: str) -> None:
    code = """
        import threading
        from afterglow import autograd, np, MXNetError

        def look():
            try:
                np.log(np.zeros(1))
            except MXNetError as error:
                print("all inputs are finite" in str(error))

        look()
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        with autograd.detect_anomaly(False):
            print(np.log(np.zeros(1)).item())
    """
    done = run_child(code, AFTERGLOW_DETECT_ANOMALY="1", AFTERGLOW_ENGINE=engine)
    assert done.out.split() == ["True", "True", "-inf"], done.err


def test_failures_of_kernels_are_raised_at_the_call() -> None:
    with autograd.detect_anomaly(), pytest.raises(mx.MXNetError, match="out of bounds"):
        nd.take(nd.ones((2,)), nd.array([7]), mode="raise")

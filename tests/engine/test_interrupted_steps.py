# SPDX-License-Identifier: Apache-2.0
"""An interrupt at any moment of a training step, or of a ``with`` scope, leaves nothing behind."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as onp
import pytest
from interrupts import bytecodes_of, interrupt

import afterglow as mx
from afterglow import _core, autograd, gluon, nd, sym, util
from afterglow.gluon._watchers import Watchers
from afterglow.gluon.block import _scope
from afterglow.name import NameManager, Prefix


def _state() -> tuple[Any, ...]:
    """Return everything that scopes change in this thread."""
    bulk_size = mx.engine.set_bulk_size(0)
    mx.engine.set_bulk_size(bulk_size)
    return (
        autograd.is_recording(),
        autograd.is_training(),
        _core.current_layer(),
        mx.current_context(),
        NameManager.current,
        mx.AttrScope.current,
        _scope.block,
        util.is_np_shape(),
        util.is_np_array(),
        bulk_size,
    )


def _points(function: Callable[[], object], most: int) -> Iterator[int]:
    """Yield places in a function where it may be interrupted: all, or so many."""
    count = bytecodes_of(function)
    assert count, "no bytecode was seen"
    step = max(1, count // most)
    yield from range(1, count + 1, step)


class Training:
    """A network that is trained; each step starts from the same weights."""

    def __init__(self, hybridize: bool) -> None:
        self.net = gluon.nn.HybridSequential()
        self.net.add(
            gluon.nn.Dense(5, activation="relu", in_units=4),
            gluon.nn.BatchNorm(in_channels=5),
            gluon.nn.Dense(3, in_units=5),
        )
        mx.random.seed(7)
        self.net.initialize(mx.init.Xavier())
        self.trainer = gluon.Trainer(self.net.collect_params(), "adam", {"learning_rate": 0.1})
        self._loss = gluon.loss.SoftmaxCrossEntropyLoss()
        self._x = nd.array(onp.arange(8).reshape(2, 4))
        self._y = nd.array([0, 1])
        self._start = {
            name: one.data().asnumpy() for name, one in self.net.collect_params().items()
        }
        if hybridize:
            self.net.hybridize()

    def step(self) -> None:
        with autograd.record():
            loss = self._loss(self.net(self._x), self._y)
        loss.backward()
        self.trainer.step(2)
        loss.wait_to_read()

    def three_steps(self) -> None:
        """Hybridized: as it is, written down, and as a whole."""
        self.net.hybridize()
        for _ in range(3):
            self.step()

    def answer(self) -> list[Any]:
        """Return the gradients of a step from the first weights."""
        for name, parameter in self.net.collect_params().items():
            parameter.set_data(nd.array(self._start[name]))
        self.step()
        return [
            one.grad().asnumpy().tolist()
            for one in self.net.collect_params().values()
            if one.grad_req != "null"
        ]


def _check_every_point(training: Training, function: Callable[[], None], most: int) -> None:
    for _ in range(4):
        function()
    state, answer = _state(), training.answer()
    gc.collect()
    nd.waitall()
    handles = _core.live_handles()
    for count, point in enumerate(_points(function, most)):
        assert interrupt(function, point), f"the signal at bytecode {point} was lost"
        assert _state() == state, f"interrupted at bytecode {point}"
        assert training.answer() == answer, f"after an interrupt at bytecode {point}"
        if count % 100 == 0:
            gc.collect()
            nd.waitall()
            figures = mx.engine.stats()
            assert (figures["pending"], figures["run_ahead_bytes"]) == (0, 0)
            assert _core.live_handles() <= handles, f"interrupted at bytecode {point}"


@pytest.mark.parametrize("hybridize", [False, True])
def test_training_step(hybridize: bool) -> None:
    training = Training(hybridize)
    _check_every_point(training, training.step, 60)


def test_step_that_is_written_down() -> None:
    training = Training(True)
    _check_every_point(training, training.three_steps, 60)


@pytest.mark.exhaustive
@pytest.mark.parametrize("hybridize", [False, True])
def test_training_step_at_every_bytecode(hybridize: bool) -> None:
    training = Training(hybridize)
    _check_every_point(training, training.step, 10**6)


@pytest.mark.exhaustive
def test_step_that_is_written_down_at_every_bytecode() -> None:
    training = Training(True)
    _check_every_point(training, training.three_steps, 10**6)


class _Watcher:
    def forget(self) -> None:
        """Do nothing."""


def test_watchers_that_are_told_of_a_change() -> None:
    """Python's own WeakSet keeps what dies after such an interrupt."""
    watchers, alive = Watchers(), _Watcher()
    watchers.add(alive)
    for point in _points(watchers.forget, 10**6):
        assert interrupt(watchers.forget, point), f"the signal at bytecode {point} was lost"
        dead = weakref.ref(gone := _Watcher())
        watchers.add(gone)
        del gone
        assert dead() is None
        assert len(watchers._references) == 1, f"interrupted at bytecode {point}"
        assert watchers.alive() == [alive]


class _Cube(autograd.Function):
    def forward(self, x):
        self.save_for_backward(x)
        return x * x * x

    def backward(self, gradient):
        (x,) = self.saved_tensors
        return 3 * x * x * gradient


def _with_variable(program: Callable[[Any], Any]) -> Callable[[], Any]:
    def run() -> Any:
        x = nd.array([1.0, 2.0, 3.0])
        x.attach_grad()
        return [one.asnumpy().tolist() for one in program(x)]

    return run


def _function_of_python(x: Any) -> Any:
    with autograd.record():
        y = _Cube()(x) + _Cube()(x * 2)
    y.backward()
    return x.grad, y


def _gradient_of_gradient(x: Any) -> Any:
    with autograd.record():
        (first,) = autograd.grad(nd.exp(x) * x, [x], create_graph=True)
        second = (first * first).sum()
    second.backward()
    return first, x.grad


def _custom_gradient_of_gradient(x: Any) -> Any:
    with autograd.record():
        (first,) = autograd.grad(_Cube()(x), [x], create_graph=True)
    first.backward()
    return first, x.grad


def _executor(x: Any) -> Any:
    a = sym.var("a")
    run = (a * a + mx.sym.exp(a)).bind(mx.cpu(), {"a": x}, args_grad={"a": nd.zeros((3,))})
    (y,) = run.forward(is_train=True)
    run.backward(nd.ones((3,)))
    return y, run.grad_dict["a"]


_PROGRAMS = [
    _function_of_python,
    _gradient_of_gradient,
    _custom_gradient_of_gradient,
    _executor,
]


def _check_program(program: Callable[[Any], Any], most: int) -> None:
    run = _with_variable(program)
    state, answer = _state(), run()
    gc.collect()
    nd.waitall()
    handles = _core.live_handles()
    for point in _points(run, most):
        assert interrupt(run, point), f"the signal at bytecode {point} was lost"
        assert _state() == state, f"interrupted at bytecode {point}"
        assert run() == answer, f"after an interrupt at bytecode {point}"
    gc.collect()
    nd.waitall()
    assert _core.live_handles() <= handles
    assert mx.engine.stats()["pending"] == 0


@pytest.mark.parametrize("program", _PROGRAMS)
def test_programs(program: Callable[[Any], Any]) -> None:
    _check_program(program, 50)


@pytest.mark.exhaustive
@pytest.mark.parametrize("program", _PROGRAMS)
def test_programs_at_every_bytecode(program: Callable[[Any], Any]) -> None:
    _check_program(program, 10**6)


class _Parent(gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.child = gluon.nn.Flatten()

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.child(x) * 2


_parent = _Parent()


@mx.util.use_np
def _with_switches_on() -> None:
    assert util.is_np_array()


def _autograd_scopes() -> None:
    with autograd.record():
        with autograd.pause():
            autograd.is_recording()
        with autograd.predict_mode(), autograd.train_mode():
            autograd.is_training()


def _device_scopes() -> None:
    with mx.cpu(1), mx.Context("cpu", 2):
        nd.ones((1,))


def _name_scopes() -> None:
    with mx.AttrScope(ctx_group="one"), Prefix("mine_"):
        sym.var("x") + 1
    with NameManager(), _parent.name_scope():
        sym.var("y")


def _switches() -> None:
    with mx.np_shape(), mx.np_array(), mx.engine.bulk(3):
        util.is_np_shape()
    _with_switches_on()


def _layers() -> None:
    with mx.profiler.scope("outer"):
        _parent(nd.ones((1, 2)))


def _engine_scopes() -> None:
    with mx.engine.record() as events:
        nd.ones((1,))
    for _ in mx.engine.pipeline(range(2)):
        nd.ones((1,))
    assert isinstance(events, list)


@pytest.mark.parametrize(
    "scopes",
    [_autograd_scopes, _device_scopes, _name_scopes, _switches, _layers, _engine_scopes],
)
def test_scopes(scopes: Callable[[], None]) -> None:
    state = _state()
    scopes()
    for point in _points(scopes, 10**6):
        assert interrupt(scopes, point), f"the signal at bytecode {point} was lost"
        assert _state() == state, f"interrupted at bytecode {point}"


def test_scopes_are_entered_again_and_by_several_threads() -> None:
    """What is changed back belongs to the thread, not to the scope."""
    scope = mx.cpu(3)
    entered, go_on, seen = threading.Event(), threading.Event(), []

    def other() -> None:
        with scope:
            entered.set()
            go_on.wait(20)
        seen.append(mx.current_context())

    with scope, mx.cpu(4):
        thread = threading.Thread(target=other)
        thread.start()
        entered.wait(20)
        with scope:
            assert mx.current_context() == mx.cpu(3)
        assert mx.current_context() == mx.cpu(4)
        go_on.set()
        thread.join()
    assert seen == [mx.cpu(0)]
    assert mx.current_context() == mx.cpu(0)
    with pytest.raises(mx.MXNetError, match="not entered"):
        scope.__exit__(None, None, None)

# SPDX-License-Identifier: Apache-2.0
"""Several walks over one recorded graph at a time: in threads, and within each other."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from support import output_of

import afterglow as mx
from afterglow import autograd, nd


class Halted(autograd.Function):
    """Three times its input; the walk stands still here until it is told to go on."""

    def __init__(self, halt: Callable[[], None]) -> None:
        super().__init__()
        self._halt = halt

    def forward(self, x):
        return x * 3

    def backward(self, gradient):
        self._halt()
        return gradient * 3


class Halt:
    """Stops the first walk that comes by."""

    def __init__(self) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()
        self._first = True

    def __call__(self) -> None:
        if self._first:
            self._first = False
            self.reached.set()
            assert self.go_on.wait(20)


def _graph(halt):
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = Halted(halt)(x * x) * x
    return x, y  # 3 x^3


def _in_the_middle(first, second):
    """Call one function; while it stands still in its walk, call another."""
    halt, failures = Halt(), []
    x, y = _graph(halt)

    def run() -> None:
        try:
            first(x, y)
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    assert halt.reached.wait(20)
    try:
        second(x, y)
    finally:
        halt.go_on.set()
        thread.join()
    assert not failures, failures
    return x, y


def _refused(x, y):
    with pytest.raises(mx.MXNetError, match=r"used up by backward\(\) in another thread"):
        y.backward()


def test_the_second_is_refused():
    x, y = _in_the_middle(lambda x, y: y.backward(), _refused)
    assert x.grad.asnumpy().tolist() == [9, 36]
    with pytest.raises(mx.MXNetError, match="freed by an earlier backward"):
        y.backward()


def test_the_second_uses_up_what_the_first_retains():
    x, y = _in_the_middle(lambda x, y: y.backward(retain_graph=True), lambda x, y: y.backward())
    assert x.grad.asnumpy().tolist() == [9, 36]
    with pytest.raises(mx.MXNetError, match="freed by an earlier backward"):
        y.backward()


def test_both_retain():
    found = {}

    def gradient(name, factor):
        def find(x, y):
            head = nd.array([factor, factor])
            (result,) = autograd.grad(y, [x], head, retain_graph=True)
            found[name] = result.asnumpy().tolist()

        return find

    x, y = _in_the_middle(gradient("first", 1), gradient("second", 10))
    assert found == {"first": [9, 36], "second": [90, 360]}
    y.backward()
    assert x.grad.asnumpy().tolist() == [9, 36]


def test_walk_that_failed_can_be_repeated():
    fail = [True]

    def halt():
        if fail:
            raise ValueError(fail.pop())

    x, y = _graph(halt)
    with pytest.raises(ValueError, match="True"):
        y.backward()
    seen = []
    thread = threading.Thread(target=lambda: seen.append(y.backward()))
    thread.start()
    thread.join()
    assert seen == [None]
    assert x.grad.asnumpy().tolist() == [9, 36]


def test_walk_that_failed_leaves_nothing_for_the_next():
    """The gradient of an output that arrived in a walk that failed is not used by another."""
    fail = [True]

    class Two(autograd.Function):
        def forward(self, x):
            return x * 2, x * 5

        def backward(self, first, second):
            if fail:
                raise ValueError(fail.pop())
            return first * 2 + second * 5

    x = nd.array([1.0])
    x.attach_grad()
    with autograd.record():
        first, second = Two()(x)
    with pytest.raises(ValueError, match="True"):
        autograd.backward([first, second], retain_graph=True)
    first.backward()
    assert x.grad.asnumpy().tolist() == [2]


def test_walk_within_a_walk():
    """An inner walk over what comes before may even use it up."""

    class Inner(autograd.Function):
        def forward(self, x):
            self.save_for_backward(x)
            return x * 1

        def backward(self, gradient):
            (x,) = self.saved_tensors
            with autograd.record():
                y = x * x
            y.backward()
            return gradient

    x = nd.array([1.0, 2.0])
    x.attach_grad("add")
    with autograd.record():
        y = Inner()(x * 2)
    y.backward()
    # 2 x squared inside, whose derivative is 8 x, and 2 outside.
    assert x.grad.asnumpy().tolist() == [8 + 2, 16 + 2]


def test_many_threads_take_turns():
    """Rules that run Python let other threads go on within a walk."""
    lines = output_of(
        """
        from afterglow import autograd, gluon, nd
        sys.setswitchinterval(1e-6)
        class Slow(autograd.Function):
            def forward(self, x):
                return x * 1
            def backward(self, gradient):
                time.sleep(1e-4)
                return gradient * 1
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(100, in_units=100), gluon.nn.Dense(100, in_units=100))
        net.initialize()
        net.hybridize()
        mx.engine.set_run_ahead(bytes=2e4)
        ends = []
        def go(loss):
            try:
                loss.backward()
                ends.append("through")
            except mx.MXNetError as error:
                known = "freed by an earlier" in str(error) or "in another thread" in str(error)
                ends.append("refused" if known else str(error))
        wrong = 0
        for _ in range(60):
            x = nd.ones((16, 100))
            x.attach_grad()
            with autograd.record():
                loss = (net(Slow()(net(x))) * 2 + Slow()(net(x))).sum()
            threads = [threading.Thread(target=go, args=(loss,)) for _ in range(3)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            wrong += sorted(ends[-3:]) != ["refused", "refused", "through"]
            found = x.grad.asnumpy()
            with autograd.record():
                loss = (net(net(x)) * 2 + net(x)).sum()
            loss.backward()
            wrong += not onp.array_equal(found, x.grad.asnumpy())
        print(wrong)
        """
    )
    assert lines == ["0"]

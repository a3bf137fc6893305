# SPDX-License-Identifier: Apache-2.0
"""Failures inside kernels: who sees them, as what, and for how long."""

from __future__ import annotations

import copy
import functools
import pickle
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as onp
import pytest
from support import raises_at_the_read

import afterglow as mx
from afterglow import _core, error

pytestmark = raises_at_the_read

MXNET, VALUE, TYPE, INDEX, MEMORY, NOT_IMPLEMENTED, TIMEOUT, AXIS, OVERFLOW, *_ = range(
    len(error.CLASSES)
)

READS: dict[str, Callable[[Any], object]] = {
    "asnumpy": lambda x: x.asnumpy(),
    "asscalar": lambda x: x.as_nd_ndarray().asscalar(),
    "item": lambda x: x.item(),
    "float": float,
    "int": int,
    "bool": bool,
    "repr": repr,
    "str": str,
    "print": lambda x: print(x),
    "format": lambda x: f"{x}",
    "wait_to_read": lambda x: x.wait_to_read(),
    "wait_to_read with a timeout": lambda x: x.wait_to_read(timeout=60),
    "wait_to_write": lambda x: x.wait_to_write(),
    "waitall": lambda x: mx.nd.waitall(),
    "tolist": lambda x: x.tolist(),
    "numpy.asarray": onp.asarray,
    "__array__": lambda x: x.__array__(),
    "iteration": lambda x: [float(item) for item in x.reshape((1,))],
    "other context": lambda x: x.copyto(mx.cpu(1)).asnumpy(),
    "view": lambda x: x.reshape((1, 1))[0].asnumpy(),
    "pickle": pickle.dumps,
    "copy": lambda x: copy.copy(x).asnumpy(),
    "deepcopy": lambda x: copy.deepcopy(x).asnumpy(),
    "other thread": lambda x: in_thread(x.asnumpy),
}


def in_thread(function: Callable[[], object]) -> object:
    """Call the function in another thread and raise here what it raises there."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append((function(), None))
        except Exception as problem:
            outcome.append((None, problem.with_traceback(None)))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    value, problem = outcome.pop()
    try:
        if problem is not None:
            raise problem
    finally:
        del problem  # or it would keep this frame, and the frame it
    return value


def raised_by(function: Callable[[], object]) -> tuple[type[BaseException], str]:
    """Return class and text of what the function raises; keeps no traceback, hence no array."""
    try:
        function()
    except Exception as problem:
        return type(problem), str(problem)
    pytest.fail("nothing was raised")


def line() -> int:
    """Return the line of the caller."""
    return sys._getframe(1).f_lineno


def inject(kind: int = MXNET, calls: int = 0) -> None:
    _core.inject_failure(calls, kind)


@pytest.fixture(params=["nd", "np"])
def front(request: pytest.FixtureRequest) -> Any:
    return getattr(mx, request.param)


# --- every way to read, at every distance ---


@pytest.mark.parametrize("read", READS)
def test_every_read_tells(front: Any, read: str) -> None:
    for distance in (1, 2, 10, 50):
        x = front.ones((1,))
        inject(VALUE)
        y, failed = x + 1, line()
        for _ in range(distance - 1):
            y = y * 2
        kind, text = raised_by(functools.partial(READS[read], y))
        assert kind is error.CLASSES[VALUE]
        assert text.startswith("[add] ")
        assert "(1,) float32" in text
        assert f"{__file__}:{failed}" in text


@pytest.mark.parametrize("kind", range(len(error.CLASSES)))
def test_class_of_every_kind(front: Any, kind: int) -> None:
    inject(kind)
    x = front.ones((2,)) if kind % 2 else front.exp(front.ones((2,)))
    raised, text = raised_by((x + 1).asnumpy)
    assert raised is error.CLASSES[kind]
    assert "a failure was injected" in text
    if kind != TIMEOUT:
        assert issubclass(raised, mx.MXNetError)


def test_kinds_are_also_classes_of_python() -> None:
    expected = [
        RuntimeError,
        ValueError,
        TypeError,
        IndexError,
        MemoryError,
        NotImplementedError,
        TimeoutError,
        IndexError,
    ]
    for kind, python_class in enumerate(expected):
        inject(kind)
        x = mx.nd.ones((2,))
        with pytest.raises(python_class):
            x.asnumpy()


@pytest.mark.parametrize("size", [3, 300_000])
def test_large_and_small_work(front: Any, size: int) -> None:
    x = front.ones((size,))
    inject(INDEX)
    y, failed = front.exp(x), line()
    z = y + x
    kind, text = raised_by(z.asnumpy)
    assert kind is error.CLASSES[INDEX]
    assert text.startswith("[exp] ")
    assert f"inputs: ({size},) float32" in text
    assert f"{__file__}:{failed}" in text


def test_shapes_and_dtypes_of_all_inputs(front: Any) -> None:
    a = front.ones((2, 3), dtype="float64")
    b = front.ones((3,), dtype="float64")
    inject()
    y = a * b
    assert (
        "[multiply] a failure was injected; inputs: (2, 3) float64, (3,) float64"
        in (raised_by(y.asnumpy)[1])
    )


def test_raises_every_time(front: Any) -> None:
    inject(TYPE)
    x = front.ones((4,))
    y = x + 1
    texts = {raised_by(read) for read in (x.asnumpy, y.asnumpy) for _ in range(5)}
    assert len(texts) == 1
    z = y + 1  # issued after the failure was raised
    assert raised_by(z.asnumpy) in texts


def test_unrelated_arrays_and_later_calls(front: Any) -> None:
    x = front.ones((2, 2))
    before = x + 1
    inject()
    bad = x + 2
    after = x + 3
    mixed = after + bad
    assert after.asnumpy().tolist() == [[4, 4], [4, 4]]
    assert before.asnumpy().tolist() == [[2, 2], [2, 2]]
    raised_by(mixed.asnumpy)
    raised_by(bad.asnumpy)
    assert (x + 5).asnumpy().tolist() == [[6, 6], [6, 6]]
    assert x.asnumpy().tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("function", ["sum", "dot", "concat", "transpose", "cast", "random"])
def test_ops_of_every_family(front: Any, function: str) -> None:
    x = front.ones((3, 3))
    issue = {
        "sum": lambda: x.sum(axis=0),
        "dot": lambda: front.dot(x, x),
        "concat": lambda: (
            front.concat(x, x, dim=0) if front is mx.nd else front.concatenate([x, x], axis=0)
        ),
        "transpose": lambda: x.T,
        "cast": lambda: x.astype("int32"),
        "random": lambda: front.random.normal(0, 1, (3, 3)),
    }[function]
    inject(NOT_IMPLEMENTED)
    y = issue()
    kind, text = raised_by((y + 1).asnumpy)
    assert kind is error.CLASSES[NOT_IMPLEMENTED]
    assert f"{__file__}:" in text
    assert (issue() + 1).asnumpy().size >= 3


# --- healing ---


def poisoned(front: Any, shape: tuple[int, ...]) -> Any:
    inject()
    x = front.ones(shape)
    raised_by(x.asnumpy)
    return x


@pytest.mark.parametrize("size", [6, 200_000])
def test_partial_writes_leave_the_poison(front: Any, size: int) -> None:
    x = poisoned(front, (size,))
    x[: size // 2] = 1
    raised_by(x.asnumpy)
    x[size // 2 :] = 2  # both halves are written now, but no single write covered all of it
    raised_by(x.asnumpy)
    x[::2] = 3
    raised_by(x.asnumpy)
    x += 1
    raised_by(x.asnumpy)


@pytest.mark.parametrize("size", [6, 200_000])
def test_a_full_overwrite_heals(front: Any, size: int) -> None:
    x = poisoned(front, (size,))
    x[:] = 7
    assert (x.asnumpy() == 7).all()
    x = poisoned(front, (size,))
    x[:] = front.ones((size,)) * 3
    assert (x.asnumpy() == 3).all()
    x = poisoned(front, (size,))
    front.exp(front.zeros((size,)), out=x)
    assert (x.asnumpy() == 1).all()
    x = poisoned(front, (size,))
    front.zeros((size,)).copyto(x)
    assert (x.asnumpy() == 0).all()


def test_healing_reaches_views_and_not_the_past(front: Any) -> None:
    x = poisoned(front, (4, 2))
    view = x[1:3]
    derived = view + 1
    raised_by(view.asnumpy)
    x[:] = 5
    assert (view.asnumpy() == 5).all()
    raised_by(derived.asnumpy)  # computed from the lost value
    assert ((view + 1).asnumpy() == 6).all()


def test_a_failed_write_poisons_the_storage(front: Any) -> None:
    x = front.zeros((6,))
    x.wait_to_read()
    view = x[2:4]
    inject(VALUE)
    x[0:2], failed = 1, line()
    for read in (x.asnumpy, view.asnumpy, (view + 1).asnumpy):
        kind, text = raised_by(read)
        assert kind is error.CLASSES[VALUE]
        assert f"{__file__}:{failed}" in text
    x[:] = 0
    assert x.asnumpy().tolist() == [0] * 6


def test_writing_poison_and_overwriting_it(front: Any) -> None:
    bad = poisoned(front, (3,))
    x = front.zeros((3,))
    x[:] = bad
    raised_by(x.asnumpy)
    x[:] = 1
    assert x.asnumpy().tolist() == [1, 1, 1]
    x[0:2] = bad[0:2]
    raised_by(x.asnumpy)


# --- waitall ---


def test_waitall_goes_by_issue_order(front: Any) -> None:
    x = front.ones((2,))
    inject(VALUE)
    first = x + 1
    inject(INDEX)
    second = x + 2
    inject(TYPE)
    third = x + 3
    raised_by(third.asnumpy)
    assert raised_by(mx.nd.waitall)[0] is error.CLASSES[VALUE]
    raised_by(first.asnumpy)
    assert raised_by(mx.nd.waitall)[0] is error.CLASSES[INDEX]
    mx.nd.waitall()
    raised_by(second.asnumpy)


def test_waitall_raises_each_failure_once(front: Any) -> None:
    x = front.ones((2,))
    kept = []
    for kind in (INDEX, VALUE, MEMORY):
        inject(kind)
        kept.append(x + kind)
    kept.append(kept[0] + kept[1])
    for kind in (INDEX, VALUE, MEMORY):
        assert raised_by(mx.nd.waitall)[0] is error.CLASSES[kind]
    mx.nd.waitall()
    for array in kept:
        raised_by(array.asnumpy)


def test_waitall_tells_of_dead_handles(front: Any) -> None:
    inject(VALUE)
    y, failed = front.ones((2, 2)), line()
    while not y.is_ready():
        time.sleep(0.001)
    del y
    kind, text = raised_by(mx.nd.waitall)
    assert kind is error.CLASSES[VALUE]
    assert f"{__file__}:{failed}" in text
    mx.nd.waitall()


def test_waitall_is_silent_about_what_was_raised(front: Any) -> None:
    inject()
    x = front.ones((2,))
    y = x + 1
    raised_by(y.asnumpy)
    mx.nd.waitall()


def test_waitall_after_many_failures() -> None:
    x = mx.nd.ones((2,))
    kept = []
    for _ in range(1500):
        inject()
        kept.append(x + 1)
    told = 0
    while True:
        try:
            mx.nd.waitall()
        except mx.MXNetError:
            told += 1
            continue
        break
    assert 1000 <= told <= 1500  # the log is bounded and keeps the earliest
    for array in kept:
        raised_by(array.asnumpy)

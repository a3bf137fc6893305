# SPDX-License-Identifier: Apache-2.0
"""GPUs that are pretended: named, counted, stored as cpu; and none where nobody asked for them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from support import run_child

import afterglow as mx
from afterglow import autograd, engine, nd, np

both = pytest.mark.parametrize("front", [nd, np], ids=["nd", "np"])


def test_there_are_none_unless_they_are_asked_for() -> None:
    assert mx.num_gpus() == 0
    with pytest.raises(mx.MXNetError, match=r"gpu\(0\) was asked for.*num_gpus\(\) is 0"):
        nd.ones((2,), ctx=mx.gpu(0))


@both
def test_arrays_live_and_compute_there(front: Any, gpus: list[mx.Context]) -> None:
    assert mx.num_gpus() == mx.util.get_gpu_count() == mx.npx.num_gpus() == 2
    x = front.array([[1, 2], [3, 4]], ctx=gpus[1])
    assert x.ctx == gpus[1]
    assert "@gpu(1)" in repr(x) or "ctx=gpu(1)" in repr(x)
    assert front.dot(x, x).asnumpy().tolist() == [[7, 10], [15, 22]]
    assert (x + 1)[0].ctx == gpus[1]
    assert x.as_in_ctx(mx.cpu()).ctx == mx.cpu()
    with gpus[0]:
        assert front.zeros((2,)).ctx == gpus[0]
        assert front.random.uniform(size=(2,)).ctx == gpus[0] if front is np else True
    with pytest.raises(mx.MXNetError, match=r"gpu\(2\) was asked for.*num_gpus\(\) is 2"):
        front.ones((2,), ctx=mx.gpu(2))


@both
def test_arrays_of_several_devices_do_not_meet(front: Any, gpus: list[mx.Context]) -> None:
    here, there = (front.ones((2, 2), ctx=one) for one in gpus)
    for left, right in ((here, there), (here, front.ones((2, 2))), (front.ones((2, 2)), here)):
        for call in (lambda x, y: x + y, front.dot):
            with pytest.raises(mx.MXNetError, match=r"got arrays of .*gpu\(0\).*as_in_context"):
                call(left, right)
    assert (here + there.as_in_ctx(gpus[0])).ctx == gpus[0]
    here[:] = there  # values are brought from anywhere
    here[0] = front.zeros((2,))
    assert here.asnumpy().tolist() == [[0, 0], [1, 1]]


def test_gradients_go_back_to_where_values_came_from(gpus: list[mx.Context]) -> None:
    x = nd.array([2.0, 3.0], ctx=gpus[0])
    x.attach_grad()
    with autograd.record():
        y = (x * x).as_in_context(gpus[1])
        z = (y * 3).as_in_context(mx.cpu()) + 1
    z.backward()
    assert x.grad.context == gpus[0]
    assert x.grad.asnumpy().tolist() == [12, 18]


def test_files_and_pickles_say_cpu(gpus: list[mx.Context], tmp_path: Path) -> None:
    x = nd.array([1, 2], ctx=gpus[1])
    nd.save(str(tmp_path / "x"), {"x": x})
    on_cpu = nd.array([1, 2])
    nd.save(str(tmp_path / "y"), {"x": on_cpu})
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()
    assert nd.load(str(tmp_path / "x"))["x"].context == mx.cpu()
    assert pickle.loads(pickle.dumps(x)).context == mx.cpu()
    assert pickle.loads(pickle.dumps(np.array([1], ctx=gpus[0]))).ctx == mx.cpu()


def test_memory_of_a_device(gpus: list[mx.Context]) -> None:
    free, total = mx.context.gpu_memory_info(1)
    assert 0 < free <= total
    with pytest.raises(mx.MXNetError, match=r"gpu\(2\)"):
        mx.context.gpu_memory_info(2)
    mx.memory.set_limit(10**8)
    try:
        free, total = mx.context.gpu_memory_info(0)
        assert free <= total == 10**8
    finally:
        mx.memory.set_limit(None)


def test_random_streams_of_devices_are_their_own(gpus: list[mx.Context]) -> None:
    def draws() -> list[list[float]]:
        mx.random.seed(5)
        return [
            nd.random.uniform(shape=(3,), ctx=one).asnumpy().tolist() for one in (mx.cpu(), *gpus)
        ]

    first = draws()
    assert first == draws()
    assert len({tuple(one) for one in first}) == 3


def test_switching_off() -> None:
    assert engine.pretend_gpus(1) == 0
    x = nd.ones((3,), ctx=mx.gpu(0))
    assert engine.pretend_gpus(None) == 1
    assert x.asnumpy().tolist() == [1, 1, 1]
    assert x.as_in_context(mx.cpu()).context == mx.cpu()
    with pytest.raises(mx.MXNetError, match=r"num_gpus\(\) is 0"):
        x + 1
    with pytest.raises(mx.MXNetError, match=r"\[pretend_gpus\] got -1"):
        engine.pretend_gpus(-1)


def test_it_is_said_once() -> None:
    child = run_child(
        """
        mx.engine.pretend_gpus(2); mx.engine.pretend_gpus(0); mx.engine.pretend_gpus(3)
        print(mx.num_gpus(), mx.nd.zeros((1,), ctx=mx.gpu(2)).context)
        """,
        AFTERGLOW_GPUS="1",
    )
    assert child.out.split() == ["3", "gpu(2)"]
    assert child.err.count("pretended") == 1
    assert run_child("print(mx.num_gpus())").err == ""


def test_helpers_of_books_find_them() -> None:
    child = run_child(
        """
        from afterglow.books import d2l
        from afterglow.books import d2lzh
        print(d2l.try_gpu(), d2l.try_gpu(1), d2l.try_gpu(9), d2l.try_all_gpus())
        print(d2l.num_gpus(), d2lzh.try_gpu())
        """,
        AFTERGLOW_GPUS="2",
    )
    told = child.out.splitlines()
    assert told == ["gpu(0) gpu(1) cpu(0) [gpu(0), gpu(1)]", "2 gpu(0)"]

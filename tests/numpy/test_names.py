# SPDX-License-Identifier: Apache-2.0
"""The layout of names, the switches, and the small modules."""

from __future__ import annotations

import threading

import pytest

import afterglow as mx
from afterglow import npx


def test_layout() -> None:
    assert mx.nd is mx.ndarray
    assert mx.np is mx.numpy
    assert mx.npx is mx.numpy_extension
    assert mx.nd.ndarray.NDArray is mx.nd.NDArray
    assert mx.MXNetError is mx.base.MXNetError
    assert issubclass(mx.MXNetError, RuntimeError)
    assert issubclass(mx.np.ndarray, mx.nd.NDArray)
    assert mx.nd.concat is mx.nd.Concat
    assert mx.__version__
    for module in (mx, mx.nd, mx.np, mx.npx, mx.engine, mx.memory, mx.random, mx.util, mx.context):
        for name in module.__all__:
            assert hasattr(module, name), f"{module.__name__}.{name}"
        assert len(set(module.__all__)) == len(module.__all__)


def test_switches_are_read_back_per_thread() -> None:
    assert (npx.is_np_array(), npx.is_np_shape()) == (False, False)
    npx.set_np()
    try:
        assert (npx.is_np_array(), npx.is_np_shape()) == (True, True)
        seen: list[bool] = []
        thread = threading.Thread(target=lambda: seen.append(npx.is_np_array()))
        thread.start()
        thread.join()
        assert seen == [False]
    finally:
        npx.reset_np()
    with mx.np_shape(), mx.np_array():
        assert mx.is_np_shape()
        assert mx.is_np_array()
    assert not mx.is_np_array()
    assert mx.set_np_shape(True) is False
    assert mx.set_np_shape(False) is True
    with pytest.raises(ValueError, match="NumPy shapes"):
        npx.set_np(shape=False, array=True)


def test_decorators() -> None:
    @mx.use_np
    def function(value: int) -> tuple[int, bool]:
        return value, mx.is_np_array()

    @mx.use_np
    class Block:
        def __init__(self) -> None:
            self.made = mx.is_np_array()

        def forward(self) -> bool:
            return mx.is_np_shape()

    assert function(3) == (3, True)
    assert function.__name__ == "function"
    assert (Block().made, Block().forward()) == (True, True)
    assert not mx.is_np_array()


def test_bulk_is_a_hint() -> None:
    before = mx.engine.set_bulk_size(7)
    try:
        assert mx.engine.set_bulk_size(9) == 7
        with mx.engine.bulk(20):
            assert mx.engine.set_bulk_size(20) == 20
            x = mx.nd.ones((2,))
            for _ in range(30):
                x += 1
        assert x.asnumpy().tolist() == [31, 31]
        assert mx.engine.set_bulk_size(9) == 9
    finally:
        mx.engine.set_bulk_size(before)


def test_memory_module() -> None:
    x = mx.nd.ones((1000, 1000))
    x.wait_to_read()
    assert mx.memory.active() >= 4_000_000
    assert mx.memory.peak() >= mx.memory.active()
    del x
    mx.nd.waitall()
    mx.memory.trim()
    assert mx.memory.cached() == 0
    assert mx.memory.limit() is None
    mx.memory.set_limit(1 << 40)
    assert mx.memory.limit() == 1 << 40
    mx.memory.set_limit(None)
    assert mx.memory.limit() is None
    with pytest.raises(ValueError, match="positive"):
        mx.memory.set_limit(-1)


def test_random_seed() -> None:
    def draw() -> list[float]:
        return mx.np.random.normal(size=(3,)).tolist()  # type: ignore[no-any-return]

    mx.random.seed(3)
    first, second = draw(), draw()
    assert first != second
    npx.random.seed(3)
    assert [draw(), draw()] == [first, second]
    mx.random.seed(4)
    assert draw() != first
    mx.random.seed(-1)
    mx.random.seed(2**40, ctx=mx.cpu())
    for wrong in ("a", 1.5, None):
        with pytest.raises(ValueError, match="int"):
            mx.random.seed(wrong)


def test_random_parameters() -> None:
    low, high = mx.np.array([0.0, 100.0]), mx.np.array([1.0, 101.0])
    drawn = mx.np.random.uniform(low, high, size=(500, 2)).asnumpy()
    assert (drawn[:, 0] < 1).all()
    assert (drawn[:, 1] >= 100).all()
    pair = mx.nd.random.normal(mx.nd.array([0, 50]), mx.nd.array([1, 1]), shape=(1000,)).asnumpy()
    assert pair.shape == (2, 1000)
    assert abs(pair[1].mean() - 50) < 0.5
    with pytest.raises(ValueError, match="size"):
        mx.np.random.uniform(low, high, size=(3,))


def test_npx() -> None:
    x = mx.np.array([-1.0, 2.0])
    assert npx.relu(x).asnumpy().tolist() == [0, 2]
    assert npx.sigmoid(mx.np.array([0.0])).asnumpy().tolist() == [0.5]
    assert npx.reshape(mx.np.ones((1, 3, 4)), (-3, -5)).shape == (12,)
    npx.waitall()

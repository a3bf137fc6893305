# SPDX-License-Identifier: Apache-2.0
"""Devices: names, scopes, copies, and the one that is not there."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import pytest

import afterglow as mx

both = pytest.mark.parametrize("front", [mx.nd, mx.np], ids=["nd", "np"])


def test_names_and_identity() -> None:
    assert str(mx.cpu()) == repr(mx.cpu(0)) == "cpu(0)"
    assert mx.cpu(1) == mx.Context("cpu", 1) != mx.cpu(0)
    assert mx.Context(mx.gpu(2)) == mx.gpu(2)
    assert {mx.gpu(1): "a"}[mx.gpu(1)] == "a"
    assert (mx.cpu() == "cpu(0)") is False
    assert pickle.loads(pickle.dumps(mx.cpu_pinned(3))) == mx.cpu_pinned(3)
    with pytest.raises(KeyError):
        mx.Context("tpu")


def test_scopes_nest_and_belong_to_their_thread() -> None:
    seen: list[str] = []
    with mx.cpu(1) as outer:
        assert outer == mx.current_context() == mx.Context.default_ctx
        with mx.cpu(2):
            assert mx.nd.zeros((1,)).context == mx.cpu(2)
            thread = threading.Thread(target=lambda: seen.append(str(mx.current_context())))
            thread.start()
            thread.join()
        assert mx.np.zeros((1,)).ctx == mx.cpu(1)
    assert seen == ["cpu(0)"]
    assert mx.current_context() == mx.cpu(0)


def test_scope_ends_with_an_exception() -> None:
    with pytest.raises(ZeroDivisionError), mx.cpu(5):
        1 / 0
    assert mx.current_context() == mx.cpu(0)


@both
def test_creation_in_a_context(front: Any) -> None:
    makers = [
        lambda ctx: front.array([1], ctx=ctx),
        lambda ctx: front.zeros((2,), ctx=ctx),
        lambda ctx: front.ones((2,), ctx=ctx),
        lambda ctx: front.full((2,), 3, ctx=ctx),
        lambda ctx: front.empty((2,), ctx=ctx),
        lambda ctx: front.arange(3, ctx=ctx),
        lambda ctx: front.eye(2, ctx=ctx),
        lambda ctx: front.linspace(0, 1, 3, ctx=ctx),
        lambda ctx: front.random.uniform(0, 1, (2,), ctx=ctx),
        lambda ctx: front.random.normal(0, 1, (2,), ctx=ctx),
    ]
    for make in makers:
        assert make(mx.cpu(3)).ctx == mx.cpu(3)
        with mx.cpu(2):
            assert make(None).ctx == mx.cpu(2)
        with pytest.raises(mx.MXNetError, match=r"gpu\(1\)"):
            make(mx.gpu(1))
        with pytest.raises(mx.MXNetError, match="ctx must be a Context"):
            make("cpu")


@both
def test_copies_between_contexts(front: Any) -> None:
    x = front.arange(4)
    y = x.as_in_context(mx.cpu(1))
    assert y.ctx == mx.cpu(1)
    y[:] = 7
    assert x.asnumpy().tolist() == [0, 1, 2, 3]
    assert x.as_in_ctx(mx.cpu(0)) is x
    assert x.copyto(mx.cpu(0)) is not x
    assert x.copyto(y) is y
    assert y.asnumpy().tolist() == [0, 1, 2, 3]
    assert (y + 1).ctx == mx.cpu(1)
    assert y[1:].ctx == y.copy().ctx == y.astype("int32").ctx == mx.cpu(1)
    assert (x + y).ctx == mx.cpu(0)
    assert (y + x).ctx == mx.cpu(1)
    with pytest.warns(RuntimeWarning, match="to itself"):
        assert x.copyto(x) is False


def test_no_gpus() -> None:
    assert mx.num_gpus() == mx.context.num_gpus() == mx.npx.num_gpus() == 0
    with mx.gpu(0):  # naming one is fine
        assert mx.current_context() == mx.gpu(0)
    with pytest.raises(mx.MXNetError):
        mx.context.gpu_memory_info(0)
    mx.cpu().empty_cache()

# SPDX-License-Identifier: Apache-2.0
"""``mx.kv``: what MXNet 1.9.1 does with the devices of one process."""

from __future__ import annotations

import numpy as onp
import pytest
from support import runs_later

import afterglow as mx
from afterglow import nd

CONTEXTS = [mx.cpu(0), mx.cpu(1)]


def _values(store, key, shape=(2,)):
    """Return what a pull gives on each device."""
    targets = [nd.zeros(shape, ctx=context) for context in CONTEXTS]
    store.pull(key, out=targets)
    assert [target.context for target in targets] == CONTEXTS
    return [target.asnumpy().tolist() for target in targets]


def test_push_sums_and_pull_copies():
    store = mx.kv.create("local")
    value = nd.ones((2,))
    store.init(3, value)
    value[:] = 7  # the store has a copy
    assert _values(store, 3) == [[1, 1], [1, 1]]
    store.push(3, [nd.full((2,), number + 1, ctx=c) for number, c in enumerate(CONTEXTS)])
    assert _values(store, 3) == [[3, 3], [3, 3]]
    store.push(3, nd.full((2,), 5))
    assert _values(store, 3) == [[5, 5], [5, 5]]


def test_several_keys():
    store = mx.kv.create("device")
    store.init(["a", "b"], [nd.ones((1,)), nd.zeros((3,))])
    store.push(["a", "b"], [[nd.ones((1,))] * 2, [nd.ones((3,))] * 4])
    a, b = nd.zeros((1,)), nd.zeros((3,))
    store.pull(["a", "b"], out=[a, b])
    assert (a.asnumpy().tolist(), b.asnumpy().tolist()) == ([2], [4, 4, 4])


def test_updater():
    store = mx.kv.create()
    store.init(0, nd.ones((2,)))
    seen = []

    def update(key, pushed, stored):
        seen.append(key)
        stored += 10 * pushed

    store.set_updater(update)
    store.push(0, [nd.ones((2,))] * 4)
    assert _values(store, 0) == [[41, 41]] * 2
    assert seen == [0]


def test_optimizer_and_its_states(tmp_path):
    def make():
        store = mx.kv.create("local")
        store.init(0, nd.ones((2,)))
        store.set_optimizer(mx.optimizer.SGD(learning_rate=0.1, momentum=0.9))
        return store

    def push(store, times):
        for _ in range(times):
            store.push(0, nd.ones((2,)))
        return onp.array(_values(store, 0)[0])

    onp.testing.assert_allclose(push(make(), 2), [0.71, 0.71], rtol=1e-6)
    first, second = make(), make()
    push(first, 1)
    file = str(tmp_path / "states")
    first.save_optimizer_states(file)
    second.load_optimizer_states(file)
    onp.testing.assert_allclose(push(second, 1), [0.81, 0.81], rtol=1e-6)
    with pytest.raises(ValueError, match="set_optimizer"):
        mx.kv.create().save_optimizer_states(file)


def test_together():
    store = mx.kv.create("device")
    value = nd.full((2,), 4)
    out = nd.zeros((2,))
    store.broadcast("w", value, out=out)
    assert out.asnumpy().tolist() == [4, 4]
    store.pushpull("w", [nd.ones((2,)), nd.ones((2,))], out=out)
    assert out.asnumpy().tolist() == [2, 2]
    pair = [nd.ones((2,)), nd.full((2,), 2)]
    store.pushpull("w", pair)
    assert [one.asnumpy().tolist() for one in pair] == [[3, 3], [3, 3]]


def test_description():
    store = mx.kvstore.create("device")
    assert isinstance(store, mx.kv.KVStore)
    assert (store.type, store.rank, store.num_workers) == ("device", 0, 1)
    assert store.is_capable("optimizer")
    assert not store.is_capable("teleportation")
    store.barrier()


def test_refusals():
    store = mx.kv.create("local")
    with pytest.raises(mx.MXNetError, match="3"):
        store.pull(3, out=nd.ones((2,)))
    with pytest.raises(mx.MXNetError, match="3"):
        store.push(3, nd.ones((2,)))
    store.init(3, nd.ones((2,)))
    with pytest.raises(mx.MXNetError, match="already"):
        store.init(3, nd.ones((2,)))
    with pytest.raises(ValueError, match="2 keys, but 1"):
        store.init([4, 5], [nd.ones((2,))])
    with pytest.raises(TypeError, match="arrays"):
        store.init(4, 1.5)
    with pytest.raises(TypeError, match="out"):
        store.pull(3)
    with pytest.raises(TypeError, match="string"):
        mx.kv.create(5)
    with pytest.raises(ValueError, match="dist_sync"):
        mx.kv.create("dist_sync")
    with pytest.raises(NotImplementedError):
        store.row_sparse_pull(3)
    with pytest.raises(NotImplementedError):
        store.set_gradient_compression({"type": "2bit"})


@runs_later
def test_nothing_waits():
    store = mx.kv.create("local")
    store.init(0, nd.ones((1500, 1500)))
    x = nd.ones((1500, 1500))
    target = nd.zeros((1500, 1500))
    product = nd.dot(x, x)
    store.push(0, [product, product])
    store.pull(0, out=target)
    assert not target.is_ready()
    assert target[0, 0].asscalar() == 3000

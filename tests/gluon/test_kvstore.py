# SPDX-License-Identifier: Apache-2.0
"""``mx.kv``: what MXNet 1.9.1 does with the devices of one process."""

from __future__ import annotations

import doctest

import numpy as onp
import pytest
from support import runs_later

import afterglow as mx
from afterglow import autograd, gluon, nd

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
    with pytest.raises(ValueError, match="Unknown capability: teleportation"):
        store.is_capable("teleportation")
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
        mx.kv.create("dist_async")
    with pytest.raises(TypeError, match="needs out and row_ids"):
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


def test_keys_of_one_kind():
    store = mx.kv.create()
    store.init("a", nd.ones((2,)))
    for call in (store.init, store.push, store.pull):
        with pytest.raises(mx.MXNetError, match="must be of one kind"):
            call(3, nd.ones((2,)))
    with pytest.raises(mx.MXNetError, match="integers or strings"):
        mx.kv.create().init(1.5, nd.ones((2,)))


def test_a_store_that_keeps_nothing():
    store = mx.kv.create("teststore")
    assert store.type == "teststore"
    outputs = [nd.zeros((2,), ctx=mx.cpu(i)) for i in range(2)]
    store.broadcast("w", nd.full((2,), 5), outputs)
    assert [one.asnumpy().tolist() for one in outputs] == [[5, 5], [5, 5]]
    store.pushpull("w", outputs)
    assert [one.asnumpy().tolist() for one in outputs] == [[10, 10], [10, 10]]
    assert not store.is_capable("optimizer")
    for call in (store.set_optimizer, store.save_optimizer_states, store.load_optimizer_states):
        with pytest.raises(NotImplementedError, match="TestStore does not define it"):
            call("x")


class Mean(mx.kvstore.KVStoreBase):
    """Writes means in place of sums, and remembers what it was asked."""

    def __init__(self):
        self.calls = []

    def broadcast(self, key, value, out, priority=0):
        self.calls.append(("broadcast", key))
        for target in out:
            target[:] = value.as_in_context(target.context)

    def pushpull(self, key, value, out=None, priority=0):
        self.calls.append(("pushpull", key))
        mean = sum(one.as_in_context(value[0].context) for one in value) / len(value)
        for target in value if out is None else out:
            target[:] = mean.as_in_context(target.context)

    @staticmethod
    def is_capable(capability):
        return False


@pytest.fixture
def registered():
    mx.kvstore.KVStoreBase.register(Mean)
    yield
    del mx.kvstore.KVStoreBase.kv_registry["mean"]


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.usefixtures("registered")
def test_trainers_use_stores_of_others(devices):
    contexts = [mx.cpu(i) for i in range(devices)]
    weight = gluon.Parameter("weight", shape=(2,))
    weight.initialize(mx.init.One(), ctx=contexts)
    store = mx.kv.create("mean")
    trainer = gluon.Trainer([weight], "sgd", {"learning_rate": 1}, kvstore=store)
    for _ in range(2):
        with autograd.record():
            losses = [(i + 1) * one for i, one in enumerate(weight.list_data())]
        autograd.backward(losses)
        trainer.step(1)
    assert store.calls == [("broadcast", 0), ("pushpull", 0), ("pushpull", 0)]
    assert trainer._update_on_kvstore is False
    expected = [1 - 2 * (1 + devices) / 2] * 2
    assert [one.asnumpy().tolist() for one in weight.list_data()] == [expected] * devices
    with pytest.raises(ValueError, match="runs optimizers; Mean does not"):
        gluon.Trainer([weight], "sgd", kvstore=store, update_on_kvstore=True).step(1)


@pytest.mark.usefixtures("registered")
def test_modules_use_stores_of_others():
    data, label = mx.sym.var("data"), mx.sym.var("label")
    symbol = mx.sym.LinearRegressionOutput(
        mx.sym.FullyConnected(data, num_hidden=1, no_bias=True, name="fc"), label
    )
    module = mx.mod.Module(symbol, label_names=["label"], context=[mx.cpu(0), mx.cpu(1)])
    module.bind([("data", (4, 1))], [("label", (4, 1))])
    module.init_params(mx.init.One())
    store = mx.kv.create("mean")
    module.init_optimizer(store, "sgd", {"learning_rate": 1, "rescale_grad": 1})
    batch = mx.io.DataBatch([nd.ones((4, 1))], [nd.zeros((4, 1))])
    module.forward_backward(batch)
    module.update()
    assert store.calls == [("broadcast", "fc_weight"), ("pushpull", "fc_weight")]
    assert float(module.get_params()[0]["fc_weight"]) == -1  # 1 less the mean of two sums of 2


def test_the_store_of_a_trainer():
    def trainer_of(devices, **options):
        weight = gluon.Parameter("weight", shape=(2,))
        weight.initialize(mx.init.Zero(), ctx=[mx.cpu(i) for i in range(devices)])
        rule = {"learning_rate": 0.5, "momentum": 0.5}
        trainer = gluon.Trainer([weight], "sgd", rule, **options)
        for _ in range(2):
            with autograd.record():
                losses = [one * 1 for one in weight.list_data()]
            autograd.backward(losses)
            trainer.step(1)
        for one in weight.list_data():  # first 0.5, then 0.75 for each device
            assert one.asnumpy().tolist() == [-1.25 * devices] * 2
        return trainer

    alone = trainer_of(1)
    assert (alone._kvstore, alone._update_on_kvstore) == (None, None)
    assert alone._kv_initialized
    together = trainer_of(2, kvstore="local")
    assert together._kvstore.type == "local"
    assert together._update_on_kvstore is True
    assert set(together._kvstore._updater.states) == {0}
    for call in (together.allreduce_grads, lambda: together.update(1)):
        with pytest.raises(AssertionError, match="update_on_kvstore=False"):
            call()
    assert trainer_of(2, update_on_kvstore=False)._update_on_kvstore is False


def test_registering_a_name_twice():
    class TestStore(mx.kvstore.KVStoreBase):
        pass

    mine = mx.kvstore.KVStoreBase.kv_registry["teststore"]
    with pytest.warns(UserWarning, match="overriding existing kvstore"):
        mx.kvstore.KVStoreBase.register(TestStore)
    assert isinstance(mx.kv.create("TestStore"), TestStore)
    with pytest.raises(NotImplementedError, match="broadcast"):
        mx.kv.create("teststore").broadcast(0, None, None)
    mx.kvstore.KVStoreBase.kv_registry["teststore"] = mine
    with pytest.raises(TypeError, match="class of stores"):
        mx.kvstore.KVStoreBase.register(3)


def test_examples():
    assert doctest.testmod(mx.kvstore.base).failed == 0
    del mx.kvstore.KVStoreBase.kv_registry["first"]

# SPDX-License-Identifier: Apache-2.0
"""Private attributes of MXNet's parameters, blocks and trainers that programs use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd
from afterglow.gluon.block import _flatten, _regroup  # type: ignore[attr-defined]


def dense(**given: Any) -> Any:
    net = gluon.nn.Dense(2, in_units=3, use_bias=False, **given)
    net.initialize("ones")
    return net


def test_names_of_programs_break_nothing() -> None:
    class Net(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self._layers = [3]
            self._names, self._watchers, self._compiled = "names", None, None
            self._cached_graph, self._out_format = "graph", "format"
            self.dense = dense()

        def _graph(self) -> int:
            return 3

        def _count(self) -> int:
            return 4

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return self.dense(x) * self._graph() * self._count() * self._layers[0]

    net = Net()
    net.hybridize()
    for _ in range(4):
        assert net(nd.ones((1, 3))).asnumpy().tolist() == [[108, 108]]
    assert net._cached_graph == "graph"
    assert net._out_format == "format"


def test_arrays_of_a_parameter() -> None:
    weight = gluon.Parameter("weight", shape=(2, 0), allow_deferred_init=True)
    assert weight._data is weight._grad is weight._ctx_list is None
    assert weight._deferred_init == ()
    weight.initialize("ones", ctx=[mx.cpu(0), mx.cpu(2)])
    assert weight._deferred_init[0] == "ones"
    weight.shape = (2, 2)
    weight._finish_deferred_init()
    assert weight._deferred_init == ()
    assert weight._ctx_list == [mx.cpu(0), mx.cpu(2)]
    assert weight._ctx_map[1] == [0, None, 1]
    assert weight._ctx_map[0] == []
    data, gradients = weight._data, weight._grad
    assert data is not None
    assert gradients is not None
    assert [one.shape for one in (*data, *gradients)] == [(2, 2)] * 4
    weight.grad_req = "null"
    assert weight._grad is None


@pytest.mark.parametrize("hybridized", [False, True])
def test_gradients_pass_through_an_array_that_is_put_in(hybridized: bool) -> None:
    net, factor, x = dense(), nd.array([2.0]), nd.ones((1, 3))
    if hybridized:
        net.hybridize()
    factor.attach_grad()
    original = net.weight._data[0]
    for _ in range(4):
        with autograd.record():
            net.weight._data[0] = original * factor
            y = net(x)
        y.backward()
        assert y.asnumpy().tolist() == [[6, 6]]
        assert factor.grad.asnumpy().tolist() == [6]
        net.weight._data[0] = original
        assert net(x).asnumpy().tolist() == [[3, 3]]


def test_flat_and_nested() -> None:
    a, b, c = (nd.ones((1,)) * number for number in range(3))
    flat, form = _flatten([a, (b, [c]), None], "input")
    assert form == [0, [0, [0]], -1]
    assert [one is other for one, other in zip(flat, [a, b, c, None], strict=True)] == [True] * 4
    nested, left = _regroup(flat, form)
    assert left == []
    assert nested[0] is a
    assert nested[1][1][0] is c
    assert nested[2] is None
    two = mx.sym.Group([mx.sym.var("a"), mx.sym.var("b")])
    assert _flatten(two, "output")[1] == 2
    with pytest.raises(ValueError, match="the input of HybridBlock must be"):
        _flatten([3], "input")


def test_the_graph_of_a_hybridized_block() -> None:
    net = dense()
    net.hybridize()
    assert net._cached_graph == ()
    assert net._in_format is None
    for _ in range(3):
        net(nd.ones((1, 3)))
    inputs, outputs = net._cached_graph
    assert [one.name for one in inputs] == ["data"]
    assert set(outputs.list_inputs()) == {"data", net.weight.name}
    assert net._in_format == [0]
    assert net._out_format == 0
    net._clear_cached_op()
    assert net(nd.ones((1, 3))).asnumpy().tolist() == [[3, 3]]


# --- trainers and stores ---


def stepped(trainer: Any, parameter: Any) -> list[float]:
    with autograd.record():
        for weight in parameter.list_data():
            (weight * 3).backward()
    trainer.step(1)
    return [float(one.asnumpy()[0]) for one in parameter.list_data()]


def made(contexts: int = 2, **given: Any) -> tuple[Any, Any]:
    parameter = gluon.Parameter("x", shape=(1,))
    parameter.initialize("zeros", ctx=[mx.cpu(number) for number in range(contexts)])
    return gluon.Trainer([parameter], "sgd", {"learning_rate": 0.5}, **given), parameter


def test_one_device_needs_no_store() -> None:
    trainer, x = made(1)
    assert stepped(trainer, x) == [-1.5]
    assert trainer._kvstore is None
    assert trainer._update_on_kvstore is None
    assert trainer._kv_initialized
    assert x._trainer is trainer


@pytest.mark.parametrize("updates", [True, False, None])
def test_several_devices_share_a_store(updates: bool | None, tmp_path: Path) -> None:
    trainer, x = made(update_on_kvstore=updates)
    assert stepped(trainer, x) == [-3, -3]
    assert trainer._kvstore.type == "device"
    assert trainer._update_on_kvstore is (updates is not False)
    if trainer._update_on_kvstore:
        for function in (trainer.allreduce_grads, lambda: trainer.update(1)):
            with pytest.raises(AssertionError, match="update_on_kvstore=False"):
                function()
    trainer.save_states(str(tmp_path / "states"))
    trainer.load_states(str(tmp_path / "states"))
    x.lr_mult = 2.0
    assert stepped(trainer, x) == [-9, -9]
    # What is written into the parameter is what the next step begins with.
    x.set_data(nd.array([10.0]))
    assert stepped(trainer, x) == [4, 4]


def test_a_store_of_ones_own() -> None:
    class Doubling(mx.kv.KVStore):
        calls: list[str] = []  # noqa: RUF012

        @staticmethod
        def is_capable(capability: str) -> bool:
            return False

        def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
            self.calls.append("broadcast")
            for one in out:
                one[:] = value.as_in_context(one.context)

        def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
            self.calls.append("pushpull")
            for one in value:
                one[:] = one * 2

    trainer, x = made(1, kvstore=Doubling())
    assert stepped(trainer, x) == [-3]
    assert stepped(trainer, x) == [-6]
    assert Doubling.calls == ["broadcast", "pushpull", "pushpull"]
    assert trainer._update_on_kvstore is False
    refused, y = made(1, kvstore=Doubling(), update_on_kvstore=True)
    for _ in range(2):  # also when somebody tries again
        with pytest.raises(ValueError, match="needs a kvstore that runs optimizers"):
            stepped(refused, y)
    assert y.data().asnumpy().tolist() == [0]


def test_stale_gradients_are_refused_before_the_store_updates() -> None:
    trainer, x = made()
    with pytest.raises(UserWarning, match="has not been updated by backward"):
        trainer.step(1)
    assert [float(one.asnumpy()[0]) for one in x.list_data()] == [0, 0]


def test_freshness_of_gradients() -> None:
    x = nd.ones((2,))
    x.attach_grad()
    assert not x._fresh_grad
    with autograd.record():
        y = x * 2
    y.backward()
    assert x._fresh_grad
    x._fresh_grad = False
    assert not x._fresh_grad
    x._fresh_grad = True
    assert x._fresh_grad
    assert onp.array_equal(x.grad.asnumpy(), [2, 2])


# --- graphs and structures ---


def test_a_cached_op() -> None:
    x, y = mx.sym.var("x"), mx.sym.var("y")
    op = nd.CachedOp(mx.sym.Group([x + 2 * y, x * y]))  # type: ignore[attr-defined]
    a, b = nd.array([1, 2]), nd.array([3, 4])
    a.attach_grad()
    with autograd.record():
        total, product = op(a, b)
    autograd.backward([total, product])
    assert total.asnumpy().tolist() == [7, 10]
    assert a.grad.asnumpy().tolist() == [4, 5]
    alone, target = nd.CachedOp(x + 1), nd.zeros((2,))  # type: ignore[attr-defined]
    assert alone(a, out=target) is target
    assert target.asnumpy().tolist() == [2, 3]
    with pytest.raises(TypeError, match="got 1 arrays; 2 are needed: x, y"):
        op(a)


@pytest.mark.parametrize("legacy", [True, False])
def test_a_hook_sees_the_ops_of_a_hybridized_block(legacy: bool) -> None:
    net = gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(gluon.nn.Dense(2), gluon.nn.Activation("relu"))
    net.initialize("ones")
    seen: list[tuple[bytes, bytes, list[Any]]] = []

    def see(name: bytes, op: bytes, array: Any) -> None:
        seen.append((name, op, array.asnumpy().tolist()))

    net.register_op_hook(see, monitor_all=True)
    x = (nd if legacy else mx.np).ones((1, 3))
    net(x)
    assert seen == []  # as in MXNet, before it is hybridized
    net.hybridize()
    x.attach_grad()
    with autograd.record():
        y = net(x)
    y.backward()
    assert y.asnumpy().tolist() == [[3, 3]]
    assert x.grad.asnumpy().tolist() == [[2, 2, 2]]
    assert [name for name, _, _ in seen] == [
        b"net_dense0_fwd_data",
        b"net_dense0_fwd_weight",
        b"net_dense0_fwd_bias",
        b"net_dense0_fwd_output",
        b"net_relu0_fwd_input0",
        b"net_relu0_fwd_output",
    ]
    assert seen[-1][1:] == (b"Activation", [[3, 3]])
    before = len(seen)
    others: list[str] = []
    net.register_forward_pre_hook(lambda *_: others.append("before"))
    net.register_forward_hook(lambda *_: others.append("after"))
    net(x)
    assert others == ["before", "after"]
    assert len(seen) == 2 * before
    net.register_op_hook(None)
    seen.clear()
    net(x)
    assert seen == []


def nested(units: int = 4) -> Any:
    net = gluon.nn.Sequential()
    inner = gluon.nn.HybridSequential()
    inner.add(gluon.nn.Dense(units, in_units=3), gluon.nn.BatchNorm(in_channels=units))
    net.add(inner, gluon.nn.Dense(2, in_units=units))
    return net


def test_whole_blocks_in_files(tmp_path: Path) -> None:
    net, other = nested(), nested()
    net.initialize()
    net[0].hybridize()
    net.save(str(tmp_path / "net"))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["net-model.json", "net-model.params"]
    other.load(str(tmp_path / "net"))
    x = nd.array(onp.random.RandomState(0).randn(5, 3))
    onp.testing.assert_array_equal(net(x).asnumpy(), other(x).asnumpy())
    assert other[0]._active
    other[0].add(gluon.nn.Dense(1))
    with pytest.raises(mx.MXNetError, match=r"has 3 children, in the file .* has 2"):
        other.load(str(tmp_path / "net"))
    (tmp_path / "net-model.json").write_text("3")
    with pytest.raises(mx.MXNetError, match="does not tell how blocks nest"):
        other.load(str(tmp_path / "net"))


def test_what_mxnet_has_written_of_a_block(tmp_path: Path) -> None:
    entry = '{"orig_name": "%s", "hybridized": false, "children": {%s}%s}'
    inner = entry % ("b", '"c": "c0"', ', "dense1": ' + entry % ("c", "", ""))
    text = '{"net0": %s}' % (entry % ("a", '"b": "b0"', f', "block2": {inner}'))
    (tmp_path / "net-model.json").write_text(text)
    weights = {"b0.c0.weight": nd.full((2, 3), 7), "b0.c0.bias": nd.zeros((2,))}
    nd.save(str(tmp_path / "net-model.params"), weights)
    net, below = gluon.nn.Sequential(), gluon.nn.Sequential()
    below.add(gluon.nn.Dense(2, in_units=3))
    net.add(below)
    net.load(str(tmp_path / "net"))
    assert net(nd.ones((1, 3))).asnumpy().tolist() == [[21, 21]]


@pytest.mark.parametrize("options", [{}, {"num_workers": 2}, {"thread_pool": True}])
def test_batches_in_pinned_memory(options: dict[str, Any]) -> None:
    samples = gluon.data.ArrayDataset(onp.ones((6, 3), "float32"), onp.arange(6))
    net = dense()
    loader = gluon.data.DataLoader(samples, 4, pin_memory=True, pin_device_id=0, **options)
    assert loader._pin_memory
    sizes = []
    for x, y in loader:
        assert x.context == y.context == mx.cpu_pinned(0)
        result = net(x)  # its parameters are on cpu(0), and so is what it computes
        assert result.context == (x + x).context == mx.cpu(0)
        assert x.as_in_context(mx.cpu_pinned(0)) is x
        sizes.append(len(result))
    assert sizes == [4, 2]
    for x, _ in loader:
        assert x.context == mx.cpu_pinned(0)
        break

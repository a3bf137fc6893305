# SPDX-License-Identifier: Apache-2.0
"""Training with sparse arrays: updates of rows, parameters, stores, iterators, executors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd
from afterglow.ndarray.sparse import StorageFallbackWarning

BATCHES = [[1, 3, 1], [0, 3, 5], [2, 2, 2], [1, 4, 0]]


def _trained(sparse: bool, optimizer: str, **given: Any) -> Any:
    net = gluon.nn.Embedding(8, 2, sparse_grad=sparse, weight_initializer=mx.init.One())
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.1, **given})
    for batch in BATCHES:
        with autograd.record():
            loss = (net(nd.array(batch)) ** 2).sum()
        loss.backward()
        trainer.step(1)
    return net.weight.data().asnumpy()


@pytest.mark.parametrize(
    ("optimizer", "given"),
    [
        ("sgd", {}),
        ("adagrad", {}),
        ("sgd", {"momentum": 0.9, "wd": 0.1, "lazy_update": False}),
        ("adam", {"wd": 0.1, "lazy_update": False}),
    ],
)
def test_sparse_and_dense_gradients_train_alike(optimizer: str, given: dict[str, Any]) -> None:
    dense, sparse = (_trained(kind, optimizer, **given) for kind in (False, True))
    onp.testing.assert_allclose(dense, sparse, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::afterglow.ndarray.sparse.StorageFallbackWarning")
@pytest.mark.parametrize("optimizer", ["rmsprop", "nag", "ftrl", "adamax", "lamb"])
def test_optimizers_without_updates_of_rows(optimizer: str) -> None:
    dense, sparse = (_trained(kind, optimizer) for kind in (False, True))
    onp.testing.assert_allclose(dense, sparse, rtol=1e-5)


def test_optimizers_say_that_they_update_all_rows() -> None:
    with pytest.warns(StorageFallbackWarning, match="AdaDelta"):
        _trained(True, "adadelta")


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adagrad"])
def test_rows_that_were_not_looked_up_stay(optimizer: str) -> None:
    given = {"momentum": 0.9} if optimizer == "sgd" else {}
    weight = _trained(True, optimizer, wd=0.1, **given)
    assert (weight[6:] == 1).all()
    assert (weight[:6] != 1).all()


def test_memory_depends_on_the_rows_that_are_looked_up() -> None:
    rows = 200_000
    net = gluon.nn.Embedding(rows, 16, sparse_grad=True)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")

    def step() -> None:
        with autograd.record():
            loss = net(nd.array([1, 5, rows - 1])).sum()
        loss.backward()
        trainer.step(1)
        nd.waitall()

    step()
    before = mx.memory.active()
    mx.memory.reset_peak()
    step()
    assert mx.memory.peak() - before < 2**20  # the weight has 12.8 MB


def test_a_block_with_a_sparse_weight() -> None:
    layer = gluon.contrib.nn.SparseEmbedding(6, 2, weight_initializer="ones")
    layer.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    assert layer.weight.stype == layer.weight.grad_stype == "row_sparse"
    with pytest.raises(RuntimeError, match="Trainer"):
        layer(nd.array([1]))
    trainer = gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 0.25})
    losses = []
    with autograd.record():
        for ctx in (mx.cpu(0), mx.cpu(1)):
            losses.append((layer(nd.array([1, 3], ctx=ctx)) ** 2).sum())
    autograd.backward(losses)
    trainer.step(1)
    every = nd.arange(6, ctx=mx.cpu(1))
    weight = layer.weight.row_sparse_data(every)
    assert weight.context == mx.cpu(1)
    assert weight.asnumpy()[:, 0].tolist() == [1, 0, 1, 0, 1, 1]
    some = layer.weight.list_row_sparse_data(nd.array([0, 1]))
    assert [one.indices.asnumpy().tolist() for one in some] == [[0, 1]] * 2
    for refused in (layer.weight.data, layer.weight.list_data):
        with pytest.raises(RuntimeError, match="row_sparse_data"):
            refused()
    with pytest.raises(RuntimeError, match="trainers"):
        gluon.Trainer(layer.collect_params(), "sgd")


def test_sparse_parameters_in_files(tmp_path: Path) -> None:
    path = str(tmp_path / "weights.params")
    parameters = gluon.ParameterDict("net_")
    parameters.get("w", shape=(4, 2), stype="row_sparse")
    parameters.initialize("ones")
    parameters.save(path)
    assert nd.load(path)["net_w"].stype == "row_sparse"
    for stype in ("row_sparse", "default"):
        others = gluon.ParameterDict("net_")
        parameter = others.get("w", shape=(4, 2), stype=stype)
        others.load(path, mx.cpu())
        if stype == "default":
            assert (parameter.data().asnumpy() == 1).all()
        else:
            trainer = gluon.Trainer(others, "sgd")
            assert parameter._trainer is trainer
            assert (parameter.row_sparse_data(nd.arange(4)).asnumpy() == 1).all()


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adagrad", "ftrl"])
def test_updates_of_sparse_weights(optimizer: str) -> None:
    """A weight that stores all rows, or some of them, is updated as a dense one is."""
    host = onp.arange(8, dtype="float32").reshape(4, 2) + 1
    host[2] = 0
    gradient = nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 2]), shape=(4, 2))
    results = []
    for stype in ("row_sparse", "default"):
        weight = nd.array(host).tostype(stype)
        updater = mx.optimizer.get_updater(mx.optimizer.create(optimizer, learning_rate=0.1))
        for _ in range(2):
            updater(0, gradient if stype == "row_sparse" else gradient.tostype("default"), weight)
        assert weight.stype == stype
        results.append(weight.asnumpy())
    rows = [1, 2] if optimizer == "ftrl" else [0, 1, 2, 3]
    onp.testing.assert_allclose(results[0][rows], results[1][rows], rtol=1e-5)
    assert (results[0][[0, 3]] == host[[0, 3]]).all()


def test_stores() -> None:
    store = mx.kv.create("local")
    store.init("w", nd.zeros((4, 2), stype="row_sparse"))
    sent = [nd.sparse.row_sparse_array(([[1, 2]], [row]), shape=(4, 2)) for row in (1, 3)]
    store.push("w", sent)
    rows = nd.zeros((4, 2), stype="row_sparse")
    store.pull("w", out=rows)  # leaves sparse arrays alone
    assert rows.data.size == 0
    store.pull("w", out=rows, ignore_sparse=False)
    assert rows.indices.asnumpy().tolist() == [1, 3]
    dense = nd.zeros((4, 2))
    store.pull("w", out=dense)
    assert dense.asnumpy()[:, 1].tolist() == [0, 2, 0, 2]
    both = [nd.zeros((4, 2), stype="row_sparse") for _ in range(2)]
    store.row_sparse_pull("w", out=both, row_ids=[nd.array([1]), nd.array([0, 3])])
    assert [one.indices.asnumpy().tolist() for one in both] == [[1], [3]]
    store.row_sparse_pull("w", out=rows, row_ids=nd.array([3, 3]))
    assert rows.asnumpy()[:, 1].tolist() == [0, 0, 0, 2]
    with pytest.raises(TypeError, match="row_sparse"):
        store.row_sparse_pull("w", out=dense, row_ids=nd.array([1]))
    with pytest.raises(TypeError, match="of one kind"):
        store.init(3, dense)


def test_a_store_updates_rows() -> None:
    store = mx.kv.create()
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
    store.init(0, nd.ones((4, 2)).tostype("row_sparse"))
    store.push(0, nd.sparse.row_sparse_array(([[1, 1]], [2]), shape=(4, 2)))
    dense = nd.zeros((4, 2))
    store.pull(0, out=dense)
    assert dense.asnumpy()[:, 0].tolist() == [1, 1, 0.5, 1]


def test_lines_of_libsvm(tmp_path: Path) -> None:
    data, label = tmp_path / "data.t", tmp_path / "label.t"
    data.write_text("1.0 0:0.5 2:1.2\n-2.0\n\n-3.0 0:0.6 1:2.4 2:1.2 # why\n4 2:-1.2\n")
    label.write_text("1.0\n-2.0 0:0.125\n-3.0 2:1.2\n4 1:1.0 2:-1.2\n")
    lines = onp.array([[0.5, 0, 1.2], [0, 0, 0], [0.6, 2.4, 1.2], [0, 0, -1.2]], "float32")
    batches = mx.io.LibSVMIter(data_libsvm=data, data_shape=(3,), batch_size=3)
    assert batches.provide_data[0].shape == (3, 3)
    for _ in range(2):
        found = list(batches)
        batches.reset()
        assert [batch.pad for batch in found] == [0, 2]
        for batch, rows in zip(found, ([0, 1, 2], [3, 0, 1]), strict=True):
            batch.data[0].check_format()
            onp.testing.assert_allclose(batch.data[0].asnumpy(), lines[rows], rtol=1e-6)
            assert batch.label[0].asnumpy().tolist() == [[1, -2, -3, 4][row] for row in rows]
    both = mx.io.LibSVMIter(data, (3,), label, (3,), batch_size=3, round_batch=False)
    (batch,) = list(both)
    assert batch.label[0].stype == "csr"
    assert batch.label[0].asnumpy()[1].tolist() == [0.125, 0, 0]
    halves = [mx.io.LibSVMIter(data, (3,), num_parts=2, part_index=part) for part in (0, 1)]
    assert [len(list(half)) for half in halves] == [2, 2]
    for wrong, what in (("1 -1:2", "from 0 to 2"), ("1 3:2", "from 0"), ("1 two", "column:value")):
        data.write_text(f"1 0:1\n{wrong}\n")
        with pytest.raises(mx.MXNetError, match=rf"line 2: .*{what}"):
            mx.io.LibSVMIter(data_libsvm=data, data_shape=(3,))


def test_batches_of_csr_arrays() -> None:
    host = onp.arange(15, dtype="float32").reshape(5, 3) * (onp.arange(15).reshape(5, 3) % 2)
    csr = nd.array(host).tostype("csr")
    with pytest.raises(NotImplementedError, match="discard"):
        mx.io.NDArrayIter(csr, batch_size=2)
    for shuffle in (False, True):
        batches = mx.io.NDArrayIter(
            csr, onp.arange(5), 2, shuffle=shuffle, last_batch_handle="discard"
        )
        for batch in batches:
            assert batch.data[0].stype == "csr"
            rows = batch.label[0].asnumpy().astype(int)
            assert (batch.data[0].asnumpy() == host[rows]).all()


def test_executors_make_sparse_arrays() -> None:
    sym = mx.sym
    x = sym.Variable("x", stype="csr")
    y = sym.sparse.dot(x, sym.Variable("w")) + sym.Embedding(
        sym.Variable("i"), sym.Variable("e", stype="row_sparse"), 4, 2, sparse_grad=True
    )
    requests = {"x": "null", "i": "null", "w": "write", "e": "write"}
    run = y.simple_bind(mx.cpu(), requests, x=(3, 5), w=(5, 2), i=(3,))
    kinds = {name: array.stype for name, array in run.arg_dict.items()}
    assert kinds == {"x": "csr", "w": "default", "i": "default", "e": "row_sparse"}
    assert run.grad_dict["w"].stype == run.grad_dict["e"].stype == "row_sparse"
    host = onp.zeros((3, 5), "float32")
    host[0, 1] = host[2, 4] = 2
    run.arg_dict["w"][:] = 1
    for _ in range(2):
        run.forward(is_train=True, x=nd.array(host).tostype("csr"), i=nd.array([3, 0, 3]))
        run.backward(nd.ones((3, 2)))
    assert run.outputs[0].asnumpy()[:, 0].tolist() == [2, 0, 2]
    assert run.grad_dict["w"].indices.asnumpy().tolist() == [1, 4]
    assert run.grad_dict["e"].asnumpy()[:, 0].tolist() == [1, 0, 0, 2]


def test_optimizers_are_compared_with_sparse_arrays() -> None:
    make = mx.optimizer.SGD
    mx.test_utils.compare_optimizer(make(), make(), (4, 3), "float32", g_stype="row_sparse")
    kinds = {"w_stype": "row_sparse", "g_stype": "row_sparse"}
    mx.test_utils.compare_optimizer(make(), make(), (4, 3), "float32", **kinds)
    others = make(), make(learning_rate=1)
    with pytest.raises(AssertionError):
        mx.test_utils.compare_optimizer(*others, (4, 3), "float32", w_stype="row_sparse")


@pytest.mark.parametrize("devices", [1, 2])
def test_modules_train_sparse_weights(devices: int) -> None:
    sym = mx.sym
    weight = sym.Variable("w_weight", shape=(20, 1), stype="row_sparse")
    product = sym.sparse.dot(sym.Variable("data", stype="csr"), weight)
    model = sym.LinearRegressionOutput(product, sym.Variable("label"), name="out")
    rng = onp.random.RandomState(0)
    host = (rng.rand(32, 20) * (rng.rand(32, 20) < 0.2)).astype("float32")
    host[:, 7] = 0
    answers = host @ rng.rand(20, 1)
    batches = mx.io.NDArrayIter(
        nd.array(host).tostype("csr"), {"label": answers}, 8, last_batch_handle="discard"
    )
    module = mx.mod.Module(
        model, ["data"], ["label"], context=[mx.cpu(number) for number in range(devices)]
    )
    module.bind(batches.provide_data, batches.provide_label)
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 1.0, "wd": 0.1})
    metric = mx.metric.create("mse")
    errors = []
    for _ in range(30):
        batches.reset()
        metric.reset()
        for batch in batches:
            module.forward_backward(batch)
            module.update()
            module.update_metric(metric, batch.label)
        errors.append(metric.get()[1])
    assert errors[-1] < errors[0] / 10
    trained = module.get_params()[0]["w_weight"]
    assert trained.stype == "row_sparse"
    assert trained.asnumpy()[7] == 1  # no data: neither a gradient nor weight decay


def test_ops_update_rows() -> None:
    gradient = nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 4]), shape=(6, 2))
    for stype in ("default", "row_sparse"):
        weight = nd.ones((6, 2)).tostype(stype).copy()
        new = nd.sparse.sgd_update(weight, gradient, lr=0.1, wd=0.1)
        assert (weight.asnumpy() == 1).all()
        onp.testing.assert_allclose(new.asnumpy()[:, 0], [1, 0.89, 1, 1, 0.69, 1], rtol=1e-6)
        assert nd.sgd_update(weight, gradient, lr=0.1, wd=0.1, out=weight) is weight
        assert (weight.asnumpy() == new.asnumpy()).all()
        nd.sgd_update(weight, gradient, lr=0.1, wd=0.1, lazy_update=False, out=weight)
        assert weight.asnumpy()[0, 0] == onp.float32(0.99)
        mean, variance = nd.zeros((6, 2)), nd.zeros((6, 2))
        nd.sparse.adam_update(weight, gradient, mean, variance, lr=0.1, out=weight)
        onp.testing.assert_allclose(mean.asnumpy()[:, 0], [0, 0.1, 0, 0, 0.3, 0], rtol=1e-6)
    weight, history = nd.ones((6, 2)), nd.ones((6, 2))
    nd.sparse.adagrad_update(weight, gradient, history, lr=0.5, out=weight)
    expected = [1, 1 - 0.5 / 2**0.5, 1, 1, 1 - 1.5 / 10**0.5, 1]
    onp.testing.assert_allclose(weight.asnumpy()[:, 0], expected, rtol=1e-5)
    assert history.asnumpy()[:, 0].tolist() == [1, 2, 1, 1, 10, 1]
    weight = weight.tostype("row_sparse")
    nd.reset_arrays(gradient, weight, num_arrays=2)
    assert gradient.data.size == weight.data.size == 0


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize(("name", "count"), [("sgd_mom_update", 1), ("adam_update", 2)])
def test_ops_update_states_of_any_kind(name: str, count: int, lazy: bool) -> None:
    gradient = nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 4]), shape=(6, 2))
    found = []
    for stype in ("default", "row_sparse"):
        weight = nd.ones((6, 2)).tostype(stype)
        states = [nd.zeros((6, 2)).tostype(stype) for _ in range(count)]
        for _ in range(2):
            getattr(nd, name)(weight, gradient, *states, lr=0.1, lazy_update=lazy, out=weight)
        assert all(one.stype == stype for one in states)
        found.append([one.asnumpy() for one in (weight, *states)])
    for dense, sparse in zip(*found, strict=True):
        onp.testing.assert_array_equal(dense, sparse)
    assert found[0][1][4, 1]


def test_ftrl_updates_all_rows_of_a_dense_weight() -> None:
    """Recorded from MXNet 1.9.1: without gradients weights become zero, unless none are stored."""
    gradient = nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 4]), shape=(6, 2))
    for stype, others in (("default", 0), ("row_sparse", 1)):
        weight = nd.ones((6, 2)).tostype(stype)
        total, squares = nd.zeros((6, 2)), nd.zeros((6, 2))
        nd.ftrl_update(weight, gradient, total, squares, lr=0.1, out=weight)
        expected = [others, 0.4495, others, others, 0.67475, others]
        onp.testing.assert_allclose(weight.asnumpy()[:, 0], expected, rtol=1e-5)


def test_gradients_of_rows_are_gathered_to_large_batches() -> None:
    """Recorded from MXNet 1.9.1: momentum and weight decay are of the rows with gradients alone."""
    gradient = nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 4]), shape=(6, 2))
    weight = nd.ones((6, 2))
    rule = mx.optimizer.LBSGD(learning_rate=0.1, momentum=0.9, wd=0.1)
    updater = mx.optimizer.get_updater(rule)
    for _ in range(2):
        updater(0, gradient, weight)
    onp.testing.assert_allclose(weight.asnumpy()[:, 0], [1, 0.6821, 1, 1, 0.1041, 1], rtol=1e-5)

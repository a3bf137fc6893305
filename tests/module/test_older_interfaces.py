# SPDX-License-Identifier: Apache-2.0
"""What programs used before modules: FeedForward, executor managers, ops of symbols in Python."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import nd, sym
from afterglow.executor_manager import (
    DataParallelExecutorManager,
    _check_arguments,
    _split_input_slice,
)
from afterglow.module import feed_forward

pytestmark = pytest.mark.filterwarnings("ignore:.*has been deprecated")


def network() -> Any:
    hidden = sym.FullyConnected(sym.var("data"), num_hidden=8, name="first")
    return sym.SoftmaxOutput(
        sym.FullyConnected(sym.tanh(hidden), num_hidden=2, name="second"), name="softmax"
    )


def rows(count: int = 40) -> tuple[Any, Any]:
    data = onp.random.RandomState(4).normal(size=(count, 3)).astype("float32")
    return data, (data[:, 0] > 0).astype("float32")


def classifier(**options: Any) -> Any:
    rule = {"learning_rate": 0.5, "initializer": mx.init.Xavier(), "numpy_batch_size": 8}
    return mx.model.FeedForward(network(), num_epoch=12, **{**rule, **options})


def test_feed_forward_predicts_where_labels_have_another_shape(tmp_path: Path) -> None:
    rows = onp.arange(12).reshape(4, 3) / 12
    onp.savetxt(tmp_path / "data.csv", rows, delimiter=",")
    batches = mx.io.CSVIter(data_csv=str(tmp_path / "data.csv"), data_shape=(3,), batch_size=2)
    net = mx.sym.LogisticRegressionOutput(mx.sym.Variable("data") * 2, name="softmax")
    answers = mx.model.FeedForward(net, arg_params={}).predict(batches)
    onp.testing.assert_allclose(answers, 1 / (1 + onp.exp(-2 * rows)), rtol=1e-5)


def test_feed_forward_learns_predicts_and_is_saved(tmp_path: Path) -> None:
    mx.random.seed(1)
    data, labels = rows()
    model = classifier()
    model.fit(data, labels, eval_data=(data, labels))
    batches = mx.io.NDArrayIter(data, labels, 16)
    assert model.score(batches) > 0.9
    assert model.score((data, labels)) > 0.9
    outputs, given, seen = model.predict(batches, return_data=True)
    assert outputs.shape == (40, 2)
    onp.testing.assert_array_equal(given, data)
    onp.testing.assert_array_equal(seen, labels)
    assert model.predict(nd.array(data), num_batch=2).shape == (16, 2)
    model.save(str(tmp_path / "net"))
    loaded = mx.model.FeedForward.load(str(tmp_path / "net"), 12)
    assert loaded.begin_epoch == 12
    onp.testing.assert_allclose(loaded.predict(data), outputs, rtol=1e-5)


def test_feed_forward_goes_on_from_parameters() -> None:
    data, labels = rows()
    epochs: list[int] = []
    first = classifier(ctx=[mx.cpu(0), mx.cpu(1)], epoch_size=3)
    first.fit(
        mx.io.NDArrayIter(data, labels, 8),
        batch_end_callback=lambda param: epochs.append(param.epoch),
    )
    assert epochs == [epoch for epoch in range(12) for _ in range(3)]
    again = classifier(arg_params=first.arg_params, aux_params={}, begin_epoch=12)
    again.fit(data, labels)  # no epoch is left
    for name, value in first.arg_params.items():
        onp.testing.assert_array_equal(again.arg_params[name].asnumpy(), value.asnumpy())


def test_feed_forward_in_one_call() -> None:
    data, labels = rows()
    made = mx.model.FeedForward.create(network(), data, labels, num_epoch=1, learning_rate=0.1)
    assert made.predict(data).shape == (40, 2)


def test_feed_forward_with_buckets() -> None:
    def make(key: int) -> Any:
        data = sym.FullyConnected(sym.var("data"), num_hidden=2, flatten=False, name="fc")
        return sym.SoftmaxOutput(sym.mean(data, axis=1), name="softmax")

    class Batches(mx.io.DataIter):
        default_bucket_key = 4

        def __init__(self) -> None:
            super().__init__(2)
            self.provide_data = [mx.io.DataDesc("data", (2, 4, 3))]
            self.provide_label = [mx.io.DataDesc("softmax_label", (2,))]
            self.keys = iter((4, 2))

        def reset(self) -> None:
            self.keys = iter((4, 2))

        def next(self) -> Any:
            key = next(self.keys)
            shapes = [mx.io.DataDesc("data", (2, key, 3))], self.provide_label
            arrays = [nd.ones((2, key, 3))], [nd.ones((2,))]
            return mx.io.DataBatch(*arrays, 0, None, key, *shapes)

    model = mx.model.FeedForward(make, num_epoch=3, learning_rate=0.5)
    model.fit(Batches())
    assert set(model.arg_params) == {"fc_weight", "fc_bias"}


def test_feed_forward_refuses() -> None:
    data, labels = rows()
    with pytest.raises(TypeError, match="Symbol or a function"):
        mx.model.FeedForward(3)
    with pytest.raises(ValueError, match="y must be specified"):
        classifier().fit(data)
    with pytest.raises(ValueError, match="40 and 3"):
        classifier().fit(data, labels[:3])
    with pytest.raises(TypeError, match="must be DataIter"):
        classifier().fit([1, 2])
    with pytest.raises(AttributeError, match="no attribute"):
        _ = mx.model.nosuch


@pytest.mark.parametrize("devices", [1, 2])
def test_a_manager_of_executors(devices: int) -> None:
    data, labels = rows(8)
    batches = mx.io.NDArrayIter(data, labels, 8)
    symbol = network()
    names = [name for name in symbol.list_arguments() if name not in ("data", "softmax_label")]
    manager = DataParallelExecutorManager(
        symbol,
        [mx.cpu(i) for i in range(devices)],
        batches,
        symbol.list_arguments(),
        names,
        symbol.list_auxiliary_states(),
    )
    shapes = dict(zip(symbol.list_arguments(), symbol.infer_shape(data=(8, 3))[0], strict=True))
    arguments = {name: nd.full(shapes[name], 0.1) for name in names}
    manager.set_params(arguments, {})
    assert [one.stop - one.start for one in manager.slices] == [8 // devices] * devices
    manager.load_data_batch(next(batches))
    manager.forward(is_train=True)
    manager.backward()
    metric = mx.metric.Accuracy()
    manager.update_metric(metric, [nd.array(labels)])
    assert metric.num_inst == 8
    bound = symbol.bind(
        mx.cpu(),
        {**arguments, "data": nd.array(data), "softmax_label": nd.array(labels)},
        args_grad={name: nd.zeros(shapes[name]) for name in names},
    )
    bound.forward(is_train=True)
    bound.backward()
    for name, parts in zip(names, manager.grad_arrays, strict=True):
        total = sum(one.asnumpy() for one in parts)
        onp.testing.assert_allclose(total, bound.grad_dict[name].asnumpy(), rtol=1e-4, atol=1e-5)
    copies = {name: nd.zeros(shapes[name]) for name in names}
    manager.copy_to(copies, {})
    for name in names:
        onp.testing.assert_array_equal(copies[name].asnumpy(), arguments[name].asnumpy())


def test_helpers_of_managers() -> None:
    assert _split_input_slice(10, [1, 3, 1]) == [slice(0, 2), slice(2, 8), slice(8, 10)]
    with pytest.raises(ValueError, match="Too many slices"):
        _split_input_slice(1, [1, 1])
    twice = sym.var("a") + sym.var("a")
    with pytest.raises(ValueError, match='duplicated argument name "a"'):
        _check_arguments(twice)


class NumpySoftmax(mx.operator.NumpyOp):
    """The loss of classes, with its gradient by hand."""

    def __init__(self) -> None:
        super().__init__(need_top_grad=False)

    def list_arguments(self) -> list[str]:
        return ["data", "label"]

    def infer_shape(self, in_shape: Any) -> Any:
        return [in_shape[0], (in_shape[0][0],)], [in_shape[0]]

    def forward(self, in_data: Any, out_data: Any) -> None:
        values = onp.exp(in_data[0] - in_data[0].max(axis=1, keepdims=True))
        out_data[0][:] = values / values.sum(axis=1, keepdims=True)

    def backward(self, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any) -> None:
        label = in_data[1].astype(int)
        in_grad[0][:] = out_data[0]
        in_grad[0][onp.arange(len(label)), label] -= 1


class Doubled(mx.operator.NDArrayOp):
    """Twice the input, by arrays of nd."""

    def forward(self, in_data: Any, out_data: Any) -> None:
        assert isinstance(in_data[0], nd.NDArray)
        out_data[0][:] = in_data[0] * 2

    def backward(self, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any) -> None:
        in_grad[0][:] = out_grad[0] * 2


def test_ops_of_symbols_in_python() -> None:
    data, labels = onp.random.RandomState(2).normal(size=(4, 3)), onp.array([0, 2, 1, 1])
    softmax = NumpySoftmax()
    ours = softmax(Doubled()(sym.var("x")), name="softmax")
    theirs = sym.SoftmaxOutput(sym.var("x") * 2, sym.var("softmax_label"))
    assert ours.list_arguments() == ["x", "softmax_label"]
    results = []
    for symbol in (ours, theirs):
        given = {"x": nd.array(data), "softmax_label": nd.array(labels)}
        bound = symbol.bind(mx.cpu(), given, args_grad={"x": nd.zeros((4, 3))})
        output = bound.forward(is_train=True)[0].asnumpy()
        bound.backward()
        results.append((output, bound.grad_dict["x"].asnumpy()))
    for one, other in zip(*results, strict=True):
        onp.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    with pytest.warns(UserWarning, match="Doubled has been deprecated"):
        Doubled()
    assert softmax.get_symbol(sym.var("x")).infer_shape(x=(4, 3))[0] == [(4, 3), (4,)]


def test_layouts_of_outputs_on_several_devices() -> None:
    shape = (3, 8, 7)
    symbol = sym.Activation(sym.var("data"), act_type="relu", __layout__="TNC")
    module = mx.mod.Module(symbol, ("data",), None, context=[mx.cpu(0), mx.cpu(1)])
    module.bind([mx.io.DataDesc("data", shape, layout="TNC")], inputs_need_grad=True)
    module.init_params()
    data = nd.array(onp.random.RandomState(1).normal(size=shape))
    module.forward(mx.io.DataBatch([data], None))
    onp.testing.assert_array_equal(
        module.get_outputs()[0].asnumpy(), onp.maximum(data.asnumpy(), 0)
    )
    assert [one.shape for one in module.get_outputs(False)[0]] == [(3, 4, 7)] * 2
    module.backward([data])
    expected = onp.where(data.asnumpy() > 0, data.asnumpy(), 0)
    onp.testing.assert_array_equal(module.get_input_grads()[0].asnumpy(), expected)


def test_buckets_share_what_the_program_does_not_name() -> None:
    def make(key: int) -> Any:
        embedded = sym.Embedding(sym.var("data"), input_dim=9, output_dim=3)
        hidden = sym.FullyConnected(sym.mean(embedded, axis=1), num_hidden=2)
        return sym.SoftmaxOutput(hidden, name="softmax"), ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(make, 4)
    labels = [mx.io.DataDesc("softmax_label", (2,))]
    module.bind([mx.io.DataDesc("data", (2, 4))], labels)
    module.init_params()
    names = set(module.get_params()[0])
    assert names == {"embedding0_weight", "fullyconnected0_weight", "fullyconnected0_bias"}
    module.switch_bucket(2, [mx.io.DataDesc("data", (2, 2))], labels)
    assert set(module.get_params()[0]) == names


@pytest.mark.parametrize("module", [feed_forward, mx.operator], ids=lambda one: one.__name__)
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    "groups",
    [
        {"one": mx.cpu(2), "two": [mx.cpu(3), mx.cpu(4)]},
        [{"one": mx.cpu(2), "two": mx.cpu(3)}, {"one": mx.cpu(2), "two": mx.cpu(4)}],
    ],
    ids=["by group", "by device"],
)
def test_groups_of_symbols_live_on_devices(groups: Any) -> None:
    with mx.AttrScope(ctx_group="one"):
        first = sym.var("a") * 2
    with mx.AttrScope(ctx_group="two"):
        total = first + sym.var("b")
    module = mx.mod.Module(
        total, ["a", "b"], None, context=[mx.cpu(0), mx.cpu(1)], group2ctxs=groups
    )
    module.bind([("a", (4, 2)), ("b", (4, 2))], inputs_need_grad=True)
    module.init_params()
    module.forward(mx.io.DataBatch([nd.ones((4, 2)), nd.ones((4, 2))]), is_train=True)
    module.backward([nd.ones((4, 2))])
    assert (module.get_outputs()[0].asnumpy() == 3).all()
    places = [[one.context for one in parts] for parts in module.get_input_grads(False)]
    assert places == [[mx.cpu(2)] * 2, [mx.cpu(3), mx.cpu(4)]]
    assert [float(one.mean()) for one in module.get_input_grads()] == [2, 1]
    with pytest.raises(AssertionError, match="1 or 2 are needed"):
        mx.mod.Module(
            total, ["a", "b"], None, context=[mx.cpu(0), mx.cpu(1)], group2ctxs={"one": []}
        )

# SPDX-License-Identifier: Apache-2.0
"""Modules: MXNet's answers to whole programs, files, and what they refuse."""

from __future__ import annotations

import json
import re
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from module.programs import (
    PROGRAMS,
    answer,
    batches,
    flat,
    line,
    logged,
    numbers,
    parameters,
    perceptron,
    start,
)
from support import run_child

import afterglow as mx

ANSWERS = json.loads(Path(__file__).with_name("mxnet.json").read_text())

#: Programs whose answers are texts.
TEXTS = ("monitored", "log_of_fit", "summaries")


def agrees(found: Any, expected: Any, where: str) -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key, value in expected.items():
            agrees(found[key], value, f"{where}.{key}")
    elif isinstance(expected, list) and any(isinstance(one, (str, list)) for one in expected):
        assert len(found) == len(expected), where
        for number, value in enumerate(expected):
            agrees(found[number], value, f"{where}[{number}]")
    elif isinstance(expected, str):
        assert found == expected, where
    else:
        onp.testing.assert_allclose(found, expected, 2e-4, 2e-5, err_msg=where)


@pytest.mark.parametrize(
    "program", [one for one in PROGRAMS if one.__name__ not in TEXTS], ids=lambda one: one.__name__
)
def test_like_mxnet(program: Any) -> None:
    agrees(answer(mx, program), ANSWERS[program.__name__], program.__name__)


def test_summaries_like_mxnet() -> None:
    found = answer(mx, next(one for one in PROGRAMS if one.__name__ == "summaries"))
    assert found == ANSWERS["summaries"]


def test_log_like_mxnet() -> None:
    """All of the lines, but for the times in them."""

    def timeless(lines: list[str]) -> list[str]:
        return [re.sub(r"(Speed: |cost=)[\d.]+", r"\1", one) for one in lines]

    found = answer(mx, next(one for one in PROGRAMS if one.__name__ == "log_of_fit"))
    assert timeless(found["lines"]) == timeless(ANSWERS["log_of_fit"]["lines"])


def test_monitor_like_mxnet() -> None:
    """The same tensors in the same format; results of backward ops are not seen."""
    found = answer(mx, next(one for one in PROGRAMS if one.__name__ == "monitored"))["lines"]
    expected = [one for one in ANSWERS["monitored"]["lines"] if "backward" not in one]
    assert [one[:45] for one in found] == [one[:45] for one in expected]
    values = [[float(one[45:]) for one in lines] for lines in (found, expected)]
    onp.testing.assert_allclose(*values, 1e-4)


# --- step by step ---


def bound(**options: Any) -> Any:
    module = mx.mod.Module(perceptron(mx), **options)
    module.bind([("data", (4, 5))], [("softmax_label", (4,))])
    return module


def batch(size: int = 4) -> Any:
    return mx.io.DataBatch(
        [mx.nd.array(numbers((size, 5), 1))], [mx.nd.array(onp.arange(size) % 3)]
    )


def test_gradient_is_that_of_the_loss() -> None:
    """Independent of executors: softmax minus truth, times the input."""
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    module.bind([("data", (4, 5))], [("softmax_label", (4,))], inputs_need_grad=True)
    module.init_params(arg_params=parameters(mx, fc_weight=(3, 5), fc_bias=(3,)))
    one = batch()
    module.forward_backward(one)
    x = one.data[0].asnumpy()
    weight, bias = (module.get_params()[0][name].asnumpy() for name in ("fc_weight", "fc_bias"))
    scores = onp.exp(x @ weight.T + bias)
    error = scores / scores.sum(1, keepdims=True) - onp.eye(3)[onp.arange(4) % 3]
    gradients = dict(
        zip(module._exec_group.param_names, module._exec_group.grad_arrays, strict=True)
    )
    onp.testing.assert_allclose(gradients["fc_weight"][0].asnumpy(), error.T @ x, 1e-4, 1e-5)
    onp.testing.assert_allclose(gradients["fc_bias"][0].asnumpy(), error.sum(0), 1e-4, 1e-5)
    onp.testing.assert_allclose(module.get_input_grads()[0].asnumpy(), error @ weight, 1e-4, 1e-5)


def test_properties() -> None:
    module = bound()
    module.init_params()
    assert module.data_names == ["data"]
    assert module.label_names == ["softmax_label"]
    assert module.output_names == ["softmax_output"]
    assert module.data_shapes == [("data", (4, 5))]
    assert module.label_shapes == [("softmax_label", (4,))]
    assert module.output_shapes == [("softmax_output", (4, 3))]
    assert (module.binded, module.params_initialized, module.optimizer_initialized) == (
        True,
        True,
        False,
    )
    assert module.symbol.list_outputs() == ["softmax_output"]


def test_uneven_parts_for_three_devices() -> None:
    module = mx.mod.Module(perceptron(mx), context=[mx.cpu(number) for number in range(3)])
    module.bind([("data", (5, 5))], [("softmax_label", (5,))])
    module.init_params(arg_params=start(mx))
    module.forward(batch(5))
    assert [one.shape for one in module.get_outputs(False)[0]] == [(2, 3), (2, 3), (1, 3)]
    assert [one.context for one in module.get_outputs(False)[0]] == [
        mx.cpu(number) for number in range(3)
    ]
    alone = bound()
    alone.init_params(arg_params=start(mx))
    alone.forward(batch(5))
    onp.testing.assert_allclose(
        module.get_outputs()[0].asnumpy(), alone.get_outputs()[0].asnumpy(), 1e-6
    )


def test_parts_that_are_cut_already() -> None:
    """A list of batches, one for each device."""
    contexts = [mx.cpu(0), mx.cpu(1)]
    module = mx.mod.Module(perceptron(mx), context=contexts)
    module.bind([("data", (4, 5))], [("softmax_label", (4,))])
    module.init_params(arg_params=start(mx))
    whole = batch()
    parts = [
        mx.io.DataBatch([whole.data[0][rows]], [whole.label[0][rows]])
        for rows in (slice(0, 2), slice(2, 4))
    ]
    module.forward(parts, is_train=False)
    found = module.get_outputs()[0].asnumpy()
    metric = mx.metric.Accuracy()
    module.update_metric(metric, [part.label for part in parts], pre_sliced=True)
    module.forward(whole, is_train=False)
    onp.testing.assert_allclose(found, module.get_outputs()[0].asnumpy(), 1e-6)
    assert metric.get()[1] == (found.argmax(1) == onp.arange(4) % 3).mean()


def test_bucketing_fit() -> None:
    """Batches of two lengths in turn: a sum is learned whatever its length."""

    class Lengths(mx.io.DataIter):
        provide_data = (mx.io.DataDesc("data", (4, 3, 2)),)
        provide_label = (mx.io.DataDesc("lro_label", (4, 1)),)

        def __init__(self) -> None:
            super().__init__(4)
            self.step = 0

        def reset(self) -> None:
            self.step = 0

        def next(self) -> Any:
            if self.step == 8:
                raise StopIteration
            self.step += 1
            length = 3 if self.step % 2 else 2
            data = numbers((4, length, 2), self.step)
            truth = data.sum(axis=1) @ onp.array([[1.0], [-2.0]], "float32")
            return mx.io.DataBatch(
                [mx.nd.array(data)],
                [mx.nd.array(truth)],
                pad=0,
                bucket_key=length,
                provide_data=[mx.io.DataDesc("data", data.shape)],
                provide_label=[mx.io.DataDesc("lro_label", (4, 1))],
            )

    def network(length: int) -> Any:
        net = mx.sym.sum(mx.sym.Variable("data"), axis=1)
        net = mx.sym.FullyConnected(net, num_hidden=1, no_bias=True, name="fc")
        return mx.sym.LinearRegressionOutput(net, name="lro"), ("data",), ("lro_label",)

    module = mx.mod.BucketingModule(network, default_bucket_key=3)
    module.fit(
        Lengths(),
        eval_data=Lengths(),
        eval_metric="mse",
        num_epoch=10,
        optimizer_params={"learning_rate": 0.3},
    )
    assert sorted(module._buckets) == [2, 3]
    weight = module.get_params()[0]["fc_weight"].asnumpy()
    onp.testing.assert_allclose(weight, [[1, -2]], atol=1e-2)
    assert module.score(Lengths(), "mse")[0][1] < 1e-3


def test_names_under_mxnet() -> None:
    """Where programs for MXNet import things from."""
    done = run_child(
        """
        import afterglow.as_mxnet
        import mxnet
        import mxnet.module.base_module
        from mxnet import callback, contrib, io, mod, mon, test_utils, viz
        from mxnet.contrib import onnx as onnx_mxnet
        from mxnet.io import DataBatch, DataDesc, DataIter, NDArrayIter
        from mxnet.mod import Module
        from mxnet.module import BaseModule, BucketingModule
        from mxnet.monitor import Monitor
        from mxnet.test_utils import *
        from mxnet.visualization import plot_network
        assert mxnet.mod is mxnet.module is mod
        assert mxnet.viz is mxnet.visualization is viz
        assert mxnet.mon is mxnet.monitor is mon
        assert mxnet.io.NDArrayIter is NDArrayIter
        assert issubclass(Module, BaseModule)
        assert callable(assert_almost_equal) and callable(mxnet.onnx.export_model)
        print("done")
        """
    )
    assert (done.out, done.err) == ("done\n", "")


def test_prediction() -> None:
    module = bound()
    module.init_params(arg_params=start(mx))
    rows = batches(mx, rows=9)
    whole = module.predict(rows)
    assert whole.shape == (9, 3)  # without what fills up the last batch
    parts = module.predict(rows, merge_batches=False)
    assert [[one.shape for one in part] for part in parts] == [[(4, 3)], [(4, 3)], [(1, 3)]]
    onp.testing.assert_array_equal(
        whole.asnumpy(), onp.concatenate([part[0].asnumpy() for part in parts])
    )
    assert module.predict(rows, num_batch=2).shape == (8, 3)
    assert len(module.predict(rows, always_output_list=True)) == 1
    onp.testing.assert_allclose(
        module.predict(numbers((9, 5), 7)[:4]).asnumpy(), whole.asnumpy()[:4], 1e-6
    )
    assert module.predict(mx.nd.ones((6, 5))).shape == (6, 3)
    numbers_seen = [number for _, number, _ in module.iter_predict(rows)]
    assert numbers_seen == [0, 1, 2]


def test_prediction_without_labels() -> None:
    module = mx.mod.Module(perceptron(mx))
    module.bind([("data", (4, 5))], for_training=False)
    module.init_params(arg_params=start(mx))
    module.forward(mx.io.DataBatch([mx.nd.array(numbers((4, 5), 1))]))
    assert module.get_outputs()[0].shape == (4, 3)
    assert module.label_shapes is None


def test_prediction_as_tutorials_write_it() -> None:
    """A batch that has only data, and shapes of labels that are not known."""
    module = mx.mod.Module(perceptron(mx), label_names=None)
    module.bind(
        for_training=False, data_shapes=[("data", (4, 5))], label_shapes=module._label_shapes
    )
    module.set_params(start(mx), {}, allow_missing=True)
    one = namedtuple("Batch", ["data"])
    module.forward(one([mx.nd.array(numbers((4, 5), 7))]))
    expected = bound()
    expected.init_params(arg_params=start(mx))
    onp.testing.assert_allclose(
        module.get_outputs()[0].asnumpy(),
        expected.predict(numbers((4, 5), 7)).asnumpy(),
        1e-6,
    )


def test_score_calls_back() -> None:
    module = bound()
    module.init_params(arg_params=start(mx))
    seen: list[Any] = []
    module.score(
        batches(mx),
        "acc",
        batch_end_callback=[lambda p: seen.append(p.nbatch)],
        score_end_callback=lambda p: seen.append(("end", p.epoch, p.nbatch)),
        epoch=7,
    )
    assert seen == [0, 1, 2, 3, 4, ("end", 7, 5)]


def test_modules_of_programs_load_as_mxnet_did() -> None:
    """They set what Module.load of MXNet sets, and bind."""
    expected = bound()
    expected.init_params(arg_params=start(mx))
    module = mx.mod.Module(perceptron(mx))
    module._arg_params, module._aux_params = expected.get_params()
    module.params_initialized = True
    assert set(module._arg_params) == set(start(mx))
    module.bind(batches(mx).provide_data, batches(mx).provide_label)
    for name, value in start(mx).items():
        onp.testing.assert_array_equal(module.get_params()[0][name].asnumpy(), value.asnumpy())


def test_callbacks_of_epochs(tmp_path: Path) -> None:
    module = mx.mod.Module(perceptron(mx))
    prefix = str(tmp_path / "net")
    seen: list[int] = []
    module.fit(
        batches(mx),
        num_epoch=4,
        begin_epoch=1,
        epoch_end_callback=[
            lambda epoch, symbol, arguments, states: seen.append(epoch),
            mx.callback.do_checkpoint(prefix, 2),
            mx.callback.module_checkpoint(module, prefix + "-all", 3, save_optimizer_states=True),
        ],
    )
    assert seen == [1, 2, 3]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "net-0002.params",
        "net-0004.params",
        "net-all-0003.params",
        "net-all-0003.states",
        "net-all-symbol.json",
        "net-symbol.json",
    ]


@pytest.mark.parametrize("devices", [1, 2])
def test_training_goes_on_from_a_checkpoint(tmp_path: Path, devices: int) -> None:
    """Two epochs and two more from files are the same as four."""
    options = {"optimizer_params": {"learning_rate": 0.3, "momentum": 0.9}}
    contexts = [mx.cpu(number) for number in range(devices)]
    whole = mx.mod.Module(perceptron(mx), context=contexts)
    whole.fit(batches(mx), num_epoch=4, arg_params=start(mx), **options)
    first = mx.mod.Module(perceptron(mx), context=contexts)
    first.fit(batches(mx), num_epoch=2, arg_params=start(mx), **options)
    prefix = str(tmp_path / "net")
    with logged() as lines:
        first.save_checkpoint(prefix, 2, save_optimizer_states=True)
    assert lines == [
        f'Saved checkpoint to "{prefix}-0002.params"',
        f'Saved optimizer state to "{prefix}-0002.states"',
    ]
    second = mx.mod.Module.load(prefix, 2, load_optimizer_states=True, context=contexts)
    with pytest.warns(UserWarning, match="already initialized"):
        second.fit(batches(mx), num_epoch=4, begin_epoch=2, **options)
    agrees(flat(second.get_params()[0]), flat(whole.get_params()[0]), "parameters")


def test_parameters_in_files(tmp_path: Path) -> None:
    module = bound()
    module.init_params(arg_params=start(mx))
    name = str(tmp_path / "net.params")
    module.save_params(name)
    assert sorted(mx.nd.load(name)) == sorted(f"arg:{one}" for one in start(mx))
    other = bound()
    other.load_params(name)
    agrees(flat(other.get_params()[0]), flat(start(mx)), "parameters")


def test_rebinding_keeps_parameters() -> None:
    module = bound()
    module.init_params(arg_params=start(mx))
    module.bind([("data", (2, 5))], [("softmax_label", (2,))], force_rebind=True)
    assert module.data_shapes == [("data", (2, 5))]
    agrees(flat(module.get_params()[0]), flat(start(mx)), "parameters")
    module.reshape([("data", (3, 5))], [("softmax_label", (3,))])
    module.forward(batch(3))
    assert module.get_outputs()[0].shape == (3, 3)


def test_parameters_that_are_given_in_part() -> None:
    module = bound()
    given = {"fc1_weight": mx.nd.ones((8, 5))}
    with pytest.raises(RuntimeError, match="fc1_bias is not presented"):
        module.init_params(arg_params=given)
    module.init_params(mx.init.Constant(3), arg_params=given, allow_missing=True)
    values = flat(module.get_params()[0])
    assert values["fc1_weight"][0] == [1] * 5
    assert values["fc2_weight"][0] == [3] * 8
    module.set_params({"fc2_bias": mx.nd.ones((3,))}, {}, allow_missing=True)
    assert flat(module.get_params()[0])["fc2_bias"] == [1, 1, 1]
    with pytest.raises(ValueError, match='Find name "foo"'):
        module.set_params({"foo": mx.nd.ones((3,))}, {}, allow_missing=True)
    module.set_params({"foo": mx.nd.ones((3,))}, {}, allow_missing=True, allow_extra=True)
    with pytest.raises(RuntimeError, match="is not presented"):
        module.set_params(given, {})


def test_initializer_of_a_variable_and_rates_by_name() -> None:
    weight = mx.sym.Variable("w", init=mx.init.Constant(2), lr_mult=0)
    net = mx.sym.FullyConnected(
        mx.sym.Variable("data"), weight, num_hidden=3, no_bias=True, name="fc"
    )
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    module.fit(batches(mx), num_epoch=1, optimizer_params={"learning_rate": 1})
    assert flat(module.get_params()[0])["w"] == [[2] * 5] * 3


def test_gradients_can_be_added_up() -> None:
    module = mx.mod.Module(perceptron(mx))
    module.bind([("data", (4, 5))], [("softmax_label", (4,))], grad_req="add")
    module.init_params(arg_params=start(mx))
    module.forward_backward(batch())
    once = module._exec_group.grad_arrays[0][0].asnumpy()
    module.forward_backward(batch())
    onp.testing.assert_allclose(module._exec_group.grad_arrays[0][0].asnumpy(), 2 * once, 1e-5)


def test_given_optimizer() -> None:
    module = bound()
    module.init_params()
    with pytest.warns(UserWarning, match=r"rescale_grad is not normalized .*\(1.0 vs. 0.25\)"):
        module.init_optimizer(optimizer=mx.optimizer.SGD())
    module.init_optimizer(
        optimizer=mx.optimizer.Adam(rescale_grad=0.25), kvstore=None, force_init=True
    )
    assert module._optimizer.idx2name[0] == "fc1_weight"


def test_buckets_in_files(tmp_path: Path) -> None:
    def symbol(length: int) -> Any:
        net = mx.sym.sum(mx.sym.reshape(mx.sym.Variable("data"), shape=(0, length, -1)), axis=1)
        return line_of(net), ("data",), ("lro_label",)

    def line_of(net: Any) -> Any:
        net = mx.sym.FullyConnected(net, num_hidden=1, name="fc")
        return mx.sym.LinearRegressionOutput(net, name="lro")

    module = mx.mod.BucketingModule(symbol, default_bucket_key=3)
    module.bind([("data", (2, 6))], [("lro_label", (2, 1))])
    module.init_params(arg_params=parameters(mx, fc_weight=(1, 2), fc_bias=(1,)))
    one = mx.io.DataBatch(
        [mx.nd.ones((2, 4))],
        [mx.nd.zeros((2, 1))],
        bucket_key=2,
        provide_data=[("data", (2, 4))],
        provide_label=[("lro_label", (2, 1))],
    )
    module.forward(one)
    prefix = str(tmp_path / "net")
    module.save_checkpoint(prefix, 1)
    loaded = mx.mod.BucketingModule.load(
        prefix, 1, default_bucket_key=3, label_names=("lro_label",)
    )
    loaded.bind([("data", (2, 6))], [("lro_label", (2, 1))])
    loaded.forward(one)
    onp.testing.assert_allclose(
        loaded.get_outputs()[0].asnumpy(), module.get_outputs()[0].asnumpy(), 1e-6
    )


# --- refusals ---


@pytest.mark.parametrize(
    ("action", "error", "text"),
    [
        (lambda: mx.mod.Module(perceptron(mx)).forward(batch()), AssertionError, "bind"),
        (lambda: mx.mod.Module(perceptron(mx)).init_params(), AssertionError, "call bind before"),
        (lambda: bound().forward(batch()), AssertionError, "init_params"),
        (lambda: bound().get_input_grads(), AssertionError, "init_params"),
        (
            lambda: mx.mod.Module(perceptron(mx), data_names=["foo"]),
            ValueError,
            r"data_names=\['foo'\].*'foo' is not found(.|\n)*\tdata",
        ),
        (
            lambda: mx.mod.Module(perceptron(mx), fixed_param_names=["foo"]),
            ValueError,
            "fixed_param_names",
        ),
        (
            lambda: mx.mod.Module(perceptron(mx)).bind([("foo", (4, 5))]),
            ValueError,
            "data_shapes don't match",
        ),
        (
            lambda: mx.mod.Module(
                perceptron(mx), context=[mx.cpu(number) for number in range(3)]
            ).bind([("data", (2, 5))], [("softmax_label", (2,))]),
            ValueError,
            "Too many slices",
        ),
        (lambda: mx.mod.Module(perceptron(mx)).fit(batches(mx)), AssertionError, "epochs"),
        (
            lambda: bound().init_params(arg_params={"fc1_weight": mx.nd.ones((1, 5))},
                                        allow_missing=True),
            ValueError,
            r"fc1_weight.*\(1, 5\).*\(8, 5\)",
        ),
        (lambda: mx.mod.SequentialModule().add(bound(), foo=1), AssertionError, "Unknown meta"),
    ],
)  # fmt: skip
def test_refusal(action: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        action()


def test_update_needs_an_optimizer() -> None:
    module = bound()
    module.init_params()
    module.forward_backward(batch())
    with pytest.raises(AssertionError, match="init_optimizer"):
        module.update()


def test_what_is_done_twice_is_ignored() -> None:
    module = bound()
    module.init_params(mx.init.One())
    with pytest.warns(UserWarning, match="init_params call ignored"):
        module.init_params(mx.init.Zero())
    with pytest.warns(UserWarning, match="set_params call ignored"):
        module.set_params({}, {}, allow_missing=True, force_init=False)
    module.init_optimizer()
    with logged() as lines:
        module.init_optimizer()
        module.bind([("data", (4, 5))])
    assert lines == [
        "optimizer already initialized, ignoring...",
        "Already bound, ignoring bind()",
    ]
    assert flat(module.get_params()[0])["fc2_weight"][0] == [1] * 8


def test_unknown_label_warns() -> None:
    with pytest.warns(UserWarning, match="foo_label"):
        mx.mod.Module(line(mx), label_names=["foo_label"])


@pytest.mark.parametrize(
    "groups",
    [
        {"first": mx.cpu(2), "second": [mx.cpu(3)]},
        {"first": [mx.cpu(2), mx.cpu(2)], "second": mx.cpu(3)},
        [{"first": mx.cpu(2), "second": mx.cpu(3)}] * 2,
    ],
)
def test_arrays_of_groups_live_on_their_devices(groups: Any) -> None:
    with mx.AttrScope(ctx_group="first"):
        hidden = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc1")
    with mx.AttrScope(ctx_group="second"):
        net = mx.sym.FullyConnected(hidden, num_hidden=2, name="fc2")
    found = []
    for given in (groups, None):
        module = mx.mod.Module(
            net, label_names=None, context=[mx.cpu(0), mx.cpu(1)], group2ctxs=given
        )
        module.bind([("data", (4, 5))], inputs_need_grad=True)
        module.init_params(mx.init.One())
        module.forward(mx.io.DataBatch([mx.nd.ones((4, 5))]), is_train=True)
        module.backward([mx.nd.ones((4, 2))])
        found.append([module.get_outputs()[0].asnumpy(), module.get_input_grads()[0].asnumpy()])
        if given is not None:
            arrays = module._exec_group.execs[1].arg_dict
            assert arrays["fc1_weight"].context == mx.cpu(2)
            assert arrays["fc2_weight"].context == mx.cpu(3)
    for one, other in zip(*found, strict=True):
        assert one.tolist() == other.tolist()


def test_parameters_that_were_written_on_devices_are_copied_anew() -> None:
    module = mx.mod.Module(
        mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc"), label_names=None
    )
    module.bind([("data", (1, 2))])
    module.init_params(mx.init.One())
    assert module.get_params()[0]["fc_weight"].asnumpy().tolist() == [[1, 1]]
    module._exec_group.param_arrays[0][0][:] = 3
    module._sync_params_from_devices()
    assert module._arg_params["fc_weight"].asnumpy().tolist() == [[3, 3]]

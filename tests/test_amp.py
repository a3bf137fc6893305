# SPDX-License-Identifier: Apache-2.0
"""``contrib.amp``: casts in graphs, types of parameters, scaled losses and skipped steps."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, sym
from afterglow.contrib import amp
from afterglow.contrib.amp.loss_scaler import LossScaler


def network() -> Any:
    first = sym.Convolution(sym.var("data"), num_filter=2, kernel=(3, 3), name="conv")
    normal = sym.BatchNorm(first, name="bn", fix_gamma=False)
    total = sym.Activation(normal, act_type="softrelu", name="act") + first
    return sym.SoftmaxOutput(
        sym.FullyConnected(sym.exp(total, name="e"), num_hidden=3, name="fc"), name="softmax"
    )


def casts(symbol: Any) -> list[str]:
    names = symbol.get_internals().list_outputs()
    return [name.removesuffix("_output") for name in names if "amp_" in name]


def test_casts_are_where_mxnet_puts_them() -> None:
    assert casts(amp.convert_symbol(network())) == [
        "data_amp_cast_float16",
        "conv_weight_amp_cast_float16",
        "conv_bias_amp_cast_float16",
        "bn_output_amp_cast_float32",
        "conv_output_amp_cast_float32",
        "e_output_amp_cast_float16",
        "fc_weight_amp_cast_float16",
        "fc_bias_amp_cast_float16",
        "fc_output_amp_cast_float32",
    ]
    assert not casts(amp.convert_symbol(network(), excluded_sym_names=["fc", "conv"]))


def test_lists_of_ones_own() -> None:
    both = sym.FullyConnected(sym.var("x"), num_hidden=3, name="a") + sym.var("y")
    multicast = [f"a_output_amp_multicast_output{number}" for number in range(2)]
    assert casts(amp.convert_symbol(both)) == [
        "x_amp_cast_float16",
        "a_weight_amp_cast_float16",
        "a_bias_amp_cast_float16",
        *multicast,
    ]
    assert casts(amp.convert_symbol(both, target_dtype_ops=[])) == multicast
    with pytest.raises(AssertionError, match="two or more lists"):
        amp.convert_symbol(both, target_dtype_ops=["exp"])
    with pytest.raises(ValueError, match="must be float16"):
        amp.convert_symbol(both, "bfloat16")


def test_a_converted_model_computes_about_the_same() -> None:
    symbol = network()
    draw = onp.random.RandomState(3)
    data = nd.array(draw.uniform(-1, 1, (2, 1, 6, 6)))
    shapes, _, states = symbol.infer_shape(data=data.shape)
    arguments = {
        name: nd.array(draw.uniform(-0.3, 0.3, shape))
        for name, shape in zip(symbol.list_arguments(), shapes, strict=True)
        if name not in ("data", "softmax_label")
    }
    aux = {
        name: nd.ones(shape)
        for name, shape in zip(symbol.list_auxiliary_states(), states, strict=True)
    }

    def run(graph: Any, given: Any, moving: Any) -> Any:
        label = nd.zeros((2,))
        bound = graph.bind(
            mx.cpu(), {**given, "data": data, "softmax_label": label}, aux_states=moving
        )
        return bound.forward()[0]

    expected = run(symbol, arguments, aux).asnumpy()
    for narrow in (False, True):
        graph, given, moving = amp.convert_model(
            symbol, arguments, aux, cast_optional_params=narrow
        )
        kinds = {name: onp.dtype(value.dtype).name for name, value in given.items()}
        wanted = "float16" if narrow else "float32"
        assert kinds["conv_weight"] == kinds["fc_bias"] == wanted
        assert kinds["bn_gamma"] == "float32"
        assert ("fc_weight_amp_cast_float16" in casts(graph)) is not narrow
        result = run(graph, given, moving)
        assert result.dtype == onp.float32
        onp.testing.assert_allclose(result.asnumpy(), expected, rtol=5e-3, atol=1e-3)
        assert (result.asnumpy() != expected).any()


@pytest.mark.parametrize("narrow", [False, True])
def test_converted_blocks(narrow: bool) -> None:
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(5, activation="relu"), gluon.nn.BatchNorm(), gluon.nn.Dense(2))
    net.initialize(mx.init.Xavier())
    with pytest.raises(RuntimeError, match="run forward"):
        amp.convert_hybrid_block(net)
    net.hybridize()
    x = nd.random.uniform(shape=(4, 3))
    expected = net(x).asnumpy()
    made = amp.convert_hybrid_block(net, cast_optional_params=narrow)
    onp.testing.assert_allclose(made(x).asnumpy(), expected, rtol=1e-2, atol=1e-2)
    kinds = {onp.dtype(one.dtype).name for one in made.collect_params().values()}
    assert kinds == ({"float16", "float32"} if narrow else {"float32"})
    assert all(onp.dtype(one.dtype) == onp.float32 for one in net.collect_params().values())


def test_converted_buckets() -> None:
    def make(length: int) -> Any:
        data = sym.FullyConnected(sym.var("data"), num_hidden=3, flatten=False, name="fc")
        return (
            sym.SoftmaxOutput(sym.mean(data, axis=1), name="softmax"),
            ["data"],
            ["softmax_label"],
        )

    module = mx.mod.BucketingModule(make, 4)
    shapes = [mx.io.DataDesc("data", (2, 4, 5))], [mx.io.DataDesc("softmax_label", (2,))]
    module.bind(*shapes)
    module.init_params()
    made = amp.convert_bucketing_module(module)
    made.bind(*shapes, for_training=False)
    made.init_params()
    batch = mx.io.DataBatch([nd.ones((2, 4, 5))], [nd.zeros((2,))], bucket_key=4)
    batch.provide_data, batch.provide_label = shapes
    for one in (module, made):
        one.forward(batch, is_train=False)
    first, second = (one.get_outputs()[0].asnumpy() for one in (module, made))
    onp.testing.assert_allclose(first, second, rtol=1e-2)


def trainer_of(weight: Any, **options: Any) -> Any:
    amp.init()
    rule = {"learning_rate": 1.0, "multi_precision": True}
    trainer = gluon.Trainer([weight], "sgd", rule, **options)
    amp.init_trainer(trainer)
    return trainer


@pytest.mark.parametrize("devices", [1, 2])
def test_small_gradients_survive_float16(devices: int) -> None:
    weight = gluon.Parameter("weight", shape=(1,), dtype="float16")
    weight.initialize(mx.init.Zero(), ctx=[mx.cpu(i) for i in range(devices)])
    trainer = trainer_of(weight, update_on_kvstore=False)
    with autograd.record():
        losses = [one * 1e-5 * 1e-3 for one in weight.list_data()]
    autograd.backward(losses)
    assert float(weight.list_grad()[0]) == 0  # 1e-8 is none in float16
    with (
        autograd.record(),
        amp.scale_loss(
            [one.astype("float32") * 1e-8 for one in weight.list_data()], trainer
        ) as scaled,
    ):
        autograd.backward(scaled)
    assert float(weight.list_grad()[0]) == pytest.approx(65536e-8, rel=1e-2)
    trainer._optimizer.lr = 1e4
    trainer.step(1)
    assert float(weight.list_data()[0]) == pytest.approx(-1e-4 * devices, rel=2e-2)


@pytest.mark.parametrize("together", [False, True])
def test_a_step_with_too_large_gradients_is_skipped(together: bool) -> None:
    weight = gluon.Parameter("weight", shape=(2,))
    weight.initialize(mx.init.One(), ctx=[mx.cpu(0), mx.cpu(1)])
    trainer = trainer_of(weight, update_on_kvstore=together)
    factors = []
    for value in (float("inf"), 1.0, 1.0):
        with autograd.record():
            losses = [(one * value).sum() for one in weight.list_data()]
            with amp.scale_loss(losses, trainer) as scaled:
                factors.append(trainer._amp_loss_scaler.loss_scale)
                assert float(scaled[0]) == float(losses[0]) * factors[-1]
                autograd.backward(scaled)
        trainer.step(2)
    assert factors == [65536, 65536, 32768]  # the second was chosen before the first step
    assert weight.list_data()[0].asnumpy().tolist() == [-1, -1]  # two steps by one
    assert weight.list_data()[1].asnumpy().tolist() == [-1, -1]


def test_gradients_can_be_unscaled_before_the_step() -> None:
    weight = gluon.Parameter("weight", shape=(2,))
    weight.initialize(mx.init.One())
    trainer = trainer_of(weight)
    with autograd.record(), amp.scale_loss((3 * weight.data()).sum(), trainer) as scaled:
        scaled.backward()
    amp.unscale(trainer)
    assert weight.grad().asnumpy().tolist() == [3, 3]
    trainer.step(1)
    assert weight.data().asnumpy().tolist() == [-2, -2]
    for other in (mx.optimizer.SGD(), 5):
        for call in (amp.unscale, amp.init_trainer):
            with pytest.raises(TypeError, match="Trainer"):
                call(other)
    with (
        pytest.raises(AssertionError, match="init_trainer"),
        amp.scale_loss(weight, gluon.Trainer([weight], "sgd")),
    ):
        pass


def test_the_factor_grows_after_many_good_steps() -> None:
    scaler = LossScaler()
    scaler._scale_seq_len = 3
    assert [scaler._note(False) or scaler.loss_scale for _ in range(4)] == [2**16] * 3 + [2**17]
    assert scaler._note(True)
    scaler._note(False)
    assert scaler.loss_scale == 2**16


def test_lists() -> None:
    assert "FullyConnected" in amp.list_lp16_ops("float16")
    assert "softmax" in amp.list_fp32_ops("float16")
    assert "broadcast_add" in amp.list_widest_type_cast("float16")
    assert "BatchNorm" in amp.list_lp16_fp32_ops("float16")
    assert "SoftmaxOutput" in amp.list_loss_output_functions(onp.float16)
    assert ("Activation", "act_type", ["softrelu"]) in amp.list_conditional_fp32_ops("float16")
    assert amp.list_lp16_use_fp32_params("float16") is None


@pytest.mark.parametrize("module", [amp, amp.amp, amp.loss_scaler], ids=lambda one: one.__name__)
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0

# SPDX-License-Identifier: Apache-2.0
"""Batch norms over the parts of a batch that several devices have."""

from __future__ import annotations

import threading
from typing import Any

import numpy as onp
import pytest
from support import run_child, runs_later

import afterglow as mx
from afterglow import autograd, gluon, nd, sym

_DATA = onp.random.default_rng(5).standard_normal((9, 3, 4, 2)).astype("f4") * 3 + 100
_HEADS = onp.random.default_rng(6).standard_normal(_DATA.shape).astype("f4")


def _net(layer: Any, devices: list[mx.Context]) -> Any:
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(3, 1, in_channels=3, use_bias=False), layer)
    net.initialize(mx.init.Constant(0.5), ctx=devices)
    weight = onp.linspace(-1, 2, 9, dtype="f4").reshape(3, 3, 1, 1)
    net[0].weight.set_data(nd.array(weight))
    layer.gamma.set_data(nd.array([1, 2, 3]))
    return net


def _run(net: Any, devices: list[mx.Context], cut: list[int], ways: str = "in turn") -> list[Any]:
    """Return outputs, gradients of inputs and of parameters, and running averages."""
    parts = [nd.array(one, ctx=at) for one, at in zip(onp.split(_DATA, cut), devices, strict=True)]
    heads = [nd.array(one, ctx=at) for one, at in zip(onp.split(_HEADS, cut), devices, strict=True)]
    results: list[Any] = [None] * len(parts)
    for part in parts:
        part.attach_grad()

    def one(number: int) -> None:
        with autograd.record():
            results[number] = net(parts[number])
        results[number].backward(heads[number])
        parts[number].grad.wait_to_read()

    if ways == "threads":
        threads = [threading.Thread(target=one, args=(number,)) for number in range(len(parts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    else:
        with autograd.record():
            results = [net(part) for part in parts]
        if ways == "in turn":
            for result, head in zip(results, heads, strict=True):
                result.backward(head)
        else:
            autograd.backward(results, heads)
    norm = net[1]
    told = [onp.concatenate([one.asnumpy() for one in results])]
    told.append(onp.concatenate([part.grad.asnumpy() for part in parts]))
    for parameter in (net[0].weight, norm.gamma, norm.beta):
        told.append(sum(one.asnumpy() for one in parameter.list_grad()))
    for average in (norm.running_mean, norm.running_var):
        values = [one.asnumpy() for one in average.list_data()]
        for other in values[1:]:
            onp.testing.assert_array_equal(other, values[0])
        told.append(values[0])
    return told


@runs_later
@pytest.mark.parametrize("ways", ["in turn", "at once", "threads"])
@pytest.mark.parametrize("cut", [[3], [1], [8]])
def test_as_one_device(two_devices: list[mx.Context], ways: str, cut: list[int]) -> None:
    alone = [mx.cpu()]
    wanted = _run(_net(gluon.nn.BatchNorm(), alone), alone, [])
    layer = gluon.contrib.nn.SyncBatchNorm(num_devices=2)
    got = _run(_net(layer, two_devices), two_devices, cut, ways)
    for one, other in zip(got, wanted, strict=True):
        onp.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-3)


@runs_later
def test_hybridized_and_again_and_again(two_devices: list[mx.Context]) -> None:
    alone = [mx.cpu()]
    plain = _net(gluon.nn.BatchNorm(), alone)
    net = _net(gluon.contrib.nn.SyncBatchNorm(num_devices=2), two_devices)
    net.hybridize()
    with pytest.warns(UserWarning, match="runs as it is, call by call, because devices"):
        for _ in range(4):
            wanted = _run(plain, alone, [])
            got = _run(net, two_devices, [4])
            for one, other in zip(got, wanted, strict=True):
                onp.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-3)


@runs_later
def test_three_devices_and_a_symbol() -> None:
    devices = [mx.cpu(i) for i in range(3)]
    net = sym.contrib.SyncBatchNorm(
        sym.var("x"), name="norm", ndev=3, key="norm", fix_gamma=True, eps=0.1
    )
    runs = [net.simple_bind(at, x=(3, 3, 4, 2)) for at in devices]
    for run, part in zip(runs, onp.split(_DATA, 3), strict=True):
        run.aux_dict["norm_moving_var"][:] = 1
        run.arg_dict["norm_gamma"][:] = 1
        run.forward(is_train=True, x=nd.array(part))
    for run, head in zip(runs, onp.split(_HEADS, 3), strict=True):
        run.backward(nd.array(head, ctx=run.outputs[0].context))
    got = onp.concatenate([run.outputs[0].asnumpy() for run in runs])
    mean, variance = (
        f(_DATA.astype("f8"), axis=(0, 2, 3), keepdims=True) for f in (onp.mean, onp.var)
    )
    scaled = (_DATA - mean) / onp.sqrt(variance + 0.1)
    onp.testing.assert_allclose(got, scaled, rtol=1e-4, atol=1e-4)
    centred = _HEADS - _HEADS.mean(axis=(0, 2, 3), keepdims=True)
    along = (_HEADS * scaled).mean(axis=(0, 2, 3), keepdims=True)
    gradient = (centred - scaled * along) / onp.sqrt(variance + 0.1)
    got = onp.concatenate([run.grad_dict["x"].asnumpy() for run in runs])
    onp.testing.assert_allclose(got, gradient, rtol=1e-3, atol=1e-4)


def test_prediction_waits_for_nobody() -> None:
    layer = gluon.contrib.nn.SyncBatchNorm(num_devices=2)
    layer.initialize()
    x = nd.array(_DATA)
    onp.testing.assert_allclose(layer(x).asnumpy(), _DATA / onp.sqrt(1 + 1e-5), rtol=1e-5)


@runs_later
def test_a_device_that_does_not_come_is_missed() -> None:
    child = run_child(
        """
        from afterglow import autograd, gluon, nd
        layer = gluon.contrib.nn.SyncBatchNorm(num_devices=2)
        layer.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
        x, y = (nd.arange(6, ctx=mx.cpu(i)).reshape((2, 3)) for i in range(2))
        for read in (lambda z: z.asnumpy(), lambda z: mx.nd.waitall()):
            try:
                with autograd.record():
                    read(layer(x))
            except mx.MXNetError as error:
                print(str(error).splitlines()[0])
        with autograd.record():
            results = [layer(x), layer(y)]
        print(results[1].asnumpy().sum())
        """
    )
    told = child.out.splitlines()
    assert all("only cpu(0) came to 'syncbatchnorm0_'" in one for one in told[:2]), child
    assert abs(float(told[2])) < 1e-5


@runs_later
def test_what_fails_on_one_device_fails_on_all() -> None:
    layer = gluon.contrib.nn.SyncBatchNorm(num_devices=2)
    layer.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    good = nd.ones((2, 3), ctx=mx.cpu(1))
    with autograd.record():
        bad = nd.array([1, 2], ctx=mx.cpu(0)).take(nd.array([7], ctx=mx.cpu(0)), mode="raise")
        results = [layer(bad.broadcast_to((2, 3))), layer(good)]
    with pytest.raises(IndexError):
        results[0].asnumpy()
    with pytest.raises(mx.MXNetError, match=r"what cpu\(0\) should bring"):
        results[1].asnumpy()


def test_the_serial_engine_refuses() -> None:
    child = run_child(
        """
        from afterglow import autograd, gluon, nd
        layer = gluon.contrib.nn.SyncBatchNorm(num_devices=2)
        layer.initialize()
        try:
            with autograd.record():
                layer(nd.ones((2, 3)))
        except mx.MXNetError as error:
            print(error)
        """,
        AFTERGLOW_ENGINE="serial",
    )
    assert "the serial engine cannot" in child.out

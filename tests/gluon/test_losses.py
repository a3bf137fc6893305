# SPDX-License-Identifier: Apache-2.0
"""Losses: MXNet's answers, in both worlds, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from gluon.cases import LOSSES, answer_of_loss, numbers

import afterglow as mx
from afterglow import autograd, nd, np
from afterglow.gluon import loss

ANSWERS = json.loads(Path(__file__).with_name("mxnet.json").read_text())["losses"]


@pytest.mark.parametrize("world", [nd, np])
@pytest.mark.parametrize("name", LOSSES)
def test_like_mxnet(name: str, world: Any) -> None:
    found = answer_of_loss(mx, name, lambda host: world.array(host, dtype=host.dtype))
    expected = ANSWERS[name]
    if name.startswith("poisson") and world is np:
        expected = {**expected, "loss": expected["loss"][0], "grad": None}
        del expected["grad"]  # MXNet's own loss has another shape, so another head gradient
        found.pop("grad")
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        close = 1e-5 if name.startswith("sdml") else 2e-6
        onp.testing.assert_allclose(found[key], value, 2e-5, close, err_msg=key)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (loss.L1Loss(), "L1Loss(batch_axis=0, w=None)"),
        (loss.L2Loss(), "L2Loss(batch_axis=0, w=1.0)"),
        (loss.L2Loss(weight=2, batch_axis=1), "L2Loss(batch_axis=1, w=2)"),
        (loss.SoftmaxCELoss(), "SoftmaxCrossEntropyLoss(batch_axis=0, w=None)"),
    ],
)
def test_repr(made: Any, text: str) -> None:
    assert repr(made) == text


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "uint8"])
def test_labels_of_any_type(dtype: str) -> None:
    pred = numbers((3, 4), 1)
    for world in (nd, np):
        found = loss.SoftmaxCELoss()(
            world.array(pred), world.array(onp.array([0, 2, 3]), dtype=dtype)
        )
        shifted = onp.exp(pred) / onp.exp(pred).sum(1, keepdims=True)
        expected = -onp.log(shifted[[0, 1, 2], [0, 2, 3]])
        onp.testing.assert_allclose(found.asnumpy(), expected, 1e-5)


def test_softmax_of_large_values() -> None:
    pred = nd.array([[1000.0, 0], [-1000, 0]])
    pred.attach_grad()
    with autograd.record():
        value = loss.SoftmaxCELoss()(pred, nd.array([1, 1]))
    value.backward()
    assert value.asnumpy().tolist() == [1000, 0]
    assert pred.grad.asnumpy().tolist() == [[1, -1], [0, 0]]


def test_poisson_with_the_term_of_stirling() -> None:
    pred, target = numbers((4, 3), 1), onp.array([[0, 1, 2], [3, 4, 0], [1, 1, 7], [2, 5, 1]], "f")
    stirling = onp.zeros_like(target)
    large = target[target > 1]
    stirling[target > 1] = large * onp.log(large) - large + 0.5 * onp.log(2 * onp.pi * large)
    expected = (onp.exp(pred) - target * pred + stirling).mean()
    found = loss.PoissonNLLLoss(compute_full=True)(nd.array(pred), nd.array(target))
    assert found.shape == (1,)
    assert found.asscalar() == pytest.approx(expected, rel=1e-5)


def test_labels_are_reshaped() -> None:
    found = loss.L2Loss()(nd.array([[1], [2]]), nd.array([1, 4]))
    assert found.asnumpy().tolist() == [0, 2]
    with pytest.raises(mx.MXNetError):
        loss.L2Loss()(nd.ones((2, 3)), nd.ones((2, 2)))


def test_refusals() -> None:
    with pytest.raises(ValueError, match="label_format"):
        loss.LogisticLoss(label_format="x")
    with pytest.raises((TypeError, AssertionError)):
        loss.L2Loss(weight="x")(nd.ones((2,)), nd.ones((2,)))
    with pytest.raises(ValueError, match="must be one NDArray"):
        loss.L2Loss()(1, 2)


def test_a_loss_of_ones_own() -> None:
    class Cube(loss.Loss):
        def __init__(self, weight: Any = None, batch_axis: int = 0, **kwargs: Any) -> None:
            super().__init__(weight, batch_axis, **kwargs)

        def hybrid_forward(self, F: Any, pred: Any, label: Any) -> Any:
            return F.mean((pred - label) ** 3, axis=self._batch_axis, exclude=True)

    assert Cube()(nd.array([[1, 3]]), nd.array([[1, 1]])).asnumpy().tolist() == [4]

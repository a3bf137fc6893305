# SPDX-License-Identifier: Apache-2.0
"""Losses: MXNet's answers, in both worlds, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from gluon.cases import LOSSES, LOSSES_OF_TWO, answer_of_loss, numbers, shapes_that_fit
from support import busy_engine, gained, raises_at_the_read, runs_later

import afterglow as mx
from afterglow import autograd, nd, np, sym
from afterglow.gluon import loss

RECORDED = json.loads(Path(__file__).with_name("mxnet.json").read_text())
ANSWERS = RECORDED["losses"]


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


def test_softmax_is_computed_in_a_real_type() -> None:
    """Wider than the smallest; of integers there is none, as in MXNet."""
    pred = numbers((4, 300), 1).astype("float16")
    wide = pred.astype("float64")
    expected = onp.log(onp.exp(wide).sum(1)) - wide[:, 5]
    for world in (nd, np):
        found = loss.SoftmaxCELoss()(world.array(pred, dtype="float16"), world.full((4,), 5))
        onp.testing.assert_array_equal(found.asnumpy(), expected.astype("float16"), strict=True)
    with pytest.raises(TypeError, match=r"\[log_softmax\] needs a floating type, not int32"):
        loss.SoftmaxCELoss()(nd.ones((2, 3), dtype="int32"), nd.zeros((2,)))


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


@pytest.mark.parametrize("hybridized", [False, True])
@pytest.mark.parametrize("world", [nd, np])
@pytest.mark.parametrize("text", LOSSES_OF_TWO)
def test_shapes_fit_as_in_mxnet(text: str, world: Any, hybridized: bool) -> None:
    def inside_of_more(host: Any) -> Any:
        # What lies behind the array must not be taken for a part of it.
        return world.array(onp.append(host.ravel(), [1.0] * 40), dtype=host.dtype)[
            : host.size
        ].reshape(host.shape)

    found = shapes_that_fit(mx, text, inside_of_more, hybridized)
    assert found == RECORDED["shapes"][text]


@pytest.mark.parametrize(
    ("made", "shapes", "message"),
    [
        (loss.L1Loss(), [(4, 2), (4,)], r"\[L1Loss\] label .*\(4,\).* pred .*\(4, 2\); .* equally"),
        (loss.TripletLoss(), [(4, 3), (4, 3), (5, 3)], r"\[TripletLoss\] negative .*\(5, 3\)"),
        (loss.PoissonNLLLoss(), [(4, 3), (2, 3)], r"\[PoissonNLLLoss\] target .*\(2, 3\)"),
        (loss.CosineEmbeddingLoss(), [(4, 3), (5, 3), (4,)], r"input1 .*\(4, 3\).* input2"),
        (loss.SDMLLoss(), [(4, 3), (5, 3)], r"\[SDMLLoss\] x1 .*\(4, 3\).*\(5, 3\)"),
        (loss.SoftmaxCELoss(), [(4, 3), (5,)], r"\(5,\).*must be \(4,\) or \(4, 1\)$"),
        (loss.SoftmaxCELoss(), [(4, 3), (4, 3)], "sparse_label=False"),
        (loss.L2Loss(), [(4, 3), (4, 3), (5, 1)], r"\(4, 3\).*\(5, 1\)"),
    ],
)
def test_wrong_sizes_are_named(made: Any, shapes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(*(nd.ones(shape) for shape in shapes))


@pytest.mark.parametrize("text", ["L1Loss()", "L2Loss()", "SigmoidBCELoss()", "SoftmaxCELoss()"])
def test_symbols_compare_sizes(text: str) -> None:
    graph = eval(text, vars(loss))(sym.var("pred"), sym.var("label"))
    with pytest.raises(mx.MXNetError, match=r"\(5, 3\).*"):
        graph.eval(pred=nd.ones((4, 3)), label=nd.ones((5, 3)))


@raises_at_the_read
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "uint8"])
@pytest.mark.parametrize("way", ["nd", "np", "hybridized", "symbol", "axis"])
def test_labels_beyond_the_classes(way: str, dtype: str) -> None:
    made = loss.SoftmaxCELoss(axis=1 if way == "axis" else -1)
    world = np if way == "np" else nd
    if way == "hybridized":
        made.hybridize()

    def call(labels: list[int]) -> Any:
        label = world.array(labels, dtype=dtype)
        pred = world.zeros((4, 10))
        if way == "axis":
            pred, label = pred.expand_dims(2), label.expand_dims(1)
        if way == "symbol":
            graph = made(sym.var("pred"), sym.var("label"))
            return graph.eval(pred=pred, label=label)[0]
        return made(pred, label)

    for _ in range(3):
        onp.testing.assert_allclose(call([0, 9, 3, 4]).asnumpy(), onp.log(10), 1e-6)
    for _ in range(2):
        bad = call([0, 9, 12, 4])  # nothing is read yet
        after = bad * 2 + 1
        for one in (bad, after):
            with pytest.raises(IndexError, match=r"(?s)label 12 .* 10 classes, .*test_losses\.py:"):
                one.asnumpy()


def test_negative_labels_name_the_first_class() -> None:
    # As in MXNet; programs that mask such rows afterwards rely on an answer.
    pred = nd.array([[0, 1, 2], [3, 1, 0]])
    pred.attach_grad()
    with autograd.record():
        value = loss.SoftmaxCELoss()(pred, nd.array([-1, 0]))
    value.backward()
    probabilities = onp.exp(pred.asnumpy()) / onp.exp(pred.asnumpy()).sum(1, keepdims=True)
    onp.testing.assert_allclose(value.asnumpy(), -onp.log(probabilities[:, 0]), 1e-6)
    onp.testing.assert_allclose(pred.grad.asnumpy(), probabilities - [1, 0, 0], 1e-5, 1e-6)


@runs_later
def test_what_surrounds_checked_labels_is_fused() -> None:
    made, pred, label = loss.SoftmaxCELoss(from_logits=True), nd.ones((512, 64)), nd.zeros((512,))
    made(pred, label).wait_to_read()
    before = mx.engine.stats()
    with busy_engine():
        made((pred * 2).exp() - 1, label).wait_to_read()
    # Scaled, exponentiated and shifted in one pass, then picked.
    assert gained(before)["fused_calls"] >= 3


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


def test_a_loss_of_ones_own_calls_the_helpers_of_mxnet() -> None:
    class HalfSquare(loss.Loss):
        def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
            square = F.square(pred - loss._reshape_like(F, label, pred))
            return F.mean(
                loss._apply_weighting(F, square, 0.5, sample_weight), axis=0, exclude=True
            )

    pred, label = numbers((4, 1), 1), numbers((4,), 2)
    net = HalfSquare(1, 0)
    expected = (pred[:, 0] - label) ** 2 / 2
    for hybridized in (False, True):
        net.hybridize(hybridized)
        found = net(nd.array(pred), nd.array(label)).asnumpy()
        onp.testing.assert_allclose(found, expected, 1e-6)
    graph = net(sym.var("pred"), sym.var("label"))
    (found,) = graph.eval(pred=nd.array(pred), label=nd.array(label))
    onp.testing.assert_allclose(found.asnumpy(), expected, 1e-6)

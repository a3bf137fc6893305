# SPDX-License-Identifier: Apache-2.0
"""Outputs that bring their loss with them: their gradients are those that MXNet gives."""

from __future__ import annotations

from typing import Any

import numpy as onp
import pytest

from afterglow import autograd, nd

SCORES = [[1.0, 2.0, 3.0], [3.0, 1.0, 0.0]]
CLOSE = [[0.1, 0.2, 0.3], [0.3, 0.1, -2.0]]

#: Function, arguments, data, label, and the gradient that MXNet 1.9.1 gives.
CASES: list[tuple[str, dict[str, Any], Any, Any, Any]] = [
    (
        "SoftmaxOutput",
        {},
        SCORES,
        [2, 0],
        [[0.090031, 0.244728, -0.334759], [-0.156205, 0.114195, 0.04201]],
    ),
    (
        "SoftmaxOutput",
        {"grad_scale": 2},
        SCORES,
        [2, 0],
        [[0.180061, 0.489457, -0.669518], [-0.312411, 0.22839, 0.08402]],
    ),
    (
        "SoftmaxOutput",
        {"normalization": "batch"},
        SCORES,
        [2, 0],
        [[0.045015, 0.122364, -0.16738], [-0.078103, 0.057098, 0.021005]],
    ),
    (
        "SoftmaxOutput",
        {"use_ignore": True, "ignore_label": 2, "normalization": "valid"},
        SCORES,
        [2, 0],
        [[0, 0, 0], [-0.156205, 0.114195, 0.04201]],
    ),
    (
        "SoftmaxOutput",
        {"smooth_alpha": 0.1},
        SCORES,
        [2, 0],
        [[0.040031, 0.194728, -0.234759], [-0.056205, 0.064195, -0.00799]],
    ),
    (
        "SoftmaxOutput",
        {"grad_scale": 2},
        SCORES,
        [[0.2, 0.3, 0.5], [1, 0, 0]],
        [[-0.219939, -0.110543, 0.330482], [-0.312411, 0.22839, 0.08402]],
    ),
    (
        "SoftmaxOutput",
        {"multi_output": True, "normalization": "valid"},
        [[[0, 1], [2, 3], [4, 0]], [[1, 2], [3, 4], [0, 1]]],
        [[0, 1], [2, 1]],
        [
            [[-0.246031, 0.028549], [0.029328, -0.039051], [0.216703, 0.010503]],
            [[0.028549, 0.028549], [0.210949, -0.039051], [-0.239497, 0.010503]],
        ],
    ),
    (
        "LinearRegressionOutput",
        {"grad_scale": 2},
        SCORES,
        [[1, 0, 1], [0, 1, 5]],
        [[0, 1.333333, 1.333333], [2, 0, -3.333333]],
    ),
    ("LinearRegressionOutput", {}, [[1], [2]], [3, 4], [[-2], [-2]]),
    (
        "LogisticRegressionOutput",
        {"grad_scale": 2},
        SCORES,
        [[1, 0, 1], [0, 1, 5]],
        [[-0.179294, 0.587198, -0.031617], [0.635049, -0.179294, -3]],
    ),
    (
        "MAERegressionOutput",
        {"grad_scale": 2},
        SCORES,
        [[1, 0, 1], [0, 1, 5]],
        [[-0.666667, 0.666667, 0.666667], [0.666667, -0.666667, -0.666667]],
    ),
    ("SVMOutput", {}, CLOSE, [2, 0], [[2.2, 2.4, -1.4], [-1.4, 2.2, 0]]),
    (
        "SVMOutput",
        {"margin": 2, "regularization_coefficient": 0.5, "use_linear": True},
        CLOSE,
        [2, 0],
        [[0.5, 0.5, -0.5], [-0.5, 0.5, 0]],
    ),
    ("MakeLoss", {"grad_scale": 3}, SCORES, None, [[3] * 3] * 2),
    ("MakeLoss", {"normalization": "batch"}, SCORES, None, [[0.5] * 3] * 2),
    (
        "MakeLoss",
        {"normalization": "valid", "valid_thresh": 1.5},
        SCORES,
        None,
        [[1 / 3] * 3] * 2,
    ),
    ("make_loss", {}, SCORES, None, [[1] * 3] * 2),
]


@pytest.mark.parametrize(("name", "given", "data", "label", "wanted"), CASES)
def test_gradients(name: str, given: Any, data: Any, label: Any, wanted: Any) -> None:
    x = nd.array(data)
    x.attach_grad()
    inputs = [x] if label is None else [x, nd.array(label)]
    with autograd.record():
        y = getattr(nd, name)(*inputs, **given)
    y.backward(nd.ones(y.shape) * 7)  # which does not matter
    assert onp.allclose(x.grad.asnumpy(), wanted, atol=2e-6)
    target = nd.zeros(x.shape)
    assert getattr(nd, name)(*inputs, **given, out=target) is target
    assert onp.array_equal(target.asnumpy(), y.asnumpy())


def test_gradients_from_behind_are_used_if_asked_for() -> None:
    x = nd.array(SCORES)
    x.attach_grad()
    with autograd.record():
        y = nd.SoftmaxOutput(x, nd.array([2, 0]), out_grad=True)
    y.backward(nd.array([[1, 2, 3], [0, 0, 1]]))
    assert onp.allclose(
        x.grad.asnumpy(), [[0.090031, 0.489457, -1.004277], [0, 0, 0.04201]], atol=2e-6
    )


def test_a_label_has_no_gradient() -> None:
    x, label = nd.array(SCORES), nd.array([2, 0])
    x.attach_grad()
    label.attach_grad()
    with autograd.record():
        y = nd.SoftmaxOutput(x * 2, label)
    y.backward()
    assert label.grad.asnumpy().tolist() == [0, 0]
    assert abs(x.grad.asnumpy()).max() > 0


def test_a_stopped_gradient() -> None:
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = nd.BlockGrad(x) * x
    y.backward()
    assert x.grad.asnumpy().tolist() == [1, 2]


def test_a_fixed_scale_has_the_gradient_zero() -> None:
    gamma = nd.ones((3,))
    gamma.attach_grad()
    gamma.grad[:] = 7
    with autograd.record():
        y = nd.BatchNorm(nd.array(SCORES), gamma, *(nd.zeros((3,)) for _ in range(3)))
    y.backward()
    assert gamma.grad.asnumpy().tolist() == [0, 0, 0]


def test_refusals() -> None:
    x = nd.array(SCORES)
    for call in (
        lambda: nd.SoftmaxOutput(x, nd.array([0, 1]), normalization="all"),
        lambda: nd.MakeLoss(x, normalization="all"),
        lambda: nd.LinearRegressionOutput(x, nd.ones((2,))),
    ):
        with pytest.raises(ValueError, match=r"normalization|elements"):
            call()
    with pytest.raises(AssertionError):
        nd.SVMOutput(x, [0, 1])
    with pytest.raises(ValueError, match=r"\[SVMOutput\] the label .*\(2,\).*\(3,\)"):
        nd.SVMOutput(nd.ones((2, 3)), nd.ones((3,)))

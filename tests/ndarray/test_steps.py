# SPDX-License-Identifier: Apache-2.0
"""Contract 8: steps of optimizers, densities, columns and regions answer as MXNet's do."""

from __future__ import annotations

import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, nd
from afterglow.error import MXNetError
from tests.golden.steps import answers, numbers

RECORDED = json.loads((Path(__file__).parents[1] / "golden" / "steps.json").read_text())


@cache
def ours() -> dict[str, list[Any]]:
    """Return our answers to the recorded calls."""
    return answers(mx)


@pytest.mark.parametrize("name", RECORDED)
def test_answers_are_those_of_mxnet(name: str) -> None:
    for found, recorded in zip(ours()[name], RECORDED[name], strict=True):
        onp.testing.assert_allclose(found, recorded, rtol=2e-3, atol=2e-4)


def test_a_step_that_is_not_in_place_leaves_the_weight() -> None:
    weight, mom = nd.array([1.0, 2.0]), nd.zeros((2,))
    updated = nd.nag_mom_update(weight, nd.array([1.0, -1.0]), mom, lr=0.5, momentum=0.9, wd=0.1)
    assert weight.asnumpy().tolist() == [1, 2]
    slope = onp.array([1.0, -1.0]) + 0.1 * onp.array([1.0, 2.0])
    onp.testing.assert_allclose(mom.asnumpy(), -0.5 * slope, rtol=1e-6)
    onp.testing.assert_allclose(updated.asnumpy(), [1, 2] - 1.9 * 0.5 * slope, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "count"), [("sgd_update", 0), ("adam_update", 2), ("rmsprop_update", 1)]
)
def test_a_weight_keeps_its_type(name: str, count: int) -> None:
    weight = nd.array([1.0, 2.0])
    states = [nd.ones((2,)) for _ in range(count)]
    getattr(nd, name)(weight, nd.ones((2,), dtype="float64"), *states, lr=0.1, out=weight)
    assert weight.dtype == onp.float32
    half, slope = nd.array([1, 2], dtype="float16"), nd.array([1, -1], dtype="float16")
    nd.preloaded_multi_sgd_update(half, slope, nd.array([0.5]), nd.array([0.1]), out=half)
    onp.testing.assert_allclose(half.asnumpy(), [0.45, 2.4], rtol=1e-3)  # as MXNet's
    assert half.dtype == onp.float16


def test_steps_pass_no_gradient_and_may_write_variables() -> None:
    weight, state = nd.ones((2,)), nd.zeros((2,))
    weight.attach_grad()
    with autograd.record():
        nd.sgd_mom_update(weight.detach(), weight, state, lr=1.0)
        loss = (weight * 2).sum()
    loss.backward()
    assert weight.grad.asnumpy().tolist() == [2, 2]
    assert state.asnumpy().tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x, y: nd.sgd_update(x, y, lr=1), "must have one shape"),
        (lambda x, y: nd.sgd_update(x, x), "lr"),
        (lambda x, y: nd.multi_sgd_update(x, x, x, lrs=(1,), wds=(0,)), "got 3 arrays"),
        (lambda x, y: nd.multi_sgd_update(x, x, lrs=(1, 2), wds=(0,)), "lrs has 2 numbers"),
        (lambda x, y: nd.ftml_update(x, x, x, x, x, lr=1, t=0), "counted from 1"),
        (lambda x, y: nd.multi_sum_sq(x, x, num_arrays=3), "num_arrays=3"),
        (lambda x, y: nd.multi_sum_sq(num_arrays=0), "at least one array"),
        (lambda x, y: nd.reset_arrays(num_arrays=0), "at least one array"),
        (lambda x, y: nd.reset_arrays(num_arrays=False), "at least one array"),
        (
            lambda x, y: nd._internal._multi_adamw_update(lrs=(), wds=(), etas=(), num_weights=0),
            "needs rescale_grad",
        ),
        (lambda x, y: nd.random_pdf_normal(x, y, y), "first axes of the samples"),
        (lambda x, y: nd.im2col(x.reshape((1, 1, 2)), kernel=(3,)), "exceeds"),
        (lambda x, y: nd.contrib.PSROIPooling(x, y, 1.0, 1, 2), "dimensions"),
        (lambda x, y: nd._internal._sample_unique_zipfian(range_max=2, shape=(1, 3)), "only 2"),
    ],
)
def test_steps_and_others_say_what_they_need(call: Any, text: str) -> None:
    with pytest.raises((MXNetError, TypeError), match=text):
        call(nd.ones((2,)), nd.ones((3,)))


@pytest.mark.parametrize("name", ["adamw_update", "mp_adamw_update"])
def test_only_the_scale_of_adamw_may_be_a_number(name: str) -> None:
    update = getattr(nd.contrib, name)
    arrays = [nd.ones((2,)) for _ in range(5 if name.startswith("mp") else 4)]
    update(*arrays, 1.0, lr=0.1, eta=1)
    for place in range(len(arrays)):
        given: list[Any] = [*arrays]
        given[place] = 1.0
        with pytest.raises(TypeError, match="must be arrays, not numbers"):
            update(*given, 1.0, lr=0.1, eta=1)


def test_sketches_add_columns_by_signs_with_gradients() -> None:
    data = nd.array(numbers(3, 5))
    places, signs = onp.array([0, 2, 0, 3, 2]), onp.array([1, -1, 1, 1, -1])
    data.attach_grad()
    with autograd.record():
        found = nd.contrib.count_sketch(data, nd.array(places), nd.array(signs), out_dim=4)
    expected = onp.zeros((3, 4))
    for column, (place, sign) in enumerate(zip(places, signs, strict=True)):
        expected[:, place] += sign * data.asnumpy()[:, column]
    onp.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5, atol=1e-6)
    heads = numbers(3, 4)
    found.backward(nd.array(heads))
    onp.testing.assert_allclose(data.grad.asnumpy(), heads[:, places] * signs, rtol=1e-5)


def test_transforms_are_numpys_and_each_other_s_gradients() -> None:
    data = nd.array(numbers(2, 6))
    data.attach_grad()
    with autograd.record():
        found = nd.contrib.fft(data)
    exact = onp.fft.fft(data.asnumpy())
    parts = onp.stack([exact.real, exact.imag], -1).reshape(2, 12)
    onp.testing.assert_allclose(found.asnumpy(), parts, rtol=1e-4, atol=1e-5)
    heads = nd.array(numbers(2, 12))
    found.backward(heads)
    back = nd.contrib.ifft(heads)
    onp.testing.assert_allclose(data.grad.asnumpy(), back.asnumpy(), rtol=1e-5)
    whole = nd.contrib.ifft(found).asnumpy()
    onp.testing.assert_allclose(whole, 6 * data.asnumpy(), rtol=1e-4, atol=1e-5)


def test_turned_regions_have_gradients() -> None:
    data = nd.array(numbers(1, 1, 5, 5))
    rois = nd.array([[0, 2, 2, 3, 2, 30]])
    data.attach_grad()
    with autograd.record():
        found = nd.contrib.RROIAlign(data, rois, (2, 2), 1.0, sampling_ratio=2).sum()
    found.backward()
    step = onp.zeros((1, 1, 5, 5), dtype="float32")
    step[0, 0, 2, 1] = 1
    moved = nd.contrib.RROIAlign(data + nd.array(step), rois, (2, 2), 1.0, sampling_ratio=2).sum()
    slope = float(moved) - float(found)
    assert float(data.grad[0, 0, 2, 1].asscalar()) == pytest.approx(slope, abs=1e-4)


def test_unique_draws_differ_within_a_row_and_follow_the_seed() -> None:
    mx.random.seed(3)
    drawn, tries = nd._internal._sample_unique_zipfian(range_max=1000, shape=(4, 50))
    rows = drawn.asnumpy()
    assert all(len(set(row)) == 50 for row in rows.tolist())
    assert rows.min() >= 0
    assert rows.max() < 1000
    assert (tries.asnumpy() >= 50).all()
    mx.random.seed(3)
    again = nd._internal._sample_unique_zipfian(range_max=1000, shape=(4, 50))[0]
    assert (again.asnumpy() == rows).all()


def test_draws_by_zipfs_law_tell_what_is_expected() -> None:
    drawn, true_count, drawn_count = nd.contrib.rand_zipfian(nd.array([0, 7]), 1000, 20)
    assert drawn.dtype == onp.int64
    exact = onp.log((onp.array([0, 7]) + 2) / (onp.array([0, 7]) + 1)) / onp.log(21) * 1000
    onp.testing.assert_allclose(true_count.asnumpy(), exact)
    assert drawn_count.shape == (1000,)
    assert abs((drawn.asnumpy() == 0).sum() - exact[0]) < 100


def test_names_of_arguments_that_ops_without_parameters_ignore() -> None:
    with pytest.warns(UserWarning, match="broadcast_mul.* has no parameters; .*axis.* is ignored"):
        found = nd.broadcast_mul(nd.ones((2,)), nd.array([2, 3]), axis=-1)
    assert found.asnumpy().tolist() == [2, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match="unexpected argument 'axes'"):
            nd.softmax(nd.ones((2,)), axes=1)


def test_ops_are_found_by_internal_names() -> None:
    x, target = nd.array([1, 2]), nd.zeros((2,))
    assert nd._internal._plus_scalar(x, scalar=3, out=target) is target
    assert target.asnumpy().tolist() == [4, 5]
    assert nd.op.broadcast_add(x, x).asnumpy().tolist() == [2, 4]
    with pytest.raises(AttributeError, match="_no_such_op"):
        nd._internal._no_such_op


def test_remainders_of_integers_have_no_slope() -> None:
    x, y = nd.array([7, 8], dtype="int32"), nd.array([3, 5], dtype="int32")
    x.attach_grad()
    y.attach_grad()
    with autograd.record():
        found = x % y
    found.backward(nd.array([1.0, 1.0]))
    assert x.grad.asnumpy().tolist() == [0, 0]
    assert y.grad.asnumpy().tolist() == [0, 0]


def test_integers_are_counted_by_integers() -> None:
    for kind in ("int32", "uint8"):
        expected = onp.repeat(onp.arange(1.3, 20, 1.3, dtype=kind), 2)
        assert (nd.arange(1.3, 20, 1.3, repeat=2, dtype=kind).asnumpy() == expected).all()


def test_eigenvectors_and_histograms_are_nodes() -> None:
    a = mx.sym.var("a")
    vectors, values = mx.sym.linalg.syevd(a)
    matrix = nd.array([[2, 0], [0, 1]])
    executor = mx.sym.Group([vectors, values]).bind(mx.cpu(), {"a": matrix})
    found = executor.forward()
    assert found[1].asnumpy().tolist() == [1, 2]
    counts = mx.sym.histogram(a, bins=2, range=(0, 3))
    assert counts.bind(mx.cpu(), {"a": matrix}).forward()[0].asnumpy().tolist() == [3, 1]
    with pytest.raises(ValueError, match="needs a range"):
        mx.sym.histogram(a, bins=2)


def test_shapes_of_nodes_may_be_arrays_of_numpy() -> None:
    node = mx.sym.Convolution(mx.sym.var("x"), kernel=onp.array([2, 2]), num_filter=onp.int64(3))
    assert node.infer_shape(x=(1, 1, 4, 4))[1] == [(1, 3, 3, 3)]


@pytest.mark.parametrize(
    "call",
    [
        lambda: nd.diag(nd.ones((2, 3)), k=5),
        lambda: nd.depth_to_space(nd.ones((1, 4, 0, 2)), 2),
    ],
)
def test_what_mxnet_refuses_is_refused(call: Any) -> None:
    with pytest.raises(MXNetError):
        call()


def test_what_lies_behind_the_end_of_a_sample_has_no_slope() -> None:
    data = numbers(4, 1, 3)
    data[3] = onp.nan
    labels, lengths = nd.array([[1, 2]]), nd.array([3])
    gradients = []
    for whole in (nd.array(data), nd.array(data[:3])):
        whole.attach_grad()
        with autograd.record():
            loss = nd.CTCLoss(whole, labels, lengths, use_data_lengths=True)
        loss.backward()
        gradients.append(whole.grad.asnumpy())
    onp.testing.assert_allclose(gradients[0][:3], gradients[1], rtol=1e-6)
    assert (gradients[0][3] == 0).all()


#: The slopes of 3 x 4 negative elements, as MXNet takes them from arrays of these shapes.
SLOPES = {
    (1,): onp.zeros((3, 4)),
    (4,): onp.tile(onp.arange(4), (3, 1)),
    (1, 4): onp.tile(onp.arange(4), (3, 1)),
    (3,): onp.repeat(onp.arange(3), 4).reshape(3, 4),
    (3, 1): onp.repeat(onp.arange(3), 4).reshape(3, 4),
    (3, 4): onp.arange(12).reshape(3, 4),
}


@pytest.mark.parametrize("shape", SLOPES)
@pytest.mark.parametrize("space", [(), (2, 5)])
def test_slopes_of_leading_axes(shape: tuple[int, ...], space: tuple[int, ...]) -> None:
    gamma = nd.arange(onp.prod(shape)).reshape(shape)
    gamma.attach_grad()
    with autograd.record():
        y = nd.LeakyReLU(-nd.ones((3, 4, *space)), gamma, act_type="prelu")
    y.backward()
    wanted = onp.broadcast_to(SLOPES[shape].reshape((3, 4) + (1,) * len(space)), y.shape)
    assert y.asnumpy().tolist() == (-wanted).tolist()
    assert gamma.grad.asnumpy().tolist() == onp.full(shape, -y.size / gamma.size).tolist()

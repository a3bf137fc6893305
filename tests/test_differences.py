# SPDX-License-Identifier: Apache-2.0
"""Rows of docs/differences.md: what is said of Afterglow there is so."""

from __future__ import annotations

import itertools
import math
import pickle  # noqa: F401 - in statements
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np

NAN = math.nan


def host(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [host(one) for one in value]
    return value.asnumpy() if hasattr(value, "asnumpy") else value


INTEGERS = np.array([[4, 0], [0, 9]], dtype="int32")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("np.repeat(np.array([1, 2]), [1, 2])", [1, 2, 2]),
        ("[part.size for part in np.split(np.arange(4), [2, 7])]", [2, 2, 0]),
        ("[part.size for part in np.split(np.arange(6), [4, 2])]", [4, 0, 4]),
        ("np.pad(np.array([1, 2]), 1, constant_values=9)", [9, 1, 2, 9]),
        ("np.pad(np.ones((2, 2)), (1, 2)).shape", (5, 5)),
        ("np.pad(np.array([1, 2]), ((1, 1),), mode='wrap')", [2, 1, 2, 1]),
        ("nd.pad(nd.ones((2, 2)), mode='constant', pad_width=(1, 1, 0, 2)).shape", (4, 4)),
        ("nd.flip(nd.array([[1, 2]]), axis=-1)", [[2, 1]]),
        ("nd.reverse(nd.array([[1, 2]]), axis=-1)", [[2, 1]]),
        ("nd.broadcast_axis(nd.ones((2, 1)), axis=-1, size=3).shape", (2, 3)),
        ("np.dot(INTEGERS, INTEGERS)", [[16, 0], [0, 81]]),
        (
            "nd.dot(nd.ones((2, 2), dtype='float16'), nd.ones((2, 2), dtype='float16'))",
            [[2, 2]] * 2,
        ),
        ("[part.size for part in np.linalg.svd(np.ones((3, 2)))]", [6, 2, 4]),
        ("np.linalg.norm(np.ones((3, 2)), 2)", 6**0.5),
        ("np.linalg.norm(np.ones((3, 2)), 'nuc')", 6**0.5),
        ("np.linalg.cholesky(INTEGERS)", [[2, 0], [0, 3]]),
        ("np.linalg.inv(INTEGERS)", [[0.25, 0], [0, 1 / 9]]),
        ("np.linalg.det(INTEGERS).dtype == 'float64'", True),
        ("nd.array([1], dtype='int32') / nd.array([0], dtype='int32')", [0]),
        ("nd.mean(nd.ones((70000,), dtype='float16'))", [1]),
        ("nd.norm(nd.ones((5000,), dtype='float16'))", [70.7]),
        ("nd.clip(nd.ones((1,), dtype='uint8') * 200, 256, 300)", [255]),
        ("nd.clip(nd.ones((1,), dtype='float64'), 0, 0.1) == 0.1", [1]),
        ("np.mean(np.zeros((0,)))", NAN),
        ("np.prod(np.zeros((0, 2)), axis=0)", [1, 1]),
        ("np.var(np.array([1, 2, 4], dtype='int32'))", 14 / 9),
        ("np.average(np.array([1, 2, 4], dtype='int32'))", 7 / 3),
        ("np.round(np.array([15, 25], dtype='int32'), -1)", [20, 20]),
        ("nd.sign(nd.array([NAN, -2]))", [NAN, -1]),
        ("nd.sort(nd.array([3, NAN, 1]), is_ascend=False)", [NAN, 3, 1]),
        ("nd.topk(nd.array([1, NAN, 2]), k=2, ret_typ='value')", [NAN, 2]),
        ("nd.argsort(nd.zeros((2000,)), is_ascend=False)", list(range(2000))),
        ("np.linspace(0, 1, 5, endpoint=False, retstep=True)[1]", 0.2),
        ("abs(np.random.chisquare(4, size=(20000,)).mean() - 4) < 0.2", True),
        (
            "(nd.random.multinomial(nd.array([1, 4]), 9999).astype('float32').mean() * 10).round()",
            [8],
        ),
        ("nd.rint(nd.array([-2.5, 0.5, 1.5]))", [-3, 0, 1]),
        ("nd.round(nd.array([-2.5, 0.5, 1.5]))", [-3, 1, 2]),
        ("np.round(np.array([-2.5, 0.5, 1.5]))", [-2, 0, 2]),
        ("nd.arange(3, dtype=None).dtype is onp.float64", True),
        ("nd.unravel_index(nd.array([[1, 2], [3, 4]]), shape=(2, 3)).shape", (2, 2, 2)),
        ("pickle.loads(pickle.dumps(nd.ones((1,), ctx=mx.cpu(1)))).context == mx.cpu(1)", True),
    ],
)
def test_answer(statement: str, expected: Any) -> None:
    result = host(eval(statement))
    onp.testing.assert_allclose(onp.asarray(result, float), onp.asarray(expected, float), 1e-3)


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("nd.random.randint(3, 3)", ValueError),
        ("np.random.randint(3, 3)", ValueError),
        ("np.linalg.norm(np.ones((2, 2)), 0)", ValueError),
        ("np.linalg.norm(np.ones((2, 2)), 3)", ValueError),
        ("nd.reshape(nd.arange(6), shape=(2, 2))", ValueError),
        ("nd.ones((2,)).attach_grad('unknown')", ValueError),
        ("nd.ones((2,), ctx=mx.gpu())", mx.MXNetError),
        ("nd.zeros((3,)).__setitem__([0, 9], 1)", IndexError),
        ("mx.kv.create('dist_async')", ValueError),
    ],
)
def test_refusal(statement: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        eval(statement)
    with pytest.raises(mx.MXNetError):
        eval(statement)


def test_index_out_of_range_that_is_computed() -> None:
    x = nd.zeros((3,))
    x[nd.array([9])] = 1
    with pytest.raises(IndexError):
        x.asnumpy()


def test_label_beyond_the_classes() -> None:
    value = gluon.loss.SoftmaxCELoss()(nd.zeros((2, 3)), nd.array([0, 3]))
    with pytest.raises(IndexError, match="label 3"):
        value.asnumpy()


def test_statistics_move_in_the_recorded_pass() -> None:
    layer = gluon.nn.BatchNorm(momentum=0.5)
    layer.initialize()
    with autograd.record():
        layer(nd.array([[1], [3]]))
    assert layer.running_mean.data().asscalar() == 1


def slopes(function: Any, *arrays: Any, is_training: bool = False) -> list[Any]:
    """Return the gradients of the sum of all results."""
    inputs = [nd.array(one) for one in arrays]
    for one in inputs:
        one.attach_grad()
    with autograd.record(train_mode=is_training):
        results = function(*inputs)
    autograd.backward(results)
    return [one.grad.asnumpy() for one in inputs]


def test_gradients_of_what_was_predicted() -> None:
    x = onp.array([[[1, 5, 2, 3, 4, 0]]], "float32")
    assert slopes(lambda x: nd.Pooling(x, kernel=(3,), stride=(3,)), x)[0].tolist() == [
        [[0, 1, 0, 0, 1, 0]]
    ]
    vectors = [nd.array([number]) for number in (2, 1, 3, 4)]
    found = slopes(lambda x: nd.BatchNorm(x, *vectors, fix_gamma=False, eps=0), x)
    assert (found[0] == 1).all()


def test_gradients_of_moments_count() -> None:
    one, zero = nd.ones((2,)), nd.zeros((2,))
    found = slopes(lambda x: nd.LayerNorm(x, one, zero, output_mean_var=True), [[1.0, 3.0]])
    # The sum of the normal values does not change; mean and deviation of two numbers do.
    onp.testing.assert_allclose(found[0], [[0.5 - 0.5, 0.5 + 0.5]], atol=1e-5)


def test_relu_of_batch_norms_in_np() -> None:
    layer = gluon.nn.BatchNormReLU(in_channels=1)
    layer.initialize()
    assert layer(np.array([[-1.0], [2.0]])).asnumpy().min() == 0


def test_heads_that_are_given_twice() -> None:
    x = nd.ones((1,))
    x.attach_grad()
    with autograd.record():
        y = 2 * x
    autograd.backward([y, y], [nd.ones((1,)), 10 * nd.ones((1,))])
    assert x.grad.asscalar() == 22


def test_second_derivative_of_arcsinh() -> None:
    x = nd.array([0.5, -2])
    x.attach_grad()
    with autograd.record():
        slope = autograd.grad(nd.arcsinh(x), x, create_graph=True)[0]
    slope.backward()
    host = x.asnumpy()
    onp.testing.assert_allclose(x.grad.asnumpy(), -host / (host**2 + 1) ** 1.5, 1e-5)


def test_kinds_of_inputs_of_a_hybridized_block() -> None:
    class Sum(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, y: Any) -> Any:
            return x if y is None else x + y

    block = Sum()
    block.hybridize()
    x = nd.ones((1,))
    kinds = (None, x, 1, nd.ones((1,), ctx=mx.cpu(1)), 2, None)
    assert [block(x, y).asscalar() for y in kinds * 2] == [1, 2, 2, 2, 3, 1] * 2


def test_slices_that_share_memory() -> None:
    """Those that are one piece, as in MXNet."""
    parts = [slice(None), slice(1, 2), slice(0, 2), slice(None, None, 2), slice(None, None, -1)]
    for key in itertools.product(parts, parts, parts):
        x = nd.ones((3, 3, 2))
        x[key][:] = 0
        assert (x.asnumpy()[key] == 0).all() == onp.ones((3, 3, 2))[key].flags.contiguous, key


def test_slope_of_selu() -> None:
    x = nd.array([-1])
    x.attach_grad()
    with autograd.record():
        y = gluon.nn.SELU()(x)
    y.backward()
    assert x.grad.asscalar() == pytest.approx(1.0507 * 1.67326 * math.exp(-1), rel=1e-4)


def test_every_loss_takes_np_arrays() -> None:
    first, second = np.array([[0.2, 0.3], [0.5, 0.1]]), np.array([[0.1, 0.4], [0.3, 0.3]])
    for name in gluon.loss.__all__:
        if name in ("CTCLoss", "Loss", "SoftmaxCELoss", "SoftmaxCrossEntropyLoss"):
            continue
        extra = {"TripletLoss": [second], "CosineEmbeddingLoss": [np.array([1, -1])]}.get(name, [])
        result = getattr(gluon.loss, name)()(first, second, *extra)
        assert isinstance(result, np.ndarray), name


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: np.linalg.eigvalsh(x @ x.T)[1], [[0, 0], [0, 6]]),
        (lambda x: np.linalg.pinv(x)[0, 0], [[-1, 0], [0, 0]]),
        (lambda x: np.var(x[0]), [[0.5, -0.5], [0, 0]]),
        (lambda x: np.median(x[1] + x[0]), [[0.5, 0.5], [0.5, 0.5]]),
        (lambda x: np.percentile(x, 100), [[0, 0], [0, 1]]),
        (lambda x: np.unique(x)[2], [[0, 0], [0, 1]]),
        (lambda x: np.atleast_1d(x)[0, 0], [[1, 0], [0, 0]]),
        (lambda x: np.rot90(x)[0, 0], [[0, 1], [0, 0]]),
    ],
)
def test_gradients_that_mxnet_lacks(function: Any, expected: Any) -> None:
    x = np.array([[1, 0], [0, 3]], dtype="float64")
    x.attach_grad()
    with autograd.record():
        y = function(x)
    y.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), expected, atol=1e-12)


def test_bias_beside_a_fixed_weight() -> None:
    dense = gluon.nn.Dense(2, in_units=1)
    dense.initialize()
    dense.weight.grad_req = "null"
    with autograd.record():
        y = dense(nd.ones((3, 1)))
    y.backward()
    assert dense.bias.grad().asnumpy().tolist() == [3, 3]


def test_large_batches_in_a_trainer() -> None:
    weight = gluon.Parameter("weight", shape=(1,))
    weight.initialize("zeros")
    trainer = gluon.Trainer([weight], "lbsgd", {"learning_rate": 1, "batch_scale": 2})
    for slope in (2, 4):
        with autograd.record():
            y = weight.data() * slope
        y.backward()
        trainer.step(1)
    assert weight.data().asscalar() == pytest.approx(-3 * (1 + 2 / 160), rel=1e-5)

# SPDX-License-Identifier: Apache-2.0
"""Softmax and its kin, sequences and norms, beside NumPy and MXNet's own answers."""

from __future__ import annotations

import numpy as onp
import pytest

from afterglow import autograd, nd, np, npx
from afterglow.error import ArrayTypeError

inf = float("inf")
rows = [[1, 2, 3], [4, 5, 6]]
steps = onp.arange(24).reshape(3, 2, 4)


def softmax_of(host, axis=-1):
    powers = onp.exp(host.astype("float64") - host.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def sample(shape, dtype="float32"):
    return (onp.random.default_rng(5).normal(size=shape) * 5).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (300, 40), (3, 20000), (1, 1)])
def test_softmax(shape, dtype):
    host = sample(shape, dtype)
    tolerance = {"float16": 1e-3, "float32": 2e-6, "float64": 1e-13}[dtype]
    for axis in range(-len(shape), len(shape)):
        wanted = softmax_of(host, axis)
        for found in (
            nd.softmax(nd.array(host, dtype=dtype), axis=axis),
            npx.softmax(np.array(host, dtype=dtype), axis=axis),
            nd.softmin(nd.array(-host, dtype=dtype), axis=axis),
        ):
            assert found.dtype == onp.dtype(dtype)
            assert onp.allclose(found.asnumpy(), wanted, tolerance, tolerance)
        wanted = onp.log(wanted)
        for found in (
            nd.log_softmax(nd.array(host, dtype=dtype), axis=axis),
            npx.log_softmax(np.array(host, dtype=dtype), axis=axis),
        ):
            assert onp.allclose(found.asnumpy(), wanted, tolerance * 10, tolerance * 10)


def test_softmax_forms():
    x = nd.array(rows)
    found = nd.softmax(x, temperature=2).asnumpy()[0]
    assert found == pytest.approx([0.18632373, 0.3071959, 0.5064804])
    wide = nd.softmax(x, dtype="float64")
    assert wide.dtype is onp.float64
    assert wide.asnumpy()[0] == pytest.approx([0.09003057317, 0.24472847105, 0.66524095577])
    low = nd.log_softmax(x, axis=0, temperature=0.5).asnumpy()[:, 0]
    assert low == pytest.approx([-6.0024757, -0.0024756852], 1e-4)
    assert onp.isnan(nd.softmax(nd.array([inf, 1])).asnumpy()[0])
    assert onp.isnan(nd.softmax(nd.array([-inf, -inf])).asnumpy()).all()
    assert nd.log_softmax(nd.array([-inf, 1])).asnumpy().tolist() == [-inf, 0]
    out = nd.zeros((2, 3))
    assert nd.softmax(x, out=out) is out
    assert onp.allclose(out.asnumpy(), softmax_of(onp.array(rows)))
    nd.softmax(x, out=x)
    assert onp.allclose(x.asnumpy(), softmax_of(onp.array(rows)))
    assert onp.allclose(nd.array(rows).softmax(axis=0).asnumpy(), softmax_of(onp.array(rows), 0))
    assert onp.allclose(nd.array(rows).softmin().asnumpy()[0], [0.66524094, 0.24472848, 0.09003057])
    found = nd.array(rows).log_softmax().asnumpy()[0]
    assert onp.allclose(found, [-2.407606, -1.407606, -0.407606])
    assert npx.softmax(np.array(3.0)).item() == 1
    assert npx.softmax(np.zeros((0, 3)), axis=0).shape == (0, 3)
    assert npx.log_softmax(np.zeros((0, 3))).shape == (0, 3)


def test_softmax_of_lengths():
    lengths = [2, 3]
    wanted = [[0.26894143, 0.7310586, 0], [0.09003057, 0.24472848, 0.66524094]]
    found = nd.softmax(nd.array(rows), nd.array(lengths, dtype="int32"), use_length=True)
    assert onp.allclose(found.asnumpy(), wanted)
    found = npx.softmax(np.array(rows), np.array(lengths, dtype="int64"), use_length=True)
    assert onp.allclose(found.asnumpy(), wanted)
    found = npx.softmax(np.array(rows), np.array([0, 1], dtype="uint8"), use_length=True)
    assert found.asnumpy().tolist() == [[0, 0, 0], [1, 0, 0]]
    x = nd.array(onp.arange(12).reshape(2, 3, 2))
    found = nd.softmax(x, nd.array([[2, 3], [1, 2]], dtype="int32"), axis=1, use_length=True)
    assert onp.allclose(
        found.asnumpy(),
        [
            [[0.11920292, 0.01587624], [0.880797, 0.11731043], [0, 0.86681336]],
            [[1, 0.11920292], [0, 0.880797], [0, 0]],
        ],
    )


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        (lambda: nd.softmax(nd.array(rows, dtype="int32")), TypeError),
        (lambda: npx.softmax(np.array(rows, dtype="int32")), TypeError),
        (lambda: nd.softmax(nd.array(rows), dtype="int32"), TypeError),
        (lambda: nd.softmax(nd.array(rows), axis=3), ValueError),
        (lambda: nd.softmax(nd.array(rows), use_length=True), ValueError),
        (lambda: nd.log_softmax(nd.array(rows), use_length=True), ValueError),
        (lambda: npx.log_softmax(np.array(rows), use_length=True), ValueError),
        (lambda: nd.softmax(nd.array(rows), nd.array([1, 2], dtype="int32")), ValueError),
        (lambda: nd.softmax(nd.array(rows), nd.array([1, 2]), use_length=True), TypeError),
        (
            lambda: nd.softmax(nd.array(rows), nd.array([1], dtype="int32"), use_length=True),
            ValueError,
        ),
        (lambda: nd.softmax(nd.array(rows), axis=nd.array([1, 2])), ArrayTypeError),
        (lambda: npx.softmax(np.array(rows), -1), AssertionError),
        (lambda: nd.softmax(np.array(rows)), TypeError),
        (lambda: nd.SoftmaxActivation(nd.array(rows), mode="foo"), ValueError),
        (lambda: nd.softmax_cross_entropy(nd.array(rows), nd.array([1])), ValueError),
        (lambda: nd.SequenceMask(nd.array(steps), nd.array([1, 2]), True, axis=2), ValueError),
        (lambda: nd.SequenceMask(nd.ones((2,)), nd.array([1, 0]), True), ValueError),
        (lambda: nd.SequenceMask(nd.array(steps), nd.array([1, 2, 3]), True), ValueError),
        (lambda: nd.SequenceMask(nd.array(steps), use_sequence_length=True), ValueError),
        (lambda: nd.SequenceReverse(nd.array(steps), axis=1), ValueError),
        (lambda: npx.sequence_mask(np.array(rows), np.array([1, 2]), True), ValueError),
        (lambda: nd.L2Normalization(nd.array(rows), mode="channel"), ValueError),
    ],
)
def test_refusals(statement, error):
    with pytest.raises(error):
        statement()


def test_output_layers():
    x = nd.array(onp.arange(12).reshape(2, 3, 2))
    host = x.asnumpy()
    assert onp.allclose(nd.SoftmaxActivation(x).asnumpy(), softmax_of(host))
    assert onp.allclose(nd.SoftmaxActivation(x, mode="channel").asnumpy(), softmax_of(host, 1))
    flat = softmax_of(host.reshape(2, 6)).reshape(2, 3, 2)
    assert onp.allclose(nd.SoftmaxOutput(x, nd.ones((2, 3))).asnumpy(), flat)
    found = nd.SoftmaxOutput(x, nd.ones((2, 2)), multi_output=True)
    assert onp.allclose(found.asnumpy(), softmax_of(host, 1))
    found = nd.SoftmaxOutput(x, nd.ones((2, 3)), preserve_shape=True)
    assert onp.allclose(found.asnumpy(), softmax_of(host))
    y = nd.array(rows)
    assert onp.allclose(nd.Softmax(y, nd.array([2, 0])).asnumpy(), softmax_of(y.asnumpy()))
    assert nd.LinearRegressionOutput(y, y).asnumpy().tolist() == rows
    assert nd.MAERegressionOutput(y, y).asnumpy().tolist() == rows
    assert nd.LogisticRegressionOutput(y, y).asnumpy()[0] == pytest.approx(
        [0.7310586, 0.880797, 0.95257413]
    )


def test_softmax_cross_entropy():
    for label, wanted in (([2, 0], 2.8152118), ([5, 0], 2.8152118)):
        found = nd.softmax_cross_entropy(nd.array(rows), nd.array(label))
        assert found.shape == (1,)
        assert found.asnumpy() == pytest.approx([wanted])
    found = nd.softmax_cross_entropy(nd.array([[100, 0]]), nd.array([1]))
    assert found.asnumpy() == pytest.approx([18.420681])
    found = nd.softmax_cross_entropy(nd.array([[1, 0]]), nd.array([-1], dtype="int32"))
    assert found.asnumpy() == pytest.approx([18.420681])


# --- sequences ---


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
@pytest.mark.parametrize("kind", ["float32", "float16", "int32", "int64", "uint8"])
@pytest.mark.parametrize("axis", [0, 1])
def test_sequence_mask(dtype, kind, axis):
    lengths = [1, 2] if axis == 0 else [1, 0, 2]
    wanted = steps.copy()
    for sequence, length in enumerate(lengths):
        onp.moveaxis(wanted, axis, 0)[length:, sequence] = 9
    arguments = {"use_sequence_length": True, "value": 9, "axis": axis}
    found = nd.SequenceMask(
        nd.array(steps, dtype=dtype), nd.array(lengths, dtype=kind), **arguments
    )
    assert found.dtype is onp.dtype(dtype).type
    assert (found.asnumpy() == wanted).all()
    found = npx.sequence_mask(
        np.array(steps, dtype=dtype), np.array(lengths, dtype=kind), **arguments
    )
    assert (found.asnumpy() == wanted).all()


def test_sequence_mask_forms():
    x = np.array(rows)
    found = npx.sequence_mask(x, np.array([1, 2]), True, axis=1, value=-inf)
    assert found.asnumpy().tolist() == [[1, -inf, -inf], [4, 5, -inf]]
    assert npx.sequence_mask(x).asnumpy().tolist() == rows
    assert nd.SequenceMask(nd.array(steps)).asnumpy().tolist() == steps.tolist()
    found = nd.SequenceMask(nd.array(steps), nd.array([1, 0, 2]), True, -1, 1).asnumpy()
    assert (found[0, 1] == -1).all()
    out = nd.zeros((3, 2, 4))
    assert nd.SequenceMask(nd.array(steps), nd.array([0, 0]), True, out=out) is out
    assert not out.asnumpy().any()


def test_sequence_last():
    x = nd.array(steps)
    assert (nd.SequenceLast(x).asnumpy() == steps[-1]).all()
    assert (nd.SequenceLast(x, axis=1).asnumpy() == steps[:, -1]).all()
    found = nd.SequenceLast(x, nd.array([1, 2]), use_sequence_length=True)
    assert found.asnumpy().tolist() == [[0, 1, 2, 3], [12, 13, 14, 15]]
    found = nd.SequenceLast(x, nd.array([1, 2, 1]), use_sequence_length=True, axis=1)
    assert found.asnumpy().tolist() == [[0, 1, 2, 3], [12, 13, 14, 15], [16, 17, 18, 19]]
    # A length of 0 has no last step: not that before 0 in the type of the lengths.
    found = nd.SequenceLast(nd.ones((300, 1)), nd.zeros((1,), dtype="uint8"), True)
    assert found.asnumpy().tolist() == [0]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "float64"])
@pytest.mark.parametrize("shape", [(3, 2, 4), (5, 3), (60, 20, 300), (0, 2), (2, 0, 3)])
def test_sequence_reverse(shape, dtype):
    host = (sample(shape) * 5).astype("int32").astype(dtype)
    x = nd.array(host, dtype=dtype)
    assert (nd.SequenceReverse(x).asnumpy() == host[::-1]).all()
    lengths = onp.random.default_rng(2).integers(0, shape[0] + 1, shape[1])
    wanted = host.copy()
    for sequence, length in enumerate(lengths):
        wanted[:length, sequence] = host[:length, sequence][::-1]
    for kind in ("float32", "int32"):
        found = nd.SequenceReverse(x, nd.array(lengths, dtype=kind), use_sequence_length=True)
        assert (found.asnumpy() == wanted).all()


# --- norms ---


@pytest.mark.parametrize(
    ("mode", "axes"), [("instance", (1, 2, 3)), ("channel", (1,)), ("spatial", (2, 3))]
)
def test_l2_normalization(mode, axes):
    host = sample((2, 3, 4, 5))
    for eps in (1e-10, 1.0):
        wanted = host / onp.sqrt((host**2).sum(axes, keepdims=True) + eps)
        found = nd.L2Normalization(nd.array(host), eps=eps, mode=mode)
        assert onp.allclose(found.asnumpy(), wanted, 1e-5, 1e-6)


def test_l2_normalization_forms():
    found = nd.L2Normalization(nd.array(rows)).asnumpy()[0]
    assert found == pytest.approx([0.26726124, 0.5345225, 0.8017837])
    half = nd.L2Normalization(nd.array([1, 2, 3], dtype="float16"))
    assert half.dtype is onp.float16
    assert half.asnumpy().tolist() == [1, 1, 1]


# --- outputs that bring their loss along ---

#: Function, shape of the data, label, options, and MXNet's gradient.
OUTPUTS = [
    (
        "SoftmaxOutput",
        (3, 4),
        [0, 1, 3],
        {"grad_scale": 2.0, "normalization": "null", "use_ignore": False, "ignore_label": 1},
        [
            -1.589,
            1.108,
            0.3183,
            0.1628,
            0.6694,
            -1.092,
            0.2028,
            0.2201,
            0.9274,
            0.584,
            0.1502,
            -1.662,
        ],
    ),
    (
        "SoftmaxOutput",
        (2, 3, 2),
        [[0, 1], [2, 1]],
        {
            "multi_output": True,
            "grad_scale": 2.0,
            "normalization": "null",
            "use_ignore": False,
            "ignore_label": 1,
        },
        [
            -0.707,
            0.5073,
            0.2269,
            -0.9254,
            0.4802,
            0.4182,
            0.1533,
            0.1866,
            0.7287,
            -0.485,
            -0.882,
            0.2984,
        ],
    ),
    (
        "SoftmaxOutput",
        (3, 4),
        [0, 1, 3],
        {"grad_scale": 2.0, "normalization": "null", "use_ignore": True, "ignore_label": 1},
        [-1.589, 1.108, 0.3183, 0.1628, 0.0, 0.0, 0.0, 0.0, 0.9274, 0.584, 0.1502, -1.662],
    ),
    (
        "SoftmaxOutput",
        (2, 3, 2),
        [[0, 1], [2, 1]],
        {
            "multi_output": True,
            "grad_scale": 2.0,
            "normalization": "null",
            "use_ignore": True,
            "ignore_label": 1,
        },
        [-0.707, 0.0, 0.2269, 0.0, 0.4802, 0.0, 0.1533, 0.0, 0.7287, 0.0, -0.882, 0.0],
    ),
    (
        "SoftmaxOutput",
        (3, 4),
        [0, 1, 3],
        {"grad_scale": 2.0, "normalization": "batch", "use_ignore": False, "ignore_label": 1},
        [
            -0.5297,
            0.3693,
            0.1061,
            0.05428,
            0.2231,
            -0.3641,
            0.06762,
            0.07337,
            0.3091,
            0.1947,
            0.05006,
            -0.5539,
        ],
    ),
    (
        "SoftmaxOutput",
        (2, 3, 2),
        [[0, 1], [2, 1]],
        {
            "multi_output": True,
            "grad_scale": 2.0,
            "normalization": "batch",
            "use_ignore": False,
            "ignore_label": 1,
        },
        [
            -0.3535,
            0.2536,
            0.1134,
            -0.4627,
            0.2401,
            0.2091,
            0.07664,
            0.09332,
            0.3644,
            -0.2425,
            -0.441,
            0.1492,
        ],
    ),
    (
        "SoftmaxOutput",
        (3, 4),
        [0, 1, 3],
        {"grad_scale": 2.0, "normalization": "batch", "use_ignore": True, "ignore_label": 1},
        [-0.5297, 0.3693, 0.1061, 0.05428, 0.0, 0.0, 0.0, 0.0, 0.3091, 0.1947, 0.05006, -0.5539],
    ),
    (
        "SoftmaxOutput",
        (2, 3, 2),
        [[0, 1], [2, 1]],
        {
            "multi_output": True,
            "grad_scale": 2.0,
            "normalization": "batch",
            "use_ignore": True,
            "ignore_label": 1,
        },
        [-0.3535, 0.0, 0.1134, 0.0, 0.2401, 0.0, 0.07664, 0.0, 0.3644, 0.0, -0.441, 0.0],
    ),
    (
        "SoftmaxOutput",
        (3, 4),
        [0, 1, 3],
        {"grad_scale": 2.0, "normalization": "valid", "use_ignore": False, "ignore_label": 1},
        [
            -0.7945,
            0.5539,
            0.1592,
            0.08142,
            0.3347,
            -0.5462,
            0.1014,
            0.1101,
            0.4637,
            0.292,
            0.07509,
            -0.8308,
        ],
    ),
    (
        "SoftmaxOutput",
        (2, 3, 2),
        [[0, 1], [2, 1]],
        {
            "multi_output": True,
            "grad_scale": 2.0,
            "normalization": "valid",
            "use_ignore": False,
            "ignore_label": 1,
        },
        [
            -0.707,
            0.5073,
            0.2269,
            -0.9254,
            0.4802,
            0.4182,
            0.1533,
            0.1866,
            0.7287,
            -0.485,
            -0.882,
            0.2984,
        ],
    ),
    (
        "SoftmaxOutput",
        (3, 4),
        [0, 1, 3],
        {"grad_scale": 2.0, "normalization": "valid", "use_ignore": True, "ignore_label": 1},
        [-0.7945, 0.5539, 0.1592, 0.08142, 0.0, 0.0, 0.0, 0.0, 0.4637, 0.292, 0.07509, -0.8308],
    ),
    (
        "SoftmaxOutput",
        (2, 3, 2),
        [[0, 1], [2, 1]],
        {
            "multi_output": True,
            "grad_scale": 2.0,
            "normalization": "valid",
            "use_ignore": True,
            "ignore_label": 1,
        },
        [-0.707, 0.0, 0.2269, 0.0, 0.4802, 0.0, 0.1533, 0.0, 0.7287, 0.0, -0.882, 0.0],
    ),
    (
        "SoftmaxOutput",
        (2, 2, 3),
        [[0, 1], [2, 1]],
        {"preserve_shape": True, "normalization": "batch"},
        [
            -0.1941,
            0.1508,
            0.04331,
            0.02327,
            -0.1538,
            0.1305,
            0.03655,
            0.03967,
            -0.07622,
            0.1361,
            -0.215,
            0.07887,
        ],
    ),
    (
        "SoftmaxOutput",
        (2, 3),
        [[0.1, 0.2, 0.7], [0.5, 0.5, 0]],
        {"grad_scale": 3.0},
        [0.3711, 1.209, -1.58, -1.221, -0.345, 1.566],
    ),
    (
        "SoftmaxOutput",
        (3, 4),
        [0, 1, 3],
        {"smooth_alpha": 0.2},
        [
            -0.5945,
            0.4873,
            0.09248,
            0.01475,
            0.268,
            -0.3462,
            0.03476,
            0.04339,
            0.397,
            0.2253,
            0.008422,
            -0.6308,
        ],
    ),
    ("LinearRegressionOutput", (4, 1), [1, 2, 3, 4], {}, [-1.0, -1.008, -3.256, -4.926]),
    (
        "LinearRegressionOutput",
        (2, 3),
        [[1, 2, 3], [4, 5, 6]],
        {"grad_scale": 2.0},
        [-0.6667, -0.6722, -2.17, -3.284, -3.004, -3.468],
    ),
    (
        "MAERegressionOutput",
        (2, 2),
        [[1, 1], [-1, 0]],
        {"grad_scale": 3.0},
        [-1.5, -1.5, 1.5, -1.5],
    ),
    ("LogisticRegressionOutput", (2, 2), [[1, 0], [0, 1]], {}, [-0.25, 0.3647, 0.2182, -0.3581]),
    (
        "SVMOutput",
        (3, 4),
        [0, 1, 3],
        {"margin": 0.5, "regularization_coefficient": 2.0},
        [-2.0, 5.967, 0.9778, -0.0, 3.976, -0.0, -0.0, -0.0, 5.437, 3.587, -0.0, -2.596],
    ),
    (
        "SVMOutput",
        (3, 4),
        [0, 1, 3],
        {"margin": 0.5, "use_linear": True},
        [-1.0, 1.0, 1.0, 0.0, 1.0, -0.0, 0.0, 0.0, 1.0, 1.0, 0.0, -1.0],
    ),
    ("MakeLoss", (2, 3), None, {"grad_scale": 2.0}, [2.0, 2.0, 2.0, 2.0, 2.0, 2.0]),
    (
        "MakeLoss",
        (2, 3),
        None,
        {"grad_scale": 2.0, "normalization": "batch"},
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    ),
    (
        "MakeLoss",
        (2, 3),
        None,
        {"grad_scale": 2.0, "normalization": "valid", "valid_thresh": 0.1},
        [0.6667, 0.6667, 0.6667, 0.6667, 0.6667, 0.6667],
    ),
    ("make_loss", (2, 3), None, {}, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
]


@pytest.mark.parametrize(("name", "shape", "label", "options", "slopes"), OUTPUTS)
def test_gradients_of_outputs(name, shape, label, options, slopes):
    x = nd.array(onp.sin(onp.arange(onp.prod(shape)) * 1.7).reshape(shape))
    x.attach_grad()
    labels = [] if label is None else [nd.array(label)]
    with autograd.record():
        y = getattr(nd, name)(x, *labels, **options) * 3
    y.backward(nd.ones(y.shape) * 7)  # which does not matter
    assert x.grad.asnumpy().reshape(-1) == pytest.approx(slopes, rel=1e-3, abs=1e-4)


def test_gradients_of_copies():
    x = nd.array([-1.7, 0.2, 2])
    x.attach_grad()
    for function, expected in (
        (lambda: nd.BlockGrad(x) * x, [-1.7, 0.2, 2]),
        (lambda: nd.stop_gradient(x) * x, [-1.7, 0.2, 2]),
        (lambda: nd.contrib.gradientmultiplier(x, scalar=-2), [-2, -2, -2]),
        (lambda: nd.contrib.round_ste(x * 3), [3, 3, 3]),
        (lambda: nd.contrib.sign_ste(x * 3), [3, 3, 3]),
        (lambda: nd.SoftmaxOutput(x._shaped((1, 3)), nd.array([2]), out_grad=True) * 2, None),
    ):
        with autograd.record():
            y = function()
        y.backward()
        if expected is None:
            shares = softmax_of(x.asnumpy())
            expected = 2 * (shares - [0, 0, 1])
        assert x.grad.asnumpy() == pytest.approx(expected, rel=1e-5)


def test_refusals_of_outputs():
    x = nd.ones((2, 3))
    x.attach_grad()
    with autograd.record():
        with pytest.raises(ValueError, match="does not fit"):
            nd.SoftmaxOutput(x, nd.ones((4,)))
        with pytest.raises(ValueError, match="as many elements"):
            nd.LinearRegressionOutput(x, nd.ones((4,)))
        with pytest.raises(ValueError, match="normalization"):
            nd.MakeLoss(x, normalization="none")
        with pytest.raises(ValueError, match="normalization"):
            nd.SoftmaxOutput(x, nd.ones((2,)), normalization="none")


# --- unaligned sequences ---

#: Labels, options, and what MXNet answers: the losses and a sum over their gradients.
ALIGNMENTS = [
    (
        [[1, 2, 0], [3, 3, 0], [1, 2, 3]],
        {},
        [4.29284, 3.30093, 2.88341],
        [-1.62609, -1.3868, 4.23532],
    ),
    (
        [[1, 2, 0], [3, 3, 0], [0, 0, 0]],
        {},
        [4.29284, 3.30093, 7.27989],
        [-1.62609, -1.3868, -10.7765],
    ),
    (
        [[0, 1, -1], [2, 2, -1], [0, 1, 2]],
        {"blank_label": "last"},
        [4.25946, 5.96501, 2.17064],
        [-0.788103, -4.73667, 0.0372811],
    ),
    (
        [[0, 1, -1], [2, 2, -1], [0, 1, 2]],
        {"blank_label": "last", "data_lengths": [5, 4, 3]},
        [4.25946, 4.83467, 3.02867],
        [-0.788103, -4.61988, 2.33272],
    ),
    (
        [[0, 1, 0], [2, 2, 1], [0, 1, 2]],
        {"blank_label": "last", "label_lengths": [2, 2, 3]},
        [4.25946, 5.96501, 2.17064],
        [-0.788103, -4.73667, 0.0372811],
    ),
    (
        [[1, 2, 0], [3, 3, 0], [1, 2, 3]],
        {"label_lengths": [2, 1, 3], "data_lengths": [3, 3, 5]},
        [2.25017, 1.29981, 2.88341],
        [-1.30112, -0.121926, 4.23532],
    ),
]


@pytest.mark.parametrize(("labels", "options", "losses", "slopes"), ALIGNMENTS)
def test_ctc_like_mxnet(labels, options, losses, slopes):
    host = onp.arange(60).reshape(5, 3, 4)
    x = nd.array(onp.sin(host))
    x.attach_grad()
    given = {
        key: nd.array(value) if key.endswith("lengths") else value for key, value in options.items()
    }
    used = {f"use_{key}": True for key in options if key.endswith("lengths")}
    with autograd.record():
        found = nd.CTCLoss(x, nd.array(labels), **given, **used)
    found.backward(nd.array([1, 2, 3]))
    assert found.asnumpy() == pytest.approx(losses, rel=1e-5)
    summed = (x.grad.asnumpy() * onp.cos(host)).sum((0, 2))
    assert summed == pytest.approx(slopes, rel=1e-4, abs=1e-5)
    unrecorded = nd.ctc_loss(x, nd.array(labels), **given, **used)
    assert (unrecorded.asnumpy() == found.asnumpy()).all()


def test_ctc_by_all_ways():
    # Of three letters in two steps "1" is 1 1, 0 1 or 1 0.
    host = sample((2, 1, 3))
    shares = onp.exp(host[:, 0]) / onp.exp(host[:, 0]).sum(1, keepdims=True)
    wanted = shares[0, 1] * shares[1, 1] + shares[0, 0] * shares[1, 1] + shares[0, 1] * shares[1, 0]
    for dtype in ("float64", "float32", "float16"):
        found = nd.contrib.ctc_loss(nd.array(host, dtype=dtype), nd.array([[1]]))
        assert found.asnumpy() == pytest.approx([-onp.log(wanted)], rel=5e-3)
        assert found.dtype == onp.dtype(dtype).type


def test_ctc_of_impossible_labels():
    x = nd.zeros((2, 2, 3))
    x.attach_grad()
    with autograd.record():
        found = nd.CTCLoss(x, nd.array([[1, 1], [1, 2]]))  # between equal items there is a blank
    found.backward()
    assert found.asnumpy()[0] == 0
    assert not x.grad.asnumpy()[:, 0].any()
    assert x.grad.asnumpy()[:, 1].any()


def test_refusals_of_ctc():
    x = nd.zeros((2, 1, 3))
    with pytest.raises(ValueError, match="alphabet"):
        nd.CTCLoss(x, nd.array([[3]])).wait_to_read()
    with pytest.raises(ValueError, match="length"):
        nd.CTCLoss(x, nd.array([[1]]), nd.array([3]), use_data_lengths=True).wait_to_read()
    with pytest.raises(ValueError, match="items"):
        nd.CTCLoss(x, nd.array([1]))
    with pytest.raises(ValueError, match=r"\(1,\)"):
        nd.CTCLoss(x, nd.array([[1]]), nd.array([1, 1]), use_data_lengths=True)
    with pytest.raises(ValueError, match="blank_label"):
        nd.CTCLoss(x, nd.array([[1]]), blank_label="none")
    with pytest.raises(TypeError, match="int32"):
        nd.CTCLoss(x.astype("int32"), nd.array([[1]]))
    x.attach_grad()
    with autograd.record():
        (gradient,) = autograd.grad(nd.CTCLoss(x, nd.array([[1]])), [x], create_graph=True)
    with pytest.raises(NotImplementedError, match="second order"):
        gradient.backward()

# SPDX-License-Identifier: Apache-2.0
"""Windows over images, regions of them and samples between their elements."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from support import raises_at_the_read

import afterglow as mx
from afterglow import autograd, gluon, nd, np, npx, sym
from afterglow.error import MXNetError

_GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(_GOLDEN))
import pooling_calls  # noqa: E402

RECORDED = json.loads((_GOLDEN / "pooling.json").read_text())
LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


@pytest.mark.parametrize("name", pooling_calls.CASES)
def test_answers_are_those_of_mxnet(name: str) -> None:
    found = pooling_calls.answers(mx, name)
    assert len(found) == len(RECORDED[name])
    for array, (shape, numbers) in zip(found, RECORDED[name], strict=True):
        assert array.dtype == onp.float32
        wanted = onp.reshape(numbers, shape)
        onp.testing.assert_allclose(array, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", pooling_calls.CASES)
def test_symbols_give_the_same(name: str) -> None:
    path, _, arguments = pooling_calls.CASES[name]
    function: Any = sym
    for part in path.split("."):
        function = getattr(function, part)
    inputs = [nd.array(one) for one in pooling_calls.numbers(name)]
    variables = [sym.var(f"x{i}") for i in range(len(inputs))]
    symbol = function(*variables, **arguments)
    given = {f"x{i}": one for i, one in enumerate(inputs)}
    wanted = pooling_calls.answers(mx, name)[0]
    assert (
        symbol.infer_shape(**{key: one.shape for key, one in given.items()})[1][0] == wanted.shape
    )
    assert onp.array_equal(symbol.eval(**given)[0].asnumpy(), wanted)


class Plain:
    """Pooling by the book: window by window, in float64, with the gradient."""

    def __init__(self, x: Any, weights: Any, kind: str, windows: Any, counts_pad: bool) -> None:
        kernel, stride, pad, results = windows
        space = x.shape[2:]
        self.result = onp.zeros(x.shape[:2] + results)
        self.gradient = onp.zeros(x.shape)
        for place in itertools.product(*map(range, results)):
            spans, counted = [], 1
            for i, step, length, edge, extent in zip(
                place, stride, kernel, pad, space, strict=True
            ):
                begin = i * step - edge
                end = min(begin + length, extent + edge)
                inside = max(begin, 0), max(min(end, extent), max(begin, 0))
                spans.append(slice(*inside))
                counted *= max(1, end - begin if counts_pad else inside[1] - inside[0])
            at = (slice(None), slice(None), *place)
            window = (slice(None), slice(None), *spans)
            size = onp.prod(x[window].shape[2:], dtype=int)
            values = x[window].reshape(*x.shape[:2], size)
            given = onp.zeros(values.shape)
            if kind == "max" and values.shape[2]:
                self.result[at] = values.max(2)
                first = values.argmax(2)[..., None]
                onp.put_along_axis(given, first, weights[at][..., None], 2)
            elif kind == "max":
                self.result[at] = -onp.inf
            else:
                divisor = counted if kind == "avg" else 1
                self.result[at] = values.sum(2) / divisor
                given[...] = weights[at][..., None] / divisor
            self.gradient[window] += given.reshape(self.gradient[window].shape)


def sizes(rng: Any, low: int, high: int, count: int) -> tuple[int, ...]:
    return tuple(int(one) for one in rng.integers(low, high, count))


@pytest.mark.parametrize("round_", range(60))
def test_any_windows(round_: int) -> None:
    rng = onp.random.default_rng(round_)
    axes, last = round_ % 3 + 1, bool(rng.integers(2))
    space = sizes(rng, 1, (80, 22, 8)[axes - 1], axes)
    batch, channels = int(rng.integers(0, 3)), int(rng.integers(1, 70 if last else 4))
    kernel, stride = sizes(rng, 1, 5, axes), sizes(rng, 1, 4, axes)
    kind, convention = rng.choice(["max", "avg", "sum"]), rng.choice(["valid", "full", "same"])
    pad = tuple(
        max(int(one), (size - extent + 1) // 2)
        for one, size, extent in zip(rng.integers(0, 3, axes), kernel, space, strict=True)
    )
    if convention == "same":  # which knows no padding
        kernel, pad = tuple(map(min, kernel, space)), (0,) * axes
    counts_pad, dtype = bool(rng.integers(2)), rng.choice(["float16", "float32", "float64"])
    x = rng.integers(-4, 5, (batch, channels, *space)).astype("float64")
    data = nd.array(onp.moveaxis(x, 1, -1) if last else x, dtype=dtype)
    data.attach_grad()
    with autograd.record():
        result = nd.Pooling(
            data, kernel=kernel, stride=stride, pad=pad, pool_type=kind, layout=LAYOUTS[axes][last],
            pooling_convention=convention, count_include_pad=counts_pad,
        )  # fmt: skip
    results = result.shape[1:-1] if last else result.shape[2:]
    weights = rng.integers(-3, 4, (batch, channels, *results)).astype("float64")
    result.backward(nd.array(onp.moveaxis(weights, 1, -1) if last else weights, dtype=dtype))
    plain = Plain(x, weights, kind, (kernel, stride, pad, results), counts_pad)
    limits = onp.finfo(dtype)
    wanted = onp.maximum(plain.result, float(limits.min))
    found = [result.asnumpy(), data.grad.asnumpy()]
    if last:
        found = [onp.moveaxis(one, -1, 1) for one in found]
    assert found[0].dtype == found[1].dtype == dtype
    tolerance = float(limits.eps) * 16
    onp.testing.assert_allclose(found[0], wanted, rtol=tolerance, atol=tolerance)
    onp.testing.assert_allclose(found[1], plain.gradient, rtol=tolerance, atol=4 * tolerance)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("kind", ["max", "avg", "sum", "lp"])
def test_gradients_of_second_order(kind: str, layout: str) -> None:
    """The sum of squares of a gradient, against differences of it."""
    shape = (1, 2, 5, 6) if layout == "NCHW" else (1, 5, 6, 2)
    rng = onp.random.default_rng(3)
    x, direction = rng.permutation(60).reshape(shape) / 20 + 0.5, rng.standard_normal(shape)

    def squares(values: Any) -> Any:
        pooled = nd.Pooling(
            values, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type=kind, p_value=3,
            layout=layout,
        )  # fmt: skip
        loss = (pooled * pooled * pooled).sum()
        (slope,) = autograd.grad(loss, [values], create_graph=True, retain_graph=True)
        return (slope * slope).sum()

    data = nd.array(x, dtype="float64")
    data.attach_grad()
    with autograd.record():
        total = squares(data)
    total.backward()
    step = 1e-6
    near = []
    for sign in (1, -1):
        moved = nd.array(x + sign * step * direction, dtype="float64")
        moved.attach_grad()
        with autograd.record():
            near.append(squares(moved).asscalar())
    slope = float((data.grad.asnumpy() * direction).sum())
    assert slope == pytest.approx((near[0] - near[1]) / (2 * step), rel=1e-5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: nd.contrib.BilinearResize2D(x, height=3, width=7),
        lambda x: nd.contrib.AdaptiveAvgPooling2D(x, output_size=(2, 3)),
        lambda x: nd.contrib.ROIAlign(
            x, nd.array([[0, 1, 0, 4, 3]], dtype="float64"), pooled_size=(2, 2), spatial_scale=1
        ),
        lambda x: nd.BilinearSampler(x, x[:, :2] * 0.6),
        lambda x: nd.Correlation(x, x * 0.5 + 1, pad_size=1),
        lambda x: nd.LRN(x, nsize=3, alpha=0.3),
        lambda x: nd.UpSampling(x, scale=2, sample_type="nearest"),
    ],
)
def test_gradients_are_differences(function: Any) -> None:
    rng = onp.random.default_rng(1)
    x, direction = rng.uniform(-1, 1, (1, 3, 4, 5)), rng.standard_normal((1, 3, 4, 5))
    data = nd.array(x, dtype="float64")
    data.attach_grad()
    with autograd.record():
        result = function(data)
        total = (result * result).sum()
    total.backward()

    def value(moved: Any) -> float:
        out = function(nd.array(moved, dtype="float64")).asnumpy()
        return float((out * out).sum())

    step = 1e-6
    wanted = (value(x + step * direction) - value(x - step * direction)) / (2 * step)
    assert float((data.grad.asnumpy() * direction).sum()) == pytest.approx(wanted, rel=1e-4)


def test_what_is_no_number_is_not_the_greatest() -> None:
    x = onp.full((1, 4, 2, 2), onp.nan, "float32")
    x[0, 1, 1, 0], x[0, 2], x[0, 3, 0, 1] = 3, -onp.inf, onp.inf
    data = nd.array(x)
    data.attach_grad()
    with autograd.record():
        result = nd.Pooling(data, kernel=(2, 2))
    result.backward()
    lowest = float(onp.finfo("float32").min)
    assert result.asnumpy().ravel().tolist() == [lowest, 3, lowest, onp.inf]
    assert onp.flatnonzero(data.grad.asnumpy()).tolist() == [6, 13]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    ("kernel", "stride", "pad"),
    [(2, 2, 0), (3, 2, 0), (3, 2, 1), (3, 1, 1), (5, 2, 2), (4, 1, 0), (2, 3, 0)],
)
def test_gradients_go_to_the_first_of_equals(
    kernel: int, stride: int, pad: int, dtype: str
) -> None:
    """In windows of all kinds over large images, with numbers that are none and infinities."""
    rng = onp.random.default_rng(kernel)
    x = rng.choice(onp.array([-onp.inf, -2, -1, 0, 1, onp.inf, onp.nan]), (2, 3, 53, 117))
    x[1] = rng.choice(onp.array([-onp.inf, onp.nan, -5]), x[1].shape, p=[0.5, 0.45, 0.05])
    edges = (0, 0), (0, 0), (pad, pad), (pad, pad)
    seen = onp.pad(x, edges, constant_values=onp.nan)
    places = onp.pad(onp.arange(x.size).reshape(x.shape), edges)

    def flat_windows(array: Any) -> Any:
        windows = onp.lib.stride_tricks.sliding_window_view(array, (kernel, kernel), (2, 3))
        windows = windows[:, :, ::stride, ::stride]
        return windows.reshape(*windows.shape[:4], kernel * kernel)

    values = onp.nan_to_num(flat_windows(seen), nan=-onp.inf, posinf=onp.inf, neginf=-onp.inf)
    first = values.argmax(-1)[..., None]
    weights = rng.integers(1, 5, first.shape)
    wanted = onp.zeros(x.size)
    has_one = onp.take_along_axis(values, first, -1) > -onp.inf
    winners = onp.take_along_axis(flat_windows(places), first, -1)
    onp.add.at(wanted, winners[has_one], weights[has_one])

    def pool(data: Any) -> Any:
        return nd.Pooling(data, kernel=(kernel,) * 2, stride=(stride,) * 2, pad=(pad,) * 2)

    data = nd.array(x, dtype=dtype)
    turned = nd.array(x.swapaxes(2, 3), dtype=dtype)
    head = nd.array(weights[..., 0], dtype=dtype)
    block = gluon.nn.HybridLambda(
        lambda F, data: F.Pooling(data, kernel=(kernel,) * 2, stride=(stride,) * 2, pad=(pad,) * 2)
    )
    block.hybridize()
    for given, call in (data, pool), (turned, lambda one: pool(one.swapaxes(2, 3))), (data, block):
        given.attach_grad()
        with autograd.record():
            result = call(given)
        result.backward(head)
        found = given.grad.asnumpy()
        found = found.swapaxes(2, 3) if given is turned else found
        onp.testing.assert_array_equal(found.ravel(), wanted)
        onp.testing.assert_array_equal(result.asnumpy(), pool(data).asnumpy())


def test_npx_has_them_too() -> None:
    x = np.arange(16).reshape(1, 1, 4, 4)
    result = npx.pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="avg")
    assert isinstance(result, np.ndarray)
    assert result.asnumpy().ravel().tolist() == [2.5, 4.5, 10.5, 12.5]
    rois = np.array([[0, 0, 0, 3, 3]])
    pooled = npx.roi_pooling(x, rois, pooled_size=(1, 2), spatial_scale=1)
    assert pooled.asnumpy().ravel().tolist() == [13, 15]


def test_resize_like() -> None:
    x, like = nd.random.uniform(shape=(1, 2, 4, 5)), nd.zeros((3, 1, 6, 2))
    found = nd.contrib.BilinearResize2D(x, like, mode="like")
    wanted = nd.contrib.BilinearResize2D(x, height=6, width=2)
    assert onp.array_equal(found.asnumpy(), wanted.asnumpy())


IMAGE = nd.ones((1, 2, 5, 5))


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda: nd.Pooling(IMAGE, kernel=(7, 7)), r"kernel \(7, 7\) exceeds data"),
        (lambda: nd.Pooling(IMAGE, kernel=(2,)), "does not fit the kernel"),
        (lambda: nd.Pooling(IMAGE), "does not fit the kernel"),
        (lambda: nd.Pooling(IMAGE, kernel=(0, 1)), "must be positive"),
        (lambda: nd.Pooling(IMAGE, kernel=(2, 2), pad=(-1, 0)), "must not be negative"),
        (lambda: nd.Pooling(IMAGE, kernel=(2, 2), stride=(1,)), "needs as many numbers"),
        (lambda: nd.Pooling(IMAGE, kernel=(2, 2), layout="NCW"), "does not fit the layout NCW"),
        (lambda: nd.Pooling(nd.ones((2, 5)), kernel=(2,)), "3 to 5 dimensions"),
        (lambda: nd.Pooling(IMAGE, kernel=(2, 2), pool_type="lp"), "needs p_value"),
        (lambda: nd.Pooling(IMAGE, kernel=(2, 2), pool_type="lp", p_value=4), "must be 1, 2 or 3"),
        (lambda: nd.Pooling(IMAGE.astype("int32"), kernel=(2, 2)), "needs float16"),
        (lambda: nd.contrib.AdaptiveAvgPooling2D(nd.ones((1, 2, 3))), "needs 4 dimensions"),
        (lambda: nd.LRN(nd.ones((1, 2, 3)), nsize=3), "needs data of 4 dimensions"),
        (lambda: nd.LRN(IMAGE, nsize=0), "must be positive"),
        (
            lambda: nd.ROIPooling(IMAGE, nd.ones((1, 4)), pooled_size=(2, 2), spatial_scale=1),
            "5 numbers in each row",
        ),
        (
            lambda: nd.contrib.ROIAlign(
                IMAGE, nd.ones((1, 5)), pooled_size=(2, 2), spatial_scale=1, position_sensitive=True
            ),
            "needs a multiple of 4",
        ),
        (lambda: nd.UpSampling(nd.ones((1, 2, 3)), scale=2, sample_type="nearest"), "4 dimensions"),
        (
            lambda: nd.UpSampling(IMAGE, nd.ones((1, 2, 3, 3)), scale=2, sample_type="nearest"),
            "does not divide",
        ),
        (lambda: nd.contrib.BilinearResize2D(IMAGE, mode="odd_scale"), "needs scale_height"),
        (lambda: nd.contrib.BilinearResize2D(IMAGE, height=0, width=2), "a height and a width"),
        (lambda: nd.GridGenerator(nd.ones((1, 5)), transform_type="affine"), "needs 6 places"),
        (lambda: nd.BilinearSampler(IMAGE, nd.ones((1, 3, 2, 2))), "needs x and y"),
        (lambda: nd.BilinearSampler(IMAGE, nd.ones((2, 2, 2, 2))), "with the batch of the data"),
        (
            lambda: nd.SpatialTransformer(
                IMAGE, nd.ones((2, 6)), target_shape=(2, 2), transform_type="affine",
                sampler_type="bilinear",
            ),
            r"loc needs shape \(1, 6\)",
        ),
        (lambda: nd.Correlation(IMAGE, IMAGE, kernel_size=2), "must be odd"),
        (lambda: nd.Correlation(IMAGE, IMAGE, max_displacement=3), "exceed data"),
        (lambda: nd.Correlation(IMAGE, nd.ones((1, 2, 5, 4))), "images of one shape"),
    ],
)  # fmt: skip
def test_errors(function: Any, text: str) -> None:
    with pytest.raises(MXNetError, match=text):
        function()


@raises_at_the_read
def test_a_region_of_no_image() -> None:
    rois = nd.array([[2, 0, 0, 3, 3]])
    result = nd.ROIPooling(IMAGE, rois, pooled_size=(2, 2), spatial_scale=1)
    with pytest.raises(MXNetError, match="not one of the 1 there are"):
        result.asnumpy()

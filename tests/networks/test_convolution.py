# SPDX-License-Identifier: Apache-2.0
"""Convolutions and their transposes: MXNet's answers, a plain reference, gradients, layouts."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, np, npx, sym
from afterglow.error import MXNetError
from tests.support import output_of

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))
from convolutions import CASES, REFUSED, answers, inputs_of  # noqa: E402

RECORDED = json.loads((GOLDEN / "convolutions.json").read_text())

Numbers = onp.ndarray[Any, Any]


@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_of_mxnet(name: str) -> None:
    found = answers(mx, name)
    for key, (shape, numbers) in RECORDED[name].items():
        assert found[key].shape == tuple(shape)
        onp.testing.assert_allclose(found[key].ravel(), numbers, rtol=1e-5, atol=1e-5, err_msg=key)


@pytest.mark.parametrize("name", [name for name in CASES if "moved" not in name])
def test_the_other_world_and_symbols_answer_the_same(name: str) -> None:
    op, _, given = CASES[name]
    arrays = inputs_of(name)
    wanted = getattr(nd, op)(*(nd.array(one, dtype=one.dtype) for one in arrays), **given)
    found = getattr(npx, op.lower())(*(np.array(one, dtype=one.dtype) for one in arrays), **given)
    assert isinstance(found, np.ndarray)
    assert onp.array_equal(found.asnumpy(), wanted.asnumpy())
    names = ["data", "weight", "bias"][: len(arrays)]
    symbol = getattr(sym, op)(*map(sym.var, names), **given)
    values = {key: nd.array(one, dtype=one.dtype) for key, one in zip(names, arrays, strict=True)}
    assert onp.array_equal(symbol.eval(**values)[0].asnumpy(), wanted.asnumpy())
    shapes = {key: one.shape for key, one in values.items()}
    assert symbol.infer_shape(**shapes)[1] == [wanted.shape]


@pytest.mark.parametrize("name", REFUSED)
def test_bad_calls_are_refused_at_once(name: str) -> None:
    op, shapes, given = REFUSED[name]
    with pytest.raises(MXNetError, match=rf"^\[{op}\] .*"):
        getattr(nd, op)(*map(nd.ones, shapes), **{"num_filter": 1, **given})


def test_types_must_be_floats_and_equal() -> None:
    x, w = nd.ones((1, 1, 4)), nd.ones((1, 1, 2), dtype="float64")
    given: dict[str, Any] = {"kernel": (2,), "num_filter": 1, "no_bias": True}
    with pytest.raises(MXNetError, match=r"\[Convolution\] inputs must have the same type"):
        nd.Convolution(x, w, **given)
    with pytest.raises(MXNetError, match=r"\[Convolution\] is defined for floats"):
        nd.Convolution(x.astype("int32"), w.astype("int32"), **given)


# --- a plain reference ---


def windows(x: Numbers, w: Numbers, given: dict[str, Any]) -> Numbers:
    """Return a convolution without bias, place by place."""
    rank, groups = x.ndim - 2, given["num_group"]
    stride, dilate, pad = given["stride"], given["dilate"], given["pad"]
    kernel, space = w.shape[2:], x.shape[2:]
    seen = [dilate[i] * (kernel[i] - 1) + 1 for i in range(rank)]
    places = [(space[i] + 2 * pad[i] - seen[i]) // stride[i] + 1 for i in range(rank)]
    result = onp.zeros((x.shape[0], w.shape[0], *places), x.dtype)
    inner, outer = w.shape[1], w.shape[0] // groups
    for place in itertools.product(*map(range, places)):
        for tap in itertools.product(*map(range, kernel)):
            at = [place[i] * stride[i] + tap[i] * dilate[i] - pad[i] for i in range(rank)]
            if any(not 0 <= at[i] < space[i] for i in range(rank)):
                continue
            for group in range(groups):
                channels = slice(group * inner, (group + 1) * inner)
                filters = slice(group * outer, (group + 1) * outer)
                part = x[(slice(None), channels, *at)] @ w[(filters, slice(None), *tap)].T
                result[(slice(None), filters, *place)] += part
    return result


def draw(random: onp.random.RandomState) -> tuple[Numbers, Numbers, Numbers, dict[str, Any]]:
    """Return data, weight, bias and parameters of a small convolution."""
    rank, groups = random.randint(1, 4), int(random.choice([1, 1, 2, 3]))
    inner, outer = int(random.choice([0, 1, 1, 2, 5])), int(random.choice([1, 2, 5, 40]))
    numbers = [random.randint(low, high, rank) for low, high in ((1, 4), (1, 4), (1, 3), (0, 3))]
    kernel, stride, dilate, pad = (tuple(map(int, one)) for one in numbers)
    least = [max(1, dilate[i] * (kernel[i] - 1) + 1 - 2 * pad[i]) for i in range(rank)]
    space = [least[i] + random.randint(0, 6) for i in range(rank)]
    x = random.randn(random.randint(0, 4), groups * inner, *space)
    w, b = random.randn(groups * outer, inner, *kernel), random.randn(groups * outer)
    given = {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad}
    return x, w, b, {**given, "num_filter": groups * outer, "num_group": groups}


@pytest.mark.parametrize("number", range(60))
def test_random_shapes(number: int, seed: int) -> None:
    random = onp.random.RandomState((seed + number) % 2**32)
    x, w, b, given = draw(random)
    dtype = ("float32", "float64")[number % 2]
    near = {"rtol": 1e-3, "atol": 1e-3} if number % 2 == 0 else {"rtol": 1e-9, "atol": 1e-9}
    arrays = [np.array(one, dtype=dtype) for one in (x, w, b)]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        result = npx.convolution(*arrays, **given)
    wanted = windows(x, w, given) + b.reshape(-1, *[1] * (x.ndim - 2))
    assert result.dtype == dtype
    assert result.shape == wanted.shape
    onp.testing.assert_allclose(result.asnumpy(), wanted, **near)
    # It is linear in each input: what a gradient gives for a step is what the step gives.
    head, steps = random.randn(*wanted.shape), [random.randn(*one.shape) for one in (x, w)]
    result.backward(np.array(head, dtype=dtype))
    for array, step, through in (
        (arrays[0], steps[0], windows(steps[0], w, given)),
        (arrays[1], steps[1], windows(x, steps[1], given)),
    ):
        found, exact = (array.grad.asnumpy() * step).sum(), (head * through).sum()
        assert found == pytest.approx(exact, rel=1e-3, abs=5e-3)
    axes = (0, *range(2, x.ndim))
    onp.testing.assert_allclose(arrays[2].grad.asnumpy(), head.sum(axis=axes), **near)
    # The transpose takes heads to where the gradient of the data is.
    if x.shape[1] == 0:
        return
    target = {"target_shape": (), "num_filter": x.shape[1]}
    reached = [
        (wanted.shape[2 + i] - 1) * given["stride"][i]
        + given["dilate"][i] * (given["kernel"][i] - 1)
        + 1
        - 2 * given["pad"][i]
        for i in range(x.ndim - 2)
    ]
    if min(reached) < 1:
        return
    adj = tuple(x.shape[2 + i] - reached[i] for i in range(x.ndim - 2))
    back = npx.deconvolution(
        np.array(head, dtype=dtype), arrays[1], **{**given, **target, "adj": adj}
    )
    assert onp.array_equal(back.asnumpy(), arrays[0].grad.asnumpy())


LARGE = [
    ("many images of few places", (40, 20, 3, 3), {"kernel": (3, 3), "num_filter": 24}),
    ("blocks of an image", (1, 8, 90, 70), {"kernel": (3, 3), "num_filter": 4}),
    ("filters cut", (1, 130, 6, 6), {"kernel": (3, 3), "num_filter": 200}),
    ("long sequence", (2, 3, 5000), {"kernel": (7,), "num_filter": 5, "stride": (2,)}),
    ("slabs", (1, 2, 300, 40), {"kernel": (3, 3), "num_filter": 48, "stride": (2, 1)}),
    ("pointwise", (3, 40, 20, 20), {"kernel": (1, 1), "num_filter": 70}),
    ("depthwise", (4, 30, 20, 21), {"kernel": (3, 3), "num_filter": 30, "num_group": 30}),
]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    ("given", "space"),
    [
        ({"kernel": (4, 4)}, (1, 1)),
        ({"kernel": (4, 2), "stride": (3, 3)}, (1, 3)),
        ({"kernel": (2, 3), "layout": "NHWC"}, (1, 1)),
        ({"kernel": (3,), "num_group": 3}, (1,)),
        ({"kernel": (2, 3, 3), "dilate": (1, 1, 2), "pad": (0, 0, 1)}, (2, 1, 3)),
        ({"kernel": (4, 4), "pad": (1, 0), "stride": (2, 1), "adj": (1, 0)}, (1, 1)),
    ],
)
def test_transposes_of_single_places(given: dict[str, Any], space: Any, bias: bool) -> None:
    """The transpose takes the steps of the gradient, from one place of an axis too."""
    random = onp.random.RandomState(3)
    last = given.get("layout", "").endswith("C")
    groups = given.get("num_group", 1)
    kernel = given["kernel"]
    x = random.randn(*((2, *space, 42) if last else (2, 42, *space)))
    w = random.randn(42, *((*kernel, 2) if last else (2, *kernel)))
    b = np.array(random.randn(2 * groups), dtype="float64")
    data, weight = (np.array(one, dtype="float64") for one in (x, w))
    more = {**given, "num_filter": 2 * groups}
    found = npx.deconvolution(data, weight, *[b] * bias, **more, no_bias=not bias).asnumpy()
    images = np.zeros(found.shape, dtype="float64")
    images.attach_grad()
    del more["num_filter"]
    more.pop("adj", None)
    with autograd.record():
        results = npx.convolution(images, weight, **more, num_filter=42, no_bias=True)
    results.backward(data)
    wanted = images.grad.asnumpy()
    if bias:
        wanted = wanted + b.asnumpy().reshape(-1, *[1] * (0 if last else len(kernel)))
        onp.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    else:
        assert onp.array_equal(found, wanted)


@pytest.mark.parametrize(("shape", "given"), [one[1:] for one in LARGE], ids=[n[0] for n in LARGE])
def test_large_ones_are_cut_rightly(shape: tuple[int, ...], given: dict[str, Any]) -> None:
    random = onp.random.RandomState(1)
    rank = len(shape) - 2
    pad = tuple(one // 2 for one in given["kernel"])
    steps = given.get("stride", (1,) * rank)
    given = {"num_group": 1, "dilate": (1,) * rank, **given, "stride": steps, "pad": pad}
    x = random.randn(*shape)
    w = random.randn(given["num_filter"], shape[1] // given["num_group"], *given["kernel"])
    arrays = [np.array(one, dtype="float64") for one in (x, w)]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        result = npx.convolution(*arrays, no_bias=True, **given)
    onp.testing.assert_allclose(result.asnumpy(), windows(x, w, given), rtol=1e-9, atol=1e-9)
    head, dx, dw = random.randn(*result.shape), random.randn(*x.shape), random.randn(*w.shape)
    result.backward(np.array(head, dtype="float64"))
    for array, step, through in (
        (arrays[0], dx, windows(dx, w, given)),
        (arrays[1], dw, windows(x, dw, given)),
    ):
        found, exact = (array.grad.asnumpy() * step).sum(), (head * through).sum()
        assert found == pytest.approx(exact, rel=1e-8, abs=1e-8)


def test_bits_do_not_depend_on_the_number_of_threads() -> None:
    script = """
import hashlib
import afterglow as mx
from afterglow import autograd, nd
mx.random.seed(3)
for shape, filters, groups in (
    ((8, 16, 20, 20), 24, 1), ((1, 64, 14, 14), 64, 1), ((6, 32, 9, 9), 32, 32),
    ((64, 6, 9, 9), 14, 1), ((150, 4, 7, 7), 6, 2)
):
    x = nd.random.normal(shape=shape)
    w = nd.random.normal(shape=(filters, shape[1] // groups, 3, 3))
    x.attach_grad(), w.attach_grad()
    with autograd.record():
        y = nd.Convolution(x, w, kernel=(3, 3), num_filter=filters, num_group=groups, no_bias=True)
    y.backward()
    for one in (y, x.grad, w.grad):
        print(hashlib.sha256(one.asnumpy().tobytes()).hexdigest())
"""
    one = output_of(script, AFTERGLOW_NUM_THREADS="1")
    assert one == output_of(script, AFTERGLOW_NUM_THREADS="3")


# --- gradients of gradients ---


@pytest.mark.parametrize("op", ["convolution", "deconvolution"])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_gradients_of_any_order(op: str, groups: int) -> None:
    random = onp.random.RandomState(groups)
    given: dict[str, Any] = {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 0), "num_group": groups}
    given = {**given, "num_filter": 4, "no_bias": True}
    arrays = [
        np.array(random.randn(*shape), dtype="float64")
        for shape in ((2, 4, 5, 4), (4, 4 // groups, 3, 2))
    ]

    def slope(at: list[Any], order: int) -> Any:
        """Return a number that derivatives of this order with respect to both inputs decide."""
        inputs = [one.copy() for one in at]
        for one in inputs:
            one.attach_grad()
        with autograd.record():
            value = (getattr(npx, op)(*inputs, **given) ** 3).sum()
            for _ in range(order):
                first, second = autograd.grad(value, inputs, create_graph=True, retain_graph=True)
                value = (first * first).sum() + (second * np.sin(second)).sum()
        return value, inputs

    for order in (0, 1):
        value, inputs = slope(arrays, order)
        value.backward()
        for i, one in enumerate(arrays):
            step = np.array(random.randn(*one.shape), dtype="float64")
            size = 1e-6
            moved = [
                float(
                    slope(
                        [a + sign * size * step if k == i else a for k, a in enumerate(arrays)],
                        order,
                    )[0]
                )
                for sign in (1, -1)
            ]
            exact = float((inputs[i].grad * step).sum())
            assert exact == pytest.approx((moved[0] - moved[1]) / (2 * size), rel=1e-5)


# --- types, layouts, sizes ---


def test_float16_is_rounded_once() -> None:
    random = onp.random.RandomState(0)
    arrays = [
        random.randn(*shape).astype("float16") for shape in ((2, 3, 6, 6), (4, 3, 3, 3), (4,))
    ]
    given: dict[str, Any] = {"kernel": (3, 3), "num_filter": 4}
    wide = nd.Convolution(*(nd.array(one, dtype="float32") for one in arrays), **given)
    narrow = nd.Convolution(*(nd.array(one, dtype="float16") for one in arrays), **given)
    assert narrow.dtype == onp.float16
    assert onp.array_equal(narrow.asnumpy(), wide.asnumpy().astype("float16"))
    x = nd.array(arrays[0], dtype="float16")
    x.attach_grad()
    with autograd.record():
        weights = [nd.array(one, dtype="float16") for one in arrays[1:]]
        nd.Convolution(x, *weights, **given).backward()
    assert x.grad.dtype == onp.float16


@pytest.mark.parametrize("op", ["Convolution", "Deconvolution"])
@pytest.mark.parametrize(
    ("layout", "space"), [("NWC", (5,)), ("NHWC", (5, 4)), ("NDHWC", (4, 3, 5))]
)
def test_channels_last(op: str, layout: str, space: tuple[int, ...]) -> None:
    random, rank = onp.random.RandomState(2), len(space)
    given: dict[str, Any] = {"kernel": (2,) * rank, "num_filter": 6, "num_group": 2}
    given = {**given, "stride": (2,) * rank, "no_bias": False}
    weight = (6, 2, *given["kernel"]) if op == "Convolution" else (4, 3, *given["kernel"])
    arrays = [random.randn(*shape) for shape in ((3, 4, *space), weight, (6,))]
    order, back = (0, *range(2, rank + 2), 1), (0, rank + 1, *range(1, rank + 1))

    def run(inputs: list[Numbers], **more: Any) -> list[Numbers]:
        taken = [nd.array(one, dtype="float64") for one in inputs]
        for one in taken:
            one.attach_grad()
        with autograd.record():
            result = getattr(nd, op)(*taken, **given, **more)
            loss = (result * result).sum()
        loss.backward()
        return [result.asnumpy(), *(one.grad.asnumpy() for one in taken)]

    first = run(arrays)
    last = run([arrays[0].transpose(order), arrays[1].transpose(order), arrays[2]], layout=layout)
    for one, other in zip(first, last, strict=True):
        placed = other.transpose(back) if other.ndim > 1 else other
        onp.testing.assert_allclose(one, placed, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(0, 3, 5, 5), (2, 0, 5, 5), (0, 0, 5, 5)])
def test_nothing_at_all(shape: tuple[int, ...]) -> None:
    x, w, b = np.ones(shape), np.ones((4, shape[1], 3, 3)), np.arange(4)
    b = b.astype("float32")
    for one in (x, w, b):
        one.attach_grad()
    with autograd.record():
        result = npx.convolution(x, w, b, kernel=(3, 3), num_filter=4)
    result.backward()
    assert result.shape == (shape[0], 4, 3, 3)
    assert onp.array_equal(result.asnumpy(), onp.zeros(result.shape) + b.asnumpy()[:, None, None])
    assert x.grad.shape == shape
    assert not w.grad.asnumpy().any()


@pytest.mark.parametrize(("groups", "filters"), [(2, 2), (2, 8), (1, 5)])
def test_what_other_calls_left_behind_is_not_met(groups: int, filters: int) -> None:
    def recorded(images: int, value: float) -> tuple[Any, Any]:
        x, w = nd.full((images, 2, 4, 6), value), nd.ones((filters, 2 // groups, 5, 5))
        w.attach_grad()
        with autograd.record():
            y = nd.Convolution(x, w, kernel=(5, 5), stride=(3, 3), pad=(1, 1), no_bias=True,
                               num_filter=filters, num_group=groups)  # fmt: skip
        return y, w

    (other, _), (y, w) = recorded(8, onp.nan), recorded(1, 1.0)
    for _ in range(8):  # whichever thread computes
        other.backward(retain_graph=True)
        nd.waitall()
        y.backward(retain_graph=True)
        assert onp.isfinite(w.grad.asnumpy()).all()


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_windows_as_large_as_the_image(layout: str) -> None:
    random = onp.random.RandomState(1)
    shape = (2, 3, 150, 140) if layout == "NCHW" else (2, 150, 140, 3)
    host, filters = random.randn(*shape), random.randn(20, *shape[1:])
    x, w, b = nd.array(host), nd.array(filters), nd.arange(20)
    for one in (x, w, b):
        one.attach_grad()
    with autograd.record():
        y = nd.Convolution(x, w, b, kernel=(150, 140), num_filter=20, layout=layout)
    y.backward()
    found = y.asnumpy()
    assert found.shape == ((2, 20, 1, 1) if layout == "NCHW" else (2, 1, 1, 20))
    wanted = onp.einsum("nabc,fabc->nf", host, filters) + onp.arange(20)
    onp.testing.assert_allclose(found.reshape(2, 20), wanted, rtol=1e-4, atol=1e-2)
    onp.testing.assert_allclose(x.grad.asnumpy()[1], filters.sum(0), rtol=1e-4, atol=1e-4)
    onp.testing.assert_allclose(w.grad.asnumpy()[7], host.sum(0), rtol=1e-4, atol=1e-4)
    assert b.grad.asnumpy().tolist() == [2] * 20


@pytest.mark.parametrize(
    ("space", "kernel", "stride"),
    [
        ((9, 5), (3, 5), (1, 1)),
        ((5, 9), (5, 3), (1, 2)),
        ((4, 4), (4, 4), (2, 2)),
        ((5,), (5,), (1,)),
        ((3, 7, 4), (3, 2, 4), (1, 3, 1)),
    ],
)
@pytest.mark.parametrize("groups", [1, 2])
def test_gradients_where_windows_see_all_of_an_axis(
    space: tuple[int, ...], kernel: tuple[int, ...], stride: tuple[int, ...], groups: int
) -> None:
    random, rank = onp.random.RandomState(2), len(space)
    host, filters = random.randn(3, 4, *space), random.randn(6, 4 // groups, *kernel)
    x, w = nd.array(host, dtype="float64"), nd.array(filters, dtype="float64")
    given = {"kernel": kernel, "stride": stride, "num_group": groups}
    x.attach_grad()
    with autograd.record():
        y = nd.Convolution(x, w, num_filter=6, no_bias=True, **given)
        (slope,) = autograd.grad(y * y, [x], create_graph=True)
        total = (slope * slope).sum()
    total.backward()
    given |= {"dilate": (1,) * rank, "pad": (0,) * rank}
    turned = onp.zeros((host[0].size, host[0].size))  # the convolution of an image, as a matrix
    for number, one in enumerate(onp.eye(host[0].size).reshape(-1, 1, *host.shape[1:])):
        seen = windows(one, filters, given).ravel()
        turned[: seen.size, number] = seen
    once = 2 * host.reshape(3, -1) @ turned.T @ turned
    onp.testing.assert_allclose(slope.asnumpy().reshape(3, -1), once, rtol=1e-9, atol=1e-9)
    twice = 4 * once @ turned.T @ turned
    onp.testing.assert_allclose(x.grad.asnumpy().reshape(3, -1), twice, rtol=1e-9, atol=1e-9)


def test_a_negative_pad_cuts() -> None:
    x, w = nd.arange(8).reshape((1, 1, 8)), nd.ones((1, 1, 2))
    given: dict[str, Any] = {"kernel": (2,), "num_filter": 1, "no_bias": True}
    found = nd.Convolution(x, w, pad=(-2,), **given)
    assert found.asnumpy().ravel().tolist() == [5, 7, 9]


# --- windows that are moved ---


def test_windows_that_are_not_moved_give_a_convolution() -> None:
    random = onp.random.RandomState(4)
    x, w = nd.array(random.randn(2, 4, 6, 5)), nd.array(random.randn(6, 2, 3, 3))
    given: dict[str, Any] = {"kernel": (3, 3), "num_filter": 6, "num_group": 2, "pad": (1, 1)}
    given = {**given, "stride": (2, 1), "no_bias": True}
    wanted = nd.Convolution(x, w, **given).asnumpy()
    offset, mask = nd.zeros((2, 18, 3, 5)), nd.ones((2, 9, 3, 5))
    found = [
        nd.contrib.DeformableConvolution(x, offset, w, **given),
        nd.contrib.ModulatedDeformableConvolution(x, offset, mask, w, **given),
        nd.contrib.ModulatedDeformableConvolution(x, offset, mask * 2, w, **given) / 2,
    ]
    for one in found:
        onp.testing.assert_allclose(one.asnumpy(), wanted, rtol=1e-4, atol=1e-5)


def test_pixels_outside_of_modulated_windows_are_zero() -> None:
    """As MXNet answers; its gradient is not there on a CPU."""
    x, w = nd.arange(1, 10).reshape((1, 1, 3, 3)), nd.ones((1, 1, 1, 1))
    offset, mask = nd.zeros((1, 2, 3, 3)) - 0.25, nd.ones((1, 1, 3, 3)) / 2
    given: dict[str, Any] = {"kernel": (1, 1), "num_filter": 1, "no_bias": True}
    found = nd.contrib.ModulatedDeformableConvolution(x, offset, mask, w, **given)
    wanted = [0.28125, 0.65625, 1.03125, 1.21875, 2.0, 2.5, 2.34375, 3.5, 4.0]
    assert found.asnumpy().ravel().tolist() == wanted


@pytest.mark.parametrize("masked", [False, True])
def test_gradients_of_moved_windows(masked: bool) -> None:
    random = onp.random.RandomState(5)
    shapes = [(2, 2, 5, 4), (2, 16, 4, 3), (2, 8, 4, 3), (3, 2, 2, 2), (3,)]
    values = [random.randn(*shape) for shape in shapes]
    values[1] = random.uniform(0.1, 0.4, shapes[1])  # between pixels, where it is smooth
    if not masked:
        del values[2]
    name = "ModulatedDeformableConvolution" if masked else "DeformableConvolution"
    given: dict[str, Any] = {"kernel": (2, 2), "num_filter": 3, "num_deformable_group": 2}

    def loss(arrays: list[Any]) -> Any:
        result = getattr(nd.contrib, name)(*arrays, **given)
        return (result * result).sum()

    arrays = [nd.array(one, dtype="float64") for one in values]
    for one in arrays:
        one.attach_grad()
    with autograd.record():
        value = loss(arrays)
    value.backward()
    for i, one in enumerate(arrays):
        step, size = nd.array(random.randn(*one.shape), dtype="float64"), 1e-6
        moved = [
            [a + sign * size * step if k == i else a for k, a in enumerate(arrays)]
            for sign in (1, -1)
        ]
        slope = (loss(moved[0]) - loss(moved[1])).asscalar() / (2 * size)
        assert (one.grad * step).sum().asscalar() == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize(
    ("shapes", "more", "text"),
    [
        ([(1, 2, 4, 4), (1, 8, 3, 3), (1, 2, 2, 2)], {"kernel": (2,)}, "need two numbers"),
        ([(1, 2, 4, 4), (1, 4, 3, 3), (1, 2, 2, 2)], {}, "offset needs shape"),
        ([(1, 2, 4, 4), (1, 8, 3, 3), (1, 1, 2, 2)], {}, "weight needs shape"),
        (
            [(1, 2, 4, 4), (1, 8, 3, 3), (1, 2, 2, 2)],
            {"num_deformable_group": 3},
            "3 does not divide",
        ),
        ([(1, 2, 1, 4), (1, 8, 3, 3), (1, 2, 2, 2)], {}, "exceeds data"),
    ],
)
def test_bad_moved_windows(shapes: list[tuple[int, ...]], more: dict[str, Any], text: str) -> None:
    given: dict[str, Any] = {"kernel": (2, 2), "num_filter": 1, "no_bias": True, **more}
    with pytest.raises(MXNetError, match=rf"\[DeformableConvolution\] .*{text}"):
        nd.contrib.DeformableConvolution(*map(nd.ones, shapes), **given)


# --- in networks ---


def test_an_activation_changes_no_bits() -> None:
    x, w, b = (
        nd.random.normal(shape=(3, 5, 40, 30)),
        nd.random.normal(shape=(9, 5, 3, 3)),
        nd.ones(9),
    )
    given: dict[str, Any] = {"kernel": (3, 3), "num_filter": 9, "pad": (1, 1)}
    apart = nd.Convolution(x, w, b, **given)
    apart.wait_to_read()
    apart = nd.relu(apart) * 2
    together = nd.relu(nd.Convolution(x, w, b, **given)) * 2
    assert onp.array_equal(together.asnumpy(), apart.asnumpy())


def test_a_net_learns_hybridized_or_not() -> None:
    """A net with steps, groups and a transposed convolution learns to give back its input."""

    def losses(hybridize: bool) -> list[float]:
        mx.random.seed(7)
        net = gluon.nn.HybridSequential(prefix="net_")
        with net.name_scope():
            net.add(
                gluon.nn.Conv2D(8, 3, strides=2, padding=1, activation="relu"),
                gluon.nn.Conv2D(8, 3, padding=1, groups=8),
                gluon.nn.Conv2D(8, 1, activation="relu"),
                gluon.nn.Conv2DTranspose(2, 4, strides=2, padding=1),
            )
        net.initialize(mx.init.Xavier())
        if hybridize:
            net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
        x = nd.random.uniform(shape=(4, 2, 8, 8))
        found = []
        for _ in range(12):
            with autograd.record():
                loss = ((net(x) - x) ** 2).mean()
            loss.backward()
            trainer.step(1)
            found.append(float(loss.asscalar()))
        return found

    plain = losses(False)
    assert plain[-1] < plain[0] / 2
    assert losses(True) == plain


@pytest.mark.parametrize("name", ["Conv1D", "Conv2D", "Conv3D"])
def test_layers_of_other_numbers(name: str) -> None:
    kind, rank = getattr(gluon.nn, name), int(name[4])
    with pytest.raises(AssertionError, match=rf"\[{name}\] kernel_size is"):
        kind(4, (3,) * (rank + 1))
    with pytest.raises(AssertionError, match=rf"\[{name}\] layout is 'CN'"):
        kind(4, 3, layout="CN")
    with pytest.raises(MXNetError, match="both must be multiples of groups"):
        kind(4, 3, in_channels=3, groups=2)
    layer = kind(4, 3, in_channels=2, groups=2, use_bias=False, padding=1, activation="tanh")
    assert layer.weight.shape == (4, 1, *(3,) * rank)
    ones, threes = (1,) * rank, (3,) * rank
    assert repr(layer) == (
        f"{name}(1 -> 4, kernel_size={threes}, stride={ones}, padding={ones}, groups=2, "
        "bias=False, Activation(tanh))"
    )
    layer = getattr(gluon.nn, f"{name}Transpose")(4, 3, output_padding=1, strides=2)
    assert layer.outpad == ones
    assert layer.weight.shape == (0, 4, *threes)
    assert repr(layer).startswith(f"{name}Transpose(4 -> 0, ")

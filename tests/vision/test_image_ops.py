# SPDX-License-Identifier: Apache-2.0
"""Functions of images, beside MXNet's answers and what they mean."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, nd, np, npx, sym
from tests.golden.images import CASES, answer

RECORDED = json.loads((Path(__file__).parents[1] / "golden" / "images.json").read_text())
SEED = 5


def pixels(shape: tuple[int, ...], dtype: str = "uint8") -> onp.ndarray[Any, Any]:
    return onp.random.RandomState(SEED).randint(0, 256, shape).astype(dtype)


@pytest.mark.parametrize("world", ["nd", "np"])
@pytest.mark.parametrize("name", CASES)
def test_recorded_answers(name: str, world: str) -> None:
    dtype, shape, values = RECORDED[name]
    result = answer(mx, name, world == "np")
    assert (str(result.dtype), list(result.shape)) == (dtype, shape)
    if dtype == "uint8":
        expected = onp.frombuffer(bytes.fromhex(values), "uint8").reshape(shape)
        # Fractions are cut off, and MXNet's sums are a little less exact than ours.
        off = 1 if name.startswith(("random_contrast", "random_hue")) else 0
        assert onp.abs(result.astype(int) - expected).max() <= off
    else:
        precision = 2e-3 if dtype == "float16" else 1e-5 if "hue" in name else 2e-6
        expected = onp.array(values).reshape(shape)
        onp.testing.assert_allclose(result, expected, rtol=precision, atol=precision * 256)


# --- what functions mean ---


def test_middle_of_odd_sizes_stays() -> None:
    given = pixels((5, 7, 3))
    onp.testing.assert_array_equal(nd.image.flip_left_right(nd.array(given)), given[:, ::-1])
    onp.testing.assert_array_equal(nd.image.flip_top_bottom(nd.array(given)), given[::-1])


def test_batches_are_images_one_by_one() -> None:
    given = np.array(pixels((3, 6, 5, 3)), dtype="uint8")
    for name, arguments in {
        "flip_left_right": (),
        "flip_top_bottom": (),
        "crop": (1, 2, 3, 4),
        "resize": ((4, 9),),
        "to_tensor": (),
        "random_contrast": (1.5, 1.5),
        "random_hue": (0.3, 0.3),
        "adjust_lighting": ((0.5, -0.2, 1),),
    }.items():
        function = getattr(npx.image, name)
        whole = function(given, *arguments)
        onp.testing.assert_array_equal(
            whole, onp.stack([function(one, *arguments).asnumpy() for one in given]), name
        )


@pytest.mark.parametrize("axis", [0, 1])
def test_random_flips(axis: int) -> None:
    mx.random.seed(SEED)
    name = ("random_flip_top_bottom", "random_flip_left_right")[axis]
    given = pixels((300, 2, 3, 3))
    results = getattr(npx.image, name)(np.array(given, dtype="uint8")).asnumpy()
    flipped = onp.flip(given, axis + 1)
    assert results.dtype == "uint8"
    turned = (results == flipped).all((1, 2, 3))
    assert ((results == given).all((1, 2, 3)) | turned).all()
    assert 100 < turned.sum() < 200
    one = [getattr(nd.image, name)(nd.array(given[0])).asnumpy() for _ in range(30)]
    assert len({result.tobytes() for result in one}) == 2


def saturated(given: onp.ndarray[Any, Any], factor: float) -> onp.ndarray[Any, Any]:
    grey = given.astype("float64") @ [0.299, 0.587, 0.114]
    result: onp.ndarray[Any, Any] = grey[..., None] * (1 - factor) + given * factor
    return result


@pytest.mark.parametrize("factor", [0, 0.4, 1, 1.7])
def test_saturation_is_a_way_from_grey(factor: float) -> None:
    given = pixels((19, 23, 3))
    expected = saturated(given, factor)
    result = nd.image.random_saturation(nd.array(given, dtype="float32"), factor, factor)
    onp.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-5, atol=1e-3)
    of_bytes = nd.image.random_saturation(nd.array(given, dtype="uint8"), factor, factor)
    cut = onp.clip(expected, 0, 255).astype(int)
    assert onp.abs(of_bytes.asnumpy().astype(int) - cut).max() <= 1


def test_factors_are_drawn_for_each_image() -> None:
    mx.random.seed(SEED)
    ones = nd.ones((500, 1, 2, 3))
    factors = nd.image.random_brightness(ones, 0.5, 1.5).asnumpy()
    assert (factors == factors[:, :1, :1, :1]).all()
    drawn = factors[:, 0, 0, 0]
    assert drawn.min() >= 0.5
    assert drawn.max() < 1.5
    assert abs(drawn.mean() - 1) < 0.05
    again = nd.image.random_brightness(ones, 0.5, 1.5).asnumpy()
    assert (again != factors).any()
    mx.random.seed(SEED)
    onp.testing.assert_array_equal(nd.image.random_brightness(ones, 0.5, 1.5), factors)


def test_jitter_changes_what_it_is_asked_for() -> None:
    mx.random.seed(SEED)
    given = nd.array(pixels((4, 5, 3)), dtype="float32") + 1
    onp.testing.assert_array_equal(nd.image.random_color_jitter(given, 0, 0, 0, 0), given)
    brighter = nd.image.random_color_jitter(given, 0.5, 0, 0, 0).asnumpy() / given.asnumpy()
    assert brighter.max() - brighter.min() < 1e-5
    assert 0.5 <= brighter.mean() <= 1.5
    turned = nd.image.random_color_jitter(given, 0, 0, 0, 0.4).asnumpy()
    for function in (onp.max, onp.min):
        onp.testing.assert_allclose(
            function(turned, 2), function(given.asnumpy(), 2), rtol=1e-5, atol=1e-3
        )


def test_order_of_jitter_is_drawn() -> None:
    """A dark grey pixel that is much brighter first ends in white, and otherwise does not."""
    mx.random.seed(SEED)
    given = nd.array([[[100.0], [200.0]]]).astype("uint8")
    seen = set()
    for _ in range(200):
        bright = nd.image.random_color_jitter(given, 0.9, 0.9, 0, 0).asnumpy().ravel()
        seen.add(tuple(bright))
    assert len(seen) > 150


def test_lighting_is_drawn() -> None:
    mx.random.seed(SEED)
    black = nd.zeros((2000, 1, 1, 3))
    light = nd.image.random_lighting(black, 0.1).asnumpy().reshape(2000, 3)
    directions = onp.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140],
                            [-0.5836, -0.6948, 0.4203]]) * [55.46, 4.794, 1.148]  # fmt: skip
    strengths = onp.linalg.solve(directions, light.T)
    assert abs(strengths.mean()) < 0.01
    onp.testing.assert_allclose(strengths.std(1), 0.1, rtol=0.1)
    grey = nd.array(pixels((3, 4, 1)))
    onp.testing.assert_array_equal(nd.image.random_lighting(grey, 1), grey)


def test_numbers_beyond_a_type_are_its_last() -> None:
    given = nd.array([[[100, -100, 50]]], dtype="int8")
    assert nd.image.random_brightness(given, 2, 2).asnumpy().ravel().tolist() == [127, -128, 100]
    large = nd.array([[[2**30, -(2**30), 1]]], dtype="int32")
    result = nd.image.random_brightness(large, 4, 4).asnumpy().ravel().tolist()
    assert result == [2**31 - 1, -(2**31), 4]
    tensor = nd.array([[[3]], [[250]]], dtype="uint8")
    assert nd.image.normalize(tensor, 10, 0.5).asnumpy().ravel().tolist() == [0, 255]


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("way", range(5))
def test_sizes_of_every_kind(way: int, dtype: str) -> None:
    """Constant images stay constant, whatever the sizes; a batch is its images."""
    generator = onp.random.RandomState(SEED + way)
    for _ in range(30):
        height, width, rows, columns = (int(one) for one in generator.randint(1, 30, 4))
        channels = int(generator.randint(1, 6))
        flat = nd.full((2, height, width, channels), 77, dtype=dtype)
        result = nd.image.resize(flat, (columns, rows), interp=way)
        assert result.shape == (2, rows, columns, channels)
        tolerance = 1 if dtype == "uint8" else 77e-6
        assert abs(result.asnumpy().astype("float64") - 77).max() <= tolerance
        given = nd.array(generator.randint(0, 256, (2, height, width, channels)), dtype=dtype)
        both = nd.image.resize(given, (columns, rows), interp=way)
        for place in range(2):
            alone = nd.image.resize(given[place], (columns, rows), interp=way)
            onp.testing.assert_array_equal(both[place], alone)


def test_large_images_in_several_shares() -> None:
    """Bits do not depend on how the rows are dealt out."""
    given = pixels((700, 500, 3))
    part = nd.array(given[:350], dtype="uint8")
    whole = nd.array(given, dtype="uint8")
    half = nd.image.resize(part, (900, 700), interp=2).asnumpy()
    onp.testing.assert_array_equal(nd.image.resize(whole, (900, 1400), interp=2)[:690], half[:690])
    brighter = nd.image.random_brightness(whole, 1.5, 1.5).asnumpy()
    onp.testing.assert_array_equal(brighter, onp.minimum(given * 1.5, 255).astype("uint8"))
    result = nd.image.random_saturation(whole, 0.5, 0.5).asnumpy().astype(int)
    assert abs(result - saturated(given, 0.5).astype(int)).max() <= 1


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3), (0, 4, 5, 3), (2, 0, 5, 1)])
def test_nothing(shape: tuple[int, ...]) -> None:
    empty = np.zeros(shape, dtype="uint8")
    for result in (
        npx.image.random_contrast(empty, 1, 2),
        npx.image.random_hue(empty, 0, 1),
        npx.image.random_flip_left_right(empty),
        npx.image.flip_top_bottom(empty),
        npx.image.random_lighting(empty),
        npx.image.random_color_jitter(empty, 0.1, 0.1, 0.1, 0.1),
    ):
        assert result.shape == shape
    moved = (*shape[:-3], shape[-1], *shape[-3:-1])
    assert npx.image.to_tensor(empty).shape == moved
    assert npx.image.normalize(np.zeros(moved), 1, 2).shape == moved
    nowhere = shape[-3] and shape[-2]
    if nowhere:
        assert npx.image.resize(empty, (3, 2)).shape == (0, 2, 3, shape[-1])


# --- gradients ---


@pytest.mark.parametrize("name", ["to_tensor", "normalize", "crop", "flip_left_right"])
def test_gradients(name: str) -> None:
    arguments: dict[str, Any] = {
        "normalize": {"mean": (1, 2, 3), "std": (2, 4, 0.5)},
        "crop": {"x": 1, "y": 0, "width": 2, "height": 3},
    }.get(name, {})
    shape = (3, 4, 5) if name == "normalize" else (4, 5, 3)
    x = np.array(pixels(shape, "float32"))
    x.attach_grad()
    with autograd.record():
        y = getattr(npx.image, name)(x, **arguments)
    heads = onp.random.RandomState(SEED).normal(size=y.shape).astype("float32")
    y.backward(np.array(heads))
    if name == "to_tensor":
        expected = heads.transpose(1, 2, 0) / 255
    elif name == "normalize":
        expected = heads / onp.array([2, 4, 0.5]).reshape(3, 1, 1)
    elif name == "crop":
        expected = onp.zeros(shape)
        expected[0:3, 1:3] = heads
    else:
        expected = heads[:, ::-1]
    onp.testing.assert_allclose(x.grad, expected, rtol=1e-6)


def test_gradient_of_a_random_flip_goes_back() -> None:
    x = nd.arange(60).reshape((10, 2, 3, 1))
    x.attach_grad()
    with autograd.record():
        y = nd.image.random_flip_left_right(x)
        total = (y * nd.arange(60).reshape((10, 2, 3, 1))).sum()
    total.backward()
    same = (y.asnumpy() == x.asnumpy()).all((1, 2, 3))
    weights = onp.arange(60).reshape(10, 2, 3, 1)
    onp.testing.assert_array_equal(
        x.grad, onp.where(same[:, None, None, None], weights, weights[:, :, ::-1])
    )


def test_colours_let_gradients_through() -> None:
    x = nd.array(pixels((2, 3, 3), "float32"))
    x.attach_grad()
    for function in (
        lambda: nd.image.random_brightness(x, 2, 2),
        lambda: nd.image.random_color_jitter(x, 0.1, 0.1, 0.1, 0.1),
        lambda: nd.image.adjust_lighting(x, (1, 2, 3)),
    ):
        with autograd.record():
            y = function()
        y.backward()
        onp.testing.assert_array_equal(x.grad, onp.ones((2, 3, 3)))


# --- mistakes ---


@pytest.mark.parametrize(
    ("function", "shape", "arguments", "text"),
    [
        ("to_tensor", (3, 4), {}, "height, width and channels"),
        ("normalize", (3, 4), {}, "channels, height and width"),
        ("normalize", (3, 4, 5), {"mean": (1, 2)}, "one for each of 3 channels"),
        ("normalize", (5, 4, 4), {"mean": (1, 2, 3, 4, 5)}, "more than 4"),
        ("crop", (4, 5, 3), {"x": 3, "y": 0, "width": 3, "height": 1}, "must lie within"),
        ("crop", (4, 5, 3), {"x": -1, "y": 0, "width": 3, "height": 1}, "must lie within"),
        ("crop", (4, 5, 3), {"x": 0, "y": 0, "width": 0, "height": 1}, "must lie within"),
        ("crop", (4, 5), {"x": 0, "y": 0, "width": 1, "height": 1}, "height, width and channels"),
        ("resize", (4, 5, 3), {}, "one or two positive numbers"),
        ("resize", (4, 5, 3), {"size": 0}, "one or two positive numbers"),
        ("resize", (4, 5, 3), {"size": (1, 2, 3)}, "one or two positive numbers"),
        ("resize", (4, 5, 3), {"size": 3, "interp": 9}, "must be 0 to 4"),
        ("resize", (4, 5), {"size": 3}, "height, width and channels"),
        ("resize", (0, 5, 3), {"size": 3}, "a height and a width"),
        ("flip_left_right", (4, 5), {}, "height, width and channels"),
        ("random_flip_top_bottom", (4,), {}, "height, width and channels"),
        ("random_brightness", (4, 5, 2), {"min_factor": 1, "max_factor": 1}, "1 or 3 channels"),
        ("random_brightness", (4, 5, 3), {"min_factor": -1, "max_factor": 1}, "not be negative"),
        ("adjust_lighting", (4, 5, 3), {"alpha": (1, 2)}, "3 are needed"),
    ],
)
def test_mistakes(
    function: str, shape: tuple[int, ...], arguments: dict[str, Any], text: str
) -> None:
    with pytest.raises(mx.MXNetError, match=text):
        getattr(nd.image, function)(nd.zeros(shape), **arguments)


def test_types() -> None:
    with pytest.raises(mx.MXNetError, match="uint8, float32 or float64"):
        nd.image.resize(nd.zeros((2, 2, 3), dtype="float16"), 3)
    with pytest.raises(mx.MXNetError, match="needs min_factor"):
        nd.image.random_brightness(nd.zeros((2, 2, 3)))
    half = nd.image.to_tensor(nd.full((1, 1, 1), 51, dtype="float16"))
    assert half.dtype == onp.float32
    assert math.isclose(half.asscalar(), 0.2, rel_tol=1e-6)


# --- graphs ---


def test_symbols() -> None:
    data = sym.var("data")
    tensor = sym.image.to_tensor(sym.image.resize(data, size=(4, 3)))
    graph = sym.image.normalize(tensor, mean=(0.5, 0.5, 0.5), std=0.25)
    assert [node["op"] for node in json.loads(graph.tojson())["nodes"]] == [
        "null", "_image_resize", "_image_to_tensor", "_image_normalize"
    ]  # fmt: skip
    assert graph.infer_shape(data=(6, 7, 3))[1] == [(3, 3, 4)]
    given = nd.array(pixels((6, 7, 3)), dtype="uint8")
    loaded = sym.load_json(graph.tojson())
    (result,) = loaded.bind(mx.cpu(), {"data": given}).forward()
    small = nd.image.to_tensor(nd.image.resize(given, (4, 3)))
    onp.testing.assert_array_equal(result, nd.image.normalize(small, (0.5, 0.5, 0.5), 0.25))
    other = sym.npx.image.to_tensor(sym.np.exp(sym.var("x").as_np_ndarray()))
    assert isinstance(other, type(sym.var("x").as_np_ndarray()))


def test_names_of_nodes() -> None:
    with mx.name.NameManager():
        assert sym.image.to_tensor(sym.var("x")).name == "to_tensor0"

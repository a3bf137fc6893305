# SPDX-License-Identifier: Apache-2.0
"""Transforms of images: of both kinds of arrays, as symbols, and on their way to workers."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import gluon, image, nd, np, sym
from afterglow.gluon import nn
from afterglow.gluon.data.vision import transforms

SEED = 3
BYTES = onp.random.RandomState(SEED).randint(0, 256, (12, 9, 3)).astype("uint8")
TENSOR = (BYTES.transpose(2, 0, 1) / 255).astype("float32")

#: How each is made, what it is given, and the shape of its answer.
CASES: dict[str, tuple[Callable[[], Any], Any, tuple[int, ...]]] = {
    "Cast": (lambda: transforms.Cast("float64"), BYTES, (12, 9, 3)),
    "CenterCrop": (lambda: transforms.CenterCrop((5, 6)), BYTES, (6, 5, 3)),
    "Compose": (
        lambda: transforms.Compose([transforms.Resize(6), transforms.ToTensor()]),
        BYTES,
        (3, 6, 6),
    ),
    "CropResize": (lambda: transforms.CropResize(1, 2, 4, 5, (8, 7)), BYTES, (7, 8, 3)),
    "Normalize": (lambda: transforms.Normalize((0.1, 0.2, 0.3), 0.5), TENSOR, (3, 12, 9)),
    "RandomApply": (lambda: transforms.RandomApply([transforms.ToTensor()], 1), BYTES, (3, 12, 9)),
    "RandomBrightness": (lambda: transforms.RandomBrightness(0.5), BYTES, (12, 9, 3)),
    "RandomColorJitter": (
        lambda: transforms.RandomColorJitter(0.4, 0.3, 0.2, 0.1),
        BYTES,
        (12, 9, 3),
    ),
    "RandomContrast": (lambda: transforms.RandomContrast(0.5), BYTES, (12, 9, 3)),
    "RandomCrop": (lambda: transforms.RandomCrop(10, pad=2), BYTES, (10, 10, 3)),
    "RandomFlipLeftRight": (transforms.RandomFlipLeftRight, BYTES, (12, 9, 3)),
    "RandomFlipTopBottom": (transforms.RandomFlipTopBottom, BYTES, (12, 9, 3)),
    "RandomGray": (lambda: transforms.RandomGray(1), BYTES, (12, 9, 3)),
    "RandomHue": (lambda: transforms.RandomHue(0.2), BYTES, (12, 9, 3)),
    "RandomLighting": (lambda: transforms.RandomLighting(0.1), BYTES, (12, 9, 3)),
    "RandomResizedCrop": (lambda: transforms.RandomResizedCrop(7), BYTES, (7, 7, 3)),
    "RandomRotation": (lambda: transforms.RandomRotation((-30, 30)), TENSOR, (3, 12, 9)),
    "RandomSaturation": (lambda: transforms.RandomSaturation(0.5), BYTES, (12, 9, 3)),
    "Resize": (lambda: transforms.Resize((4, 5)), BYTES, (5, 4, 3)),
    "Rotate": (lambda: transforms.Rotate(30, zoom_in=True), TENSOR, (3, 12, 9)),
    "ToTensor": (transforms.ToTensor, BYTES, (3, 12, 9)),
}


def seeded(function: Callable[[Any], Any], given: Any) -> onp.ndarray[Any, Any]:
    mx.random.seed(SEED)
    random.seed(SEED)
    onp.random.seed(SEED)
    result: onp.ndarray[Any, Any] = function(given).asnumpy()
    return result


def test_there_is_a_case_for_each() -> None:
    assert sorted(CASES) == sorted(transforms.__all__)


@pytest.mark.parametrize("name", CASES)
def test_both_worlds(name: str) -> None:
    make, given, shape = CASES[name]
    transform = make()
    result = seeded(transform, nd.array(given, dtype=given.dtype))
    assert result.shape == shape
    with mx.util.np_array(True):
        other = transform(np.array(given, dtype=given.dtype))
        assert isinstance(other, np.ndarray)
        onp.testing.assert_array_equal(
            seeded(transform, np.array(given, dtype=given.dtype)), result
        )


@pytest.mark.parametrize("name", CASES)
def test_pickles(name: str) -> None:
    """Workers of other processes get transforms as pickles."""
    make, given, _ = CASES[name]
    transform = make()
    array = nd.array(given, dtype=given.dtype)
    expected = seeded(transform, array)
    onp.testing.assert_array_equal(seeded(pickle.loads(pickle.dumps(transform)), array), expected)


@pytest.mark.parametrize("name", [one for one in CASES if one != "Compose"])
def test_hybridized(name: str) -> None:
    make, given, _ = CASES[name]
    transform = make()
    if not isinstance(transform, gluon.HybridBlock):
        return
    array = nd.array(given, dtype=given.dtype)
    expected = [seeded(transform, array) for _ in range(4)]
    transform.hybridize()
    onp.testing.assert_array_equal([seeded(transform, array) for _ in range(4)], expected)


@pytest.mark.parametrize("world", [nd, np])
def test_export(world: Any, tmp_path: Path) -> None:
    net = nn.HybridSequential()
    net.add(transforms.Resize(4), transforms.ToTensor(), transforms.Normalize((1, 2, 3), 2.0))
    given = world.array(BYTES, dtype="uint8")
    net.hybridize()
    expected = net(given).asnumpy()
    net.export(str(tmp_path / "net"))
    graph = json.loads((tmp_path / "net-symbol.json").read_text())
    assert [node["op"] for node in graph["nodes"]] == [
        "null", "_image_resize", "_image_to_tensor", "_image_normalize"
    ]  # fmt: skip
    loaded = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), ["data"])
    onp.testing.assert_array_equal(loaded(given).asnumpy(), expected)


def test_symbols_have_mxnets_names() -> None:
    symbol = transforms.RandomFlipLeftRight()(sym.var("data"))
    assert symbol.name.endswith("_random_flip_left_right0")
    assert json.loads(symbol.tojson())["nodes"][-1]["op"] == "_image_random_flip_left_right"


def test_compose_puts_hybrid_blocks_together() -> None:
    given = [
        transforms.Resize(8),
        transforms.RandomFlipLeftRight(),
        transforms.CenterCrop(6),
        transforms.ToTensor(),
    ]
    composed = transforms.Compose(given)
    assert len(given) == 4
    first, second, third = composed
    assert isinstance(first, nn.HybridSequential)
    assert first._active
    assert list(first) == given[:2]
    assert (second, third) == (given[2], given[3])
    result = composed(nd.array(BYTES, dtype="uint8"))
    assert result.shape == (3, 6, 6)
    assert transforms.Compose([])(result) is result


def test_many_sizes() -> None:
    composed = transforms.Compose([transforms.Resize(8), transforms.ToTensor()])
    for height in range(3, 40):
        for _ in range(3):
            given = BYTES[:1].repeat(height, 0)
            result = composed(nd.array(given, dtype="uint8"))
            small = nd.image.resize(nd.array(given, dtype="uint8"), 8)
            onp.testing.assert_array_equal(result, nd.image.to_tensor(small))


def test_random_apply() -> None:
    random.seed(SEED)
    given = nd.array(BYTES, dtype="uint8")
    some = transforms.RandomApply(transforms.ToTensor(), p=0.3)
    applied = [some(given).dtype == onp.float32 for _ in range(300)]
    assert 60 < sum(applied) < 120
    assert transforms.RandomApply(transforms.ToTensor(), p=0)(given) is given


def test_values() -> None:
    given = nd.array(BYTES, dtype="uint8")
    cast = transforms.Cast()(given)
    assert cast.dtype == onp.float32
    onp.testing.assert_array_equal(cast, BYTES)
    onp.testing.assert_array_equal(transforms.CenterCrop(5)(given), BYTES[3:8, 2:7])
    onp.testing.assert_array_equal(
        transforms.CropResize(1, 2, 4, 5)(given), nd.image.crop(given, 1, 2, 4, 5)
    )
    onp.testing.assert_array_equal(
        transforms.CropResize(1, 2, 4, 5, 6)(given),
        nd.image.resize(nd.image.crop(given, 1, 2, 4, 5), 6),
    )
    onp.testing.assert_array_equal(
        transforms.Resize(20, keep_ratio=True, interpolation=2)(given),
        nd.image.resize(given, 20, True, 2),
    )
    tensor = nd.array(TENSOR)
    onp.testing.assert_array_equal(
        transforms.Rotate(20, zoom_out=True)(tensor), image.imrotate(tensor, 20, zoom_out=True)
    )
    onp.testing.assert_array_equal(transforms.Normalize()(tensor), tensor)


def test_crops_are_parts() -> None:
    random.seed(SEED)
    padded = onp.pad(BYTES, ((4, 4), (4, 4), (0, 0)))
    given = nd.array(BYTES, dtype="uint8")
    places = {padded[y : y + 12, x : x + 9].tobytes(): (y, x) for y in range(9) for x in range(9)}
    crop = transforms.RandomCrop((9, 12), pad=4)
    found = {places[crop(given).asnumpy().tobytes()] for _ in range(300)}
    assert len(found) > 60
    sides = transforms.RandomCrop((9, 13), pad=((1, 0), (0, 0)))
    onp.testing.assert_array_equal(sides(given), onp.pad(BYTES, ((1, 0), (0, 0), (0, 0))))
    assert transforms.RandomCrop(20)(given).shape == (20, 20, 3)


def test_resized_crops() -> None:
    random.seed(SEED)
    onp.random.seed(SEED)
    given = nd.array(BYTES, dtype="uint8")
    whole = transforms.RandomResizedCrop((9, 12), scale=(1, 1), ratio=(0.75, 0.75))
    onp.testing.assert_array_equal(whole(given), BYTES)
    parts = transforms.RandomResizedCrop(4, scale=(0.1, 0.5))
    assert len({parts(given).asnumpy().tobytes() for _ in range(20)}) > 10


def test_grey() -> None:
    given = nd.array(BYTES, dtype="uint8")
    grey = transforms.RandomGray(1)(given).asnumpy()
    assert grey.dtype == "uint8"
    onp.testing.assert_allclose(grey[..., 0], BYTES @ [0.21, 0.72, 0.07], atol=1.01)
    assert (grey == grey[..., :1]).all()
    assert transforms.RandomGray(0)(given) is given


def test_factors_are_around_one() -> None:
    mx.random.seed(SEED)
    ones = nd.full((2000, 1, 1, 3), 100.0)
    for reach, low, high in ((0.3, 70, 130), (2, 0, 300)):
        results = transforms.RandomBrightness(reach)(ones).asnumpy()
        assert results.min() >= low
        assert results.max() <= high
        assert results.std() > 10


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="ordered"):
        transforms.RandomRotation((3, 1))
    with pytest.raises(ValueError, match="between 0 and 1"):
        transforms.RandomRotation((1, 3), rotate_with_proba=1.5)
    for transform in (transforms.Rotate(3), transforms.RandomRotation((1, 3))):
        with pytest.raises(TypeError, match="float32"):
            transform(nd.array(BYTES, dtype="uint8"))
    given = nd.array(TENSOR)
    assert transforms.RandomRotation((1, 3), rotate_with_proba=0)(given) is given

# SPDX-License-Identifier: Apache-2.0
"""MXNet's answers to calls of ``mx.image``: pixels, crops by the same seeds, batches, texts."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from golden.pictures import EXACT, NEAR, WARPED, WARPED_BY, answer, array_of, names_for

import afterglow as mx

RECORDED = json.loads(
    (Path(__file__).parents[1] / "golden" / "pictures.json").read_text(encoding="utf-8")
)
FILES = {name: base64.b64decode(text) for name, text in RECORDED["files"].items()}


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    found = names_for(mx, FILES, tmp_path_factory.mktemp("pictures"))
    yield found
    found.clear()


@pytest.mark.parametrize("expression", EXACT)
def test_the_same(expression: str, names: dict[str, Any]) -> None:
    compare(answer(expression, names), RECORDED["answers"][expression], 0)


@pytest.mark.parametrize("expression", NEAR)
def test_nearly_the_same(expression: str, names: dict[str, Any]) -> None:
    compare(answer(expression, names), RECORDED["answers"][expression], 1)


@pytest.mark.parametrize("expression", WARPED)
def test_turned_and_stretched(expression: str, names: dict[str, Any]) -> None:
    ours, theirs = answer(expression, names), RECORDED["answers"][expression]
    compare(ours[0], theirs[0], 0)
    for (data, *others), (expected, *rest) in zip(ours[1:], theirs[1:], strict=True):
        compare(others, rest, 0)
        onp.testing.assert_allclose(array_of(data), array_of(expected), atol=WARPED_BY)


def compare(ours: Any, theirs: Any, tolerance: float) -> None:
    """Compare arrays by their values; bytes may differ by the tolerance, in one of 200."""
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            compare(one, other, tolerance)
    elif isinstance(theirs, dict):
        assert (ours["dtype"], ours["shape"]) == (theirs["dtype"], theirs["shape"])
        one, other = array_of(ours), array_of(theirs)
        if not tolerance:
            onp.testing.assert_array_equal(one, other)
        elif one.dtype == "uint8":
            difference = onp.abs(one.astype(int) - other)
            assert difference.max(initial=0) <= tolerance
            assert (difference > 0).mean() <= 0.005
        else:
            onp.testing.assert_allclose(one, other, 1e-5, 1e-3)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, 1e-6)
    else:
        assert ours == theirs

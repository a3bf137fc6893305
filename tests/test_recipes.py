# SPDX-License-Identifier: Apache-2.0
"""What CONTRIBUTING.md shows how to add: all of its code is compiled, or run here."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

from afterglow import gluon, nd, np, npx, sym
from afterglow.gluon import HybridBlock
from afterglow.gluon._functions import functions

ROOT = Path(__file__).parents[1]


def recipes() -> str:
    """Return what the page says of ops and layers."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return text[text.index("## How to add an op") : text.index("## How to add a benchmark")]


def blocks() -> list[str]:
    """Return its code; C++ is in tests/cpp/ops_recipe_test.cpp or where the text before says."""
    found = re.findall(r"^ *```(?:cpp|python)\n.*?```", recipes(), re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(one).partition("\n")[2].removesuffix("```") for one in found]


LAYER = next(one for one in blocks() if "(HybridBlock)" in one)
#: Sources in which each of the others stands, by a word of the block.
SOURCES = {
    "FORMULA(": "src/kernels/formulas.def",
    '"cbrt"': "src/ops/elementwise.cpp",
    "unary(": "tests/ndarray/records.py",
    "@converts": "afterglow/onnx/_converters/elementwise.py",
    "@imports": "afterglow/onnx/_importers/shape.py",
    "LogSumExp": "tests/cpp/ops_recipe_test.cpp",
    "RmsNorm": "tests/cpp/ops_recipe_test.cpp",
}


def _lines(text: str) -> str:
    """Return a text without its indentation."""
    return "\n".join(line.strip() for line in text.splitlines())


@pytest.mark.parametrize("block", [one for one in blocks() if one != LAYER])
def test_blocks_stand_in_the_sources(block: str) -> None:
    source = next(path for word, path in SOURCES.items() if word in block)
    assert _lines(block) in _lines((ROOT / source).read_text())


def test_every_kind_of_recipe_is_there() -> None:
    for word in SOURCES:
        assert any(word in one for one in blocks()), word


@pytest.fixture
def layer() -> Any:
    names: dict[str, Any] = {"HybridBlock": HybridBlock, "functions": functions, "Any": Any}
    exec(compile(LAYER, "CONTRIBUTING.md", "exec", dont_inherit=True), names)
    return names["GatedLinearUnit"](4)


@pytest.mark.parametrize("world", [nd, np], ids=["nd", "np"])
def test_the_layer_runs_with_arrays_and_symbols(layer: Any, world: Any, tmp_path: Path) -> None:
    if world is np:
        npx.set_np()
    try:
        _check(layer, world, tmp_path)
    finally:
        npx.reset_np()


def _check(layer: Any, world: Any, folder: Path) -> None:
    layer.initialize()
    host = onp.random.default_rng(3).normal(size=(2, 3)).astype("float32")
    x = world.array(host)
    found = layer(x).asnumpy()
    weight, gate = (one.data().asnumpy() for one in (layer.weight, layer.gate))
    assert weight.shape == (4, 3)
    wanted = host @ weight.T / (1 + onp.exp(-host @ gate.T))
    onp.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)

    variable = sym.var("x").as_np_ndarray() if world is np else sym.var("x")
    layer(variable).save(str(folder / "net.json"))
    layer.collect_params().save(str(folder / "net.params"))
    read = gluon.SymbolBlock.imports(str(folder / "net.json"), ["x"], str(folder / "net.params"))
    assert read(x).asnumpy().tolist() == found.tolist()
    layer.hybridize()
    for _ in range(4):
        assert layer(x).asnumpy().tolist() == found.tolist()

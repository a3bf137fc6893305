# SPDX-License-Identifier: Apache-2.0
"""Graphs and files against MXNet's own: text, shapes, outputs, gradients, exported networks."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from symbol.cases import (
    DRAWN,
    LEGACY_NETS,
    NETS,
    OLD,
    SYMBOLS,
    answer_of,
    answer_of_net,
    make_net,
    make_symbol,
    shape_of,
)

import afterglow as mx
from afterglow import gluon, nd, sym

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "symbols.json").read_text()
)


#: MXNet multiplies the exponential part by the scale only once.
WRONG_GRADIENT = {"leaky, selu"}


def close(found: Any, wanted: Any) -> None:
    assert onp.allclose(found, wanted, rtol=1e-4, atol=2e-5), (found, wanted)


def agree(found: dict[str, Any], wanted: dict[str, Any], gradients: bool = True) -> None:
    assert found["shapes"] == wanted["shapes"]
    assert found["names"] == wanted["names"]
    for kind in ("predicted", "trained"):
        for ours, theirs in zip(found[kind], wanted[kind], strict=True):
            close(ours, theirs)
    for kind in ("gradients", "states") if gradients else ("states",):
        assert found[kind].keys() == wanted[kind].keys()
        for name in found[kind]:
            close(found[kind][name], wanted[kind][name])


@pytest.mark.parametrize("name", SYMBOLS)
def test_text(name: str) -> None:
    symbol, wanted = make_symbol(mx, name), RECORDED["symbols"][name]
    assert symbol.tojson() == wanted["json"]
    assert symbol.debug_str() == wanted["debug"]
    assert repr(symbol) == wanted["text"]
    assert sym.load_json(wanted["json"]).tojson() == wanted["json"]


@pytest.mark.parametrize("name", SYMBOLS)
def test_answers(name: str) -> None:
    found = answer_of(mx, make_symbol(mx, name), SYMBOLS[name][1])
    agree(found, RECORDED["symbols"][name], name not in WRONG_GRADIENT)


@pytest.mark.parametrize("name", SYMBOLS)
def test_answers_of_files(name: str) -> None:
    wanted = RECORDED["symbols"][name]
    found = answer_of(mx, sym.load_json(wanted["json"]), SYMBOLS[name][1])
    agree(found, wanted, name not in WRONG_GRADIENT)


@pytest.mark.parametrize("name", DRAWN)
def test_graphs_that_cannot_run(name: str) -> None:
    symbol, wanted = make_symbol(mx, name), RECORDED["drawn"][name]
    inputs = {key: shape_of(x) for key, x in DRAWN[name][1].items()}
    assert symbol.tojson() == wanted["json"]
    names = [symbol.list_arguments(), symbol.list_outputs(), symbol.list_auxiliary_states()]
    assert names == wanted["names"]
    shapes = symbol.infer_shape(**inputs)
    assert [[list(one) for one in kind] for kind in shapes] == wanted["shapes"]


@pytest.mark.parametrize("name", OLD)
def test_old_files(name: str) -> None:
    graph, inputs = OLD[name]
    symbol, wanted = sym.load_json(json.dumps(graph)), RECORDED["old"][name]
    assert described(json.loads(symbol.tojson())) == described(json.loads(wanted["json"]))
    agree(answer_of(mx, symbol, inputs), wanted)


def write(folder: Path, answer: dict[str, Any]) -> tuple[str, str]:
    graph, params = folder / "net-symbol.json", folder / "net-0003.params"
    graph.write_text(json.dumps(answer["json"]))
    params.write_bytes(base64.b64decode(answer["params"]))
    return str(graph), str(params)


@pytest.mark.parametrize("name", [*NETS, *LEGACY_NETS])
def test_networks_of_mxnet(name: str, tmp_path: Path) -> None:
    wanted = RECORDED["nets"][name]
    graph, params = write(tmp_path, wanted)
    block = gluon.SymbolBlock.imports(graph, ["data"], params)
    output = block(make_net(mx, name)[1])
    assert type(output) is nd.NDArray
    assert list(output.shape) == wanted["shape"]
    close(output.asnumpy().ravel(), wanted["output"])


def described(graph: dict[str, Any]) -> list[Any]:
    """Return the nodes without the shapes, which MXNet writes before it knows them."""
    return [
        (
            node["op"],
            node["name"],
            [one[:2] for one in node["inputs"]],
            {key: x for key, x in node.get("attrs", {}).items() if key != "__shape__"},
        )
        for node in graph["nodes"]
    ]


@pytest.mark.parametrize("name", [*NETS, *LEGACY_NETS])
def test_exported_networks(name: str, tmp_path: Path) -> None:
    found, wanted = answer_of_net(mx, name, tmp_path), RECORDED["nets"][name]
    assert described(found["json"]) == described(wanted["json"])
    for key in ("arg_nodes", "node_row_ptr", "heads", "attrs"):
        assert found["json"][key] == wanted["json"][key]
    close(found["output"], wanted["output"])
    assert found["params"] == wanted["params"]


@pytest.fixture
def numpy_mode() -> Any:
    mx.npx.set_np()
    yield
    mx.npx.reset_np()


@pytest.mark.usefixtures("numpy_mode")
@pytest.mark.parametrize("name", NETS)
def test_networks_of_mxnet_in_np(name: str, tmp_path: Path) -> None:
    found, wanted = answer_of_net(mx, name, tmp_path), RECORDED["np nets"][name]
    assert described(found["json"]) == described(wanted["json"])
    assert found["json"]["attrs"] == wanted["json"]["attrs"]
    close(found["output"], wanted["output"])
    graph, params = write(tmp_path, wanted)
    output = gluon.SymbolBlock.imports(graph, ["data"], params)(make_net(mx, name)[1])
    assert type(output) is mx.np.ndarray
    close(output.asnumpy().ravel(), wanted["output"])

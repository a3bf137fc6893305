# SPDX-License-Identifier: Apache-2.0
"""Graphs in files: what is damaged or hostile gives an error, and graphs may be deep."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import afterglow as mx
from afterglow import nd, sym

X = {"op": "null", "name": "x", "inputs": []}


def call(op: str, attributes: Any = None, inputs: Any = ((0, 0, 0),)) -> dict[str, Any]:
    return {"op": op, "name": "n", "attrs": attributes or {}, "inputs": [list(i) for i in inputs]}


def graph(*nodes: Any, heads: Any = None) -> str:
    return json.dumps({"nodes": nodes, "heads": heads or [[len(nodes) - 1, 0, 0]]})


DAMAGED = {
    "nothing": "",
    "half": graph(X)[:20],
    "a list": "[]",
    "no nodes": "{}",
    "nodes are a number": '{"nodes": 5, "heads": [[0, 0, 0]]}',
    "no heads": '{"nodes": [], "heads": []}',
    "deep lists": "[" * 100000,
    "long number": '{"nodes": [], "heads": [[' + "9" * 10000 + ", 0, 0]]}",
    "head out of range": graph(X, heads=[[5, 0, 0]]),
    "negative head": graph(X, heads=[[-1, 0, 0]]),
    "huge head": graph(X, heads=[[10**30, 0, 0]]),
    "head is text": graph(X, heads=[["0", 0, 0]]),
    "head is a truth value": graph(X, heads=[[True, 0, 0]]),
    "head of one number": graph(X, heads=[[0]]),
    "input from behind": graph(call("exp", inputs=[(1, 0, 0)]), X),
    "cycle": graph(X, call("exp", inputs=[(1, 0, 0)])),
    "output out of range": graph(X, call("exp", inputs=[(0, 3, 0)])),
    "too many outputs": graph(X, call("SliceChannel", {"num_outputs": "1000000000"})),
    "outputs are no number": graph(X, call("SliceChannel", {"num_outputs": "x"})),
    "outputs are not told": graph(X, call("SliceChannel")),
    "attribute is a number": graph(X, call("exp", {"scalar": 5})),
    "attributes are a list": graph(X, {**call("exp"), "attrs": [1]}),
    "name is a number": graph({**X, "name": 5}),
    "no op": graph({**X, "op": None}),
    "variable with inputs": graph(X, call("null")),
    "inputs are a number": graph({**X, "inputs": 5}),
    "graphs in graphs": graph(X, {**call("_foreach"), "subgraphs": [{"nodes": []}]}),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged(name: str) -> None:
    with pytest.raises(mx.MXNetError, match="no graph, or damaged"):
        sym.load_json(DAMAGED[name])


HOSTILE = {
    "units are text": call("FullyConnected", {"num_hidden": "abc"}),
    "units are code": call("FullyConnected", {"num_hidden": "__import__('os').abort()"}),
    "negative units": call("FullyConnected", {"num_hidden": "-5"}),
    "units of many digits": call("FullyConnected", {"num_hidden": "9" * 5000}),
    "deep tuple": call("Reshape", {"shape": "(" * 100000}),
    "huge tile": call("tile", {"reps": "(1000000, 1000000, 1000000)"}),
    "another size": call("Reshape", {"shape": "(7, 7)"}),
    "axis out of range": call("sum", {"axis": "9"}),
    "no such type": call("Cast", {"dtype": "foo"}),
    "no such custom op": call("Custom", {"op_type": "no_such_op"}),
    "no such activation": call("Activation", {"act_type": "foo"}),
    "no steps": call("Convolution", {"kernel": "(3,)", "num_filter": "1", "stride": "(0,)"}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(name: str) -> None:
    with pytest.raises(mx.MXNetError):
        sym.load_json(graph(X, HOSTILE[name])).simple_bind(mx.cpu(), x=(2, 3, 4)).forward()


def test_truncated_and_changed_files(tmp_path: Path) -> None:
    """Whatever is cut off or changed: an error, or another graph."""
    text = sym.BatchNorm(
        sym.FullyConnected(sym.var("x", shape=(2, 3)), num_hidden=2, name="fc"), name="bn"
    ).tojson()
    for end in range(0, len(text) - 1, 7):
        with pytest.raises(mx.MXNetError):
            sym.load_json(text[:end])
    path = tmp_path / "changed.json"
    for position in range(0, len(text), 5):
        for new in ("\0", "9", '"', "-", "[", "é"):
            path.write_text(text[:position] + new + text[position + 1 :], encoding="utf-8")
            with suppress(mx.MXNetError):
                sym.load(str(path)).infer_shape_partial()


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot be opened"):
        sym.load(str(tmp_path / "nothing.json"))
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    with pytest.raises(OSError, match="no graph"):
        sym.load(tmp_path / "binary")
    with pytest.raises(TypeError):
        sym.load(3)


def test_deep_graphs() -> None:
    depth = 20000
    y = sym.var("x")
    for _ in range(depth):
        y = y + 1
    text = y.tojson()
    for graph in (y, sym.load_json(text), copy.deepcopy(y)):
        assert graph.list_arguments() == ["x"]
    assert y.infer_shape(x=(2,)) == ([(2,)], [(2,)], [])
    assert len(y.get_internals()) == depth + 1
    assert y(x=sym.var("z")).list_arguments() == ["z"]
    run = y.bind(mx.cpu(), [nd.ones((1,))], [nd.zeros((1,))])
    assert run.forward(is_train=True)[0].asscalar() == depth + 1
    run.backward(nd.ones((1,)))
    assert run.grad_arrays[0].asscalar() == 1


def test_attributes_keep_their_text() -> None:
    strange = 'quote " backslash \\ newline \n tab \t é \u4e2d'
    x = sym.var(strange, attr={"note": strange})
    again = sym.load_json(x.tojson())
    assert again.name == strange
    assert again.attr("note") == strange


def test_checkpoints(tmp_path: Path) -> None:
    net = sym.BatchNorm(sym.FullyConnected(sym.var("x"), num_hidden=2, name="fc"), name="bn")
    prefix = str(tmp_path / "model")
    arguments = {"fc_weight": nd.ones((2, 3)), "fc_bias": nd.zeros((2,))}
    states = {"bn_moving_mean": nd.array([1, 2])}
    mx.model.save_checkpoint(prefix, 7, net, arguments, states)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "model-0007.params",
        "model-symbol.json",
    ]
    loaded, found, found_states = mx.model.load_checkpoint(prefix, 7)
    assert loaded.tojson() == net.tojson()
    assert found.keys() == arguments.keys()
    assert found_states["bn_moving_mean"].asnumpy().tolist() == [1, 2]
    assert mx.model.load_params(prefix, 7)[0].keys() == arguments.keys()
    assert mx.model.BatchEndParam(1, 2, None, None).nbatch == 2
    nd.save(f"{prefix}-0008.params", [nd.ones((1,))])
    with pytest.raises(ValueError, match="no names"):
        mx.model.load_params(prefix, 8)


def test_casts_of_mixed_precision_are_left_out() -> None:
    x = sym.var("x")
    net = sym.exp(sym.amp_cast(x, dtype="float16", name="cast"), name="e")
    assert "amp_cast" not in net.tojson()
    assert "amp_cast" in net.tojson(remove_amp_cast=False)
    assert "amp_cast" in net.debug_str()

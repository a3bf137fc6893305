# SPDX-License-Identifier: Apache-2.0
"""Loops and branches: as functions of arrays, as nodes of symbols, in files and in blocks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import autograd, gluon, nd, sym

X = onp.random.default_rng(1).normal(size=(4, 2, 3)).astype("float32")
STATE = onp.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)
FREE = onp.linspace(0.5, 1.5, 6, dtype="float32").reshape(2, 3)


def cumulated(space: Any, free: Any) -> Any:
    """A step that uses its row, its state and something from outside."""

    def step(row: Any, states: Any) -> Any:
        new = space.tanh(row * free + states[0])
        return [new, row * 2], [new]

    return step


def expected(x: Any, state: Any, free: Any) -> tuple[Any, Any]:
    outs = onp.zeros(x.shape, x.dtype)
    for place, row in enumerate(x):
        outs[place] = state = onp.tanh(row * free + state)
    return outs, state


def graph() -> Any:
    x, state, free = sym.var("x"), sym.var("state"), sym.var("free")
    (out, twice), (last,) = sym.contrib.foreach(cumulated(sym, free * 1), x, [state])
    return sym.Group([out, twice, last])


def test_a_loop_over_rows_gives_what_its_statements_give() -> None:
    outs, twice, last = graph().eval(x=nd.array(X), state=nd.array(STATE), free=nd.array(FREE))
    out, state = expected(X, STATE, FREE)
    onp.testing.assert_allclose(outs.asnumpy(), out, rtol=1e-5)
    onp.testing.assert_allclose(twice.asnumpy(), X * 2, rtol=1e-6)
    onp.testing.assert_allclose(last.asnumpy(), state, rtol=1e-5)


def test_gradients_of_rows_states_and_what_is_closed_over() -> None:
    """As finite differences tell them, by arrays and by symbols."""
    given = {"x": X, "state": STATE, "free": FREE}

    def value(**arrays: Any) -> float:
        out, state = expected(arrays["x"], arrays["state"], arrays["free"])
        return float(out.sum() + 3 * state.sum())

    wide = {name: array.astype("float64") for name, array in given.items()}
    wanted = {}
    for name, array in wide.items():
        slopes = onp.zeros(array.shape)
        for place in onp.ndindex(array.shape):
            step = onp.zeros(array.shape)
            step[place] = 1e-5
            up, down = (value(**{**wide, name: array + sign * step}) for sign in (1, -1))
            slopes[place] = (up - down) / 2e-5
        wanted[name] = slopes

    run = graph().bind(
        args={name: nd.array(array) for name, array in given.items()},
        args_grad={name: nd.zeros(array.shape) for name, array in given.items()},
    )
    out, twice, last = run.forward(is_train=True)
    run.backward([nd.ones_like(out), nd.zeros_like(twice), nd.ones_like(last) * 3])
    arrays = {name: nd.array(array) for name, array in given.items()}
    for array in arrays.values():
        array.attach_grad()
    with autograd.record():
        (out, _), (last,) = nd.contrib.foreach(
            cumulated(nd, arrays["free"] * 1), arrays["x"], [arrays["state"]]
        )
        total = out.sum() + 3 * last.sum()
    total.backward()
    for name, slopes in wanted.items():
        onp.testing.assert_allclose(run.grad_dict[name].asnumpy(), slopes, rtol=1e-3, atol=1e-4)
        onp.testing.assert_allclose(arrays[name].grad.asnumpy(), slopes, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_lengths_follow_the_input(rows: int) -> None:
    given = {"x": nd.ones((rows, 2, 3)), "state": nd.array(STATE), "free": nd.array(FREE)}
    out, twice, last = graph().eval(**given)
    assert out.shape == twice.shape == (rows, 2, 3)
    onp.testing.assert_allclose(
        last.asnumpy(), expected(onp.ones((rows, 2, 3)), STATE, FREE)[1], rtol=1e-5
    )


def test_while_loops_stop_by_values_and_fill_up_with_zeros() -> None:
    i, total, step = sym.var("i"), sym.var("total"), sym.var("step")
    outs, last = sym.contrib.while_loop(
        lambda i, total: i < 3,
        lambda i, total: (total * step, (i + 1, total + i * step)),
        (i, total),
        max_iterations=5,
    )
    given = {"total": nd.array([1.0, 2.0]), "step": nd.array([2.0, 2.0])}
    group = sym.Group([outs, *last])
    one, two, three = group.infer_shape(i=(2,), total=(2,), step=(2,))
    assert (one, two, three) == ([(2,)] * 3, [(5, 2), (2,), (2,)], [])
    single = sym.Group([outs, last[1]])
    with pytest.raises(mx.MXNetError, match="not a scalar"):
        single.eval(i=nd.zeros((2,)), **given)
    given = {"total": nd.array([1.0]), "step": nd.array([2.0])}
    rows, _, end = group.eval(i=nd.zeros((1,)), **given)
    assert rows.asnumpy().ravel().tolist() == [2, 2, 6, 0, 0]
    assert end.asnumpy().tolist() == [7]
    rows, first, end = group.eval(i=nd.array([9]), **given)  # not a single step
    assert rows.shape == (5, 1)
    assert (rows.asnumpy() == 0).all()
    assert (first.asnumpy().tolist(), end.asnumpy().tolist()) == ([9], [1])


def test_gradients_of_while_loops() -> None:
    """Three times x, to the power of so many steps."""
    x, i = sym.var("x"), sym.var("i")
    _, last = sym.contrib.while_loop(
        lambda i, y: i < 3, lambda i, y: ([], [i + 1, y * x]), [i, x * 3], max_iterations=10
    )
    run = last[1].bind(
        args={"x": nd.array([2.0]), "i": nd.zeros((1,))}, args_grad={"x": nd.zeros((1,))}
    )
    assert run.forward(is_train=True)[0].asnumpy().tolist() == [48]
    run.backward(nd.ones((1,)))
    assert run.grad_dict["x"].asnumpy().tolist() == [3 * 4 * 8]


@pytest.mark.parametrize(("value", "result", "slope"), [(2, 20, 10), (-2, 4, -4)])
def test_branches_run_one_side(value: float, result: float, slope: float) -> None:
    a, unused = sym.var("a"), sym.var("other")
    both = sym.contrib.cond(a > 0, lambda: [a * 10], lambda: [a * a + unused * 0])
    assert isinstance(both, list)
    run = both[0].bind(
        args={"a": nd.array([value]), "other": nd.ones((1,))},
        args_grad={"a": nd.zeros((1,)), "other": nd.ones((1,))},
    )
    assert run.forward(is_train=True)[0].asnumpy().tolist() == [result]
    run.backward(nd.ones((1,)))
    assert run.grad_dict["a"].asnumpy().tolist() == [slope]
    assert run.grad_dict["other"].asnumpy().tolist() == [0]


def nested() -> Any:
    """For each matrix the rows times a weight, summed up until they are large."""
    x, zero, weight = sym.var("x"), sym.var("zero"), sym.var("weight")

    def inner(row: Any, total: Any) -> Any:
        new = total + sym.contrib.cond(
            row.sum() > 0, lambda: row * weight, lambda: row * weight * -1
        )
        return new, new

    def outer(matrix: Any, total: Any) -> Any:
        out, last = sym.contrib.foreach(inner, matrix, total)
        return out, last

    out, last = sym.contrib.foreach(outer, x, zero)
    return sym.Group([out, last])


def test_loops_nest() -> None:
    given = {"x": nd.array(X), "zero": nd.zeros((3,)), "weight": nd.array([1, 2, 3])}
    out, last = nested().eval(**given)
    rows = X.reshape(8, 3) * [1, 2, 3]
    rows = onp.where(X.reshape(8, 3).sum(1, keepdims=True) > 0, rows, -rows)
    onp.testing.assert_allclose(out.asnumpy().reshape(8, 3), rows.cumsum(0), rtol=1e-4, atol=1e-5)
    onp.testing.assert_allclose(last.asnumpy(), rows.sum(0), rtol=1e-4, atol=1e-5)
    assert nested().list_arguments() == ["x", "zero", "weight"]
    shapes = nested().infer_shape(x=(4, 2, 3), zero=(3,), weight=(3,))
    assert shapes[1] == [(4, 2, 3), (3,)]


@pytest.mark.parametrize("make", [graph, nested])
def test_files_hold_graphs_and_come_back(make: Any, tmp_path: Path) -> None:
    symbol = make()
    symbol.save(tmp_path / "loop-symbol.json")
    again = sym.load(tmp_path / "loop-symbol.json")
    assert again.tojson() == symbol.tojson()
    assert again.list_outputs() == symbol.list_outputs()
    node = json.loads(symbol.tojson())["nodes"][-1]
    assert node["op"] == "_foreach"
    assert int(node["attrs"]["num_args"]) == len(node["inputs"]) + len(node["subgraphs"])
    assert {"nodes", "arg_nodes", "node_row_ptr", "heads"} == {*node["subgraphs"][0]}


#: As MXNet 1.9.1 writes ``foreach(lambda row, s: (row + s, row + s * w), x, state)``.
OF_MXNET = {
    "in_data_locs": "[0]",
    "in_state_locs": "[1]",
    "num_args": "4",
    "num_out_data": "1",
    "num_outputs": "2",
    "remain_locs": "[2]",
}


def file_of_mxnet(**changes: str) -> str:
    def variable(name: str, **more: Any) -> dict[str, Any]:
        return {"op": "null", "name": name, "inputs": [], **more}

    mark = {"attrs": {"__subgraph_name__": "foreach0"}}
    inner = {
        "nodes": [
            variable("x-0", **mark),
            variable("state-0", **mark),
            {"op": "elemwise_add", "name": "_plus0", **mark, "inputs": [[0, 0, 0], [1, 0, 0]]},
            variable("w"),
            {"op": "elemwise_mul", "name": "_mul0", **mark, "inputs": [[1, 0, 0], [3, 0, 0]]},
            {"op": "elemwise_add", "name": "_plus1", **mark, "inputs": [[0, 0, 0], [4, 0, 0]]},
        ],
        "arg_nodes": [0, 1, 3],
        "node_row_ptr": [0, 1, 2, 3, 4, 5, 6],
        "heads": [[2, 0, 0], [5, 0, 0]],
    }
    loop = {
        "op": "_foreach",
        "name": "_foreach0",
        "attrs": {**OF_MXNET, **changes},
        "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]],
        "subgraphs": [inner],
    }
    nodes = [variable("x"), variable("state"), variable("w"), loop]
    heads = [[3, 0, 0], [3, 1, 0]]
    return json.dumps({"nodes": nodes, "arg_nodes": [0, 1, 2], "heads": heads})


def test_files_of_mxnet_run() -> None:
    symbol = sym.load_json(file_of_mxnet())
    out, last = symbol.eval(
        x=nd.array([[1.0], [2.0], [3.0]]), state=nd.array([1.0]), w=nd.array([2.0])
    )
    assert out.asnumpy().ravel().tolist() == [2, 5, 11]
    assert last.asnumpy().tolist() == [19]


@pytest.mark.parametrize(
    "changes",
    [
        {"in_data_locs": "[3]"},
        {"in_data_locs": "[0, 1]"},
        {"remain_locs": "[]"},
        {"remain_locs": "two"},
        {"num_outputs": "3"},
        {"num_outputs": "many"},
        {"num_out_data": "x"},
        {"num_out_data": "2"},
        {"in_data_locs": "[1]"},
    ],
)
def test_damaged_files_are_refused(changes: dict[str, str]) -> None:
    with pytest.raises(mx.MXNetError, match="no graph, or damaged"):
        sym.load_json(file_of_mxnet(**changes))


def test_graphs_within_graphs_without_end_are_refused() -> None:
    text = file_of_mxnet()
    node = json.loads(text)
    for _ in range(100):
        deeper = json.loads(text)
        deeper["nodes"][-1]["subgraphs"] = [node]
        node = deeper
    with pytest.raises(mx.MXNetError, match="nested more than"):
        sym.load_json(json.dumps(node))


def test_shapes_and_types_pass_through_loops() -> None:
    symbol = graph()
    arguments, outputs, _ = symbol.infer_shape(x=(7, 2, 3), state=(2, 3))
    assert (arguments, outputs) == ([(7, 2, 3), (2, 3), (2, 3)], [(7, 2, 3), (7, 2, 3), (2, 3)])
    assert symbol.infer_shape_partial(x=(0, 2, 3))[1] == [(0, 2, 3), (0, 2, 3), (2, 3)]
    assert symbol.infer_type(x="float64")[1] == [onp.float64] * 3
    dense, _ = sym.contrib.foreach(
        lambda row, s: (sym.FullyConnected(row, num_hidden=4, name="fc"), [s[0] + 1]),
        sym.var("x"),
        [sym.var("s")],
    )
    assert dense.list_arguments() == ["x", "s", "fc_weight", "fc_bias"]
    assert dense.infer_shape(x=(5, 2, 3), s=(1,))[0][2:] == [(4, 3), (4,)]


def test_sides_of_different_shapes_leave_the_result_open() -> None:
    a = sym.var("a")
    one = sym.contrib.cond(a.sum() > 0, lambda: a, lambda: a.reshape((1, -1)))
    assert one.infer_shape_partial(a=(3,))[1] == [()]
    assert one.eval(a=nd.ones((3,)))[0].shape == (3,)
    assert one.eval(a=-nd.ones((3,)))[0].shape == (1, 3)


def test_states_of_ops_in_loops_are_states() -> None:
    out, _ = sym.contrib.foreach(
        lambda row, s: (sym.BatchNorm(row, name="bn", momentum=0), [s[0] + 1]),
        sym.var("x"),
        [sym.var("s")],
    )
    assert out.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    run = out.simple_bind(x=(2, 2, 1), s=(1,))
    run.arg_dict["x"][:] = onp.arange(4).reshape(2, 2, 1)
    run.forward(is_train=True)
    assert run.aux_dict["bn_moving_mean"].asnumpy().tolist() == [2.5]  # of the last row


def test_what_cannot_be_written_down_is_refused() -> None:
    x, s = sym.var("x"), sym.var("s")
    refused: list[tuple[Any, type[Exception]]] = [
        (lambda: sym.contrib.foreach(lambda row, s: (row, row), x, s), AssertionError),
        (lambda: sym.contrib.foreach(lambda row, s: (row, [s, s]), x, s), AssertionError),
        (lambda: sym.contrib.foreach(lambda row, s: (3, s), x, s), TypeError),
        (lambda: sym.contrib.while_loop(lambda s: s, lambda s: (s, s), s), ValueError),
        (lambda: sym.contrib.while_loop(lambda: x, lambda: ([], []), [], 3), ValueError),
        (lambda: sym.contrib.while_loop(lambda s: s, lambda s: (x, x), s, 3), ValueError),
        (lambda: sym.contrib.while_loop(lambda s: s, lambda s: (s, [s, s]), s, 3), ValueError),
        (lambda: sym.contrib.cond(x, lambda: x, lambda: [x, s]), ValueError),
        (
            lambda: nd.contrib.foreach(lambda r, s: (r, s), [nd.ones((3,)), nd.ones((2,))], []),
            IndexError,
        ),
    ]
    for call, kind in refused:
        with pytest.raises(kind):
            call()


def test_one_symbol_may_be_data_and_state() -> None:
    x = sym.var("x")
    out, last = sym.contrib.foreach(lambda row, s: (row + s.sum(), s + 1), x, x)
    assert out.eval(x=nd.ones((2, 1)))[0].asnumpy().ravel().tolist() == [3, 5]
    assert sym.load_json(last.tojson()).eval(x=nd.ones((2, 1)))[0].asnumpy().tolist() == [[3], [3]]


class Recurrent(gluon.HybridBlock):
    """A cell in a loop over steps, then a loop over values and a branch."""

    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.cell = gluon.rnn.LSTMCell(3)
            self.dense = gluon.nn.Dense(3, in_units=3)

    def hybrid_forward(self, F: Any, x: Any, states: Any) -> Any:
        out, states = F.contrib.foreach(self.cell, x, states)
        _, (_, last) = F.contrib.while_loop(
            lambda i, y: i < 2,
            lambda i, y: ([], [i + 1, self.dense(y)]),
            [F.zeros((1,)), states[0]],
            max_iterations=4,
            name="twice",
        )
        return out, F.contrib.cond(last.sum() > 0, lambda: last, lambda: -last)


@pytest.mark.filterwarnings("ignore:hybridize")
def test_blocks_hybridized_and_exported(tmp_path: Path) -> None:
    net = Recurrent()
    net.initialize(mx.init.Normal(0.5))
    states = [nd.zeros((2, 3)), nd.zeros((2, 3))]
    plain = [one.asnumpy() for one in net(nd.array(X), states)]
    net.hybridize()
    for _ in range(3):
        for one, other in zip(net(nd.array(X), states), plain, strict=True):
            onp.testing.assert_allclose(one.asnumpy(), other, rtol=1e-5)
    net.export(str(tmp_path / "net"))
    again = gluon.SymbolBlock.imports(
        str(tmp_path / "net-symbol.json"),
        ["data0", "data1", "data2"],
        str(tmp_path / "net-0000.params"),
    )
    for rows in (4, 4, 4, 2):
        given = nd.array(X[:rows])
        for one, other in zip(again(given, *states), net(given, states), strict=True):
            onp.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5)


def test_gradients_of_a_hybridized_loop() -> None:
    class Loop(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, state: Any) -> Any:
            return F.contrib.foreach(lambda row, s: (row * s, row + s), x, state)[0]

    found = []
    for hybridized in (False, True):
        net = Loop()
        net.hybridize(hybridized)
        for _ in range(3):
            x, state = nd.array(X), nd.array(STATE)
            x.attach_grad()
            state.attach_grad()
            with autograd.record():
                total = net(x, state).sum()
            total.backward()
        found.append([x.grad.asnumpy(), state.grad.asnumpy()])
    onp.testing.assert_allclose(found[0][1], X.sum(0), rtol=1e-5)
    for plain, other in zip(*found, strict=True):
        onp.testing.assert_allclose(plain, other, rtol=1e-6)


def test_parameters_used_inside_and_outside_are_one() -> None:
    class Shared(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.dense = gluon.nn.Dense(3, in_units=3, flatten=False)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            first, _ = F.contrib.foreach(lambda row, s: (self.dense(row), s), x, [])
            return self.dense(first)

    net = Shared()
    names = net(sym.var("data")).list_arguments()
    assert len(names) == len(set(names)) == 3


def test_a_graph_as_one_node() -> None:
    a, b = sym.var("a"), sym.var("b")
    graph = sym.Group([a * b, sym.BatchNorm(a, name="bn")])
    inputs = [sym.var(name) for name in graph.list_inputs()]
    node = sym._internal._CachedOp(*inputs, subgraph=graph.tojson(), name="whole")
    assert node.list_outputs() == ["whole_output0", "whole_output1"]
    assert node.list_auxiliary_states() == graph.list_auxiliary_states()
    assert node.infer_shape(a=(2, 3), b=(2, 3)) == graph.infer_shape(a=(2, 3), b=(2, 3))
    again = sym.load_json(node.tojson())
    assert again.tojson() == node.tojson()
    run = again.simple_bind(a=(2, 3), b=(2, 3))
    run.arg_dict["a"][:] = nd.array(STATE)
    run.arg_dict["b"][:] = nd.array(FREE)
    out, _ = run.forward(is_train=True)
    onp.testing.assert_allclose(out.asnumpy(), STATE * FREE, rtol=1e-6)
    run.backward([nd.ones((2, 3)), nd.zeros((2, 3))])
    onp.testing.assert_allclose(run.grad_dict["b"].asnumpy(), STATE, rtol=1e-6)
    with pytest.raises(mx.MXNetError, match="damaged"):
        sym._internal._CachedOp(a, subgraph="{}")


def test_graphs_in_nodes_of_other_ops() -> None:
    """Those of a backend of MXNet's can be written again; ops that are known hold none."""
    text = file_of_mxnet()
    kept = sym.load_json(text.replace('"_foreach"', '"_sg_of_a_backend"'))
    assert sym.load_json(kept.tojson()).tojson() == kept.tojson()
    assert "subgraphs" in kept.tojson()
    assert kept.list_auxiliary_states() == []
    with pytest.raises(mx.MXNetError, match="holds no graphs"):
        sym.load_json(text.replace('"_foreach"', '"add_n"'))

# SPDX-License-Identifier: Apache-2.0
"""Calls of recurrent ops, layers and cells, for MXNet and for Afterglow."""

from __future__ import annotations

import json
from typing import Any

import numpy as onp

STEPS, SAMPLES, COLUMNS, UNITS = 3, 2, 2, 3
LENGTHS = [2, 3]

#: Of the op: mode, layers, directions, units that states are projected to.
OPS = [
    *((mode, 1, 1, None) for mode in ("rnn_relu", "rnn_tanh", "lstm", "gru")),
    *((mode, 2, 2, None) for mode in ("rnn_tanh", "lstm", "gru")),
    ("lstm", 1, 1, 2),
    ("lstm", 2, 2, 2),
]

LAYERS = [
    "rnn.RNN(3)",
    "rnn.RNN(3, 2, activation='tanh', dropout=0.5, prefix='net_')",
    "rnn.LSTM(3, layout='NTC', bidirectional=True, prefix='net_')",
    "rnn.LSTM(3, 2, projection_size=2, prefix='net_')",
    "rnn.LSTM(3, input_size=2, i2h_bias_initializer='ones', prefix='net_')",
    "rnn.GRU(3, 2, bidirectional=True, input_size=2, prefix='net_')",
]

CELLS = [
    "rnn.RNNCell(3, prefix='a_')",
    "rnn.RNNCell(3, activation='relu', prefix='a_')",
    "rnn.RNNCell(3, activation='softrelu', input_size=2, prefix='a_')",
    "rnn.LSTMCell(3, prefix='a_')",
    "rnn.LSTMCell(3, activation='softsign', recurrent_activation='relu', prefix='a_')",
    "rnn.GRUCell(3, prefix='a_')",
    "rnn.ResidualCell(rnn.GRUCell(2, prefix='a_'))",
    "rnn.ZoneoutCell(rnn.RNNCell(3, prefix='a_'), 0.3, 0.4)",
    "rnn.DropoutCell(0.5, prefix='a_')",
    "rnn.BidirectionalCell(rnn.LSTMCell(3, prefix='a_'), rnn.GRUCell(2, prefix='b_'))",
    "stack(rnn.SequentialRNNCell, rnn.LSTMCell(3), rnn.DropoutCell(0.2), "
    "rnn.GRUCell(2, input_size=3))",
    "stack(rnn.HybridSequentialRNNCell, rnn.RNNCell(3), "
    "rnn.ResidualCell(rnn.GRUCell(3, input_size=3)))",
    "contrib.LSTMPCell(3, 2, prefix='a_')",
    "contrib.Conv1DRNNCell((2, 5), 2, 3, 3, prefix='a_')",
    "contrib.Conv1DLSTMCell((2, 5), 2, 2, 3, i2h_pad=1, activation='relu', prefix='a_')",
    "contrib.Conv2DGRUCell((2, 3, 4), 2, (2, 3), 3, i2h_dilate=(1, 1), prefix='a_')",
    "contrib.Conv2DLSTMCell((1, 3, 3), 1, 3, 3, i2h_pad=(1, 1), h2h_dilate=2, prefix='a_')",
    "contrib.Conv3DRNNCell((1, 2, 3, 2), 2, 2, 1, prefix='a_')",
    "contrib.VariationalDropoutCell(rnn.LSTMCell(3, prefix='a_'), 0.2, 0.3, 0.4)",
    "contrib.VariationalDropoutCell(rnn.LSTMCell(3, prefix='a_'), 0.2)",
]

#: Layout, whether outputs are merged, and whether sequences have lengths.
WAYS = [("NTC", True, False), ("TNC", None, True), ("NTC", False, True)]


def numbers(seed: int, *shape: int) -> Any:
    """Return the same numbers every time."""
    return onp.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def count_weights(mode: str, layers: int, directions: int, projected: int | None) -> int:
    """Return how many numbers all weights of the op have."""
    rows = directions * {"lstm": 4, "gru": 3}.get(mode, 1) * UNITS
    state = projected or UNITS
    count = rows * (COLUMNS + state + 2)
    count += (layers - 1) * rows * (directions * state + state + 2)
    return count + (layers * directions * state * UNITS if projected else 0)


def inputs_of_op(mode: str, layers: int, directions: int, projected: int | None) -> list[Any]:
    """Return data, weights and states."""
    places = layers * directions
    states = [numbers(3, places, SAMPLES, projected or UNITS)]
    if mode == "lstm":
        states.append(numbers(4, places, SAMPLES, UNITS))
    weights = numbers(2, count_weights(mode, layers, directions, projected))
    return [numbers(1, STEPS, SAMPLES, COLUMNS), weights, *states]


def answer_of_op(mx: Any, case: Any) -> Any:
    """Return the results, and the gradients of all inputs where MXNet has some."""
    mode, layers, directions, projected = case
    inputs = [mx.nd.array(one) for one in inputs_of_op(*case)]
    for one in inputs:
        one.attach_grad()
    given = {
        "state_size": UNITS,
        "num_layers": layers,
        "bidirectional": directions == 2,
        "mode": mode,
        "state_outputs": True,
        "projection_size": projected,
    }
    if projected:
        return [one.asnumpy() for one in mx.nd.RNN(*inputs, **given)]
    with mx.autograd.record():
        results = mx.nd.RNN(*inputs, **given)
        total = sum((one * mx.nd.array(numbers(5, *one.shape))).sum() for one in results)
    total.backward()
    return [one.asnumpy() for one in [*results, *(one.grad for one in inputs)]]


def _stack(kind: Any, *cells: Any) -> Any:
    result = kind(prefix="s_")
    for cell in cells:
        result.add(cell)
    return result


def made(mx: Any, text: str) -> Any:
    """Return a layer or cell."""
    rnn, contrib = mx.gluon.rnn, mx.gluon.contrib.rnn
    with mx.name.NameManager():
        return eval(text, {"rnn": rnn, "contrib": contrib, "stack": _stack})


def _initialize(mx: Any, block: Any) -> None:
    """Give all parameters numbers, which are known when they have shapes."""
    block.initialize()
    for number, (_, parameter) in enumerate(sorted(block.collect_params().items())):
        if parameter.shape and all(extent > 0 for extent in parameter.shape):
            parameter.set_data(mx.nd.array(numbers(20 + number, *parameter.shape)))
        else:
            shape = tuple(extent or COLUMNS for extent in parameter.shape)
            parameter.shape = shape
            parameter.initialize(force_reinit=True)
            parameter.set_data(mx.nd.array(numbers(20 + number, *shape)))


def _gradients(block: Any) -> dict[str, Any]:
    params = block.collect_params()
    return {name: params[name].grad().asnumpy() for name in params}


def answer_of_layer(mx: Any, text: str) -> Any:
    """Return what a layer says of itself, its results and gradients."""
    layer = made(mx, text)
    said = [repr(layer), layer.state_info(4)]
    _initialize(mx, layer)
    said.append(repr(layer))
    x = mx.nd.array(numbers(1, STEPS, SAMPLES, COLUMNS))
    x.attach_grad()
    samples = SAMPLES if layer._layout == "TNC" else STEPS
    states = [mx.nd.array(numbers(9, *info["shape"])) for info in layer.state_info(samples)]
    alone = layer(x)
    outputs, after = layer(x, states)
    arrays = [alone, outputs, *after]
    if not layer._projection_size and not layer._dropout:  # MXNet has these in training alone
        with mx.autograd.record():
            outputs, after = layer(x, states)
            total = (outputs * mx.nd.array(numbers(5, *outputs.shape))).sum()
        total.backward()
        arrays.append(x.grad)
    return {
        "said": said,
        "names": sorted(layer._collect_params_with_prefix()),
        "arrays": [one.asnumpy() for one in arrays],
        "gradients": _gradients(layer),
        "nodes": _nodes(layer(mx.sym.var("data"))),
    }


def answer_of_cell(mx: Any, text: str) -> Any:
    """Return what a cell says of itself, and what it returns in all ways of unrolling it."""
    cell = made(mx, text)
    said = [repr(cell), cell.state_info(4), cell.prefix]
    _initialize(mx, cell)
    said.append(repr(cell))
    x = mx.nd.array(numbers(1, STEPS, SAMPLES, *getattr(cell, "_input_shape", (COLUMNS,))))
    results: Any = []
    for layout, merge, has_lengths in WAYS:
        inputs = x if layout == "TNC" else x.swapaxes(0, 1)
        lengths = mx.nd.array(LENGTHS) if has_lengths else None
        with mx.autograd.record(train_mode=False):
            outputs, states = cell.unroll(
                STEPS, inputs, layout=layout, merge_outputs=merge, valid_length=lengths
            )
            merged = mx.nd.stack(*outputs) if isinstance(outputs, list) else outputs
            total = (merged * mx.nd.array(numbers(5, *merged.shape))).sum()
        if list(cell.collect_params().keys()):
            total.backward()
        results.append([isinstance(outputs, list), merged.asnumpy()])
        results[-1] += [one.asnumpy() for one in states]
    outputs, states = cell.unroll(2, mx.sym.var("data"), merge_outputs=True)
    return {
        "said": said,
        "names": sorted(cell._collect_params_with_prefix()),
        "results": results,
        "gradients": _gradients(cell),
        "nodes": _nodes(mx.sym.Group([outputs, *states])),
    }


#: Attributes of nodes that only say what defaults are, or what parameters are.
_PLAIN = frozenset(("__lr_mult__", "__wd_mult__", "__storage_type__"))


def _nodes(graph: Any) -> list[str]:
    """Return the nodes of a graph in their order, without numbers that count all names."""
    found = []
    for node in json.loads(graph.tojson())["nodes"]:
        attributes = node.get("attrs", {})
        shown = sorted((key, text) for key, text in attributes.items() if key not in _PLAIN)
        name = node["name"].rstrip("0123456789")
        found.append(" ".join([node["op"], name, *(f"{key}={text}" for key, text in shown)]))
    return found


def plain(value: Any) -> Any:
    """Return an answer as JSON has it, rounded."""
    if isinstance(value, onp.ndarray):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def answers(mx: Any) -> dict[str, Any]:
    """Return all answers, by case."""
    found = {f"RNN{case}": answer_of_op(mx, case) for case in OPS}
    found.update((text, answer_of_layer(mx, text)) for text in LAYERS)
    found.update((text, answer_of_cell(mx, text)) for text in CELLS)
    return found

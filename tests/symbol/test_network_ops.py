# SPDX-License-Identifier: Apache-2.0
"""Ops of networks: declared with MXNet's inputs and parameters, and what they say of shapes."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from afterglow import sym
from afterglow._core import describe_node, describe_table
from afterglow.error import MXNetError
from afterglow.symbol._ops import declared, find

RECORDED: dict[str, dict[str, str]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "network_ops.json").read_text()
)


def default_of(text: str) -> Any:
    """Return the default that MXNet's description of a parameter names."""
    value = text.partition("default=")[2]
    return ast.literal_eval(ast.literal_eval(value) if value.startswith("'") else value)


@pytest.mark.parametrize("name", RECORDED)
def test_inputs_and_parameters_are_those_of_mxnet(name: str) -> None:
    op = describe_table()[declared()[name]]
    theirs = {key: text for key, text in RECORDED[name].items() if key != "num_args"}
    arrays = [key for key, text in theirs.items() if text.startswith("NDArray")]
    states = op["inputs"][len(op["inputs"]) - op["auxiliary"] :]
    assert op["inputs"] == [*arrays, *states]
    ours = [key for key in op["parameters"] if key != "num_args"]
    assert ours == [key for key in theirs if key not in arrays]
    for key, (kind, required, doc) in op["described"].items():
        assert doc
        if key == "num_args":
            continue
        assert required == theirs[key].endswith("required"), key
        choices = re.findall(r"'(\w+)'", theirs[key].partition("}")[0])
        if theirs[key].startswith("{"):
            assert set(re.findall(r"'(\w+)'", kind)) >= set(choices)  # NWC is ours
            default = re.findall(r"default='(\w+)'", theirs[key])
            assert required or str(op["parameters"][key]) == default[0], key
        elif not required:
            wanted = default_of(theirs[key])
            wanted = tuple(wanted) if isinstance(wanted, list) else wanted
            assert op["parameters"][key] == pytest.approx(wanted), key


def test_extents_that_are_not_known_stay_so() -> None:
    x = sym.var("x")
    net = sym.Pooling(sym.Convolution(x, kernel=(3, 3), num_filter=4, name="c"), kernel=(2, 2))
    arguments, outputs, _ = net.infer_shape_partial(x=(0, 3, 8, 0))
    assert outputs == [(0, 4, 5, 0)]
    assert arguments == [(0, 3, 8, 0), (4, 3, 3, 3), (4,)]
    rows = sym.relu(sym.FullyConnected(x, num_hidden=4, name="f"))
    assert rows.infer_shape_partial(x=(0, 3))[1] == [(0, 4)]


@pytest.mark.parametrize(
    ("symbol", "shape", "text"),
    [
        (lambda x: sym.Convolution(x, kernel=(3, 3), num_filter=1), (1, 1, 5), "does not fit"),
        (lambda x: sym.Convolution(x, kernel=(3,), num_filter=1), (1, 1, 2), "exceeds data"),
        (lambda x: sym.Pooling(x, kernel=(3,), stride=(1, 1)), (1, 1, 5), r"stride is \(1, 1\)"),
        (lambda x: sym.Pooling(x, kernel=(3,), stride=(0,)), (1, 1, 5), "it must be positive"),
        (lambda x: sym.RNN(x, state_size=1, num_layers=1, mode="gru"), (2, 3), "3 dimensions"),
        (lambda x: sym.GridGenerator(x, transform_type="affine"), (2, 6), "a height and a width"),
        (lambda x: sym.Pooling(x, pool_type="most"), (1, 1, 5), "pool_type is 'most'"),
    ],
)
def test_errors(symbol: Any, shape: tuple[int, ...], text: str) -> None:
    with pytest.raises(MXNetError, match=text):
        symbol(sym.var("x")).infer_shape(x=shape)


def test_given_variables_begin_as_the_op_says() -> None:
    norm = sym.BatchNorm(sym.var("x"), moving_var=sym.var("v"), name="b")
    assert norm.attr_dict()["v"] == {"__init__": '["one", {}]'}
    own = sym.BatchNorm(sym.var("x"), moving_var=sym.var("v", init="q"), name="b")
    assert own.attr_dict()["v"] == {"__init__": "q"}


def test_which_inputs_are_there() -> None:
    assert describe_node("RNN", {"state_size": 1, "num_layers": 1, "mode": "lstm"}) == (
        (0, 1, 2, 3),
        ("output",),
        1,
    )
    assert find("CTCLoss").input_names({"use_label_lengths": True}) == (
        "data",
        "label",
        "label_lengths",
    )
    with pytest.raises(MXNetError, match="needs kernel"):
        describe_node("Convolution", {"num_filter": 1})

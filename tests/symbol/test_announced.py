# SPDX-License-Identifier: Apache-2.0
"""Ops that can be written down but have no kernel yet: declared as MXNet's, and no functions."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

import afterglow as mx
from afterglow import nd, sym
from afterglow._core import describe_node, describe_table, operation
from afterglow.cli import _inventory
from afterglow.error import ArrayNotImplementedError, MXNetError
from afterglow.symbol._ops import declared, find

RECORDED: dict[str, dict[str, str]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "announced.json").read_text()
)
ANNOUNCED = {name for name, one in describe_table().items() if one["announced"]}
#: Those that functions written in Python stand for.
RUNNING = {"CTCLoss"}


def test_what_is_recorded_is_what_is_announced() -> None:
    assert {declared()[name] for name in RECORDED} == ANNOUNCED


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
    assert list(op["parameters"]) == [key for key in theirs if key not in arrays]
    for key, (kind, required, doc) in op["described"].items():
        assert doc
        assert required == theirs[key].endswith("required"), key
        choices = re.findall(r"'(\w+)'", theirs[key].partition("}")[0])
        if theirs[key].startswith("{"):
            assert re.findall(r"'(\w+)'", kind) == choices
            default = re.findall(r"default='(\w+)'", theirs[key])
            assert required or str(op["parameters"][key]) == default[0], key
        elif not required:
            wanted = default_of(theirs[key])
            wanted = tuple(wanted) if isinstance(wanted, list) else wanted
            assert op["parameters"][key] == pytest.approx(wanted), key


@pytest.mark.parametrize("name", sorted(ANNOUNCED - RUNNING))
def test_they_are_no_functions(name: str) -> None:
    with pytest.raises(ArrayNotImplementedError, match=rf"\[{name}\] the op is not implemented"):
        operation(name, True)(*[nd.ones((1,))] * len(describe_table()[name]["inputs"]))
    for known in describe_table()[name]["mxnet_names"]:
        assert known in _inventory.ops().missing
        for module in (nd, nd.contrib, mx.npx):
            assert not hasattr(module, re.sub("^(_contrib_|_npx_)", "", known))


def test_they_are_functions_of_symbols() -> None:
    symbol = sym.IdentityAttachKLSparseReg(sym.var("x"), name="k")
    states = {"k_moving_avg": nd.ones((2,))}
    with pytest.raises(ArrayNotImplementedError, match="the op is not implemented"):
        symbol.bind(mx.cpu(), {"x": nd.ones((1, 2))}, aux_states=states).forward()
    assert "does not run yet" in sym.IdentityAttachKLSparseReg.__doc__
    assert callable(sym.contrib.MultiBoxPrior)


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

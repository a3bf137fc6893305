# SPDX-License-Identifier: Apache-2.0
"""The table of ops: each is a function wherever MXNet has it, says what it is, and is a node."""

from __future__ import annotations

import doctest
import functools
import inspect
import json
from typing import Any

import pytest
from net.tables import RECORDS, Record, as_list
from net.ways import Call, numpy_mode

import afterglow as mx
from afterglow._arrays.op_functions import table
from afterglow._core import Operation, describe_spellings, describe_table, operation
from afterglow._interoperation.host_calls import declare_host
from afterglow._package.namespace import mxnet_names, mxnet_ops
from afterglow.error import ArrayNotImplementedError
from afterglow.symbol._ops import declared

#: Ops of ours that MXNet has too: its name, the public function there, the name in our table.
OPS = [
    (theirs, public, declared()[theirs])
    for theirs, public in mxnet_ops()[0].items()
    if public and theirs in declared()
]


def value_of(path: str) -> Any:
    """Return what a path behind ``mx`` stands for; None if there is no such name."""
    return functools.reduce(lambda value, name: getattr(value, name, None), path.split("."), mx)


def of_symbols(path: str) -> str:
    """Return the function of symbols that a public function has beside it."""
    return f"sym.{path.removeprefix('nd.')}"


def test_ops_are_functions_wherever_mxnet_has_them() -> None:
    assert len(OPS) > 200
    missing = [public for _, public, _ in OPS if not callable(value_of(public))]
    missing += [of_symbols(one) for _, one, _ in OPS if not callable(value_of(of_symbols(one)))]
    assert missing == []


def test_functions_are_there_that_call_ops_of_ours_in_mxnet() -> None:
    """Private ops are public by the functions that are made of them."""
    callers = [
        path for theirs, paths in mxnet_ops()[1].items() if theirs in declared() for path in paths
    ]
    paths = [path for path in callers if path.startswith(("nd.", "np.", "npx."))]
    assert len(paths) > 150
    assert [path for path in paths if value_of(path) is None] == []


def test_functions_say_what_they_take_and_do() -> None:
    problems = []
    for _, public, _ in OPS:
        function = value_of(public)
        text = inspect.getdoc(function) or ""
        if not doctest.DocTestParser().get_examples(text):
            problems.append(f"{public} has no example")
        if not inspect.signature(function).parameters:
            problems.append(f"{public} takes nothing")
    assert problems == []


def test_functions_of_ops_are_the_ops() -> None:
    """A function that a documented op is said to be is that op, and no Python beside it.

    Those of ``nd.random`` choose between two ops, as in MXNet.
    """
    found = {public: value_of(public) for _, public, op in OPS if table()[op]["doc"]}
    beside = {public for public, one in found.items() if not isinstance(one, Operation)}
    assert {one for one in beside if not one.startswith("nd.random.")} == set()


def test_ops_that_python_computes_are_listed() -> None:
    """A front end without Python knows them by name, tells what they take, and refuses them."""
    host = {name: op for name, op in describe_table().items() if op["host"]}
    assert {"qr", "eigh", "histogram", "lcm", "choice", "orthogonal"} <= set(host)
    assert host["trsm"]["inputs"] == ["a", "b"]
    assert host["trsm"]["described"] == {"lower": ("a boolean", False, "")}
    assert host["trsm"]["parameters"] == {"lower": True}
    for name, op in host.items():
        assert op["doc"].startswith("Return ")
        assert op["doc"].partition("\n")[0].endswith(".")
        assert op["inputs"]
        assert describe_spellings(name) == []  # public are the functions over them
        with pytest.raises(ArrayNotImplementedError, match=rf"^\[{name}\] is computed by Python"):
            operation(name, False)(*[mx.np.ones((2, 2))] * len(op["inputs"]))


def test_an_op_is_declared_once() -> None:
    for taken in ("exp", "qr"):
        with pytest.raises(RuntimeError, match=f"'{taken}' declared twice"):
            declare_host(taken, infer=lambda a: a)(lambda a: a)


#: Calls that are no nodes, and why.
NO_NODES = {
    "np.histogram": "is a function of nodes in nd alone, where its bins have names of their own",
    "np.where": "tells indices, whose number depends on values",
}


def nodes() -> list[Record]:
    """Return the calls of functions that MXNet's symbols have, too."""
    found = []
    for record in RECORDS:
        path, _, name = of_symbols(record.name).rpartition(".")
        if record.samples() and name in mxnet_names(path) and callable(value_of(f"{path}.{name}")):
            found.append(record)
    return found


def differs_in_a_file(record: Record) -> str:
    """Return what is wrong with a node that was read from a file: its text, or its answer."""
    call = Call(record, record.hosts(record.types[0]), [])
    with numpy_mode(not record.legacy):
        try:
            symbol, values = call.graph()
        except (TypeError, mx.MXNetError) as error:
            return "" if record.name in NO_NODES else str(error)
        text = symbol.tojson(remove_amp_cast=False)
        read = mx.sym.load_json(text)
        if json.loads(read.tojson(remove_amp_cast=False)) != json.loads(text):
            return "is written otherwise"
        if record.random or symbol.list_auxiliary_states():
            return ""
        found = (read if record.legacy else read.as_np_ndarray()).eval(**values)
        wanted = as_list(call.apply(call.arrays()))
        pairs = zip(found, wanted, strict=False)  # a graph may show fewer
        return "" if all(_same(*pair) for pair in pairs) else "answers otherwise"


def _same(one: Any, other: Any) -> bool:
    return bool(one.dtype == other.dtype and one.asnumpy().tobytes() == other.asnumpy().tobytes())


def test_calls_survive_files() -> None:
    """The parameters of a node are text in files; read again, it answers with the same bits."""
    records = nodes()
    assert len(records) > 500
    problems = [(one.name, one.keywords, differs_in_a_file(one)) for one in records]
    assert [one for one in problems if one[2]] == []

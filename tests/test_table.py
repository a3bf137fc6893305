# SPDX-License-Identifier: Apache-2.0
"""The table of ops: each is a function wherever MXNet has it, says what it is, and is a node."""

from __future__ import annotations

import doctest
import functools
import inspect
import json
from typing import Any

import pytest

import afterglow as mx
from afterglow._core import Operation
from afterglow._namespace import mxnet_ops
from afterglow._op_functions import table
from afterglow.symbol._ops import declared
from net.tables import RECORDS, Record, as_list
from net.ways import Call, numpy_mode

#: Ops of ours that MXNet has too: its name, the public function there, the name in our table.
OPS = [
    (theirs, public, declared()[theirs])
    for theirs, public in mxnet_ops()[0].items()
    if public and theirs in declared()
]
#: Those that run; the others are for symbols alone.
RUNNING = [one for one in OPS if not table()[one[2]]["announced"]]


def value_of(path: str) -> Any:
    """Return what a path behind ``mx`` stands for; None if there is no such name."""
    return functools.reduce(lambda value, name: getattr(value, name, None), path.split("."), mx)


def of_symbols(path: str) -> str:
    """Return the function of symbols that a public function has beside it."""
    return f"sym.{path.removeprefix('nd.')}"


def test_ops_are_functions_wherever_mxnet_has_them() -> None:
    assert len(RUNNING) > 300
    missing = [public for _, public, _ in RUNNING if not callable(value_of(public))]
    missing += [of_symbols(one) for _, one, _ in OPS if not callable(value_of(of_symbols(one)))]
    assert missing == []


def test_functions_say_what_they_take_and_do() -> None:
    problems = []
    for _, public, _ in RUNNING:
        function = value_of(public)
        text = inspect.getdoc(function) or ""
        if not doctest.DocTestParser().get_examples(text):
            problems.append(f"{public} has no example")
        if not inspect.signature(function).parameters:
            problems.append(f"{public} takes nothing")
    assert problems == []


def test_functions_of_ops_are_the_ops() -> None:
    """A function that a documented op is said to be is that op, and no Python beside it."""
    found = {public: value_of(public) for _, public, op in RUNNING if table()[op]["doc"]}
    assert [public for public, one in found.items() if not isinstance(one, Operation)] == []


def nodes() -> list[Record]:
    """Return one call or more of every function that is one of symbols, too."""
    return [one for one in RECORDS if callable(value_of(of_symbols(one.name))) and one.samples()]


def test_calls_survive_files() -> None:
    """The parameters of a node are text in files; read again, it answers with the same bits."""
    problems, tried = [], 0
    for record in nodes():
        call = Call(record, record.hosts(record.types[0]), [])
        with numpy_mode(not record.legacy):
            try:
                symbol, values = call.graph()
            except (TypeError, NotImplementedError, mx.MXNetError):
                continue  # numbers, lists or results that graphs do not have
            text = symbol.tojson()
            read = mx.sym.load_json(text)
            if json.loads(read.tojson()) != json.loads(text):
                problems.append(f"{record.name} {record.keywords}: is written otherwise")
            if record.random or len(symbol.list_auxiliary_states()):
                continue
            if not record.legacy:
                read = read.as_np_ndarray()
            wanted = [one.asnumpy().tobytes() for one in as_list(call.apply(call.arrays()))]
            found = [one.asnumpy().tobytes() for one in read.eval(**values)]
            tried += 1
            if found != wanted[: len(found)]:
                problems.append(f"{record.name} {record.keywords}: answers otherwise")
    assert tried > 300
    assert problems == []

# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/waiting.md: what is said to wait does, and nothing else does."""

from __future__ import annotations

import copy
import math
import pickle
import re
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy
import pytest

import afterglow as mx
from afterglow import autograd, engine, gluon, nd, np, npx
from afterglow._interoperation.host_calls import declare_host


def tables_of(name: str) -> list[list[str]]:
    """Return the code in the first column of each table of a guide."""
    text = (Path(__file__).parents[2] / "docs" / name).read_text(encoding="utf-8")
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    columns = ["".join(re.findall(r"^\|[^|]*\|", table, re.MULTILINE)) for table in tables]
    return [re.findall(r"`([^`]+)`", column) for column in columns]


ON_PURPOSE, VALUES, SHAPES, DOES_NOT = tables_of("waiting.md")


def names_of_the_guide(x: Any, folder: Path) -> dict[str, Any]:
    """Return what the statements speak of; all arrays of (3, 3) are computed from ``x``."""
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize()
    variable = x * 1
    variable.attach_grad()
    with autograd.record():
        recorded = net(variable).sum()
        learned = net(x)
    learned.backward()
    return {
        "autograd": autograd,
        "copy": copy,
        "engine": engine,
        "file": str(folder / "array"),
        "gluon": gluon,
        "math": math,
        "metric": mx.metric.Accuracy(),
        "mx": mx,
        "nd": nd,
        "net": net,
        "np": np,
        "npx": npx,
        "numpy": numpy,
        "p": x.as_np_ndarray(),
        "pickle": pickle,
        "recorded": recorded,
        "trainer": gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}),
        "variable": variable,
        "x": x,
        "y": x + 1,
    }


@declare_host("gate", infer=lambda ones, gate: ones)
def pass_gate(ones: Any, *, gate: threading.Event) -> Any:
    """Return ones when the gate is opened."""
    gate.wait(20)
    return ones


def behind(gate: threading.Event) -> Any:
    """Return an array of ones whose value comes when the gate is opened."""
    return pass_gate(nd.ones((3, 3)), gate=gate)


def execute(statement: str, names: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy computes it: said once per name
        exec(statement, names)


@pytest.mark.skipif(engine.is_serial(), reason="a serial engine never has anything to wait for")
@pytest.mark.parametrize("statement", DOES_NOT)
def test_does_not_wait(statement: str, tmp_path: Path) -> None:
    gate = threading.Event()
    try:
        x = behind(gate)
        execute(statement, names_of_the_guide(x, tmp_path))
        assert not x.is_ready()
    finally:
        gate.set()
        nd.waitall()


@pytest.mark.skipif(engine.is_serial(), reason="a serial engine never has anything to wait for")
@pytest.mark.parametrize("statement", VALUES + SHAPES)
def test_waits(statement: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gate = threading.Event()
    timer = threading.Timer(0.05, gate.set)
    x = behind(gate)
    names = names_of_the_guide(x, tmp_path)
    timer.start()
    try:
        execute(statement, names)
        assert gate.is_set()
    finally:
        timer.join()
        nd.waitall()


def test_the_chinese_guide_has_the_same_tables() -> None:
    assert tables_of("waiting.zh.md") == [ON_PURPOSE, VALUES, SHAPES, DOES_NOT]

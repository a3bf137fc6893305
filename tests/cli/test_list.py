# SPDX-License-Identifier: Apache-2.0
"""afterglow list: which names there are, and which of MXNet's there are not."""

from __future__ import annotations

import re
from typing import Any, NoReturn

import numpy as onp
import pytest

import afterglow as mx
from afterglow._package.namespace import mxnet_ops
from afterglow.cli import _inventory, main


def rows(text: str) -> dict[str, dict[str, str]]:
    """Return what stands behind each name, by the title of its section."""
    found: dict[str, dict[str, str]] = {}
    for section in text.split("\n\n"):
        title, *lines = section.splitlines()
        parts = [line.strip().partition(" ") for line in lines]
        found[title] = {name: rest.strip() for name, _, rest in parts}
    return found


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a narrow one, lines are cut."""
    monkeypatch.setenv("COLUMNS", "1000")


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, str]]:
    assert main(["list", *words]) == 0
    return rows(capsys.readouterr().out)


def missing(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, list[str]]:
    """Return the names that are missing by namespace."""
    assert main(["list", "--missing", *words]) == 0
    sections = capsys.readouterr().out.split("\n\n")[:-1]
    return {one.partition(":")[0]: one.partition("\n")[2].split() for one in sections}


def test_all_names(capsys: pytest.CaptureFixture[str]) -> None:
    found = listed(capsys)
    assert found["mx.nd"]["exp"] == "Return e to the power of each element."
    assert found["mx.gluon.loss"].keys() == {*mx.gluon.loss.__all__}
    assert found["mx.np.linalg"].keys() >= {*mx.np.linalg.__all__}
    assert {"mx", "mx.npx", "mx.sym", "mx.gluon.nn", "mx.optimizer", "mx.engine"} <= found.keys()
    assert list(found)[:3] == ["mx", "mx.nd", "mx.nd.contrib"]
    assert found["mx.np"]["pi"].split() == ["native", "=", str(onp.pi)]
    assert not {"Any", "annotations", "elementwise"} & {*found["mx.nd"], *found["mx"]}
    without = [
        f"{title}.{name}"
        for title in ("mx.nd", "mx.npx", "mx.np.random", "mx.gluon.nn", "mx.gluon.loss")
        for name, text in found[title].items()
        if not text
    ]
    assert without == []


def test_functions_of_numpy(capsys: pytest.CaptureFixture[str]) -> None:
    found = listed(capsys, "np.*")
    states = {name: text.partition("  ")[0] for name, text in found["mx.np"].items()}
    assert states["add"] == states["alltrue"] == "native"
    assert states["nanmedian"] == "through NumPy"
    assert {*states.values()} <= {"native", "through NumPy", "missing"}
    functions = {
        name
        for name in onp.__all__
        if callable(getattr(onp, name)) and not isinstance(getattr(onp, name), type)
    }
    assert functions - {"test"} <= states.keys()
    assert found["mx.np.linalg"]["tensorsolve"].startswith("native")
    assert found["mx.np.random"]["normal"].startswith("native")
    for name in states.keys() & functions:
        assert hasattr(mx.np, name) == (states[name] != "missing")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("mx.NPX.Log_Soft", {"mx.npx": {"log_softmax"}, "mx.sym.npx": {"log_softmax"}}),
        ("nd.broadcast_l[ei]*e", {"mx.nd": {"broadcast_like"}}),
        ("gluon.nn.HybridS", {"mx.gluon.nn": {"HybridSequential"}}),
        ("Polys*er", {"mx.lr_scheduler": {"PolyScheduler"}}),
    ],
)
def test_patterns(
    pattern: str, expected: dict[str, set[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert {title: {*names} for title, names in listed(capsys, pattern).items()} == expected


def test_lines_are_cut_to_the_width(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert main(["list", "nd.random."]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) == 50
    assert any(line.endswith("...") for line in lines)
    monkeypatch.delenv("COLUMNS")
    assert main(["list", "nd.random."]) == 0
    assert not any(line.endswith("...") for line in capsys.readouterr().out.splitlines())


def test_a_name_is_missing_while_it_is_not_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = missing(capsys)
    assert "FullyConnected" not in before["mx.nd"]
    monkeypatch.delattr(mx.nd, "FullyConnected")
    monkeypatch.delattr(mx.gluon.nn, "Dense")
    after = missing(capsys)
    assert {*after["mx.nd"]} - {*before["mx.nd"]} == {"FullyConnected"}
    assert {*after.get("mx.gluon.nn", ())} - {*before.get("mx.gluon.nn", ())} == {"Dense"}
    assert missing(capsys, "fullyconn")["mx.nd"] == ["FullyConnected"]


def test_a_function_that_only_refuses_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> NoReturn:
        raise NotImplementedError

    assert "import_model" in listed(capsys)["mx.contrib.onnx"]
    monkeypatch.setattr(mx.contrib.onnx, "import_model", refuse)
    assert "import_model" in missing(capsys)["mx.contrib.onnx"]
    assert "import_model" not in listed(capsys)["mx.contrib.onnx"]


def test_ops_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    ops = _inventory.ops()
    every = [*ops.there, *ops.missing, *ops.gradients, *ops.private]
    assert sorted(every) == sorted(mxnet_ops()[0])
    assert len(every) == len(ops) == 1167
    assert all("backward" in name for name in ops.gradients)
    assert {"exp", "FullyConnected", "_plus_scalar", "_npi_add", "_slice_assign"} <= {*ops.there}
    assert "_CachedOp" in ops.private
    assert "_Plus" in ops.private_that_run
    assert main(["list", "--missing"]) == 0
    summary = capsys.readouterr().out.split("\n\n")[-1].removeprefix("MXNet 1.9.1")
    numbers = re.findall(r"\d+", summary)
    parts = [ops.there, ops.missing, ops.gradients, ops.private, ops.private_that_run]
    assert [int(one) for one in numbers] == [
        len(every),
        len(ops.there) + len(ops.missing),
        *map(len, parts),
    ]


def test_every_op_that_is_missing_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    names = {f"{path}.{name}" for path, all_ in missing(capsys).items() for name in all_}
    registered, callers = mxnet_ops()
    for op in _inventory.ops().missing:
        public = [registered[op]] if registered[op] else callers[op]
        assert {f"mx.{one}" for one in public} & names, op


def test_an_op_is_missing_while_its_function_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _inventory.ops()
    monkeypatch.delattr(mx.nd, "exp")
    after = _inventory.ops()
    assert {*before.there} - {*after.there} == {"exp"} == {*after.missing} - {*before.missing}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["softmx"], "there is no public name like 'softmx'; did you mean softmax or"),
        (["mx.nd.expp"], "there is no public name like 'mx.nd.expp'; did you mean exp"),
        (
            ["CudaModule"],
            "no public name like 'CudaModule'; see afterglow list --missing CudaModule",
        ),
        (["qqqqq"], "there is no public name like 'qqqqq'\n"),
        (["--missing", "log_softmax"], "is missing; see afterglow list log_softmax"),
    ],
)
def test_no_name(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", *words]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("afterglow list: ")
    assert said in err

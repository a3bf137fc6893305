# SPDX-License-Identifier: Apache-2.0
"""Names that public modules lack, and those that they show.

What MXNet has is recorded in ``afterglow/_package/mxnet_names.json`` by ``golden/record_mxnet.py``.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pickle
import subprocess
import sys
from pathlib import Path
from types import GenericAlias
from typing import Any

import pytest

import afterglow as mx
from afterglow._package import namespace as _namespace
from afterglow.cli import _inventory

#: Names that programs use, which have been counted without MXNet.
USED = json.loads((Path(__file__).parent / "golden" / "names.json").read_text(encoding="utf-8"))
MODULES = _inventory.public_modules()
TYPO = "zzz_not_a_name"


def text_of(module: Any, name: str) -> str:
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    return str(caught.value)


@pytest.mark.parametrize(
    ("module", "name", "path"),
    [
        (mx, "cpu", "mx.cpu"),
        (mx.nd, "exp", "mx.nd.exp"),
        (mx.nd.contrib, "foreach", "mx.nd.contrib.foreach"),
        (mx.np.random, "uniform", "mx.np.random.uniform"),
        (mx.npx, "relu", "mx.npx.relu"),
        (mx.sym, "var", "mx.sym.var"),
        (mx.gluon.nn, "Dense", "mx.gluon.nn.Dense"),
        (mx.gluon.loss, "L2Loss", "mx.gluon.loss.L2Loss"),
        (mx.optimizer, "Adam", "mx.optimizer.Adam"),
        (mx.init, "Xavier", "mx.init.Xavier"),
        (mx.io, "NDArrayIter", "mx.io.NDArrayIter"),
        (mx.viz, "plot_network", "mx.viz.plot_network"),
    ],
)
def test_a_name_of_mxnet_is_told_from_a_misspelled_one(
    module: Any, name: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(module, name)
    assert not hasattr(module, name)
    text = text_of(module, name)
    assert text.startswith(f"{path} is a name of MXNet 1.9.1 that Afterglow does not have yet; ")
    assert "afterglow list --missing" in text
    assert "docs/differences.md#not-there-yet" in text
    with pytest.raises(ImportError, match=f"cannot import name {name!r}"):
        exec(f"from {module.__name__} import {name}")


def test_every_name_of_mxnet_is_there_or_told() -> None:
    told = 0
    for path in _namespace.mxnet_names():
        module = MODULES.get(path)
        for name in _namespace.mxnet_names(path) if module else ():
            if not hasattr(module, name):
                assert " is a name of MXNet 1.9.1 " in text_of(module, name)
                told += 1
    assert told < 1000


def test_names_that_programs_use_are_recorded() -> None:
    """The record of MXNet's names and the count of uses were made apart from each other."""
    spaces = {"nd", "np", "npx", "gluon.nn", "gluon.rnn", "gluon.data.vision", "nd.contrib"}
    unknown = {
        f"{space}.{name}"
        for space in spaces
        for name in USED[space]
        if name not in _namespace.mxnet_names(space) and not name.startswith(("my_", "state_"))
    }
    assert unknown <= {"nd.np", "nd.npx", "gluon.nn.Block", "gluon.nn.HybridBlock"}


@pytest.mark.parametrize(
    ("module", "name", "meant"),
    [
        (mx, "gluno", "gluon"),
        (mx.nd, "softmx", "softmax"),
        (mx.np, "linspce", "linspace"),
        (mx.sym, "FullyConected", "FullyConnected"),
        (mx.sym.contrib, "boolean_maks", "boolean_mask"),
        (mx.gluon.nn, "dense", "Dense"),
        (mx.lr_scheduler, "FactorSchedule", "FactorScheduler"),
    ],
)
def test_a_misspelled_name(module: Any, name: str, meant: str) -> None:
    assert not hasattr(module, name)
    said = f"module {module.__name__!r} has no attribute {name!r}; did you mean {meant}"
    assert text_of(module, name).startswith(said)


def test_a_misspelled_name_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_namespace, "mxnet_names", lambda path: frozenset(["Zwölfeck"]))
    text = text_of(mx.gluon.loss, "zwölfek")
    assert "has no attribute 'zwölfek'; mx.gluon.loss.Zwölfeck is a name of MXNet" in text


def test_a_module_that_is_missing() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("afterglow.rtc")
    assert text_of(mx, "rtc").startswith("mx.rtc is a name of MXNet")


@pytest.mark.parametrize("path", MODULES)
def test_asking_for_a_name_raises_nothing_else(path: str) -> None:
    module = MODULES[path]
    names = {name for other in ("nd", "np", "npx", "sym", path) for name in dir(MODULES[other])}
    for name in {*names, *_namespace.mxnet_names(path), TYPO, f"_{TYPO}", f"__{TYPO}__"}:
        hasattr(module, name)
    assert not hasattr(module, TYPO)
    assert text_of(module, TYPO) == f"module {module.__name__!r} has no attribute {TYPO!r}"


#: What public modules may show besides what is ours and NumPy's: plain values, and types of them.
PLAIN = (str, int, float, tuple, list, dict, GenericAlias, type(None))


@pytest.mark.parametrize("path", MODULES)
def test_public_modules_show_public_names_only(path: str) -> None:
    module = MODULES[path]
    shown = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    hidden = {"__version__", *getattr(module, "_star_imported", ())}
    assert {*getattr(module, "__all__", ())} - hidden <= {*shown}
    for name, value in shown.items():
        home = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
        ours = (home or "").split(".")[0] in ("afterglow", "numpy")
        assert ours or isinstance(value, PLAIN) or value in PLAIN, f"{path} shows {name}"
        allowed = {*getattr(module, "__all__", (name,)), *_namespace.mxnet_names(path)}
        assert name in allowed, f"{path} shows {name}"


def test_lists_that_no_module_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where functions are made when they are asked for, ``dir`` shows those of MXNet's names."""
    assert {"exp", "FullyConnected", "var", "contrib"} <= {*dir(mx.sym)}
    assert "boolean_mask" in dir(mx.sym.contrib)
    assert "CTCLoss" in dir(mx.nd.contrib)
    assert "relu" in dir(mx.sym.npx)
    assert not {"waitall", "array", "NDArray", "Any", "annotations"} & {*dir(mx.sym)}


def test_errors_travel() -> None:
    with pytest.raises(mx.MXNetError) as caught:
        mx.nd.zzz_not_a_name
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert (str(again), again.name) == (str(caught.value), TYPO)


def test_nothing_is_read_before_a_text_is() -> None:
    code = """
        import sys
        import afterglow as mx
        from afterglow._package import namespace as _namespace
        assert not hasattr(mx.nd, "zzz") and not hasattr(mx.gluon, "zzz")
        assert getattr(mx.sym, "zzz", None) is None
        print(_namespace._recorded.cache_info().currsize, "difflib" in sys.modules)
    """
    done = subprocess.run(
        [sys.executable, "-c", inspect.cleandoc(code)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", "False"]


def test_modules_are_pickled_by_name() -> None:
    for module in (mx, mx.np, mx.np.random, mx.npx, mx.nd):
        assert inspect.ismodule(module)
        assert pickle.loads(pickle.dumps(module)) is module

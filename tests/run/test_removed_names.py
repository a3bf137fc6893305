# SPDX-License-Identifier: Apache-2.0
"""What is put back of modules that Python had until 3.12.

Where Python still has them (3.11), they are asked for the same, and must answer alike.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as onp
import pytest

from afterglow._interoperation.removed_names import _RemovedModules


def ours(name: str) -> Any:
    finder = _RemovedModules()
    assert finder.find_spec("another") is None
    spec = finder.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def modules(name: str) -> list[Any]:
    """Return our module and, where there still is one, Python's."""
    found = [ours(name)]
    if sys.version_info < (3, 12):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            found.append(importlib.import_module(name))
    return found


VERSIONS = ["1.9.1", "1.10", "1.9.0", "1.9", "2.0b1", "2.0", "2.0a3", "1.9.1+cu112", "0.960923"]


@pytest.mark.filterwarnings("ignore:distutils Version classes")
@pytest.mark.parametrize("kind", ["LooseVersion", "StrictVersion"])
def test_versions(kind: str) -> None:
    answers = []
    for module in modules("distutils.version"):
        version = getattr(module, kind)
        answer: list[Any] = []
        for one in VERSIONS:
            try:
                answer.append((repr(version(one)), version(one).version))
            except ValueError:
                answer.append(ValueError)
            for other in VERSIONS:
                try:
                    a, b = version(one), version(other)
                    answer.append((a < b, a <= b, a == b, a >= b, a > b, a < other, a == other))
                except (TypeError, ValueError) as problem:
                    answer.append(type(problem))
        answers.append(answer)
    assert (True, True, False, False, False, True, False) in answers[0]
    assert all(answer == answers[0] for answer in answers)


def test_truth_values() -> None:
    for module in modules("distutils.util"):
        assert [module.strtobool(word) for word in ("Yes", "t", "on", "1", "NO", "f", "0")] == [
            *[1] * 4,
            *[0] * 3,
        ]
        with pytest.raises(ValueError, match="invalid truth value"):
            module.strtobool("maybe")


def test_folders_and_programs(tmp_path: Path) -> None:
    for number, module in enumerate(modules("distutils.dir_util")):
        folder = tmp_path / str(number)
        module.mkpath(str(folder / "a" / "b"))
        (folder / "a" / "b" / "text").write_text("x")
        copied = module.copy_tree(str(folder / "a"), str(folder / "c"))
        assert [Path(name) for name in copied] == [folder / "c" / "b" / "text"]
        module.remove_tree(str(folder / "a"))
        assert [path.name for path in folder.iterdir()] == ["c"]
    for module in modules("distutils.spawn"):
        assert module.find_executable("sh").endswith("/sh")
        assert module.find_executable("no-such-program") is None


def test_imp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.py").write_text("count = globals().get('count', 0) + 1\nname = __name__\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for number, module in enumerate(modules("imp")):
        name = f"loaded{number}"
        loaded = module.load_source(name, str(tmp_path / "one.py"))
        assert (loaded.count, loaded.name, sys.modules.pop(name)) == (1, name, loaded)
        one = importlib.import_module("one")
        assert module.reload(one) is one
        assert one.count == 2
        del sys.modules["one"]
        assert isinstance(module.new_module("empty"), ModuleType)
        assert module.cache_from_source("a.py") == importlib.util.cache_from_source("a.py")


def test_names_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a module of that name with what NumPy has now; what it has stays."""
    from afterglow._interoperation import removed_names

    numpy = ModuleType("numpy")
    vars(numpy).update({name: value for name, value in vars(onp).items() if name != "bool_"})
    vars(numpy).update(bool_=onp.bool_, product="own")
    removed_names._numpy(numpy)
    names: Any = numpy
    assert names.product == "own"
    assert names.float is float
    assert names.asscalar(onp.array([2.5])) == 2.5
    assert names.cast[onp.int8]([1.7]).dtype == onp.int8
    assert names.asfarray([1]).dtype == names.asfarray([1], int).dtype == onp.float64
    assert names.asfarray([1], "float32").dtype == onp.float32
    assert names.msort(onp.array([[2, 1], [1, 2]])).tolist() == [[1, 1], [2, 2]]
    assert names.issubclass_(onp.float32, onp.floating)
    assert not names.issubclass_(1, onp.floating)
    assert names.AxisError is onp.exceptions.AxisError
    reading = names.fromstring
    removed_names._numpy(numpy)
    assert names.fromstring is reading

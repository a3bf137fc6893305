# SPDX-License-Identifier: Apache-2.0
"""Public modules: which names they show, and what is said of a name that they lack.

``mxnet_names.json`` has the names of MXNet 1.9.1, as ``tests/golden/record_mxnet.py`` finds them
there. It is read when the text of an error is asked for, or by ``dir``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from .._core import Namespace
from ..error import MissingNameError
from ..version import MXNET_VERSION

#: How programs write the modules that have several names.
SHORT = {
    "initializer": "init",
    "kvstore": "kv",
    "module": "mod",
    "monitor": "mon",
    "ndarray": "nd",
    "numpy": "np",
    "numpy_extension": "npx",
    "symbol": "sym",
    "visualization": "viz",
}
_SHORT_BELOW = {"numpy": "np", "numpy_extension": "npx"}  # in sym


def tend(name: str) -> None:
    """Let a module and those below it show their public names, and explain those they lack."""
    waiting, known = [sys.modules[name]], set[str]()
    while waiting:
        module = waiting.pop()
        names = vars(module)
        known.add(module.__name__)
        names.setdefault("__getattr__", partial(_otherwise, module.__name__))
        names["__dir__"] = partial(_shown, module)
        module.__class__ = Namespace
        for below in map(names.get, names.get("__all__", ())):
            if isinstance(below, ModuleType) and below.__name__ not in known:
                waiting.append(below)


def _otherwise(module: str, name: str) -> Any:
    """Return an internal of MXNet's, or say that there is no such name."""
    if name.startswith("__"):  # what imports ask every module for
        raise MissingNameError(module, name)
    from .mxnet_internals import internal  # which few programs ask for

    is_there, value = internal(module.partition(".")[2], name)
    if not is_there:
        raise MissingNameError(module, name)
    setattr(sys.modules[module], name, value)
    return value


def _shown(module: ModuleType) -> list[str]:
    """Return the names that a module declares, and those of MXNet's that it answers to."""
    declared = {*_declared(module)} - {*vars(module).get("_star_imported", ())}
    others = mxnet_names(spelled(module.__name__)) - declared
    special = (name for name in vars(module) if name.startswith("__"))
    return sorted({*special, *declared, *(name for name in others if hasattr(module, name))})


def _declared(module: ModuleType) -> Iterable[str]:
    names = vars(module)
    stated: Iterable[str] | None = names.get("__all__")
    if stated is not None:
        return stated
    return (
        name
        for name, value in names.items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    )


def spelled(module: str) -> str:
    """Return the path of a module as programs write it behind ``mx.``; that of ``mx`` is ``.``."""
    first, *others = module.split(".")[1:] or ["."]
    return ".".join([SHORT.get(first, first), *(_SHORT_BELOW.get(one, one) for one in others)])


@cache
def _recorded() -> dict[str, Any]:
    text = Path(__file__).with_name("mxnet_names.json").read_text(encoding="utf-8")
    recorded: dict[str, Any] = json.loads(text)
    return recorded


def mxnet_names(path: str | None = None) -> frozenset[str]:
    """Return the public names that MXNet has in a namespace, or all of its namespaces."""
    names = _recorded()["names"]
    return frozenset(names if path is None else names.get(path, "").replace("*", "").split())


@cache
def mxnet_ops() -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return MXNet's ops with the public function that each is, and the callers of private ones."""
    recorded = _recorded()
    public = dict.fromkeys(" ".join(recorded["ops"]).split(), "")
    for path, prefix in recorded["prefixes"].items():
        shown = [name for name in recorded["names"][path].split() if name.endswith("*")]
        for own in (name.removesuffix("*") for name in (*shown, *recorded["hidden"].get(path, ()))):
            public[prefix + own] = f"{path}.{own}"
    called = (pair.split("=") for pair in " ".join(recorded["callers"]).split())
    return dict(sorted(public.items())), {op: functions.split(",") for op, functions in called}


def explain(module: str, name: str) -> str:
    """Return what is said of a name that a module lacks: is it one of MXNet's, or misspelled."""
    path = spelled(module)
    theirs = mxnet_names(path)
    if name in theirs:
        whole = f"mx.{path}.{name}".replace("..", "")
        return (
            f"{whole} is a name of MXNet {MXNET_VERSION} that Afterglow does not have yet; "
            "`afterglow list --missing` shows all of them, and docs/differences.md#not-there-yet "
            "tells what is to come"
        )
    plain = f"module {module!r} has no attribute {name!r}"
    if question := did_you_mean(name, dir(sys.modules[module]) if module in sys.modules else ()):
        return f"{plain}; {question}"
    near = _near(name, theirs)
    return f"{plain}; {explain(module, near[0])}" if near else plain


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question with the names that a word is nearly one of; empty if there are none."""
    near = _near(word, known)
    return f"did you mean {' or '.join(near)}?" if near else ""


def _near(word: str, known: Iterable[str]) -> list[str]:
    import difflib  # only a misspelling pays for it

    names = {name.lower(): name for name in sorted(known)}  # small letters first
    return [names[one] for one in difflib.get_close_matches(word.lower(), names)]

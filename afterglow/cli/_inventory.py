# SPDX-License-Identifier: Apache-2.0
"""What is there: public names by namespace, functions of NumPy, names and ops of MXNet.

Nothing is kept in a list here. What there is stands in the modules and in the table of symbol ops,
what there should be in NumPy and in the names recorded from MXNet.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections import deque
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import afterglow

from .._package.namespace import mxnet_names, mxnet_ops, spelled
from ..numpy.fallback import NOT_OURS
from ..symbol._ops import find

#: Namespaces that programs use most come first.
_FIRST = (".", "nd", "np", "npx", "sym", "gluon")
#: Modules of NumPy's whose functions programs may look for here.
_OF_NUMPY = ("np", "np.fft", "np.linalg", "np.random")
_NOTHING = object()


def _order(path: str) -> tuple[int, str]:
    first = path.split(".")[0] or "."
    return (_FIRST.index(first) if first in _FIRST else len(_FIRST), path)


def public_modules() -> dict[str, ModuleType]:
    """Return all public modules by the path that programs write behind ``mx.``."""
    found: dict[str, ModuleType] = {}
    waiting = deque([afterglow])
    while waiting:
        module = waiting.popleft()
        path = spelled(module.__name__)
        if path not in found:
            found[path] = module
            below = (getattr(module, name) for name in _shown(module))
            waiting += (one for one in below if _is_ours(one))
    return {path: found[path] for path in sorted(found, key=_order)}


def _is_ours(value: Any) -> bool:
    return isinstance(value, ModuleType) and value.__name__.startswith(f"{afterglow.__name__}.")


def _shown(module: ModuleType) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")]


def public_names() -> dict[str, list[str]]:
    """Return the public names of every namespace; in ``np`` also all functions that NumPy has."""
    names = {
        path: {name for name in _shown(module) if _is_there(path, name)}
        for path, module in public_modules().items()
    }
    for path in _OF_NUMPY:
        names.setdefault(path, set()).update(_functions_of_numpy(path))
    return {path: sorted(names[path], key=str.lower) for path in sorted(names, key=_order)}


def _numpy(path: str) -> ModuleType:
    return importlib.import_module(path.replace("np", "numpy", 1))


def _functions_of_numpy(path: str) -> set[str]:
    module = _numpy(path)
    values = {name: getattr(module, name) for name in {*module.__all__} - NOT_OURS}
    return {name for name, one in values.items() if callable(one) and not isinstance(one, type)}


def value_of(path: str, name: str) -> Any:
    """Return what a public name stands for; what NumPy has where it is missing."""
    value = _found(path, name)
    return getattr(_numpy(path), name) if value is _NOTHING and path in _OF_NUMPY else value


def text_of(value: Any) -> str:
    """Return what a function, class or module says of itself, without its signature."""
    text = inspect.cleandoc(getattr(value, "__doc__", None) or "")
    # That of an alias, or of a symbol, may begin with another name.
    return re.sub(r"^\w+\([^\n]*\)(?: -> [^\n]*)?\n\s*\n", "", text)


def state(path: str, name: str) -> str:
    """Return how a name of ``np`` is there; of other namespaces nothing needs to be said."""
    if path not in _OF_NUMPY:
        return ""
    value = _found(path, name)
    if value is _NOTHING:
        return "missing"
    return "native" if _is_native(path, name, value) else "through NumPy"


def _is_native(path: str, name: str, value: Any) -> bool:
    """Tell whether a function is ours: NumPy's own are not in the module, or names for others."""
    module = _found(*_split(path))
    other = getattr(value, "__name__", name)
    return name in vars(module) or vars(module).get(other, _NOTHING) is value


def _split(path: str) -> tuple[str, str]:
    home, _, name = path.rpartition(".")
    return home or ".", name


def _found(path: str, name: str) -> Any:
    value: Any = afterglow
    for part in [*path.split("."), name] if path != "." else [name]:
        value = getattr(value, part, _NOTHING)
    return value


def _is_there(path: str, name: str) -> bool:
    """Tell whether there is such a name, and not only a function that says that it is missing."""
    value = _found(path, name)
    returns = getattr(value, "__annotations__", {}).get("return")
    return value is not _NOTHING and returns != "NoReturn"


def missing_names() -> dict[str, tuple[list[str], int]]:
    """Return by namespace the public names of MXNet that are missing, and how many it has."""
    found = {}
    for path in sorted(mxnet_names(), key=_order):
        names = mxnet_names(path)
        missing = [name for name in names if not _is_there(path, name)]
        if missing:
            found[path] = (sorted(missing, key=str.lower), len(names))
    return found


@dataclass
class Ops:
    """Names of MXNet's ops, by what has become of them."""

    there: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    gradients: list[str] = field(default_factory=list)
    private: list[str] = field(default_factory=list)  # no public function is the op, or calls it
    private_that_run: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self.there) + len(self.missing) + len(self.gradients) + len(self.private)


def ops() -> Ops:
    """Return which of the ops that MXNet registers are there.

    An op is there if its public function is. A private op is there if a symbol with it runs, or if
    a public function is there that calls it in MXNet.
    """
    found = Ops()
    registered, callers = mxnet_ops()
    for name, public in registered.items():
        entry = find(name)
        runs = entry.is_known and entry.function is not None
        if "backward" in name:
            found.gradients.append(name)
        elif not public and name not in callers:
            found.private.append(name)
            found.private_that_run += [name] if runs else []
        elif _is_ours_alone(public) if public else runs or any(map(_is_ours_alone, callers[name])):
            found.there.append(name)
        else:
            found.missing.append(name)
    return found


def _is_ours_alone(function: str) -> bool:
    """Tell whether a public function is there and is not NumPy's."""
    path, name = _split(function)
    return _is_there(path, name) and state(path, name) in ("", "native")

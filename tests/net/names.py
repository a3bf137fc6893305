# SPDX-License-Identifier: Apache-2.0
"""Public names: what they are, how they are called, and the first line of their documentation."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as onp

import afterglow as mx

from .lines import Line, without_what_passes

#: Modules with several names are told by these.
FIRST = ("nd", "np", "npx", "sym", "gluon")
#: What every class has, and what only says how it was written.
_UNTOLD = {
    *dir(object),
    *("__abstractmethods__", "__annotations__", "__annotate_func__", "__annotations_cache__"),
    *("__dict__", "__firstlineno__", "__module__", "__orig_bases__", "__parameters__"),
    *("__slots__", "__static_attributes__", "__weakref__", "__conditional_annotations__"),
}


def lines(wanted: Callable[[str], bool]) -> Iterator[Line]:
    """Yield the lines of all modules that are wanted."""
    told: set[type] = set()
    for path, module in _modules().items():
        if wanted(path):
            yield from _of_module(path, module, told)
    for path, theirs, ours in (("np", onp, mx.np), ("np.linalg", onp.linalg, mx.np.linalg)):
        if wanted(path):
            for name in sorted(set(dir(theirs)) - set(ours.__all__)):
                if not name.startswith("_"):
                    yield Line("names", f"{path}, of NumPy", name, _beyond(ours, name))


def _modules() -> dict[str, ModuleType]:
    """Return all public modules by their shortest path, from that of the package."""
    found: dict[str, ModuleType] = {"mx": mx}
    waiting = deque([*((name, getattr(mx, name)) for name in FIRST), *_children("", mx)])
    while waiting:
        path, module = waiting.popleft()
        if module not in found.values():
            found[path] = module
            waiting += _children(f"{path}.", module)
    return found


def _children(prefix: str, module: ModuleType) -> Iterator[tuple[str, ModuleType]]:
    for name in _public(module):
        value = _value(module, name)
        if inspect.ismodule(value) and value.__name__.startswith("afterglow"):
            yield f"{prefix}{name}", value


def _public(module: ModuleType) -> list[str]:
    """Return the public names of a module; symbols have those of arrays that they answer to."""
    if module is mx.sym:
        names = {*module.__all__, *_answered(module, mx.nd)}
    elif hasattr(module, "__all__"):
        names = set(module.__all__)
    else:
        names = {name for name in dir(module) if _is_ours(name, getattr(module, name))}
        arrays = {mx.sym.np: mx.np, mx.sym.npx: mx.npx, mx.sym.linalg: mx.nd.linalg}
        arrays[mx.sym.contrib] = mx.nd.contrib
        names.update(_answered(module, arrays.get(module)))
    return sorted(names)


def _is_ours(name: str, value: Any) -> bool:
    home = getattr(value, "__module__", None) or ""
    return not name.startswith("_") and home.startswith("afterglow.symbol")


def _answered(module: ModuleType, arrays: Any) -> list[str]:
    return [name for name in getattr(arrays, "__all__", ()) if _value(module, name) is not None]


def _value(module: ModuleType, name: str) -> Any:
    """Return what a name stands for, or the error that comes of asking."""
    try:
        return getattr(module, name)
    except AttributeError:
        return None
    except Exception as error:
        return error


def _of_module(path: str, module: ModuleType, told: set[type]) -> Iterator[Line]:
    """Yield the lines of a module; the members of a class are told once."""
    public = _public(module)
    # Modules come to be there when somebody imports them.
    other = sorted(
        name
        for name in {*dir(module)} - {*public}
        if not name.startswith("_") and not inspect.ismodule(_value(module, name))
    )
    yield Line("names", path, "(other names shown by dir)", " ".join(other))
    for name in public:
        value = _value(module, name)
        yield Line("names", path, name, described(value))
        ours = inspect.isclass(value) and value.__module__.startswith("afterglow")
        if ours and value not in told:
            told.add(value)
            for member in sorted(set(dir(value)) - _UNTOLD):
                if not member.startswith("_") or member.endswith("__"):
                    text = described(inspect.getattr_static(value, member))
                    yield Line("names", path, f"{name}.{member}", text)


def _beyond(ours: ModuleType, name: str) -> str:
    """Return what becomes of a name that NumPy has."""
    try:
        return described(getattr(ours, name))
    except AttributeError as error:
        return f"missing: {without_what_passes(str(error))}"


def described(value: Any) -> str:
    """Return the kind of a value, its signature and the first line of its documentation."""
    if inspect.ismodule(value):
        return "module"
    if isinstance(value, (classmethod, staticmethod)):
        return f"{type(value).__name__} {described(value.__func__)}"
    if isinstance(value, property) or inspect.isdatadescriptor(value):
        return f"property ||  || {_first_line(value)}"
    if not callable(value):
        return without_what_passes(repr(value))
    kind = "class" if inspect.isclass(value) else "function"
    return f"{kind} {_signatures(value)} || {_first_line(value)}"


def _signatures(value: Any) -> str:
    """Return the signature without annotations, and with them."""
    try:
        whole = inspect.signature(value)
    except (TypeError, ValueError):
        return "without a signature || "
    plain = [one.replace(annotation=one.empty) for one in whole.parameters.values()]
    bare = whole.replace(parameters=plain, return_annotation=whole.empty)
    return f"{without_what_passes(str(bare))} || {without_what_passes(str(whole))}"


def _first_line(value: Any) -> str:
    text = (getattr(value, "__doc__", None) or "").strip()
    return without_what_passes(text.split("\n")[0])

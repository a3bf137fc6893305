# SPDX-License-Identifier: Apache-2.0
"""What the reference says of each public name, taken from the modules and from the table of ops.

An entry is told whole in one place. Other names of the same thing, in its namespace or elsewhere,
have its signature and first line, and say where the rest is.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from ..._arrays.op_functions import table
from ..._core import Operation
from ..._package.namespace import spelled
from .. import _inventory

__all__ = ["Entry", "Namespace", "namespaces"]

#: Constants with longer values show their beginning.
_LONGEST_VALUE = 200


@dataclass(frozen=True)
class Entry:
    """A public name, or a member of a class."""

    whole: str  #: such as ``mx.nd.exp``
    kind: str  #: function, class, module, value, method, property
    signature: str
    text: str  #: Markdown
    state: str = ""  #: how a name of ``np`` is there
    same: str = ""  #: the whole name under which the same is told; the namespace of a module
    bases: tuple[str, ...] = ()  #: of a class: public classes that it derives from
    members: tuple[Entry, ...] = ()

    @property
    def summary(self) -> str:
        """The first paragraph of the text, in one line."""
        return " ".join(self.text.partition("\n\n")[0].split())


@dataclass(frozen=True)
class Namespace:
    """A public module and what stands in it."""

    title: str  #: such as ``mx.nd.random``
    text: str
    entries: list[Entry]


def namespaces() -> list[Namespace]:
    """Return all namespaces with their entries, in the order of ``afterglow list``."""
    modules = _inventory.public_modules()
    shown = _inventory.public_names()
    values = {
        (path, name): _inventory.value_of(path, name) for path in shown for name in shown[path]
    }
    places = _places(values)
    found = []
    for path, names in shown.items():
        text = _markdown(_inventory.text_of(modules.get(path)))  # np.fft is all NumPy's
        entries = [_entry(path, name, values[path, name], places) for name in names]
        found.append(Namespace(_whole(path), text, entries))
    return found


def _whole(path: str, name: str = "") -> str:
    """Return a name as programs write it: ``mx``, ``mx.nd``, ``mx.nd.exp``."""
    return ".".join(filter(None, ("mx", path.strip("."), name)))


# --- one thing, many names ---


def _places(values: dict[tuple[str, str], Any]) -> dict[int, str]:
    """Return by identity the whole name under which a function, class or module is told."""
    names: dict[int, list[tuple[Any, str, str]]] = {}
    for (path, name), value in values.items():
        if callable(value) or isinstance(value, ModuleType):
            names.setdefault(id(value), []).append((value, path, name))
    return {key: _whole(*max(found, key=_fitness)[1:]) for key, found in names.items()}


def _fitness(found: tuple[Any, str, str]) -> tuple[bool, bool, int]:
    """Compare names: the own one of a thing, in the first namespace above where it is written."""
    value, path, name = found
    own = getattr(value, "__name__", "").rpartition(".")[2]
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    home = spelled(module) if (module or "").startswith("afterglow") else ""
    is_above = path == "." or f"{home}.".startswith(f"{path}.")
    return name == own, is_above, -len(path.strip("."))


# --- entries ---


def _entry(path: str, name: str, value: Any, places: dict[int, str]) -> Entry:
    whole = _whole(path, name)
    state = _inventory.state(path, name)
    if isinstance(value, ModuleType):
        text = _markdown(_inventory.text_of(value)).partition("\n\n")[0]
        return Entry(whole, "module", whole, text, same=_whole(spelled(value.__name__)))
    elif isinstance(value, type):
        entry = _class(whole, name, value, places)
    elif callable(value):
        takes = signature_of(_of_arrays(path, name, value))
        entry = Entry(whole, "function", name + takes, _text_of_function(value))
    else:
        shown = _shown(value)
        return Entry(
            whole, "value", f"{name} = {shown}", f"A value of type `{type(value).__name__}`."
        )
    if state in ("through NumPy", "missing"):  # NumPy's own manual tells the rest
        entry = replace(entry, text=entry.summary, members=())
    told = places[id(value)]
    if told != whole:
        entry = replace(entry, text=entry.summary, members=(), same=told)
    return replace(entry, state=state)


def _of_arrays(path: str, name: str, value: Any) -> Any:
    """Return the function of arrays whose arguments a function of symbols takes, or itself."""
    first, _, rest = path.partition(".")
    if first != "sym" or not str(inspect.signature(value)).startswith("(*args"):
        return value
    homes = [f"nd.{rest}", rest] if rest else ["nd"]
    found = (_inventory.value_of(home, name) for home in homes)
    return next(filter(callable, found), value)


def _class(whole: str, name: str, value: type, places: dict[int, str]) -> Entry:
    derived = [base for base in value.__mro__[1:] if id(base) in places]
    inherited = {one for base in derived for parent in base.__mro__ for one in vars(parent)}
    bases = [places[id(base)] for base in value.__bases__ if id(base) in places]
    return Entry(
        whole,
        "class",
        name + signature_of(value),
        _markdown(_inventory.text_of(value)),
        bases=tuple(bases),
        members=tuple(_members(whole, value, inherited, places)),
    )


def _members(
    whole: str, value: type, inherited: set[str], places: dict[int, str]
) -> Iterator[Entry]:
    """Yield what a class adds to the public classes that it derives from."""
    found: dict[str, Any] = {}
    for one in reversed(value.__mro__):
        if one.__module__.partition(".")[0] == "afterglow":
            found |= vars(one)
    for name in sorted(found):
        if name.startswith("_") or not hasattr(value, name):  # np arrays lack methods of nd's
            continue
        if name in inherited and name not in vars(value):
            continue
        member, inner = found[name], getattr(value, name)
        text = _markdown(_inventory.text_of(inner if callable(inner) else member))
        if callable(inner) and not isinstance(inner, type):
            entry = Entry(f"{whole}.{name}", "method", name + signature_of(inner), text)
            told = places.get(id(inner), "")
            yield replace(entry, text=entry.summary, same=told) if told else entry
        elif text and not isinstance(member, (str, int, float, tuple, dict, list, type)):
            yield Entry(f"{whole}.{name}", "property", name, text)


def _shown(value: Any) -> str:
    text = re.sub(r" at 0x[0-9a-f]+", "", repr(value))
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


# --- signatures ---


class _Name(str):
    """What ``inspect`` writes into a signature as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def signature_of(value: Any) -> str:
    """Return what a function takes, with annotations that say something."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        signature = None
    if signature is None or [*signature.parameters] == ["args", "kwargs"]:
        # That of a compiled function, or of a ufunc of NumPy's, stands at the head of its text.
        said = re.match(r"\w+(\(.*\))(?: -> .*)?(?:\n|$)", inspect.getdoc(value) or "")
        if said or signature is None:
            return said[1] if said else "(...)"
    parameters = [
        one.replace(annotation=_annotation(one.annotation), default=_default(one.default))
        for one in signature.parameters.values()
    ]
    returned = _annotation(
        inspect.Signature.empty if isinstance(value, type) else signature.return_annotation
    )
    return str(signature.replace(parameters=parameters, return_annotation=returned))


def _annotation(given: Any) -> Any:
    if given in (inspect.Parameter.empty, Any, "Any"):
        return inspect.Parameter.empty
    return _Name(given) if isinstance(given, str) else given


def _default(given: Any) -> Any:
    if given is inspect.Parameter.empty or not re.search(" at 0x[0-9a-f]+", repr(given)):
        return given
    return _Name(getattr(given, "__qualname__", None) or f"<{type(given).__name__}>")


# --- texts ---


def _text_of_function(value: Any) -> str:
    """Return the text of a function; what the table says of parameters comes before examples."""
    text = _markdown(_inventory.text_of(value))
    if not isinstance(value, Operation):
        return text
    rows = table()[value.name]["described"].items()
    parameters = [f"- `{name}`: {kind}{text and f'; {text}'}" for name, (kind, _, text) in rows]
    if not parameters:
        return text
    before, fence, examples = text.partition("```python\n")
    parts = (before.strip(), "\n".join(parameters), fence + examples)
    return "\n\n".join(filter(None, parts))


def _markdown(text: str) -> str:
    """Return a docstring as Markdown: examples are fenced, roles of Sphinx are code."""
    lines: list[str] = []
    session = False
    for line in text.split("\n"):
        begins = line.lstrip().startswith(">>> ")
        if begins and not session:
            if lines and lines[-1].strip():
                lines.append("")
            lines.append("```python")
        elif session and not line.strip():
            lines.append("```")
        elif not session and not begins:
            line = re.sub(r":[a-z:]+:`~?([^`]+)`", r"`\1`", line)
            line = re.sub(r"::$", ":", line.replace("``", "`"))
        session = begins or (session and bool(line.strip()))
        lines.append(line.strip() if begins else line)
    if session:
        lines.append("```")
    return "\n".join(lines).strip()

# SPDX-License-Identifier: Apache-2.0
"""Ops of the core's table as functions of public namespaces.

What they take, what they are called in which namespace and what is said of them stands in their
declarations (src/ops) and nowhere else.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .._core import Operation, describe_spellings, describe_table, op_function

if TYPE_CHECKING:
    import inspect

#: By namespace: its module.
MODULES = {
    "nd": "afterglow.ndarray",
    "nd.contrib": "afterglow.ndarray.contrib",
    "nd.image": "afterglow.ndarray.image",
    "nd.linalg": "afterglow.ndarray.linalg",
    "nd.random": "afterglow.ndarray.random",
    "np": "afterglow.numpy",
    "np.linalg": "afterglow.numpy.linalg",
    "np.random": "afterglow.numpy.random",
    "npx": "afterglow.numpy_extension",
    "npx.image": "afterglow.numpy_extension.image",
    "npx.random": "afterglow.numpy_extension.random",
}

#: Calls that need more than one op, by the name of the function.
RareForms = Mapping[str, Callable[..., Any]]

#: What the core declares, read once. Ops that Python computes come later, module by module, and are
#: nobody's functions by a spelling: `describe_table` has them too.
table = cache(describe_table)


class Slot(NamedTuple):
    """An argument of a function."""

    name: str
    role: str  # input, inputs, parameter, out, name, context, option, options
    parameter: str  # of the op
    required: bool
    by_position: bool
    starred: bool
    default: Any


class Spelling(NamedTuple):
    """How programs call an op in a namespace."""

    op: str
    number: int
    space: str
    names: list[str]
    slots: list[Slot]

    def arguments(self) -> list[str]:
        """Return what the function takes, as its signature has it."""
        shown = []
        stars = False
        for slot in self.slots:
            if not (slot.by_position or slot.starred or stars):
                shown.append("*")
            stars = stars or slot.starred or not slot.by_position
            star = ("**" if slot.role == "options" else "*") if slot.starred else ""
            default = "" if slot.required or slot.starred else f"={slot.default!r}"
            shown.append(f"{star}{slot.name}{default}")
        return shown


@cache
def spellings() -> list[Spelling]:
    """Return all spellings of all ops."""
    return [
        Spelling(op, number, space, names, [Slot(*slot) for slot in slots])
        for op in table()
        for number, (space, names, slots) in enumerate(describe_spellings(op))
    ]


def spelling_of(function: Any) -> Spelling:
    """Return how a function is called."""
    return _spelling_of(function.name, function.__module__, function.__name__)


@cache
def _spelling_of(op: str, module: str, name: str) -> Spelling:
    return next(
        one
        for one in spellings()
        if one.op == op and MODULES[one.space] == module and one.names[0] == name
    )


def _with_import(doc: str) -> str:
    """Return a text whose examples begin with the import of the namespaces that they use."""
    text, prompt, examples = doc.partition(">>> ")
    if not prompt or examples.startswith("from afterglow import"):
        return doc
    spaces = ", ".join(sorted(set(re.findall(r"\b(nd|npx?)\.", examples))))
    return f"{text}{prompt}from afterglow import {spaces}\n{prompt}{examples}"


def functions(space: str, rare: RareForms | None = None) -> dict[str, Operation]:
    """Return the ops of a namespace, by all of their names there.

    ``rare`` has the forms of calls that a function leaves to Python.
    """
    found: dict[str, Operation] = {}
    for spelling in spellings():
        if spelling.space != space:
            continue
        names = [sys.intern(name) for name in spelling.names]  # found by comparing addresses
        name = names[0]
        function: Any = op_function(spelling.op, spelling.number, (rare or {}).get(name))
        function.__name__ = function.__qualname__ = name
        function.__module__ = MODULES[space]
        doc = _with_import(table()[spelling.op]["doc"])
        function.__doc__ = f"{name}({', '.join(spelling.arguments())})\n\n{doc}\n"
        found |= dict.fromkeys(names, function)
    return found


def signature_of(function: Any) -> inspect.Signature:
    """Return the signature of a function for those who inspect it."""
    import inspect

    kinds: dict[tuple[bool, bool], Any] = {
        (True, False): inspect.Parameter.POSITIONAL_OR_KEYWORD,
        (False, False): inspect.Parameter.KEYWORD_ONLY,
        (False, True): inspect.Parameter.VAR_POSITIONAL,
    }
    parameters = []
    for slot in spelling_of(function).slots:
        kind = kinds[slot.by_position, slot.starred]
        if slot.role == "options":
            kind = inspect.Parameter.VAR_KEYWORD
        default = inspect.Parameter.empty if slot.required or slot.starred else slot.default
        parameters.append(inspect.Parameter(slot.name, kind, default=default))
    return inspect.Signature(parameters)


def need_array(value: Any, name: str, legacy: bool) -> Any:
    """Return what was given for an input as an array, or raise."""
    if legacy:
        from ..ndarray._arguments import need
    else:
        from ..numpy._arguments import need
    return need(value, name)

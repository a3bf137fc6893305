# SPDX-License-Identifier: Apache-2.0
"""Ops of the core's table as functions of public namespaces.

What they take, what they are called in which namespace and what is said of them stands in their
declarations (src/ops) and nowhere else.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ._core import Operation, describe_table, operation

if TYPE_CHECKING:
    import inspect

#: By namespace: its module, and how MXNet's names of its ops begin. Those of ``nd`` are plain.
SPACES = {
    "nd": ("afterglow.ndarray", ""),
    "nd.contrib": ("afterglow.ndarray.contrib", "_contrib_"),
    "npx": ("afterglow.numpy_extension", "_npx_"),
}

table = cache(describe_table)


def names_in(space: str, op: str) -> list[str]:
    """Return the names that an op has in a namespace."""
    prefix = SPACES[space][1]
    names = table()[op]["mxnet_names"]
    if not prefix:
        return [name for name in names if not name.startswith("_")]
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]


def functions(space: str) -> dict[str, Operation]:
    """Return the ops of a namespace, by all of their names there."""
    found: dict[str, Operation] = {}
    for op, description in table().items():
        names = names_in(space, op) if description["doc"] else []
        if not names:
            continue
        function: Any = operation(op, space.startswith("nd"), True)
        function.__name__ = function.__qualname__ = names[0]
        function.__module__ = SPACES[space][0]
        function.__doc__ = f"{names[0]}({', '.join(arguments(op))})\n\n{description['doc']}\n"
        found |= dict.fromkeys(names, function)
    return found


def arguments(op: str) -> list[str]:
    """Return what a function takes, as its signature has it."""
    inputs, parameters = table()[op]["inputs"], table()[op]["parameters"]
    needed = len(inputs) - table()[op]["optional"]
    given = [f"{name}={value!r}" for name, value in parameters.items()]
    left_out = [f"{name}=None" for name in inputs[needed:]]
    return [*inputs[:needed], *left_out, *given, "out=None", "name=None"]


def signature_of(function: Any) -> inspect.Signature:
    """Return the signature of a function for those who inspect it."""
    import inspect

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    description = table()[function.name]
    inputs = description["inputs"]
    needed = len(inputs) - description["optional"]
    values = {**dict.fromkeys(inputs[needed:]), **description["parameters"]}
    values |= {"out": None, "name": None}
    return inspect.Signature(
        [
            *(inspect.Parameter(name, kind) for name in inputs[:needed]),
            *(inspect.Parameter(name, kind, default=value) for name, value in values.items()),
        ]
    )


def need_array(value: Any, name: str, legacy: bool) -> Any:
    """Return what was given for an input as an array, or raise."""
    if legacy:
        from .ndarray._arguments import need
    else:
        from .numpy._arguments import need
    return need(value, name)

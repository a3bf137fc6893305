# SPDX-License-Identifier: Apache-2.0
"""Writes the stubs of modules whose functions are ops of the core's table.

``python -m tests.stubs`` writes them, and tests/test_stub.py compares.
"""

from __future__ import annotations

from pathlib import Path

from afterglow import _op_functions

PACKAGE = Path(_op_functions.__file__).parent

#: By file: the namespace, and the class of its arrays with the module that has it.
STUBS = {
    "ndarray/_ops.pyi": ("nd", "NDArray", ".ndarray"),
    "ndarray/_contrib_ops.pyi": ("nd.contrib", "NDArray", ".ndarray"),
    "numpy_extension/_ops.pyi": ("npx", "ndarray", "..numpy"),
}
_KINDS = {
    "a boolean": "bool",
    "a data type": "Any",
    "a number": "float",
    "an integer": "int",
    "an integer or a tuple of integers": "int | tuple[int, ...]",
}
#: Ops that return a list where they are asked for more than one result.
_SEVERAL = frozenset(("BatchNorm", "BatchNormWithReLU", "GroupNorm", "LayerNorm", "LeakyReLU"))


def _function(op: str, name: str, array: str) -> str:
    description = _op_functions.table()[op]
    inputs = description["inputs"]
    needed = len(inputs) - description["optional"]
    arguments = [f"{one}: {array}" for one in inputs[:needed]]
    arguments += [f"{one}: {array} | None = None" for one in inputs[needed:]]
    for one, value in description["parameters"].items():
        kind = _KINDS.get(description["described"][one][0], "str")
        missing = " | None" if value is None and kind != "Any" else ""
        default = f'"{value}"' if isinstance(value, str) else repr(value)
        arguments.append(f"{one}: {kind}{missing} = {default}")
    arguments += [f"out: {array} | None = None", "name: str | None = None"]
    result = "Any" if op in _SEVERAL or op == "SyncBatchNorm" else array
    lines = "".join(f"    {one},\n" for one in arguments)
    return f"def {name}(\n{lines}) -> {result}: ...\n"


def text_of(file: str) -> str:
    """Return what a stub should be."""
    space, array, module = STUBS[file]
    functions = [
        (names[0], op, names)
        for op, description in _op_functions.table().items()
        if description["doc"] and (names := _op_functions.names_in(space, op))
    ]
    parts = [_function(op, first, array) for first, op, _ in functions]
    aliases = [f"{alias} = {names[0]}\n" for _, _, names in functions for alias in names[1:]]
    parts += ["\n", *aliases] if aliases else []
    used = "from typing import Any\n\n" if any("Any" in part for part in parts) else ""
    names = "".join(f'    "{one}",\n' for one in sorted(_op_functions.functions(space)))
    head = "# SPDX-License-Identifier: Apache-2.0\n"
    if any(first != first.lower() for first, _, _ in functions):
        head += "# ruff: noqa: N802\n"
    head += "# Written by `python -m tests.stubs`.\n\n"
    return f"{head}{used}from {module} import {array}\n\n__all__ = [\n{names}]\n\n{''.join(parts)}"


if __name__ == "__main__":
    for one in STUBS:
        (PACKAGE / one).write_text(text_of(one))

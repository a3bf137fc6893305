# SPDX-License-Identifier: Apache-2.0
"""What ops take, told in MXNet's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as onp

from .._arrays.dtypes import TYPES
from .._arrays.op_functions import table
from .._package.namespace import mxnet_ops
from ..error import MXNetError
from ._ops import declared, find

_ARRAY = "NDArray-or-Symbol"


def _one_of(choices: list[str]) -> str:
    return f"{{{', '.join(choices)}}}"


#: By the kind that declarations write: MXNet's word for it.
_WORDS = {
    "a boolean": "boolean",
    "a data type": _one_of(sorted(repr(onp.dtype(kind).name) for kind in TYPES)),
    "a device": "string",
    "a number": "float",
    "a number or a tuple of numbers": "tuple of <float>",
    "an integer": "int",
    "an integer or a tuple of integers": "Shape(tuple)",
    "an integer or pairs of integers": "Shape(tuple)",
    "text": "string",
}


def names() -> list[str]:
    """Return the names of MXNet's ops that can be called."""
    return [name for name in mxnet_ops()[0] if find(name).function is not None]


def arguments(op: str) -> list[tuple[str, str]]:
    """Return the names of what an op takes, each with what it may be."""
    entry = find(op)
    if op not in mxnet_ops()[0] or entry.function is None:
        raise MXNetError(f"[get_operator_arguments] there is no op {op!r}")
    declaration: Mapping[str, Any] = table().get(declared().get(entry.name, ""), {})
    kinds, defaults = declaration.get("described", {}), declaration.get("parameters", {})
    found = [("data", f"{_ARRAY}[]")] if entry.variadic else [(one, _ARRAY) for one in entry.inputs]
    for name in entry.parameters:
        own = entry.own_names.get(name, name)
        kind = "an integer" if name == "num_args" else kinds.get(own, ("text",))[0]
        needed = name in entry.required or name == "num_args"
        found.append((name, _described(kind, needed, defaults.get(own))))
    return found


def _described(kind: str, needed: bool, default: Any) -> str:
    is_choice = kind[0] == "'"
    if is_choice:
        choices = sorted(kind.replace(" or ", ", ").split(", "))
        none = ["None"] if default is None and not needed else []
        word = _one_of([*none, *choices])
    else:
        word = _WORDS[kind]
    if needed:
        return f"{word}, required"
    if is_choice or kind == "a data type":
        return f"{word},optional, default='{default}'"
    if default is None:
        return f"{word} or None, optional, default=None"
    return f"{word}, optional, default={_written(kind, default)}"


def _written(kind: str, default: Any) -> str:
    """Return a default as MXNet writes it, which puts integers and text between quotes."""
    if kind == "a boolean":
        return str(int(default))
    if kind in ("an integer", "text"):
        return f"'{default}'"
    return str(list(default)) if isinstance(default, tuple) else f"{default:g}"

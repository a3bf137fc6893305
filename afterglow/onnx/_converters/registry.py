# SPDX-License-Identifier: Apache-2.0
"""Which converter writes the nodes of which op."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ..._arrays.op_functions import table
from .._graph import Call

Function = Callable[[Call], Any]


@dataclass(frozen=True)
class Converter:
    """How nodes of an op are written."""

    write: Function
    reads: int | None = None  # how many of the inputs; the others serve training
    is_swapped: bool = False  # whether the number of a node is its first operand


_converters: dict[str, Converter] = {}


def converts(*ops: str, reads: int | None = None) -> Callable[[Function], Function]:
    """Return a decorator that makes a function the converter of ops.

    They are named as in the core's table. Ops that it lacks, or does not tell from others, have
    MXNet's names.
    """

    def decorate(function: Function) -> Function:
        _converters.update(dict.fromkeys(ops, Converter(function, reads)))
        return function

    return decorate


def convert_each(functions: Mapping[str, Function]) -> None:
    """Make each function the converter of one op."""
    for op, function in functions.items():
        converts(op)(function)


@cache
def find(name: str) -> Converter | None:
    """Return the converter of an op by its name in files.

    MXNet's name of an op of an array and a number is made of that of two arrays:
    ``_npi_add_scalar``, and ``_npi_rsubtract_scalar`` for the number less the array.
    """
    ops, words = _names()
    op = name if name in _converters else ops.get(name)
    stem = name.removesuffix("_scalar")
    word = _BEGINNING.sub("", stem)
    is_swapped = stem != name and word.startswith("r") and _is_of_number(word[1:], ops)
    if op is None:
        op = words.get(word.removeprefix("r") if is_swapped else word)
    return None if op is None else replace(_converters[op], is_swapped=is_swapped)


def _is_of_number(word: str, ops: dict[str, str]) -> bool:
    """Tell whether there is an op of an array and a number with that word in its name."""
    return any(f"{beginning}{word}_scalar" in ops for beginning in ("_", "_npi_"))


#: How names of one op begin in its worlds and forms: ``_npi_add``, ``broadcast_add``, ``_add``.
_BEGINNING = re.compile("^(?:_np[ix]?_|broadcast_|elemwise_|_)")


@cache
def _names() -> tuple[dict[str, str], dict[str, str]]:
    """Return the ops that have converters by MXNet's names, and by what stays the same in them."""
    known = table()
    ops = {name: op for op in _converters if op in known for name in known[op]["mxnet_names"]}
    # A plain name means something else in np: its identity is a matrix.
    forms = {name: op for name, op in ops.items() if _BEGINNING.sub("_", name) != name}
    own = {op: op for op in _converters}
    return ops, {_BEGINNING.sub("", name): op for name, op in (forms | own).items()} | own

# SPDX-License-Identifier: Apache-2.0
"""Ops written in Python as nodes: what their ``CustomOpProp`` says of names and shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._arrays.shapes import Shape
from ._attributes import Attributes


def prop(attributes: Mapping[str, Any]) -> Any:
    """Return the description of the op that the attributes of a node name."""
    from ..operator import prop_of

    given = {key: str(x) for key, x in attributes.items() if not key.startswith("__")}
    return prop_of(given.pop("op_type"), given)


def input_names(attributes: Mapping[str, Any]) -> list[str]:
    """Return the names of arguments and states."""
    found = prop(attributes)
    return [*found.list_arguments(), *found.list_auxiliary_states()]


def _inferred(given: Attributes, shapes: list[Shape | None]) -> tuple[list[Shape], list[Shape]]:
    """Return the shapes of the inputs and of the outputs."""
    from ..operator import inferred_shapes

    found = prop(given)
    count = len(found.list_arguments())
    return inferred_shapes(found, [[] if one is None else list(one) for one in shapes[:count]])


def complete(
    given: Attributes, shapes: list[Shape | None]
) -> tuple[list[Shape | None], list[Shape]]:
    """Return the shapes of inputs and results, as far as that of the first input tells them."""
    if not shapes or shapes[0] is None or -1 in shapes[0]:
        return shapes, []
    inputs, results = _inferred(given, shapes)
    found = [new or old for new, old in zip(inputs, shapes, strict=True)]
    return found, [] if None in found else results


def outputs(given: Attributes) -> tuple[tuple[str, ...], int]:
    """Return the names of the outputs, and how many there are."""
    names = tuple(prop(given).list_outputs())
    return names, len(names)

# SPDX-License-Identifier: Apache-2.0
"""Shapes that are known in part: unknown extents are -1, unknown shapes ``None``."""

from __future__ import annotations

from .._arrays.shapes import Shape


def merged(first: Shape | None, second: Shape | None) -> Shape | None:
    """Return what two descriptions of a shape say together."""
    if first == second:
        return first
    if first is None or second is None:
        return second if first is None else first
    if len(first) != len(second):
        raise ValueError(f"{shown(first)} against {shown(second)}")
    for one, other in zip(first, second, strict=True):
        if one != other and one != -1 and other != -1:
            raise ValueError(f"{shown(first)} against {shown(second)}")
    return tuple(max(one, other) for one, other in zip(first, second, strict=True))


def shown(shape: Shape) -> str:
    """Return a shape for a message."""
    inner = ", ".join("?" if extent == -1 else str(extent) for extent in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def is_complete(shape: Shape | None) -> bool:
    """Tell whether all extents are known."""
    return shape is not None and -1 not in shape

# SPDX-License-Identifier: Apache-2.0
"""Names of layers for errors and recordings: ``net.1.dense0`` is the child "1" of ``net``."""

from __future__ import annotations

import sys
from inspect import CO_OPTIMIZED
from typing import TYPE_CHECKING, Any

from .._core import add_layer, layer_name

if TYPE_CHECKING:
    from .block import Block

__all__ = ["Layers", "add"]


class Layers(dict[int, tuple[int, str]]):
    """What a block is as a layer, by the number of the layer around it: a number, and a path.

    Copies start empty: the numbers belong to this process and to this block.
    """

    def __reduce__(self) -> tuple[type[Layers], tuple[()]]:
        """Leave the numbers out."""
        return Layers, ()

    def __deepcopy__(self, memo: Any) -> Layers:
        """Leave the numbers out."""
        return Layers()


def add(block: Block, outer: int, parent: Block | None, path: str) -> tuple[int, str]:
    """Return what a block is that is called in the layer ``outer``: that of ``parent``, if any.

    The number is 0 if there are too many.
    """
    if parent is None:
        path = text = _variable(block) or block.name
        if outer:  # a scope of the profiler
            path = text = f"{layer_name(outer)}.{text}"
    else:
        own = block.name.removeprefix(parent.prefix)
        key = next((key for key, child in parent._children.items() if child is block), own)
        path = f"{path}.{key}"
        text = path if key == own else f"{path}.{own}"
    return add_layer(text), path


def _variable(block: Block) -> str | None:
    """Return the name by which the code that calls the block knows it."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(__package__):
        frame = frame.f_back
    local = frame.f_locals
    try:
        for names in (local, frame.f_globals):
            for name, value in names.items():
                if value is block and not name.startswith("_"):
                    return name
        return None
    finally:
        # A copy that the frame keeps as long as it lives: all arrays of that moment would stay.
        if sys.version_info < (3, 13) and frame.f_code.co_flags & CO_OPTIMIZED:
            local.clear()

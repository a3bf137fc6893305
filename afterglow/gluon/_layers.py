# SPDX-License-Identifier: Apache-2.0
"""Names of layers for errors and recordings: ``net.1.dense0`` is the child "1" of ``net``."""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any

from .._core import LayerScope, add_layer, current_layer, layer_name

if TYPE_CHECKING:
    from .block import Block

__all__ = ["Layers", "run_forward"]


class Layers(dict[int, int]):
    """The numbers that a block has as a layer, by the layer around it. Copies start empty."""

    def __reduce__(self) -> tuple[type[Layers], tuple[()]]:
        """Leave the numbers out: they belong to this process."""
        return Layers, ()

    def __deepcopy__(self, memo: Any) -> Layers:
        """Leave the numbers out: they belong to the block."""
        return Layers()


#: The block of each layer, and the path that leads to it without its own name.
_places: dict[int, tuple[weakref.ref[Block], str]] = {}


def run_forward(block: Block, args: tuple[Any, ...]) -> Any:
    """Call ``forward`` of a block; what is issued meanwhile belongs to it as a layer."""
    outer = current_layer()
    layer = block._layers.get(outer)
    with LayerScope(_add(block, outer) if layer is None else layer):
        return block.forward(*args)


def _add(block: Block, outer: int) -> int:
    """Give a block that is called in the layer ``outer`` a number; 0 if there are too many."""
    parent, path = None, ""
    if outer in _places:
        reference, path = _places[outer]
        parent = reference()
    if parent is None:
        path = text = _variable(block) or block.name
        if outer:  # a scope of the profiler
            path = text = f"{layer_name(outer)}.{text}"
    else:
        own = block.name.removeprefix(parent.prefix)
        key = next((key for key, child in parent._children.items() if child is block), own)
        path = f"{path}.{key}"
        text = path if key == own else f"{path}.{own}"
    number = add_layer(text)
    if number:
        _places[number] = (weakref.ref(block), path)
    block._layers[outer] = number
    return number


def _variable(block: Block) -> str | None:
    """Return the name by which the code that calls the block knows it."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(__package__):
        frame = frame.f_back
    for names in (frame.f_locals, frame.f_globals):
        for name, value in names.items():
            if value is block and not name.startswith("_"):
                return name
    return None

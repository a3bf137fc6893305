# SPDX-License-Identifier: Apache-2.0
"""Writes the stubs of modules whose functions are ops of the core's table.

``python -m tests.stubs`` writes them, and tests/test_stub.py compares.
"""

from __future__ import annotations

import re
from pathlib import Path

import afterglow
from afterglow._arrays import op_functions as _op_functions
from afterglow._arrays.op_functions import Slot, Spelling

PACKAGE = Path(afterglow.__file__).parent

#: By file: the namespace, what its arrays are, and where that is from.
STUBS = {
    "ndarray/_ops.pyi": ("nd", "NDArray", "from .ndarray import NDArray\n\n"),
    "ndarray/_contrib_ops.pyi": ("nd.contrib", "NDArray", "from .ndarray import NDArray\n\n"),
    "ndarray/_image_ops.pyi": ("nd.image", "NDArray", "from .ndarray import NDArray\n\n"),
    "ndarray/_linalg_ops.pyi": ("nd.linalg", "NDArray", "from .ndarray import NDArray\n\n"),
    "ndarray/_random_ops.pyi": ("nd.random", "NDArray", "from .ndarray import NDArray\n\n"),
    "numpy/_ops.pyi": ("np", "Any", "from .multiarray import ndarray\n\n"),
    "numpy/_linalg_ops.pyi": ("np.linalg", "Any", "from .multiarray import ndarray\n\n"),
    "numpy/_random_ops.pyi": ("np.random", "Any", "from .multiarray import ndarray\n\n"),
    "numpy_extension/_ops.pyi": ("npx", "ndarray", "from ..numpy import ndarray\n\n"),
    "numpy_extension/_image_ops.pyi": ("npx.image", "ndarray", "from ..numpy import ndarray\n\n"),
    "numpy_extension/_random_ops.pyi": ("npx.random", "Any", "from ..numpy import ndarray\n\n"),
}
_KINDS = {
    "a boolean": "bool",
    "a data type": "Any",
    "a number": "float",
    "an integer": "int",
    "a number or a tuple of numbers": "float | tuple[float, ...]",
    "an integer or a tuple of integers": "int | tuple[int, ...]",
}
#: Ops that return a list where they are asked for more than one result.
_SEVERAL = frozenset(
    (
        *("BatchNorm", "BatchNormWithReLU", "GroupNorm", "LayerNorm", "LeakyReLU", "SyncBatchNorm"),
        *("MultiBoxTarget", "MultiProposal", "Proposal", "bipartite_matching", "box_encode"),
        *("sample_multinomial", "topk"),
    )
)


def _type_of(spelling: Spelling, slot: Slot, array: str) -> str:
    if slot.role == "inputs":
        return array if slot.starred or array == "Any" else f"Sequence[{array}]"
    if slot.role in ("input", "out"):
        return array if slot.default is None else "float"
    if slot.role == "name":
        return "str"
    if slot.role != "parameter" or array == "Any":
        return "Any"
    described = _op_functions.table()[spelling.op]["described"]
    return _KINDS.get(described[slot.parameter][0], "str")


def _argument(spelling: Spelling, slot: Slot, array: str) -> str:
    kind = _type_of(spelling, slot, array)
    if slot.starred:
        return f"{'**' if slot.role == 'options' else '*'}{slot.name}: {kind}"
    if slot.required:
        return f"{slot.name}: {kind}"
    missing = " | None" if slot.default is None and kind != "Any" else ""
    default = f'"{slot.default}"' if isinstance(slot.default, str) else repr(slot.default)
    return f"{slot.name}: {kind}{missing} = {default}"


def _result(spelling: Spelling, array: str) -> str:
    if spelling.op in _SEVERAL:
        return "Any"
    if array != "Any":
        return array
    # Functions of elements take numbers, too, and return such.
    is_elementwise = _op_functions.table()[spelling.op]["elementwise"] or spelling.op == "where"
    return "Any" if is_elementwise or spelling.slots[-1].role == "options" else "ndarray"


def _function(spelling: Spelling, array: str) -> str:
    result = _result(spelling, array)
    lines = ""
    is_open = True  # whether arguments may be given by position
    for slot in spelling.slots:
        if is_open and not slot.by_position and not slot.starred:
            lines += "    *,\n"
        is_open = is_open and slot.by_position
        lines += f"    {_argument(spelling, slot, array)},\n"
    return f"def {spelling.names[0]}(\n{lines}) -> {result}: ...\n"


def _order(name: str) -> list[str]:
    """Return what names are sorted by: log2 comes before log10."""
    return [part.zfill(9) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def text_of(file: str) -> str:
    """Return what a stub should be."""
    space, array, imported = STUBS[file]
    spellings = [one for one in _op_functions.spellings() if one.space == space]
    parts = [_function(one, array) for one in spellings]
    aliases = [f"{alias} = {one.names[0]}\n" for one in spellings for alias in one.names[1:]]
    parts += ["\n", *aliases] if aliases else []
    text = "".join(parts)
    used = "from collections.abc import Sequence\n" if "Sequence[" in text else ""
    used += "from typing import Any\n" if "Any" in text else ""
    used += "\n" if used else ""
    names = "".join(f'    "{one}",\n' for one in sorted(_op_functions.functions(space)))
    head = "# SPDX-License-Identifier: Apache-2.0\n# ruff: noqa: N802, N803, RUF022, RUF100\n"
    head += "# Written by `python -m tests.stubs`.\n\n"
    return f"{head}{used}{imported}__all__ = [\n{names}]\n\n{text}"


if __name__ == "__main__":
    for one in STUBS:
        (PACKAGE / one).write_text(text_of(one))

# SPDX-License-Identifier: Apache-2.0
"""How the ops of symbols are written with those of ONNX, version 13: a module for each family.

A converter is given a :class:`Call`, appends nodes, and returns the names of the results.
"""

from __future__ import annotations

from . import (  # noqa: F401 - each registers its converters
    along_axis,
    creation,
    elementwise,
    indexing,
    networks,
    outputs,
    products,
    recurrence,
    reduce,
    sequences,
    shape,
)
from .registry import find

__all__ = ["find"]

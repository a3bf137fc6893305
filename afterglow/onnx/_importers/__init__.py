# SPDX-License-Identifier: Apache-2.0
"""How ONNX models are run with ops of ours: a module for each family, a function for each op.

A function is given a :class:`Node`, which has the values of the inputs, the attributes and the
version, and returns the results. It computes with ``node.f``: functions named as those of ``np``
and ``npx``, which are NumPy's where all inputs are constants, and symbols where a symbol is made.
"""

from __future__ import annotations

from . import (  # noqa: F401 - each registers its functions
    control,
    elementwise,
    images,
    indexing,
    norms,
    products,
    quantization,
    recurrence,
    reduce,
    shape,
    signals,
    tables,
    types,
    windows,
)
from .graph import Graph, Model, versions_of
from .registry import supported

__all__ = ["Graph", "Model", "supported", "versions_of"]

# SPDX-License-Identifier: Apache-2.0
"""``mx.contrib``: what MXNet keeps under this name."""

from __future__ import annotations

from .._package.namespace import tend
from ..ndarray import contrib as nd
from ..ndarray import contrib as ndarray
from . import io, onnx, text

__all__ = ["io", "nd", "ndarray", "onnx", "text"]

tend(__name__)

# SPDX-License-Identifier: Apache-2.0
"""``mx.contrib``: what MXNet keeps under this name."""

from __future__ import annotations

from .._package.namespace import tend
from ..ndarray import contrib as nd
from ..ndarray import contrib as ndarray
from ..symbol import contrib as sym
from ..symbol import contrib as symbol
from . import amp, autograd, io, onnx, tensorboard, text

__all__ = ["amp", "autograd", "io", "nd", "ndarray", "onnx", "sym", "symbol", "tensorboard", "text"]

tend(__name__)

# SPDX-License-Identifier: Apache-2.0
"""``mx.gluon``: networks of blocks."""

from __future__ import annotations

from . import block, contrib, loss, nn, parameter, utils
from .block import Block, HybridBlock, SymbolBlock
from .parameter import (
    Constant,
    DeferredInitializationError,
    Parameter,
    ParameterDict,
    tensor_types,
)

__all__ = [
    "Block",
    "Constant",
    "DeferredInitializationError",
    "HybridBlock",
    "Parameter",
    "ParameterDict",
    "SymbolBlock",
    "block",
    "contrib",
    "loss",
    "nn",
    "parameter",
    "tensor_types",
    "utils",
]

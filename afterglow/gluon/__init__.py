# SPDX-License-Identifier: Apache-2.0
"""``mx.gluon``: networks of blocks."""

from __future__ import annotations

from . import block, contrib, data, loss, nn, parameter, trainer, utils
from .block import Block, HybridBlock, SymbolBlock
from .parameter import (
    Constant,
    DeferredInitializationError,
    Parameter,
    ParameterDict,
    tensor_types,
)
from .trainer import Trainer

__all__ = [
    "Block",
    "Constant",
    "DeferredInitializationError",
    "HybridBlock",
    "Parameter",
    "ParameterDict",
    "SymbolBlock",
    "Trainer",
    "block",
    "contrib",
    "data",
    "loss",
    "nn",
    "parameter",
    "tensor_types",
    "trainer",
    "utils",
]

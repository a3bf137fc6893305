# SPDX-License-Identifier: Apache-2.0
"""``mx.gluon``: networks of blocks."""

from __future__ import annotations

from . import block, contrib, data, loss, nn, parameter, rnn, trainer, utils
from .block import Block, HybridBlock
from .parameter import (
    Constant,
    DeferredInitializationError,
    Parameter,
    ParameterDict,
    tensor_types,
)
from .symbol_block import SymbolBlock
from .trainer import Trainer

block.SymbolBlock = SymbolBlock  # type: ignore[attr-defined]  # where MXNet has it

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
    "rnn",
    "tensor_types",
    "trainer",
    "utils",
]

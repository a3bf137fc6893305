# SPDX-License-Identifier: Apache-2.0
"""``mx.gluon``: networks of blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..error import MissingNameError
from . import block, contrib, data, loss, nn, parameter, rnn, trainer, utils
from .block import Block, HybridBlock
from .checkpoint import Progress
from .parameter import (
    Constant,
    DeferredInitializationError,
    Parameter,
    ParameterDict,
    tensor_types,
)
from .symbol_block import SymbolBlock
from .trainer import Trainer

if TYPE_CHECKING:
    from . import model_zoo

block.SymbolBlock = SymbolBlock  # type: ignore[attr-defined]  # where MXNet has it

__all__ = [
    "Block",
    "Constant",
    "DeferredInitializationError",
    "HybridBlock",
    "Parameter",
    "ParameterDict",
    "Progress",
    "SymbolBlock",
    "Trainer",
    "block",
    "contrib",
    "data",
    "loss",
    "model_zoo",
    "nn",
    "parameter",
    "rnn",
    "tensor_types",
    "trainer",
    "utils",
]


def __getattr__(name: str) -> Any:
    """Return the model zoo, which not every program uses: imported when it is first asked for."""
    if name != "model_zoo":
        raise MissingNameError(__name__, name)
    from importlib import import_module

    return import_module(f"{__name__}.{name}")

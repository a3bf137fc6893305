# SPDX-License-Identifier: Apache-2.0
"""``gluon.nn``: layers."""

from __future__ import annotations

from ..block import Block, HybridBlock
from ..symbol_block import SymbolBlock
from . import activations, basic_layers, conv_layers, pooling_layers
from .activations import *  # noqa: F403
from .basic_layers import *  # noqa: F403
from .conv_layers import *  # noqa: F403
from .pooling_layers import *  # noqa: F403

__all__ = [
    "Block",
    "HybridBlock",
    "SymbolBlock",
    *activations.__all__,
    *basic_layers.__all__,
    *conv_layers.__all__,
    *pooling_layers.__all__,
]

# SPDX-License-Identifier: Apache-2.0
"""``gluon.rnn``: layers that run through sequences, and cells that take one step."""

from __future__ import annotations

from . import rnn_cell, rnn_layer
from .rnn_cell import *  # noqa: F403
from .rnn_layer import *  # noqa: F403

__all__ = [*rnn_cell.__all__, *rnn_layer.__all__]

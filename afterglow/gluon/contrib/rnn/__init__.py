# SPDX-License-Identifier: Apache-2.0
"""``gluon.contrib.rnn``: further cells."""

from __future__ import annotations

from . import rnn_cell
from .rnn_cell import *  # noqa: F403

__all__ = [*rnn_cell.__all__]

# SPDX-License-Identifier: Apache-2.0
"""``gluon.contrib``: what MXNet keeps beside its stable interface."""

from __future__ import annotations

from . import data, nn, rnn

__all__ = ["data", "nn", "rnn"]

# SPDX-License-Identifier: Apache-2.0
"""``gluon.contrib``: what MXNet keeps beside its stable interface."""

from __future__ import annotations

from . import cnn, data, estimator, nn, rnn

__all__ = ["cnn", "data", "estimator", "nn", "rnn"]

# SPDX-License-Identifier: Apache-2.0
"""``gluon.model_zoo``: well-known networks, with or without the parameters of their training."""

from __future__ import annotations

from ..._package.namespace import tend
from . import model_store, vision

__all__ = ["model_store", "vision"]

tend(__name__)

# SPDX-License-Identifier: Apache-2.0
"""``mx.npx.random``."""

from __future__ import annotations

from ..random import seed

__all__ = ["seed"]

# SPDX-License-Identifier: Apache-2.0
"""Softmax and the other functions of neural networks, for ``np`` arrays."""

from __future__ import annotations

__all__: list[str] = []

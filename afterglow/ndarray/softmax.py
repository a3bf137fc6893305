# SPDX-License-Identifier: Apache-2.0
"""Softmax and the other functions of neural networks that work along an axis."""

from __future__ import annotations

__all__: list[str] = []

# SPDX-License-Identifier: Apache-2.0
"""Elements picked by index arrays: take, nonzero, delete, insert and their kin."""

from __future__ import annotations

__all__: list[str] = []

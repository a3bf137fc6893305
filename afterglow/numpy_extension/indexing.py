# SPDX-License-Identifier: Apache-2.0
"""Elements picked by index arrays, for ``np`` arrays."""

from __future__ import annotations

__all__: list[str] = []

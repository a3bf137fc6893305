# SPDX-License-Identifier: Apache-2.0
"""Orders and counts of elements: sort, argsort, unique, searchsorted, bincount."""

from __future__ import annotations

__all__: list[str] = []

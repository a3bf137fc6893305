# SPDX-License-Identifier: Apache-2.0
"""Arrays in files."""

from __future__ import annotations

__all__: list[str] = []

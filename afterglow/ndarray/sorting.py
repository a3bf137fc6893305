# SPDX-License-Identifier: Apache-2.0
"""Orders of elements: sort, argsort, topk."""

from __future__ import annotations

__all__: list[str] = []

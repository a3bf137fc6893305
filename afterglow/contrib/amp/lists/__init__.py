# SPDX-License-Identifier: Apache-2.0
"""Which ops take which types where graphs are converted."""

from __future__ import annotations

from . import symbol_fp16

__all__ = ["symbol_fp16"]

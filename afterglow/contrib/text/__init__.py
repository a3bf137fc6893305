# SPDX-License-Identifier: Apache-2.0
"""``mx.contrib.text``: counting tokens, numbering them, and vectors for them from files."""

from __future__ import annotations

from . import embedding, utils, vocab

__all__ = ["embedding", "utils", "vocab"]

# SPDX-License-Identifier: Apache-2.0
"""``gluon.contrib.data``: a sampler and datasets of texts that MXNet keeps here."""

from __future__ import annotations

from . import sampler, text
from .sampler import IntervalSampler

__all__ = ["IntervalSampler", "sampler", "text"]

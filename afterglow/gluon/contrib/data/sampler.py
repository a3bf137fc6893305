# SPDX-License-Identifier: Apache-2.0
"""``gluon.contrib.data.sampler``: the sampler that MXNet keeps here."""

from __future__ import annotations

from ...data.sampler import IntervalSampler

__all__ = ["IntervalSampler"]

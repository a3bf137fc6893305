# SPDX-License-Identifier: Apache-2.0
"""The chapters of the tour in their order."""

from __future__ import annotations

from collections.abc import Callable

from ..chapter import Chapter, Setting
from . import hybridized, loops, memory, overwritten, parallel, queued, touches

#: What measures each chapter, by the name under which its words are found.
CHAPTERS: dict[str, Callable[[Setting], Chapter]] = {
    "queued": queued.measure,
    "touches": touches.measure,
    "overwritten": overwritten.measure,
    "loops": loops.measure,
    "memory": memory.measure,
    "hybridized": hybridized.measure,
    "parallel": parallel.measure,
}

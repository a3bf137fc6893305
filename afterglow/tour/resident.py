# SPDX-License-Identifier: Apache-2.0
"""The memory of this process over time, watched by a thread of its own."""

from __future__ import annotations

import os
import threading
import time

from .. import memory

_STATM = "/proc/self/statm"
_SECONDS = 0.004


def resident_bytes() -> int:
    """Return the resident memory; where the system does not tell, what arrays have in use."""
    try:
        with open(_STATM, encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return memory.active() + memory.cached()


class Watch:
    """Samples the memory in a ``with`` scope, over what it was at the start."""

    def __init__(self) -> None:
        #: Seconds since the start, and bytes.
        self.samples: list[tuple[float, int]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @property
    def peak(self) -> int:
        """The most bytes that were seen."""
        return max(bytes for _, bytes in self.samples)

    def __enter__(self) -> Watch:
        self._begin, self._first = time.monotonic(), resident_bytes()
        self._sample()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._sample()

    def _sample(self) -> None:
        now = time.monotonic() - self._begin
        self.samples.append((now, max(0, resident_bytes() - self._first)))

    def _watch(self) -> None:
        while not self._ended.wait(_SECONDS):
            self._sample()

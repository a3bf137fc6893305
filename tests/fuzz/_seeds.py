# SPDX-License-Identifier: Apache-2.0
"""One program after another, each known by its seed."""

from __future__ import annotations

import time
from collections.abc import Callable


def run_programs(seed: int, seconds: float, program: Callable[[int], None]) -> int:
    """Run the programs of ``seed``, ``seed + 1`` and so on for so long; return how many.

    At least one is run, so that 0 seconds repeat a program that went wrong.
    """
    end = time.monotonic() + seconds
    count = 0
    while True:
        try:
            program(seed + count)
        except BaseException as problem:
            problem.add_note(f"seed {seed + count}")
            raise
        count += 1
        if time.monotonic() >= end:
            return count

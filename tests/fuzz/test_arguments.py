# SPDX-License-Identifier: Apache-2.0
"""Some of the calls with odd arguments; ``make fuzz`` makes many."""

from __future__ import annotations

from . import arguments


def test_odd_arguments() -> None:
    assert arguments.run(0, 4) > 20


def test_complaints_are_made() -> None:
    sample = arguments.Sample(1, {"np.zeros": arguments.np.zeros})
    assert arguments.problem_of(sample, None, 0) is None
    assert arguments.problem_of(sample, MemoryError(), 0) is not None
    assert arguments.problem_of(sample, SystemError(), 0) is not None
    assert arguments.problem_of(sample, None, 100) is not None

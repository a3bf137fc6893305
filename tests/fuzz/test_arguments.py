# SPDX-License-Identifier: Apache-2.0
"""Whether the search with odd arguments complains of what it should."""

from __future__ import annotations

from . import arguments


def test_complaints_are_made() -> None:
    sample = arguments.Sample(1, {"np.zeros": arguments.np.zeros})
    assert arguments.problem_of(sample, None, 0) is None
    assert arguments.problem_of(sample, MemoryError(), 0) is not None
    assert arguments.problem_of(sample, SystemError(), 0) is not None
    assert arguments.problem_of(sample, None, 100) is not None

# SPDX-License-Identifier: Apache-2.0
"""One browser for all tests of a run. ``make test`` does not collect this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from driver import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with Browser() as started:
        yield started

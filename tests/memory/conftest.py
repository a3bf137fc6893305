# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator

import pytest

from afterglow import _core


def forget_failures() -> None:
    """Switch fault injection off and let ``waitall`` raise whatever nobody was told of."""
    _core.inject_failure(-1, 0)
    _core.fail_allocation(-1)
    while True:
        try:
            _core.waitall()
        except Exception:
            continue
        return


@pytest.fixture(autouse=True)
def nothing_injected() -> Iterator[None]:
    forget_failures()
    yield
    forget_failures()

# SPDX-License-Identifier: Apache-2.0
"""`make test-address` sees what it is there for."""

from __future__ import annotations

import pytest
from support import ADDRESS_SANITIZER, run_child

pytestmark = pytest.mark.skipif(not ADDRESS_SANITIZER, reason="for `make test-address`")

#: Reads as many bytes of an array as it has, and `more`, before or after it is gone.
SCRIPT = """
import ctypes
x = mx.nd.ones(({size},))
shared = onp.from_dlpack(x)
address = shared.ctypes.data
if {gone}:
    del x, shared
ctypes.string_at(address, 4 * {size} + {more})
"""


def _report(**choices: object) -> str:
    """Run the script with a report that goes to stderr and not to where others are looked for."""
    return run_child(SCRIPT.format(**choices), ASAN_OPTIONS="detect_leaks=0").err


@pytest.mark.parametrize("size", [3, 100, 10**6 + 1])
def test_what_lies_behind_an_array_is_seen(size: int) -> None:
    assert _report(size=size, more=0, gone=False) == ""
    assert "AddressSanitizer: use-after-poison" in _report(size=size, more=1, gone=False)


@pytest.mark.parametrize("size", [3, 100, 10**6 + 1])
def test_the_memory_of_an_array_that_is_gone_is_seen(size: int) -> None:
    assert "AddressSanitizer: use-after-poison" in _report(size=size, more=0, gone=True)

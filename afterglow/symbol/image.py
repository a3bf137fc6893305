# SPDX-License-Identifier: Apache-2.0
"""``mx.sym.image``: the functions of ``mx.nd.image`` for symbols."""

from __future__ import annotations

from typing import Any

from .symbol import function_of


def __getattr__(name: str) -> Any:
    """Return the function of an op."""
    return function_of(f"_image_{name}", __name__, name, name)

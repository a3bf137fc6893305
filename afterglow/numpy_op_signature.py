# SPDX-License-Identifier: Apache-2.0
"""``mx.numpy_op_signature``: functions of ``mx.np`` and ``mx.npx`` by MXNet's names of ops."""

from __future__ import annotations

from typing import Any

from . import numpy, numpy_extension
from ._package.namespace import tend

__all__: list[str] = []

#: What names of ops of each namespace begin with.
_PREFIXES = {"_npx_": numpy_extension, "_np_": numpy, "_npi_": numpy}


def _get_builtin_op(op_name: str) -> Any:
    """Return the function that an op is in its namespace; none where there is none."""
    for prefix, found in _PREFIXES.items():
        if op_name.startswith(prefix):
            place: Any = found
            name = op_name.removeprefix(prefix)
            for below in ("random", "linalg"):
                if name.startswith(f"{below}_"):
                    place, name = getattr(found, below), name.removeprefix(f"{below}_")
            return getattr(place, name, None)
    return None


tend(__name__)

# SPDX-License-Identifier: Apache-2.0
"""Arrays or symbols in lists within lists, as functions of control flow take and return them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..error import ArgumentError


def flat(nested: Any, kind: type, what: str) -> list[Any]:
    """Return what nested lists hold, in order."""
    if isinstance(nested, kind):
        return [nested]
    if not isinstance(nested, (list, tuple)):
        raise ArgumentError(
            f"{what} must be (nested) list of {kind.__name__}, but got {nested} of type "
            f"{type(nested)}"
        )
    return [one for item in nested for one in flat(item, kind, what)]


def like(form: Any, items: Iterator[Any]) -> Any:
    """Return the items nested as ``form`` is."""
    if not isinstance(form, (list, tuple)):
        return next(items)
    return [like(one, items) for one in form]

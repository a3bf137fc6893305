# SPDX-License-Identifier: Apache-2.0
"""Arrays or symbols in lists within lists, as control flow and blocks take and return them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..error import ArgumentError

#: How messages call kinds of values.
_NAMES = {"Array": "NDArray", "NoneType": "None"}


def flat(
    nested: Any, kinds: tuple[type, ...], what: str, error: type[Exception] = ArgumentError
) -> list[Any]:
    """Return what nested lists hold, in order; anything but these kinds is an error."""
    if isinstance(nested, kinds):
        return [nested]
    if not isinstance(nested, (list, tuple)):
        names = " or ".join(_NAMES.get(kind.__name__, kind.__name__) for kind in kinds)
        raise error(
            f"{what} must be (nested) list of {names}, but got {nested} of type {type(nested)}"
        )
    return [one for item in nested for one in flat(item, kinds, what, error)]


def like(form: Any, items: Iterator[Any]) -> Any:
    """Return the items nested as ``form`` is."""
    if not isinstance(form, (list, tuple)):
        return next(items)
    return [like(one, items) for one in form]

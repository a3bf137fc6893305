# SPDX-License-Identifier: Apache-2.0
"""Constructors that differ in their defaults alone, and leave the work to their base class."""

from __future__ import annotations

from typing import Any


def handed_on(names: dict[str, Any], *but: str) -> dict[str, Any]:
    """Return by their names what a constructor was given, of which these are the ``locals()``.

    >>> from afterglow.gluon._arguments import handed_on
    >>> handed_on({"self": object(), "channels": 3, "layout": "NCW", "kwargs": {}}, "layout")
    {'channels': 3}
    """
    # A constructor that calls super() has a name for its class.
    ours = {"self", "__class__", "kwargs", *but}
    own = {key: value for key, value in names.items() if key not in ours}
    return {**own, **names.get("kwargs", {})}

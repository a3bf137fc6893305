# SPDX-License-Identifier: Apache-2.0
"""The choice of a framework in newer editions of the English book: here it is always MXNet.

>>> from afterglow.books import tab
>>> tab.selected("mxnet", "jax"), tab.selected("pytorch")
(True, False)
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["interact_select", "selected"]


def selected(*names: str) -> bool:
    """Tell whether code for these frameworks is to run."""
    return "mxnet" in names or "all" in names


def interact_select(*names: str | Sequence[str]) -> None:
    """Do nothing: the choice is made."""

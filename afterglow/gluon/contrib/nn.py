# SPDX-License-Identifier: Apache-2.0
"""``gluon.contrib.nn``: children side by side."""

from __future__ import annotations

from typing import Any

from .._functions import op
from ..block import HybridBlock
from ..nn import HybridSequential, Sequential
from ..parameter import ParameterDict

__all__ = ["Concurrent", "HybridConcurrent", "Identity"]


def _beside(children: Any, x: Any, axis: int) -> Any:
    """Give the same input to all children, and put their outputs next to each other."""
    return op(x, "concat")([child(x) for child in children], axis=axis)


class Concurrent(Sequential):
    """Gives its input to every child and concatenates what they return.

    >>> from afterglow import gluon, nd
    >>> both = gluon.contrib.nn.Concurrent(axis=1)
    >>> both.add(gluon.contrib.nn.Identity(), gluon.nn.Activation("relu"))
    >>> both(nd.array([[1, -2]]))
    <BLANKLINE>
    [[ 1. -2.  1.  0.]]
    <NDArray 1x4 @cpu(0)>
    """

    def __init__(
        self, axis: int = -1, prefix: str | None = None, params: ParameterDict | None = None
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def forward(self, x: Any) -> Any:
        """Concatenate the outputs of all children."""
        return _beside(self._children.values(), x, self.axis)


class HybridConcurrent(HybridSequential):
    """Gives its input to every child and concatenates what they return.

    >>> from afterglow import gluon, nd
    >>> both = gluon.contrib.nn.HybridConcurrent(axis=1)
    >>> both.add(gluon.contrib.nn.Identity(), gluon.nn.Activation("relu"))
    >>> both(nd.array([[1, -2]])).shape
    (1, 4)
    """

    def __init__(
        self, axis: int = -1, prefix: str | None = None, params: ParameterDict | None = None
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Concatenate the outputs of all children."""
        return _beside(self._children.values(), x, self.axis)


class Identity(HybridBlock):
    """Returns its input.

    >>> from afterglow import gluon, nd
    >>> gluon.contrib.nn.Identity()(nd.ones((2, 3))).shape
    (2, 3)
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the input."""
        return x

# SPDX-License-Identifier: Apache-2.0
"""Shapes of parameters found by calling ``hybrid_forward`` once with parameters that lack them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._arrays.shapes import Shape
from .._core import set_stand_in_type
from .parameter import Parameter


class AllKnown(BaseException):
    """Raised where the last shape of a block is found: the rest need not be computed."""


class Unknown:
    """A parameter whose shape is not known yet, in place of its array.

    An op that takes weights completes the shape from the data that it is called with, and goes on
    with the array that can then be made.
    """

    def __init__(
        self, parameter: Parameter, like: Any, others: Iterable[Parameter] | None = None
    ) -> None:
        self._parameter = parameter
        self._like = like
        self._others = others

    @property
    def shape(self) -> Shape:
        """The shape, as far as it is known; unknown extents are 0."""
        return self._parameter.shape or ()

    @property
    def ndim(self) -> int:
        """How many dimensions are known of."""
        return len(self.shape)

    def completed(self, shape: Shape) -> Any:
        """Return the array, now that the shape is known; not if all others are known as well."""
        self._parameter.shape = shape
        self._parameter._finish_deferred_init()
        if self._others is not None and not any(one._is_incomplete() for one in self._others):
            raise AllKnown
        return self._parameter._at(self._like._context_numbers)._as_class(self._like._legacy)


set_stand_in_type(Unknown)

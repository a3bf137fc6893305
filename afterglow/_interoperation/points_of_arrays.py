# SPDX-License-Identifier: Apache-2.0
"""Curves through points whose coordinates are numbers and arrays of one number.

``plot([-5, x1, x2], ...)`` with ``x1`` of shape (1,) is what chapters on optimization draw. Before
NumPy 1.24 such a list became an array of objects, which Matplotlib reads one by one.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from .._core import Array


def _numbers(coordinates: Any) -> Any:
    """Return what is drawn, with the numbers of a list or tuple that are in arrays taken out."""
    if not isinstance(coordinates, (list, tuple)):
        return coordinates
    return [
        one.asnumpy().item() if isinstance(one, Array) and one.size == 1 else one
        for one in coordinates
    ]


def draw_points_of_arrays(axes: Any) -> None:
    """Let ``plot`` of the module ``matplotlib.axes`` take such points."""
    plot = axes.Axes.plot

    @wraps(plot)
    def of_numbers(self: Any, *args: Any, **options: Any) -> Any:
        return plot(self, *map(_numbers, args), **options)

    axes.Axes.plot = of_numbers

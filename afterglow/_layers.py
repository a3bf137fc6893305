# SPDX-License-Identifier: Apache-2.0
"""What layers and losses compute, as compositions of ops, for arrays of both worlds.

Each function answers in the world of its first argument. Chains of elementwise calls and the
reductions of rows are fused into one pass, and gradients come from the rules of the ops.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ._core import Operation, operation
from ._shapes import Shape, normal_axis

_operation = cache(operation)


def op(x: Any, name: str) -> Operation:
    """Return an op that answers in the world of an array."""
    return _operation(name, x._legacy)


def reduce(name: str, x: Any, axes: Shape, keepdims: bool = False) -> Any:
    """Return a reduction over some axes; over none of them it is the array itself."""
    return op(x, name)(x, axis=axes, keepdims=keepdims) if axes else x


def all_axes_but(x: Any, *kept: int) -> Shape:
    """Return the axes of an array without some."""
    left_out = {normal_axis(axis, x.ndim) for axis in kept}
    return tuple(axis for axis in range(x.ndim) if axis not in left_out)


# --- losses ---


def pick_labels(x: Any, labels: Any, axis: int) -> Any:
    """Return the element of each line along an axis that its label names; the axis is kept.

    A negative label names the first element. The result of one that is too great cannot be read.
    """
    index = labels._as_class(x._legacy)
    return op(x, "pick")(x, index, axis=axis, keepdims=True, mode="label")

# SPDX-License-Identifier: Apache-2.0
"""``mx.npx``: what ``np`` arrays need and NumPy does not have."""

from __future__ import annotations

from typing import Any

from .._core import operation, waitall
from .._shapes import as_integers, extended_reshape
from ..context import Context, cpu, cpu_pinned, current_context, gpu, gpu_memory_info, num_gpus
from ..numpy import ndarray
from ..numpy._arguments import need
from ..random import seed
from ..util import (
    is_np_array,
    is_np_shape,
    reset_np,
    set_np,
    use_np,
    use_np_array,
    use_np_shape,
)
from . import random

__all__ = [
    "Context",
    "cpu",
    "cpu_pinned",
    "current_context",
    "gpu",
    "gpu_memory_info",
    "is_np_array",
    "is_np_shape",
    "num_gpus",
    "random",
    "relu",
    "reset_np",
    "reshape",
    "seed",
    "set_np",
    "sigmoid",
    "use_np",
    "use_np_array",
    "use_np_shape",
    "waitall",
]

_copy = operation("copy", False)
_relu = operation("relu", False)
_sigmoid = operation("sigmoid", False)


def relu(data: Any, out: ndarray | None = None) -> ndarray:
    """Return the elements with negative ones replaced by 0."""
    result: ndarray = _relu(need(data, "data"), out=out)
    return result


def sigmoid(data: Any, out: ndarray | None = None) -> ndarray:
    """Return 1 / (1 + exp(-x))."""
    result: ndarray = _sigmoid(need(data, "data"), out=out)
    return result


def reshape(a: Any, newshape: Any, reverse: bool = False, order: str = "C") -> ndarray:
    """Return a copy in another shape.

    -1 is found from the others, -2 keeps an extent, -3 leaves out a 1, -4 takes the rest, -5 merges
    two and -6 splits one into the two that follow.
    """
    wanted = as_integers(newshape, "newshape")
    view = need(a)._shaped(extended_reshape(a.shape, wanted, reverse))
    result: ndarray = _copy(view)
    return result

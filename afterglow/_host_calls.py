# SPDX-License-Identifier: Apache-2.0
"""Ops whose work NumPy does: queued like any other, computed by a worker.

For what is rare or long (decompositions, sorting); what training does in every step has a kernel of
its own in src/kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from ._core import Array, call_host
from ._dtype import dtype_number
from ._shapes import Shape

Host = onp.ndarray[Any, Any]


def on_host(
    name: str,
    function: Callable[..., Any],
    *inputs: Array,
    shape: Shape,
    dtype: Any,
    legacy: bool,
    cost: float = 0.0,
) -> Any:
    """Queue ``function(*numpy_arrays)``; what it returns is the value of the new array.

    The arrays must not be written or kept. ``shape`` and ``dtype`` of the result must be known
    beforehand; ``cost`` is a guess in nanoseconds. An exception of the function poisons the result.
    """

    def run(arguments: list[Host], results: list[Host]) -> None:
        results[0][...] = function(*arguments)

    number = dtype if isinstance(dtype, int) else dtype_number(dtype)
    return call_host(name, run, legacy, list(inputs), [shape], [number], cost)[0]


def on_host_several(
    name: str,
    function: Callable[..., Sequence[Any]],
    *inputs: Array,
    outputs: Sequence[tuple[Shape, Any]],
    legacy: bool,
    cost: float = 0.0,
) -> list[Any]:
    """Queue a function that returns several values; ``outputs`` holds shape and type of each."""

    def run(arguments: list[Host], results: list[Host]) -> None:
        for result, value in zip(results, function(*arguments), strict=True):
            result[...] = value

    shapes = [shape for shape, _ in outputs]
    numbers = [dtype if isinstance(dtype, int) else dtype_number(dtype) for _, dtype in outputs]
    return call_host(name, run, legacy, list(inputs), shapes, numbers, cost)

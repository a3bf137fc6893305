# SPDX-License-Identifier: Apache-2.0
"""Ops whose work NumPy does: queued like any other, computed by a thread for such calls alone.

For what is rare or long (decompositions, sorting); what training does in every step has a kernel of
its own in src/kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as onp

from .._arrays.dtypes import DTYPES, dtype_number
from .._arrays.shapes import Shape
from .._core import Array, at_hand, call_host, from_buffer

Host = onp.ndarray[Any, Any]

#: Queueing costs more than work of fewer nanoseconds does.
_quick = 20e3


def _kept(value: Any, shape: Shape, number: int, like: Any, legacy: bool) -> Any:
    """Return a value as a new array."""
    host = value
    plain = type(host) is onp.ndarray and host.shape == shape and host.flags.c_contiguous
    if not plain or host.dtype != DTYPES[number]:
        host = onp.empty(shape, DTYPES[number])
        host[...] = value
    return from_buffer(host, shape, number, like._context_numbers, legacy)


def _is_quick(cost: float, inputs: Sequence[Any], legacy: bool) -> bool:
    """Tell whether a call is computed at once; not with arrays of both worlds, which it refuses."""
    return (
        0 < cost < _quick
        and all(each._legacy == legacy for each in inputs)
        and at_hand(list(inputs))
    )


_Value = TypeVar("_Value")


def _at_once(compute: Callable[[], _Value]) -> _Value | None:
    """Return what the function computes, or None if it fails.

    What a signal handler raises meanwhile is no failure of the function, which succeeds the second
    time; it goes on to the caller.
    """
    try:
        return compute()
    except Exception:
        try:
            compute()
        except Exception:
            return None
        raise


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
    beforehand; ``cost`` is a guess in nanoseconds, 0 if there is none. What is quick by that guess
    is computed at once where the inputs are there. An exception of the function poisons the result.
    """
    number = dtype if isinstance(dtype, int) else dtype_number(dtype)
    if _is_quick(cost, inputs, legacy):
        hosts = [each.asnumpy() for each in inputs]
        kept = _at_once(lambda: _kept(function(*hosts), shape, number, inputs[0], legacy))
        if kept is not None:  # else a queued call fails again, and the read tells of it
            return kept

    def run(arguments: list[Host], results: list[Host]) -> None:
        results[0][...] = function(*arguments)

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
    shapes = [shape for shape, _ in outputs]
    numbers = [dtype if isinstance(dtype, int) else dtype_number(dtype) for _, dtype in outputs]
    if _is_quick(cost, inputs, legacy):
        hosts = [each.asnumpy() for each in inputs]
        several = _at_once(
            lambda: [
                _kept(value, shape, number, inputs[0], legacy)
                for value, shape, number in zip(function(*hosts), shapes, numbers, strict=True)
            ]
        )
        if several is not None:
            return several

    def run(arguments: list[Host], results: list[Host]) -> None:
        for result, value in zip(results, function(*arguments), strict=True):
            result[...] = value

    return call_host(name, run, legacy, list(inputs), shapes, numbers, cost)

# SPDX-License-Identifier: Apache-2.0
"""Calls on the tape whose gradient is a Python function of the user's.

The tape knows ops by name, so such a call is written down as *writes* that no call performs: every
input is "written" to a hub, and the hub to every output. Their offset is negative, as it never is
otherwise, and each knows the call (``hold``)::

    x0, x1, ... -> hub -> y0, y1, ...

Backward, latest write first, the gradients of all outputs arrive at the hub before those of the
inputs are asked for, so the user's function is called once. The arrays that were computed from the
outputs own the call until the tape is released, so whatever it refers to may refer to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ._core import Array, TapeNode, held_by, hold, is_recording, operation, origin_of
from ._dtype import FLOAT32
from ._gradients import RecordedCall, Rule

Backward = Callable[[list[Any]], Sequence[Any]]

_FROM_INPUT, _TO_OUTPUT = range(2)


class _PythonCall:
    """One call: gathers the gradients of its outputs in a walk, and makes those of its inputs."""

    def __init__(self, backward: Backward, outputs: list[Any]) -> None:
        self._backward = backward
        self._outputs = [
            (one.shape, one._dtype_number, one._context_numbers, one._legacy) for one in outputs
        ]

    def arrive(self, walk: dict[Any, Any], index: int, gradient: Any) -> None:
        """Take the gradient of an output."""
        walk[self, index] = gradient

    def gradient(self, walk: dict[Any, Any], index: int) -> Any:
        """Return the gradient of an input."""
        if self not in walk:
            arrived = [walk.pop((self, i), None) for i in range(len(self._outputs))]
            gradients = self._backward(
                [self._zeros(i) if one is None else one for i, one in enumerate(arrived)]
            )
            walk[self] = dict(enumerate(gradients))
        return walk[self].pop(index)  # asked for once

    def _zeros(self, index: int) -> Any:
        shape, dtype, context, legacy = self._outputs[index]
        return operation("copy", legacy)(0, shape=shape, dtype=dtype, ctx=context)


def _is_recorded(value: Any) -> bool:
    return isinstance(value, Array) and origin_of(value) is not None


@cache
def _token() -> Any:
    """Return an array whose value nobody reads: hubs are one, and what travels through them."""
    return operation("copy", True)(0, shape=(1,), dtype=FLOAT32)


def record_call(inputs: Sequence[Any], outputs: Sequence[Any], backward: Backward) -> list[Any]:
    """Return the outputs as arrays that were computed from the inputs.

    ``backward`` gets the gradients of all outputs and returns those of all inputs.
    """
    results = [output._detached() for output in outputs]
    if not is_recording() or not any(_is_recorded(array) for array in inputs):
        return results
    call = _PythonCall(backward, results)
    hub = _token()._detached()
    for index, array in enumerate(inputs):
        if _is_recorded(array):
            hub._written(array, -1, (_FROM_INPUT, index), ())
            hold(hub, call)
    for index, result in enumerate(results):
        result._written(hub, -1, (_TO_OUTPUT, index), ())
        hold(result, call)
    return results


def rules_of(node: TapeNode) -> tuple[Rule | None, ...] | None:
    """Return the rules of a write that belongs to a Python call; ``None`` for all others."""
    arguments = node.arguments
    if arguments["offset"] >= 0:
        return None
    call = held_by(node)
    kind, index = arguments["shape"]

    def from_output(c: RecordedCall, gradient: Any) -> Any:
        call.arrive(c.walk, index, gradient)
        return _token()

    def to_input(c: RecordedCall, gradient: Any) -> Any:
        return call.gradient(c.walk, index)

    def along(_: RecordedCall, gradient: Any) -> Any:
        return gradient

    return (Rule(along), Rule(from_output if kind == _TO_OUTPUT else to_input))

# SPDX-License-Identifier: Apache-2.0
"""Softmax and norms along an axis."""

from __future__ import annotations

from typing import Any

from .._graph import Call
from .registry import converts


@converts("softmax", "softmin", "log_softmax")
def _softmax(call: Call) -> Any:
    if call.get("use_length", False):
        raise call.refuse("lengths are not supported")
    scores = call.inputs[0]
    if call.op.endswith("softmin"):
        scores = call.add("Neg", scores)
    temperature = call.get("temperature")
    if temperature not in (None, 1):
        scores = call.add("Div", scores, call.constant(temperature))
    target = "LogSoftmax" if call.op.endswith("log_softmax") else "Softmax"
    return call.add(target, scores, axis=int(call.get("axis", -1)))


@converts("SoftmaxActivation")
def _softmax_activation(call: Call) -> Any:
    if call.get("mode") == "channel":
        return call.add("Softmax", call.inputs[0], axis=1)
    return softmax_of_rows(call)


def softmax_of_rows(call: Call) -> Any:
    """Return the softmax in which all axes but the first are one."""
    if call.rank <= 2:
        return call.add("Softmax", call.inputs[0], axis=-1)
    flat = call.add("Softmax", call.add("Flatten", call.inputs[0], axis=1), axis=-1)
    return call.add("Reshape", flat, call.add("Shape", call.inputs[0]))


@converts("L2Normalization")
def _l2_normalization(call: Call) -> Any:
    mode = call.get("mode", "instance")
    axes = {
        "instance": list(range(1, call.rank)),
        "channel": [1],
        "spatial": list(range(2, call.rank)),
    }[mode]
    squares = call.add("Mul", call.inputs[0], call.inputs[0])
    total = call.add("ReduceSum", squares, call.integers(*axes), keepdims=1)
    total = call.add("Add", total, call.constant(float(call.get("eps", 1e-10))))
    return call.add("Div", call.inputs[0], call.add("Sqrt", total))

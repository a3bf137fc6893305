# SPDX-License-Identifier: Apache-2.0
"""Reductions."""

from __future__ import annotations

from typing import Any

import numpy as onp

from .._graph import Call
from .registry import Function, converts


def _reduced_axes(call: Call) -> list[int]:
    axes = call.axes()
    if axes is None or (axes == [] and not call.is_numpy):
        axes = list(range(call.rank))
    if call.get("exclude", False):
        axes = [one for one in range(call.rank) if one not in axes]
    return axes


def _shaped(call: Call, result: Any, axes: list[int]) -> Any:
    """Give a reduction to nothing one axis, as nd does."""
    if len(axes) == call.rank and not call.get("keepdims", False) and not call.is_numpy:
        return call.add("Reshape", result, call.integers(1))
    return result


def _reduction(target: str) -> Function:
    def convert(call: Call) -> Any:
        axes, keeps = _reduced_axes(call), int(bool(call.get("keepdims", False)))
        data = call.inputs[0]
        if onp.dtype(call.types[0]) != onp.dtype(call.output_types[0]):
            data = call.cast(data, call.output_types[0])
        if target == "ReduceSum":
            result = call.add(target, data, call.integers(*axes), keepdims=keeps)
        else:
            result = call.add(target, data, axes=axes, keepdims=keeps)
        return _shaped(call, result, axes)

    return convert


for _op in ("sum", "mean", "max", "min", "prod"):
    converts(_op)(_reduction(f"Reduce{_op.capitalize()}"))


@converts("_npi_var")
def _variance(call: Call) -> Any:
    if call.get("ddof", 0):
        raise call.refuse("ddof is not supported")
    axes, data = _reduced_axes(call), call.inputs[0]
    distance = call.add("Sub", data, call.add("ReduceMean", data, axes=axes, keepdims=1))
    keeps = int(bool(call.get("keepdims", False)))
    return call.add("ReduceMean", call.add("Mul", distance, distance), axes=axes, keepdims=keeps)


converts("_npi_std")(lambda call: call.add("Sqrt", _variance(call)))


@converts("cumsum")
def _cumsum(call: Call) -> Any:
    data, axis = call.cast(call.inputs[0], call.output_types[0]), call.get("axis")
    if axis is None:
        data, axis = call.add("Reshape", data, call.integers(-1)), 0
    return call.add("CumSum", data, call.constant(int(axis), "int64"))


@converts("norm2")
def _norm(call: Call) -> Any:
    axes, order = _reduced_axes(call), call.get("ord", 2)
    targets = {1: "ReduceL1", 2: "ReduceL2"}
    # Of matrices np has norms that are not those of their elements; -2 is what it says of none.
    of_matrices = call.is_numpy and len(axes) > 1 and call.get("flag", -2) != -2
    if order not in targets or of_matrices:
        raise call.refuse(f"the norm {order} over {len(axes)} axes is not supported")
    keeps = int(bool(call.get("keepdims", False)))
    return _shaped(call, call.add(targets[order], call.inputs[0], axes=axes, keepdims=keeps), axes)


def _place(target: str) -> Function:
    def convert(call: Call) -> Any:
        axis, data = call.get("axis"), call.inputs[0]
        keeps = int(bool(call.get("keepdims", False)))
        if axis is None:
            data, axis, keeps = call.add("Reshape", data, call.integers(-1)), 0, call.is_numpy ^ 1
        place = call.add(target, data, axis=int(axis), keepdims=keeps)
        if call.rank == 1 and not keeps and not call.is_numpy:
            place = call.add("Reshape", place, call.integers(1))
        return call.cast(place, call.output_types[0])

    return convert


converts("argmax")(_place("ArgMax"))
converts("argmin")(_place("ArgMin"))

# SPDX-License-Identifier: Apache-2.0
"""Sequences of different lengths, and attention with interleaved projections."""

from __future__ import annotations

from typing import Any

import numpy as onp

from .._graph import Call
from .registry import converts


def _has_lengths(call: Call) -> bool:
    return bool(call.get("use_sequence_length", False))


@converts("SequenceMask")
def _mask(call: Call) -> Any:
    if not _has_lengths(call):
        return call.add("Identity", call.inputs[0])
    data, lengths = call.inputs
    time = int(call.get("axis", 0))
    shape = [1] * call.rank
    shape[time] = call.static(call.shapes[0])[time]
    steps = onp.arange(shape[time]).reshape(shape)
    others = [axis for axis in range(call.rank) if axis != 1 - time]
    is_valid = call.add(
        "Less",
        call.constant(steps, call.types[1]),
        call.add("Unsqueeze", lengths, call.integers(*others)),
    )
    return call.add("Where", is_valid, data, call.constant(float(call.get("value", 0))))


@converts("SequenceLast")
def _last(call: Call) -> Any:
    data, time = call.inputs[0], int(call.get("axis", 0))
    if not _has_lengths(call):
        return call.add("Gather", data, call.constant(-1, "int64"), axis=time)
    if time == 0:
        data = call.add("Transpose", data, perm=[1, 0, *range(2, call.rank)])
    last = call.add("Sub", call.cast(call.inputs[1], "int64"), call.integers(1))
    places = call.add("Unsqueeze", last, call.integers(1))
    return call.add("GatherND", data, places, batch_dims=1)


@converts("SequenceReverse")
def _reverse(call: Call) -> Any:
    if _has_lengths(call):
        lengths = call.cast(call.inputs[1], "int64")
        return call.add("ReverseSequence", call.inputs[0], lengths, time_axis=0, batch_axis=1)
    bounds = (-1, onp.iinfo("int64").min, 0, -1)  # begin, end, axis and step
    return call.add("Slice", call.inputs[0], *(call.integers(one) for one in bounds))


@converts("div_sqrt_dim")
def _by_root_of_extent(call: Call) -> Any:
    extent = call.static(call.shapes[0])[-1]
    return call.add("Div", call.inputs[0], call.constant(extent**0.5))


def _heads(call: Call, data: str, part: int, parts: int, *, turned: bool = False) -> Any:
    """Return one of the projections that lie side by side: samples, heads, steps and features."""
    shape = call.integers(0, 0, int(call.get("heads")), parts, -1)
    split = call.add("Reshape", data, shape)
    one = call.add("Gather", split, call.constant(part, "int64"), axis=3)
    return call.add("Transpose", one, perm=[1, 2, 3, 0] if turned else [1, 2, 0, 3])


def _scores(call: Call, query: str, key: str, features: int) -> Any:
    root = call.constant((features // int(call.get("heads"))) ** 0.5)
    scores = call.add("MatMul", call.add("Div", query, root), key)
    return call.add("Reshape", scores, call.integers(*call.static(call.output_shapes[0])))


def _mixed(call: Call, value: str) -> Any:
    """Return the sums of values, weighted by attention, with heads side by side."""
    samples, heads = call.static(call.shapes[0])[1], int(call.get("heads"))
    shares = call.add("Reshape", call.inputs[1], call.integers(samples, heads, *call.shapes[1][1:]))
    sums = call.add("Transpose", call.add("MatMul", shares, value), perm=[2, 0, 1, 3])
    return call.add("Reshape", sums, call.integers(0, 0, -1))


@converts("interleaved_matmul_selfatt_qk")
def _self_scores(call: Call) -> Any:
    (data,) = call.inputs
    query, key = _heads(call, data, 0, 3), _heads(call, data, 1, 3, turned=True)
    return _scores(call, query, key, call.shapes[0][2] // 3)


@converts("interleaved_matmul_selfatt_valatt")
def _self_values(call: Call) -> Any:
    return _mixed(call, _heads(call, call.inputs[0], 2, 3))


@converts("interleaved_matmul_encdec_qk")
def _scores_of_two(call: Call) -> Any:
    queries, others = call.inputs
    query, key = _heads(call, queries, 0, 1), _heads(call, others, 0, 2, turned=True)
    return _scores(call, query, key, call.shapes[0][2])


@converts("interleaved_matmul_encdec_valatt")
def _values_of_two(call: Call) -> Any:
    return _mixed(call, _heads(call, call.inputs[0], 1, 2))

# SPDX-License-Identifier: Apache-2.0
"""Elements chosen by index, and in order."""

from __future__ import annotations

from typing import Any

from .._graph import Call
from .registry import converts


@converts("take")
def _take(call: Call) -> Any:
    axis, places = int(call.get("axis", 0)) % call.rank, call.cast(call.inputs[1], "int64")
    mode = call.get("mode", "clip")
    if mode == "clip":
        last = call.static(call.shapes[0])[axis] - 1
        places = call.add("Clip", places, call.constant(0, "int64"), call.constant(last, "int64"))
    elif mode == "wrap":
        extent = call.static(call.shapes[0])[axis]
        places = call.add("Mod", places, call.constant(extent, "int64"))
    return call.add("Gather", call.inputs[0], places, axis=axis)


@converts("gather_nd")
def _gather_nd(call: Call) -> Any:
    rank = len(call.shapes[1])
    places = call.add("Transpose", call.inputs[1], perm=[*range(1, rank), 0])
    return call.add("GatherND", call.inputs[0], call.cast(places, "int64"))


@converts("pick")
def _pick(call: Call) -> Any:
    axis = int(call.get("axis", -1)) % call.rank
    places = call.cast(call.inputs[1], "int64")
    if len(call.shapes[1]) < call.rank:
        places = call.add("Unsqueeze", places, call.integers(axis))
    chosen = call.add("GatherElements", call.inputs[0], places, axis=axis)
    if call.get("keepdims", False):
        return chosen
    return call.add("Squeeze", chosen, call.integers(axis))


@converts("one_hot")
def _one_hot(call: Call) -> Any:
    kind = call.get("dtype", "float32")
    values = [call.get("off_value", 0), call.get("on_value", 1)]
    return call.add(
        "OneHot",
        call.cast(call.inputs[0], "int64"),
        call.integers(int(call.get("depth"))),
        call.constant(values, kind),
        axis=-1,
    )


@converts("topk")
def _topk(call: Call) -> Any:
    kind = call.get("ret_typ", "indices")
    if kind == "mask":
        raise call.refuse("ret_typ 'mask' is not supported")
    data, axis = call.inputs[0], call.get("axis", -1)
    if axis is None:
        raise call.refuse("axis=None is not supported")
    count = int(call.get("k", 1)) or call.static(call.shapes[0])[axis]
    names = [call.graph.new_name(f"{call.name}_{part}") for part in ("values", "places")]
    values, places = call.add(
        "TopK",
        data,
        call.integers(count),
        outputs=names,
        axis=int(axis),
        largest=int(not call.get("is_ascend", False)),
    )
    places = call.cast(places, call.get("dtype", "float32"))
    return {"value": values, "indices": places, "both": [values, places]}[kind]

# SPDX-License-Identifier: Apache-2.0
"""Sorting."""

from __future__ import annotations

from typing import Any

from .._graph import Call
from .registry import converts


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

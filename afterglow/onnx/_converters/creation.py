# SPDX-License-Identifier: Apache-2.0
"""New arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp

from ... import ndarray
from .._graph import Call
from .registry import Function, converts


def _filled(number: Callable[[Call], float]) -> Function:
    """Return the converter of an array of one number, in a shape or in that of another array."""

    def convert(call: Call) -> Any:
        kind = call.output_types[0]
        if call.inputs:
            shape = call.add("Shape", call.inputs[0])
            return call.add("Expand", call.constant(number(call), kind), shape)
        values = onp.full(call.output_shapes[0], number(call))
        return call.add("Identity", call.constant(values, kind))

    return convert


converts("_zeros", "zeros_like")(_filled(lambda call: 0))
converts("_ones", "ones_like")(_filled(lambda call: 1))
converts("_full")(_filled(lambda call: call.get("value", 0)))
converts("_npi_full_like")(_filled(lambda call: call.get("fill_value", 0)))


@converts("arange")
def _arange(call: Call) -> Any:
    start, stop, step = call.get("start", 0), call.get("stop"), call.get("step", 1)
    values = onp.arange(start, stop, step) if stop is not None else onp.arange(0, start, step)
    values = onp.repeat(values, int(call.get("repeat", 1)))
    return call.add("Identity", call.constant(values, call.output_types[0]))


@converts("arange_like", "index_array", "MultiBoxPrior")
def _of_a_shape(call: Call) -> Any:
    """Write what an op makes of the shape of its input as a constant."""
    like = ndarray.zeros(call.static(call.shapes[0]), dtype=call.types[0])
    given = {key: call.get(key) for key in call.attrs if not key.startswith("__")}
    function = getattr(ndarray.contrib, call.op.removeprefix("_contrib_"))
    values = function(like, **given).asnumpy()
    return call.add("Identity", call.constant(values, values.dtype))

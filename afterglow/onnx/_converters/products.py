# SPDX-License-Identifier: Apache-2.0
"""Products of matrices."""

from __future__ import annotations

from typing import Any

from .._graph import Call
from .registry import converts


def _flipped(call: Call, which: int, key: str) -> str:
    """Return an operand with its last two axes exchanged if the call says so."""
    name, rank = call.inputs[which], len(call.shapes[which])
    if not call.get(key, False) or rank < 2:
        return name
    order = [*range(rank - 2), rank - 1, rank - 2]
    return call.add("Transpose", name, perm=order)  # type: ignore[no-any-return]


@converts("dot")
def _dot(call: Call) -> Any:
    left, right = call.shapes
    if len(right) > 2 or (len(left) > 2 and call.get("transpose_a", False)):
        raise call.refuse(f"the product of {left} and {right} is not supported")
    result = call.add("MatMul", _flipped(call, 0, "transpose_a"), _flipped(call, 1, "transpose_b"))
    if len(left) == len(right) == 1 and not call.is_numpy:
        return call.add("Reshape", result, call.integers(1))
    return result


converts("_npi_einsum")(
    lambda call: call.add("Einsum", *call.inputs, equation=call.get("subscripts"))
)


@converts("batch_dot", "_linalg_gemm2", "_npi_matmul")
def _matmul(call: Call) -> Any:
    result = call.add("MatMul", _flipped(call, 0, "transpose_a"), _flipped(call, 1, "transpose_b"))
    factor = call.get("alpha", 1)
    return result if factor == 1 else call.add("Mul", result, call.constant(factor))

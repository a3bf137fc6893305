# SPDX-License-Identifier: Apache-2.0
"""Where Afterglow answers otherwise than MXNet 1.9.1, by name of the case: why, and with what.

docs/differences.md says the same to users.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as onp

import afterglow as mx


@dataclass(frozen=True)
class Difference:
    """Why ours is meant to stay so, and what takes the place of the recorded outcome."""

    reason: str
    outcome: dict[str, Any]


def _array(reason: str, values: Any, dtype: str = "float32") -> Difference:
    host = onp.array(values, dtype)
    return Difference(
        reason,
        {"kind": "array", "dtype": dtype, "shape": list(host.shape), "values": host.tolist()},
    )


def _error(reason: str, kind: str, part: str) -> Difference:
    """``part`` must be in the text of the error."""
    return Difference(reason, {"kind": "error", "error": kind, "part": part})


_NUMPY_OPERAND = "NumPy arrays may stand beside ours; they are copied at the statement"
_EMPTY = _array("a slice that ends before it starts is empty, as in Python", onp.zeros((0, 4)))
_ARGUMENTS = "wrong arguments of a function are a TypeError, as everywhere in Python"
_EXACT_BOUND = "the bounds of clip are not rounded to float32 on their way"
_EXACT_COMPARISON = "integers are compared with the number itself, not with what a cast makes of it"
_OVERFLOW = _error(
    "a number that the type cannot hold is refused, not changed", "OverflowError", "does not fit"
)

BETTER: dict[str, Difference] = {
    "nd/scalar/M.array([1, 2]) * onp.array([1, 2])": _array(_NUMPY_OPERAND, [1, 4]),
    "nd/scalar/onp.array([1, 2]) * M.array([1, 2])": _array(_NUMPY_OPERAND, [1, 4]),
    "np/scalar/M.array([1, 2]) * onp.array([1, 2])": _array(_NUMPY_OPERAND, [1, 4]),
    "np/scalar/onp.array([1, 2]) * M.array([1, 2])": _array(_NUMPY_OPERAND, [1, 4]),
    "nd/in-place/y = M.array([5, 7]); y += onp.ar... ebdf4f25": _array(_NUMPY_OPERAND, [6, 9]),
    "np/in-place/y = M.array([5, 7]); y += onp.ar... ebdf4f25": _array(_NUMPY_OPERAND, [6, 9]),
    "np/unary/np.exp(onp.array([1, 2]))": _array(_NUMPY_OPERAND, [2, 7], "int64"),
    "nd/reduce/M.mean(M.array([200, 100], dtype... 4fbf38ea": _array(
        "the mean of small integers is not spoilt by their sum wrapping around", [150], "uint8"
    ),
    "nd/load/X34[2:1]": _EMPTY,
    "np/load/X34[2:1]": _EMPTY,
    "nd/reduce/nd.sum(X34, foo=1)": _error(_ARGUMENTS, "TypeError", "'foo'"),
    "nd/reduce/nd.sum()": _error(_ARGUMENTS, "TypeError", "'data'"),
    "nd/shape/M.concatenate([M.ones((2, 1)), M... 4c2ed4b5": _error(
        "says at the call which shapes do not fit; MXNet fails an assertion",
        "MXNetError",
        "inputs: (2, 1) float32, (3, 2) float32",
    ),
    "np/shape/M.concatenate([M.ones((2, 1)), M... 3889c03f": _array(
        "arrays of different types are joined in their common type, as in NumPy", [[1, 0], [1, 0]]
    ),
    "np/choice/np.where(onp.array([1, 0]), np.a... 48cbd1a7": _array(_NUMPY_OPERAND, [1, 6]),
    "nd/choice/M.clip(M.array([2 ** 60, 1], dty... 7176be0f": _array(
        _EXACT_BOUND, [2**53 + 1, 1], "int64"
    ),
    "np/choice/M.clip(M.array([2 ** 60, 1], dty... 7176be0f": _array(
        _EXACT_BOUND, [2**53 + 1, 1], "int64"
    ),
    "nd/choice/M.clip(M.array([0, 1], dtype='fl... e62ffae5": _array(
        _EXACT_BOUND, [0.1, 0.3], "float64"
    ),
    "np/choice/M.clip(M.array([0, 1], dtype='fl... e62ffae5": _array(
        _EXACT_BOUND, [0.1, 0.3], "float64"
    ),
    "nd/choice/M.clip(M.array([1, 2, 3]), 2)": _error(_ARGUMENTS, "TypeError", "'a_max'"),
    "nd/choice/M.array([1, 2, 3]).clip(2)": _error(_ARGUMENTS, "TypeError", "'a_max'"),
    "nd/choice/M.array([1, 2, 3]).clip()": _error(_ARGUMENTS, "TypeError", "'a_min'"),
    "nd/choice/nd.where(nd.array([1, 0]), nd.ar... da244631": _error(
        _ARGUMENTS, "TypeError", "'y'"
    ),
    "nd/context/mx.__version__": Difference(
        "afterglow.__version__ is our own; import afterglow.as_mxnet makes it say 1.9.1",
        {"kind": "text", "text": mx.__version__},
    ),
    "nd/scalar-u1/x = M.array([1, 2], dtype='uint8... e7e3fd59": _array(
        _EXACT_COMPARISON, [1, 0], "uint8"
    ),
    "nd/scalar-i1/x = M.array([1, 2], dtype='int8'... ae43c87f": _array(
        _EXACT_COMPARISON, [1, 0], "int8"
    ),
    "nd/scalar-i4/x = M.array([1, 2], dtype='int32... dba63703": _array(
        _EXACT_COMPARISON, [1, 0], "int32"
    ),
    "nd/scalar-i8/x = M.array([1, 2], dtype='int64... 6612c505": _array(
        _EXACT_COMPARISON, [1, 0], "int64"
    ),
    "nd/scalar-b/x = M.array([1, 2], dtype='bool'... 3b132d9a": _array(
        _EXACT_COMPARISON, [1, 1], "int64"
    ),
    "nd/scalar/M.array([1, 2], dtype='uint8') + 300": _OVERFLOW,
    "nd/scalar/M.array([1, 2], dtype='int32') == 1.5": _array(_EXACT_COMPARISON, [0, 0], "int32"),
    "np/scalar-u1/x = M.array([1, 2], dtype='uint8... e7e3fd59": _array(
        _EXACT_COMPARISON, [1, 0], "bool"
    ),
    "np/scalar-i4/x = M.array([1, 2], dtype='int32... dba63703": _array(
        _EXACT_COMPARISON, [1, 0], "bool"
    ),
    "np/scalar-b/x = M.array([1, 2], dtype='bool'... 3b132d9a": _array(
        _EXACT_COMPARISON, [1, 1], "bool"
    ),
    "np/scalar/M.array([1, 2], dtype='uint8') + 300": _OVERFLOW,
    "np/scalar/M.array([1, 2], dtype='int32') == 1.5": _array(_EXACT_COMPARISON, [0, 0], "bool"),
    "np/choice-u1/np.where(np.array([0, 2, 1]), 30... 3e8b761c": _OVERFLOW,
    "np/choice-i1/np.where(np.array([0, 2, 1]), 30... 257bd08f": _OVERFLOW,
    "np/choice/np.where(np.array([1, 0]), -1, n... 8ee6c659": _OVERFLOW,
}

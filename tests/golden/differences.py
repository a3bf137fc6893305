# SPDX-License-Identifier: Apache-2.0
"""Where Afterglow answers otherwise than MXNet 1.9.1, by name of the case, with the reason.

docs/differences.md says the same to users.
"""

from __future__ import annotations

_NUMPY_OPERAND = "NumPy arrays may stand beside ours; they are copied at the statement"
_EMPTY_SLICE = "a slice that ends before it starts is empty, as in Python"
_ARGUMENTS = "wrong arguments of a function are a TypeError, as everywhere in Python"
_EXACT_BOUND = "the bounds of clip are not rounded to float32 on their way"
_EXACT_COMPARISON = "integers are compared with the number itself, not with what a cast makes of it"
_OVERFLOW = "a number that the type cannot hold is refused, not changed"
_CONCATENATE = "says at the call which shapes do not fit; MXNet fails an assertion"

#: Ours is meant to stay so.
BETTER: dict[str, str] = {
    "nd/scalar/M.array([1, 2]) * onp.array([1, 2])": _NUMPY_OPERAND,
    "nd/scalar/onp.array([1, 2]) * M.array([1, 2])": _NUMPY_OPERAND,
    "np/scalar/M.array([1, 2]) * onp.array([1, 2])": _NUMPY_OPERAND,
    "np/scalar/onp.array([1, 2]) * M.array([1, 2])": _NUMPY_OPERAND,
    "nd/in-place/y = M.array([5, 7]); y += onp.ar... ebdf4f25": _NUMPY_OPERAND,
    "np/in-place/y = M.array([5, 7]); y += onp.ar... ebdf4f25": _NUMPY_OPERAND,
    "np/unary/np.exp(onp.array([1, 2]))": _NUMPY_OPERAND,
    "nd/reduce/M.mean(M.array([200, 100], dtype... 4fbf38ea": (
        "the mean of small integers is not spoilt by their sum wrapping around"
    ),
    "nd/load/X34[2:1]": _EMPTY_SLICE,
    "np/load/X34[2:1]": _EMPTY_SLICE,
    "nd/reduce/nd.sum(X34, foo=1)": _ARGUMENTS,
    "nd/reduce/nd.sum()": _ARGUMENTS,
    "nd/shape/M.concatenate([M.ones((2, 1)), M... 4c2ed4b5": _CONCATENATE,
    "np/shape/M.concatenate([M.ones((2, 1)), M... 3889c03f": (
        "arrays of different types are joined in their common type, as in NumPy"
    ),
    "np/choice/np.where(onp.array([1, 0]), np.a... 48cbd1a7": _NUMPY_OPERAND,
    "nd/choice/M.clip(M.array([2 ** 60, 1], dty... 7176be0f": _EXACT_BOUND,
    "np/choice/M.clip(M.array([2 ** 60, 1], dty... 7176be0f": _EXACT_BOUND,
    "nd/choice/M.clip(M.array([0, 1], dtype='fl... e62ffae5": _EXACT_BOUND,
    "np/choice/M.clip(M.array([0, 1], dtype='fl... e62ffae5": _EXACT_BOUND,
    "nd/choice/M.clip(M.array([1, 2, 3]), 2)": _ARGUMENTS,
    "nd/choice/M.array([1, 2, 3]).clip(2)": _ARGUMENTS,
    "nd/choice/M.array([1, 2, 3]).clip()": _ARGUMENTS,
    "nd/choice/nd.where(nd.array([1, 0]), nd.ar... da244631": _ARGUMENTS,
    "nd/context/mx.__version__": (
        "afterglow.__version__ is our own; import afterglow.as_mxnet makes it say 1.9.1"
    ),
    "nd/scalar-u1/x = M.array([1, 2], dtype='uint8... e7e3fd59": _EXACT_COMPARISON,
    "nd/scalar-i1/x = M.array([1, 2], dtype='int8'... ae43c87f": _EXACT_COMPARISON,
    "nd/scalar-i4/x = M.array([1, 2], dtype='int32... dba63703": _EXACT_COMPARISON,
    "nd/scalar-i8/x = M.array([1, 2], dtype='int64... 6612c505": _EXACT_COMPARISON,
    "nd/scalar-b/x = M.array([1, 2], dtype='bool'... 3b132d9a": _EXACT_COMPARISON,
    "nd/scalar/M.array([1, 2], dtype='uint8') + 300": _OVERFLOW,
    "nd/scalar/M.array([1, 2], dtype='int32') == 1.5": _EXACT_COMPARISON,
    "np/scalar-u1/x = M.array([1, 2], dtype='uint8... e7e3fd59": _EXACT_COMPARISON,
    "np/scalar-i4/x = M.array([1, 2], dtype='int32... dba63703": _EXACT_COMPARISON,
    "np/scalar-b/x = M.array([1, 2], dtype='bool'... 3b132d9a": _EXACT_COMPARISON,
    "np/scalar/M.array([1, 2], dtype='uint8') + 300": _OVERFLOW,
    "np/scalar/M.array([1, 2], dtype='int32') == 1.5": _EXACT_COMPARISON,
    "np/choice-u1/np.where(np.array([0, 2, 1]), 30... 3e8b761c": _OVERFLOW,
    "np/choice-i1/np.where(np.array([0, 2, 1]), 30... 257bd08f": _OVERFLOW,
    "np/choice/np.where(np.array([1, 0]), -1, n... 8ee6c659": _OVERFLOW,
}

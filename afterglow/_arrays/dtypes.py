# SPDX-License-Identifier: Apache-2.0
"""Element types: MXNet's numbers and NumPy's types."""

from __future__ import annotations

import sys
from typing import Any

import numpy as onp

from .._core import Array
from ..error import ArrayTypeError, UnknownTypeError

#: NumPy's type by number, in the order of DType in src/base/dtype.h.
TYPES: tuple[type[onp.generic], ...] = (
    onp.float32,
    onp.float64,
    onp.float16,
    onp.uint8,
    onp.int32,
    onp.int8,
    onp.int64,
    onp.bool_,
)
DTYPES: tuple[onp.dtype[Any], ...] = tuple(onp.dtype(kind) for kind in TYPES)

FLOAT32, FLOAT64, FLOAT16, UINT8, INT32, INT8, INT64, BOOL = range(len(TYPES))
FLOATING = frozenset((FLOAT32, FLOAT64, FLOAT16))

_numbers: dict[object, int] = {kind: number for number, kind in enumerate(TYPES)}
#: The spellings in daily use; everything else goes through numpy.dtype.
SPELLINGS: dict[object, int] = {
    **_numbers,
    # Literals are interned as well, so that a look-up compares addresses.
    **{sys.intern(dtype.name): number for number, dtype in enumerate(DTYPES)},
    **{dtype: number for number, dtype in enumerate(DTYPES)},
    float: FLOAT64,
    int: INT64,
    bool: BOOL,
}


def dtype_number(dtype: Any, default: int = FLOAT32) -> int:
    """Return the number of a data type in any of its spellings; ``None`` means the default.

    An array stands for its type.
    """
    if dtype is None:
        return default
    if isinstance(dtype, Array):
        return dtype._dtype_number
    try:
        known = SPELLINGS.get(dtype)
    except TypeError:  # not hashable: no data type either, but NumPy says it better
        known = None
    if known is not None:
        return known
    try:
        kind = onp.dtype(dtype).type
    except TypeError as error:
        raise ArrayTypeError(str(error)) from None
    number = _numbers.get(kind)
    if number is None:
        raise UnknownTypeError(f"{kind}: arrays have one of {', '.join(d.name for d in DTYPES)}")
    return number


def optional_number(dtype: Any) -> int | None:
    """Return the number of a data type in any of its spellings; ``None`` for ``None``."""
    return None if dtype is None else dtype_number(dtype)


def is_known(dtype: onp.dtype[Any]) -> bool:
    """Tell whether arrays can have this type."""
    return dtype.type in _numbers

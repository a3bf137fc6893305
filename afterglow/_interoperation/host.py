# SPDX-License-Identifier: Apache-2.0
"""Values that come from outside: NumPy arrays, lists, numbers."""

from __future__ import annotations

from typing import Any

import numpy as onp

from .._arrays.dtypes import BOOL, DTYPES, FLOAT32, TYPES, dtype_number, is_known
from .._core import Array, from_buffer
from ..error import ArrayOverflowError, ArrayTypeError

Number = bool | int | float


def host_array(source: Any, dtype: int | None) -> onp.ndarray[Any, Any]:
    """Return ``source`` as a C-contiguous NumPy array of type number ``dtype`` (``None``: its own).

    Elements of NumPy arrays that the type cannot hold wrap around or are cut off, as in a C cast;
    numbers of Python's are refused.
    """
    if isinstance(source, onp.ndarray):
        wanted = source.dtype if dtype is None else DTYPES[dtype]
        if source.dtype == wanted:
            return onp.asarray(source, order="C")
        with onp.errstate(invalid="ignore", over="ignore"):
            return onp.asarray(source, dtype=wanted, order="C")
    if dtype is None:
        return onp.asarray(source, order="C")
    try:
        with onp.errstate(invalid="ignore", over="ignore"):
            return onp.array(source, dtype=TYPES[dtype], order="C")
    except OverflowError as error:
        raise ArrayOverflowError(
            f"a number does not fit type {DTYPES[dtype].name} ({error})"
        ) from None


def from_host(
    source: onp.ndarray[Any, Any], context: tuple[int, int], legacy: bool, dtype: int | None = None
) -> Any:
    """Return a new array with a copy of a NumPy array, which is taken before this returns."""
    number = dtype_number(source.dtype) if dtype is None else dtype
    host = host_array(source, number)
    return from_buffer(host, host.shape, number, context, legacy)


def convert(value: Any, legacy: bool, partner: Array | None, defer: bool = False) -> Any:
    """Turn what stands beside an array in an operator into an operand.

    NumPy scalars become Python numbers. NumPy arrays are copied at once: ``nd`` takes them in the
    type of the array beside them, ``np`` keeps their own. So are other objects that can become
    NumPy arrays; those which answer for arrays themselves, such as columns of tables, are asked to
    if ``defer`` allows it.
    """
    if isinstance(value, onp.generic) and is_known(value.dtype):
        number: Number = value.item()
        return number
    if hasattr(type(value), "__array__") and not isinstance(value, (onp.ndarray, onp.generic)):
        if defer and hasattr(type(value), "__array_ufunc__"):
            return NotImplemented
        value = onp.asarray(value)
    if isinstance(value, onp.ndarray) and value.dtype.kind in "biuf":
        context = partner._context_numbers if partner is not None else (1, 0)
        if legacy:
            dtype = partner._dtype_number if partner is not None else FLOAT32
            if dtype == BOOL:
                dtype = dtype_number(value.dtype)
            return from_host(value, context, True, dtype)
        return from_host(value, context, False)
    raise ArrayTypeError(f"type {type(value)} not supported")

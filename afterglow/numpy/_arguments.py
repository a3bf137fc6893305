# SPDX-License-Identifier: Apache-2.0
"""Checks that the functions of ``np`` share."""

from __future__ import annotations

from typing import Any

import numpy as onp

from .._arrays.dtypes import BOOL
from .._arrays.worlds import NUMPY
from .._core import Array, is_stand_in
from .._interoperation.host import convert
from ..error import ArgumentError, ArrayNotImplementedError, ArrayTypeError

#: Options of NumPy's functions, with the only values that are known here.
_options: dict[str, Any] = {"casting": "same_kind", "order": "K", "subok": True, "where": True}
_unknown_options = ("dtype", "signature", "extobj")
_casts = ("no", "equiv", "safe", "same_kind", "unsafe")


def need(value: Any, name: str = "a") -> Any:
    """Return ``value`` as an array; NumPy arrays are copied, all else is refused."""
    if isinstance(value, Array) or is_stand_in(value):
        return value
    if isinstance(value, onp.ndarray):
        return convert(value, False, None)
    raise ArgumentError(f"Argument {name} must have NDArray type, but got {value}")


def truth(where: Any) -> Any:
    """Return which elements a function is asked for, as an array of truth values."""
    mask = where if isinstance(where, Array) else need(onp.asarray(where), "where")
    return mask if mask._dtype_number == BOOL else NUMPY.not_equal(mask, 0)


def _is_type(value: Any) -> bool:
    try:
        onp.dtype(value)
    except (TypeError, ValueError):
        return False
    return True


def check_options(name: str, options: dict[str, Any]) -> None:
    """Refuse keywords that NumPy does not know either, and values that do not exist here."""
    for option, value in options.items():
        if option not in _options and option not in _unknown_options:
            raise ArrayTypeError(f"[{name}] {option} is an invalid keyword")
        if option == "dtype" and not _is_type(value):
            raise ArrayTypeError(f"[{name}] dtype {value} not understood")
        if option == "casting" and value not in _casts:
            raise ArrayTypeError(f"[{name}] casting {value} not understood")
        is_known = option not in _unknown_options and type(value) in (str, bool)
        if not is_known or value != _options[option]:
            raise ArrayNotImplementedError(f"[{name}] {option}={value} does not exist here")

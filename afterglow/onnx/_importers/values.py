# SPDX-License-Identifier: Apache-2.0
"""What flows through a graph while it runs, and the functions that compute with it.

A value is an array of ``np``; or a NumPy array (it is *on the host*) if it is a constant, a shape,
what follows from those, or of a type that arrays do not have. Functions have the same names for
both: those of ``np`` and ``npx``. So an op is written once, and run by either of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp

from ... import numpy as np
from ... import numpy_extension as npx
from ..._arrays.dtypes import is_known
from ..._core import Array

Host = onp.ndarray[Any, Any]
Function = Callable[..., Any]

#: Types that arrays have, for those that they have not.
_STAND_INS = {"uint16": "int32", "int16": "int32", "uint32": "int64", "uint64": "int64"}


def dtype_of(value: Any) -> onp.dtype[Any]:
    """Return the type of a value, as NumPy names it."""
    found: onp.dtype[Any] = onp.dtype(value.dtype)
    return found


def is_float(value: Any) -> bool:
    """Tell whether a value has real numbers; bfloat16 and the like are of no kind of NumPy's."""
    return dtype_of(value).kind not in "iub" and "int" not in dtype_of(value).name


def known_type(dtype: onp.dtype[Any]) -> onp.dtype[Any]:
    """Return the type, or the one that arrays have instead."""
    return dtype if is_known(dtype) else onp.dtype(_STAND_INS.get(dtype.name, "float32"))


def as_array(value: Any) -> Any:
    """Return a value as an array."""
    if isinstance(value, Array):
        return value
    return np.array(value, dtype=known_type(value.dtype))


def as_host(value: Any) -> Host:
    """Return a value as NumPy's array. Waits for it."""
    return value.asnumpy() if isinstance(value, Array) else onp.asarray(value)


def mapped(change: Function, value: Any) -> Any:
    """Return an argument with all arrays in it changed."""
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(change, one) for one in value)
    return change(value) if isinstance(value, (Array, onp.ndarray)) else value


def rounded(f: Any, value: Any) -> Any:
    """Return whole numbers, of two that are as near the even one; MXNet takes the lower one."""
    if f.is_host:
        return f.rint(value)
    below = f.floor(value)
    return f.where(value - below == 0.5, below + f.mod(below, 2), f.rint(value))


class Arrays:
    """The functions of ``np`` and ``npx``, as attributes."""

    is_host = False

    def __getattr__(self, name: str) -> Function:
        found: Function = getattr(npx if hasattr(npx, name) else np, name)
        setattr(self, name, found)  # asked for once
        return found

    value = staticmethod(as_array)

    @staticmethod
    def cast(value: Any, dtype: Any) -> Any:
        """Return a value in another type."""
        return value if dtype_of(value) == dtype else value.astype(dtype)

    @staticmethod
    def update(data: Any, places: Any, values: Any) -> Any:
        """Return rows of which some are replaced."""
        return npx.index_update(data, np.expand_dims(places, 0), values)

    @staticmethod
    def add_at(data: Any, places: Any, values: Any) -> Any:
        """Return rows to some of which others are added."""
        return npx.index_add(data, np.expand_dims(places, 0), values)


class Hosts:
    """The functions of NumPy, and through arrays those that NumPy does not have."""

    is_host = True

    def __getattr__(self, name: str) -> Function:
        found = getattr(onp, name, None) or _through_arrays(name)
        setattr(self, name, found)  # asked for once
        return found

    value = staticmethod(as_host)

    @staticmethod
    def cast(value: Any, dtype: Any) -> Any:
        """Return a value in another type."""
        return value.astype(dtype)

    @staticmethod
    def update(data: Any, places: Any, values: Any) -> Any:
        """Return rows of which some are replaced."""
        changed = data.copy()
        changed[places] = values
        return changed

    @staticmethod
    def add_at(data: Any, places: Any, values: Any) -> Any:
        """Return rows to some of which others are added."""
        changed = data.copy()
        onp.add.at(changed, places, values)
        return changed

    @staticmethod
    def softmax(value: Any, axis: int) -> Any:
        """Return the shares of exponentials along an axis, in steps of the type of the value."""
        powers = onp.exp(value - value.max(axis=axis, keepdims=True))
        return powers / powers.sum(axis=axis, keepdims=True)


def _through_arrays(name: str) -> Function:
    """Return a function of arrays as one of values on the host."""
    function = getattr(ARRAYS, name)

    def call(data: Any, *others: Any, **given: Any) -> Any:
        kind = data.dtype if isinstance(data, onp.ndarray) else None
        changed = {key: mapped(as_array, one) for key, one in given.items()}
        result = function(mapped(as_array, data), *mapped(as_array, others), **changed)
        result = mapped(as_host, result)
        if kind is None or is_known(kind) or isinstance(result, (list, tuple)):
            return result
        return result.astype(kind)

    return call


ARRAYS, HOSTS = Arrays(), Hosts()

# SPDX-License-Identifier: Apache-2.0
"""Functions that NumPy has and Afterglow has not: NumPy computes them, and we hand over the arrays.

They wait for their arguments, and every function says so once.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import warnings
from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as onp

from .._interoperation import numpy_protocols as _interop
from ..context import context_numbers
from ..error import MissingNameError

#: Names that mean something else in NumPy than a user of ``mx.np`` could want.
NOT_OURS = frozenset(("core", "lib", "ma", "matlib", "matrix", "test", "testing", "typing", "f2py"))
#: Names that MXNet 1.9.1 has and NumPy no longer, and those that mean the same.
_RENAMED = {
    "alltrue": "all",
    "cumproduct": "cumprod",
    "in1d": "isin",
    "product": "prod",
    "sometrue": "any",
    "trapz": "trapezoid",
}
_CONSTANTS = {
    "NAN": nan,
    "NINF": -inf,
    "NZERO": -0.0,
    "NaN": nan,
    "PINF": inf,
    "PZERO": 0.0,
}


def _missing(module: str, name: str) -> MissingNameError:
    return MissingNameError(module.replace("numpy", "afterglow.numpy", 1), name)


def find(module: str, name: str) -> Any:
    """Return NumPy's ``name``: a function that takes and gives our arrays, a type or a constant.

    ``module`` is "numpy" or one of its parts, such as "numpy.linalg".
    """
    from .._package.mxnet_internals import internal  # which few programs ask for

    is_there, value = internal(module, name)
    if is_there:
        return value
    if name.startswith("_") or name in NOT_OURS:
        raise _missing(module, name)
    if module == "numpy" and name in _CONSTANTS:
        return _CONSTANTS[name]
    if module == "numpy" and name in _RENAMED:
        return getattr(importlib.import_module("afterglow.numpy"), _RENAMED[name])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            found = getattr(importlib.import_module(module), name)
    except AttributeError:
        raise _missing(module, name) from None
    if inspect.ismodule(found):
        raise _missing(module, name)
    is_function = callable(found) and not isinstance(found, type)
    return _wrapped(f"{module}.{name}", found) if is_function else found


@functools.cache
def _wrapped(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    public = name.replace("numpy", "np", 1)
    warned = False

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        nonlocal warned
        if not warned:
            warned = True
            warnings.warn(
                f"{public} is not part of Afterglow: it waits for its arguments and runs in NumPy",
                RuntimeWarning,
                stacklevel=2,
            )
        return _interop.call_on_host(function, args, kwargs, context_numbers(None))

    if isinstance(function, onp.ufunc):
        wrapper.__doc__ = function.__doc__
        wrapper.__name__ = wrapper.__qualname__ = function.__name__
        return wrapper
    return functools.wraps(function)(wrapper)

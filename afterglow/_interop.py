# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions and operators on our arrays.

What exists here runs here and stays asynchronous. Everything else waits, runs in NumPy on the host,
and comes back as an array of ours.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as onp

from ._core import Array, Operation, operation
from ._dtype import is_known
from ._host import convert, from_host
from .error import ArrayNotImplementedError

#: NumPy's ufuncs by name and the ops that do the same.
_ops: dict[str, str] = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply",
    "divide": "divide",
    "true_divide": "divide",
    "remainder": "modulo",
    "power": "power",
    "maximum": "maximum",
    "minimum": "minimum",
    "equal": "equal",
    "not_equal": "not_equal",
    "less": "less",
    "less_equal": "less_equal",
    "greater": "greater",
    "greater_equal": "greater_equal",
    "negative": "negative",
    "absolute": "abs",
    "exp": "exp",
    "log": "log",
    "sqrt": "sqrt",
    "square": "square",
    "tanh": "tanh",
}
_numbers = (int, float, onp.number, type(None))
_operations: dict[tuple[str, bool], Operation] = {}


def call_ufunc(
    array: Any, ufunc: onp.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run a ufunc of NumPy that met ``array``."""
    outputs = kwargs.pop("out", ())
    name = _ops.get(ufunc.__name__)
    if name is None or method != "__call__" or kwargs or len(outputs) > 1:
        if outputs:
            kwargs["out"] = tuple(map(_host_target, outputs))
        return _on_host(array, getattr(ufunc, method), inputs, kwargs, outputs)
    legacy: bool = array._legacy
    call = _operations.get((name, legacy))
    if call is None:
        call = _operations[name, legacy] = operation(name, legacy)
    operands = [
        value if isinstance(value, (Array, int, float)) else convert(value, legacy, array)
        for value in inputs
    ]
    if not outputs:
        return call(*operands)
    if isinstance(outputs[0], Array):
        return call(*operands, out=outputs[0])
    outputs[0][...] = call(*operands).asnumpy()
    return outputs[0]


def call_function(
    array: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run a function of NumPy that met ``array``."""
    if array._legacy:
        ours = getattr(importlib.import_module("afterglow.ndarray"), function.__name__, None)
        ours = ours if function.__name__ in _legacy_functions else None
    else:
        ours = _numpy_function(function)
    if ours is not None and not _is_beyond(function, ours, args, kwargs):
        try:
            return ours(*args, **kwargs)
        except ArrayNotImplementedError:
            pass  # NumPy's own function knows more forms
    return _on_host(array, function, args, kwargs, ())


def _is_beyond(
    function: Callable[..., Any],
    ours: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> bool:
    """Tell whether NumPy takes arguments that ours does not."""
    if function is onp.clip and any(not isinstance(bound, _numbers) for bound in args[1:3]):
        return True  # arrays as bounds
    try:
        inspect.signature(ours).bind(*args, **kwargs)
    except TypeError:
        return True
    return False


#: Functions that nd and NumPy call with the same arguments.
_legacy_functions = frozenset(
    ("sum", "mean", "max", "min", "transpose", "reshape", "zeros_like", "ones_like", "concatenate")
)


def _numpy_function(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return our function of the same name in the same module of NumPy."""
    module = function.__module__.removeprefix("numpy").removeprefix(".")
    if module not in ("", "linalg"):
        return None
    home = importlib.import_module("afterglow.numpy" + (f".{module}" if module else ""))
    found = getattr(home, function.__name__, None)
    return found if callable(found) and not isinstance(found, type) else None


def _on_host(
    array: Any,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    outputs: tuple[Any, ...],
) -> Any:
    result = function(*map(_to_host, args), **{key: _to_host(v) for key, v in kwargs.items()})
    for target, host in zip(outputs, kwargs.get("out", ()), strict=False):
        if isinstance(target, Array):
            target._assign(from_host(host, target._context_numbers, array._legacy))
    if outputs:
        return outputs[0] if len(outputs) == 1 else outputs
    return _from_host(result, array)


def _host_target(value: Any) -> Any:
    return value.asnumpy() if isinstance(value, Array) else value


def _to_host(value: Any) -> Any:
    if isinstance(value, Array):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        return type(value)(map(_to_host, value))
    if isinstance(value, dict):
        return {key: _to_host(item) for key, item in value.items()}
    return value


def _from_host(value: Any, like: Any) -> Any:
    if isinstance(value, (onp.ndarray, onp.generic)) and is_known(value.dtype):
        return from_host(onp.asarray(value), like._context_numbers, like._legacy)
    if type(value) in (list, tuple):
        return type(value)(_from_host(item, like) for item in value)
    return value

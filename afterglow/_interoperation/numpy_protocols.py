# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions and operators on our arrays.

What exists here runs here and stays asynchronous. Everything else waits, runs in NumPy on the host,
and comes back as an array of ours.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as onp

from .._arrays.dtypes import is_known
from .._arrays.op_functions import table
from .._arrays.worlds import WORLDS, in_world
from .._core import Array, Operation, is_recording, record_call
from ..error import ArrayNotImplementedError
from .host import convert, from_host

#: Where NumPy answers otherwise than MXNet's function of that name: halves go to the even number.
_otherwise = {"rint": "round_half_to_even"}
_numbers = (int, float, onp.number, type(None))
_calls: dict[tuple[str, bool], Callable[..., Any]] = {}


def call_ufunc(
    array: Any, ufunc: onp.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run a ufunc of NumPy that met ``array``."""
    outputs = kwargs.pop("out", ())
    legacy: bool = array._legacy
    call = _ufunc(ufunc, legacy)
    if call is None or method != "__call__" or kwargs or len(outputs) > 1:
        if outputs:
            kwargs["out"] = outputs
        return _on_host(array, getattr(ufunc, method), inputs, kwargs)
    operands = [
        value if isinstance(value, (Array, int, float)) else convert(value, legacy, array)
        for value in inputs
    ]
    if not outputs:
        return call(*operands)
    target = outputs[0]
    has_out = isinstance(call, Operation) or _takes(call, (*operands,), {"out": target})
    if isinstance(target, Array) and has_out:
        return call(*operands, out=target)
    result = call(*operands)
    if isinstance(target, Array):
        target._assign(result)
    else:
        target[...] = result.asnumpy()
    return target


def _ufunc(ufunc: onp.ufunc, legacy: bool) -> Callable[..., Any] | None:
    """Return what does the same here: an op, or a function of the same name and arguments."""
    name = ufunc.__name__
    call = _calls.get((name, legacy))
    if call is None:
        op = _op_of(name, ufunc.nin)
        if op is not None:
            call = getattr(WORLDS[legacy], op)
        elif not legacy:
            call = _numpy_function(ufunc)
        elif ufunc.nin == 1:  # of two arguments, nd's functions take other forms
            call = vars(importlib.import_module("afterglow.ndarray")).get(name)
        if call is not None:
            _calls[name, legacy] = call
    return call


@cache
def _op_of(name: str, operands: int) -> str | None:
    """Return the op that a ufunc is: by its name in ``np``, or by another one of that function."""
    space = vars(importlib.import_module("afterglow.numpy"))
    function = space.get(name)
    if name in _otherwise:
        names = {_otherwise[name]}
    elif isinstance(function, Operation):
        names = {function.name}
    else:
        names = {other for other, value in space.items() if function and value is function}
    found = [
        op
        for op, description in table().items()
        if description["elementwise"] and len(description["inputs"]) == operands
        if names & {op, *(one.removeprefix("_npi_") for one in description["mxnet_names"])}
    ]
    return found[0] if found else None


def call_function(
    array: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run a function of NumPy that met ``array``."""
    ours = _numpy_function(function)
    if ours is not None and not _is_beyond(function, args) and _takes(ours, args, kwargs):
        try:
            return _called_in_nd(ours, args, kwargs) if array._legacy else ours(*args, **kwargs)
        except ArrayNotImplementedError:
            pass  # NumPy's own function knows more forms
    return _on_host(array, function, args, kwargs)


#: What NumPy leaves to a method, which answers in ``nd`` with indices as floats.
_METHODS_OF_ND = ("argmax", "argmin")


def _called_in_nd(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a function of ``np`` with arrays of ``nd``, and return such arrays."""
    if function.__name__ in _METHODS_OF_ND and isinstance(args[0], Array):
        return getattr(args[0], function.__name__)(*args[1:], **kwargs)
    given = {key: _in_np(value) for key, value in kwargs.items() if key != "out"}
    result = function(*map(_in_np, args), **given)
    out = kwargs.get("out")
    if out is None:
        has_axis = function.__name__ in vars(importlib.import_module("afterglow.ndarray"))
        return _in_nd(result, has_axis)
    out._assign(in_world(result, out._legacy))
    return out


def _on_host(
    array: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    return call_on_host(function, args, dict(kwargs), array._context_numbers, array._legacy)


def _takes(ours: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Tell whether ours has those arguments; NumPy's function may have more."""
    try:
        inspect.signature(ours).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _is_beyond(function: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Tell whether NumPy's is another function: arrays as bounds of ``clip``, complete ``svd``."""
    if function is onp.linalg.svd:
        return True
    return function is onp.clip and any(not isinstance(bound, _numbers) for bound in args[1:3])


def _numpy_function(function: Any) -> Callable[..., Any] | None:
    """Return our function of the same name in the same module of NumPy."""
    module = getattr(function, "__module__", "").removeprefix("numpy").removeprefix(".")
    if module not in ("", "linalg"):
        return None
    home = importlib.import_module("afterglow.numpy" + (f".{module}" if module else ""))
    # In its dictionary: what the module would get from NumPy is NumPy's own function.
    found = vars(home).get(function.__name__)
    return found if callable(found) and not isinstance(found, type) else None


def call_on_host(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    context: tuple[int, int],
    legacy: bool = False,
) -> Any:
    """Run a function of NumPy on the values of arrays; what it writes and returns is ours again.

    It has no gradient, and says so when one is asked for.
    """
    outputs = kwargs.pop("out", None)
    targets = outputs if isinstance(outputs, tuple) else () if outputs is None else (outputs,)
    if targets:
        hosts = tuple(map(host_value, targets))
        kwargs["out"] = hosts if isinstance(outputs, tuple) else hosts[0]
    result = function(*map(_to_host, args), **{key: _to_host(v) for key, v in kwargs.items()})
    if not targets:
        found = _from_host(result, context, legacy)
        inputs = [*_arrays(args), *_arrays(kwargs)] if is_recording() else []
        return _without_gradient(function.__name__, inputs, found) if inputs else found
    for target, host in zip(targets, hosts, strict=True):
        if isinstance(target, Array):
            target._assign(from_host(host, target._context_numbers, legacy))
    return targets[0] if len(targets) == 1 else targets


def _arrays(value: Any) -> Iterator[Any]:
    """Yield the arrays among arguments."""
    if isinstance(value, Array):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _arrays(item)


def _without_gradient(name: str, inputs: list[Any], value: Any) -> Any:
    """Return what was computed from the inputs, refusing gradients to them."""

    def refuse(_: list[Any]) -> list[Any]:
        raise ArrayNotImplementedError(f"[{name}] has no gradient")

    if isinstance(value, Array):
        return record_call(inputs, [value], refuse)[0]
    if type(value) in (list, tuple):
        return type(value)(_without_gradient(name, inputs, item) for item in value)
    return value


def host_value(value: Any) -> Any:
    """Return the value of an array, and everything else as it is. Waits."""
    return value.asnumpy() if isinstance(value, Array) else value


def _each(value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return a value with its arrays converted, also those in lists, tuples and dictionaries."""
    if isinstance(value, Array):
        return convert(value)
    if isinstance(value, dict):
        return {key: _each(item, convert) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_each(item, convert) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_each(item, convert) for item in value))
    return value


def _to_host(value: Any) -> Any:
    return _each(value, lambda array: array.asnumpy())


def _in_np(value: Any) -> Any:
    return _each(value, lambda array: in_world(array, False))


def _in_nd(value: Any, has_axis: bool) -> Any:
    """Return arrays of ``np`` as those of ``nd``; ``has_axis`` says that () becomes (1,) there."""

    def convert(array: Any) -> Any:
        return in_world(array if array.ndim or not has_axis else array.reshape(1), True)

    return _each(value, convert)


def _from_host(value: Any, context: tuple[int, int], legacy: bool) -> Any:
    if isinstance(value, (onp.ndarray, onp.generic)) and is_known(value.dtype):
        return from_host(onp.asarray(value), context, legacy)
    if isinstance(value, (list, tuple)):
        items = [_from_host(item, context, legacy) for item in value]
        kind = type(value)
        return kind(*items) if hasattr(kind, "_fields") else kind(items)  # a named tuple
    return value

# SPDX-License-Identifier: Apache-2.0
"""``mx.nd._internal``: ops as functions of arrays, by the names that graphs have for them.

Few programs use them: what an operator or an assignment does is called by its name here. Names
without a prefix, as in ``mx.nd.np._internal``, are those of ops of ``np``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

from .._arrays.worlds import in_world, write_into
from ..error import ArrayTypeError, MissingNameError
from ..symbol._ops import Entry, find

__all__ = ["of_numpy"]


def _function_of(entry: Entry, name: str) -> Callable[..., Any]:
    """Return the function of arrays that an op of graphs is."""
    order = (*entry.inputs, *entry.parameters)

    def function(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        kwargs.pop("name", None)
        names: tuple[str, ...] = ()
        if entry.variadic:
            arrays, parameters = list(args), kwargs
        else:
            if len(args) > len(order):
                raise ArrayTypeError(f"[{name}] takes {len(order)} arguments, not {len(args)}")
            given = dict(zip(order, args, strict=False)) | kwargs
            names = tuple(one for one in entry.inputs if given.get(one) is not None)
            arrays = [given[one] for one in names]
            parameters = {one: value for one, value in given.items() if one not in entry.inputs}
        results = entry.call(parameters, names, [in_world(one, entry.legacy) for one in arrays])
        if out is not None:
            return write_into(out, results)
        return results[0] if len(results) == 1 else results

    function.__name__ = function.__qualname__ = name
    function.__doc__ = getattr(entry.function, "__doc__", None)
    return function


# --- assignments, which graphs do not have ---


def _written(array: Any, out: Any) -> Any:
    """Return the array that is written to: ``out`` with the values of ``array``, or a copy."""
    if out is None:
        return array.copy()
    if out is not array:
        out[:] = array
    return out


def _slice_assign(
    lhs: Any, rhs: Any, begin: Any, end: Any, step: Any = None, out: Any = None, name: Any = None
) -> Any:
    """Return an array with another one in a block of it, from begin to end."""
    return _written(lhs, out).slice_assign(rhs, begin, end, step)


def _slice_assign_scalar(
    data: Any,
    scalar: float = 0.0,
    begin: Any = (),
    end: Any = (),
    step: Any = None,
    out: Any = None,
    name: Any = None,
) -> Any:
    """Return an array with one number in a block of it, from begin to end."""
    return _written(data, out).slice_assign(scalar, begin, end, step)


def _boolean_mask_assign(
    data: Any, mask: Any, value: Any, start_axis: int = 0, out: Any = None, name: Any = None
) -> Any:
    """Return an array with other values where a mask, whose first axis is this one, is true."""
    result = _written(data, out)
    result[(*(slice(None),) * start_axis, mask)] = value
    return result


_ASSIGNMENTS: dict[str, Callable[..., Any]] = {
    "_slice_assign": _slice_assign,
    "_crop_assign": _slice_assign,
    "_slice_assign_scalar": _slice_assign_scalar,
    "_crop_assign_scalar": _slice_assign_scalar,
    "_npi_slice_assign": _slice_assign,
    "_npi_slice_assign_scalar": _slice_assign_scalar,
    "_npi_boolean_mask_assign_scalar": _boolean_mask_assign,
    "_npi_boolean_mask_assign_tensor": _boolean_mask_assign,
}


@cache
def _named(op: str, module: str, name: str) -> Callable[..., Any]:
    assignment = _ASSIGNMENTS.get(op)
    if assignment is not None:
        return assignment
    entry = find(op)
    if entry.function is None:
        raise MissingNameError(module, name)
    return _function_of(entry, name)


def __getattr__(name: str) -> Any:
    return _named(name, __name__, name)


class _OfNumPy(ModuleType):
    """``mx.nd.np._internal``."""

    def __getattr__(self, name: str) -> Any:
        return _named(f"_npi_{name}", self.__name__, name)


of_numpy = _OfNumPy("afterglow.numpy._internal")

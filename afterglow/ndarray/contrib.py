# SPDX-License-Identifier: Apache-2.0
"""``mx.nd.contrib``: control flow over arrays, and the functions that MXNet keeps here.

Loops and branches are those of Python. ``while_loop`` and ``cond`` wait for their conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._core import Array
from ..error import ArgumentError, ArrayValueError
from . import _contrib_ops, _contributed, _ops
from ._arguments import need
from ._contrib_ops import *  # noqa: F403
from ._contributed import *  # noqa: F403
from .indexing import boolean_mask  # noqa: F401 - MXNet has it here as well

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    *_contrib_ops.__all__,
    *_contributed.__all__,
    "cond",
    "foreach",
    "isfinite",
    "isinf",
    "isnan",
    "while_loop",
]


def foreach(
    body: Callable[[Any, Any], tuple[Any, Any]], data: Any, init_states: Any
) -> tuple[Any, Any]:
    """Call ``out, states = body(data[i], states)`` for every row; return stacked outs and states.

    Data, outputs and states are arrays or (nested) lists of arrays.

    >>> from afterglow import nd
    >>> data, zero = nd.array([1, 2, 3]), nd.zeros((1,))
    >>> out, total = nd.contrib.foreach(lambda x, s: (x + s, x + s), data, zero)
    >>> total.asnumpy().tolist()
    [6.0]
    """
    arrays = _flat(data, "foreach input")
    _flat(init_states, "foreach states")
    if not arrays:
        raise ArrayValueError("[foreach] there is no array to go over")
    states = init_states
    steps: list[list[Any]] = []
    form: Any = None
    for position in range(len(arrays[0])):
        form, states = body(_like(data, iter([array[position] for array in arrays])), states)
        steps.append(_flat(form, "foreach output"))
        _flat(states, "foreach states")
    if not steps:
        raise ArrayValueError("[foreach] data has no rows, so the outputs have no shape")
    stacked = [_ops.stack(*column, axis=0) for column in zip(*steps, strict=True)]
    return _like(form, iter(stacked)), states


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., tuple[Any, Any]],
    loop_vars: Any,
    max_iterations: int | None = None,
) -> tuple[Any, Any]:
    """Call ``out, loop_vars = func(*loop_vars)`` while ``cond(*loop_vars)``; return both.

    The outs are stacked and filled up with zeros to ``max_iterations`` rows.

    >>> from afterglow import nd
    >>> rows, last = nd.contrib.while_loop(lambda i: i < 3, lambda i: (i, i + 1), nd.zeros((1,)), 4)
    >>> rows.shape, last.asnumpy().tolist()
    ((4, 1), [3.0])
    """
    if max_iterations is None:
        raise ArrayValueError("max_iterations should be specified")
    try:
        most = int(max_iterations)
    except (TypeError, ValueError):
        raise ArrayValueError("Cannot convert max_iteration to python int") from None
    count = len(_flat(loop_vars, "while_loop loop_vars"))
    if not count:
        raise ArrayValueError("loop_vars should contain at least one element")
    variables = loop_vars
    steps: list[list[Any]] = []
    form: Any = []
    while len(steps) < most and _truth(cond(*_arguments(variables))):
        form, variables = func(*_arguments(variables))
        form = [] if form is None else form
        steps.append(_flat(form, "while_loop output"))
        if len(_flat(variables, "while_loop new_loop_vars")) != count:
            raise ArrayValueError("The length of loop_vars should be consistent during the loop")
        if len(steps[-1]) != len(steps[0]):
            raise ArrayValueError("The length of step_output should be consistent during the loop")
    filled = [_filled(column, most) for column in zip(*steps, strict=True)]
    return _like(form, iter(filled)), variables


def cond(pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any]) -> Any:
    """Return ``then_func()`` if the array ``pred`` of one element is not 0, else ``else_func()``.

    >>> from afterglow import nd
    >>> a = nd.array([2])
    >>> nd.contrib.cond(a > 1, lambda: a * 10, lambda: a).asnumpy().tolist()
    [20.0]
    """
    return then_func() if _truth(pred) else else_func()


def isnan(data: NDArray) -> NDArray:
    """Return 1 where the array is not a number, else 0, in its own type.

    >>> from afterglow import nd
    >>> nd.contrib.isnan(nd.array([1, float("nan")])).asnumpy().tolist()
    [0.0, 1.0]
    """
    array: NDArray = need(data)
    return array != array


def isfinite(data: NDArray) -> NDArray:
    """Return 1 where the array is neither infinite nor not a number, else 0, in its own type.

    >>> from afterglow import nd
    >>> nd.contrib.isfinite(nd.array([1, float("inf")])).asnumpy().tolist()
    [1.0, 0.0]
    """
    array: NDArray = need(data)
    return array - array == 0


def isinf(data: NDArray) -> NDArray:
    """Return 1 where the array is infinite, else 0, in its own type.

    >>> from afterglow import nd
    >>> nd.contrib.isinf(nd.array([1, -float("inf")])).asnumpy().tolist()
    [0.0, 1.0]
    """
    finite = isfinite(data)
    return (data == data) != finite


def _truth(value: Any) -> bool:
    if isinstance(value, Array) and value.size != 1:
        raise ArrayValueError("The current array is not a scalar")
    return bool(value)


def _arguments(variables: Any) -> Any:
    return (variables,) if isinstance(variables, Array) else variables


def _filled(column: tuple[NDArray, ...], rows: int) -> NDArray:
    """Stack the outputs of all steps; what no step has filled is 0."""
    missing = [_ops.zeros_like(column[0])] * (rows - len(column))
    return _ops.stack(*column, *missing, axis=0)


def _flat(nested: Any, what: str) -> list[Any]:
    """Return the arrays of nested lists in order."""
    if isinstance(nested, Array):
        return [nested]
    if not isinstance(nested, (list, tuple)):
        raise ArgumentError(
            f"{what} must be (nested) list of NDArray, but got {nested} of type {type(nested)}"
        )
    return [array for item in nested for array in _flat(item, what)]


def _like(form: Any, arrays: Any) -> Any:
    """Return the arrays nested as ``form`` is."""
    if isinstance(form, Array):
        return next(arrays)
    return [_like(item, arrays) for item in form]

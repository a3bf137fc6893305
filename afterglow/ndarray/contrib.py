# SPDX-License-Identifier: Apache-2.0
"""``mx.nd.contrib``: control flow over arrays, and the functions that MXNet keeps here.

Loops and branches are those of Python. ``while_loop`` and ``cond`` wait for their conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._arrays.nesting import flat, like
from .._arrays.worlds import WORLDS
from .._core import Array, is_recording, origin_of
from ..error import ArrayIndexError, ArrayValueError
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
    "getnnz",
    "isfinite",
    "isinf",
    "isnan",
    "while_loop",
]


def foreach(
    body: Callable[[Any, Any], tuple[Any, Any]],
    data: Any,
    init_states: Any,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Call ``out, states = body(data[i], states)`` for every row; return stacked outs and states.

    Data, outputs and states are arrays or (nested) lists of arrays.

    >>> from afterglow import nd
    >>> data, zero = nd.array([1, 2, 3]), nd.zeros((1,))
    >>> out, total = nd.contrib.foreach(lambda x, s: (x + s, x + s), data, zero)
    >>> total.asnumpy().tolist()
    [6.0]
    """
    arrays = _arrays(data, "foreach input")
    _arrays(init_states, "foreach states")
    if not arrays:
        raise ArrayValueError("[foreach] there is no array to go over")
    lengths = [len(array) for array in arrays]
    if min(lengths) < lengths[0]:  # longer ones are read as far as the first goes
        raise ArrayIndexError(f"[foreach] arrays have {lengths} rows; the first has too many")
    states = init_states
    steps: list[list[Any]] = []
    form: Any = None
    for rows in zip(*map(_rows, arrays), strict=False):
        form, states = body(like(data, iter(rows)), states)
        steps.append(_arrays(form, "foreach output"))
        _arrays(states, "foreach states")
    if not steps:
        raise ArrayValueError("[foreach] data has no rows, so the outputs have no shape")
    stacked = [_ops.stack(*column, axis=0) for column in zip(*steps, strict=True)]
    return like(form, iter(stacked)), states


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., tuple[Any, Any]],
    loop_vars: Any,
    max_iterations: int | None = None,
    name: str | None = None,
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
    count = len(_arrays(loop_vars, "while_loop loop_vars"))
    if not count:
        raise ArrayValueError("loop_vars should contain at least one element")
    variables = loop_vars
    steps: list[list[Any]] = []
    form: Any = []
    while len(steps) < most and _truth(cond(*_arguments(variables))):
        form, variables = func(*_arguments(variables))
        form = [] if form is None else form
        steps.append(_arrays(form, "while_loop output"))
        if len(_arrays(variables, "while_loop new_loop_vars")) != count:
            raise ArrayValueError("The length of loop_vars should be consistent during the loop")
        if len(steps[-1]) != len(steps[0]):
            raise ArrayValueError("The length of step_output should be consistent during the loop")
    filled = [_filled(column, most) for column in zip(*steps, strict=True)]
    return like(form, iter(filled)), variables


def cond(
    pred: Any,
    then_func: Callable[[], Any],
    else_func: Callable[[], Any],
    name: str | None = None,
) -> Any:
    """Return ``then_func()`` if the array ``pred`` of one element is not 0, else ``else_func()``.

    >>> from afterglow import nd
    >>> a = nd.array([2])
    >>> nd.contrib.cond(a > 1, lambda: a * 10, lambda: a).asnumpy().tolist()
    [20.0]
    """
    return then_func() if _truth(pred) else else_func()


def getnnz(
    data: NDArray, axis: int | None = None, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return how many values a csr array stores: in each row (axis 1), column (0), or in all.

    >>> from afterglow import nd
    >>> print(nd.contrib.getnnz(nd.array([[0, 1], [2, 3]]).tostype("csr"), axis=1).asnumpy())
    [1 2]
    """
    from .sparse import _calls

    count: NDArray = _calls.getnnz(data, axis)
    if out is None:
        return count
    out[:] = count
    return out


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


def _rows(array: Any) -> Any:
    """Return what lies along the first axis, one by one.

    Views cost nothing, but the gradient of each has the size of the whole array.
    """
    if not is_recording() or origin_of(array) is None or len(array) < 2 or array.ndim < 2:
        return array
    ops = WORLDS[array._legacy]
    return ops.SliceChannel(array, num_outputs=len(array), axis=0, squeeze_axis=True)


def _arrays(nested: Any, what: str) -> list[Any]:
    return flat(nested, (Array,), what)


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

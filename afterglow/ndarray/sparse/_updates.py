# SPDX-License-Identifier: Apache-2.0
"""Updates of weights by sparse gradients: what an update costs depends on the rows it touches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as onp

from ..._arrays.worlds import LEGACY, in_world
from ..._core import Array, sparse_parts
from ...error import ArrayValueError
from ._arrays import empty
from ._calls import UPDATES, add, cast, find_rows, is_sparse, warn_of_fallback
from ._structure import assemble, from_indices, indices_of

__all__ = ["adagrad_update", "update", "warn_of_fallback"]

#: Changes weight, gradient and state, of which the first and the last are changed in place.
Step = Callable[[Any, Any, Any], None]


def update(step: Step, rowwise: bool, weight: Any, grad: Any, state: Any) -> None:
    """Update a weight where weight or gradient is sparse.

    With ``rowwise`` the step is done for the rows that a row_sparse gradient has, and other rows
    keep their weight and state. Otherwise the gradient counts as zero in those rows.
    """
    if weight.stype == "csr":  # which has no rows to write: what is stored changes as a whole
        dense = cast(weight, "default")
        step(dense, cast(grad, "default"), state)
        weight._become(dense)
        return
    if grad.stype == "csr":
        grad = cast(grad, "default")
    if not is_sparse(grad):
        rows = from_indices(_all_rows(weight), weight._context_numbers)
        values = grad
    elif rowwise:
        values, rows, _ = sparse_parts(grad)
        if not values.size:
            return
    else:
        step_whole(step, weight, cast(grad, "default"), state)
        return
    target, places = _stored(weight, rows)
    kept = LEGACY.take(target, places, axis=0)
    states = _mapped(lambda one: LEGACY.take(in_world(one, True), rows, axis=0), state)
    step(kept, values, states)
    LEGACY.scatter([target, kept, places])
    for one, changed in zip(_arrays_in(state), _arrays_in(states), strict=True):
        LEGACY.scatter([in_world(one, True), changed, rows])


def step_whole(step: Step, weight: Any, grad: Any, state: Any) -> None:
    """Update all rows of a weight."""
    if not is_sparse(weight):
        step(weight, in_world(grad, weight._legacy), state)
        return
    target, _ = _stored(weight, from_indices(_all_rows(weight), weight._context_numbers))
    step(target, grad, state)


def _all_rows(weight: Any) -> Any:
    return onp.arange(weight.shape[0])


def _stored(weight: Any, rows: Any) -> tuple[Any, Any]:
    """Return the array that holds rows of a weight, and where in it they are.

    A row_sparse weight gets the rows that it does not have yet. Its values are its own alone, so
    these may be written.
    """
    if not is_sparse(weight):
        return in_world(weight, True), rows
    data, stored, _ = sparse_parts(weight)
    if stored.shape[0] == weight.shape[0]:
        return data, rows
    wanted = rows.asnumpy()
    places, is_there = find_rows(indices_of(weight), wanted)
    if not is_there.all():
        weight._become(add(weight, _zeros_at(weight, wanted)))
        places, _ = find_rows(indices_of(weight), wanted)
    return sparse_parts(weight)[0], from_indices(places, weight._context_numbers)


def _zeros_at(weight: Any, rows: Any) -> Any:
    shape = (len(rows), *weight.shape[1:])
    zeros = empty(shape, "default", weight._dtype_number, weight._context_numbers)
    return assemble(weight.shape, zeros, rows)


def _arrays_in(state: Any) -> list[Any]:
    if isinstance(state, (tuple, list)):
        return [array for one in state for array in _arrays_in(one)]
    return [state] if isinstance(state, Array) else []


def _mapped(function: Callable[[Any], Any], state: Any) -> Any:
    if isinstance(state, (tuple, list)):
        return type(state)(_mapped(function, one) for one in state)
    return function(state) if isinstance(state, Array) else state


def _called(
    operation: Any,
    weight: Any,
    grad: Any,
    *states: Any,
    out: Any = None,
    lazy_update: bool = True,
    **kwargs: Any,
) -> Any:
    """Answer the call of an op that updates a weight, such as ``sgd_update``."""
    target = weight.copy() if out is None else out
    if target is not weight and out is not None:
        weight.copyto(out)

    def step(rows: Any, values: Any, kept: Any) -> None:
        operation(rows, values, *kept, out=rows, **kwargs)

    update(step, bool(lazy_update), target, grad, states)
    return target


#: Ops whose update of a row needs that row alone.
UPDATES.update(
    dict.fromkeys(
        (
            "sgd_update",
            "sgd_mom_update",
            "adam_update",
            "ftrl_update",
            "group_adagrad_update",
        ),
        _called,
    )
)


def _reset(operation: Any, *arrays: Any, **kwargs: Any) -> None:
    """Set arrays to zero."""
    for one in arrays[0] if len(arrays) == 1 and isinstance(arrays[0], (list, tuple)) else arrays:
        one[:] = 0


UPDATES["reset_arrays"] = _reset


def adagrad_update(
    weight: Any,
    grad: Any,
    history: Any,
    lr: float,
    epsilon: float = 1e-7,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    out: Any = None,
) -> Any:
    """Return a weight after an update by AdaGrad of the rows that a gradient has.

    ``history``, the sum of squares, is changed in place. There is no weight decay.
    """
    if wd:
        raise ArrayValueError(f"[adagrad_update] wd is {wd}; there is no weight decay")
    target = weight.copy() if out is None else out
    if target is not weight and out is not None:
        weight.copyto(out)

    def step(rows: Any, values: Any, kept: Any) -> None:
        scaled = values * rescale_grad
        if clip_gradient >= 0:
            scaled = LEGACY.clip(scaled, -clip_gradient, clip_gradient)
        kept[:] = kept + LEGACY.square(scaled)
        rows[:] = rows - lr * scaled / LEGACY.sqrt(kept + epsilon)

    update(step, True, target, grad, history)
    return target

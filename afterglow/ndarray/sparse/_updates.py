# SPDX-License-Identifier: Apache-2.0
"""Updates of weights by sparse gradients: what an update costs depends on the rows it touches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as onp

from ..._arrays.worlds import LEGACY, in_world
from ..._core import Array, operation, sparse_parts
from ...error import ArrayValueError
from ._arrays import empty
from ._calls import UPDATES, add, cast, find_rows, is_sparse, warn_of_fallback
from ._structure import assemble, from_indices, indices_of

__all__ = ["adagrad_update", "update_by_dense"]

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
    if not rowwise or grad.stype != "row_sparse":
        _update_whole(step, weight, cast(grad, "default"), state)
        return
    values, rows, _ = sparse_parts(grad)
    if not values.size:
        return
    held = [_stored(one, rows) for one in _arrays_in([weight, state])]
    taken = [LEGACY.take(array, places, axis=0) for array, places in held]
    kept, *states = taken
    step(kept, values, _replaced(state, iter(states)))
    for (array, places), changed in zip(held, taken, strict=True):
        LEGACY.scatter([array, changed, places])


def update_by_dense(name: str, step: Step, weight: Any, grad: Any, state: Any) -> None:
    """Update a weight by a rule that has no form for sparse gradients."""
    if is_sparse(grad):
        warn_of_fallback(name, [weight.stype, grad.stype])
    update(step, False, weight, grad, state)


def _update_whole(step: Step, weight: Any, grad: Any, state: Any) -> None:
    """Update all rows of a weight."""
    states = [_whole(one) for one in _arrays_in(state)]
    step(_whole(weight), in_world(grad, weight._legacy), _replaced(state, iter(states)))


def _whole(array: Any) -> Any:
    """Return an array, or the dense one that holds all rows of a sparse one."""
    if not is_sparse(array):
        return array
    return _stored(array, from_indices(onp.arange(array.shape[0]), array._context_numbers))[0]


def _stored(weight: Any, rows: Any) -> tuple[Any, Any]:
    """Return the array that holds rows of a weight or state, and where in it they are.

    A row_sparse one gets the rows that it does not have yet. Its values are its own alone, so these
    may be written.
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


def _replaced(state: Any, arrays: Iterator[Any]) -> Any:
    """Return a state with other arrays, in the order of ``_arrays_in``."""
    if isinstance(state, (tuple, list)):
        return type(state)(_replaced(one, arrays) for one in state)
    return next(arrays) if isinstance(state, Array) else state


def _called(
    called: Any,
    weight: Any,
    grad: Any,
    *states: Any,
    out: Any = None,
    lazy_update: bool = True,
    needs_sparse_weight: bool = False,
    **kwargs: Any,
) -> Any:
    """Answer the call of an op that updates a weight, such as ``sgd_update``."""
    target = weight.copy() if out is None else out
    if target is not weight and out is not None:
        weight.copyto(out)

    def step(rows: Any, values: Any, kept: Any) -> None:
        operation(called.name, rows._legacy)(rows, values, *kept, out=rows, **kwargs)

    if needs_sparse_weight and not is_sparse(weight):
        update_by_dense(called.name, step, target, grad, states)
    else:
        update(step, bool(lazy_update), target, grad, states)
    return target


#: Ops whose update of a row needs that row alone.
UPDATES.update(
    dict.fromkeys(
        (
            "sgd_update",
            "sgd_mom_update",
            "adam_update",
            "group_adagrad_update",
            "adagrad_update",
        ),
        _called,
    )
)
# A weight without gradients becomes zero, and a dense one has such rows.
UPDATES["ftrl_update"] = partial(_called, needs_sparse_weight=True)


def _reset(called: Any, *arrays: Any, **kwargs: Any) -> None:
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
    given = {"lr": lr, "epsilon": epsilon, "rescale_grad": rescale_grad}
    call = operation("adagrad_update", True)
    return call(weight, grad, history, out=out, clip_gradient=clip_gradient, **given)

# SPDX-License-Identifier: Apache-2.0
"""An optimizer together with the states of all weights, and their way into bytes and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from .._arrays.dtypes import DTYPES
from .._core import Array, issue_for_rows
from ..context import context_of
from ..error import ArrayTypeError, MismatchError
from .base import Optimizer, Rates

__all__ = ["Updater", "get_updater"]

#: Larger weights are updated by calls of their own, which can join the pass that computes the
#: gradient and are shared out among threads.
_LARGE = 65536


class _Alike(NamedTuple):
    """Weights that one call can update."""

    lr_mult: float
    wd_mult: float
    weights: list[Any]
    states: list[Any]
    rows: list[tuple[Any, ...]]  #: of each: the weight, nothing for its gradient, and its state


def arrays_in(state: Any) -> list[Any]:
    """Return the arrays of a state, in order."""
    if isinstance(state, (tuple, list)):
        return [array for one in state for array in arrays_in(one)]
    return [] if state is None else [state]


class Updater:
    """Keeps the state of every weight and updates one when it is called."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[Any, Any] = {}
        self.states_synced: dict[Any, bool] = {}
        self.aggregate_updates = False
        self._alike: tuple[list[Any], int, list[_Alike]] | None = None

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        """Queue the update of a weight, or of each of several given as lists."""
        if isinstance(index, (tuple, list)):
            for one in zip(index, grad, weight, strict=True):
                self(*one)
            return
        state = self._state(index, weight)
        self.optimizer._set_current_context(weight._context_numbers[1])
        self.optimizer.update_multi_precision(index, weight, grad, state)

    def _state(self, index: Any, weight: Any) -> Any:
        """Return the state of a weight, where the weight is."""
        states = self.states
        if index not in states:
            states[index] = self.optimizer.create_state_multi_precision(index, weight)
            self.states_synced[index] = True
        elif not self.states_synced[index]:
            # A file does not tell whose arrays they are: MXNet writes all as those of nd.
            state = self.sync_state_context(states[index], context_of(weight._context_numbers))
            state = _mapped(lambda array: array._as_class(weight._legacy), state)
            new = self.optimizer.create_state_multi_precision(index, weight)
            try:
                states[index] = _completed(state, new)
            except ValueError:
                raise MismatchError(
                    f"[set_states] weight {index} of shape {weight.shape} was given the state "
                    f"{_described(state)}; {type(self.optimizer).__name__} needs {_described(new)}"
                ) from None
            self.states_synced[index] = True
        return states[index]

    def update_all(self, indices: list[Any], weights: list[Any]) -> None:
        """Queue the updates of weights on one device by the gradients they have.

        Small ones with equal rates are updated by one call. What was found out about the weights
        is kept as long as the same list comes again.
        """
        number = None
        optimizer = self.optimizer
        if weights and optimizer.updates_together:
            optimizer._set_current_context(weights[0]._context_numbers[1])
            number = optimizer.count_together(indices)
        if number is None:
            for index, weight in zip(indices, weights, strict=True):
                self(index, weight.grad, weight)
            return
        lr, wd = optimizer.learning_rate, optimizer.wd
        for alike in self._sorted(indices, weights):
            rates = Rates(lr * alike.lr_mult, wd * alike.wd_mult, number)
            weight, state = alike.weights[0], alike.states[0]
            first = partial(optimizer.update_at, rates, weight, weight.grad, state)
            done = issue_for_rows(first, alike.rows)
            for weight, state in zip(alike.weights[done:], alike.states[done:], strict=True):
                optimizer.update_at(rates, weight, weight.grad, state)

    def _sorted(self, indices: list[Any], weights: list[Any]) -> list[_Alike]:
        """Return the weights by what one call can update."""
        if self._alike and self._alike[0] is weights and self._alike[1] == len(self.states):
            return self._alike[2]
        optimizer = self.optimizer
        groups: dict[Any, _Alike] = {}
        for index, weight in zip(indices, weights, strict=True):
            state = self._state(index, weight)
            arrays = arrays_in(state)
            lr_mult = optimizer._multiplier(index, "lr_mult", optimizer.lr_mult)
            wd_mult = optimizer._multiplier(index, "wd_mult", optimizer.wd_mult)
            key: Any = (lr_mult, wd_mult, *(one._dtype_number for one in (weight, *arrays)))
            if weight.size >= _LARGE or weight.grad.stype != "default":
                key = index
            group = groups.setdefault(key, _Alike(lr_mult, wd_mult, [], [], []))
            group.weights.append(weight)
            group.states.append(state)
            group.rows.append((weight, None, *arrays))
        self._alike = (weights, len(self.states), list(groups.values()))
        return self._alike[2]

    def sync_state_context(self, state: Any, context: Any) -> Any:
        """Return a state with its arrays on a device."""
        return _mapped(lambda array: array.as_in_context(context), state)

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """Return all states as bytes that MXNet can read. Waits for their values."""
        from ._states import dumps  # here: many programs write no states

        return dumps(self.states, self.optimizer if dump_optimizer else None)

    def set_states(self, states: bytes) -> None:
        """Take over states from bytes, MXNet's or ours."""
        from ._states import loads

        if not isinstance(states, (bytes, bytearray)):
            raise ArrayTypeError(f"[set_states] needs bytes, not {type(states)}")
        loaded = loads(bytes(states))
        self.states, self.optimizer = loaded.states, loaded.optimizer or self.optimizer
        if loaded.is_old and self.optimizer.copy_comes_last and self.optimizer.multi_precision:
            self.states = {index: _turned(state) for index, state in self.states.items()}
        self.states_synced = dict.fromkeys(self.states, False)
        self._alike = None


def _completed(state: Any, new: Any) -> Any:
    """Return a state from a file; what is not in it, such as a momentum, is that of a new one."""
    if state is None:
        return new
    if isinstance(state, (tuple, list)) and isinstance(new, (tuple, list)):
        return type(state)(_completed(*both) for both in zip(state, new, strict=True))
    is_array = isinstance(state, Array)
    if is_array and isinstance(new, Array):
        fits = (state.shape, state._dtype_number) == (new.shape, new._dtype_number)
    else:
        fits = type(state) is type(new) or (is_array and new is None)  # not needed any more
    if not fits:
        raise ValueError
    return state


def _described(state: Any) -> str:
    if isinstance(state, Array):
        return f"{state.shape} {DTYPES[state._dtype_number]}"
    if isinstance(state, (tuple, list)):
        return f"({', '.join(map(_described, state))})"
    return "none" if state is None else f"{state!r:.40}"


def _turned(state: Any) -> Any:
    """Return a state of float16 that was written when the copy of the weight came first."""
    return state[::-1] if isinstance(state, tuple) and len(state) == 2 else state


def _mapped(function: Callable[[Any], Any], state: Any) -> Any:
    """Return a state with what a function makes of its arrays."""
    if isinstance(state, (tuple, list)):
        return type(state)(_mapped(function, one) for one in state)
    return function(state) if isinstance(state, Array) else state


def get_updater(optimizer: Optimizer) -> Updater:
    """Return an updater for an optimizer."""
    return Updater(optimizer)

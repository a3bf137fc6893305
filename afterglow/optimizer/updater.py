# SPDX-License-Identifier: Apache-2.0
"""An optimizer together with the states of all weights, and their way into bytes and back."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from .._core import Array, issue_for_rows
from ..context import context_of
from ..error import ArrayTypeError, ArrayValueError
from ..lr_scheduler import LRScheduler
from .base import Optimizer, Rates

__all__ = ["Updater", "get_updater"]

#: What a file of states may name besides arrays: nothing that does anything when it is loaded.
_ALLOWED = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
    ("afterglow._array", "_restore"),
    ("collections", "OrderedDict"),
    ("_codecs", "encode"),
}


def _all_subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _all_subclasses(subclass)


class _Unpickler(pickle.Unpickler):
    """Loads arrays, numbers, containers of them, optimizers and schedulers; refuses the rest."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _ALLOWED:
            return super().find_class(module, name)
        for base in (Optimizer, LRScheduler):
            for kind in _all_subclasses(base):
                if (module, name) == (kind.__module__, kind.__qualname__):
                    return kind
        raise pickle.UnpicklingError(f"a file of optimizer states must not name {module}.{name}")


def loads(data: bytes) -> Any:
    """Return what a pickle of states holds; hostile or damaged ones raise a ValueError."""
    try:
        return _Unpickler(io.BytesIO(data)).load()
    except Exception as error:
        raise ArrayValueError(
            f"[set_states] this is no file of optimizer states: {error}"
        ) from None


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


def _arrays_in(state: Any) -> list[Any]:
    if isinstance(state, (tuple, list)):
        return [array for one in state for array in _arrays_in(one)]
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
            states[index] = self.sync_state_context(
                states[index], context_of(weight._context_numbers)
            )
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
            arrays = _arrays_in(state)
            lr_mult = optimizer._multiplier(index, "lr_mult", optimizer.lr_mult)
            wd_mult = optimizer._multiplier(index, "wd_mult", optimizer.wd_mult)
            key: Any = (lr_mult, wd_mult, *(one._dtype_number for one in (weight, *arrays)))
            if weight.size >= _LARGE:
                key = index
            group = groups.setdefault(key, _Alike(lr_mult, wd_mult, [], [], []))
            group.weights.append(weight)
            group.states.append(state)
            group.rows.append((weight, None, *arrays))
        self._alike = (weights, len(self.states), list(groups.values()))
        return self._alike[2]

    def sync_state_context(self, state: Any, context: Any) -> Any:
        """Return a state with its arrays on a device."""
        if isinstance(state, Array):
            return state.as_in_context(context)  # type: ignore[attr-defined]
        if isinstance(state, (tuple, list)):
            return type(state)(self.sync_state_context(one, context) for one in state)
        return state

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """Return all states as bytes. Waits for their values."""
        return pickle.dumps((self.states, self.optimizer) if dump_optimizer else self.states)

    def set_states(self, states: bytes) -> None:
        """Take over states from bytes."""
        if not isinstance(states, (bytes, bytearray)):
            raise ArrayTypeError(f"[set_states] needs bytes, not {type(states)}")
        loaded = loads(bytes(states))
        states_loaded, optimizer = (
            loaded if isinstance(loaded, tuple) and len(loaded) == 2 else (loaded, self.optimizer)
        )
        if not isinstance(states_loaded, dict) or not isinstance(optimizer, Optimizer):
            raise ArrayValueError("[set_states] this is no file of optimizer states")
        self.states, self.optimizer = states_loaded, optimizer
        self.states_synced = dict.fromkeys(self.states, False)
        self._alike = None


def get_updater(optimizer: Optimizer) -> Updater:
    """Return an updater for an optimizer."""
    return Updater(optimizer)

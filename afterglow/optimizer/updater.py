# SPDX-License-Identifier: Apache-2.0
"""An optimizer together with the states of all weights, and their way into bytes and back."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from typing import Any

from .._core import Array
from ..context import context_of
from ..error import ArrayTypeError, ArrayValueError
from ..lr_scheduler import LRScheduler
from .base import Optimizer

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


class Updater:
    """Keeps the state of every weight and updates one when it is called."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[Any, Any] = {}
        self.states_synced: dict[Any, bool] = {}
        self.aggregate_updates = False

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        """Queue the update of a weight, or of each of several given as lists."""
        if isinstance(index, (tuple, list)):
            for one in zip(index, grad, weight, strict=True):
                self(*one)
            return
        states = self.states
        if index not in states:
            states[index] = self.optimizer.create_state_multi_precision(index, weight)
            self.states_synced[index] = True
        elif not self.states_synced[index]:
            states[index] = self.sync_state_context(
                states[index], context_of(weight._context_numbers)
            )
            self.states_synced[index] = True
        self.optimizer._set_current_context(weight._context_numbers[1])
        self.optimizer.update_multi_precision(index, weight, grad, states[index])

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


def get_updater(optimizer: Optimizer) -> Updater:
    """Return an updater for an optimizer."""
    return Updater(optimizer)

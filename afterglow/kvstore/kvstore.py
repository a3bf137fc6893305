# SPDX-License-Identifier: Apache-2.0
"""The store of our own: values shared between the devices of one process.

On one machine a store is a dictionary: ``push`` sums what the devices send, ``pull`` copies the sum
to each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core import Array
from .._formats import params as _files
from ..error import ArrayNotImplementedError, ArrayTypeError, ArrayValueError
from ..optimizer import Optimizer, Updater
from .base import KVStoreBase, as_list, known_capability, total_of

__all__ = ["KVStore"]


class KVStore(KVStoreBase):
    """A store of arrays by key."""

    def __init__(self, kind: str = "local") -> None:
        self._kind = kind
        self._values: dict[Any, Any] = {}
        self._updater: Callable[[Any, Any, Any], None] | None = None
        self._key_kind: type | None = None

    @property
    def type(self) -> str:
        """The name it was created with."""
        return self._kind

    @property
    def rank(self) -> int:
        """The number of this process: there is one."""
        return 0

    @property
    def num_workers(self) -> int:
        """The number of processes: one."""
        return 1

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Tell that the store can run an optimizer."""
        return known_capability(capability)

    def init(self, key: Any, value: Any) -> None:
        """Set the first value of a key, or of several."""
        for one, initial in self._pairs(key, value):
            if one in self._values:
                raise ArrayValueError(f"[init] the key {one!r} is already there")
            self._values[one] = initial[0].copy()

    def push(self, key: Any, value: Any, priority: int = 0) -> None:
        """Sum the values that devices send for a key, and hand the sum to the updater."""
        for one, sent in self._pairs(key, value):
            stored = self._stored(one, "push")
            total = total_of(sent).as_in_context(stored.context)
            if self._updater is not None:
                self._updater(one, total, stored)
            else:
                stored[:] = total

    def pull(
        self, key: Any, out: Any = None, priority: int = 0, ignore_sparse: bool = True
    ) -> None:
        """Copy the value of a key to each of the arrays."""
        if out is None:
            raise ArrayTypeError("[pull] needs out, the arrays to copy to")
        for one, targets in self._pairs(key, out):
            stored = self._stored(one, "pull")
            for target in targets:
                if ignore_sparse and target.stype != "default":
                    continue
                target[:] = stored.as_in_context(target.context)

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Push, then pull into the same arrays or into others."""
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority, ignore_sparse=False)

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Set a first value and copy it out."""
        self.init(key, value)
        self.pull(key, out, priority, ignore_sparse=False)

    def row_sparse_pull(
        self, key: Any, out: Any = None, priority: int = 0, row_ids: Any = None
    ) -> None:
        """Copy some rows of the value of a key to each of the row_sparse arrays.

        ``row_ids`` are the numbers of rows, one array for all of ``out`` or one for each.
        """
        from ..ndarray.sparse import retain

        if out is None or row_ids is None:
            raise ArrayTypeError("[row_sparse_pull] needs out and row_ids")
        ids = as_list(row_ids)
        for number, (one, targets) in enumerate(self._pairs(key, out)):
            stored = self._stored(one, "row_sparse_pull")
            own = ids[number % len(ids)] if isinstance(key, (tuple, list)) else ids
            rows = as_list(own)
            for position, target in enumerate(targets):
                if target.stype != "row_sparse" or stored.stype != "row_sparse":
                    raise ArrayTypeError(
                        f"[row_sparse_pull] the value of {one!r} is {stored.stype}, out is "
                        f"{target.stype}; both must be row_sparse"
                    )
                wanted = rows[position if len(rows) > 1 else 0]
                target[:] = retain(stored, wanted).as_in_context(target.context)

    def set_updater(self, updater: Callable[[Any, Any, Any], None]) -> None:
        """Let ``updater(key, sum, stored)`` decide what a push does to the stored value."""
        self._updater = updater

    _set_updater = set_updater

    def set_optimizer(self, optimizer: Optimizer) -> None:
        """Let pushes of gradients update the stored weights."""
        self._updater = Updater(optimizer)

    def set_gradient_compression(self, compression_params: Any) -> None:
        """Refuse: nothing travels between machines."""
        raise ArrayNotImplementedError("[set_gradient_compression] there is one machine only")

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Write the states of the optimizer to a file."""
        states = self.updater.get_states(dump_optimizer)
        _files.replace(fname, lambda file: file.write(states))

    def load_optimizer_states(self, fname: str) -> None:
        """Read the states of the optimizer from a file."""
        self.updater.set_states(_files.read(fname))

    def barrier(self) -> None:
        """Wait for the other processes: there are none."""

    @property
    def updater(self) -> Updater:
        """What applies the optimizer."""
        if not isinstance(self._updater, Updater):
            raise ArrayValueError("[kvstore] there is no optimizer; call set_optimizer() first")
        return self._updater

    def _stored(self, key: Any, what: str) -> Any:
        if key not in self._values:
            raise ArrayValueError(f"[{what}] the key {key!r} has not been initialised")
        return self._values[key]

    def _pairs(self, key: Any, value: Any) -> list[tuple[Any, list[Any]]]:
        """Return (key, arrays) for one key or several."""
        if isinstance(key, (tuple, list)):
            if len(key) != len(value):
                raise ArrayValueError(f"[kvstore] {len(key)} keys, but {len(value)} values")
            pairs = list(zip(key, map(as_list, value), strict=True))
        else:
            pairs = [(key, as_list(value))]
        for one, arrays in pairs:
            self._check_key(one)
            for array in arrays:
                if not isinstance(array, Array):
                    raise ArrayTypeError(f"[kvstore] values must be arrays, not {type(array)}")
        return pairs

    def _check_key(self, key: Any) -> None:
        """Refuse keys that are neither numbers nor names, and a store with both."""
        kind = str if isinstance(key, str) else int
        if not isinstance(key, (str, int)):
            raise ArrayTypeError(f"[kvstore] keys must be integers or strings, but got {key!r}")
        if self._key_kind not in (None, kind):
            raise ArrayTypeError(
                f"[kvstore] keys of one store must be of one kind, but got {key!r} after keys that "
                f"are {'strings' if self._key_kind is str else 'integers'}"
            )
        self._key_kind = kind

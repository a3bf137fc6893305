# SPDX-License-Identifier: Apache-2.0
"""What a store must do for trainers and modules, and how further ones are made known."""

from __future__ import annotations

import os
import warnings
from typing import Any, ClassVar, NoReturn, TypeVar

from .._core import Array
from ..error import ArrayNotImplementedError, ArrayTypeError, ArrayValueError

__all__ = ["KVStoreBase", "create"]

Store = TypeVar("Store", bound=type)

#: The names of the store of our own; on CPUs they are all the same.
_OWN = frozenset(
    ("local", "device", "nccl", "local_update_cpu", "local_allreduce_cpu", "local_allreduce_device")
)

#: The stores of several processes.
_DIST = frozenset(("dist", "dist_sync", "dist_device_sync", "dist_sync_device"))

#: Where 'local' does not update weights: there is one with more elements than this.
_MOST_IN_STORE = 16 * 2**20


class KVStoreBase:
    """The interface of stores for data-parallel training.

    :class:`~afterglow.gluon.Trainer` and modules call ``broadcast`` once for each parameter and
    ``pushpull`` at every step.

    >>> from afterglow import kvstore, nd
    >>> @kvstore.KVStoreBase.register
    ... class First(kvstore.KVStoreBase):
    ...     def pushpull(self, key, value, out=None, priority=0):
    ...         for target in out:
    ...             target[:] = value[0]
    >>> results = [nd.zeros((1,)), nd.zeros((1,))]
    >>> kvstore.create("first").pushpull(0, [nd.ones((1,)), nd.zeros((1,))], out=results)
    >>> [float(one) for one in results]
    [1.0, 1.0]
    """

    OPTIMIZER: ClassVar[str] = "optimizer"
    kv_registry: ClassVar[dict[str, type]] = {}

    @staticmethod
    def register(klass: Store) -> Store:
        """Let :func:`create` make stores of a class by its name, in small letters."""
        if not isinstance(klass, type):
            raise ArrayTypeError(f"[register] {klass!r} must be a class of stores")
        name = klass.__name__.lower()
        known = KVStoreBase.kv_registry.get(name, klass)
        if known is not klass:
            warnings.warn(
                f"WARNING: New kvstore {klass.__module__}.{klass.__name__} is overriding existing "
                f"kvstore {known.__module__}.{known.__name__}",
                stacklevel=2,
            )
        KVStoreBase.kv_registry[name] = klass
        return klass

    def _refuse(self, what: str) -> NoReturn:
        raise ArrayNotImplementedError(f"[{what}] {type(self).__name__} does not define it")

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Copy the value of the first process to the arrays of all."""
        self._refuse("broadcast")

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Write the sum of the values of all devices to ``out``, or to the values themselves."""
        self._refuse("pushpull")

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Tell whether the store can do something, such as run an ``optimizer``."""
        raise ArrayNotImplementedError("[is_capable] the class of the store does not define it")

    def set_optimizer(self, optimizer: Any) -> None:
        """Let pushes of gradients update the stored weights."""
        self._refuse("set_optimizer")

    def set_gradient_compression(self, compression_params: Any) -> None:
        """Let gradients take less room on their way."""
        self._refuse("set_gradient_compression")

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Write the states of the optimizer to a file."""
        self._refuse("save_optimizer_states")

    def load_optimizer_states(self, fname: str) -> None:
        """Read the states of the optimizer from a file."""
        self._refuse("load_optimizer_states")

    @property
    def type(self) -> str:
        """The name of the kind of store."""
        return type(self).__name__.lower()

    @property
    def rank(self) -> int:
        """The number of this process."""
        return 0

    @property
    def num_workers(self) -> int:
        """The number of processes."""
        return 1


def known_capability(capability: str) -> bool:
    """Tell whether the optimizer is asked for, which is all that can be."""
    if capability.lower() != KVStoreBase.OPTIMIZER:
        raise ArrayValueError(f"Unknown capability: {capability}")
    return True


@KVStoreBase.register
class TestStore(KVStoreBase):
    """A store that keeps nothing: sums go straight to where they are wanted."""

    __test__ = False  # pytest would take it for a test

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Copy the value to the arrays."""
        for target in as_list(out):
            target[:] = value.as_in_context(target.context)

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Write the sum of the values to the arrays, or to the values themselves."""
        total = total_of(as_list(value))
        for target in as_list(value if out is None else out):
            target[:] = total.as_in_context(target.context)

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Tell that it cannot run an optimizer."""
        return not known_capability(capability)


def as_list(value: Any) -> list[Any]:
    """Return a list or tuple as a list, and anything else alone in one."""
    return list(value) if isinstance(value, (tuple, list)) else [value]


def total_of(arrays: list[Array]) -> Any:
    """Return the sum of arrays on several devices, on the first of them."""
    first: Any = arrays[0]
    return sum((one.as_in_context(first.context) for one in arrays[1:]), first)  # type: ignore[attr-defined]


def create(name: str = "local") -> KVStoreBase:
    """Return a store by name: of one process, of several, or a registered one.

    'local' and 'device' are the same here, and so are 'dist_sync' and 'dist_device_sync'.
    """
    from .kvstore import KVStore

    if not isinstance(name, str):
        raise ArrayTypeError("name must be a string")
    kind = name.lower()
    if kind in _DIST or kind == "horovod":
        from .dist import DistStore, HorovodStore

        return HorovodStore() if kind == "horovod" else DistStore(kind)
    if kind in KVStoreBase.kv_registry:
        made: KVStoreBase = KVStoreBase.kv_registry[kind]()
        return made
    if kind not in _OWN:
        known = ", ".join(
            repr(one) for one in ("local", "device", "dist_sync", *KVStoreBase.kv_registry)
        )
        raise ArrayValueError(f"[create] there is no store {name!r}; there are {known}")
    return KVStore(kind)


def updates_weights() -> bool:
    """Tell whether stores update weights where nobody said so: MXNET_UPDATE_ON_KVSTORE."""
    return os.environ.get("MXNET_UPDATE_ON_KVSTORE", "1").strip().lower() not in ("0", "false")


def store_for(
    kvstore: KVStoreBase | str | None, devices: int, largest: int
) -> tuple[KVStoreBase | None, bool]:
    """Return the store that training on some devices needs, and whether it updates the weights.

    ``largest`` is the number of elements of the largest weight.
    """
    if kvstore is None:
        return None, False
    if not isinstance(kvstore, str):
        return kvstore, updates_weights() and kvstore.is_capable(KVStoreBase.OPTIMIZER)
    shared = "dist" in kvstore or kvstore == "horovod"
    if devices == 1 and not shared:
        return None, False
    store = create(kvstore)
    if shared:  # every process updates weights of its own: the same, and no copies
        return store, False
    updates = kvstore != "local" or largest <= _MOST_IN_STORE
    return store, updates and updates_weights() and store.is_capable(KVStoreBase.OPTIMIZER)

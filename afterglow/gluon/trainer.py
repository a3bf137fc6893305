# SPDX-License-Identifier: Apache-2.0
"""``gluon.Trainer``: applies an optimizer to a set of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

from .. import optimizer as opt
from .._core import first_stale, set_stale
from .._formats import params as _files
from .._package.keywords import NamedKeywords
from ..error import ArrayValueError
from ..kvstore import KVStore
from ..kvstore.base import KVStoreBase, store_for, total_of
from .parameter import Parameter

__all__ = ["Trainer"]


class _Device(NamedTuple):
    """The weights on one device that have gradients."""

    indices: list[int]  #: of their parameters
    weights: list[Any]


class Trainer(NamedKeywords):
    """Updates parameters after ``backward``: sums gradients over devices, then steps.

    ``kvstore`` is the store that sums them, by its name or as an object; one device needs none
    of the usual ones. ``update_on_kvstore`` says whether the sum updates a weight once, for all
    devices, or every device its own. ``compression_params`` are accepted.
    """

    def __init__(
        self,
        params: Any,
        optimizer: str | opt.Optimizer,
        optimizer_params: Mapping[str, Any] | None = None,
        kvstore: Any = "device",
        compression_params: Any = None,
        update_on_kvstore: bool | None = None,
    ) -> None:
        if isinstance(params, Mapping) or hasattr(params, "values"):
            params = [params[name] for name in sorted(params.keys())]
        wanted = "First argument must be a list or dict of Parameters"
        if not isinstance(params, (list, tuple)):
            raise ArrayValueError(f"{wanted}, got {type(params)}.")
        for parameter in params:
            if not isinstance(parameter, Parameter):
                raise ArrayValueError(f"{wanted}, got list of {type(parameter)}.")
        self._params: list[Any] = list(params)
        self._param2idx = {parameter.name: i for i, parameter in enumerate(self._params)}
        for parameter in self._params:
            setter = getattr(parameter, "_set_trainer", None)
            if setter is not None:
                setter(self)
        if update_on_kvstore and kvstore is None:
            raise ArrayValueError("update_on_kvstore needs a kvstore")
        self._kvstore_params = {"kvstore": kvstore, "update_on_kvstore": update_on_kvstore}
        self._init_optimizer(optimizer, dict(optimizer_params or {}))
        self._scale = self._optimizer.rescale_grad
        self._updaters: list[opt.Updater] = []
        self._trained: tuple[int, list[_Device]] | None = None
        self._reset_kvstore()

    # --- the store ---

    def _reset_kvstore(self) -> None:
        """Forget the store, and the states of an optimizer that runs in it."""
        self._kv_initialized = False
        self._kvstore: Any = None
        self._update_on_kvstore: bool | None = None
        self._params_to_init: list[Any] = list(self._params)

    def _init_kvstore(self) -> None:
        """Find the store, now that it is known on how many devices there are parameters."""
        wanted = self._kvstore_params["update_on_kvstore"]
        sizes = (prod(one.shape or ()) for one in self._params)
        store, updates = store_for(
            self._kvstore_params["kvstore"], self._count_devices(), max(sizes, default=0)
        )
        if store is not None:
            if wanted is not None:
                updates = bool(wanted)
            if updates and not store.is_capable(KVStoreBase.OPTIMIZER):
                raise ArrayValueError(
                    f"Please set update_on_kvstore=False when training with {type(store)}"
                )
            if updates:
                store.set_optimizer(self._optimizer)
            self._update_on_kvstore = updates
        self._kvstore = store
        self._kv_initialized = True

    def _prepare(self) -> None:
        """Find the store when it is first needed, and tell it the weights that it lacks."""
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            # Our own store keeps no copies: weights are updated where they are.
            if self._kvstore is not None and not isinstance(self._kvstore, KVStore):
                for parameter in self._params_to_init:
                    arrays = parameter.list_data()
                    number = self._param2idx[parameter.name]
                    self._kvstore.broadcast(number, arrays[0], arrays)
            self._params_to_init = []

    def _init_optimizer(self, optimizer: str | opt.Optimizer, arguments: dict[str, Any]) -> None:
        by_index: dict[Any, Any] = dict(enumerate(self._params))
        if isinstance(optimizer, opt.Optimizer):
            assert not arguments, (
                "optimizer_params must be None if optimizer is an instance of Optimizer instead "
                "of str"
            )
            self._optimizer = optimizer
            self._optimizer.param_dict = by_index
        else:
            self._optimizer = opt.create(optimizer, param_dict=by_index, **arguments)

    # --- rates ---

    @property
    def optimizer(self) -> opt.Optimizer:
        """The optimizer."""
        if isinstance(self._optimizer, opt.Optimizer):
            return self._optimizer
        raise UserWarning("Optimizer has not been initialized yet")

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        return self._optimizer.learning_rate

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate."""
        self._optimizer.set_learning_rate(lr)

    # --- steps ---

    def step(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """Queue one update of all parameters; gradients are divided by ``batch_size``.

        A parameter whose gradient ``backward`` has not computed since the last step is an error,
        or with ``ignore_stale_grad`` left as it is.
        """
        self._optimizer.rescale_grad = self._scale / batch_size
        self._prepare()
        if not self._update_on_kvstore:
            self._sum_gradients()
        self._update(ignore_stale_grad)

    def allreduce_grads(self) -> None:
        """Give every device the sum of the gradients of all of them."""
        self._refuse_on_store("allreduce_grads")
        self._sum_gradients()

    def _sum_gradients(self) -> None:
        if self._kvstore is not None or self._count_devices() > 1:
            for number, parameter in self._wanting_gradients():
                gradients = parameter.list_grad()
                if self._kvstore is None or isinstance(self._kvstore, KVStore):
                    _write(total_of(gradients), gradients)
                else:
                    self._kvstore.pushpull(number, gradients, priority=-number)

    def _wanting_gradients(self) -> list[tuple[int, Any]]:
        return [pair for pair in enumerate(self._params) if pair[1].grad_req != "null"]

    def update(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """Queue the updates alone, after ``allreduce_grads``."""
        self._refuse_on_store("update")
        self._optimizer.rescale_grad = self._scale / batch_size
        self._update(ignore_stale_grad)

    def _refuse_on_store(self, what: str) -> None:
        self._prepare()
        assert not self._update_on_kvstore, (
            f"[Trainer.{what}] several devices are updated together by step(); make the Trainer "
            "with update_on_kvstore=False to call allreduce_grads() and update()"
        )

    def _update(self, ignore_stale_grad: bool) -> None:
        updaters = self._need_updaters()
        devices = self._trained_by_device()
        if len(devices) > len(updaters):
            raise ArrayValueError(
                f"there are parameters on {len(devices)} devices, the first one is on "
                f"{len(updaters)}"
            )
        if not ignore_stale_grad:  # before anything is updated
            for device in devices:
                self._check_fresh(device)
        if self._update_on_kvstore:
            self._update_on_store()
            return
        for updater, (indices, weights) in zip(updaters, devices, strict=False):
            if ignore_stale_grad and first_stale(weights) >= 0:
                fresh = [number for number, one in enumerate(weights) if first_stale([one]) < 0]
                indices = [indices[number] for number in fresh]
                weights = [weights[number] for number in fresh]
            updater.update_all(indices, weights)
            set_stale(weights)

    def _update_on_store(self) -> None:
        """Update with the gradients of all devices; as in MXNet, they stay fresh."""
        for number, parameter in self._wanting_gradients():
            gradients, weights = parameter.list_grad(), parameter.list_data()
            if isinstance(self._kvstore, KVStore):
                self._kvstore.updater(number, total_of(gradients), weights[0])
                _write(weights[0], weights[1:])
            else:
                self._kvstore.pushpull(number, gradients, out=weights, priority=-number)

    def _trained_by_device(self) -> list[_Device]:
        """Return what has gradients; the same lists as long as no parameter has changed."""
        if self._trained is None or self._trained[0] != Parameter.changes:
            devices: list[_Device] = []
            for index, parameter in self._wanting_gradients():
                for number, weight in enumerate(parameter.list_data()):
                    if number == len(devices):
                        devices.append(_Device([], []))
                    devices[number].indices.append(index)
                    devices[number].weights.append(weight)
            self._trained = (Parameter.changes, devices)
        return self._trained[1]

    def _check_fresh(self, device: _Device) -> None:
        """Raise if ``backward`` has not computed the gradient of a parameter on a device."""
        stale = first_stale(device.weights)
        if stale >= 0:
            raise UserWarning(
                f"[Trainer] the gradient of Parameter `{self._params[device.indices[stale]].name}` "
                f"on context {device.weights[stale].context} has not been updated by backward "
                "since last `step`; if only some parameters are meant to be used, call step with "
                "ignore_stale_grad=True, which leaves the others as they are"
            )

    def _count_devices(self) -> int:
        return max(1, len(self._params[0].list_ctx() if self._params else ()))

    def _need_updaters(self) -> list[opt.Updater]:
        if not self._updaters:
            self._updaters = [
                opt.get_updater(self._optimizer) for _ in range(self._count_devices())
            ]
        return self._updaters

    # --- files ---

    def save_states(self, fname: str) -> None:
        """Write the states of the optimizer to a file. Waits for their values."""
        self._prepare()
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)
            return
        states = self._need_updaters()[0].get_states(dump_optimizer=True)
        _files.replace(fname, lambda file: file.write(states))

    def load_states(self, fname: str) -> None:
        """Read the states of the optimizer from a file."""
        states = _files.read(fname)
        self._prepare()
        if self._update_on_kvstore and not isinstance(self._kvstore, KVStore):
            self._kvstore.load_optimizer_states(fname)
            return
        self._need_updaters()
        self._set_states(states)

    def _set_states(self, states: bytes) -> None:
        updaters = [self._kvstore.updater] if self._update_on_kvstore else self._updaters
        for updater in updaters:
            updater.set_states(states)
        self._optimizer = updaters[0].optimizer
        for updater in updaters:
            updater.optimizer = self._optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))


def _write(value: Any, arrays: list[Any]) -> None:
    """Write a value to arrays on several devices."""
    for array in arrays:
        array[:] = value.as_in_context(array.context)

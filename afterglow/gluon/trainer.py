# SPDX-License-Identifier: Apache-2.0
"""``gluon.Trainer``: applies an optimizer to a set of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .. import optimizer as opt
from .._core import first_stale, set_stale
from .._formats import params as _files
from .._package.keywords import NamedKeywords
from ..error import ArrayValueError
from ..kvstore import updates_weights
from .parameter import Parameter

__all__ = ["Trainer"]


class _Device(NamedTuple):
    """The weights on one device that have gradients."""

    indices: list[int]  #: of their parameters
    weights: list[Any]


class Trainer(NamedKeywords):
    """Updates parameters after ``backward``: sums gradients over devices, then steps.

    ``kvstore`` and ``compression_params`` are accepted; the devices of one process need no store.
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
        self._kvstore_type = kvstore
        if update_on_kvstore and kvstore is None:
            raise ArrayValueError("update_on_kvstore needs a kvstore")
        if update_on_kvstore is None:
            update_on_kvstore = updates_weights()
        self._update_on_kvstore = kvstore is not None and update_on_kvstore is not False
        if update_on_kvstore is False and any(one.stype != "default" for one in self._params):
            raise ArrayValueError(
                "Cannot set update_on_kvstore=False when sparse weights are present."
            )
        self._init_optimizer(optimizer, dict(optimizer_params or {}))
        self._scale = self._optimizer.rescale_grad
        self._updaters: list[opt.Updater] = []
        self._trained: tuple[int, list[_Device]] | None = None

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
        if not self._update_on_kvstore:
            self.allreduce_grads()
        self._update(ignore_stale_grad)

    def allreduce_grads(self) -> None:
        """Give every device the sum of the gradients of all of them."""
        for _, parameter in self._wanting_gradients():
            gradients = parameter.list_grad()
            if len(gradients) > 1:
                for gradient, total in zip(gradients, _sums(gradients), strict=True):
                    gradient[:] = total

    def _wanting_gradients(self, sparse: bool = False) -> list[tuple[int, Any]]:
        """Return the parameters with gradients: those whose weights are dense, or the others."""
        return [
            (index, one)
            for index, one in enumerate(self._params)
            if one.grad_req != "null" and (one.stype != "default") == sparse
        ]

    def _update_rows(self) -> None:
        """Update the row_sparse weights, of which devices hold some rows."""
        for index, parameter in self._wanting_gradients(sparse=True):
            total = _sums(parameter.list_grad())[0].as_in_context(parameter._whole.context)
            self._updaters[0](index, total, parameter._whole)

    def update(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """Queue the updates alone, after ``allreduce_grads``."""
        assert not self._updates_together(), (
            "[Trainer.update] several devices are updated together by step(); make the Trainer "
            "with update_on_kvstore=False to call allreduce_grads() and update()"
        )
        self._optimizer.rescale_grad = self._scale / batch_size
        self._update(ignore_stale_grad)

    def _updates_together(self) -> bool:
        """Tell whether devices are updated with the sum of gradients that stay what they are."""
        return self._update_on_kvstore and len(self._need_updaters()) > 1

    def _update(self, ignore_stale_grad: bool) -> None:
        updaters = self._need_updaters()
        self._update_rows()
        devices = self._trained_by_device()
        if len(devices) > len(updaters):
            raise ArrayValueError(
                f"there are parameters on {len(devices)} devices, the first one is on "
                f"{len(updaters)}"
            )
        if not ignore_stale_grad:  # before anything is updated
            for device in devices:
                self._check_fresh(device)
        if self._updates_together():
            self._update_by_sums(updaters)
            return
        for updater, (indices, weights) in zip(updaters, devices, strict=False):
            if ignore_stale_grad and first_stale(weights) >= 0:
                fresh = [number for number, one in enumerate(weights) if first_stale([one]) < 0]
                indices = [indices[number] for number in fresh]
                weights = [weights[number] for number in fresh]
            updater.update_all(indices, weights)
            set_stale(weights)

    def _update_by_sums(self, updaters: list[opt.Updater]) -> None:
        """Update with the gradients of all devices; as in MXNet, they stay fresh."""
        for index, parameter in self._wanting_gradients():
            data, gradients = parameter.list_data(), _sums(parameter.list_grad())
            for updater, weight, gradient in zip(updaters, data, gradients, strict=False):
                updater(index, gradient, weight)

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

    def _need_updaters(self) -> list[opt.Updater]:
        if not self._updaters:
            count = max(1, len(self._params[0].list_ctx() if self._params else ()))
            self._updaters = [opt.get_updater(self._optimizer) for _ in range(count)]
        return self._updaters

    # --- files ---

    def save_states(self, fname: str) -> None:
        """Write the states of the optimizer to a file. Waits for their values."""
        states = self._need_updaters()[0].get_states(dump_optimizer=True)
        _files.replace(fname, lambda file: file.write(states))

    def load_states(self, fname: str) -> None:
        """Read the states of the optimizer from a file."""
        states = _files.read(fname)
        self._need_updaters()
        self._set_states(states)

    def _set_states(self, states: bytes) -> None:
        for updater in self._updaters:
            updater.set_states(states)
        self._optimizer = self._updaters[0].optimizer
        for updater in self._updaters:
            updater.optimizer = self._optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))


def _sums(arrays: list[Any]) -> list[Any]:
    """Return the sum of arrays on several devices, on each of them."""
    total = sum((one.as_in_context(arrays[0].context) for one in arrays[1:]), arrays[0])
    return [total.as_in_context(array.context) for array in arrays]

# SPDX-License-Identifier: Apache-2.0
"""``gluon.Trainer``: applies an optimizer to a set of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import autograd
from .. import optimizer as opt
from ..autograd import fresh_variables
from ..error import ArrayValueError

__all__ = ["Trainer"]


class Trainer:
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
        if not isinstance(params, (list, tuple)):
            raise ArrayValueError(
                f"First argument must be a list or dict of Parameters, got {type(params)}."
            )
        for parameter in params:
            if not hasattr(parameter, "grad_req"):
                raise ArrayValueError(
                    "First argument must be a list or dict of Parameters, "
                    f"got list of {type(parameter)}."
                )
        self._params: list[Any] = list(params)
        self._param2idx = {parameter.name: i for i, parameter in enumerate(self._params)}
        for parameter in self._params:
            setter = getattr(parameter, "_set_trainer", None)
            if setter is not None:
                setter(self)
        self._kvstore_type = kvstore
        if update_on_kvstore and kvstore is None:
            raise ArrayValueError("update_on_kvstore needs a kvstore")
        self._update_on_kvstore = kvstore is not None and update_on_kvstore is not False
        self._init_optimizer(optimizer, dict(optimizer_params or {}))
        self._scale = self._optimizer.rescale_grad
        self._updaters: list[opt.Updater] = []

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

    def _contexts(self) -> list[Any]:
        for parameter in self._params:
            return list(parameter.list_ctx())
        return []

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
        for parameter in self._params:
            if parameter.grad_req == "null":
                continue
            gradients = parameter.list_grad()
            if len(gradients) < 2:
                continue
            for gradient, total in zip(gradients, _sums(gradients), strict=True):
                gradient[:] = total

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
        return self._update_on_kvstore and len(self._contexts()) > 1

    def _update(self, ignore_stale_grad: bool) -> None:
        updaters = self._need_updaters()
        together = self._updates_together()
        trained = [
            (index, parameter.list_data(), parameter)
            for index, parameter in enumerate(self._params)
            if parameter.grad_req != "null"
        ]
        keys = [[autograd.variable_key(weight) for weight in data] for _, data, _ in trained]
        if not ignore_stale_grad:  # before anything is updated
            for (_, data, parameter), row in zip(trained, keys, strict=True):
                self._check_fresh(parameter, data, row)
        for (index, data, parameter), row in zip(trained, keys, strict=True):
            if len(data) > len(updaters):
                raise ArrayValueError(
                    f"parameter {parameter.name} is on {len(data)} devices, the first one on "
                    f"{len(updaters)}"
                )
            gradients = parameter.list_grad()
            if together:
                gradients = _sums(gradients)
            for updater, weight, gradient, key in zip(updaters, data, gradients, row, strict=False):
                if together or key in fresh_variables:
                    updater(index, gradient, weight)
            if not together:  # as in MXNet, gradients stay fresh else
                fresh_variables.difference_update(row)

    @staticmethod
    def _check_fresh(parameter: Any, data: list[Any], keys: list[int]) -> None:
        """Raise if ``backward`` has not computed the gradient of a parameter on a device."""
        for weight, key in zip(data, keys, strict=True):
            if key not in fresh_variables:
                raise UserWarning(
                    f"[Trainer] the gradient of Parameter `{parameter.name}` on context "
                    f"{weight.context} has not been updated by backward since last `step`; if only "
                    "some parameters are meant to be used, call step with ignore_stale_grad=True, "
                    "which leaves the others as they are"
                )

    def _need_updaters(self) -> list[opt.Updater]:
        if not self._updaters:
            count = max(1, len(self._contexts()))
            self._updaters = [opt.get_updater(self._optimizer) for _ in range(count)]
        return self._updaters

    # --- files ---

    def save_states(self, fname: str) -> None:
        """Write the states of the optimizer to a file. Waits for their values."""
        with open(fname, "wb") as file:
            file.write(self._need_updaters()[0].get_states(dump_optimizer=True))

    def load_states(self, fname: str) -> None:
        """Read the states of the optimizer from a file."""
        with open(fname, "rb") as file:
            states = file.read()
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
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array.as_in_context(total.context)
    return [total.as_in_context(array.context) for array in arrays]

# SPDX-License-Identifier: Apache-2.0
"""``gluon.Trainer``: applies an optimizer to a set of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import optimizer as opt
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
        self._init_optimizer(optimizer, dict(optimizer_params or {}))
        self._scale = self._optimizer.rescale_grad
        self._updaters: list[opt.Updater] = []

    def _init_optimizer(self, optimizer: str | opt.Optimizer, arguments: dict[str, Any]) -> None:
        by_index: dict[Any, Any] = dict(enumerate(self._params))
        if isinstance(optimizer, opt.Optimizer):
            if arguments:
                raise ArrayValueError(
                    "optimizer_params must be None if optimizer is an instance of Optimizer "
                    "instead of str"
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
        """Queue one update of all parameters; gradients are divided by ``batch_size``."""
        self._optimizer.rescale_grad = self._scale / batch_size
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
            total = gradients[0]
            for gradient in gradients[1:]:
                total = total + gradient.as_in_context(total.context)
            for gradient in gradients:
                gradient[:] = total.as_in_context(gradient.context)

    def update(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """Queue the updates alone, after ``allreduce_grads``."""
        self._optimizer.rescale_grad = self._scale / batch_size
        self._update(ignore_stale_grad)

    def _update(self, ignore_stale_grad: bool) -> None:
        updaters = self._need_updaters()
        for index, parameter in enumerate(self._params):
            if parameter.grad_req == "null":
                continue
            data = parameter.list_data()
            if len(data) > len(updaters):
                raise ArrayValueError(
                    f"parameter {parameter.name} is on {len(data)} devices, the first one on "
                    f"{len(updaters)}"
                )
            gradients = parameter.list_grad()
            for updater, weight, gradient in zip(updaters, data, gradients, strict=False):
                updater(index, gradient, weight)

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

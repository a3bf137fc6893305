# SPDX-License-Identifier: Apache-2.0
"""``mx.executor_manager``: a symbol on several devices, as programs ran it before modules."""

from __future__ import annotations

import logging
from typing import Any

from ._package.namespace import tend
from .error import ArrayNotImplementedError, ArrayValueError
from .module.executor_group import split_batch
from .module.module import Module

__all__ = ["DataParallelExecutorManager"]


def _split_input_slice(batch_size: int, work_load_list: list[float]) -> list[slice]:
    """Return which part of a batch each device computes."""
    return split_batch(batch_size, work_load_list)


def _check_arguments(symbol: Any) -> None:
    """Raise if two arguments or states of a symbol have one name."""
    for kind, names in (
        ("argument", symbol.list_arguments()),
        ("auxiliary param", symbol.list_auxiliary_states()),
    ):
        for name in names:
            if names.count(name) > 1:
                raise ArrayValueError(
                    f'Find duplicated {kind} name "{name}", please make the weight name '
                    f"non-duplicated(using name arguments), {kind}s are {names}"
                )


class DataParallelExecutorManager:
    """Runs a symbol on several devices; each has a part of the batch.

    ``sym_gen`` makes symbols by the keys of buckets, which share parameters.
    """

    def __init__(
        self,
        symbol: Any,
        ctx: list[Any],
        train_data: Any,
        arg_names: list[str],
        param_names: list[str],
        aux_names: list[str],
        work_load_list: list[float] | None = None,
        logger: Any = None,
        sym_gen: Any = None,
    ) -> None:
        (logger or logging).info("Start training with %s", ctx)
        _check_arguments(symbol)
        self.symbol = symbol
        self.ctx = ctx
        self.arg_names = arg_names
        self.param_names = param_names
        self.aux_names = aux_names
        self.sym_gen = sym_gen
        self._work_load_list = work_load_list
        self._first = self._current = self._bound(symbol, train_data, None)
        self._buckets = {getattr(train_data, "default_bucket_key", None): self._first}

    def _bound(self, symbol: Any, data: Any, shared: Module | None) -> Module:
        names = [one[0] for one in data.provide_data]
        labels = [one[0] for one in data.provide_label]
        loads = self._work_load_list
        module = Module(symbol, names, labels, context=self.ctx, work_load_list=loads)
        module.bind(data.provide_data, data.provide_label, shared_module=shared)
        return module

    @property
    def slices(self) -> list[slice]:
        """Which part of a batch each device computes."""
        return list(self._first._exec_group.slices)

    @property
    def param_arrays(self) -> list[list[Any]]:
        """For each parameter a list with that of each device."""
        return self._first._exec_group.param_arrays

    @property
    def grad_arrays(self) -> list[list[Any]]:
        """For each parameter a list with its gradient on each device."""
        return self._first._exec_group.grad_arrays

    @property
    def aux_arrays(self) -> list[list[Any]]:
        """For each state a list with that of each device."""
        executors = self._first._exec_group.execs
        return [[one.aux_dict[name] for one in executors] for name in self.aux_names]

    def install_monitor(self, monitor: Any) -> None:
        """Let a monitor watch the executors."""
        if self.sym_gen is not None:
            raise ArrayNotImplementedError("Monitoring is not implemented for bucketing")
        for executor in self._first._exec_group.execs:
            monitor.install(executor)

    def set_params(self, arg_params: Any, aux_params: Any) -> None:
        """Copy parameters and states to all devices."""
        self._first.init_params(
            None, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=True
        )

    def copy_to(self, arg_params: Any, aux_params: Any) -> None:
        """Copy the means of all devices to the arrays in dictionaries."""
        for target, source in zip((arg_params, aux_params), self._first.get_params(), strict=True):
            for name, value in source.items():
                target[name][:] = value.astype(target[name].dtype)

    def load_data_batch(self, data_batch: Any) -> None:
        """Take a batch, which ``forward`` then computes."""
        self._batch = data_batch
        if self.sym_gen is None:
            return
        key = data_batch.bucket_key
        if key not in self._buckets:
            self._buckets[key] = self._bound(self.sym_gen(key), data_batch, self._first)
        self._current = self._buckets[key]

    def forward(self, is_train: bool = False) -> None:
        """Compute the outputs of the batch."""
        self._current.forward(self._batch, is_train=is_train)

    def backward(self) -> None:
        """Compute the gradients."""
        self._current.backward()

    def update_metric(self, metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Let a metric take the outputs into account."""
        self._current.update_metric(metric, labels, pre_sliced)


tend(__name__)

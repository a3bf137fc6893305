# SPDX-License-Identifier: Apache-2.0
"""What all modules have in common: training, scoring and predicting with an iterator of batches."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .. import metric
from .. import ndarray as nd
from .._core import Array
from ..error import ArgumentError, ArrayValueError
from ..initializer import Uniform
from ..io import DataBatch
from ..model import BatchEndParam, save_parameters

__all__ = ["BaseModule", "as_list", "need", "parameter_dictionaries"]

Params = Mapping[str, Any]
OptimizerParams = Mapping[str, Any] | Sequence[tuple[str, Any]]
DEFAULT_OPTIMIZER_PARAMS = (("learning_rate", 0.01),)


def as_list(value: Any) -> list[Any]:
    """Return a list of one, several or no things."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def need(condition: bool, what: str) -> None:
    """Raise unless something has been done before."""
    if not condition:
        raise ArgumentError(what)


def parameter_dictionaries(
    saved: Mapping[str, Any], name: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments and auxiliary states of a file of parameters."""
    parts: dict[str, dict[str, Any]] = {"arg": {}, "aux": {}}
    for key, array in saved.items():
        kind, _, rest = key.partition(":")
        if kind not in parts or not rest:
            raise ArrayValueError(f"Invalid param file {name}")
        parts[kind][rest] = array
    return parts["arg"], parts["aux"]


def _labels(batch: Any) -> Any:
    """Return the labels of a batch, or of each of a list of batches, one for each device."""
    return [one.label for one in batch] if isinstance(batch, list) else batch.label


class BaseModule:
    """The base class of modules.

    A module is bound to the shapes of its inputs, its parameters are initialised, then an optimizer
    is; then it can compute forward, backward and update. :meth:`fit` does all of it.
    """

    def __init__(self, logger: Any = logging) -> None:
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol: Any = None

    # --- training and predicting ---

    def forward_backward(self, data_batch: DataBatch) -> None:
        """Compute forward and backward."""
        self.forward(data_batch, is_train=True)
        self.backward()

    def score(
        self,
        eval_data: Any,
        eval_metric: Any,
        num_batch: int | None = None,
        batch_end_callback: Any = None,
        score_end_callback: Any = None,
        reset: bool = True,
        epoch: int = 0,
        sparse_row_id_fn: Any = None,
    ) -> list[tuple[str, float]]:
        """Return the names and values of a metric on batches."""
        self._need_parameters()
        if reset:
            eval_data.reset()
        eval_metric = metric.create(eval_metric)
        eval_metric.reset()
        count = 0
        for number, batch in enumerate(eval_data):
            if number == num_batch:
                break
            self.prepare(batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(batch, is_train=False)
            self._count(eval_metric, _labels(batch), isinstance(batch, list))
            for callback in as_list(batch_end_callback):
                callback(BatchEndParam(epoch, number, eval_metric, locals()))
            count += 1
        for callback in as_list(score_end_callback):
            callback(BatchEndParam(epoch, count, eval_metric, locals()))
        values: list[tuple[str, float]] = eval_metric.get_name_value()
        return values

    def iter_predict(
        self,
        eval_data: Any,
        num_batch: int | None = None,
        reset: bool = True,
        sparse_row_id_fn: Any = None,
    ) -> Iterator[tuple[list[Any], int, DataBatch]]:
        """Give outputs, number and batch for each batch, without examples that only fill it up."""
        self._need_parameters()
        if reset:
            eval_data.reset()
        for number, batch in enumerate(eval_data):
            if number == num_batch:
                break
            self.prepare(batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(batch, is_train=False)
            pad = getattr(batch, "pad", None) or 0
            yield [one[: one.shape[0] - pad] for one in self.get_outputs()], number, batch

    def predict(
        self,
        eval_data: Any,
        num_batch: int | None = None,
        merge_batches: bool = True,
        reset: bool = True,
        always_output_list: bool = False,
        sparse_row_id_fn: Any = None,
    ) -> Any:
        """Return the outputs for all batches, or for one array.

        They are joined into one array, or a list of one for each output; without ``merge_batches``
        a list for each batch.
        """
        self._need_parameters()
        if isinstance(eval_data, Array) or hasattr(eval_data, "__array__"):
            data = eval_data if isinstance(eval_data, Array) else nd.array(eval_data)
            self.forward(DataBatch([data]), is_train=False)
            return self.get_outputs()[0]
        if not hasattr(eval_data, "reset"):
            raise ArrayValueError("eval_data must be of type NDArray or DataIter")
        batches = [
            [output.copy() for output in outputs]
            for outputs, _, _ in self.iter_predict(eval_data, num_batch, reset, sparse_row_id_fn)
        ]
        if not batches or not merge_batches:
            return batches
        if any(len(outputs) != len(batches[0]) for outputs in batches):
            raise ArgumentError(
                "Cannot merge batches, as num of outputs is not the same in mini-batches. "
                "Maybe bucketing is used?"
            )
        merged = [nd.concat(*parts, dim=0) for parts in zip(*batches, strict=True)]
        return merged if always_output_list or len(merged) > 1 else merged[0]

    def fit(
        self,
        train_data: Any,
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Any = None,
        batch_end_callback: Any = None,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: OptimizerParams = DEFAULT_OPTIMIZER_PARAMS,
        eval_end_callback: Any = None,
        eval_batch_end_callback: Any = None,
        initializer: Any = Uniform(0.01),  # noqa: B008 - it has no state
        arg_params: Params | None = None,
        aux_params: Params | None = None,
        allow_missing: bool = False,
        force_rebind: bool = False,
        force_init: bool = False,
        begin_epoch: int = 0,
        num_epoch: int | None = None,
        validation_metric: Any = None,
        monitor: Any = None,
        sparse_row_id_fn: Any = None,
    ) -> None:
        """Train: bind, initialise, and go through the batches several times.

        Callbacks after a batch are given a ``BatchEndParam``; those after an epoch its number, the
        symbol, and both dictionaries of parameters. A callback may be a list of them.
        """
        if num_epoch is None:
            raise ArgumentError("please specify number of epochs")
        self.bind(
            train_data.provide_data,
            train_data.provide_label,
            for_training=True,
            force_rebind=force_rebind,
        )
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(initializer, arg_params, aux_params, allow_missing, force_init)
        self.init_optimizer(kvstore, optimizer, optimizer_params)
        eval_metric = metric.create(eval_metric)
        if validation_metric is None:
            validation_metric = eval_metric
        for epoch in range(begin_epoch, num_epoch):
            begin = time.perf_counter()
            eval_metric.reset()
            values = self._train_epoch(
                epoch, train_data, eval_metric, batch_end_callback, monitor, sparse_row_id_fn
            )
            for name, value in values:
                self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, value)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.perf_counter() - begin)
            arguments, states = self.get_params()
            self.set_params(arguments, states)
            for callback in as_list(epoch_end_callback):
                callback(epoch, self.symbol, arguments, states)
            if eval_data is not None:
                values = self.score(
                    eval_data,
                    validation_metric,
                    score_end_callback=eval_end_callback,
                    batch_end_callback=eval_batch_end_callback,
                    epoch=epoch,
                )
                for name, value in values:
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, value)
            train_data.reset()

    def _train_epoch(
        self,
        epoch: int,
        train_data: Any,
        eval_metric: Any,
        batch_end_callback: Any,
        monitor: Any,
        sparse_row_id_fn: Any,
    ) -> list[tuple[str, float]]:
        """Train with every batch; the metric of the epoch, whatever callbacks do with it then."""
        batches = iter(train_data)
        data_batch = next(batches, None)
        nbatch = 0
        values: list[tuple[str, float]] = []
        while data_batch is not None:
            if monitor is not None:
                monitor.tic()
            self.forward_backward(data_batch)
            self.update()
            labels = _labels(data_batch)  # before the iterator may use its memory again
            # The next batch is made while this one is computed: the metric waits for its values.
            following = next(batches, None)
            if following is not None:
                self.prepare(following, sparse_row_id_fn=sparse_row_id_fn)
            self._count(eval_metric, labels, isinstance(data_batch, list))
            if monitor is not None:
                monitor.toc_print()
            if following is None:
                values = eval_metric.get_global_name_value()
            for callback in as_list(batch_end_callback):
                callback(BatchEndParam(epoch, nbatch, eval_metric, locals()))
            data_batch = following
            nbatch += 1
        return values

    def _count(self, eval_metric: Any, labels: Any, is_sliced: bool) -> None:
        if is_sliced:
            self.update_metric(eval_metric, labels, pre_sliced=True)
        else:
            self.update_metric(eval_metric, labels)

    def _need_parameters(self) -> None:
        need(
            self.binded and self.params_initialized,
            "the module has no parameters yet; call bind() and init_params() first",
        )

    # --- inputs and outputs ---

    @property
    def symbol(self) -> Any:
        """The symbol, if there is one."""
        return self._symbol

    @property
    def data_names(self) -> list[str]:
        """The names of the inputs."""
        raise NotImplementedError

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        raise NotImplementedError

    @property
    def data_shapes(self) -> Any:
        """Names and shapes of the inputs."""
        raise NotImplementedError

    @property
    def label_shapes(self) -> Any:
        """Names and shapes of the labels."""
        raise NotImplementedError

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes of the outputs."""
        raise NotImplementedError

    # --- parameters ---

    def get_params(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the parameters and the auxiliary states by name."""
        raise NotImplementedError

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008 - it has no state
        arg_params: Params | None = None,
        aux_params: Params | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Set the parameters: from dictionaries, and by the initializer what they lack."""
        raise NotImplementedError

    def set_params(
        self,
        arg_params: Params | None,
        aux_params: Params | None,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Set the parameters from dictionaries."""
        self.init_params(None, arg_params, aux_params, allow_missing, force_init, allow_extra)

    def save_params(self, fname: str) -> None:
        """Write the parameters to a file."""
        save_parameters(fname, *self.get_params())

    def load_params(self, fname: str) -> None:
        """Read the parameters from a file."""
        self.set_params(*parameter_dictionaries(nd.load(fname), fname))

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the states: none, where there are no names of states."""
        self._need_parameters()
        return []

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Set the states; there are none to set."""
        self._need_parameters()
        need(not states and not value, "this module has no states")

    def install_monitor(self, mon: Any) -> None:
        """Let a monitor watch the module."""
        raise NotImplementedError

    # --- steps ---

    def prepare(
        self, data_batch: Any, sparse_row_id_fn: Callable[[Any], Any] | None = None
    ) -> None:
        """Get ready for a batch that comes next."""

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs."""
        raise NotImplementedError

    def backward(self, out_grads: Any = None) -> None:
        """Compute the gradients."""
        raise NotImplementedError

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the outputs of the last forward pass."""
        raise NotImplementedError

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """Return the gradients of the inputs."""
        raise NotImplementedError

    def update(self) -> None:
        """Change the parameters by their gradients."""
        raise NotImplementedError

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Let a metric take the last outputs into account."""
        raise NotImplementedError

    def bind(
        self,
        data_shapes: Any,
        label_shapes: Any = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Make room for inputs of certain shapes, parameters and gradients."""
        raise NotImplementedError

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: OptimizerParams = DEFAULT_OPTIMIZER_PARAMS,
        force_init: bool = False,
    ) -> None:
        """Choose how parameters are updated."""
        raise NotImplementedError

# SPDX-License-Identifier: Apache-2.0
"""``mx.model.FeedForward``: symbols that are trained like models of scikit-learn."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as onp

from .. import metric as metrics
from .._core import Array
from ..callback import LogValidationMetricsCallback
from ..context import cpu
from ..error import ArgumentError, ArrayTypeError, ArrayValueError
from ..initializer import Uniform
from ..io import DataBatch, DataIter, NDArrayIter
from ..model import BatchEndParam, load_checkpoint, save_checkpoint
from ..symbol import Symbol
from .base_module import as_list
from .bucketing_module import BucketingModule
from .module import Module

__all__ = ["FeedForward"]


class FeedForward:
    """A symbol with its parameters, its optimizer and the number of epochs to train it.

    ``symbol`` may be a function from keys of buckets to symbols. Keyword arguments that are not
    named go to the optimizer. :class:`~afterglow.module.Module` has taken its place.

    >>> import warnings
    >>> import numpy
    >>> from afterglow import model, sym
    >>> net = sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc")
    >>> with warnings.catch_warnings(action="ignore"):
    ...     classifier = model.FeedForward(sym.SoftmaxOutput(net, name="softmax"), num_epoch=2)
    >>> data = numpy.eye(2, dtype="float32")[numpy.arange(8) % 2]
    >>> classifier.fit(data, numpy.arange(8) % 2)
    >>> classifier.predict(data).shape
    (8, 2)
    """

    def __init__(
        self,
        symbol: Any,
        ctx: Any = None,
        num_epoch: int | None = None,
        epoch_size: int | None = None,
        optimizer: Any = "sgd",
        initializer: Any = Uniform(0.01),  # noqa: B008 - it has no state
        numpy_batch_size: int = 128,
        arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None,
        allow_extra_params: bool = False,
        begin_epoch: int = 0,
        **kwargs: Any,
    ) -> None:
        warnings.warn(
            "mxnet.model.FeedForward has been deprecated. Please use mxnet.mod.Module instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        if not isinstance(symbol, Symbol) and not callable(symbol):
            raise ArrayTypeError(f"symbol must be a Symbol or a function, but got {symbol!r}")
        self.symbol = symbol if isinstance(symbol, Symbol) else None
        self.sym_gen = None if isinstance(symbol, Symbol) else symbol
        self.ctx = as_list(cpu() if ctx is None else ctx)
        self.num_epoch = num_epoch
        self.epoch_size = epoch_size
        self.optimizer = optimizer
        self.initializer = initializer
        self.numpy_batch_size = numpy_batch_size
        self.arg_params = None if arg_params is None else dict(arg_params)
        self.aux_params = None if aux_params is None else dict(aux_params)
        self.allow_extra_params = allow_extra_params
        self.begin_epoch = begin_epoch
        self.kwargs = kwargs

    # --- data ---

    def _init_iter(self, data: Any, labels: Any, is_train: bool) -> Any:
        """Return an iterator over arrays; iterators are given back."""
        if not isinstance(data, (Array, onp.ndarray)):
            if not isinstance(data, DataIter):
                raise ArrayTypeError("X must be DataIter, NDArray or numpy.ndarray")
            return data
        if labels is None:
            if is_train:
                raise ArrayValueError("y must be specified when X is numpy.ndarray")
            labels = onp.zeros(data.shape[0], "float32")
        labels = labels.asnumpy() if isinstance(labels, Array) else onp.asarray(labels)
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels.flatten()
        if labels.ndim != 1:
            raise ArrayValueError("Label must be 1D or 2D (with 2nd dimension being 1)")
        if data.shape[0] != labels.shape[0]:
            raise ArrayValueError(
                f"The numbers of data points and labels not equal: {data.shape[0]} and "
                f"{labels.shape[0]}"
            )
        return NDArrayIter(
            data,
            labels,
            min(data.shape[0], self.numpy_batch_size),
            shuffle=is_train,
            last_batch_handle="roll_over" if is_train else "pad",
        )

    def _init_eval_iter(self, data: Any) -> Any:
        if isinstance(data, (tuple, list)) and len(data) == 2:
            rows, labels = (onp.asarray(one) if isinstance(one, list) else one for one in data)
            return self._init_iter(rows, labels, is_train=False)
        if data is not None and not isinstance(data, DataIter):
            raise ArrayTypeError("Eval data must be DataIter, or NDArray/numpy.ndarray/list pair")
        return data

    def _module(self, data: Any, **options: Any) -> Any:
        """Return a module for data of an iterator."""
        names = [one[0] for one in data.provide_data]
        labels = [one[0] for one in data.provide_label]
        options["context"] = self.ctx
        if self.sym_gen is None:
            known = set(self.symbol.list_arguments()) if self.symbol is not None else set()
            return Module(self.symbol, names, [one for one in labels if one in known], **options)
        make = self.sym_gen
        self.symbol = make(data.default_bucket_key)
        return BucketingModule(
            lambda key: (make(key), names, labels), data.default_bucket_key, **options
        )

    # --- training ---

    def fit(
        self,
        X: Any,  # noqa: N803 - the name is MXNet's
        y: Any = None,
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Any = None,
        batch_end_callback: Any = None,
        kvstore: Any = "local",
        logger: Any = None,
        work_load_list: Any = None,
        monitor: Any = None,
        eval_end_callback: Any = LogValidationMetricsCallback(),  # noqa: B008 - it has no state
        eval_batch_end_callback: Any = None,
    ) -> None:
        """Train with arrays, or with the batches of an iterator."""
        if self.num_epoch is None:
            raise ArgumentError("please specify number of epochs")
        data = self._init_iter(X, y, is_train=True)
        eval_data = self._init_eval_iter(eval_data)
        log = logging if logger is None else logger
        module = self._module(data, work_load_list=work_load_list, logger=log)
        module.bind(data.provide_data, data.provide_label)
        if monitor is not None:
            module.install_monitor(monitor)
        module.init_params(self.initializer, self.arg_params, self.aux_params, allow_missing=True)
        module.init_optimizer(
            kvstore, self.optimizer, self.kwargs if isinstance(self.optimizer, str) else ()
        )
        measured = metrics.create(eval_metric)
        log.info("Start training with %s", self.ctx)
        data.reset()
        for epoch in range(self.begin_epoch, self.num_epoch):
            begin = time.perf_counter()
            measured.reset()
            for number, batch in enumerate(self._batches(data, epoch, log), 1):
                self._step(module, batch, measured, monitor)
                for callback in as_list(batch_end_callback):
                    callback(BatchEndParam(epoch, number, measured, locals()))
            log.info("Epoch[%d] Time cost=%.3f", epoch, time.perf_counter() - begin)
            for callback in as_list(epoch_end_callback):
                callback(epoch, self.symbol, *module.get_params())
            if eval_data is not None:
                module.score(
                    eval_data,
                    measured,
                    score_end_callback=eval_end_callback,
                    batch_end_callback=eval_batch_end_callback,
                    epoch=epoch,
                )
                eval_data.reset()
        self.arg_params, self.aux_params = module.get_params()

    @staticmethod
    def _step(module: Any, batch: Any, measured: Any, monitor: Any) -> None:
        if monitor is not None:
            monitor.tic()
        module.forward_backward(batch)
        module.update()
        if monitor is not None:
            monitor.toc_print()
        module.update_metric(measured, batch.label)

    def _batches(self, data: Any, epoch: int, log: Any) -> Iterator[Any]:
        """Give those of an epoch: of all data, or ``epoch_size`` from where the last one ended."""
        left = self.epoch_size
        fruitless = 0  # ways through the data without a batch: the first ends where an epoch did
        while fruitless < 2:
            fruitless += 1
            for batch in data:
                fruitless = 0
                yield batch
                if left is not None:
                    left -= 1
                    if left == 0:
                        return
            log.info("Epoch[%d] Resetting Data Iterator", epoch)
            data.reset()
            if left is None:
                return

    def _predictor(self, data: Any) -> Any:
        """Return a module that computes outputs for data of an iterator.

        Labels play no part: an iterator without any provides some of another shape.
        """
        module = self._module(data)
        module.bind(data.provide_data, for_training=False)
        module.init_params(
            self.initializer,
            self.arg_params or {},
            self.aux_params or {},
            allow_extra=True,
        )
        return module

    def predict(
        self,
        X: Any,  # noqa: N803 - the name is MXNet's
        num_batch: int | None = None,
        return_data: bool = False,
        reset: bool = True,
    ) -> Any:
        """Return the outputs as NumPy arrays; with ``return_data`` also data and labels."""
        data = self._init_iter(X, None, is_train=False)
        if reset:
            data.reset()
        module = self._predictor(data)
        parts: list[list[Any]] = [[], [], []]
        for number, batch in enumerate(data):
            if number == num_batch:
                break
            module.forward(batch, is_train=False)
            kept = batch.data[0].shape[0] - (batch.pad or 0)
            for part, arrays in zip(
                parts, (module.get_outputs(), batch.data, batch.label or []), strict=True
            ):
                part.append([one[:kept].asnumpy() for one in arrays])
        joined = [[onp.concatenate(ones) for ones in zip(*part, strict=True)] for part in parts]
        results = [ones[0] if len(ones) == 1 else ones for ones in joined]
        return tuple(results) if return_data else results[0]

    def score(
        self,
        X: Any,  # noqa: N803 - the name is MXNet's
        eval_metric: Any = "acc",
        num_batch: int | None = None,
        batch_end_callback: Any = None,
        reset: bool = True,
    ) -> Any:
        """Return the value of a metric on the batches of an iterator."""
        data = self._init_eval_iter(X) if isinstance(X, (tuple, list)) else X
        data = self._init_iter(data, None, is_train=False)
        if reset:
            data.reset()
        module = self._predictor(data)
        measured = metrics.create(eval_metric)
        for number, batch in enumerate(data):
            if number == num_batch:
                break
            module.forward(batch, is_train=False)
            measured.update(*_without_padding(batch, module.get_outputs()))
            for callback in as_list(batch_end_callback):
                callback(BatchEndParam(0, number, measured, locals()))
        return measured.get()[1]

    # --- files ---

    def save(self, prefix: str, epoch: int | None = None, remove_amp_cast: bool = True) -> None:
        """Write the model as ``save_checkpoint`` does."""
        epoch = self.num_epoch if epoch is None else epoch
        assert epoch is not None, "epoch is needed: num_epoch was not given"
        save_checkpoint(
            prefix,
            epoch,
            self.symbol,
            self.arg_params or {},
            self.aux_params or {},
            remove_amp_cast,
        )

    @staticmethod
    def load(prefix: str, epoch: int, ctx: Any = None, **kwargs: Any) -> FeedForward:
        """Return a model from its files; training goes on after the epoch."""
        symbol, arguments, states = load_checkpoint(prefix, epoch)
        return FeedForward(
            symbol,
            ctx=ctx,
            arg_params=arguments,
            aux_params=states,
            begin_epoch=epoch,
            **kwargs,
        )

    @staticmethod
    def create(
        symbol: Any,
        X: Any,  # noqa: N803 - the name is MXNet's
        y: Any = None,
        ctx: Any = None,
        num_epoch: int | None = None,
        epoch_size: int | None = None,
        optimizer: Any = "sgd",
        initializer: Any = Uniform(0.01),  # noqa: B008 - it has no state
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Any = None,
        batch_end_callback: Any = None,
        kvstore: Any = "local",
        logger: Any = None,
        work_load_list: Any = None,
        eval_end_callback: Any = LogValidationMetricsCallback(),  # noqa: B008 - it has no state
        eval_batch_end_callback: Any = None,
        **kwargs: Any,
    ) -> FeedForward:
        """Return a model that has been trained."""
        made = FeedForward(
            symbol,
            ctx=ctx,
            num_epoch=num_epoch,
            epoch_size=epoch_size,
            optimizer=optimizer,
            initializer=initializer,
            **kwargs,
        )
        made.fit(
            X,
            y,
            eval_data=eval_data,
            eval_metric=eval_metric,
            epoch_end_callback=epoch_end_callback,
            batch_end_callback=batch_end_callback,
            kvstore=kvstore,
            logger=logger,
            work_load_list=work_load_list,
            eval_end_callback=eval_end_callback,
            eval_batch_end_callback=eval_batch_end_callback,
        )
        return made


def _without_padding(batch: DataBatch, outputs: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return labels and outputs without what only fills the batch up."""
    kept = batch.data[0].shape[0] - (batch.pad or 0)
    return [one[:kept] for one in batch.label or []], [one[:kept] for one in outputs]

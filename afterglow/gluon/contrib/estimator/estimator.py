# SPDX-License-Identifier: Apache-2.0
"""A net, its loss, metrics and trainer, and the loop that trains it."""

from __future__ import annotations

import copy
import logging
import sys
import warnings
from typing import Any

from ....context import Context, cpu
from ....error import ArrayValueError
from ....metric import EvalMetric
from ....metric import Loss as LossMetric
from ...data import DataLoader
from ...loss import Loss
from ...trainer import Trainer
from .batch_processor import BatchProcessor
from .event_handler import (
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    StoppingHandler,
    ValidationHandler,
)
from .events import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    EventHandler,
    TrainBegin,
    TrainEnd,
    checked_handlers,
)
from .utils import check_known, checked_metrics, suggested_metric

__all__ = ["Estimator"]


class Estimator:
    """Trains a net with :meth:`fit` and measures it with :meth:`evaluate`.

    Without ``train_metrics`` the loss is measured, and with softmax cross entropy the accuracy;
    without ``val_metrics`` the same for validation. ``val_net`` and ``val_loss`` are what is used
    there, unless they are the same. ``logger`` writes to standard output.
    """

    def __init__(
        self,
        net: Any,
        loss: Loss,
        train_metrics: Any = None,
        val_metrics: Any = None,
        initializer: Any = None,
        trainer: Trainer | None = None,
        context: Any = None,
        val_net: Any = None,
        val_loss: Loss | None = None,
        batch_processor: Any = None,
    ) -> None:
        self.net = net
        self.loss = _checked_loss(loss)
        self.val_net = net if val_net is None else val_net
        self.val_loss = self.loss if val_loss is None else _checked_loss(val_loss)
        self._train_metrics = self._named_for_training(checked_metrics(train_metrics))
        self._val_metrics = self._named_for_validation(checked_metrics(val_metrics))
        self.logger = logging.Logger(name="Estimator", level=logging.INFO)
        self.logger.addHandler(logging.StreamHandler(sys.stdout))
        self.context = _checked_context(context)
        self._initialize(initializer)
        self.trainer = self._checked_trainer(trainer)
        self.batch_processor = _checked_processor(batch_processor)
        self.max_epoch: int | None = None
        self.max_batch: int | None = None
        self.batch_axis = 0

    # --- what it is made of ---

    @property
    def train_metrics(self) -> list[EvalMetric]:
        """What is measured in training; handlers that show or watch metrics take these."""
        return self._train_metrics

    @property
    def val_metrics(self) -> list[EvalMetric]:
        """What is measured in validation."""
        return self._val_metrics

    def _named_for_training(self, metrics: list[EvalMetric]) -> list[EvalMetric]:
        if not metrics:
            own = suggested_metric(self.loss)
            name = str(self.loss.name).rstrip("1234567890")
            metrics = [*([own] if own else []), LossMetric(name)]
        for metric in metrics:
            metric.name = f"training {metric.name}"
        return metrics

    def _named_for_validation(self, metrics: list[EvalMetric]) -> list[EvalMetric]:
        for metric in metrics:
            metric.name = f"validation {metric.name}"
        if metrics:
            return metrics
        metrics = [copy.deepcopy(metric) for metric in self._train_metrics]
        for metric in metrics:
            metric.name = str(metric.name).replace("training", "validation")
        return metrics

    def _initialize(self, initializer: Any) -> None:
        if not self._is_initialized():
            arguments = {"init": initializer} if initializer else {}
            self.net.initialize(ctx=self.context, **arguments)
        elif initializer:
            warnings.warn(
                "Network already fully initialized, skipping initialization. You don't need to "
                "pass initializer if you already initialized your net. You can use "
                "net.initialize(init=your_initializer, force_reinit=True) to force re-initialize.",
                stacklevel=3,
            )

    def _is_initialized(self) -> bool:
        try:
            for parameter in self.net.collect_params().values():
                parameter.list_ctx()
        except RuntimeError:
            return False
        return True

    def _checked_trainer(self, trainer: Any) -> Trainer:
        if not trainer:
            warnings.warn(
                "No trainer specified, default SGD optimizer with learning rate 0.001 is used.",
                stacklevel=3,
            )
            return Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.001})
        if not isinstance(trainer, Trainer):
            raise ArrayValueError(
                f"Trainer must be a Gluon Trainer instance, refer to gluon.Trainer:{trainer}"
            )
        return trainer

    # --- what it does ---

    def evaluate(
        self, val_data: DataLoader, batch_axis: int = 0, event_handlers: Any = None
    ) -> None:
        """Measure the net by ``val_metrics`` on all batches of a loader."""
        _check_loader(val_data)
        for metric in self.val_metrics:
            metric.reset()
        handlers = self._prepare_default_validation_handlers(event_handlers)
        _, epoch_begin, batch_begin, batch_end, epoch_end, _ = self._categorize_handlers(handlers)
        for handler in epoch_begin:
            handler.epoch_begin(self)
        for batch in val_data:
            for handler in batch_begin:
                handler.batch_begin(self, batch=batch)
            _, label, pred, loss = self.batch_processor.evaluate_batch(self, batch, batch_axis)
            for handler in batch_end:
                handler.batch_end(self, batch=batch, pred=pred, label=label, loss=loss)
        for handler in epoch_end:
            handler.epoch_end(self)

    def fit(
        self,
        train_data: DataLoader,
        val_data: DataLoader | None = None,
        epochs: int | None = None,
        event_handlers: Any = None,
        batches: int | None = None,
        batch_axis: int = 0,
    ) -> None:
        """Train for a number of epochs, or of batches, or until a handler says stop.

        Handlers for stopping, updates, metrics, validation and logging are added where none of
        their kind is given.
        """
        _check_loader(train_data)
        if bool(epochs) == bool(batches):
            raise ArrayValueError(
                "Fit only support exactly one type of iteration, train by number of epochs or "
                "number of batches. Please specify one and only one of: epochs or batches."
            )
        self.max_epoch, self.max_batch, self.batch_axis = epochs, batches, batch_axis
        handlers = self._prepare_default_handlers(val_data, event_handlers)
        train_begin, epoch_begin, batch_begin, batch_end, epoch_end, train_end = (
            self._categorize_handlers(handlers)
        )
        for handler in train_begin:
            handler.train_begin(self)
        is_over = False
        while not is_over:
            for handler in epoch_begin:
                handler.epoch_begin(self)
            for batch in train_data:
                for handler in batch_begin:
                    handler.batch_begin(self, batch=batch)
                _, label, pred, loss = self.batch_processor.fit_batch(self, batch, batch_axis)
                told = [
                    handler.batch_end(self, batch=batch, pred=pred, label=label, loss=loss)
                    for handler in batch_end
                ]
                if any(told):
                    is_over = True
                    break
            for handler in epoch_end:
                is_over |= bool(handler.epoch_end(self))
        for handler in train_end:
            handler.train_end(self)

    # --- handlers ---

    def _prepare_default_handlers(self, val_data: Any, event_handlers: Any) -> list[Any]:
        usual: list[EventHandler] = [
            StoppingHandler(self.max_epoch, self.max_batch),
            GradientUpdateHandler(),
            MetricHandler(metrics=self.train_metrics),
            LoggingHandler(metrics=self.train_metrics),
        ]
        if val_data:
            usual.insert(3, ValidationHandler(val_data=val_data, eval_fn=self.evaluate))
        return _with_usual(event_handlers, usual, [*self.train_metrics, *self.val_metrics])

    def _prepare_default_validation_handlers(self, event_handlers: Any) -> list[Any]:
        usual: list[EventHandler] = [
            MetricHandler(metrics=self.val_metrics),
            LoggingHandler(metrics=self.val_metrics),
        ]
        return _with_usual(event_handlers, usual, self.val_metrics)

    @staticmethod
    def _categorize_handlers(event_handlers: list[Any]) -> list[list[Any]]:
        """Return the handlers of each event, in the order in which events come."""
        events = (TrainBegin, EpochBegin, BatchBegin, BatchEnd, EpochEnd, TrainEnd)
        return [[one for one in event_handlers if isinstance(one, event)] for event in events]


def _with_usual(given: Any, usual: list[EventHandler], known: list[EvalMetric]) -> list[Any]:
    """Return handlers with those that are always there, but for kinds that were given."""
    own = checked_handlers(given)
    added = [
        one
        for one in usual
        if isinstance(one, StoppingHandler)
        or not any(isinstance(other, type(one)) for other in own)
    ]
    if own and added:
        for handler in own:
            check_known(handler, known)
    return sorted([*own, *added], key=lambda handler: getattr(handler, "priority", 0))


def _checked_loss(loss: Any) -> Loss:
    if not isinstance(loss, Loss):
        raise ArrayValueError(f"loss must be a Loss, refer to gluon.loss.Loss:{loss}")
    return loss


def _checked_context(context: Any) -> list[Context]:
    if not context:
        return [cpu()]
    contexts = [context] if isinstance(context, Context) else context
    if not isinstance(contexts, list) or not all(isinstance(one, Context) for one in contexts):
        raise ArrayValueError(
            "context must be a Context or a list of Context, for example mx.cpu() or "
            f"[mx.cpu(0), mx.cpu(1)], refer to mxnet.Context:{context}"
        )
    for one in contexts:
        assert one.device_type.startswith("cpu"), (
            f"{one} is not available, please make sure your context is mx.cpu()"
        )
    return contexts


def _checked_processor(processor: Any) -> Any:
    if processor is None:
        return BatchProcessor()
    for name in ("fit_batch", "evaluate_batch"):
        if not callable(getattr(processor, name, None)):
            raise ArrayValueError(
                "Customized Batch Processor must contain fit_batch() and evaluate_batch() methods"
            )
    return processor


def _check_loader(data: Any) -> None:
    if not isinstance(data, DataLoader):
        raise ArrayValueError(
            "Estimator only support input as Gluon DataLoader. Alternatively, you can transform "
            "your DataIter or any NDArray into Gluon DataLoader. Refer to gluon.data.DataLoader"
        )

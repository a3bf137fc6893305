# SPDX-License-Identifier: Apache-2.0
"""Metrics of an estimator and its handlers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from math import inf, isnan
from typing import Any

from ....error import ArrayValueError
from ....metric import Accuracy, CompositeEvalMetric, EvalMetric
from ...loss import Loss, SoftmaxCrossEntropyLoss


def checked_metrics(metrics: Any) -> list[EvalMetric]:
    """Return metrics as a list; those of a composite one by one."""
    if isinstance(metrics, CompositeEvalMetric):
        return [one for metric in metrics.metrics for one in checked_metrics(metric)]
    if isinstance(metrics, EvalMetric):
        return [metrics]
    given = metrics or []
    if not all(isinstance(metric, EvalMetric) for metric in given):
        raise ArrayValueError(
            "metrics must be a Metric or a list of Metric, refer to mxnet.metric.EvalMetric: "
            f"{metrics}"
        )
    return list(given)


def check_known(handler: Any, known: Iterable[EvalMetric]) -> None:
    """Raise if a handler shows or watches metrics that nobody updates."""
    known = list(known)
    wanted = [*checked_metrics(getattr(handler, "metrics", None))]
    monitor = getattr(handler, "monitor", None)
    if monitor is not None:
        wanted += checked_metrics(monitor)
    for metric in wanted:
        if not any(metric is one for one in known):
            raise ArrayValueError(
                f"Event handler {type(handler).__name__} refers to a metric instance {metric} "
                "outside of the known training and validation metrics. Please use the metrics from "
                "estimator.train_metrics and estimator.val_metrics instead."
            )


def suggested_metric(loss: Loss) -> EvalMetric | None:
    """Return what is measured beside a loss where nobody said so."""
    return Accuracy() if isinstance(loss, SoftmaxCrossEntropyLoss) else None


class Best:
    """The best value of a metric so far: the greatest or the least, by ``mode``."""

    def __init__(self, who: str, monitor: EvalMetric, mode: str) -> None:
        if not isinstance(monitor, EvalMetric) or isinstance(monitor, CompositeEvalMetric):
            raise ArrayValueError(
                f"[{who}] monitor must be one simple metric, from estimator.train_metrics or "
                f"estimator.val_metrics, but got {monitor!r}"
            )
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"{who} mode {mode} is unknown, fallback to auto mode.", stacklevel=3)
            mode = "auto"
        name = str(monitor.get()[0]).lower()
        if mode == "auto":
            mode = "max" if "acc" in name or "f1" in name else "min"
            warnings.warn(
                f"`{'greater' if mode == 'max' else 'less'}` operator will be used to determine if "
                f"{name} has improved. Please specify `mode='max'` or `mode='min'` to disable this "
                "warning.",
                stacklevel=3,
            )
        self._who = who
        self._monitor = monitor
        self._sign = 1 if mode == "max" else -1
        self.value = -inf * self._sign

    def reset(self, value: float | None) -> None:
        """Begin with a value, or with the worst."""
        self.value = -inf * self._sign if value is None else value

    def look(self, min_delta: float = 0) -> tuple[str, float, bool] | None:
        """Return name, value and whether it is better by more than that; None without a value."""
        name, value = self._monitor.get()
        if isnan(value):
            warnings.warn(
                f"[{self._who}] {name} is not updated, make sure you pass one of the metrics "
                "estimator.train_metrics and estimator.val_metrics as monitor",
                RuntimeWarning,
                stacklevel=3,
            )
            return None
        is_better = (value - self.value) * self._sign > min_delta
        if is_better:
            self.value = value
        return name, value, is_better

# SPDX-License-Identifier: Apache-2.0
"""Programs whose log lines and printed lines are compared with MXNet's."""

from __future__ import annotations

import contextlib
import io
import logging
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as onp


def _graph(mx: Any) -> Any:
    hidden = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc1")
    hidden = mx.sym.Activation(hidden, act_type="relu", name="relu1")
    return mx.sym.SoftmaxOutput(
        mx.sym.FullyConnected(hidden, num_hidden=2, name="fc2"), name="softmax"
    )


def _batches(mx: Any) -> Any:
    data = onp.random.RandomState(0).randn(40, 5).astype("float32")
    classes = (data[:, 0] > 0).astype("float32")
    return mx.io.NDArrayIter(data, classes, 10, label_name="softmax_label")


def _fit(mx: Any, rate: Any = None, **given: Any) -> Any:
    parameters = {"learning_rate": 0.1} if rate is None else rate
    module = mx.mod.Module(_graph(mx))
    module.fit(
        _batches(mx),
        **{"num_epoch": 2, "optimizer": "sgd", **given},
        optimizer_params=parameters,
        initializer=mx.init.Constant(0.1),
    )
    return module


def _schedule(mx: Any, scheduler: Any) -> None:
    _fit(mx, {"learning_rate": 0.1, "lr_scheduler": scheduler})


def _speedometer(mx: Any, **given: Any) -> None:
    _fit(mx, batch_end_callback=mx.callback.Speedometer(10, 2, **given))


def _metric_that_begins_again(mx: Any) -> None:
    """After the last batch, a metric that has no sums of its epoch begins again."""

    class Share(mx.metric.EvalMetric):  # type: ignore[misc, name-defined]
        def update(self, labels: Any, preds: Any) -> None:
            right = preds[0].asnumpy().argmax(1) == labels[0].asnumpy()
            self.sum_metric += right.sum()
            self.num_inst += right.size

    _fit(mx, eval_metric=Share("share"), batch_end_callback=mx.callback.Speedometer(10, 3))


def _names(mx: Any) -> None:
    graph = _graph(mx)
    parts = mx.sym.split(mx.sym.var("x"), num_outputs=2, name="parts")
    for symbol in (graph, mx.sym.var("x"), graph.get_internals()["fc1_output"], parts, parts[1]):
        print(symbol.attr("name"), symbol.attr("nothing"))
    print(mx.sym.Group([graph, parts]).attr("name"), mx.sym.var("x", lr_mult=2).attr("lr_mult"))


def _feed_forward(mx: Any, **given: Any) -> None:
    given.update(num_epoch=2, initializer=mx.init.Constant(0.1), learning_rate=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        model = mx.model.FeedForward(_graph(mx), **given)
    model.fit(
        _batches(mx),
        eval_data=_batches(mx),
        batch_end_callback=mx.callback.Speedometer(10, 2),
        epoch_end_callback=lambda epoch, symbol, arguments, states: print(epoch, len(arguments)),
    )


def _monitor(mx: Any) -> None:
    monitor = mx.mon.Monitor(2, lambda x: mx.nd.array([0.1]), pattern=".*weight", sort=True)
    _fit(mx, num_epoch=1, monitor=monitor)


CASES: dict[str, Callable[[Any], Any]] = {
    "fit": _fit,
    "fit with validation": lambda mx: _fit(mx, eval_data=_batches(mx)),
    "speedometer": _speedometer,
    "speedometer that goes on": lambda mx: _speedometer(mx, auto_reset=False),
    "speedometer at the last batch": _metric_that_begins_again,
    "feed forward": _feed_forward,
    "feed forward with epochs of three batches": lambda mx: _feed_forward(mx, epoch_size=3),
    "metric of batches": lambda mx: _fit(mx, batch_end_callback=mx.callback.log_train_metric(2)),
    "progress": lambda mx: _fit(mx, batch_end_callback=mx.callback.ProgressBar(4)),
    "score": lambda mx: print(_fit(mx, num_epoch=1).score(_batches(mx), "acc")),
    "monitor": _monitor,
    "factor": lambda mx: _schedule(
        mx, mx.lr_scheduler.FactorScheduler(2, 0.5, stop_factor_lr=0.02)
    ),
    "several factors": lambda mx: _schedule(mx, mx.lr_scheduler.MultiFactorScheduler([2, 5], 0.5)),
    "polynomial": lambda mx: _schedule(mx, mx.lr_scheduler.PolyScheduler(4)),
    "equal rates": lambda mx: _schedule(mx, mx.lr_scheduler.CosineScheduler(6, base_lr=0.1)),
    "large batches": lambda mx: mx.optimizer.create("lbsgd", warmup_strategy="sqrt"),
    "names of symbols": _names,
}


def lines_of(mx: Any, name: str) -> list[str]:
    """Return what a program logs and prints; what was measured is left out."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with contextlib.redirect_stdout(text):
            CASES[name](mx)
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    return re.sub(r"(Speed: |cost=)[0-9.]+", r"\1...", text.getvalue()).splitlines()

# SPDX-License-Identifier: Apache-2.0
"""``mx.callback``: what can be called after batches and epochs of training.

Callbacks after a batch are given an object with ``epoch``, ``nbatch``, ``eval_metric`` and
``locals``; callbacks after an epoch the number of the epoch, the symbol and both dictionaries of
parameters.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from ._package.namespace import tend

__all__ = [
    "LogValidationMetricsCallback",
    "ProgressBar",
    "Speedometer",
    "do_checkpoint",
    "log_train_metric",
    "module_checkpoint",
]


def module_checkpoint(
    mod: Any, prefix: str, period: int = 1, save_optimizer_states: bool = False
) -> Callable[..., None]:
    """Return a callback that saves a module after every so many epochs.

    The file of the parameters is called ``prefix-0001.params`` after the first epoch.

    >>> from afterglow import callback, mod, sym
    >>> module = mod.Module(sym.var("data"), label_names=[])
    >>> save = callback.module_checkpoint(module, "net", period=2)
    >>> save(0)  # not yet
    """
    period = max(1, int(period))

    def callback(epoch: int, symbol: Any = None, arg: Any = None, aux: Any = None) -> None:
        if (epoch + 1) % period == 0:
            mod.save_checkpoint(prefix, epoch + 1, save_optimizer_states)

    return callback


def do_checkpoint(prefix: str, period: int = 1) -> Callable[..., None]:
    """Return a callback that saves symbol and parameters after every so many epochs.

    >>> from afterglow import callback
    >>> save = callback.do_checkpoint("net", period=2)
    >>> save(0, None, {}, {})  # not yet
    """
    period = max(1, int(period))

    def callback(epoch: int, symbol: Any, arg: Any, aux: Any) -> None:
        from .model import save_checkpoint

        if (epoch + 1) % period == 0:
            save_checkpoint(prefix, epoch + 1, symbol, arg, aux)

    return callback


def log_train_metric(period: int, auto_reset: bool = False) -> Callable[[Any], None]:
    """Return a callback that logs the metric after every so many batches.

    >>> from afterglow import callback, model
    >>> log = callback.log_train_metric(10)
    >>> log(model.BatchEndParam(epoch=0, nbatch=3, eval_metric=None, locals=None))
    """

    def callback(param: Any) -> None:
        if param.nbatch % period or param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, value)
        if auto_reset:
            param.eval_metric.reset_local()

    return callback


class Speedometer:
    """Logs, after every ``frequent`` batches, how fast they were, and the metric.

    With ``auto_reset`` the metric then begins again, so that a line tells of its batches only.

    >>> from afterglow import callback, model
    >>> tell = callback.Speedometer(batch_size=32, frequent=10)
    >>> tell(model.BatchEndParam(epoch=0, nbatch=0, eval_metric=None, locals=None))
    """

    def __init__(self, batch_size: int, frequent: int = 50, auto_reset: bool = True) -> None:
        self.batch_size = batch_size
        self.frequent = frequent
        self.auto_reset = auto_reset
        self.last_count = 0
        self._since: float | None = None

    def __call__(self, param: Any) -> None:
        """Take notice of a batch."""
        count = param.nbatch
        if self.last_count > count:
            self._since = None  # another epoch has begun
        self.last_count = count
        if self._since is None:
            self._since = time.perf_counter()
        elif count % self.frequent == 0:
            self._log(param, time.perf_counter() - self._since)
            self._since = time.perf_counter()

    def _log(self, param: Any, seconds: float) -> None:
        count = param.nbatch
        speed = self.frequent * self.batch_size / seconds if seconds else float("inf")
        if param.eval_metric is None:
            logging.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", param.epoch, count, speed)
            return
        values = param.eval_metric.get_name_value()
        begin = 0
        if self.auto_reset:
            param.eval_metric.reset_local()
            begin = count - self.frequent
        logging.info(
            "Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec" + "\t%s=%f" * len(values),
            param.epoch,
            begin,
            count,
            speed,
            *(part for pair in values for part in pair),
        )


class ProgressBar:
    """Logs a bar that grows with the batches of an epoch.

    >>> from afterglow import callback, model
    >>> bar = callback.ProgressBar(total=10, length=20)
    >>> bar(model.BatchEndParam(epoch=0, nbatch=3, eval_metric=None, locals=None))
    """

    def __init__(self, total: int, length: int = 80) -> None:
        self.total = total
        self.bar_len = length

    def __call__(self, param: Any) -> None:
        """Draw the bar for a batch."""
        share = param.nbatch / self.total
        filled = round(self.bar_len * share)
        bar = "=" * filled + "-" * (self.bar_len - filled)
        logging.info("[%s] %d%%\r", bar, -(-100 * param.nbatch // self.total))


class LogValidationMetricsCallback:
    """Logs the metric of the validation data."""

    def __call__(self, param: Any) -> None:
        """Log the metric after an evaluation."""
        if not param.eval_metric:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)


tend(__name__)

# SPDX-License-Identifier: Apache-2.0
"""Descent with batches that are made larger than memory by adding up gradients."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from .base import Index, Rates, function, register, sqrt
from .sgd import SGD

__all__ = ["LBSGD"]

_norm = function("norm2")
_clip = function("clip")

#: By strategy: how far the rate has come after a share of the warm-up.
_WARMUP = {
    "linear": lambda share: share,
    "power2": lambda share: share * share,
    "sqrt": lambda share: share**0.5,
}


@register
class LBSGD(SGD):
    """Updates with the mean of ``batch_scale`` gradients, at a rate that grows in a warm-up.

    The rate grows by ``warmup_strategy`` ("linear", "power2" or "sqrt") to ``batch_scale`` times
    itself, or follows the norms of weight and gradient ("lars").

    >>> from afterglow import nd, optimizer
    >>> updater = optimizer.get_updater(optimizer.LBSGD(learning_rate=1, batch_scale=2))
    >>> weight = nd.array([1])
    >>> updater(0, nd.array([0.2]), weight)
    >>> updater(0, nd.array([0.4]), weight)
    >>> round(float(weight), 3)
    0.696
    """

    copy_comes_last: ClassVar[bool] = False

    def __init__(
        self,
        momentum: float = 0.0,
        multi_precision: bool = False,
        warmup_strategy: str = "linear",
        warmup_epochs: int = 5,
        batch_scale: int = 1,
        updates_per_epoch: int = 32,
        begin_epoch: int = 0,
        num_epochs: int = 60,
        **kwargs: Any,
    ) -> None:
        super().__init__(momentum=momentum, multi_precision=multi_precision, **kwargs)
        logging.info("Running Large-Batch SGD Algorithm")
        logging.info(
            "(Batch_scale=%f, warmup_epochs=%d, warmup_strategy=%s, updates_per_epoch=%d)",
            batch_scale,
            warmup_epochs,
            warmup_strategy,
            updates_per_epoch,
        )
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs
        self.cumgrads: dict[Index, dict[str, Any]] = {}  #: the sum of gradients, and how many
        self.aggregate_num = 0

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Add up the gradient, and queue an update when there are enough of them."""
        if isinstance(index, (tuple, list)):
            for one in zip(index, weight, grad, state, strict=True):
                self.update(*one)
            return
        lr, wd = self._get_lr(index), self._get_wd(index)
        self._update_count(index)
        before = self.cumgrads.get(index, {"cum_grad": 0, "num_cums": self.init_updates})
        number, total = before["num_cums"] + 1, before["cum_grad"] + grad
        is_complete = number % self.batch_scale == 0
        self.cumgrads[index] = {"cum_grad": 0 if is_complete else total, "num_cums": number}
        if not is_complete:
            return
        mean = total / self.batch_scale
        rate = lr * self._factor(number, weight, mean, wd)
        self.step(weight, mean, state, Rates(rate, wd, number))

    def _factor(self, number: int, weight: Any, grad: Any, wd: float) -> Any:
        if self.warmup_strategy == "lars":
            size, slope = _norm(weight), _norm(grad)
            square = size * size
            return _clip(sqrt(square / (slope * slope + wd * square + 1e-18)), 0.01, 100.0)
        duration = self.warmup_epochs * self.updates_per_epoch
        if number >= duration:
            return float(self.batch_scale)
        if duration <= 1 or self.warmup_strategy not in _WARMUP:
            return 1.0
        return 1 + (self.batch_scale - 1) * _WARMUP[self.warmup_strategy](number / duration)

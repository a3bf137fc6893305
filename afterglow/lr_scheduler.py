# SPDX-License-Identifier: Apache-2.0
"""``mx.lr_scheduler``: the learning rate as a function of the number of updates."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import pairwise
from math import cos, pi

from ._package.keywords import NamedKeywords
from .error import ArrayValueError, as_ours

__all__ = [
    "CosineScheduler",
    "FactorScheduler",
    "LRScheduler",
    "MultiFactorScheduler",
    "PolyScheduler",
]


class LRScheduler(NamedKeywords):
    """The base class, with a warm-up of the first updates."""

    def __init__(
        self,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        if not isinstance(warmup_steps, int) or warmup_steps < 0:
            raise ArrayValueError("Warmup steps has to be positive or 0")
        if warmup_begin_lr > base_lr:
            raise ArrayValueError("Base lr has to be higher than warmup_begin_lr")
        if warmup_mode not in ("linear", "constant"):
            raise ArrayValueError("Supports only linear and constant modes of warmup")
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_final_lr = base_lr
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update: int) -> float:
        """Return the rate of one of the first updates."""
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        fraction = num_update / self.warmup_steps
        return self.warmup_begin_lr + (self.warmup_final_lr - self.warmup_begin_lr) * fraction

    def __call__(self, num_update: int) -> float:
        """Return the rate after so many updates."""
        raise NotImplementedError("a scheduler must define __call__(num_update)")


#: Steps of one call that are taken and logged one by one; only numbers from outside lead to more.
_MOST_STEPS = 1000


def _log_change(num_update: int, rate: float) -> None:
    logging.info("Update[%d]: Change learning rate to %0.5e", num_update, rate)


class FactorScheduler(LRScheduler):
    """The rate is multiplied by a factor every few updates, down to a least one."""

    def __init__(
        self,
        step: int,
        factor: float = 1,
        stop_factor_lr: float = 1e-8,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ArrayValueError("Schedule step must be greater or equal than 1 round")
        if factor > 1.0:
            raise ArrayValueError("Factor must be no more than 1 to make lr reduce")
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def __call__(self, num_update: int) -> float:
        """Return the rate after so many updates."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        steps = 0
        while num_update > self.count + self.step:
            if steps == _MOST_STEPS:
                self._take_steps_until(num_update)
                break
            steps += 1
            self.count += self.step
            self.base_lr *= self.factor
            if self.base_lr >= self.stop_factor_lr:
                _log_change(num_update, self.base_lr)
                continue
            self.base_lr = self.stop_factor_lr
            logging.info(
                "Update[%d]: now learning rate arrived at %0.5e, will not change in the future",
                num_update,
                self.base_lr,
            )
        return self.base_lr

    def _take_steps_until(self, num_update: int) -> None:
        with as_ours("FactorScheduler"):
            steps = int((num_update - 1 - self.count) // self.step)
            self.count += steps * self.step
            self.base_lr = max(self.base_lr * float(self.factor) ** steps, self.stop_factor_lr)


class MultiFactorScheduler(LRScheduler):
    """The rate is multiplied by a factor at given numbers of updates."""

    def __init__(
        self,
        step: Sequence[int],
        factor: float = 1,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(step, list) or not step:
            raise ArrayValueError("Schedule step must be a list of update numbers")
        if step[0] < 1 or any(later <= one for one, later in pairwise(step)):
            raise ArrayValueError("Schedule step must be an increasing integer list")
        if factor > 1.0:
            raise ArrayValueError("Factor must be no more than 1 to make lr reduce")
        self.step = step
        self.factor = factor
        self.cur_step_ind = 0
        self.count = 0

    def __call__(self, num_update: int) -> float:
        """Return the rate after so many updates."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            self.base_lr *= self.factor
            _log_change(num_update, self.base_lr)
        return self.base_lr


class _Decay(LRScheduler):
    """From the first rate to the final one, over a number of updates after the warm-up."""

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(max_update, int) or max_update < 1:
            raise ArrayValueError("maximum number of updates must be strictly positive")
        self.base_lr_orig = base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps = max_update - warmup_steps

    def remaining(self, fraction: float) -> float:
        """Return what is left of the way down after a fraction of the time."""
        raise NotImplementedError

    def __call__(self, num_update: int) -> float:
        """Return the rate after so many updates."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update <= self.max_update:
            left = self.remaining((num_update - self.warmup_steps) / self.max_steps)
            self.base_lr = self.final_lr + (self.base_lr_orig - self.final_lr) * left
        return self.base_lr


class PolyScheduler(_Decay):
    """The rate falls by a power of the remaining time."""

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        pwr: int = 2,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def remaining(self, fraction: float) -> float:
        """Return the power of the remaining time."""
        return float((1 - fraction) ** self.power)


class CosineScheduler(_Decay):
    """The rate falls along half a wave."""

    def remaining(self, fraction: float) -> float:
        """Return the height of the wave."""
        return (1 + cos(pi * fraction)) / 2

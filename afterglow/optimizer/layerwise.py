# SPDX-License-Identifier: Apache-2.0
"""Optimizers whose rate depends on the norms of a whole weight and of its gradient.

The norms stay arrays of one element: nothing waits for them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from .._arrays.worlds import where
from .base import (
    Index,
    MomentumOptimizer,
    Optimizer,
    Rates,
    follow,
    function,
    maximum,
    register,
    share_reached,
    sqrt,
    square,
    zeros_like,
)

__all__ = ["LAMB", "LARS"]

_norm = function("norm2")
_minimum = function("minimum")


def _unless_zero(first: Any, second: Any, value: Any) -> Any:
    """Return the value, or 1 where one of the two norms is zero."""
    return where((first > 0) * (second > 0), value, 1.0)


@register
class LAMB(Optimizer):
    """Adam, scaled so that a weight moves in proportion to its own norm."""

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        bias_correction: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction
        self.aggregate_num = 45

    def create_state(self, index: Index, weight: Any) -> Any:
        """Return mean and mean square."""
        return zeros_like(weight), zeros_like(weight)

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Move by the rate times the norm of the weight."""
        lr, wd, count = rates
        mean, variance = state
        follow(mean, self.beta1, grad)
        follow(variance, self.beta2, square(grad))
        if self.bias_correction:
            unbiased = mean / share_reached(self.beta1, count)
            spread = sqrt(variance / share_reached(self.beta2, count)) + self.epsilon
        else:
            unbiased, spread = mean, sqrt(variance) + self.epsilon
        move = unbiased / spread + wd * weight
        size = _norm(weight)
        if self.lower_bound:
            size = maximum(size, self.lower_bound)
        if self.upper_bound:
            size = _minimum(size, self.upper_bound)
        length = _norm(move)
        weight[:] = weight - lr * _unless_zero(size, length, size / length) * move


@register
class LARS(MomentumOptimizer):
    """Descent with a rate for each layer, from the norms of weight and gradient."""

    copy_comes_last: ClassVar[bool] = True

    def __init__(
        self,
        momentum: float = 0.0,
        lazy_update: bool = True,
        eta: float = 0.001,
        eps: float = 0,
        momentum_correction: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.momentum_correction = momentum_correction
        self.lazy_update = lazy_update
        self.eta = eta
        self.eps = eps
        self.last_lr: float | None = None
        self.cur_lr: float | None = None
        self.aggregate_num = 4

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Queue one update of a weight, or of each of several given as lists."""
        if isinstance(index, (tuple, list)):
            for one in zip(index, weight, grad, state, strict=True):
                self.update(*one)
            return
        # As in MXNet the names that a trainer knows do not count, so biases adapt there too.
        name = self.idx2name.get(index, str(index))
        self._adapts = not name.endswith(("gamma", "beta", "bias"))
        self._scaled = grad * self.rescale_grad
        super().update(index, weight, grad, state)
        del self._adapts, self._scaled

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Go down the slope at the layer's own rate."""
        lr, wd, _ = rates
        self.last_lr, self.cur_lr = self.cur_lr, lr
        rate: Any = lr
        if self._adapts:
            size, slope = _norm(weight), _norm(self._scaled)
            fraction = self.eta * size / (slope + wd * size + self.eps)
            rate = lr * _unless_zero(size, slope, fraction)
        if state is None:
            weight[:] = weight - rate * (grad + wd * weight)
            return
        momentum = self.momentum
        if self.momentum_correction and self.last_lr:
            momentum *= self.cur_lr / self.last_lr
        state[:] = momentum * state - rate * (grad + wd * weight)
        weight += state

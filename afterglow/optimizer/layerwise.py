# SPDX-License-Identifier: Apache-2.0
"""Optimizers whose rate depends on the norms of a whole weight and of its gradient.

The norms stay arrays of one element: nothing waits for them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from .._core import operation
from .base import Index, MomentumOptimizer, Optimizer, Rates, register, zeros_like
from .sgd import descend, in_array

__all__ = ["LAMB", "LARS"]


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
        operation("_multi_lamb_update", weight._legacy)(
            [weight, grad, *state],
            out=weight,
            learning_rates=(lr,),
            wds=(wd,),
            step_count=(count,),
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            bias_correction=self.bias_correction,
            lower_bound=self.lower_bound or -1.0,
            upper_bound=self.upper_bound or -1.0,
            **self._scaling,
        )


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
        super().update(index, weight, grad, state)
        del self._adapts

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Go down the slope at the layer's own rate."""
        lr, wd, _ = rates
        self.last_lr, self.cur_lr = self.cur_lr, lr
        momentum = self.momentum
        if self.momentum_correction and self.last_lr:
            momentum *= self.cur_lr / self.last_lr
        rate = self._rate(weight, grad, lr, wd) if self._adapts else lr
        descend(self, weight, grad, state, rate, wd, momentum)

    def _rate(self, weight: Any, grad: Any, lr: float, wd: float) -> Any:
        """Return the rate of a layer, an array."""
        squares = operation("multi_sum_sq", weight._legacy)
        return operation("multi_lars", weight._legacy)(
            in_array(lr, weight),
            squares([weight], num_arrays=1),
            squares([grad], num_arrays=1),
            in_array(wd, weight),
            eta=self.eta,
            eps=self.eps,
            rescale_grad=self.rescale_grad,
        )

# SPDX-License-Identifier: Apache-2.0
"""Gradient descent and its close relatives."""

from __future__ import annotations

from math import sqrt as scalar_sqrt
from typing import Any, ClassVar

from ..context import context_of
from ..error import ArrayValueError
from .base import Index, MomentumOptimizer, Optimizer, Rates, register, sign, zeros_like

__all__ = ["DCASGD", "NAG", "SGD", "SGLD", "Signum", "Test", "ccSGD"]


def _decayed(weight: Any, decay: float) -> Any:
    """Return what is left of a weight."""
    return (1 - decay) * weight if decay else weight


@register
class SGD(MomentumOptimizer):
    """Stochastic gradient descent, with momentum if asked for."""

    elementwise: ClassVar[bool] = True
    rowwise: ClassVar[bool] = True
    copy_comes_last: ClassVar[bool] = True

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lazy_update = lazy_update
        self.aggregate_num = 4

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Go down the slope."""
        lr, wd, _ = rates
        if state is None:
            weight[:] = _decayed(weight, lr * wd) - lr * grad
            return
        state[:] = self.momentum * state - lr * (grad + wd * weight)
        weight += state


@register
class ccSGD(SGD):  # noqa: N801 - the name is MXNet's
    """Another name of ``SGD``, for old programs."""


@register
class NAG(MomentumOptimizer):
    """Nesterov's accelerated gradient: the momentum is looked ahead."""

    elementwise: ClassVar[bool] = True
    copy_comes_last: ClassVar[bool] = True

    def __init__(self, momentum: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Go where the momentum will lead."""
        lr, wd, _ = rates
        if state is None:
            weight[:] = _decayed(weight, lr * wd) - lr * grad
            return
        slope = grad + wd * weight
        momentum = self.momentum * state
        weight[:] = weight + self.momentum * (momentum - lr * slope) - lr * slope
        # The weight decay that stays in the momentum is that of the new weight, as in MXNet.
        state[:] = momentum - lr * (grad + wd * weight)


@register
class SGLD(Optimizer):
    """Stochastic gradient Langevin dynamics: descent with noise of the size of the rate."""

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Go half a step down and a random step aside."""
        from .. import ndarray, numpy

        lr, wd, _ = rates
        if lr < 0:
            raise ArrayValueError(f"[SGLD] the learning rate is {lr}; it must not be negative")
        scale, shape = scalar_sqrt(lr), weight.shape
        place = context_of(weight._context_numbers)
        if weight._legacy:
            noise = ndarray.random.normal(0, scale, shape, weight.dtype, place)
        else:
            noise = numpy.random.normal(0, scale, shape, weight.dtype, place)
        weight[:] = weight - lr / 2 * (grad + wd * weight) + noise


@register
class Signum(MomentumOptimizer):
    """Steps of equal size in the direction of the sign of the momentum."""

    elementwise: ClassVar[bool] = True

    def __init__(
        self,
        learning_rate: float = 0.01,
        momentum: float = 0.9,
        wd_lh: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Follow signs only."""
        lr, wd, _ = rates
        if state is None:
            weight[:] = _decayed(weight, lr * wd) - lr * sign(grad)
            return
        state[:] = self.momentum * state - (1 - self.momentum) * (grad + wd * weight)
        weight[:] = _decayed(weight, lr * self.wd_lh) + lr * sign(state)


@register
class DCASGD(Optimizer):
    """Descent that makes up for gradients of an older weight."""

    elementwise: ClassVar[bool] = True

    def __init__(self, momentum: float = 0.0, lamda: float = 0.04, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lamda = lamda

    def create_state(self, index: Index, weight: Any) -> Any:
        """Return the momentum and the weight before the last update."""
        return (zeros_like(weight) if self.momentum else None, weight.copy())

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Correct the gradient for how far the weight has moved."""
        lr, wd, _ = rates
        momentum, previous = state
        move = -lr * (grad + wd * weight + self.lamda * grad * grad * (weight - previous))
        if momentum is not None:
            momentum[:] = self.momentum * momentum + move
            move = momentum
        previous[:] = weight
        weight += move


@register
class Test(Optimizer):
    """Adds the scaled gradient to the weight; for tests of what is around it."""

    elementwise: ClassVar[bool] = True

    def create_state(self, index: Index, weight: Any) -> Any:
        """Return zeros."""
        return zeros_like(weight)

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Add."""
        weight += grad
        state[:] = weight

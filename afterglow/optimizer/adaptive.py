# SPDX-License-Identifier: Apache-2.0
"""Optimizers with a rate of its own for every element."""

from __future__ import annotations

from math import sqrt as scalar_sqrt
from typing import Any, ClassVar

from .base import (
    Index,
    Optimizer,
    Rates,
    both,
    follow,
    function,
    register,
    share_reached,
    sqrt,
    square,
    zeros_like,
)

__all__ = ["FTML", "AdaDelta", "AdaGrad", "Adam", "AdamW", "Adamax", "Ftrl", "Nadam", "RMSProp"]

_maximum = function("maximum")
_absolute = function("abs")
_adam = both("adam_update")
_adamw = function("adamw_update")
_adagrad = function("adagrad_update")
_rmsprop = function("rmsprop_update")
_centred_rmsprop = function("rmspropalex_update")
_ftrl = function("ftrl_update")
_ftml = function("ftml_update")


def _pair(weight: Any) -> tuple[Any, Any]:
    return zeros_like(weight), zeros_like(weight)


@register
class Adam(Optimizer):
    """Mean and mean square of the gradients, both corrected for their start at zero."""

    elementwise: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        lazy_update: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def create_state(self, index: Index, weight: Any) -> Any:
        """Return mean and mean square."""
        return _pair(weight)

    def corrected(self, rates: Rates) -> float:
        """Return the rate, corrected for the start at zero."""
        first, second = (share_reached(beta, rates.number) for beta in (self.beta1, self.beta2))
        return rates.lr * scalar_sqrt(second) / first

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Follow the mean, slower where gradients are large."""
        _adam[weight._legacy](
            weight,
            grad,
            *state,
            lr=self.corrected(rates),
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            wd=rates.wd,
            rescale_grad=self.rescale_grad,
            clip_gradient=self._bound,
            lazy_update=self.lazy_update,
            out=weight,
        )


@register
class AdamW(Adam):
    """Adam with a weight decay of its own, beside the gradient."""

    elementwise: ClassVar[bool] = True

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Follow the mean, and shrink the weight."""
        _adamw(
            weight,
            grad,
            *state,
            self.rescale_grad,
            lr=self.corrected(rates),
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            wd=rates.lr * rates.wd,
            eta=1.0,
            clip_gradient=self._bound,
            out=weight,
        )


@register
class Adamax(Adam):
    """Adam with the largest gradient instead of the mean square."""

    elementwise: ClassVar[bool] = True

    def __init__(
        self, learning_rate: float = 0.002, beta1: float = 0.9, beta2: float = 0.999, **kwargs: Any
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, **kwargs)

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Follow the mean, slower where gradients were large."""
        mean, largest = state
        grad = self._scaled(grad, rates.wd, weight)
        follow(mean, self.beta1, grad)
        largest[:] = _maximum(self.beta2 * largest, _absolute(grad))
        weight[:] = weight - rates.lr / share_reached(self.beta1, rates.number) * mean / largest


@register
class Nadam(Adam):
    """Adam that looks ahead like Nesterov."""

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        schedule_decay: float = 0.004,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, **kwargs)
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.0

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Follow a mean that already counts the next step."""
        count = rates.number
        now, then = (
            self.beta1 * (1 - 0.5 * 0.96 ** (moment * self.schedule_decay))
            for moment in (count, count + 1)
        )
        self.m_schedule *= now
        mean, variance = state
        grad = self._scaled(grad, rates.wd, weight)
        follow(mean, self.beta1, grad)
        follow(variance, self.beta2, square(grad))
        ahead = (1 - now) / (1 - self.m_schedule) * grad + then / (
            1 - self.m_schedule * then
        ) * mean
        spread = sqrt(variance / share_reached(self.beta2, count)) + self.epsilon
        weight[:] = weight - rates.lr * ahead / spread


@register
class AdaGrad(Optimizer):
    """Slower where the sum of squared gradients is large."""

    elementwise: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    def __init__(self, eps: float = 1e-7, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Index, weight: Any) -> Any:
        """Return the sum of squares."""
        return zeros_like(weight)

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Follow the gradient over the root of the sum."""
        given = {"lr": rates.lr, "wd": rates.wd, "epsilon": self.float_stable_eps, **self._scaling}
        _adagrad(weight, grad, state, out=weight, **given)


@register
class RMSProp(Optimizer):
    """Slower where recent gradients are large; centred: where they vary."""

    elementwise: ClassVar[bool] = True

    def __init__(
        self,
        learning_rate: float = 0.001,
        gamma1: float = 0.9,
        gamma2: float = 0.9,
        epsilon: float = 1e-8,
        centered: bool = False,
        clip_weights: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.epsilon = epsilon
        self.centered = centered
        self.clip_weights = clip_weights

    def create_state(self, index: Index, weight: Any) -> Any:
        """Return the mean square; if centred also the mean and the last move."""
        return tuple(zeros_like(weight) for _ in range(3 if self.centered else 1))

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Follow the gradient over its recent size."""
        given = {"lr": rates.lr, "wd": rates.wd, "gamma1": self.gamma1, **self._scaling}
        given |= {"epsilon": self.epsilon, "clip_weights": self.clip_weights or -1.0}
        if self.centered:
            _centred_rmsprop(weight, grad, *state, out=weight, gamma2=self.gamma2, **given)
        else:
            _rmsprop(weight, grad, *state, out=weight, **given)


@register
class AdaDelta(Optimizer):
    """A rate that follows from the sizes of earlier moves and gradients alone."""

    elementwise: ClassVar[bool] = True

    def __init__(self, rho: float = 0.90, epsilon: float = 1e-5, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def create_state(self, index: Index, weight: Any) -> Any:
        """Return the mean squares of gradients and of moves."""
        return _pair(weight)

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Move as far as moves used to be for such gradients."""
        gradients, moves = state
        grad = self._scaled(grad)
        follow(gradients, self.rho, square(grad))
        move = sqrt(moves + self.epsilon) / sqrt(gradients + self.epsilon) * grad
        follow(moves, self.rho, square(move))
        weight[:] = weight - (move + rates.wd * weight)


@register
class Ftrl(Optimizer):
    """Follow the regularised leader: weights that matter little become exactly zero."""

    elementwise: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    def __init__(
        self, lamda1: float = 0.01, learning_rate: float = 0.1, beta: float = 1, **kwargs: Any
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.lamda1 = lamda1
        self.beta = beta

    def create_state(self, index: Index, weight: Any) -> Any:
        """Return the shifted sum of gradients and the sum of their squares."""
        return _pair(weight)

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Solve for the weight that all gradients so far ask for."""
        given = {"lr": rates.lr, "wd": rates.wd, **self._scaling}
        given |= {"lamda1": self.lamda1, "beta": self.beta}
        _ftrl(weight, grad, *state, out=weight, **given)


@register
class FTML(Optimizer):
    """Follow the moving leader."""

    elementwise: ClassVar[bool] = True

    def __init__(
        self, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-8, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index: Index, weight: Any) -> Any:
        """Return the last denominator, the mean square and the shifted mean."""
        return tuple(zeros_like(weight) for _ in range(3))

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Solve for the weight that recent gradients ask for."""
        lr, wd, count = rates
        _ftml(
            weight,
            grad,
            *state,
            lr=lr,
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            t=count,
            wd=wd,
            rescale_grad=self.rescale_grad,
            clip_grad=self._bound,
            out=weight,
        )

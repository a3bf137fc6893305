# SPDX-License-Identifier: Apache-2.0
"""Gradient descent and its close relatives."""

from __future__ import annotations

from math import sqrt as scalar_sqrt
from typing import Any, ClassVar

from .._arrays.dtypes import FLOAT32
from .._core import Array
from ..context import context_of
from ..error import ArrayValueError
from .base import (
    Index,
    MomentumOptimizer,
    Optimizer,
    Rates,
    both,
    function,
    register,
    zeros_like,
)

__all__ = ["DCASGD", "NAG", "SGD", "SGLD", "Signum", "Test", "ccSGD"]


_descend = both("sgd_update")
_descend_with_momentum = both("sgd_mom_update")
_descend_at = both("preloaded_multi_sgd_update")
_descend_with_momentum_at = both("preloaded_multi_sgd_mom_update")
_look_ahead = function("nag_mom_update")
_follow_signs = function("signsgd_update")
_follow_signs_of_momentum = function("signum_update")


def in_array(number: float, weight: Any) -> Any:
    """Return an array of one number, where a weight is."""
    return weight._copy(number, shape=(1,), dtype=FLOAT32, ctx=weight._context_numbers)


def descend(
    optimizer: Optimizer,
    weight: Any,
    grad: Any,
    state: Any,
    lr: Any,
    wd: float,
    momentum: float,
    lazy_update: bool = True,
) -> None:
    """Go down the slope; a momentum is the state. The rate may be an array of one number."""
    if isinstance(lr, Array):
        rates, given = [lr, in_array(wd, weight)], optimizer._scaling
        if state is None:
            _descend_at[weight._legacy]([weight, grad, *rates], out=weight, **given)
        else:
            arrays = [weight, grad, state, *rates]
            _descend_with_momentum_at[weight._legacy](
                arrays, out=weight, momentum=momentum, **given
            )
    elif state is None:
        _descend[weight._legacy](
            weight,
            grad,
            lr=lr,
            wd=wd,
            rescale_grad=optimizer.rescale_grad,
            clip_gradient=optimizer._bound,
            lazy_update=lazy_update,
            out=weight,
        )
    else:
        _descend_with_momentum[weight._legacy](
            weight,
            grad,
            state,
            lr=lr,
            momentum=momentum,
            wd=wd,
            rescale_grad=optimizer.rescale_grad,
            clip_gradient=optimizer._bound,
            lazy_update=lazy_update,
            out=weight,
        )


@register
class SGD(MomentumOptimizer):
    """Stochastic gradient descent, with momentum if asked for."""

    elementwise: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True
    copy_comes_last: ClassVar[bool] = True

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lazy_update = lazy_update
        self.aggregate_num = 4

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Go down the slope."""
        lr, wd, _ = rates
        descend(self, weight, grad, state, lr, wd, self.momentum, self.lazy_update)


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
            descend(self, weight, grad, None, lr, wd, 0.0)
        else:
            given = {"lr": lr, "wd": wd, "momentum": self.momentum, **self._scaling}
            _look_ahead(weight, grad, state, out=weight, **given)


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
        weight[:] = weight - lr / 2 * (self._scaled(grad) + wd * weight) + noise


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
        given = {"lr": rates.lr, "wd": rates.wd, **self._scaling}
        if state is None:
            _follow_signs(weight, grad, out=weight, **given)
        else:
            given |= {"momentum": self.momentum, "wd_lh": self.wd_lh}
            _follow_signs_of_momentum(weight, grad, state, out=weight, **given)


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
        grad = self._scaled(grad)
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
        weight += self._scaled(grad)
        state[:] = weight

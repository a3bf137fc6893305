# SPDX-License-Identifier: Apache-2.0
"""``mx.optimizer.contrib``: optimizers that MXNet keeps beside the others."""

from __future__ import annotations

from typing import Any, ClassVar

from ..error import ArrayValueError
from .base import Index, Optimizer, Rates, function, register

__all__ = ["GroupAdaGrad"]

_update = function("group_adagrad_update")


@register
class GroupAdaGrad(Optimizer):
    """AdaGrad with one rate for every row of a matrix, as those of embeddings are."""

    takes_sparse: ClassVar[bool] = True

    def __init__(self, eps: float = 1e-5, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Index, weight: Any) -> Any:
        """Return the sum of mean squares of each row."""
        if weight.ndim != 2:
            raise ArrayValueError(
                f"[GroupAdaGrad] weights must be matrices, but the shape of one is {weight.shape}"
            )
        kind, place = weight._dtype_number, weight._context_numbers
        return weight._copy(0, shape=(weight.shape[0], 1), dtype=kind, ctx=place)

    def step(self, weight: Any, grad: Any, state: Any, rates: Rates) -> None:
        """Follow the gradient over the root of the sum of its row."""
        if rates.wd:
            raise ArrayValueError(
                f"[GroupAdaGrad] there is no weight decay, but wd is {rates.wd}; set it to 0"
            )
        given = {"lr": rates.lr, "epsilon": self.float_stable_eps, **self._scaling}
        _update(weight, grad, state, out=weight, **given)

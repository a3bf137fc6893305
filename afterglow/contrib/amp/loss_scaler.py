# SPDX-License-Identifier: Apache-2.0
"""By how much a loss is multiplied, so that small gradients do not vanish in float16."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from math import isnan
from typing import TYPE_CHECKING, Any

from ... import autograd
from ...context import cpu

if TYPE_CHECKING:
    from ...kvstore.dist import DistStore

__all__ = ["LossScaler"]


class LossScaler:
    """A factor that halves when gradients overflow, and doubles after many steps without.

    >>> from afterglow.contrib.amp.loss_scaler import LossScaler
    >>> LossScaler().loss_scale
    65536.0
    """

    def __init__(self) -> None:
        self._loss_scale = 2.0**16
        self._next_loss_scale = self._loss_scale
        self._max_loss_scale = 2.0**24
        self._scale_seq_len = 2000
        self._unskipped = 0

    @property
    def loss_scale(self) -> float:
        """The factor of this step."""
        return self._loss_scale

    def has_overflow(self, params: Iterable[Any], processes: DistStore | None = None) -> bool:
        """Tell whether gradients of parameters are infinite or nan; waits for them.

        The factor changes by the answer, from the next step on. Several processes ask each other:
        all of them update, or none.
        """
        total: Any = 0.0
        with autograd.pause():
            for parameter in params:
                if parameter.grad_req != "null":
                    for gradient in parameter.list_grad():
                        # Zero where all elements are finite, and nan otherwise.
                        total = total + (gradient * 0).sum().astype("float32").as_in_context(cpu())
        overflows = isnan(float(total))
        if processes is not None:
            overflows = b"yes" in processes.exchange("overflow", b"yes" if overflows else b"no")
        return self._note(overflows)

    def _note(self, has_overflow: bool) -> bool:
        self._loss_scale = self._next_loss_scale
        if has_overflow:
            self._next_loss_scale = self._loss_scale / 2.0
            self._unskipped = 0
            logging.info("AMP: decreasing loss scale to %f", self._next_loss_scale)
        else:
            self._unskipped += 1
        if self._unskipped == self._scale_seq_len:
            self._unskipped = 0
            self._next_loss_scale = min(self._max_loss_scale, self._loss_scale * 2.0)
            logging.info("AMP: increasing loss scale to %f", self._next_loss_scale)
        return has_overflow

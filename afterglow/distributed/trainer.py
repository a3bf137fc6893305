# SPDX-License-Identifier: Apache-2.0
"""``DistributedTrainer``: a trainer whose gradients are means over all ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..gluon import Trainer
from .group import size

__all__ = ["DistributedTrainer"]


class DistributedTrainer(Trainer):
    """A :class:`~afterglow.gluon.Trainer` that takes the mean of the gradients of all ranks.

    The first step gives all ranks the parameters of rank 0.
    """

    def __init__(
        self, params: Any, optimizer: Any, optimizer_params: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(
            params, optimizer, optimizer_params, kvstore="horovod", update_on_kvstore=False
        )
        self._scale /= size()

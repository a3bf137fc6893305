# SPDX-License-Identifier: Apache-2.0
"""What an estimator does with one batch."""

from __future__ import annotations

from typing import Any

from .... import autograd
from ...utils import split_and_load

__all__ = ["BatchProcessor"]

#: Data, labels, predictions and losses, each a list with one array per device.
Results = tuple[list[Any], list[Any], list[Any], list[Any]]


class BatchProcessor:
    """Splits batches over the devices, predicts, and computes losses and gradients.

    A subclass may do otherwise; an estimator takes any object with both methods.
    """

    def _get_data_and_label(
        self, batch: Any, ctx: Any, batch_axis: int = 0
    ) -> tuple[list[Any], list[Any]]:
        data, label = batch[0], batch[1]
        return (
            split_and_load(data, ctx_list=ctx, batch_axis=batch_axis),
            split_and_load(label, ctx_list=ctx, batch_axis=batch_axis),
        )

    def evaluate_batch(self, estimator: Any, val_batch: Any, batch_axis: int = 0) -> Results:
        """Return data, labels, predictions and losses of a batch for validation."""
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        predictions = [estimator.val_net(one) for one in data]
        losses = [
            estimator.val_loss(prediction, one)
            for prediction, one in zip(predictions, label, strict=True)
        ]
        return data, label, predictions, losses

    def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> Results:
        """Return the same of a batch for training, and compute the gradients."""
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with autograd.record():
            predictions = [estimator.net(one) for one in data]
            losses = [
                estimator.loss(prediction, one)
                for prediction, one in zip(predictions, label, strict=True)
            ]
        autograd.backward(losses)
        return data, label, predictions, losses

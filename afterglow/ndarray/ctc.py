# SPDX-License-Identifier: Apache-2.0
"""Connectionist temporal classification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._arrays.worlds import LEGACY
from .._mathematics.ctc import ctc_loss as _ctc_loss
from ..error import ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = ["CTCLoss", "ctc_loss"]


def ctc_loss(
    data: NDArray,
    label: NDArray,
    data_lengths: NDArray | None = None,
    label_lengths: NDArray | None = None,
    use_data_lengths: bool = False,
    use_label_lengths: bool = False,
    blank_label: str = "first",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return how unlikely each label sequence is, wherever its items fall (a number per sample).

    ``data`` of shape (time, batch, alphabet) is what a softmax is taken of; ``label`` has the shape
    (batch, items). The blank is the "first" letter of the alphabet or the "last" one. Without
    lengths of their own labels end at the first 0, or -1 if the blank is the last. A label that is
    too long for its data has the loss 0.

    >>> from afterglow import nd
    >>> nd.ctc_loss(nd.zeros((2, 1, 3)), nd.array([[1, 0]])).asnumpy()
    array([1.0986123], dtype=float32)
    """
    if blank_label not in ("first", "last"):
        raise ArrayValueError(f"[CTCLoss] blank_label is {blank_label!r}; known are first and last")
    result: NDArray = _ctc_loss(
        need(data),
        need(label, "label"),
        need(data_lengths, "data_lengths") if use_data_lengths else None,
        need(label_lengths, "label_lengths") if use_label_lengths else None,
        blank_label,
    )
    return result if out is None else LEGACY.copy(result, out=out)


CTCLoss = ctc_loss

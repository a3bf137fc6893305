# SPDX-License-Identifier: Apache-2.0
"""Softmax and the other functions of neural networks that work along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import operation
from .._ctc import ctc_loss as _ctc_loss
from .._dtype import optional_number
from .._shapes import as_float
from ..error import ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "CTCLoss",
    "L2Normalization",
    "SequenceLast",
    "SequenceMask",
    "SequenceReverse",
    "SoftmaxActivation",
    "ctc_loss",
    "log_softmax",
    "softmax",
    "softmax_cross_entropy",
    "softmin",
]

_softmax = operation("softmax", legacy=True)
_log_softmax = operation("log_softmax", legacy=True)
_softmin = operation("softmin", legacy=True)
_softmax_activation = operation("SoftmaxActivation", legacy=True)
_softmax_cross_entropy = operation("softmax_cross_entropy", legacy=True)
_sequence_mask = operation("SequenceMask", legacy=True)
_sequence_last = operation("SequenceLast", legacy=True)
_sequence_reverse = operation("SequenceReverse", legacy=True)
_l2_normalization = operation("L2Normalization", legacy=True)
_copy = operation("copy", legacy=True)


def softmax(
    data: NDArray,
    length: NDArray | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Any = None,
    use_length: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return e to the power of the elements, divided by the sum of these along an axis.

    The elements are divided by ``temperature`` first. With ``use_length`` only as many along the
    axis count as ``length`` says, and the others become 0.

    >>> from afterglow import nd
    >>> nd.softmax(nd.array([[1, 1], [0, 200]])).asnumpy()
    array([[0.5, 0.5],
           [0. , 1. ]], dtype=float32)
    """
    if length is not None:
        need(length, "length")
    result: NDArray = _softmax(
        need(data), length, axis, temperature, optional_number(dtype), use_length, out=out
    )
    return result


def log_softmax(
    data: NDArray,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Any = None,
    use_length: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the logarithm of the softmax along an axis.

    >>> from afterglow import nd
    >>> nd.log_softmax(nd.array([0, 1000])).asnumpy()
    array([-1000.,     0.], dtype=float32)
    """
    result: NDArray = _log_softmax(
        need(data), axis, temperature, optional_number(dtype), use_length, out=out
    )
    return result


def softmin(
    data: NDArray,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Any = None,
    use_length: bool = False,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the softmax of the negative elements.

    >>> from afterglow import nd
    >>> nd.softmin(nd.array([0, 200])).asnumpy()
    array([1., 0.], dtype=float32)
    """
    result: NDArray = _softmin(
        need(data), axis, temperature, optional_number(dtype), use_length, out=out
    )
    return result


def SoftmaxActivation(  # noqa: N802
    data: NDArray, mode: str = "instance", out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the softmax along the last axis, or along axis 1 with mode "channel".

    >>> from afterglow import nd
    >>> nd.SoftmaxActivation(nd.zeros((1, 2))).asnumpy()
    array([[0.5, 0.5]], dtype=float32)
    """
    result: NDArray = _softmax_activation(need(data), mode, out=out)
    return result


def softmax_cross_entropy(
    data: NDArray, label: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the sum over all rows of minus the logarithm of the softmax at the label.

    >>> from afterglow import nd
    >>> nd.softmax_cross_entropy(nd.array([[1, 2, 3], [11, 7, 5]]), nd.array([2, 0])).asnumpy()
    array([0.4281872], dtype=float32)
    """
    result: NDArray = _softmax_cross_entropy(need(data), need(label, "label"), out=out)
    return result


# --- sequences ---


def _lengths(sequence_length: NDArray | None) -> NDArray | None:
    return None if sequence_length is None else need(sequence_length, "sequence_length")


def SequenceMask(  # noqa: N802
    data: NDArray,
    sequence_length: NDArray | None = None,
    use_sequence_length: bool = False,
    value: float = 0.0,
    axis: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the sequences with ``value`` behind their lengths.

    Time goes along the axis, 0 or 1, and the sequences lie side by side along the other.

    >>> from afterglow import nd
    >>> nd.SequenceMask(nd.ones((2, 3)), nd.array([1, 2]), True, axis=1).asnumpy()
    array([[1., 0., 0.],
           [1., 1., 0.]], dtype=float32)
    """
    lengths = _lengths(sequence_length)
    result: NDArray = _sequence_mask(
        need(data), lengths, use_sequence_length, as_float(value, "value"), axis, out=out
    )
    return result


def SequenceLast(  # noqa: N802
    data: NDArray,
    sequence_length: NDArray | None = None,
    use_sequence_length: bool = False,
    axis: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the last step of each sequence.

    >>> from afterglow import nd
    >>> nd.SequenceLast(nd.array([[1, 2], [3, 4]]), nd.array([1, 2]), True).asnumpy()
    array([1., 4.], dtype=float32)
    """
    lengths = _lengths(sequence_length)
    result: NDArray = _sequence_last(need(data), lengths, use_sequence_length, axis, out=out)
    return result


def SequenceReverse(  # noqa: N802
    data: NDArray,
    sequence_length: NDArray | None = None,
    use_sequence_length: bool = False,
    axis: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return each sequence from its last step to its first; what lies behind stays.

    >>> from afterglow import nd
    >>> nd.SequenceReverse(nd.array([[1, 2], [3, 4]]), nd.array([2, 1]), True).asnumpy()
    array([[3., 2.],
           [1., 4.]], dtype=float32)
    """
    lengths = _lengths(sequence_length)
    result: NDArray = _sequence_reverse(need(data), lengths, use_sequence_length, axis, out=out)
    return result


# --- norms ---


def L2Normalization(  # noqa: N802
    data: NDArray,
    eps: float = 1e-10,
    mode: str = "instance",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the elements divided by their 2-norm.

    That is the norm of everything but the first axis, with mode "channel" that along axis 1, with
    "spatial" that over all axes behind it.

    >>> from afterglow import nd
    >>> nd.L2Normalization(nd.array([[3, 4]])).asnumpy()
    array([[0.6, 0.8]], dtype=float32)
    """
    result: NDArray = _l2_normalization(need(data), eps, mode, out=out)
    return result


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
        blank_label == "first",
    )
    return result if out is None else _copy(result, out=out)


CTCLoss = ctc_loss

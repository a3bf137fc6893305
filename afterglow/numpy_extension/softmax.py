# SPDX-License-Identifier: Apache-2.0
"""Softmax and the other functions of neural networks, for ``np`` arrays."""

from __future__ import annotations

from typing import Any

from .._core import operation
from .._dtype import optional_number
from .._ordering import Ordering
from .._shapes import as_float
from .._shortcut import shortcut
from ..numpy import ndarray
from ..numpy._arguments import need

__all__ = ["log_softmax", "sequence_mask", "softmax", "topk"]

_softmax = operation("softmax", legacy=False)
_log_softmax = operation("log_softmax", legacy=False)
_sequence_mask = operation("SequenceMask", legacy=False)
_ordering = Ordering(False)


@shortcut("softmax_of_rows", "rows")
def softmax(
    data: Any,
    length: Any = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Any = None,
    use_length: bool = False,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray:
    """Return e to the power of the elements, divided by the sum of these along an axis.

    The elements are divided by ``temperature`` first. With ``use_length`` only as many along the
    axis count as ``length`` says, and the others become 0.

    >>> from afterglow import np, npx
    >>> npx.softmax(np.array([[1, 1], [0, 200]]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    if length is not None:
        length = need(length, "length")
    result: ndarray = _softmax(
        need(data, "data"), length, axis, temperature, optional_number(dtype), use_length, out=out
    )
    return result


@shortcut("softmax_of_rows", "rows", logarithm=True)
def log_softmax(
    data: Any,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Any = None,
    use_length: bool = False,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray:
    """Return the logarithm of the softmax along an axis.

    >>> from afterglow import np, npx
    >>> npx.log_softmax(np.array([0, 1000]))
    array([-1000.,     0.])
    """
    result: ndarray = _log_softmax(
        need(data, "data"), axis, temperature, optional_number(dtype), use_length, out=out
    )
    return result


def sequence_mask(
    data: Any,
    sequence_length: Any = None,
    use_sequence_length: bool = False,
    value: float = 0.0,
    axis: int = 0,
    out: ndarray | None = None,
    name: str | None = None,
) -> ndarray:
    """Return the sequences with ``value`` behind their lengths.

    Time goes along the axis, 0 or 1, and the sequences lie side by side along the other.

    >>> from afterglow import np, npx
    >>> npx.sequence_mask(np.ones((2, 3)), np.array([1, 2]), True, axis=1)
    array([[1., 0., 0.],
           [1., 1., 0.]])
    """
    if sequence_length is not None:
        sequence_length = need(sequence_length, "sequence_length")
    result: ndarray = _sequence_mask(
        need(data, "data"),
        sequence_length,
        use_sequence_length,
        as_float(value, "value"),
        axis,
        out=out,
    )
    return result


def topk(
    data: Any,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: str = "indices",
    is_ascend: bool = False,
    dtype: Any = "float32",
    out: Any = None,
    name: str | None = None,
) -> Any:
    """Return the ``k`` greatest elements along an axis, or with ``is_ascend`` the smallest.

    ``ret_typ`` says what of them: "indices", "value", "both" as a list, or "mask", which is 1 at
    their places and 0 elsewhere.

    >>> from afterglow import np, npx
    >>> npx.topk(np.array([3, 1, 2]), k=2, dtype="int32")
    array([0, 2], dtype=int32)
    """
    return _ordering.topk(need(data, "data"), axis, k, ret_typ, is_ascend, dtype, out)

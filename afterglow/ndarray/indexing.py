# SPDX-License-Identifier: Apache-2.0
"""Elements picked by index arrays, where that is more than an op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._arrays.shapes import normal_axis
from .._arrays.worlds import LEGACY
from ..error import ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = ["onehot_encode"]


def onehot_encode(indices: NDArray, out: NDArray) -> NDArray:
    """Write one-hot rows into ``out``, which is returned.

    >>> from afterglow import nd
    >>> nd.onehot_encode(nd.array([1, 0]), nd.zeros((2, 2)))
    <BLANKLINE>
    [[0. 1.]
     [1. 0.]]
    <NDArray 2x2 @cpu(0)>
    """
    indices, out = need(indices, "indices"), need(out, "out")
    if indices.ndim != 1 or out.ndim != 2:
        raise ArrayValueError(
            f"[onehot_encode] got indices of shape {indices.shape} and out of shape {out.shape}; "
            "needs a row of indices and a matrix"
        )
    return LEGACY.one_hot(indices, out.shape[1], dtype=out._dtype_number, out=out)


def boolean_mask(
    data: NDArray,
    index: NDArray,
    axis: int = 0,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what lies along an axis where ``index`` is not 0. Waits for ``index``.

    >>> from afterglow import nd
    >>> from afterglow.ndarray.indexing import boolean_mask
    >>> boolean_mask(nd.array([[1, 2], [3, 4]]), nd.array([0, 1]))
    <BLANKLINE>
    [[3. 4.]]
    <NDArray 1x2 @cpu(0)>
    """
    array, mask = need(data), need(index, "index")
    position = normal_axis(axis, array.ndim)
    if mask.shape != (array.shape[position],):
        raise ArrayValueError(
            f"[boolean_mask] a mask of shape {mask.shape} does not fit axis {axis} of shape"
            f" {array.shape}"
        )
    before: list[Any] = [slice(None)] * position
    result: NDArray = array[(*before, mask.asnumpy().nonzero()[0])]
    return result if out is None else LEGACY.copy(result, out=out)

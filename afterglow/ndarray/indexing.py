# SPDX-License-Identifier: Apache-2.0
"""Elements picked by index arrays: take, pick, gather_nd and their kin.

Index arrays may have any type; fractions are cut off. Nothing here waits, but for
:func:`boolean_mask`, whose result has a shape that depends on values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as onp

from .. import _picking
from .._core import operation
from .._host import from_host
from .._shapes import as_integers, as_shape, normal_axis
from ..error import ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "batch_take",
    "choose_element_0index",
    "fill_element_0index",
    "one_hot",
    "onehot_encode",
    "pick",
    "ravel_multi_index",
    "scatter_nd",
    "take",
    "unravel_index",
]

_take = operation("take", True)
_pick = operation("pick", True)
_copy = operation("copy", True)
_arange = operation("arange", True)


def take(
    a: NDArray,
    indices: NDArray,
    axis: int = 0,
    mode: str = "clip",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return what lies at the indices along an axis.

    An index outside is clipped, or wrapped around, or (``mode="raise"``) an ``IndexError`` when
    the result is read.

    >>> from afterglow import nd
    >>> nd.take(nd.array([[1, 2], [3, 4], [5, 6]]), nd.array([2, 0]))
    <BLANKLINE>
    [[5. 6.]
     [1. 2.]]
    <NDArray 2x2 @cpu(0)>
    """
    result: NDArray = _take(need(a, "a"), need(indices, "indices"), axis=axis, mode=mode, out=out)
    return result


def pick(
    data: NDArray,
    index: NDArray,
    axis: int = -1,
    keepdims: bool = False,
    mode: str = "clip",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return one element per index along an axis: the loss of each label, for example.

    >>> from afterglow import nd
    >>> nd.pick(nd.array([[1, 2], [3, 4], [5, 6]]), nd.array([0, 1, 0]))
    <BLANKLINE>
    [1. 4. 5.]
    <NDArray 3 @cpu(0)>
    """
    result: NDArray = _picking.pick(need(data), need(index, "index"), axis, keepdims, mode, out)
    return result


choose_element_0index = pick


def batch_take(
    a: NDArray, indices: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return one element of each row; the result has the shape of the indices.

    >>> from afterglow import nd
    >>> nd.batch_take(nd.array([[1, 2], [3, 4]]), nd.array([1, 0], dtype="int32"))
    <BLANKLINE>
    [2. 3.]
    <NDArray 2 @cpu(0)>
    """
    need(indices, "indices")
    if need(a, "a").ndim != 2 or indices.size != a.shape[0]:
        raise ArrayValueError(
            f"[batch_take] needs two dimensions and an index per row; inputs: {a.shape},"
            f" {indices.shape}"
        )
    flat: NDArray = _pick(a, indices._shaped((a.shape[0],)), axis=1, mode="clip")
    result: NDArray = _picking.into(flat._shaped(indices.shape), out)
    return result


def fill_element_0index(
    lhs: NDArray, mhs: NDArray, rhs: NDArray, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return a copy of ``lhs`` with ``mhs[i]`` at row i, column ``rhs[i]``.

    >>> from afterglow import nd
    >>> nd.fill_element_0index(nd.zeros((2, 3)), nd.array([7, 8]), nd.array([2, 0]))
    <BLANKLINE>
    [[0. 0. 7.]
     [8. 0. 0.]]
    <NDArray 2x3 @cpu(0)>
    """
    if not need(lhs, "lhs").ndim:
        raise ArrayValueError("[fill_element_0index] lhs must have rows, but its shape is ()")
    rows = _arange(lhs.shape[0], dtype=need(rhs, "rhs")._dtype_number)
    result: NDArray = _picking.into(_picking.scattered(lhs, [rows, rhs], need(mhs, "mhs")), out)
    return result


def scatter_nd(
    data: NDArray,
    indices: NDArray,
    shape: Any,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return zeros with ``data`` where the columns of ``indices`` point; the last one wins.

    >>> from afterglow import nd
    >>> nd.scatter_nd(nd.array([2, 3]), nd.array([[1, 0], [0, 1]]), shape=(2, 2))
    <BLANKLINE>
    [[0. 3.]
     [2. 0.]]
    <NDArray 2x2 @cpu(0)>
    """
    wanted = as_shape(shape)
    rows = _picking.rows_of(need(indices, "indices"), "scatter_nd", len(wanted))
    needed = (*indices.shape[1:], *wanted[len(rows) :])
    if need(data).shape != needed:
        raise ArrayValueError(
            f"[scatter_nd] data has shape {data.shape}; the indices ask for {needed}"
        )
    zeros = _copy(0, shape=wanted, dtype=data._dtype_number, ctx=data._context_numbers)
    result: NDArray = _picking.into(_picking.scattered(zeros, rows, data), out)
    return result


def one_hot(
    indices: NDArray,
    depth: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: Any = "float32",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a row of ``depth`` numbers for each index, with ``on_value`` where it points.

    An index outside points nowhere.

    >>> from afterglow import nd
    >>> nd.one_hot(nd.array([1, 0]), 3)
    <BLANKLINE>
    [[0. 1. 0.]
     [1. 0. 0.]]
    <NDArray 2x3 @cpu(0)>
    """
    result: NDArray = _picking.one_hot(
        need(indices, "indices"), depth, on_value, off_value, dtype, out
    )
    return result


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
    return one_hot(indices, out.shape[1], dtype=out.dtype, out=out)


def ravel_multi_index(
    data: NDArray, shape: Any, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return where in a flat array the elements lie that the columns of ``data`` name.

    >>> from afterglow import nd
    >>> nd.ravel_multi_index(nd.array([[3, 6], [4, 5]]), shape=(7, 6))
    <BLANKLINE>
    [22. 41.]
    <NDArray 2 @cpu(0)>
    """
    result: NDArray = _picking.ravel_multi_index(need(data), shape, out)
    return result


def unravel_index(
    data: NDArray, shape: Any, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the index along each axis, one per row, of places in a flat array.

    >>> from afterglow import nd
    >>> nd.unravel_index(nd.array([22, 41]), shape=(7, 6))
    <BLANKLINE>
    [[3. 6.]
     [4. 5.]]
    <NDArray 2x2 @cpu(0)>
    """
    result: NDArray = _picking.unravel_index(need(data), shape, out)
    return result


# --- of nd.contrib ---


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
    result: NDArray = _picking.into(_picking.masked(need(data), need(index, "index"), axis), out)
    return result


def index_copy(
    old_tensor: NDArray,
    index_vector: NDArray,
    new_tensor: NDArray,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return a copy of the old array with new rows at the indices.

    >>> from afterglow import nd
    >>> from afterglow.ndarray.indexing import index_copy
    >>> index_copy(nd.zeros((3, 2)), nd.array([2, 0]), nd.array([[1, 2], [3, 4]]))
    <BLANKLINE>
    [[3. 4.]
     [0. 0.]
     [1. 2.]]
    <NDArray 3x2 @cpu(0)>
    """
    old, index = need(old_tensor, "old_tensor"), need(index_vector, "index_vector")
    new = need(new_tensor, "new_tensor")
    if new.shape != (*index.shape, *old.shape[1:]):
        raise ArrayValueError(
            f"[index_copy] {index.shape} indices into shape {old.shape} need rows of shape"
            f" {(*index.shape, *old.shape[1:])}, not {new.shape}"
        )
    result: NDArray = _picking.into(_picking.scattered(old, [index], new), out)
    return result


def index_array(
    data: NDArray, axes: Any = None, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """Return the indices of every element of an array, along a new last axis.

    >>> from afterglow import nd
    >>> from afterglow.ndarray.indexing import index_array
    >>> index_array(nd.zeros((1, 2)))
    <BLANKLINE>
    [[[0 0]
      [0 1]]]
    <NDArray 1x2x2 @cpu(0)>
    """
    shape = need(data).shape
    wanted = range(len(shape)) if axes is None else as_integers(axes, "axes")
    every = onp.indices(shape, dtype=onp.int64)
    host = onp.stack([every[normal_axis(axis, len(shape))] for axis in wanted], axis=-1)
    result: NDArray = _picking.into(from_host(host, data._context_numbers, True), out)
    return result

# SPDX-License-Identifier: Apache-2.0
"""Orders of elements: sort, argsort, topk; and how many lie where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as onp

from .._core import Array
from .._dtype import FLOAT32, INT64
from .._host_calls import on_host_several
from .._ordering import Ordering
from ..error import ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = ["argsort", "histogram", "sort", "topk"]

_ordering = Ordering(True)


def sort(
    data: NDArray,
    axis: int | None = -1,
    is_ascend: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the elements in order along an axis; without one, all of them in a row.

    >>> from afterglow import nd
    >>> nd.sort(nd.array([[3, 1, 2]]), is_ascend=False).asnumpy()
    array([[3., 2., 1.]], dtype=float32)
    """
    result: NDArray = _ordering.sort(need(data), axis, bool(is_ascend), out)
    return result


def argsort(
    data: NDArray,
    axis: int | None = -1,
    is_ascend: bool = True,
    dtype: Any = "float32",
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return the indices that put the elements in order; equal ones keep theirs.

    >>> from afterglow import nd
    >>> nd.argsort(nd.array([[3, 1, 2]])).asnumpy()
    array([[1., 2., 0.]], dtype=float32)
    """
    result: NDArray = _ordering.argsort(need(data), axis, bool(is_ascend), dtype, out)
    return result


def topk(
    data: NDArray,
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
    their places and 0 elsewhere. All elements are put in order if ``k`` is less than 1.

    >>> from afterglow import nd
    >>> nd.topk(nd.array([[3, 1, 2]]), k=2, ret_typ="value").asnumpy()
    array([[3., 2.]], dtype=float32)
    """
    return _ordering.topk(need(data), axis, k, ret_typ, is_ascend, dtype, out)


def histogram(a: NDArray, bins: Any = 10, range: Any = None) -> list[NDArray]:
    """Return how many elements lie in each of the bins, and the edges of these.

    ``bins`` is their number, or an array of edges. Without a range they reach from the smallest to
    the greatest element, and the counts have the type float32.

    >>> from afterglow import nd
    >>> counts, edges = nd.histogram(nd.array([1, 1, 3]), bins=2, range=(0, 4))
    >>> counts.asnumpy(), edges.asnumpy()
    (array([2, 1]), array([0., 2., 4.], dtype=float32))
    """
    if isinstance(bins, Array):
        number = bins._dtype_number
        outputs = [((bins.size - 1,), INT64), ((bins.size,), number)]
        return on_host_several(
            "histogram", onp.histogram, need(a, "a"), bins, outputs=outputs, legacy=True
        )
    if not isinstance(bins, (int, onp.integer)):
        raise ArrayValueError("[histogram] bins must be an integer or an NDArray")
    kinds = (FLOAT32, FLOAT32) if range is None else (INT64, need(a, "a")._dtype_number)
    outputs = [((int(bins),), kinds[0]), ((int(bins) + 1,), kinds[1])]
    return on_host_several(
        "histogram",
        lambda values: onp.histogram(values, bins, range),
        need(a, "a"),
        outputs=outputs,
        legacy=True,
    )

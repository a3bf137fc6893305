# SPDX-License-Identifier: Apache-2.0
"""How many elements lie where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as onp

from .._arrays.dtypes import FLOAT32, INT64
from .._core import Array
from .._interoperation.host_calls import on_host_several
from ..error import ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = ["histogram"]


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

# SPDX-License-Identifier: Apache-2.0
"""How many elements lie where."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._arrays.dtypes import FLOAT32, INT64
from .._core import Array
from .._interoperation.host_calls import Host, Spec, declare_host
from .._mathematics.gradients import ZERO
from ..error import ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = ["histogram"]


def _infer(
    a: Spec, edges: Spec | None, bins: int, range: Any, dtypes: tuple[int, int]
) -> list[Spec]:
    count = int(bins) if edges is None else prod(edges.shape) - 1
    return [Spec((count,), dtypes[0]), Spec((count + 1,), dtypes[1])]


@declare_host("histogram", infer=_infer, gradient=[ZERO])
def count_in_bins(
    a: Host,
    edges: Host | None = None,
    *,
    bins: int = 10,
    range: Any = None,
    dtypes: tuple[int, int] = (INT64, FLOAT32),
) -> Any:
    """Return how many elements lie in each of the bins, and the edges of these."""
    return onp.histogram(a, bins if edges is None else edges, range)


def histogram(a: NDArray, bins: Any = 10, range: Any = None) -> list[NDArray]:
    """Return how many elements lie in each of the bins, and the edges of these.

    ``bins`` is their number, or an array of edges. Without a range they reach from the smallest to
    the greatest element, and the counts have the type float32.

    >>> from afterglow import nd
    >>> counts, edges = nd.histogram(nd.array([1, 1, 3]), bins=2, range=(0, 4))
    >>> counts.asnumpy(), edges.asnumpy()
    (array([2, 1]), array([0., 2., 4.], dtype=float32))
    """
    edges = None
    if isinstance(bins, Array):
        edges, bins, range, dtypes = bins, None, None, (INT64, bins._dtype_number)
    elif not isinstance(bins, (int, onp.integer)):
        raise ArrayValueError("[histogram] bins must be an integer or an NDArray")
    elif range is None:
        dtypes = FLOAT32, FLOAT32
    else:
        dtypes = INT64, need(a, "a")._dtype_number
    result: list[NDArray] = count_in_bins(
        need(a, "a"), edges, bins=bins, range=range, dtypes=dtypes, legacy=True
    )
    return result

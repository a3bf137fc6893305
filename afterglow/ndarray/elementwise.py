# SPDX-License-Identifier: Apache-2.0
"""Functions of each element that are more than an op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._arrays.dtypes import FLOAT16, FLOAT32, FLOAT64, FLOATING
from .._arrays.worlds import LEGACY
from ..error import ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = [
    "all_finite",
    "amp_multicast",
    "multi_all_finite",
]


def amp_multicast(
    *data: NDArray,
    num_outputs: int | None = None,
    cast_narrow: bool = False,
    out: Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]:
    """Return all floats in the widest type among them, or the narrowest with ``cast_narrow``.

    >>> from afterglow import nd
    >>> pair = nd.amp_multicast(nd.ones((2,)), nd.ones((2,), dtype="float16"), num_outputs=2)
    >>> [one.dtype for one in pair]
    [<class 'numpy.float32'>, <class 'numpy.float32'>]
    """
    if num_outputs != len(data):
        raise ArrayValueError(f"[amp_multicast] got {len(data)} arrays, num_outputs={num_outputs}")
    kinds = {need(one)._dtype_number for one in data} & FLOATING
    order = [kind for kind in (FLOAT16, FLOAT32, FLOAT64) if kind in kinds]
    chosen = order[0 if cast_narrow else -1] if order else None
    targets: Sequence[NDArray | None] = out or [None] * len(data)
    return [
        LEGACY.copy(one, dtype=chosen if one._dtype_number in FLOATING else None, out=target)
        for one, target in zip(data, targets, strict=True)
    ]


def all_finite(
    data: NDArray,
    init_output: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return 1 if no element is infinite or nan, else 0, in an array of shape (1,).

    >>> from afterglow import nd
    >>> print(nd.all_finite(nd.array([1, float("inf")])).asnumpy())
    [0.]
    """
    return multi_all_finite(data, num_arrays=1, init_output=init_output, out=out)


def multi_all_finite(
    *data: NDArray,
    num_arrays: int = 1,
    init_output: bool = True,
    out: NDArray | None = None,
    name: str | None = None,
) -> NDArray:
    """Return 1 if no element of any array is infinite or nan, else 0, in an array of shape (1,).

    Without ``init_output`` a 0 that is in ``out`` already stays.

    >>> from afterglow import nd
    >>> print(nd.multi_all_finite(nd.ones((2,)), nd.zeros((3,)), num_arrays=2).asnumpy())
    [1.]
    """
    if num_arrays != len(data) or not data:
        raise ArrayValueError(
            f"[multi_all_finite] got {len(data)} arrays, but num_arrays={num_arrays}"
        )
    results = [
        LEGACY.copy(LEGACY.min(LEGACY.equal(LEGACY.subtract(need(one), one), 0)), dtype=FLOAT32)
        for one in data
    ]
    if out is not None and not init_output:
        results.append(out)
    for one in results[1:]:
        results[0] = LEGACY.multiply(results[0], one)
    return LEGACY.copy(results[0], out=out)

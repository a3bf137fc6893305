# SPDX-License-Identifier: Apache-2.0
"""Memory shared with other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._interoperation import dlpack as _dlpack
from ..error import ArrayValueError

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = ["from_dlpack"]


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> ndarray:
    """Return an array over the memory of an array of another library, or of a DLPack capsule.

    Memory that is read-only or has gaps is copied, as is any with ``copy=True``.

    >>> import numpy
    >>> from afterglow import np
    >>> host = numpy.zeros(2, "float32")
    >>> x = np.from_dlpack(host)
    >>> x += 1
    >>> host.tolist()
    [1.0, 1.0]
    """
    if device not in (None, "cpu"):
        raise ArrayValueError(f"[from_dlpack] memory is shared on the device 'cpu', not {device!r}")
    result: ndarray = _dlpack.take(x, legacy=False, copy=copy)
    return result

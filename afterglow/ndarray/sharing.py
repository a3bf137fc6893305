# SPDX-License-Identifier: Apache-2.0
"""Memory shared with other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as onp

from .. import _core
from .._arrays.dtypes import dtype_number, is_known
from .._interoperation import dlpack as _dlpack
from .._interoperation.host import from_host
from ..context import context_numbers
from ..error import ArgumentError, ArrayValueError
from ._arguments import need

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = ["from_dlpack", "from_numpy", "to_dlpack_for_read", "to_dlpack_for_write"]


def to_dlpack_for_read(data: NDArray) -> Any:
    """Return a DLPack capsule that shares the memory of an array. Waits for its value.

    >>> from afterglow import nd
    >>> nd.from_dlpack(nd.to_dlpack_for_read(nd.ones((2,)))).shape
    (2,)
    """
    return _core.to_dlpack(need(data), False, False, False)


def to_dlpack_for_write(data: NDArray) -> Any:
    """Return a DLPack capsule through which the array is written. Waits until nothing uses it.

    >>> from afterglow import nd
    >>> x = nd.zeros((2,))
    >>> y = nd.from_dlpack(nd.to_dlpack_for_write(x))
    >>> y += 1
    >>> x.asnumpy().tolist()
    [1.0, 1.0]
    """
    return _core.to_dlpack(need(data), False, False, True)


def from_dlpack(dlpack: Any) -> NDArray:
    """Return an array over the memory of a DLPack capsule, or of an array of another library.

    >>> import numpy
    >>> from afterglow import nd
    >>> host = numpy.zeros(2, "float32")
    >>> x = nd.from_dlpack(host)
    >>> x += 1
    >>> host.tolist()
    [1.0, 1.0]
    """
    result: NDArray = _dlpack.take(dlpack, legacy=True)
    return result


def from_numpy(ndarray: Any, zero_copy: bool = True, array_cls: Any = None) -> NDArray:
    """Return an array over the memory of a NumPy array, which may no longer be written to.

    ``array_cls`` is the class of the result: ``nd.NDArray``, or ``np.ndarray``.

    >>> import numpy
    >>> from afterglow import nd
    >>> host = numpy.ones(2, "float32")
    >>> nd.from_numpy(host).shape, host.flags.writeable
    ((2,), False)
    """
    if not isinstance(ndarray, onp.ndarray):
        raise ArgumentError(f"[from_numpy] needs a NumPy array, but got {type(ndarray)}")
    if zero_copy and not is_known(ndarray.dtype):  # MXNet finds no key for it in a copy
        raise ArrayValueError(f"[from_numpy] {ndarray.dtype} is not supported.")
    legacy = array_cls is None or array_cls._legacy
    result: NDArray
    if zero_copy:
        result = _dlpack.take_host(ndarray, legacy)
    else:
        result = from_host(ndarray, context_numbers(None), legacy, dtype_number(ndarray.dtype))
    return result

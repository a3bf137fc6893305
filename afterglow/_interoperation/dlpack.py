# SPDX-License-Identifier: Apache-2.0
"""Memory shared with other libraries, without a copy.

While memory is shared, either side sees what the other writes. Statements of ours that touch it
are done when they return; so the other side needs to wait for nothing, and what it computes must
be done before it hands the memory to us.
"""

from __future__ import annotations

from typing import Any

import numpy as onp

from .. import _core
from .._arrays.dtypes import dtype_number
from .._arrays.keys import is_contiguous
from .._arrays.worlds import WORLDS
from .._core import Array
from ..error import ArgumentError, ArrayTypeError, ArrayValueError

#: DLPack's number of the CPU, and that of the device.
CPU_DEVICE = (1, 0)


def export(
    array: Array,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return a capsule: the method ``__dlpack__`` of the array API standard."""
    if stream is not None:
        raise ArrayValueError("[__dlpack__] arrays on the CPU have no streams: stream must be None")
    if dl_device is not None and tuple(dl_device) != CPU_DEVICE:
        raise BufferError(f"the array is on DLPack device {CPU_DEVICE}, not on {dl_device}")
    if copy:
        array = _copy_of(array)
    versioned = max_version is not None and max_version[0] >= 1
    return _core.to_dlpack(array, versioned, bool(copy), True)


def take(source: Any, legacy: bool, copy: bool | None = None) -> Any:
    """Return an array over the memory of ``source``: a capsule, or what has ``__dlpack__``.

    What is read-only or has gaps between its elements is copied, unless ``copy`` is False.
    """
    is_capsule = type(source).__name__ == "PyCapsule"
    try:
        array, read_only = _core.from_dlpack(source if is_capsule else _capsule_of(source), legacy)
    except ArrayTypeError as error:
        raise ArgumentError(str(error)) from None
    has_gaps = array.size and not is_contiguous(array.shape, array._strides)
    needs_copy = read_only or has_gaps
    if copy is False and needs_copy:
        raise ArrayValueError(
            "[from_dlpack] the memory is read-only or not contiguous, so it can only be copied"
        )
    return _copy_of(array) if copy or needs_copy else array


def take_host(host: onp.ndarray[Any, Any], legacy: bool) -> Any:
    """Return an array over the memory of a NumPy array, which becomes read-only for NumPy."""
    if not host.flags.c_contiguous or not host.flags.aligned or not host.dtype.isnative:
        raise ArrayValueError(
            "Only c-contiguous arrays are supported for zero-copy; use zero_copy=False"
        )
    number = dtype_number(host.dtype)
    host.flags.writeable = False
    return _core.from_memory(host.ctypes.data, host.shape, number, host, legacy)


def _capsule_of(source: Any) -> Any:
    export = getattr(source, "__dlpack__", None)
    if export is None:
        raise ArgumentError(
            f"[from_dlpack] needs a DLPack capsule or an object with __dlpack__, not {type(source)}"
        )
    device = source.__dlpack_device__()
    if int(device[0]) != CPU_DEVICE[0]:
        raise ArrayTypeError(f"[from_dlpack] the array is on DLPack device {device}, not on a CPU")
    try:
        return export(max_version=(1, 0))
    except TypeError:  # written before there were versions
        return export()


def _copy_of(array: Any) -> Any:
    copied = WORLDS[array._legacy].copy(array)
    copied.wait_to_read()
    return copied

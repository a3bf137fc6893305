# SPDX-License-Identifier: Apache-2.0
"""Arrays in files, in MXNet's format."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from .._core import Array
from .._formats import params as _files
from ..error import ArrayTypeError, ArrayValueError
from ..util import is_np_shape

if TYPE_CHECKING:
    from .ndarray import NDArray

__all__ = ["load", "load_frombuffer", "save"]


def save(fname: _files.Path, data: NDArray | list[NDArray] | dict[str, NDArray]) -> None:
    """Write an array, a list of arrays or a dictionary of arrays to a file that MXNet can read.

    Waits for their values.

    >>> from afterglow import nd
    >>> nd.save("weights.params", {"w": nd.ones((2, 3)), "b": nd.zeros((3,))})
    >>> sorted(nd.load("weights.params"))
    ['b', 'w']
    """
    check_name(fname, "fname")
    arrays, names = split(data, legacy=True)
    _files.save(fname, arrays, names, is_np_shape())


def load(fname: _files.Path) -> Any:
    """Return the list or dictionary of arrays in a file of MXNet, or in an npy or npz file.

    >>> from afterglow import nd
    >>> nd.save("pair.params", [nd.ones((2,)), nd.zeros((3,))])
    >>> [x.shape for x in nd.load("pair.params")]
    [(2,), (3,)]
    """
    check_name(fname, "fname")
    return _files.load(fname, legacy=True)


def load_frombuffer(buf: bytes | str) -> Any:
    """Return the list or dictionary of arrays in the bytes of a file.

    >>> from afterglow import nd
    >>> nd.save("one.params", nd.ones((2,)))
    >>> len(nd.load_frombuffer(open("one.params", "rb").read()))
    1
    """
    if isinstance(buf, str):
        buf = buf.encode()
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise ArrayTypeError("buf required to be a string or bytes")
    data = bytes(buf)
    return _files.load_stream(io.BytesIO(data), len(data), True, "the buffer")


def split(data: Any, legacy: bool) -> tuple[list[Any], list[str]]:
    """Return the arrays to save and their names, after a look at the types of all of them."""
    kind = "NDArray" if legacy else "ndarray"
    names: list[str] = []
    if isinstance(data, Array):
        arrays: list[Any] = [data]
    elif isinstance(data, dict):
        arrays = list(data.values())
        names = list(data)
    elif isinstance(data, (list, tuple)):
        arrays = list(data)
    else:
        raise ArrayValueError(
            f"data needs to either be a {kind}, dict of (str, {kind}) pairs or a list of {kind}s; "
            f"got {type(data)}"
        )
    if any(not isinstance(array, Array) for array in arrays) or any(
        not isinstance(name, str) for name in names
    ):
        raise ArrayTypeError(f"save only accept dict str->{kind} or list of {kind}")
    if any(array._legacy != legacy for array in arrays):
        raise ArrayTypeError(
            "nd.save was given an np array; use npx.save"
            if legacy
            else "npx.save was given an nd array; use nd.save"
        )
    return arrays, names


def check_name(value: Any, name: str) -> None:
    if not isinstance(value, (str, os.PathLike)):
        raise ArrayTypeError(f"{name} required to be a string")

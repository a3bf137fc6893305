# SPDX-License-Identifier: Apache-2.0
"""Arrays in files of NumPy's formats, and in text."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as onp

from .._formats import params as _files
from .._interoperation.host import from_host
from .._interoperation.numpy_protocols import host_value
from ..context import context_numbers

if TYPE_CHECKING:
    from .multiarray import ndarray

__all__ = ["genfromtxt", "load", "save", "savez"]


def save(file: Any, arr: Any) -> None:
    """Write an array to an npy file. Waits for its value.

    >>> from afterglow import np
    >>> np.save("x.npy", np.arange(3))
    >>> np.load("x.npy")
    array([0., 1., 2.])
    """
    onp.save(file, host_value(arr))


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Write several arrays to an npz file. Waits for their values.

    >>> from afterglow import np
    >>> np.savez("xy.npz", x=np.arange(3), y=np.ones((2,)))
    >>> sorted(np.load("xy.npz"))
    ['x', 'y']
    """
    onp.savez(
        file, *map(host_value, args), **{name: host_value(value) for name, value in kwds.items()}
    )


def load(file: str | os.PathLike[str]) -> Any:
    """Return the array of an npy file, or the dictionary of arrays in an npz or MXNet's file.

    >>> from afterglow import np
    >>> np.save("two.npy", np.array(2.0))
    >>> np.load("two.npy")
    array(2.)
    """
    arrays = _files.load(file, legacy=False)
    is_one = isinstance(arrays, list) and len(arrays) == 1
    return arrays[0] if is_one else arrays


def genfromtxt(*args: Any, **kwargs: Any) -> ndarray:
    """Read an array from text, with the arguments of :func:`numpy.genfromtxt` and ``ctx``.

    >>> import io
    >>> from afterglow import np
    >>> np.genfromtxt(io.StringIO("1,2"), delimiter=",", dtype="float32")
    array([1., 2.])
    """
    context = context_numbers(kwargs.pop("ctx", None))
    source: Any = args[0] if args else None
    is_path = isinstance(source, (str, os.PathLike)) and os.path.exists(source)
    if is_path and not os.path.isfile(source):
        args = (_files.open_to_read(source), *args[1:])
    result: ndarray = from_host(onp.genfromtxt(*args, **kwargs), context, False)
    return result

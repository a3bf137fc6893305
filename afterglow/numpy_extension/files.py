# SPDX-License-Identifier: Apache-2.0
"""Arrays in files, in MXNet's format, for ``np`` arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._formats import params as _files
from ..ndarray.files import check_name, split

if TYPE_CHECKING:
    from ..numpy.multiarray import ndarray

__all__ = ["load", "save"]


def save(file: _files.Path, arr: ndarray | list[ndarray] | dict[str, ndarray]) -> None:
    """Write an array, a list of arrays or a dictionary of arrays to a file that MXNet can read.

    Waits for their values.

    >>> from afterglow import np, npx
    >>> npx.save("scale.params", {"scale": np.array(2.0)})
    >>> npx.load("scale.params")
    {'scale': array(2.)}
    """
    check_name(file, "file")
    arrays, names = split(arr, legacy=False)
    _files.save(file, arrays, names, numpy_shapes=True)


def load(file: _files.Path) -> Any:
    """Return the list or dictionary of arrays in a file of MXNet, or in an npy or npz file.

    >>> from afterglow import np, npx
    >>> npx.save("pair.params", [np.ones((2,)), np.zeros((1, 0))])
    >>> [x.shape for x in npx.load("pair.params")]
    [(2,), (1, 0)]
    """
    check_name(file, "file")
    return _files.load(file, legacy=False)

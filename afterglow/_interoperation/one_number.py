# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays of one number that can be used as the number, as before NumPy 2.4.

The sum or mean of an ``nd`` array has the shape (1,), and programs for MXNet, those of books above
all, write ``'loss %f' % loss.mean().asnumpy()``. NumPy 2.4 refuses that.
"""

from __future__ import annotations

from typing import Any

import numpy

from .. import _core
from ..ndarray import NDArray


class _OneNumber(numpy.ndarray):
    """An array that was made with one element."""

    def __float__(self) -> float:
        return float(self.item()) if self.size == 1 else super().__float__()

    def __int__(self) -> int:
        return int(self.item()) if self.size == 1 else super().__int__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Be pickled as a plain array, which loads where Afterglow is not."""
        return self.view(numpy.ndarray).__reduce_ex__(protocol)

    def __array_wrap__(
        self, array: numpy.ndarray, context: Any = None, return_scalar: bool = False
    ) -> Any:
        """Return what is computed from it as for other arrays."""
        if return_scalar:
            return array[()]
        return array.view(_OneNumber if array.size == 1 else numpy.ndarray)


_OneNumber.__name__ = "array"  # what NumPy writes before the brackets


def _asnumpy(self: NDArray) -> numpy.ndarray:
    """Wait for the value and return it as a NumPy array."""
    host = _core.Array.asnumpy(self)
    return host.view(_OneNumber) if host.ndim and host.size == 1 else host


def let_one_number_be_a_number() -> None:
    """Let ``asnumpy`` of arrays with one element return such arrays, in ``nd`` and ``np``."""
    NDArray.asnumpy = _asnumpy  # type: ignore[assignment, method-assign]

# SPDX-License-Identifier: Apache-2.0
"""Functions that make one batch of a list of samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as onp

from ... import ndarray as nd
from ... import numpy as np
from ..._core import Array
from ...util import is_np_array

__all__ = ["Group", "Pad", "Stack", "default_batchify_fn"]


def _array(host: onp.ndarray[Any, Any]) -> Any:
    kind = host.dtype if host.dtype.kind != "u" or host.dtype.itemsize == 1 else onp.dtype("int64")
    return (np if is_np_array() else nd).array(host, dtype=kind)


def default_batchify_fn(data: Sequence[Any]) -> Any:
    """Return samples as one array; tuples of samples as a list of arrays.

    A list of numbers is one sample: batches of ``(features, [label])`` have labels of shape (n, 1).
    """
    first = data[0]
    if isinstance(first, Array):
        if first._legacy:  # type: ignore[attr-defined]
            return nd.stack(*data)
        return np.stack(list(data))
    if isinstance(first, tuple) or (
        isinstance(first, list) and any(isinstance(part, Array) for part in first)
    ):
        return [default_batchify_fn(column) for column in zip(*data, strict=True)]
    return _array(onp.asarray(data))


class Stack:
    """Stacks samples along a new first axis."""

    def __call__(self, data: Sequence[Any]) -> Any:
        """Return the batch."""
        return default_batchify_fn(data)


class Pad:
    """Stacks samples of different lengths, filled up with a value."""

    def __init__(
        self, axis: int = 0, pad_val: float = 0, ret_length: bool = False, dtype: Any = None
    ) -> None:
        self._axis = axis
        self._value = pad_val
        self._with_length = ret_length
        self._dtype = dtype

    def __call__(self, data: Sequence[Any]) -> Any:
        """Return the batch, with the lengths if asked for."""
        hosts = [one.asnumpy() if isinstance(one, Array) else onp.asarray(one) for one in data]
        lengths = [host.shape[self._axis] for host in hosts]
        longest = max(lengths)
        padded = []
        for host, length in zip(hosts, lengths, strict=True):
            widths = [(0, 0)] * host.ndim
            widths[self._axis] = (0, longest - length)
            padded.append(onp.pad(host, widths, constant_values=self._value))
        batch = onp.stack(padded)
        result = _array(batch if self._dtype is None else batch.astype(self._dtype))
        return (result, _array(onp.asarray(lengths, "int32"))) if self._with_length else result


class Group:
    """Another function for every element of a sample."""

    def __init__(self, fn: Any, *more: Callable[[Sequence[Any]], Any]) -> None:
        self._functions = tuple(fn) if isinstance(fn, (list, tuple)) else (fn, *more)

    def __call__(self, data: Sequence[Any]) -> Any:
        """Return one batch for each element."""
        columns = zip(*data, strict=True)
        return tuple(
            function(column) for function, column in zip(self._functions, columns, strict=True)
        )

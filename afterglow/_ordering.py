# SPDX-License-Identifier: Apache-2.0
"""Sorting for both kinds of arrays. Equal elements keep their order."""

from __future__ import annotations

from typing import Any

from ._core import operation
from ._dtype import DTYPES, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, UINT8, dtype_number
from ._shapes import as_axis, normal_axis
from .error import ArrayTypeError, ArrayValueError

_index_types = (FLOAT16, FLOAT32, FLOAT64, INT32, INT64, UINT8)


class Ordering:
    """The functions, for arrays of ``nd`` (``legacy``) or of ``np``."""

    def __init__(self, legacy: bool) -> None:
        self._copy = operation("copy", legacy)
        self._sort = operation("sort", legacy)
        self._argsort = operation("argsort", legacy)
        self._less = operation("less", False)

    def sort(self, data: Any, axis: int | None, ascending: bool, out: Any = None) -> Any:
        """Return the elements in order along an axis, or all of them without one."""
        data, position = _along(data, axis)
        return self._sort(data, position, ascending, out=out)

    def argsort(
        self, data: Any, axis: int | None, ascending: bool, dtype: Any, out: Any = None
    ) -> Any:
        """Return the indices that put the elements in order along an axis."""
        number = _index_type("argsort", dtype)
        data, position = _along(data, axis)
        return self._argsort(data, position, ascending, 0, number, out=out)

    def topk(
        self,
        data: Any,
        axis: int | None,
        k: int,
        ret_typ: str,
        is_ascend: bool,
        dtype: Any,
        out: Any,
    ) -> Any:
        """Return the first ``k`` in order along an axis: indices, values, both, or a mask."""
        if ret_typ not in ("indices", "value", "both", "mask"):
            raise ArrayValueError(
                f"[topk] ret_typ is {ret_typ!r}; known are indices, value, both and mask"
            )
        number, shape = _index_type("topk", dtype), data.shape
        data, position = _along(data, axis)
        length = data.shape[position]
        count = length if k < 1 else k
        if count > length:
            raise ArrayValueError(f"[topk] k is {k}, but axis {axis} of {shape} has {length}")
        order = (position, bool(is_ascend))
        if ret_typ == "mask":
            return self._copy(self._mask(data, order, count)._shaped(shape), out=out)
        if ret_typ == "both":
            targets = (None, None) if out is None else out
            return [
                self._sort(data, *order, count, out=targets[0]),
                self._argsort(data, *order, count, number, out=targets[1]),
            ]
        if ret_typ == "value":
            return self._sort(data, *order, count, out=out)
        return self._argsort(data, *order, count, number, out=out)

    def _mask(self, data: Any, order: tuple[int, bool], count: int) -> Any:
        """Return 1 where an element is among the first, in the type of the array."""
        ranks = self._argsort(self._argsort(data, *order), order[0])
        among = self._less(ranks._as_class(False), count)._as_class(data._legacy)
        return self._copy(among, dtype=data._dtype_number)


def _along(data: Any, axis: int | None) -> tuple[Any, int]:
    """Return the array, in one line if there is no axis, and the axis from the front."""
    if axis is None:
        return data._shaped((data.size,)), 0
    return data, normal_axis(as_axis(axis), data.ndim)


def _index_type(name: str, dtype: Any) -> int:
    number = dtype_number(dtype)
    if number not in _index_types:
        raise ArrayTypeError(f"[{name}] indices cannot have the type {DTYPES[number].name}")
    return number

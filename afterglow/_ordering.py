# SPDX-License-Identifier: Apache-2.0
"""Sorting for both kinds of arrays: NumPy's, queued. Equal elements keep their order."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as onp

from ._core import is_recording, operation
from ._dtype import DTYPES, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, UINT8, dtype_number
from ._host_calls import Host, on_host
from ._shapes import as_axis, normal_axis
from .error import ArrayTypeError, ArrayValueError

_index_types = (FLOAT16, FLOAT32, FLOAT64, INT32, INT64, UINT8)
#: A line so long is not sorted as a whole to find a few of its elements.
_long_line = 256


class Ordering:
    """The functions, for arrays of ``nd`` (``legacy``) or of ``np``."""

    def __init__(self, legacy: bool) -> None:
        self._legacy = legacy
        self._copy = operation("copy", legacy)
        self._arange = operation("arange", legacy)
        self._gather = operation("gather_nd", legacy)

    def sort(self, data: Any, axis: int | None, ascending: bool, out: Any = None) -> Any:
        """Return the elements in order along an axis, or all of them without one."""
        data, position = self._along("sort", data, axis)
        if is_recording():
            order = self._queue(
                "argsort", lambda values: _order(values, position, ascending), data, INT64
            )
            return self._stored(self._gathered(data, order, position), out)

        def ordered(values: Host) -> Host:
            result = onp.sort(values, position)
            return result if ascending else onp.flip(result, position)

        result = self._queue("sort", ordered, data, data._dtype_number)
        return self._stored(result, out)

    def argsort(
        self, data: Any, axis: int | None, ascending: bool, dtype: Any, out: Any = None
    ) -> Any:
        """Return the indices that put the elements in order along an axis."""
        number = _index_type("argsort", dtype)
        data, position = self._along("argsort", data, axis)
        result = self._queue(
            "argsort", lambda values: _order(values, position, ascending), data, number
        )
        return self._stored(result, out)

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
        data, position = self._along("topk", data, axis)
        length = data.shape[position]
        count = length if k < 1 else k
        if count > length:
            raise ArrayValueError(f"[topk] k is {k}, but axis {axis} of {shape} has {length}")
        own = data._dtype_number

        def first(values: Host) -> Host:
            return _first(values, position, count, bool(is_ascend))

        def mask(values: Host) -> Host:
            result = onp.zeros_like(values)
            onp.put_along_axis(result, first(values), 1, position)
            return result

        if ret_typ == "mask":
            result = self._queue("topk", mask, data, own)
            return self._stored(result._shaped(shape), out)
        found = (*data.shape[:position], count, *data.shape[position + 1 :])
        indices = on_host(
            "topk",
            first,
            data,
            shape=found,
            dtype=number if ret_typ == "indices" else INT64,
            legacy=self._legacy,
            cost=_cost(data),
        )
        if ret_typ == "indices":
            return self._stored(indices, out)
        values = self._gathered(data, indices, position)
        if ret_typ == "value":
            return self._stored(values, out)
        results = (values, indices if number == INT64 else self._copy(indices, dtype=number))
        targets = (None, None) if out is None else out
        return [self._stored(*pair) for pair in zip(results, targets, strict=True)]

    def _gathered(self, data: Any, indices: Any, axis: int) -> Any:
        """Return the elements that indices along an axis name."""
        lines = []
        for other, extent in enumerate(data.shape):
            if other == axis:
                lines.append(indices)
                continue
            line = self._arange(0.0, 1.0, extent, 1, INT64, ctx=data._context_numbers)
            lines.append(line._shaped((extent, *(1,) * (data.ndim - other - 1))))
        return self._gather([data, *lines], axis=0, mode="clip")

    def _along(self, name: str, data: Any, axis: int | None) -> tuple[Any, int]:
        """Return the array, in one line if there is no axis, and the axis from the front."""
        if axis is None:
            return data._shaped((data.size,)), 0
        return data, normal_axis(as_axis(axis), data.ndim)

    def _queue(self, name: str, function: Any, data: Any, number: int) -> Any:
        return on_host(
            name,
            function,
            data,
            shape=data.shape,
            dtype=number,
            legacy=self._legacy,
            cost=_cost(data),
        )

    def _stored(self, result: Any, out: Any) -> Any:
        return result if out is None else self._copy(result, out=out)


def _index_type(name: str, dtype: Any) -> int:
    number = dtype_number(dtype)
    if number not in _index_types:
        raise ArrayTypeError(f"[{name}] indices cannot have the type {DTYPES[number].name}")
    return number


def _cost(data: Any) -> float:
    """Guess how long a sort takes, in nanoseconds."""
    size: int = data.size
    return 5.0 * size * log2(size + 2)


def _order(values: Host, axis: int, ascending: bool) -> Host:
    if ascending:
        return onp.argsort(values, axis, kind="stable")
    # From behind, so that equal elements come in their order when it is turned around.
    order = onp.argsort(onp.flip(values, axis), axis, kind="stable")
    result: Host = values.shape[axis] - 1 - onp.flip(order, axis)
    return result


def _first(values: Host, axis: int, count: int, ascending: bool) -> Host:
    """Return the indices of the first ``count`` elements in order."""
    length = values.shape[axis]
    lines = onp.moveaxis(values, axis, -1)
    if length < _long_line or count * 8 > length:
        order = _order(lines, -1, ascending)[..., :count]
    else:
        order = onp.empty((*lines.shape[:-1], count), dtype=onp.int64)
        for place in onp.ndindex(lines.shape[:-1]):
            order[place] = _first_of_line(lines[place], count, ascending)
    return onp.moveaxis(order, -1, axis)


def _first_of_line(line: Host, count: int, ascending: bool) -> Host:
    """Sort only what reaches the last of the wanted elements."""
    place = count - 1 if ascending else len(line) - count
    limit = onp.partition(line, place)[place]
    if limit != limit:  # nan is in no order with others
        return _order(line, 0, ascending)[:count]
    reaches = line <= limit if ascending else ~(line < limit)
    candidates = onp.nonzero(reaches)[0]
    return candidates[_order(line[candidates], 0, ascending)[:count]]

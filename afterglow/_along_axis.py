# SPDX-License-Identifier: Apache-2.0
"""Softmax, masks and norms along an axis, made of other ops for both kinds of arrays.

Along the last axis the ops of one function run as one pass over memory.
"""

from __future__ import annotations

from typing import Any

from ._core import operation
from ._dtype import DTYPES, FLOAT16, FLOAT32, FLOAT64, FLOATING, INT32, INT64, dtype_number
from ._shapes import Shape, as_axis, as_float, normal_axis
from .error import ArrayTypeError, ArrayValueError

#: A longer row is cut into parts for several threads.
_LONGEST_ROW = 16384


class AlongAxis:
    """The functions, for arrays of ``nd`` (``legacy``) or of ``np``."""

    def __init__(self, legacy: bool) -> None:
        self._legacy = legacy
        self._max = operation("max", legacy)
        self._sum = operation("sum", legacy)
        self._subtract = operation("subtract", legacy)
        self._divide = operation("divide", legacy)
        self._add = operation("add", legacy)
        self._negative = operation("negative", legacy)
        self._exp = operation("exp", legacy)
        self._log = operation("log", legacy)
        self._sqrt = operation("sqrt", legacy)
        self._square = operation("square", legacy)
        self._maximum = operation("maximum", legacy)
        self._minimum = operation("minimum", legacy)
        self._less = operation("less", legacy)
        self._equal = operation("equal", legacy)
        self._where = operation("where", legacy)
        self._copy = operation("copy", legacy)
        self._arange = operation("arange", legacy)
        self._softmax = operation("softmax", legacy)
        self._reverse = operation("SequenceReverse", legacy)

    # --- softmax ---

    def softmax(
        self,
        name: str,
        data: Any,
        axis: Any,
        temperature: float | None,
        dtype: Any,
        length: Any = None,
        use_length: bool = False,
        out: Any = None,
        *,
        logarithm: bool = False,
        negative: bool = False,
    ) -> Any:
        """Return e to the power of the elements, divided by the sum along the axis.

        ``length`` says how many elements along the axis count; the others become 0.
        """
        if bool(use_length) != (length is not None):
            raise ArrayValueError(f"[{name}] an array of lengths and use_length go together")
        number = self._real(name, data, dtype)
        values = self._wide(data, number)
        if negative:
            values = self._negative(values)
        if temperature is not None and temperature != 1:
            values = self._divide(values, as_float(temperature, "temperature"))
        if not data.size:
            return self._stored(values, number, out)
        shape = data.shape or (1,)
        position = normal_axis(as_axis(axis), len(shape))
        values = values if data.ndim else values._shaped(shape)
        mask = None
        if length is not None:
            mask = self._length_mask(name, length, shape, position)
            values = self._choose(mask, values, float("-inf"))
        last = position == len(shape) - 1 and shape[position] <= _LONGEST_ROW
        if mask is None and last and values._dtype_number != FLOAT16:
            result = self._softmax(values, logarithm=logarithm)
            return self._stored(result if data.ndim else result._shaped(()), number, out)
        centred = self._subtract(values, self._max(values, (position,), True))
        powers = self._exp(centred)
        total = self._sum(powers, (position,), True)
        if logarithm:
            result = self._subtract(centred, self._log(total))
        else:
            result = self._divide(powers, total)
        if mask is not None:
            result = self._choose(mask, result, 0)
        return self._stored(result if data.ndim else result._shaped(()), number, out)

    def _length_mask(self, name: str, length: Any, shape: Shape, axis: int) -> Any:
        expected = shape[:axis] + shape[axis + 1 :]
        if length.shape != expected:
            raise ArrayValueError(
                f"[{name}] length has shape {length.shape}; along axis {axis} of {shape} it must "
                f"be {expected}"
            )
        if length._dtype_number in FLOATING:
            raise ArrayTypeError(
                f"[{name}] length must hold integers, not {DTYPES[length._dtype_number].name}"
            )
        return self._mask(length, (*expected[:axis], 1, *expected[axis:]), shape, axis)

    def picked_logarithms(self, probabilities: Any, label: Any) -> Any:
        """Return the logarithm of each row's entry at the label, of 1e-8 where there is none.

        A label too great for the row takes the last entry, as in MXNet.
        """
        rows, columns = probabilities.shape
        places = self._minimum(self._copy(label, dtype=INT64)._shaped((rows, 1)), columns - 1)
        chosen = self._equal(self._steps(columns, INT64, (1, columns), label), places)
        picked = self._sum(self._choose(chosen, probabilities, 0), (1,))
        return self._log(self._maximum(picked, 1e-8))

    # --- sequences ---

    def sequence_mask(
        self, name: str, data: Any, lengths: Any, value: float, axis: Any, out: Any
    ) -> Any:
        """Return the sequences with ``value`` behind their lengths."""
        position = self._sequence_axis(name, data, lengths, axis)
        if lengths is None:
            return self._copy(data, out=out)
        mask = self._sequence_steps(data, lengths, position, self._less)
        return self._stored(self._choose(mask, data, value), data._dtype_number, out)

    def sequence_last(self, name: str, data: Any, lengths: Any, axis: Any, out: Any) -> Any:
        """Return the last step of each sequence; zeros where there is none."""
        position = self._sequence_axis(name, data, lengths, axis)
        if lengths is None:
            shape, strides = data.shape, data._strides
            last = data._view(
                (shape[position] - 1) * strides[position],
                shape[:position] + shape[position + 1 :],
                strides[:position] + strides[position + 1 :],
            )
            return self._copy(last, out=out)
        mask = self._sequence_steps(data, self._subtract(lengths, 1), position, self._equal)
        return self._sum(self._choose(mask, data, 0), (position,), out=out)

    def sequence_reverse(self, name: str, data: Any, lengths: Any, axis: Any, out: Any) -> Any:
        """Return each sequence from its last step to its first."""
        if self._sequence_axis(name, data, lengths, axis) != 0:
            raise ArrayValueError(f"[{name}] axis must be 0, but is {axis}")
        if lengths is not None:
            return self._reverse(data, lengths, out=out)
        stride, *strides = data._strides
        offset = (data.shape[0] - 1) * stride if data.size else 0
        return self._copy(data._view(offset, data.shape, (-stride, *strides)), out=out)

    @staticmethod
    def _sequence_axis(name: str, data: Any, lengths: Any, axis: Any) -> int:
        """Check that time is axis 0 or 1, and that the other one has a length each."""
        position = as_axis(axis)
        if position not in (0, 1) or data.ndim < 2:
            raise ArrayValueError(
                f"[{name}] needs two dimensions or more and time along axis 0 or 1, but the axis "
                f"is {position} and the shape {data.shape}"
            )
        if lengths is not None and lengths.shape != (data.shape[1 - position],):
            raise ArrayValueError(
                f"[{name}] sequence_length has shape {lengths.shape}; for data of shape "
                f"{data.shape} it must be {(data.shape[1 - position],)}"
            )
        return position

    def _sequence_steps(self, data: Any, lengths: Any, axis: int, compare: Any) -> Any:
        """Compare the number of each step with an entry of each sequence."""
        ones = (1,) * (data.ndim - 2)
        shape = (1, lengths.size, *ones) if axis == 0 else (lengths.size, 1, *ones)
        return self._mask(lengths, shape, data.shape, axis, compare)

    # --- norms ---

    def normalize(self, data: Any, axes: Shape, eps: float, out: Any) -> Any:
        """Return the elements divided by the 2-norm along the axes."""
        number = data._dtype_number
        values = self._wide(data, number)
        squares = self._square(values)
        total = self._sum(squares, axes, True) if axes else squares
        return self._stored(
            self._divide(values, self._sqrt(self._add(total, as_float(eps, "eps")))), number, out
        )

    # --- parts ---

    def _real(self, name: str, data: Any, dtype: Any) -> int:
        """Return the type of the result, which like that of the array must be floating."""
        own = data._dtype_number
        number: int = own if dtype is None else dtype_number(dtype)
        if own not in FLOATING or number not in FLOATING:
            wrong = number if own in FLOATING else own
            raise ArrayTypeError(f"[{name}] needs a floating type, not {DTYPES[wrong].name}")
        return number

    def _wide(self, data: Any, number: int) -> Any:
        """Return the array in the type to compute a result of that type in: float16 is widened."""
        own = data._dtype_number
        wanted = FLOAT64 if FLOAT64 in (own, number) else FLOAT32
        return data if own == wanted else self._copy(data, dtype=wanted)

    def _stored(self, result: Any, number: int, out: Any) -> Any:
        if out is None and result._dtype_number == number:
            return result
        return self._copy(result, dtype=number, out=out)

    def _steps(self, count: int, number: int, shape: Shape, like: Any) -> Any:
        """Return 0, 1, 2, ... in a shape with one axis longer than 1."""
        return self._arange(0, 1, count, 1, number, ctx=like._context_numbers)._shaped(shape)

    def _mask(
        self, lengths: Any, lengths_shape: Shape, shape: Shape, axis: int, compare: Any = None
    ) -> Any:
        """Compare the places along an axis of ``shape`` with lengths, to be broadcast."""
        number = lengths._dtype_number
        if number not in (FLOAT32, FLOAT64, INT32, INT64):  # others may not count so far
            number = FLOAT32 if number == FLOAT16 else INT32
            lengths = self._copy(lengths, dtype=number)
        along = tuple(extent if position == axis else 1 for position, extent in enumerate(shape))
        steps = self._steps(shape[axis], number, along, lengths)
        return (compare or self._less)(steps, lengths._shaped(lengths_shape))

    def _choose(self, mask: Any, data: Any, value: float) -> Any:
        """Return the elements where the mask, broadcast, is 1, and ``value`` elsewhere."""
        if not self._legacy:
            return self._where(mask, data, value)
        kind = data._dtype_number
        filler = self._copy(value, shape=data.shape, dtype=kind, ctx=data._context_numbers)
        return self._where(self._copy(mask, shape=data.shape, dtype=kind), data, filler)

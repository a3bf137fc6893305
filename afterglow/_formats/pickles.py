# SPDX-License-Identifier: Apache-2.0
"""Pickles as data: what MXNet keeps in pickles is read and written without calling anything.

Python's own ``pickle`` calls whatever a file names, with whatever arguments it gives. Here a name
stays a :class:`Name`, and what a pickle would make by calling one stays a :class:`Made` that says
how: whoever asked knows the few that mean something, and refuses the others.

A damaged file raises a ValueError. Time and memory are in proportion to the bytes it has, whatever
numbers stand in it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as onp

from .._arrays.shapes import Shape, is_possible


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a class or function."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(slots=True, eq=False)
class Made:
    """What is made by calling a name, or as a new object of a class, and then given a state."""

    name: Name
    arguments: tuple[Any, ...] = ()
    state: Any = None
    is_new: bool = False


# --- writing ---


def write(value: Any) -> bytes:
    """Return a pickle (protocol 4) of numbers, text, bytes, containers and what is to be made.

    Other values raise a TypeError, a container that holds itself a RecursionError.
    """
    parts = [b"\x80\x04"]
    _write(value, parts)
    parts.append(b".")
    return b"".join(parts)


def _write(value: Any, parts: list[bytes]) -> None:
    """Append the instructions that make a value."""
    if value is None or isinstance(value, bool):
        parts.append({None: b"N", True: b"\x88", False: b"\x89"}[value])
    elif isinstance(value, int):
        parts.append(_number(value))
    elif isinstance(value, float):
        parts.append(b"G" + struct.pack(">d", value))
    elif isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        parts.append(b"X" + struct.pack("<I", len(text)) + text)
    elif isinstance(value, bytes):
        parts += (b"\x8e" + struct.pack("<Q", len(value)), value)
    elif isinstance(value, tuple):
        _write_all(b"(", value, b"t", parts)
    elif isinstance(value, list):
        _write_all(b"](", value, b"e", parts)
    elif isinstance(value, dict):
        _write_all(b"}(", (one for item in value.items() for one in item), b"u", parts)
    elif isinstance(value, Name):
        parts.append(f"c{value.module}\n{value.name}\n".encode())
    elif isinstance(value, Made):
        pair = value.name, value.arguments
        _write_all(b"", pair, b"\x81" if value.is_new else b"R", parts)
        if value.state is not None:
            _write_all(b"", (value.state,), b"b", parts)
    else:
        raise TypeError(f"a {type(value).__qualname__} cannot be written")


def _write_all(start: bytes, values: Iterable[Any], end: bytes, parts: list[bytes]) -> None:
    parts.append(start)
    for one in values:
        _write(one, parts)
    parts.append(end)


def _number(value: int) -> bytes:
    if -(2**31) <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    number = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    if len(number) > 255:
        raise TypeError("a whole number of more than 255 bytes cannot be written")
    return b"\x8a" + struct.pack("<B", len(number)) + number


# --- reading ---


def read(data: bytes) -> Any:
    """Return what a pickle holds, of the kinds that ``write`` takes."""
    reader = _Reader(data)
    try:
        return reader.read()
    except (IndexError, KeyError, TypeError, ValueError, struct.error) as error:
        raise ValueError(f"damaged at byte {reader.place}: {error}") from None


class _Reader:
    """A stack on which instructions put values together, and a memory of values made before."""

    def __init__(self, data: bytes) -> None:
        self.place = 0
        self._data = data
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memory: dict[int, Any] = {}

    def read(self) -> Any:
        while (code := self.take(1)) != b".":
            if code not in _INSTRUCTIONS:
                raise ValueError(f"there is no instruction {code!r}")
            _INSTRUCTIONS[code](self)
        (value,) = self._stack
        return value

    def take(self, length: int) -> bytes:
        if length > len(self._data) - self.place:
            raise ValueError(f"{length} bytes are announced, {len(self._data)} are all")
        self.place += length
        return self._data[self.place - length : self.place]

    def number(self, format: str) -> Any:
        return struct.unpack(format, self.take(struct.calcsize(format)))[0]

    def counted(self, format: str) -> bytes:
        """Return bytes that come after their number."""
        return self.take(self.number(format))

    def line(self) -> str:
        end = self._data.index(b"\n", self.place)
        text = self.take(end - self.place).decode()
        self.place += 1
        return text

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def pop(self, kind: type | tuple[type, ...]) -> Any:
        return _need(self._stack.pop(), kind)

    def top(self, kind: type) -> Any:
        return _need(self._stack[-1], kind)

    def mark(self) -> None:
        self._marks.append(len(self._stack))

    def marked(self) -> list[Any]:
        """Return all that was pushed since the last mark."""
        begin = self._marks.pop()
        values = self._stack[begin:]
        del self._stack[begin:]
        return values

    def last(self, count: int) -> list[Any]:
        return [self._stack.pop() for _ in range(count)][::-1]

    def append(self, values: list[Any]) -> None:
        self.top(list).extend(values)

    def set_items(self, items: list[Any]) -> None:
        keys, values = items[::2], items[1::2]
        # Of other keys some cannot be looked up, and some are looked up without end.
        self.top(dict).update(zip([_need(key, (int, str)) for key in keys], values, strict=True))

    def make(self, is_new: bool) -> None:
        arguments = self.pop(tuple)
        self.push(Made(self.pop(Name), arguments, is_new=is_new))

    def build(self) -> None:
        (state,) = self.last(1)
        made = self.top(Made)
        if made.state is not None:
            raise ValueError("a state is set twice")
        made.state = state

    def keep(self, number: int) -> None:
        self._memory[number] = self._stack[-1]

    def recall(self, number: int) -> None:
        self.push(self._memory[number])

    def memorize(self) -> None:
        self.keep(len(self._memory))


def _need(value: Any, kind: type | tuple[type, ...]) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"a {type(value).__name__} stands where it means nothing")
    return value


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


#: What protocols 2 to 5 use for such values. Text of Python 2 stays bytes.
_INSTRUCTIONS: dict[bytes, Callable[[_Reader], Any]] = {
    b"\x80": lambda r: r.take(1),  # the protocol
    b"\x95": lambda r: r.take(8),  # the size of a frame
    b"N": lambda r: r.push(None),
    b"\x88": lambda r: r.push(True),
    b"\x89": lambda r: r.push(False),
    b"J": lambda r: r.push(r.number("<i")),
    b"K": lambda r: r.push(r.number("<B")),
    b"M": lambda r: r.push(r.number("<H")),
    b"\x8a": lambda r: r.push(int.from_bytes(r.counted("<B"), "little", signed=True)),
    b"G": lambda r: r.push(r.number(">d")),
    b"X": lambda r: r.push(_text(r.counted("<I"))),
    b"\x8c": lambda r: r.push(_text(r.counted("<B"))),
    b"\x8d": lambda r: r.push(_text(r.counted("<Q"))),
    b"B": lambda r: r.push(r.counted("<I")),
    b"C": lambda r: r.push(r.counted("<B")),
    b"T": lambda r: r.push(r.counted("<I")),
    b"U": lambda r: r.push(r.counted("<B")),
    b"\x8e": lambda r: r.push(r.counted("<Q")),
    b"\x96": lambda r: r.push(r.counted("<Q")),
    b"(": lambda r: r.mark(),
    b")": lambda r: r.push(()),
    b"t": lambda r: r.push(tuple(r.marked())),
    b"\x85": lambda r: r.push(tuple(r.last(1))),
    b"\x86": lambda r: r.push(tuple(r.last(2))),
    b"\x87": lambda r: r.push(tuple(r.last(3))),
    b"]": lambda r: r.push([]),
    b"a": lambda r: r.append(r.last(1)),
    b"e": lambda r: r.append(r.marked()),
    b"}": lambda r: r.push({}),
    b"s": lambda r: r.set_items(r.last(2)),
    b"u": lambda r: r.set_items(r.marked()),
    b"c": lambda r: r.push(Name(r.line(), r.line())),
    b"\x93": lambda r: r.push(Name(*(_need(one, str) for one in r.last(2)))),
    b"R": lambda r: r.make(is_new=False),
    b"\x81": lambda r: r.make(is_new=True),
    b"b": lambda r: r.build(),
    b"q": lambda r: r.keep(r.number("<B")),
    b"r": lambda r: r.keep(r.number("<I")),
    b"\x94": lambda r: r.memorize(),
    b"h": lambda r: r.recall(r.number("<B")),
    b"j": lambda r: r.recall(r.number("<I")),
}


# --- NumPy's arrays ---

_MODULES = ("numpy.core.multiarray", "numpy._core.multiarray")
_RECONSTRUCT = [Name(module, "_reconstruct") for module in _MODULES]
_SCALAR = [Name(module, "scalar") for module in _MODULES]
#: Where NumPy writes arrays as a buffer, as protocol 5 lets it.
_FROM_BUFFER = [
    Name(module, "_frombuffer") for module in ("numpy.core.numeric", "numpy._core.numeric")
]
_TYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")


def numpy_array(value: Any) -> onp.ndarray[Any, Any]:
    """Return the array of numbers that a pickle of NumPy's describes."""
    if not isinstance(value, Made):
        raise ValueError(f"a {type(value).__name__} stands in the place of an array")
    if value.name in _RECONSTRUCT:
        _, shape, dtype, in_fortran_order, data = _fields(value.state, 5)
    elif value.name in _FROM_BUFFER:
        data, dtype, shape, order = _fields(value.arguments, 4)
        in_fortran_order = order == "F"
    elif value.name in _SCALAR:
        dtype, data = _fields(value.arguments, 2)
        shape, in_fortran_order = (), False
    else:
        raise ValueError(f"{value.name!s:.100} is not known")
    if not isinstance(data, bytes):
        raise ValueError("an array without bytes")
    kind = _numpy_type(dtype)
    host = onp.frombuffer(data, kind).astype(kind.newbyteorder("="), copy=False)
    return host.reshape(_shape(shape, host.size), order="F" if in_fortran_order else "C")


def _fields(value: Any, count: int) -> tuple[Any, ...]:
    if not isinstance(value, tuple) or len(value) != count:
        raise ValueError(f"an array is not described by {count} values")
    return value


def _shape(value: Any, size: int) -> Shape:
    extents = value if isinstance(value, tuple) else ()
    if any(type(one) is not int for one in extents) or not is_possible(extents):
        raise ValueError("a shape that no array has")
    if math.prod(extents) != size:
        raise ValueError(f"{size} elements for the shape {extents}")
    return extents


def _numpy_type(value: Any) -> onp.dtype[Any]:
    if isinstance(value, Made) and value.name == Name("numpy", "dtype") and value.arguments:
        code, order = value.arguments[0], _fields(value.state, 8)[1]
        code, order = (one.decode() if isinstance(one, bytes) else one for one in (code, order))
        if code in _TYPES and order in ("<", ">", "|", "="):
            return onp.dtype(order + code)
    raise ValueError("an array of a type that is not known")

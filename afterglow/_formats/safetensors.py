# SPDX-License-Identifier: Apache-2.0
"""The safetensors format: arrays with names, which other libraries read and write.

A file is::

    uint64 length of the header, the header in JSON, then the elements of all arrays
    {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {...}}

Offsets count from the end of the header. Arrays lie one behind the other without holes, in C order
and little-endian. We write the widest types first and a header whose length is a multiple of 8, so
that who maps the file finds each array at a multiple of the size of its elements.

A damaged file raises; no more memory is taken than a few times its bytes.
"""

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Iterable, Sequence
from typing import IO, Any

import numpy as onp

from .._arrays.dtypes import DTYPES, FLOAT32, dtype_number
from .._arrays.shapes import Shape, is_possible
from .._core import from_buffer
from ..error import (
    ArrayNotImplementedError,
    ArrayTypeError,
    ArrayValueError,
    FileError,
)
from .params import Path, as_utf8, replace

SUFFIX = ".safetensors"

#: The format's name of a type by ours.
_NAMES = {
    "float32": "F32",
    "float64": "F64",
    "float16": "F16",
    "uint8": "U8",
    "int32": "I32",
    "int8": "I8",
    "int64": "I64",
    "bool": "BOOL",
}
_TYPES = {name: onp.dtype(ours) for ours, name in _NAMES.items()}
_BRAIN_FLOAT = "BF16"  # the upper half of a float32, as which it is read
_METADATA = "__metadata__"
_MOST_HEADER = 100_000_000  # bytes, as the format says
_MOST_RANK = 32
_CPU = (1, 0)


def is_path(path: Path) -> bool:
    """Tell whether a name is one of such files."""
    return str(os.fspath(path)).endswith(SUFFIX)


def is_start(start: bytes) -> bool:
    """Tell whether a file that begins with these nine bytes is of this format."""
    return start[8:9] == b"{"


# --- writing ---


def save(path: Path, arrays: Sequence[Any], names: Iterable[str]) -> None:
    """Write arrays; waits for their values. A file of that name is replaced when all is written."""
    named = dict(zip(names, arrays, strict=False))
    if len(named) != len(arrays):
        raise ArrayValueError(
            f"[save] {len(arrays)} arrays without names; a {SUFFIX} file needs a dictionary"
        )
    for name, array in named.items():
        if array.stype != "default":
            raise ArrayNotImplementedError(
                f"[save] {name!r} is a {array.stype} array; a {SUFFIX} file holds dense ones"
            )
        if name == _METADATA:
            raise ArrayValueError(f"[save] no array in a {SUFFIX} file can be named {name!r}")
    order = sorted(named, key=lambda name: -DTYPES[named[name]._dtype_number].itemsize)
    header: dict[str, Any] = {}
    end = 0
    for name in order:
        array = named[name]
        dtype = DTYPES[array._dtype_number]
        begin, end = end, end + math.prod(array.shape) * dtype.itemsize
        header[name] = {
            "dtype": _NAMES[dtype.name],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    text = as_utf8(json.dumps(header, ensure_ascii=False, separators=(",", ":")))
    text += b" " * (-len(text) % 8)

    def write(file: IO[bytes]) -> None:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            host = named[name].asnumpy()
            file.write(onp.ascontiguousarray(host).tobytes() if host.size else b"")

    replace(path, write)


# --- reading ---


def load(file: IO[bytes], size: int, legacy: bool, name: str) -> dict[str, Any]:
    """Return the arrays in a file of so many bytes, by name. BF16 is read as float32."""
    return _Reader(file, size, legacy, name).read()


class _Reader:
    def __init__(self, file: IO[bytes], size: int, legacy: bool, name: str) -> None:
        self._file, self._size, self._legacy, self._name = file, size, legacy, name

    def read(self) -> dict[str, Any]:
        entries = self._header()
        found = {}
        at = 0
        for name, entry in sorted(entries.items(), key=lambda item: self._range(*item)):
            begin, end = self._range(name, entry)
            if begin != at:
                what = "overlaps what is before it" if begin < at else "leaves a hole before it"
                raise self._damaged(f"{name!r} at bytes {begin} to {end} {what}, at {at}")
            if end > self._left:
                raise self._damaged(f"{name!r} ends at byte {end}, there are {self._left}")
            found[name] = self._array(name, entry, end - begin)
            at = end
        if at != self._left:
            raise self._damaged(f"{self._left - at} bytes are left over")
        return {name: found[name] for name in entries}

    def _header(self) -> dict[str, Any]:
        start = self._file.read(8)
        if len(start) < 8:
            raise self._damaged(f"it has {self._size} bytes, its header alone needs more")
        (length,) = struct.unpack("<Q", start)
        self._left = self._size - 8 - length
        if self._left < 0 or length > _MOST_HEADER:
            raise self._damaged(f"a header of {length} bytes is announced, it has {self._size}")
        data = self._file.read(length)
        if not data.startswith(b"{"):
            raise self._damaged("its header does not begin with a brace")
        try:
            header = json.loads(data.decode(), object_pairs_hook=self._once)
        except (ValueError, RecursionError) as error:
            raise self._damaged(f"its header is no JSON: {error}") from None
        metadata = header.pop(_METADATA, {})
        if not isinstance(metadata, dict) or any(type(one) is not str for one in metadata.values()):
            raise self._damaged(f"its {_METADATA} are no texts by name")
        return dict(header)

    def _once(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Return what stands between braces, where no name stands twice."""
        found = dict(pairs)
        if len(found) != len(pairs):
            raise self._damaged("a name stands twice in its header")
        return found

    def _range(self, name: str, entry: Any) -> tuple[int, int]:
        """Return where the elements of an array begin and end."""
        offsets: Any = entry.get("data_offsets") if isinstance(entry, dict) else None
        if not _are_extents(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
            raise self._damaged(f"{name!r} has no two offsets")
        return offsets[0], offsets[1]

    def _array(self, name: str, entry: dict[str, Any], length: int) -> Any:
        kind: Any = entry.get("dtype")
        shape: Any = entry.get("shape")
        if not isinstance(kind, str) or not _are_extents(shape) or len(shape) > _MOST_RANK:
            raise self._damaged(f"{name!r} has no type and shape")
        is_brain = kind == _BRAIN_FLOAT
        if kind not in _TYPES and not is_brain:
            known = ", ".join((*_TYPES, _BRAIN_FLOAT))
            raise ArrayTypeError(
                f"[load] {name!r} in {self._name} is of type {kind[:40]}, which no array can have; "
                f"those of {known} can be read"
            )
        extents: Shape = tuple(shape)
        dtype = onp.dtype("uint16") if is_brain else _TYPES[kind]
        if not is_possible(extents) or math.prod(extents) * dtype.itemsize != length:
            raise self._damaged(
                f"{name!r} of type {kind} and shape {extents} does not fit into {length} bytes"
            )
        data = self._file.read(length)
        if len(data) != length:
            raise self._damaged(f"it was cut off while it was read, in {name!r}")
        host = onp.frombuffer(data, dtype.newbyteorder("<")).astype(dtype, copy=False)
        if is_brain:
            wide = (host.astype("uint32") << 16).view("float32")
            return from_buffer(wide, extents, FLOAT32, _CPU, self._legacy)
        if kind == "BOOL":
            host = host.view("uint8") != 0
        return from_buffer(host, extents, dtype_number(dtype), _CPU, self._legacy)

    def _damaged(self, what: str) -> FileError:
        return FileError(f"[load] {self._name} is no {SUFFIX} file, or damaged: {what}")


def _are_extents(value: Any) -> bool:
    """Tell whether something is a list of whole numbers that are not negative."""
    return isinstance(value, list) and all(type(one) is int and one >= 0 for one in value)

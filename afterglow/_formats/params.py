# SPDX-License-Identifier: Apache-2.0
"""MXNet's format for arrays in files (``.params``), and what else ``load`` understands.

A file is a list of arrays and a list of names, which is empty or as long::

    uint64 0x112, uint64 0
    uint64 count, then per array:
        uint32 magic, int32 storage type (0: dense), shape: int32 rank, int64 extents
        int32 device type, int32 device id, int32 type number, the elements in C order
    uint64 count, then per name: uint64 length, UTF-8

A sparse array (storage type 1: row_sparse, 2: csr) has the shape of its data before its own, and
behind the type number those of its indices (of csr first of where rows begin) with their shapes,
then the data and the indices.

The magic says whose rules of shapes hold. MXNet reads arrays of one kind only, depending on its
mode. Older files have no storage type, and the oldest no magic: the rank stands in its place, and
ranks and extents are uint32. Numbers are little-endian.

A damaged file raises; no more memory is taken than it has bytes.
"""

from __future__ import annotations

import io
import math
import os
import stat
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any

import numpy as onp

from .._arrays.dtypes import DTYPES, dtype_number, is_known
from .._arrays.shapes import Shape, is_possible
from .._core import from_buffer, make_sparse, sparse_parts
from ..error import (
    ArrayMemoryError,
    ArrayNotImplementedError,
    ArrayTypeError,
    ArrayValueError,
    FileError,
    MissingFileError,
    MXNetError,
)

_LIST = 0x112
_FIRST = 0xF993FAC8  # before there were storage types
_CLASSIC = 0xF993FAC9  # rank 0 means that there is no array
_NUMPY = 0xF993FACA  # rank 0 is a number, extents may be 0
_STORAGE_TYPES = {1: "row_sparse", 2: "csr"}
_CPU = (1, 0)
_MOST_RANK = 32
#: Every array takes at least a magic and a rank, every name a length.
_LEAST = 8

_NPY_HEADERS = {
    (1, 0): onp.lib.format.read_array_header_1_0,
    (2, 0): onp.lib.format.read_array_header_2_0,
}
#: No more bytes come out of a packed one.
_MOST_PACKED = 1032
#: What is read from a pipe, which cannot tell how much it has.
MOST_PIPED = 2**30

Path = str | os.PathLike[str]


# --- writing ---


def save(path: Path, arrays: Sequence[Any], names: Iterable[str], numpy_shapes: bool) -> None:
    """Write arrays; waits for their values. A file of that name is replaced when all is written.

    Arrays without dimensions or elements exist by NumPy's rules only, and one of them decides for
    the whole file. A name that ends so is that of a safetensors file.
    """
    from . import safetensors  # here: it uses this module

    if safetensors.is_path(path):
        safetensors.save(path, arrays, names)
        return
    numpy_shapes = numpy_shapes or needs_numpy_shapes(arrays)
    encoded = [as_utf8(name) for name in names]

    def write(file: IO[bytes]) -> None:
        file.write(struct.pack("<3Q", _LIST, 0, len(arrays)))
        for array in arrays:
            file.writelines(_pieces(array, numpy_shapes))
        file.write(struct.pack("<Q", len(encoded)))
        for name in encoded:
            file.write(struct.pack("<Q", len(name)) + name)

    replace(path, write)


def as_utf8(text: str) -> bytes:
    """Return a text as it stands in a file."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ArrayValueError(f"[save] half a character cannot be written: {error}") from None


def needs_numpy_shapes(arrays: Iterable[Any]) -> bool:
    """Tell whether there is an array that exists by NumPy's rules of shapes only."""
    return any(0 in array.shape or not array.ndim for array in arrays)


def _shape_bytes(shape: Shape) -> bytes:
    return struct.pack(f"<i{len(shape)}q", len(shape), *shape)


def _memory(array: Any) -> Any:
    return array.asnumpy().data.cast("B") if array.size else b""


def _sparse_pieces(array: Any, magic: int) -> tuple[Any, ...]:
    data, indices, indptr = sparse_parts(array)
    others = [indices] if indptr is None else [indptr, indices]
    return (
        struct.pack("<Ii", magic, 1 if indptr is None else 2),
        _shape_bytes(data.shape),
        _shape_bytes(array.shape),
        struct.pack("<3i", *_CPU, array._dtype_number),
        *(struct.pack("<i", one._dtype_number) + _shape_bytes(one.shape) for one in others),
        *map(_memory, (data, *others)),
    )


def _pieces(array: Any, numpy_shapes: bool) -> tuple[Any, ...]:
    shape, magic = array.shape, _NUMPY if numpy_shapes else _CLASSIC
    if array.stype != "default":
        return _sparse_pieces(array, magic)
    return (
        struct.pack(f"<Iii{len(shape)}q", magic, 0, len(shape), *shape),
        struct.pack("<3i", *_CPU, array._dtype_number),
        _memory(array),
    )


def array_to_bytes(array: Any, numpy_shapes: bool) -> bytes:
    """Return one array as it stands in a file. Waits for its value."""
    return b"".join(_pieces(array, numpy_shapes))


def replace(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Call ``write(file)`` with a new file, which then takes the place of ``path``."""
    target = os.path.realpath(path)  # through a link, to the file itself
    if os.path.exists(target) and not os.path.isfile(target):
        with open_file(target, "wb") as device:  # a pipe or a device cannot be replaced
            write(device)
        return
    temporary = f"{target}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    file = open_file(temporary, "xb")
    try:
        with file:
            write(file)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def open_file(path: Path, mode: str, buffering: int = -1) -> IO[Any]:
    """Return an open file, or raise an error of ours."""
    try:
        return open(path, mode, buffering)
    except OSError as error:
        kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
        raise kind(f"{os.fspath(path)!r} cannot be opened: {error.strerror}") from error
    except ValueError as error:
        raise ArrayValueError(f"{os.fspath(path)!r} cannot be opened: {error}") from error


# --- reading ---


def open_to_read(path: Path, buffering: int = -1) -> IO[bytes]:
    """Return an open file that has an end: a device has none, and a pipe must come to one."""
    file = open_file(path, "rb", buffering)
    kind = os.fstat(file.fileno()).st_mode
    if stat.S_ISREG(kind):
        return file
    with file:
        if not stat.S_ISFIFO(kind) and not stat.S_ISSOCK(kind):
            raise FileError(f"{os.fspath(path)!r} is a device; a file or a pipe is needed")
        content = file.read(MOST_PIPED + 1)
    if len(content) > MOST_PIPED:
        raise FileError(
            f"{os.fspath(path)!r} is a pipe of more than {MOST_PIPED} bytes; a file is needed"
        )
    return io.BytesIO(content)


def read(path: Path) -> bytes:
    """Return what is in a file."""
    with open_to_read(path) as file:
        try:
            return file.read()
        except MemoryError:
            raise ArrayMemoryError(f"{os.fspath(path)!r} is larger than memory") from None


def load(path: Path, legacy: bool) -> Any:
    """Return the list or dictionary of arrays in a file: MXNet's, safetensors, npy or npz."""
    from . import safetensors  # here: it uses this module

    with open_to_read(path) as file:
        size, name = file.seek(0, os.SEEK_END), repr(os.fspath(path))
        file.seek(0)
        start = file.read(9)
        file.seek(0)
        if start.startswith(b"\x93NUMPY"):
            return [_from_npy(file, size, legacy, name)]
        if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return _from_npz(file, size, legacy)
        if safetensors.is_start(start) or safetensors.is_path(path):
            return safetensors.load(file, size, legacy, name)
        return load_stream(file, size, legacy, name)


def load_stream(file: IO[bytes], size: int, legacy: bool, name: str) -> Any:
    """Return the list or dictionary of arrays in MXNet's format."""
    file.seek(0)
    return _Reader(file, size, legacy, name).read()


def array_from_bytes(data: bytes, legacy: bool, name: str) -> Any:
    """Return one array that stands in bytes as in a file."""
    reader = _Reader(io.BytesIO(data), len(data), legacy, name)
    array = reader.array()
    reader.end()
    return array


def _from_npy(file: IO[bytes], size: int, legacy: bool, name: str) -> Any:
    try:
        version = onp.lib.format.read_magic(file)
        read_header = _NPY_HEADERS[version]
        shape, fortran_order, dtype = read_header(file)
    except Exception as error:  # the header is parsed as Python, where all kinds of things go wrong
        raise FileError(f"[load] {name} is damaged: {error}") from error
    if not is_known(dtype):
        raise ArrayTypeError(f"[load] {name} holds {dtype}, which no array can have")
    length = math.prod(shape) * dtype.itemsize
    # True is an integer for NumPy's reader of headers, but not for its reshape.
    fits = length <= size - file.tell() and is_possible(shape)
    if not fits or any(type(extent) is bool for extent in shape):
        raise FileError(f"[load] {name} is damaged: shape {shape} does not fit into {size} bytes")
    data = onp.frombuffer(file.read(length), dtype)
    host = data.reshape(shape, order="F") if fortran_order else data.reshape(shape)
    host = host.astype(dtype.newbyteorder("="), order="C", copy=False)
    return from_buffer(host, shape, dtype_number(dtype), _CPU, legacy)


def _from_npz(file: IO[bytes], size: int, legacy: bool) -> dict[str, Any]:
    import zipfile  # here: it takes longer than all other modules of this file

    arrays = {}
    try:
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            packed = sum(entry.compress_size for entry in entries)
            length = sum(entry.file_size for entry in entries)
            if packed > size or length > _MOST_PACKED * size:
                raise FileError(
                    f"[load] the npz file is damaged: it has {size} bytes and announces {packed} "
                    f"packed, {length} unpacked"
                )
            for entry in entries:
                name = entry.filename.removesuffix(".npy")
                data = archive.read(entry)
                arrays[name] = _from_npy(io.BytesIO(data), len(data), legacy, repr(name))
    except MXNetError:
        raise
    except Exception as error:  # of zipfile, zlib, struct and more
        raise FileError(f"[load] the npz file is damaged: {error}") from error
    return arrays


class _Reader:
    """Reads a file front to back; a length is checked against what is left before it is used."""

    def __init__(self, file: IO[bytes], size: int, legacy: bool, name: str) -> None:
        self._file = file
        self._left = size
        self._size = size
        self._legacy = legacy
        self._name = name

    def read(self) -> Any:
        magic, _ = self._numbers("2Q", "the header")
        if magic != _LIST:
            raise self._damaged(f"it begins with {magic:#x}, a file of arrays with {_LIST:#x}")
        arrays = [self.array() for _ in range(self._count("arrays"))]
        names = [self._string() for _ in range(self._count("names"))]
        if not names:
            return arrays
        if len(names) != len(arrays):
            raise self._damaged(f"it has {len(names)} names for {len(arrays)} arrays")
        return dict(zip(names, arrays, strict=True))

    def end(self) -> None:
        if self._left:
            raise self._damaged(f"{self._left} bytes are left over")

    def array(self) -> Any:
        (magic,) = self._numbers("I", "an array")
        if magic in (_CLASSIC, _NUMPY):
            (storage,) = self._numbers("i", "a storage type")
            if storage in _STORAGE_TYPES:
                return self._sparse(_STORAGE_TYPES[storage])
            if storage != 0:
                raise self._damaged(f"storage type {storage} does not exist")
        if magic in (_FIRST, _CLASSIC, _NUMPY):
            (rank,) = self._numbers("i", "a rank")
            shape = self._shape(rank, "q")
        else:
            rank = magic
            shape = self._shape(rank, "I")
        if rank == 0 and magic != _NUMPY:
            raise self._damaged("one of its arrays was never given a shape")
        _, _, number = self._numbers("3i", "device and type")
        return self._elements(shape, self._known(number))

    def _known(self, number: int) -> int:
        if not 0 <= number < len(DTYPES):
            raise self._damaged(f"type number {number} is not one of 0 to {len(DTYPES) - 1}")
        return number

    def _elements(self, shape: Shape, number: int) -> Any:
        length = math.prod(shape) * DTYPES[number].itemsize
        data = self._bytes(length, f"an array of shape {shape} and type {DTYPES[number]}")
        return from_buffer(data, shape, number, _CPU, self._legacy)

    def _sparse(self, stype: str) -> Any:
        """Return a sparse array, whose indices are checked."""
        data_shape, shape = self._ranked_shape(), self._ranked_shape()
        _, _, number = self._numbers("3i", "device and type")
        kinds = []
        for _ in range(1 if stype == "row_sparse" else 2):
            (kind,) = self._numbers("i", "a type of indices")
            kinds.append((self._ranked_shape(), self._known(kind)))
        data = self._elements(data_shape, self._known(number))
        others = [self._elements(*kind) for kind in kinds]
        if not self._legacy:
            raise ArrayNotImplementedError(
                f"[load] {self._name} holds a {stype} array, which np does not have; use nd.load"
            )
        rank = 1 if stype == "csr" else len(shape)
        if data.ndim != rank or not shape or any(one.ndim != 1 for one in others):
            raise self._damaged(f"a {stype} array of shape {shape} with data {data_shape}")
        array = make_sparse(
            shape, data, *(one.astype("int64") for one in others[::-1]), *[None] * (2 - len(others))
        )
        try:
            array.check_format()
        except MXNetError as error:
            raise self._damaged(str(error)) from None
        return array

    def _ranked_shape(self) -> Shape:
        (rank,) = self._numbers("i", "a rank")
        return self._shape(rank, "q")

    def _shape(self, rank: int, code: str) -> Shape:
        if not 0 <= rank <= _MOST_RANK:
            raise self._damaged(f"an array of {rank} dimensions; the most is {_MOST_RANK}")
        shape = self._numbers(f"{rank}{code}", "a shape")
        if not is_possible(shape):
            raise self._damaged(f"an array of shape {shape}")
        return shape

    def _string(self) -> str:
        (length,) = self._numbers("Q", "a name")
        try:
            return self._bytes(length, "a name").decode()
        except UnicodeDecodeError as error:
            raise self._damaged(f"a name is not UTF-8: {error}") from None

    def _count(self, what: str) -> int:
        (count,) = self._numbers("Q", f"the number of {what}")
        if count > self._left // _LEAST:
            raise self._damaged(f"{count} {what} are announced, {self._left} bytes are left")
        return int(count)

    def _numbers(self, format: str, what: str) -> tuple[int, ...]:
        # An explicit byte order also means that there is no padding.
        return struct.unpack("<" + format, self._bytes(struct.calcsize("<" + format), what))

    def _bytes(self, length: int, what: str) -> bytes:
        if length > self._left:
            raise self._damaged(f"{what} needs {length} bytes, {self._left} are left")
        data = self._file.read(length)
        if len(data) != length:
            raise self._damaged(f"it was cut off while it was read, in {what}")
        self._left -= length
        return data

    def _damaged(self, what: str) -> FileError:
        position = self._size - self._left
        return FileError(
            f"[load] {self._name} is no file of arrays, or damaged, at byte {position}: {what}"
        )

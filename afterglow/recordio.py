# SPDX-License-Identifier: Apache-2.0
"""``mx.recordio``: files of records, one behind the other, and the header of a labelled record.

A record is written in one part or, where its bytes hold the magic number at a multiple of four, in
several, between which the magic numbers are left out. A part is::

    uint32 magic, uint32 kind << 29 | length, the bytes, zeros up to a multiple of four

``kind`` is 0 for a whole record, else 1 for its first part, 3 for its last and 2 between. So the
magic number stands at a multiple of four where a part begins, and nowhere else. An index is a text
with a line for each record: its key, a tab, and the byte where it begins. Numbers are
little-endian.

Lengths are compared with the size of a file before they are believed: a damaged file raises, and
no more memory is taken than it has bytes.
"""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from numbers import Number
from typing import IO, Any, NamedTuple

import numpy as onp

from ._formats import params as _files
from ._formats import pictures
from ._package.namespace import tend
from .error import (
    ArrayTypeError,
    ArrayValueError,
    FileError,
    MismatchError,
    MXNetError,
    UnknownKeyError,
    as_ours,
)

__all__ = [
    "IRHeader",
    "MXIndexedRecordIO",
    "MXRecordIO",
    "pack",
    "pack_img",
    "unpack",
    "unpack_img",
]

#: What records are made of.
Content = bytes | bytearray | memoryview

_MAGIC = 0xCED7230A
_MAGIC_BYTES = struct.pack("<I", _MAGIC)
_HEAD = struct.Struct("<2I")
_LENGTH_BITS = 29
_MOST = (1 << _LENGTH_BITS) - 1
_WHOLE, _FIRST, _BETWEEN, _LAST = range(4)


class MXRecordIO:
    """Writes records to a file (``flag="w"``), or reads them in their order (``"r"``).

    A file that is written is emptied first. What was written is in the file when :meth:`write`
    returns. A reader may be used by several threads; after a fork it must be opened again by
    :meth:`reset`. A pickled reader begins at the first record.

    >>> import os, tempfile
    >>> from afterglow import recordio
    >>> path = os.path.join(tempfile.mkdtemp(), "data.rec")
    >>> writer = recordio.MXRecordIO(path, "w")
    >>> for i in range(2):
    ...     writer.write(b"record %d" % i)
    >>> writer.close()
    >>> reader = recordio.MXRecordIO(path, "r")
    >>> reader.read(), reader.read(), reader.read()
    (b'record 0', b'record 1', None)
    """

    #: Small records are read this many bytes at a time.
    _BUFFER = 1 << 15

    is_open = False
    writable: bool

    def __init__(self, uri: str | os.PathLike[str], flag: str) -> None:
        self.uri = os.fspath(uri)
        self.flag = flag
        self.pid: int | None = None
        self.open()

    def open(self) -> None:
        """Open the file, at its first record."""
        if self.flag not in ("r", "w"):
            raise ArrayValueError(
                f"[{type(self).__name__}] Invalid flag {self.flag!r}; 'r' or 'w' is needed"
            )
        self.writable = self.flag == "w"
        # Nothing is buffered for writing: a fork would have it written twice.
        self._file: IO[bytes] = (
            _files.open_file(self.uri, "wb", 0)
            if self.writable
            else _files.open_to_read(self.uri, self._BUFFER)
        )
        self._end = 0 if self.writable else self._size()
        self._turn = threading.Lock()
        self.pid = os.getpid()
        self.is_open = True

    def close(self) -> None:
        """Close the file."""
        if self.is_open:
            self.is_open = False
            self.pid = None
            self._file.close()

    def reset(self) -> None:
        """Begin again with the first record; a file that is written is emptied."""
        self.close()
        self.open()

    def __del__(self) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        if self.is_open and self.writable:
            raise MXNetError(
                f"[{type(self).__name__}] {self.uri!r} is being written, and its copy would empty "
                "it; close it first"
            )
        kept = dict(self.__dict__)
        for name in ("_file", "_turn", "_end"):
            kept.pop(name, None)
        return kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, is_open=False)
        if state["is_open"]:
            self.open()

    def write(self, buf: Content) -> None:
        """Append a record."""
        self._check(writing=True)
        with self._turn:
            self._append(buf)

    def read(self) -> bytes | None:
        """Return the next record, None behind the last."""
        self._check(writing=False)
        with self._turn:
            return self._next()

    def _check(self, writing: bool) -> None:
        """Refuse what the file is not open for."""
        if self.pid == os.getpid() and self.writable == writing:
            return
        name = f"[{type(self).__name__}] {self.uri!r}"
        if not self.is_open:
            raise MismatchError(f"{name} is closed")
        if self.writable != writing:
            raise MismatchError(
                f"{name} is open to be {'written' if self.writable else 'read'}, and not to be "
                f"{'written' if writing else 'read'}"
            )
        raise MXNetError(
            f"[{type(self).__name__}] Forbidden operation in multiple processes: {self.uri!r} was "
            "opened by another process; call reset() in this one"
        )

    def _append(self, buf: Content) -> None:
        data = _as_bytes(buf, "[write] a record")
        if len(data) > _MOST:
            raise ArrayValueError(
                f"[write] a record of {len(data)} bytes; RecordIO has records of less than "
                f"{_MOST + 1} bytes"
            )
        parts = _parts(data)
        try:
            rest = memoryview(parts)
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            # What comes next must not stand behind a half.
            with suppress(OSError):
                self._file.truncate(self._end)
                self._file.seek(self._end)
            raise FileError(
                f"[write] {self.uri!r} cannot be written to: {error.strerror}"
            ) from error
        self._end += len(parts)

    def _next(self) -> bytes | None:
        read = self._file.read
        head = read(8)
        if len(head) < 8:
            if not head:
                return None
            raise self._damaged(-len(head), f"a record begins and ends after {len(head)} bytes")
        magic, word = _HEAD.unpack(head)
        if magic != _MAGIC or word > _MOST:  # in several parts, or damaged
            return self._several(magic, word)
        return self._content(word)

    def _content(self, length: int) -> bytes:
        """Return the bytes of a part, whose header has been read."""
        # A file may grow while it is read.
        if length > self._end and length > self._size():
            raise self._damaged(
                -8, f"a record announces {length} bytes, more than the file has: {self._end}"
            )
        data = self._file.read(length)
        padding = -length & 3
        found = len(data) + (len(self._file.read(padding)) if padding else 0)
        if found != length + padding:
            raise self._damaged(
                -8 - found, f"a record announces {length + padding} bytes, {found} are left"
            )
        return data

    def _several(self, magic: int, word: int) -> bytes:
        """Return a record of several parts, of which the first header has been read."""
        parts: list[bytes] = []
        while True:
            if magic != _MAGIC:
                raise self._damaged(-8, f"a record begins with {_MAGIC:#x}, here stands {magic:#x}")
            kind = word >> _LENGTH_BITS
            if kind not in ((_BETWEEN, _LAST) if parts else (_WHOLE, _FIRST)):
                due = "the next part of a record" if parts else "the beginning of a record"
                raise self._damaged(-8, f"{due} is due, and here stands a part of kind {kind}")
            parts.append(self._content(word & _MOST))
            if kind in (_WHOLE, _LAST):
                return _MAGIC_BYTES.join(parts)
            head = self._file.read(8)
            if len(head) < 8:
                raise self._damaged(
                    -len(head), f"it ends between parts of a record, after {len(parts)} of them"
                )
            magic, word = _HEAD.unpack(head)

    def _size(self) -> int:
        """Look up how many bytes the file has by now."""
        here = self._file.tell()
        self._end = self._file.seek(0, os.SEEK_END)
        self._file.seek(here)
        return self._end

    def _damaged(self, back: int, what: str) -> FileError:
        """Return an error that names a place so far from here."""
        place = self._file.tell() + back
        return FileError(
            f"[read] {self.uri!r} is no file of records, or damaged, at byte {place}: {what}"
        )


class MXIndexedRecordIO(MXRecordIO):
    r"""Writes and reads records by their keys, with an index in a second file.

    ``key_type`` makes keys of the texts in the index. :meth:`read_idx` and :meth:`seek` open a
    reader again that comes out of a fork.

    >>> import os, tempfile
    >>> from afterglow import recordio
    >>> path = os.path.join(tempfile.mkdtemp(), "data")
    >>> writer = recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "w")
    >>> for i in range(3):
    ...     writer.write_idx(i, b"record %d" % i)
    >>> writer.close()
    >>> reader = recordio.MXIndexedRecordIO(path + ".idx", path + ".rec", "r")
    >>> reader.keys, reader.read_idx(2)
    ([0, 1, 2], b'record 2')
    """

    _BUFFER = -1  # records are read here and there

    def __init__(
        self,
        idx_path: str | os.PathLike[str],
        uri: str | os.PathLike[str],
        flag: str,
        key_type: Callable[[Any], Any] = int,
    ) -> None:
        self.idx_path = idx_path
        self.idx: dict[Any, int] = {}
        self.keys: list[Any] = []
        self.key_type = key_type
        self.fidx: IO[bytes] | None = None
        super().__init__(uri, flag)

    def open(self) -> None:
        """Open both files, at the first record."""
        super().open()
        try:
            self.idx, self.keys = {}, []
            if self.writable:
                self.fidx = _files.open_file(self.idx_path, "wb", 0)
            else:
                self._read_index()
        except BaseException:
            super().close()
            raise

    def close(self) -> None:
        """Close both files."""
        super().close()
        if self.fidx is not None:
            self.fidx.close()
            self.fidx = None

    def seek(self, idx: Any) -> None:
        """Go to the record of a key."""
        self._check_reader()
        with self._turn:
            self._go(idx)

    def read_idx(self, idx: Any) -> bytes | None:
        """Return the record of a key."""
        self._check_reader()
        with self._turn:
            self._go(idx)
            return self._next()

    def tell(self) -> int:
        """Return the byte where the next record will be written."""
        self._check(writing=True)
        return self._end

    def write_idx(self, idx: Any, buf: Content) -> None:
        """Append a record and its line in the index."""
        self._check(writing=True)
        key = self.key_type(idx)
        with self._turn:
            place = self._end
            self._append(buf)
            assert self.fidx is not None
            self.fidx.write(f"{key}\t{place}\n".encode())
            self.idx[key] = place
            self.keys.append(key)

    def _check_reader(self) -> None:
        if self.is_open and not self.writable and self.pid != os.getpid():
            self.reset()
        self._check(writing=False)

    def _go(self, key: Any) -> None:
        try:
            place = self.idx[key]
        except KeyError:
            raise UnknownKeyError(
                f"[seek] {os.fspath(self.idx_path)!r} has no record {key!r}, but "
                f"{len(self.keys)} others"
            ) from None
        if place > self._end and place > self._size():
            raise FileError(
                f"[seek] {os.fspath(self.idx_path)!r} has record {key!r} at byte {place} of "
                f"{self.uri!r}, which has {self._end} bytes"
            )
        self._file.seek(place)

    def _read_index(self) -> None:
        text = _files.read(self.idx_path).decode(errors="replace").removesuffix("\n")
        for number, line in enumerate(text.split("\n") if text else (), 1):
            fields = line.strip().split("\t")
            try:
                key, place = self.key_type(fields[0]), int(fields[1])
            except (IndexError, ValueError):
                place = -1
            if place < 0:
                raise FileError(
                    f"[MXIndexedRecordIO] {os.fspath(self.idx_path)!r} is no index, or damaged, in "
                    f"line {number}: {line[:80]!r}; a key, a tab and the number of a byte are "
                    "needed"
                )
            self.idx[key] = place
            self.keys.append(key)


class ScannedRecordIO(MXIndexedRecordIO):
    """Reads records by their numbers in the file, which is looked through for where they begin."""

    def __init__(self, uri: str | os.PathLike[str]) -> None:
        super().__init__(uri, uri, "r")

    def _read_index(self) -> None:
        place = begin = 0
        is_inside = False
        while head := self._file.read(8):
            if len(head) < 8:
                raise self._damaged(-len(head), f"it ends after {len(head)} bytes of a header")
            magic, word = _HEAD.unpack(head)
            kind, length = word >> _LENGTH_BITS, word & _MOST
            end = place + 8 + length + (-length & 3)
            # What is not told here is told where a record is read.
            if magic != _MAGIC or (end > self._end and end > self._size()):
                self._several(magic, word)
            if not is_inside:
                begin = place
            is_inside = kind in (_FIRST, _BETWEEN)
            if not is_inside:
                self.idx[len(self.keys)] = begin
                self.keys.append(len(self.keys))
            place = self._file.seek(end)


def _as_bytes(given: Any, what: str) -> bytes:
    """Return what was given as bytes."""
    if isinstance(given, bytes):
        return given
    try:
        return bytes(memoryview(given))
    except TypeError:
        raise ArrayTypeError(f"{what} is a {type(given).__name__}; bytes are needed") from None


def _parts(data: bytes) -> bytes:
    """Return a record as it stands in a file."""
    pieces: list[bytes] = []
    begin = 0
    found = data.find(_MAGIC_BYTES)
    while found >= 0:
        if found % 4:  # the next one that could be taken for a beginning
            found = data.find(_MAGIC_BYTES, found + 1)
            continue
        kind = _BETWEEN if pieces else _FIRST
        pieces += [_head(kind, found - begin), data[begin:found]]
        begin = found + 4
        found = data.find(_MAGIC_BYTES, begin)
    kind = _LAST if pieces else _WHOLE
    rest = data[begin:] if begin else data
    return b"".join([*pieces, _head(kind, len(rest)), rest, bytes(-len(rest) & 3)])


def _head(kind: int, length: int) -> bytes:
    return _HEAD.pack(_MAGIC, kind << _LENGTH_BITS | length)


# --- records with a header ---


class HEADER(NamedTuple):
    """What stands before the content of a labelled record.

    ``flag`` is how many labels there are, or 0 if ``label`` is one number; ``id`` and ``id2`` are
    the number of the record.

    >>> from afterglow import recordio
    >>> recordio.IRHeader(0, 4.0, 2574, 0)
    HEADER(flag=0, label=4.0, id=2574, id2=0)
    """

    flag: int
    label: Any
    id: int
    id2: int


IRHeader = HEADER

_HEADER = struct.Struct("<IfQQ")


def pack(header: Any, s: Content) -> bytes:
    """Return a record of a header and some bytes.

    A label that is a number stands in the header, several stand behind it, as float32.

    >>> from afterglow import recordio
    >>> record = recordio.pack(recordio.IRHeader(0, [1, 2], 7, 0), b"content")
    >>> header, content = recordio.unpack(record)
    >>> print(header.flag, header.label, header.id, content)
    2 [1. 2.] 7 b'content'
    """
    header = IRHeader(*header)
    content = _as_bytes(s, "[pack] the content")
    if isinstance(header.label, Number):
        header = header._replace(flag=0)
    else:
        with as_ours("pack"):
            labels = onp.asarray(header.label, dtype="<f4")
        header = header._replace(flag=labels.size, label=0)
        content = labels.tobytes() + content
    try:
        return _HEADER.pack(*header) + content
    except (struct.error, OverflowError, TypeError) as error:
        raise ArrayValueError(
            f"[pack] {header!r}: {error}; a number or numbers as label and unsigned numbers of 64 "
            "bits as id and id2 are needed"
        ) from None


def unpack(s: Content) -> tuple[HEADER, bytes]:
    """Return the header and the content of a record that :func:`pack` made."""
    record = _as_bytes(s, "[unpack] a record")
    if len(record) < _HEADER.size:
        raise ArrayValueError(
            f"[unpack] a record of {len(record)} bytes; its header alone has {_HEADER.size}"
        )
    header = IRHeader(*_HEADER.unpack_from(record))
    begin = _HEADER.size
    if header.flag > 0:
        end = begin + 4 * header.flag
        if end > len(record):
            raise ArrayValueError(
                f"[unpack] a record of {len(record)} bytes announces {header.flag} labels, which "
                f"would end at byte {end}"
            )
        header = header._replace(label=onp.frombuffer(record[begin:end], "<f4"))
        begin = end
    return header, record[begin:]


def pack_img(header: Any, img: Any, quality: int = 95, img_fmt: str = ".jpg") -> bytes:
    """Return a record of a header and a picture, which is encoded; needs ``afterglow[image]``.

    Channels are in the order of OpenCV: blue, green, red. ``quality`` is 1 to 100 for JPEG, and
    for PNG how hard to compress, 1 to 9.
    """
    host = img.asnumpy() if hasattr(img, "asnumpy") else img
    return pack(header, pictures.encode(host, img_fmt, quality))


def unpack_img(s: Content, iscolor: int = -1) -> tuple[HEADER, Any]:
    """Return the header and the decoded picture of a record; needs ``afterglow[image]``.

    The picture is a NumPy array with channels in the order of OpenCV. ``iscolor`` is -1 for a
    picture as it is, 0 for gray and 1 for colour.
    """
    header, content = unpack(s)
    return header, pictures.decode(content, iscolor, "[unpack_img] the record")


tend(__name__)

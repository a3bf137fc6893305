# SPDX-License-Identifier: Apache-2.0
"""The format of MNIST's files: a magic number, extents, and bytes, packed by gzip or not.

A damaged file raises; no more memory is taken than it announces, nor than can be packed in it.
"""

from __future__ import annotations

import math
import os
import struct
from io import BytesIO
from typing import IO, Any

import numpy as onp

from ..error import FileError
from . import params as _files

__all__ = ["IMAGES", "LABELS", "read"]

#: Magic number and rank.
IMAGES, LABELS = (2051, 3), (2049, 1)

_GZIP = b"\x1f\x8b"
#: No more bytes come out of a packed one.
_MOST_PACKED = 1032


def read(path: str | os.PathLike[str], kind: tuple[int, int], name: str) -> onp.ndarray[Any, Any]:
    """Return the array of bytes in a file; ``name`` is whoever asks for it."""
    content = _files.read(path)
    if content[:2] != _GZIP:
        return _read(BytesIO(content), len(content), path, kind, name)
    import gzip  # not every program reads packed files
    import zlib

    try:
        with gzip.open(BytesIO(content)) as unpacked:
            return _read(unpacked, _MOST_PACKED * len(content), path, kind, name)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FileError(f"[{name}] {path} cannot be unpacked: {error}") from None


def _read(
    file: IO[bytes] | Any,
    most: int,
    path: str | os.PathLike[str],
    kind: tuple[int, int],
    name: str,
) -> onp.ndarray[Any, Any]:
    """Return the array in a stream of so many bytes at most."""
    magic, rank = kind
    size = 4 * (rank + 1)
    header = file.read(size)
    if len(header) < size or int.from_bytes(header[:4], "big") != magic:
        raise FileError(f"[{name}] {path} is not a file of MNIST: its first number is not {magic}")
    shape = struct.unpack_from(f">{rank}i", header, 4)
    announced = math.prod(shape)
    is_possible = min(shape) >= 0 and announced <= most
    content = file.read(announced + 1) if is_possible else b""
    if not is_possible or len(content) != announced:
        raise FileError(f"[{name}] {path} has not the {shape} bytes that it announces")
    return onp.frombuffer(content, "uint8").reshape(shape)

# SPDX-License-Identifier: Apache-2.0
"""Files of records, whole and damaged: what is read is what a plain reader of the format finds.

The plain reader knows nothing but the format: it goes through the bytes of a file in memory.
Records are made of what the format takes for beginnings.
"""

from __future__ import annotations

import random
import struct
import tempfile
from pathlib import Path

from afterglow import recordio
from afterglow.error import FileError
from fuzz._seeds import run_programs
from fuzz.files import damaged, limits

_MAGIC = 0xCED7230A
_BYTES = struct.pack("<I", _MAGIC)


def run(seed: int, seconds: float) -> int:
    """Write, damage and read files for so long; return how many."""
    with tempfile.TemporaryDirectory() as folder:
        return run_programs(seed, seconds, lambda one: _file(one, Path(folder)))


def _file(seed: int, folder: Path) -> None:
    generator = random.Random(seed)
    index, path = folder / "index", folder / "file"
    records = [_record(generator) for _ in range(generator.randrange(6))]
    writer = recordio.MXIndexedRecordIO(index, path, "w")
    for key, record in enumerate(records):
        writer.write_idx(key, record)
    writer.close()
    data = path.read_bytes()
    assert _plainly(data) == (records, True), "what was written"
    for _ in range(4):
        path.write_bytes(damaged(generator, data, is_text=False))
        with limits():
            assert _read(path) == _plainly(path.read_bytes()), f"{path.read_bytes()!r}"
    path.write_bytes(data)
    index.write_bytes(damaged(generator, index.read_bytes(), is_text=True))
    with limits():
        _read_by_keys(index, path)


def _record(generator: random.Random) -> bytes:
    pieces = [_BYTES, _BYTES, _BYTES[:1], _BYTES[1:], b"x", b"abcd", bytes(generator.randrange(99))]
    return b"".join(generator.choices(pieces, k=generator.randrange(12)))


def _read(path: Path) -> tuple[list[bytes], bool]:
    """Return all records, and whether the file ends well behind them."""
    reader = recordio.MXRecordIO(path, "r")
    found: list[bytes] = []
    try:
        found.extend(iter(reader.read, None))
    except FileError:
        return found, False
    return found, True


def _read_by_keys(index: Path, path: Path) -> None:
    try:
        reader = recordio.MXIndexedRecordIO(index, path, "r")
    except FileError:
        return
    data = path.read_bytes()
    for key in reader.keys:
        try:
            found = reader.read_idx(key)
        except FileError:
            assert not _plainly(data[reader.idx[key] :])[0]
        else:
            assert found == next(iter(_plainly(data[reader.idx[key] :])[0]), None)


def _plainly(data: bytes) -> tuple[list[bytes], bool]:
    found: list[bytes] = []
    record: bytes | None = None  # what is known of one in several parts
    while data:
        if len(data) < 8:
            return found, False
        magic, word = struct.unpack_from("<2I", data)
        kind, length = word >> 29, word % 2**29
        whole = 8 + (length + 3) // 4 * 4
        if magic != _MAGIC or len(data) < whole or kind not in ((0, 1), (2, 3))[record is not None]:
            return found, False
        part = data[8 : 8 + length]
        record = part if record is None else record + _BYTES + part
        if kind in (0, 3):
            found.append(record)
            record = None
        data = data[whole:]
    return found, record is None

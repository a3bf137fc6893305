# SPDX-License-Identifier: Apache-2.0
"""Files of records: MXNet's bytes in both directions, threads, forks, pickles, damaged files."""

from __future__ import annotations

import base64
import doctest
import json
import pickle
import random
import resource
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from golden.records import FILES, HEADERS, KEYS, MAGIC
from support import output_of

import afterglow as mx
from afterglow import nd, recordio
from afterglow.error import FileError

RECORDED = json.loads(
    (Path(__file__).parent / "golden" / "records.json").read_text(encoding="utf-8")
)


def written(path: Path, records: list[bytes]) -> str:
    writer = recordio.MXRecordIO(path, "w")
    for record in records:
        writer.write(record)
    writer.close()
    return str(path)


def all_of(path: Path | str) -> list[bytes]:
    reader = recordio.MXRecordIO(path, "r")
    return list(iter(reader.read, None))


def head(length: int, kind: int = 0, magic: int = 0xCED7230A) -> bytes:
    return struct.pack("<2I", magic, kind << 29 | length)


def test_examples() -> None:
    assert doctest.testmod(recordio).failed == 0


# --- MXNet's files ---


@pytest.mark.parametrize("name", FILES)
def test_files_are_those_of_mxnet(name: str, tmp_path: Path) -> None:
    theirs = base64.b64decode(RECORDED["files"][name])
    path = tmp_path / "file"
    written(path, FILES[name])
    assert path.read_bytes() == theirs
    assert all_of(path) == FILES[name]


@pytest.mark.parametrize("kind", KEYS)
def test_indexes_are_those_of_mxnet(kind: str, tmp_path: Path) -> None:
    text, end = RECORDED["indexes"][kind]
    index, path = tmp_path / "index", tmp_path / "file"
    writer = recordio.MXIndexedRecordIO(index, path, "w", key_type={"int": int, "str": str}[kind])
    assert writer.tell() == 0
    for key in KEYS[kind]:
        writer.write_idx(key, f"record {key}".encode())
    assert (writer.tell(), writer.keys) == (end, KEYS[kind])
    writer.close()
    assert index.read_text("utf-8") == text
    reader = recordio.MXIndexedRecordIO(str(index), str(path), "r", type(KEYS[kind][0]))
    assert reader.keys == [*reader.idx] == KEYS[kind]
    for key in reversed(KEYS[kind]):
        assert reader.read_idx(key) == f"record {key}".encode()
    reader.seek(KEYS[kind][1])
    assert reader.read() == f"record {KEYS[kind][1]}".encode()
    assert reader.read() == f"record {KEYS[kind][2]}".encode()
    assert reader.read() is None


@pytest.mark.parametrize("number", range(len(HEADERS)))
def test_headers_are_those_of_mxnet(number: int) -> None:
    theirs = base64.b64decode(RECORDED["headers"][number])
    _, label, own, other = HEADERS[number]
    assert recordio.pack(HEADERS[number], b"content") == theirs
    header, content = recordio.unpack(theirs)
    assert (header.id, header.id2, content) == (own, other, b"content")
    labels = onp.ravel(onp.asarray(label, "float32"))
    if isinstance(label, list) and label:
        assert header.flag == len(labels)
        onp.testing.assert_array_equal(header.label, labels)
    else:
        assert (header.flag, header.label) == (0, labels[0] if len(labels) else 0)


def test_random_records(tmp_path: Path) -> None:
    """Bytes that are often parts of the magic number, at any place."""
    generator = random.Random(1)
    pieces = [MAGIC, MAGIC, MAGIC[:1], MAGIC[1:], MAGIC[:3], b"", b"x", b"abcd"]
    records = [b"".join(generator.choices(pieces, k=generator.randrange(40))) for _ in range(500)]
    path = tmp_path / "file"
    assert all_of(written(path, records)) == records
    # The magic number begins parts, and nothing else does.
    data, place = path.read_bytes(), 0
    while place < len(data):
        magic, word = struct.unpack_from("<2I", data, place)
        assert magic == 0xCED7230A
        inside = data[place + 8 : place + 8 + (word & (1 << 29) - 1)]
        assert not any(inside.startswith(MAGIC, at) for at in range(0, len(inside), 4))
        place += 8 + (len(inside) + 3) // 4 * 4


# --- use ---


def test_what_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    writer = recordio.MXRecordIO(str(path), "w")
    for one in (b"ab", bytearray(b"ab"), memoryview(b"ab"), onp.frombuffer(b"ab", "uint8")):
        writer.write(one)
        assert len(all_of(path)) == path.stat().st_size // 12  # it is there at once
    with pytest.raises(TypeError, match="a record is a str; bytes are needed"):
        writer.write("text")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="records of less than 536870912 bytes"):
        writer._append(bytes(1 << 29))
    writer.close()
    assert all_of(path) == [b"ab"] * 4


def test_reset(tmp_path: Path) -> None:
    path = tmp_path / "file"
    reader = recordio.MXRecordIO(written(path, [b"a", b"b"]), "r")
    assert [reader.read(), reader.read(), reader.read(), reader.read()] == [b"a", b"b", None, None]
    reader.reset()
    assert reader.read() == b"a"
    writer = recordio.MXRecordIO(path, "w")
    writer.write(b"gone")
    writer.reset()
    writer.write(b"kept")
    assert all_of(path) == [b"kept"]


def test_a_file_that_grows_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    writer = recordio.MXRecordIO(path, "w")
    reader = recordio.MXRecordIO(path, "r")
    assert reader.read() is None
    writer.write(bytes(1000))
    assert reader.read() == bytes(1000)


def test_what_a_file_is_not_open_for(tmp_path: Path) -> None:
    index, path = tmp_path / "index", tmp_path / "file"
    with pytest.raises(ValueError, match="Invalid flag 'a'"):
        recordio.MXRecordIO(path, "a")
    writer = recordio.MXIndexedRecordIO(index, path, "w")
    for refused in (writer.read, lambda: writer.seek(0), lambda: writer.read_idx(0)):
        with pytest.raises(AssertionError, match="open to be written, and not to be read"):
            refused()
    writer.write_idx(0, b"a")
    writer.close()
    with pytest.raises(mx.MXNetError, match="is closed"):
        writer.write(b"b")
    reader = recordio.MXIndexedRecordIO(index, path, "r")
    for refused in (lambda: reader.write(b""), lambda: reader.write_idx(1, b""), reader.tell):
        with pytest.raises(AssertionError, match="open to be read, and not to be written"):
            refused()
    with pytest.raises(KeyError, match=r"index' has no record 7, but 1 others"):
        reader.read_idx(7)
    reader.close()
    reader.close()
    with pytest.raises(mx.MXNetError, match="is closed"):
        reader.read_idx(0)


def test_threads(tmp_path: Path) -> None:
    index, path = tmp_path / "index", tmp_path / "file"
    writer = recordio.MXIndexedRecordIO(index, path, "w")
    records = [bytes([key]) * (key * 37) for key in range(200)]

    def write(first: int) -> None:
        for key in range(first, 200, 4):
            writer.write_idx(key, records[key])

    in_turn(write)
    writer.close()
    reader = recordio.MXIndexedRecordIO(index, path, "r")
    wrong = []

    def read(first: int) -> None:
        wrong.extend(key for key in range(first, 200) if reader.read_idx(key) != records[key])

    in_turn(read)
    assert not wrong
    reader.reset()
    found: list[bytes] = []
    in_turn(lambda _: found.extend(iter(reader.read, None)))
    assert sorted(found) == sorted(records)


def in_turn(function: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=function, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_pickles(tmp_path: Path) -> None:
    index, path = tmp_path / "index", tmp_path / "file"
    writer = recordio.MXIndexedRecordIO(index, path, "w", key_type=str)
    writer.write_idx("a", b"record")
    with pytest.raises(mx.MXNetError, match="is being written, and its copy would empty it"):
        pickle.dumps(writer)
    writer.close()
    reader = recordio.MXIndexedRecordIO(index, path, "r", key_type=str)
    assert reader.read() == b"record"
    copy = pickle.loads(pickle.dumps(reader))
    assert (copy.keys, copy.read(), reader.read()) == (["a"], b"record", None)
    assert copy.read_idx("a") == reader.read_idx("a") == b"record"
    reader.close()
    closed = pickle.loads(pickle.dumps(reader))
    assert not closed.is_open
    closed.open()
    assert closed.read_idx("a") == b"record"
    header = recordio.IRHeader(0, 1.0, 2, 3)
    assert pickle.loads(pickle.dumps(header)) == header
    assert repr(header) == "HEADER(flag=0, label=1.0, id=2, id2=3)"


def test_forks(tmp_path: Path) -> None:
    """A reader is opened again, by its key or by reset(); what is written is written once."""
    assert output_of(
        f"""
        from afterglow import recordio
        index, path = {str(tmp_path / "index")!r}, {str(tmp_path / "file")!r}
        writer = recordio.MXIndexedRecordIO(index, path, "w")
        for key in range(100):
            writer.write_idx(key, b"%d" % key)
        reader = recordio.MXIndexedRecordIO(index, path, "r")
        reader.seek(10)
        if os.fork() == 0:
            for refused in (reader.read, lambda: writer.write(b"twice")):
                try:
                    refused()
                except RuntimeError as error:
                    print("Forbidden operation in multiple processes" in str(error))
            print(reader.read_idx(50), reader.read())
            reader.reset()
            print(reader.read(), flush=True)
            del writer, reader
            sys.exit()
        os.wait()
        print(reader.read(), reader.read_idx(99))
        writer.write_idx(100, b"last")
        writer.close()
        reader.reset()
        print(len(reader.keys), reader.read_idx(100))
        """
    ) == ["True", "True", "b'50' b'51'", "b'0'", "b'10' b'99'", "101 b'last'"]


# --- damaged files ---


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"abc", "at byte 0: a record begins and ends after 3 bytes"),
        (b"no records, but a text", "at byte 0: a record begins with 0xced7230a, here stands"),
        (head(4) + b"abcd" + b"\0" * 8, "at byte 12: a record begins with 0xced7230a"),
        (head(100) + b"abcd", "at byte 0: a record announces 100 bytes, more than the file has"),
        (head(11) + b"abcdefgh", "at byte 0: a record announces 12 bytes, 8 are left"),
        (head(5) + b"abcdef", "at byte 0: a record announces 8 bytes, 6 are left"),
        (head((1 << 29) - 1), "announces 536870911 bytes, more than the file has: 8"),
        (head(4) + b"abcd" + head(0, 2), "at byte 12: the beginning of a record is due, and here"),
        (head(0, 3), "stands a part of kind 3"),
        (head(0, 7), "stands a part of kind 7"),
        (head(0, 1) + head(0), "at byte 8: the next part of a record is due, .* of kind 0"),
        (head(0, 1) + head(0, 1), "at byte 8: the next part of a record is due, .* of kind 1"),
        (head(4, 1) + b"abcd" + head(0, 2), "at byte 20: it ends between parts of a record, af"),
        (head(4, 1) + b"abcd" + MAGIC, "at byte 12: it ends between parts of a record, after 1"),
        (head(4, 1) + b"abcd" + b"\0" * 8, "at byte 12: a record begins with"),
        (head(0, 1) + head((1 << 29) - 1, 3), "at byte 8: a record announces 536870911"),
    ],
)
def test_damaged_files(data: bytes, text: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(FileError, match=rf"\[read\] '.*file' is no file of records, .*{text}"):
        all_of(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [("no index", 1), ("1\t0\n2\n", 2), ("1\t0\n\n2\t12\n", 2), ("1\t-1\n", 1), ("a\t0\n", 1),
     ("1\t0x10\n", 1), ("1\t" + "1" * 5000, 1), ("\xff\x00\t3", 1)],
)  # fmt: skip
def test_damaged_indexes(text: str, line: int, tmp_path: Path) -> None:
    index, path = tmp_path / "index", tmp_path / "file"
    written(path, [b"a"])
    index.write_text(text, "latin-1")
    with pytest.raises(FileError, match=rf"'.*index' is no index, or damaged, in line {line}: "):
        recordio.MXIndexedRecordIO(index, path, "r")


def test_indexes_of_other_files(tmp_path: Path) -> None:
    index, path = tmp_path / "index", tmp_path / "file"
    written(path, [b"a"])
    index.write_text("0\t12\n1\t13\n2\t99999999999999999999999\n3\t4\n")
    reader = recordio.MXIndexedRecordIO(index, path, "r")
    assert reader.read_idx(0) is None  # behind the last, as read() says it
    for key, place in ((1, 13), (2, 99999999999999999999999)):
        with pytest.raises(FileError, match=f"has record {key} at byte {place} of '.*file', which"):
            reader.read_idx(key)
    with pytest.raises(FileError, match="at byte 4: a record begins with"):
        reader.read_idx(3)
    index.write_text("")
    reader.reset()
    assert reader.keys == []


def test_lengths_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(head((1 << 29) - 1) + bytes(100))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        with pytest.raises(FileError, match="more than the file has"):
            all_of(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="Is a directory"):
        recordio.MXRecordIO(tmp_path, "w")
    with pytest.raises(FileNotFoundError):
        recordio.MXIndexedRecordIO(tmp_path / "no" / "index", tmp_path / "file", "w")
    full = recordio.MXRecordIO("/dev/full", "w")
    with pytest.raises(FileError, match="'/dev/full' cannot be written to: No space left"):
        full.write(b"a")


def test_no_half_of_a_record_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    writer = recordio.MXIndexedRecordIO(tmp_path / "index", path, "w")
    writer.write(b"first")
    whole = writer._file

    class Full:
        def __getattr__(self, name: str) -> Any:
            return getattr(whole, name)

        def write(self, data: memoryview) -> int:
            if len(data) < 9:
                raise OSError(28, "No space left on device")
            return whole.write(data[:9])

    monkeypatch.setattr(writer, "_file", Full())
    with pytest.raises(FileError, match="No space left"):
        writer.write(b"second")
    monkeypatch.undo()
    assert writer.tell() == path.stat().st_size
    writer.write(b"third")
    assert all_of(path) == [b"first", b"third"]


@pytest.mark.parametrize(
    "header", [(0, "a", 1, 0), (0, 1, -1, 0), (0, 1, 2**64, 0), (0, 1, 0.5, 0)]
)
def test_headers_that_cannot_be_packed(header: Any) -> None:
    with pytest.raises(mx.MXNetError, match="pack"):
        recordio.pack(header, b"")


def test_damaged_headers() -> None:
    record = recordio.pack((0, [1, 2, 3], 1, 0), b"")
    for length in range(len(record)):
        text = "its header alone has 24" if length < 24 else "announces 3 labels"
        with pytest.raises(ValueError, match=text):
            recordio.unpack(record[:length])
    huge = struct.pack("<IfQQ", 2**32 - 1, 0, 0, 0)
    with pytest.raises(ValueError, match="a record of 24 bytes announces 4294967295 labels"):
        recordio.unpack(huge)


# --- pictures ---


def test_pictures_in_records() -> None:
    pixels = onp.random.RandomState(0).randint(0, 255, (6, 5, 3)).astype("uint8")
    for given in (pixels, nd.array(pixels, dtype="uint8")):
        record = recordio.pack_img((0, [1, 2], 3, 0), given, quality=3, img_fmt=".PNG")
        header, found = recordio.unpack_img(record)
        assert (header.label.tolist(), header.id) == ([1, 2], 3)
        onp.testing.assert_array_equal(found, pixels)
    assert recordio.unpack_img(record, iscolor=0)[1].shape == (6, 5)
    large, small = (recordio.pack_img((0, 1, 0, 0), pixels, quality) for quality in (100, 10))
    assert len(large) > len(small)
    assert recordio.unpack_img(small)[1].shape == (6, 5, 3)
    with pytest.raises(ValueError, match=r"failed to encode image as '\.abc'"):
        recordio.pack_img((0, 1, 0, 0), pixels, img_fmt=".abc")
    with pytest.raises(FileError, match=r"\[unpack_img\] the record is no picture: it begins with"):
        recordio.unpack_img(recordio.pack((0, 1, 0, 0), b"text"))

# SPDX-License-Identifier: Apache-2.0
"""Arrays in files: MXNet's own files are read, ours are the same bytes, damage is refused."""

from __future__ import annotations

import base64
import json
import os
import stat
import struct
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from support import busy_engine, raises_at_the_read

import afterglow as mx
from afterglow import nd, np, npx
from afterglow.error import FileError

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "files.json").read_text(encoding="utf-8")
)
DENSE = [name for name, case in GOLDEN.items() if case["loaded"] is not None]


def data_of(name: str) -> bytes:
    return base64.b64decode(GOLDEN[name]["data"])


def check(loaded: Any, expected: Any, kind: type) -> None:
    if isinstance(expected, list):
        assert isinstance(loaded, list)
        assert len(loaded) == len(expected)
        for array, one in zip(loaded, expected, strict=True):
            check(array, one, kind)
    elif "dtype" not in expected or isinstance(expected["dtype"], dict):
        assert list(loaded) == list(expected)
        for name, one in expected.items():
            check(loaded[name], one, kind)
    else:
        assert type(loaded) is kind
        host = onp.array(expected["values"], expected["dtype"]).reshape(expected["shape"])
        assert loaded.asnumpy().dtype == host.dtype
        onp.testing.assert_array_equal(loaded.asnumpy(), host)
        assert loaded.context == mx.cpu()


@pytest.mark.parametrize("name", DENSE)
def test_reads_files_of_mxnet(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file.params"
    path.write_bytes(data_of(name))
    check(nd.load(str(path)), GOLDEN[name]["loaded"], nd.NDArray)
    check(npx.load(path), GOLDEN[name]["loaded"], np.ndarray)
    check(nd.load_frombuffer(data_of(name)), GOLDEN[name]["loaded"], nd.NDArray)


@pytest.mark.parametrize("name", [name for name in DENSE if GOLDEN[name]["form"] != "old"])
def test_writes_the_bytes_of_mxnet(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file.params"
    module: Any = npx if GOLDEN[name]["form"] == "numpy" else nd
    module.save(str(path), module.load(_written(tmp_path, data_of(name))))
    assert path.read_bytes() == data_of(name)


def _written(folder: Path, data: bytes) -> str:
    path = folder / "given.params"
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize("name", ["row_sparse", "csr"])
def test_sparse_arrays_are_those_of_nd(name: str, tmp_path: Path) -> None:
    loaded = nd.load_frombuffer(data_of(name))
    arrays = list(loaded.values()) if isinstance(loaded, dict) else loaded
    assert name in [array.stype for array in arrays]
    with pytest.raises(NotImplementedError, match=rf"{name} array, which np does not have"):
        npx.load(_written(tmp_path, data_of(name)))


@pytest.mark.parametrize("dtype", [*GOLDEN["types"]["loaded"], "bool"])
def test_round_trips(dtype: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    host = onp.arange(24).reshape(2, 3, 4).astype(dtype)
    x = np.array(host, dtype=dtype)
    npx.save(path, {"all": x, "part": x[1], "steps": x[:, ::2], "none": x[2:], "one": x[1, 2, 3]})
    loaded = npx.load(path)
    assert {name: array.dtype for name, array in loaded.items()} == dict.fromkeys(loaded, x.dtype)
    onp.testing.assert_array_equal(loaded["all"].asnumpy(), host)
    onp.testing.assert_array_equal(loaded["part"].asnumpy(), host[1])
    onp.testing.assert_array_equal(loaded["steps"].asnumpy(), host[:, ::2])
    assert loaded["none"].shape == (0, 3, 4)
    assert loaded["one"].asnumpy() == host[1, 2, 3]


def magics(path: Path, count: int) -> set[int]:
    data = path.read_bytes()
    return {
        magic
        for magic in (0xF993FAC9, 0xF993FACA)
        if data.count(struct.pack("<I", magic)) in range(1, count + 1)
    }


def test_rules_of_shapes(tmp_path: Path) -> None:
    # MXNet reads a file in the mode in which it was written, and never a mixed one.
    path = tmp_path / "file"
    nd.save(path, [nd.ones((2,)), nd.ones((1,))])
    assert magics(path, 2) == {0xF993FAC9}
    nd.save(path, [nd.ones((2,)), nd.ones((0, 2))])
    assert magics(path, 2) == {0xF993FACA}
    npx.save(path, np.ones((2,)))
    assert magics(path, 1) == {0xF993FACA}
    with mx.np_shape():
        nd.save(path, nd.ones((2,)))
    assert magics(path, 1) == {0xF993FACA}


def test_saving_waits_for_values(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with busy_engine():
        x = nd.ones((1000,))
        for _ in range(10):
            x = x + 1
        nd.save(path, x)
    x += 5
    assert (nd.load(path)[0].asnumpy() == 11).all()


def test_forms_that_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    x, y = nd.ones((2,)), np.ones((2,))
    for wrong in ([1], {"a": 1}, {1: x}, [x, y], y, [y]):
        with pytest.raises(TypeError):
            nd.save(path, wrong)  # type: ignore[arg-type]
    for wrong in (x, [x], {"a": x}, {"a": 2}):
        with pytest.raises(TypeError):
            npx.save(path, wrong)  # type: ignore[arg-type]
    for wrong in (5, None, "abc"):
        with pytest.raises(ValueError, match="data needs to"):
            nd.save(path, wrong)  # type: ignore[arg-type]
    for name in (5, None):
        with pytest.raises(TypeError, match="string"):
            nd.load(name)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="string"):
            nd.save(name, x)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="bytes"):
        nd.load_frombuffer(5)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    for call in (
        lambda: nd.load(str(tmp_path / "missing")),
        lambda: nd.save(str(tmp_path / "missing" / "x"), nd.ones((1,))),
        lambda: npx.load(tmp_path),
    ):
        with pytest.raises(mx.MXNetError, match="cannot be opened") as raised:
            call()
        assert isinstance(raised.value, OSError)


@raises_at_the_read
def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    nd.save(path, nd.ones((3,)))
    before = path.read_bytes()
    mx._core.inject_failure(0, 0)
    poisoned = nd.ones((2,)) + 1
    with pytest.raises(mx.MXNetError):
        nd.save(path, [nd.zeros((5,)), poisoned])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_links_and_modes(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    nd.save(link, nd.ones((3,)))
    assert link.is_symlink()
    assert len(nd.load(target)) == 1
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask
    nd.save("/dev/null", nd.ones((3,)))
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_pipes(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as file:
        file.write(data_of("dictionary"))
    check(nd.load(f"/dev/fd/{reader}"), GOLDEN["dictionary"]["loaded"], nd.NDArray)
    os.close(reader)


# --- NumPy's formats ---


def test_npy_and_npz(tmp_path: Path) -> None:
    npy, npz = tmp_path / "x.npy", tmp_path / "xy.npz"
    host = onp.arange(6, dtype="int32").reshape(2, 3)
    for one in (host, onp.asfortranarray(host), host.astype(">i4"), onp.float64(3), host[:0]):
        onp.save(npy, one)
        for module, kind in ((nd, nd.NDArray), (npx, np.ndarray)):
            (loaded,) = module.load(str(npy))
            assert type(loaded) is kind
            onp.testing.assert_array_equal(loaded.asnumpy(), one)
        onp.testing.assert_array_equal(np.load(npy).asnumpy(), one)
    for save in (onp.savez, onp.savez_compressed):
        save(npz, a=host, b=onp.ones(2))
        loaded = nd.load(npz)
        assert list(loaded) == ["a", "b"]
        assert loaded["b"].dtype == onp.float64
        onp.testing.assert_array_equal(loaded["a"].asnumpy(), host)
        assert list(np.load(npz)) == ["a", "b"]
    onp.save(npy, onp.array(["text"]))
    with pytest.raises(TypeError, match="no array can have"):
        nd.load(npy)
    onp.save(npy, onp.array([None]), allow_pickle=True)
    with pytest.raises(TypeError, match="no array can have"):
        nd.load(npy)


def test_npz_files_take_no_more_than_they_can_hold(tmp_path: Path) -> None:
    """Entries that all mean the same packed bytes are refused; ordinary zeros are not."""
    path = tmp_path / "x.npz"
    host = onp.zeros(2**20, "float32")
    onp.savez_compressed(path, **{f"a{i}": host for i in range(5)})
    assert [array.size for array in nd.load(path).values()] == [2**20] * 5
    onp.savez_compressed(path, a=host)
    data = path.read_bytes()
    begin, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    entry, count = data[begin:end], 50
    tail = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(entry) * count, begin, 0)
    path.write_bytes(data[:begin] + entry * count + tail)
    with pytest.raises(FileError, match=r"the npz file is damaged: it has .* bytes and announces"):
        nd.load(path)


def test_np_save(tmp_path: Path) -> None:
    npy, npz = tmp_path / "x.npy", tmp_path / "xy.npz"
    x = np.arange(6).reshape(2, 3)
    np.save(npy, x)
    onp.testing.assert_array_equal(onp.load(npy), x.asnumpy())
    np.savez(npz, x, y=x[0])
    with onp.load(npz) as loaded:
        assert sorted(loaded) == ["arr_0", "y"]
    text = tmp_path / "x.txt"
    text.write_text("1\t2\n3\t4\n")
    read = np.genfromtxt(str(text), dtype=np.float32, delimiter="\t")
    assert type(read) is np.ndarray
    assert read.dtype == "float32"
    assert read.tolist() == [[1, 2], [3, 4]]
    assert np.genfromtxt(str(text), ctx=mx.cpu(1)).ctx == mx.cpu(1)


# --- damage ---


def test_a_truth_value_is_no_extent(tmp_path: Path) -> None:
    npy = tmp_path / "x.npy"
    onp.save(npy, onp.ones((2, 1), "float32"))
    npy.write_bytes(npy.read_bytes().replace(b"(2, 1), }   ", b"(2, True), }"))
    with pytest.raises(mx.MXNetError, match=r"\(2, True\) does not fit"):
        nd.load(npy)


@pytest.mark.parametrize("name", ["dictionary", "types", "np empty", "no magic", "csr"])
def test_every_truncation_is_refused(name: str) -> None:
    data = data_of(name)
    for length in range(len(data)):
        with pytest.raises(mx.MXNetError):
            nd.load_frombuffer(data[:length])


HEAD = struct.pack("<2Q", 0x112, 0)
ARRAY = struct.pack("<Iii", 0xF993FAC9, 0, 1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the header needs 16 bytes"),
        (b"garbage!" * 4, "begins with"),
        (HEAD + struct.pack("<Q", 2**63), "arrays are announced"),
        (HEAD + struct.pack("<Q", 1) + ARRAY + struct.pack("<q", 2**40) + bytes(20), "needs"),
        (HEAD + struct.pack("<Q", 1) + ARRAY + struct.pack("<q", -1) + bytes(20), "shape"),
        (HEAD + struct.pack("<Q", 1) + ARRAY + struct.pack("<q", 2**62) + bytes(20), "shape"),
        (HEAD + struct.pack("<QIii3q", 1, 0xF993FACA, 0, 3, 0, 2**40, 2**40) + bytes(20), "shape"),
        (HEAD + struct.pack("<QIii", 1, 0xF993FAC9, 0, 2**30) + bytes(20), "dimensions"),
        (HEAD + struct.pack("<QIii", 1, 0xF993FAC9, 0, -1) + bytes(20), "dimensions"),
        (HEAD + struct.pack("<QIii", 1, 0xF993FAC9, 0, 0) + bytes(20), "never given a shape"),
        (HEAD + struct.pack("<QIi", 1, 0xF993FAC9, 7) + bytes(20), "storage type 7"),
        (HEAD + struct.pack("<QI", 1, 2**32 - 1) + bytes(20), "dimensions"),
        (HEAD + struct.pack("<Q", 1) + ARRAY + struct.pack("<q3i", 1, 1, 0, 12), "type number 12"),
        (HEAD + struct.pack("<3Q", 0, 1, 2**60), "needs"),
        (HEAD + struct.pack("<3Q", 0, 1, 2) + b"ab", "1 names for 0 arrays"),
        (HEAD + struct.pack("<3Q", 0, 1, 2) + b"\xff\xfe", "UTF-8"),
        (HEAD + struct.pack("<2Q", 0, 2**60), "names are announced"),
    ],
)
def test_hostile_files(data: bytes, message: str) -> None:
    with pytest.raises(mx.MXNetError, match=message):
        nd.load_frombuffer(data)


def test_bytes_behind_the_end_are_ignored() -> None:
    check(
        nd.load_frombuffer(data_of("dictionary") + b"xx"),
        GOLDEN["dictionary"]["loaded"],
        nd.NDArray,
    )

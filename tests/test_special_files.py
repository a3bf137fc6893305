# SPDX-License-Identifier: Apache-2.0
"""Readers of files, given what is no file: they raise, and do not read without end."""

from __future__ import annotations

import gzip
import os
import pickle
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as onp
import pytest

import afterglow as mx
from afterglow import gluon, nd, np, npx, sym, test_utils
from afterglow._formats import params as _files
from afterglow.error import FileError


def _trainer() -> gluon.Trainer:
    return gluon.Trainer(gluon.nn.Dense(1, in_units=1).collect_params(), "sgd")


def _store() -> Any:
    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.SGD())
    return store


READERS: dict[str, Callable[[str], Any]] = {
    "nd.load": nd.load,
    "np.load": np.load,
    "npx.load": npx.load,
    "np.genfromtxt": np.genfromtxt,
    "sym.load": sym.load,
    "imports": lambda path: gluon.SymbolBlock.imports(path, ["data"]),
    "load_parameters": lambda path: gluon.nn.Dense(1).load_parameters(path),
    "load_states": lambda path: _trainer().load_states(path),
    "load_optimizer_states": lambda path: _store().load_optimizer_states(path),
    "check_sha1": lambda path: gluon.utils.check_sha1(path, "0" * 40),
    "imread": mx.image.imread,
    "MXRecordIO": lambda path: mx.recordio.MXRecordIO(path, "r"),
    "MXIndexedRecordIO": lambda path: mx.recordio.MXIndexedRecordIO(path, __file__, "r"),
    "MNISTIter": lambda path: mx.io.MNISTIter(image=path, label=path),
    "CSVIter": lambda path: mx.io.CSVIter(data_csv=path, data_shape=(1,)),
}
#: What takes all files of a folder is no place for this.
NOT_FOR_FOLDERS = {name: reader for name, reader in READERS.items() if name != "CSVIter"}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_devices(reader: Any) -> None:
    with pytest.raises(FileError, match="'/dev/zero' is a device; a file or a pipe is needed"):
        reader("/dev/zero")


@pytest.mark.parametrize("reader", NOT_FOR_FOLDERS.values(), ids=NOT_FOR_FOLDERS)
def test_folders(reader: Any, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="Is a directory"):
        reader(str(tmp_path))


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_pipes_without_end(reader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_files, "MOST_PIPED", 100_000)
    reading, writing = os.pipe()

    def write() -> None:
        with suppress(BrokenPipeError), os.fdopen(writing, "wb", 0) as file:
            while True:
                file.write(b"1" * 4096)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        with pytest.raises(FileError, match="a pipe of more than 100000 bytes; a file is needed"):
            reader(f"/dev/fd/{reading}")
    finally:
        os.close(reading)
        thread.join()


@pytest.mark.parametrize("reader", ["nd.load", "sym.load", "load_states", "CSVIter", "MNISTIter"])
def test_missing_files(reader: str, tmp_path: Path) -> None:
    for kind in (FileNotFoundError, mx.MXNetError):
        with pytest.raises(kind, match="No such file"):
            READERS[reader](str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="null"):
        READERS[reader](f"{tmp_path}/a\0b")


def test_graphs_through_pipes() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as file:
        file.write((sym.var("x") * 2).tojson())
    try:
        assert sym.load(f"/dev/fd/{reading}").list_arguments() == ["x"]
    finally:
        os.close(reading)


def test_files_are_replaced_when_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "net-symbol.json"
    (sym.var("x") * 2).save(path)
    before = path.read_text()
    with pytest.raises(mx.MXNetError, match="half a character"):
        (sym.var("x", attr={"__a__": "\ud800"}) * 2).save(path)
    assert path.read_text() == before
    with pytest.raises(mx.MXNetError, match="half a character"):
        nd.save(str(path), {"\ud800": nd.ones((1,))})
    assert path.read_text() == before
    assert os.listdir(tmp_path) == [path.name]


# --- a pickle of NumPy arrays in a packed file ---


def test_mnist_as_a_pickle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        test_utils.get_mnist_pkl()
    Path("data").mkdir()
    path = Path("data", "mnist.pkl.gz")
    pairs = tuple((onp.ones((n, 784), "float32"), onp.arange(n)) for n in (3, 2, 1))
    path.write_bytes(gzip.compress(pickle.dumps(pairs)))
    for (images, labels), (ours, others) in zip(pairs, test_utils.get_mnist_pkl(), strict=True):
        onp.testing.assert_array_equal(images, ours)
        onp.testing.assert_array_equal(labels, others)
    # As Python 2 wrote it: text is bytes.
    old = (b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85"
           b"U\x01b\x87R(K\x01K\x02\x85cnumpy\ndtype\nU\x02i8K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff"
           b"\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x10" + onp.array([5, 7]).tobytes()
           + b"tbq\x03h\x03\x86q\x04h\x04h\x04\x87.")  # fmt: skip
    path.write_bytes(gzip.compress(old))
    assert [one.tolist() for one in test_utils.get_mnist_pkl()[2]] == [[5, 7], [5, 7]]
    damaged = [b"nonsense", gzip.compress(pickle.dumps(pairs))[:-9]]
    damaged += [gzip.compress(one) for one in (b"no", pickle.dumps(3), pickle.dumps(print))]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(FileError, match=r"get_mnist"):
            test_utils.get_mnist_pkl()

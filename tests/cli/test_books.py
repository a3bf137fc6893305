# SPDX-License-Identifier: Apache-2.0
"""``afterglow books``: data from a server on this machine, and from folders."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from vision.server import Server

from afterglow.books import data
from afterglow.cli import main

CONTENT = bytes(range(256)) * 1000


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    """Serve a set of two files, of which the books name sums, and one without a sum."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("afterglow._formats.fetching._PAUSE", 0.0)
    with Server() as server:
        server.files = {"first.zip": CONTENT, "second.txt": b"second", "third.txt": b"third"}
        sums = {name: hashlib.sha1(text).hexdigest() for name, text in server.files.items()}
        stated: dict[str, list[dict[str, str | int]]] = {
            "two-files": [
                {"address": server.address("first.zip"), "sha1": sums["first.zip"]},
                {
                    "address": server.address("second.txt"),
                    "sha1": sums["second.txt"],
                    "bytes": 6,
                    "folder": "inner",
                },
            ],
            "plain": [{"address": server.address("third.txt")}],
        }
        monkeypatch.setattr(data, "_stated", lambda: stated)
        yield server


def test_files_are_fetched_once(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["books", "fetch", "TwoFiles", "plain", "--data", "data"]) == 0
    assert Path("data/first.zip").read_bytes() == CONTENT
    assert Path("data/inner/second.txt").read_bytes() == b"second"
    assert Path("data/third.txt").read_bytes() == b"third"
    assert capsys.readouterr().out.count("was fetched") == 3
    assert main(["books", "fetch", "two-files", "--data", "data"]) == 0
    assert capsys.readouterr().out.count("is there") == 2
    assert len(server.asked) == 3


def test_a_connection_that_ends_is_taken_up_again(server: Server) -> None:
    server.faults.extend([1000, 2000])
    assert main(["books", "fetch", "two-files", "--data", "data"]) == 0
    assert Path("data/first.zip").read_bytes() == CONTENT
    assert [headers.get("Range") for headers in server.asked[:3]] == [
        None,
        "bytes=1000-",
        "bytes=3000-",
    ]


def test_a_later_run_goes_on(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    server.faults.extend([100] * 5)
    assert main(["books", "fetch", "two-files", "--data", "data"]) == 1
    assert "the connection ended after 500 of 256000 bytes" in capsys.readouterr().err
    assert main(["books", "where", "two-files", "--data", "data"]) == 0
    assert [line.split()[2:3] for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["a"],  # part
        ["there"],
    ]
    assert main(["books", "fetch", "two-files", "--data", "data"]) == 0
    assert server.asked[-1]["Range"] == "bytes=500-"
    assert Path("data/first.zip").read_bytes() == CONTENT


def test_all_that_could_not_be_fetched_is_told_at_once(
    server: Server, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    server.files["first.zip"] = b"something else"
    del server.files["third.txt"]
    assert main(["books", "fetch", "two-files", "plain", "--data", "data"]) == 1
    said = capsys.readouterr().err
    assert "2 of 3 files could not be put in place" in said
    assert "first.zip: the file there does not have the SHA-1 sum" in said
    assert "third.txt: the server answers 404 Not Found" in said
    assert said.count(f"folder:  {tmp_path / 'data'}\n") == 2
    assert f"address: {server.address('first.zip')}" in said
    assert [path.name for path in sorted(Path("data").iterdir())] == ["inner"]


def test_files_come_from_a_folder(
    server: Server, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source = tmp_path / "disk" / "deep"
    source.mkdir(parents=True)
    (tmp_path / "disk" / "first.zip").write_bytes(b"another file of this name")
    (source / "first.zip").write_bytes(CONTENT)
    words = ["books", "fetch", "two-files", "--data", "data", "--from"]
    assert main([*words, "disk"]) == 1
    said = capsys.readouterr()
    assert f"was copied from {source / 'first.zip'}" in said.out
    assert f"second.txt: it is not in {tmp_path / 'disk'}" in said.err
    assert Path("data/first.zip").read_bytes() == CONTENT
    (source / "second.txt").write_bytes(b"wrong")
    assert main([*words, "disk"]) == 1
    assert f"{source / 'second.txt'} does not have the SHA-1 sum" in capsys.readouterr().err
    assert not list(Path("data").rglob("*.part"))
    assert main([*words, "none"]) == 2
    assert server.asked == []


def test_a_table_of_files(
    server: Server, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["books", "where"]) == 0
    head, *rows = (line.split() for line in capsys.readouterr().out.splitlines())
    assert head == ["name", "file", "state", "size", "folder", "address"]
    fashion = [row for row in rows if row[0] == "fashion-mnist"]
    assert len(fashion) == 4
    assert {row[3] for row in fashion} == {str(tmp_path / "home/datasets/fashion-mnist")}
    assert ["two-files", "second.txt", "missing", "6", "B"] in [row[:5] for row in rows]
    assert [row[3] for row in rows if row[0] == "plain"] == [str(tmp_path.parent / "data")]


def test_a_name_that_is_not_known(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["books", "fetch", "two-filse"]) == 2
    assert "there is no data set 'two-filse'; did you mean two-files?" in capsys.readouterr().err


def test_what_is_stated_of_the_books() -> None:
    sets = data.data_sets("data")
    assert {"airfoil", "time_machine", "hotdog", "pikachu", "jaychou_lyrics", "cifar10"} <= {*sets}
    for files in sets.values():
        assert len({file.path for file in files}) == len(files)
        for file in files:
            assert file.address.startswith(("http://", "https://"))
            assert file.sha1 is None or len(bytes.fromhex(file.sha1)) == 20

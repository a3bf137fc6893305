# SPDX-License-Identifier: Apache-2.0
"""Files from the network: a server on this machine cuts connections, lies and is not there."""

from __future__ import annotations

import hashlib
import io
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import afterglow as mx
from afterglow._formats import fetching
from afterglow.gluon import utils
from tests.vision.server import Server

CONTENT = bytes(range(256)) * 2000
SUM = hashlib.sha1(CONTENT).hexdigest()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(fetching, "_PAUSE", 0.001)
    with Server() as running:
        running.files["data.bin"] = CONTENT
        yield running


def parts(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def test_whole_file(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "folder"
    target = folder / "other.bin"
    found = utils.download(server.address("data.bin"), str(target), sha1_hash=SUM)
    assert found == str(target)
    assert target.read_bytes() == CONTENT
    assert parts(folder) == ["other.bin"]
    shown = capsys.readouterr()
    assert shown.out == f"Downloading {target} from {server.address('data.bin')}...\n"
    assert shown.err == ""
    assert utils.download(server.address("data.bin"), str(target), sha1_hash=SUM) == found
    assert len(server.asked) == 1
    assert utils.download(server.address("data.bin"), str(folder)) == str(folder / "data.bin")


def test_names(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert utils.download(server.address("data.bin")) == "data.bin"
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    with pytest.raises(AssertionError, match="has no name"):
        utils.download(server.address())
    with pytest.raises(AssertionError, match="at least 0"):
        utils.download(server.address("data.bin"), retries=-1)


def test_overwriting(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "data.bin"
    target.write_bytes(b"mine")
    utils.download(server.address("data.bin"), str(target))
    assert target.read_bytes() == b"mine"
    utils.download(server.address("data.bin"), str(target), sha1_hash=SUM)
    assert target.read_bytes() == CONTENT
    target.write_bytes(b"mine")
    utils.download(server.address("data.bin"), str(target), overwrite=True)
    assert target.read_bytes() == CONTENT


def test_cut_connections_are_taken_up(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.faults.extend((100_000, 50_000, 0))
    utils.download(server.address("data.bin"), str(tmp_path))
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert [one.get("Range") for one in server.asked] == [
        None, "bytes=100000-", "bytes=150000-", "bytes=150000-"
    ]  # fmt: skip
    assert "ended after 100000 of 512000 bytes; 4 attempts left" in capsys.readouterr().out
    assert parts(tmp_path) == ["data.bin"]


def test_servers_without_parts(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    server.faults.append(100_000)
    utils.download(server.address("data.bin"), str(tmp_path), sha1_hash=SUM)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_file_that_changes_meanwhile(server: Server, tmp_path: Path) -> None:
    def change(*args: Any) -> None:
        server.files["data.bin"] = CONTENT[::-1]
        server.version = '"second"'

    server.faults.append(100_000)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fetching.time, "sleep", change)
        utils.download(server.address("data.bin"), str(tmp_path))
    assert server.asked[1]["If-Range"] == '"first"'
    assert (tmp_path / "data.bin").read_bytes() == CONTENT[::-1]


def test_too_many_cuts(server: Server, tmp_path: Path) -> None:
    server.faults.extend([1000] * 9)
    with pytest.raises(OSError, match="ended after 3000 of 512000 bytes") as told:
        utils.download(server.address("data.bin"), str(tmp_path), retries=3)
    assert isinstance(told.value, mx.MXNetError)
    assert parts(tmp_path) == []


@pytest.mark.parametrize("retries", [0, 1])
def test_one_attempt(server: Server, tmp_path: Path, retries: int) -> None:
    server.faults.extend([1000] * 9)
    with pytest.raises(OSError, match="ended after 1000"):
        utils.download(server.address("data.bin"), str(tmp_path), retries=retries)
    assert len(server.asked) == 1


def test_next_program_goes_on(server: Server, tmp_path: Path) -> None:
    """With a sum, which tells whether both parts belong together."""
    server.faults.append(100_000)
    with pytest.raises(OSError, match="ended after"):
        utils.download(server.address("data.bin"), str(tmp_path), sha1_hash=SUM, retries=1)
    assert parts(tmp_path) == ["data.bin.part"]
    utils.download(server.address("data.bin"), str(tmp_path), sha1_hash=SUM)
    assert server.asked[-1]["Range"] == "bytes=100000-"
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert parts(tmp_path) == ["data.bin"]


def test_part_of_another_file(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin.part").write_bytes(b"x" * 1000)
    utils.download(server.address("data.bin"), str(tmp_path), sha1_hash=SUM, retries=2)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    (tmp_path / "data.bin.part").write_bytes(b"x" * 1000)
    utils.download(server.address("data.bin"), str(tmp_path), overwrite=True, retries=1)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert "Range" not in server.asked[-1]


@pytest.mark.parametrize("part", [CONTENT, CONTENT + b"more"])
def test_part_that_is_all(server: Server, tmp_path: Path, part: bytes) -> None:
    (tmp_path / "data.bin.part").write_bytes(part)
    utils.download(server.address("data.bin"), str(tmp_path), sha1_hash=SUM)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT
    assert len(server.asked) == (0 if part == CONTENT else 2)


def test_interrupt(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(fetching._Progress, "add", interrupt)
        for given in (SUM, None):
            with pytest.raises(KeyboardInterrupt):
                utils.download(server.address("data.bin"), str(tmp_path), sha1_hash=given)
            assert parts(tmp_path) == (["data.bin.part"] if given else [])
    utils.download(server.address("data.bin"), str(tmp_path), sha1_hash=SUM)
    assert parts(tmp_path) == ["data.bin"]


def test_wrong_sum(server: Server, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=f"does not have the SHA-1 sum {'0' * 40}"):
        utils.download(server.address("data.bin"), str(tmp_path), sha1_hash="0" * 40, retries=2)
    assert len(server.asked) == 2
    assert parts(tmp_path) == []


def test_sum_that_is_right_later(server: Server, tmp_path: Path) -> None:
    def mend(*args: Any) -> None:
        server.files["data.bin"] = CONTENT

    server.files["data.bin"] = b"garbage"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fetching.time, "sleep", mend)
        utils.download(server.address("data.bin"), str(tmp_path), sha1_hash=SUM)
    assert (tmp_path / "data.bin").read_bytes() == CONTENT


def test_file_that_is_not_there(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(OSError, match="404 Not Found") as told:
        utils.download(server.address("missing.bin"), str(tmp_path))
    text = str(told.value)
    assert server.address("missing.bin") in text
    assert f"put the file into the folder {tmp_path} yourself" in text
    assert text.startswith("missing.bin could not be fetched")
    assert len(server.asked) == 1  # another attempt would not change it
    assert capsys.readouterr().out == ""
    assert parts(tmp_path) == []


def test_server_that_is_busy(server: Server, tmp_path: Path) -> None:
    server.faults.extend(("503", "429"))
    utils.download(server.address("data.bin"), str(tmp_path))
    assert len(server.asked) == 3
    server.faults.extend(["500"] * 2)
    with pytest.raises(OSError, match="500 Internal Server Error"):
        utils.download(server.address("data.bin"), str(tmp_path), overwrite=True, retries=2)


def test_without_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def unknown(*args: Any, **kwargs: Any) -> Any:
        asked.append(args)
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    address = "https://nowhere.invalid/data.bin"
    with pytest.raises(OSError, match="Temporary failure in name resolution") as told:
        utils.download(address, str(tmp_path))
    text = str(told.value)
    assert text.count("data.bin") == 2  # the file, and the end of the address
    assert address in text
    assert str(tmp_path) in text
    assert told.value.__cause__ is None
    assert told.value.__suppress_context__
    assert len(asked) == 1
    assert capsys.readouterr() == ("", "")


def test_refused_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(fetching, "_PAUSE", 0.001)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        with pytest.raises(OSError, match="Connection refused"):
            utils.download(f"http://127.0.0.1:{port}/data.bin", str(tmp_path))


@pytest.mark.parametrize("address", ["no address", "gopher://x/y"])
def test_no_address(tmp_path: Path, address: str) -> None:
    with pytest.raises(OSError, match="could not be fetched"):
        utils.download(address, str(tmp_path))


def test_silent_server(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "_PATIENCE", 0.05)
    server.gate.clear()
    try:
        with pytest.raises(OSError, match="nothing has come"):
            utils.download(server.address("data.bin"), str(tmp_path), retries=2)
    finally:
        server.gate.set()


def test_several_at_once(server: Server, tmp_path: Path) -> None:
    """One fetches the file, and the others wait for it."""
    server.gate.clear()
    found: list[str] = []

    def work() -> None:
        found.append(utils.download(server.address("data.bin"), str(tmp_path), sha1_hash=SUM))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    while not server.asked:
        pass
    server.gate.set()
    for one in threads:
        one.join()
    assert found == [str(tmp_path / "data.bin")] * 4
    assert len(server.asked) == 1
    assert parts(tmp_path) == ["data.bin"]


def test_one_that_came_after_a_look(server: Server, tmp_path: Path) -> None:
    target = tmp_path / "data.bin"
    target.write_bytes(CONTENT)
    fetching.fetch(server.address("data.bin"), str(target), SUM)
    assert not server.asked
    fetching.fetch(server.address("data.bin"), str(target), SUM, instead_of=target.stat())
    assert len(server.asked) == 1
    assert parts(tmp_path) == ["data.bin"]


def test_progress(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(fetching, "_REPORT", 0)
    server.faults.append(200_000)
    utils.download(server.address("data.bin"), str(tmp_path))
    reports = terminal.getvalue().split("\r")
    assert reports[1].startswith("data.bin: 0.1 of 0.5 MB")
    assert reports[-1].startswith("data.bin: 0.5 of 0.5 MB")
    assert terminal.getvalue().endswith("\n")


def test_unchecked_connections(server: Server, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="will not be checked"):
        utils.download(server.address("data.bin"), str(tmp_path), verify_ssl=False)


def test_folder_that_cannot_be_made(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="could not be fetched"):
        utils.download(server.address("data.bin"), str(tmp_path / "file" / "data.bin"))


def test_address_of_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MXNET_GLUON_REPO", raising=False)
    assert utils._get_repo_file_url("gluon/dataset/mnist", "x.gz") == (
        "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/gluon/dataset/mnist/x.gz"
    )
    for given in ("http://here/store", "http://here/store/"):
        monkeypatch.setenv("MXNET_GLUON_REPO", given)
        assert utils._get_repo_url() == "http://here/store/"


def test_import_is_light() -> None:
    """Whoever fetches nothing imports nothing of the network."""
    program = "import sys, afterglow.gluon.utils; sys.exit('urllib.request' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

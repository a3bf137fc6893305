# SPDX-License-Identifier: Apache-2.0
"""``afterglow im2rec``: lists of folders, and files of records that are made of them."""

from __future__ import annotations

import io
import os
import random
import struct
import threading
from pathlib import Path
from typing import Any

import numpy as onp
import pytest
from support import within_tries

from afterglow import image, recordio
from afterglow._formats import pictures
from afterglow.cli import im2rec, main


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a folder of pictures: a, b/c, b/d, without an order."""
    folder = tmp_path / "pictures"
    generator = onp.random.RandomState(0)
    for name in ("b/2.png", "b/1.JPG", "x.jpg", "a.jpeg", "b/d/é 4.png", "b/c/3.jpg"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = generator.randint(0, 255, (12, 9 + len(name), 3)).astype("uint8")
        path.write_bytes(pictures.encode(pixels, path.suffix.lower(), 9))
    (folder / "b" / "notes.txt").write_text("no picture")
    return folder


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def records(prefix: Path) -> dict[int, tuple[Any, bytes]]:
    reader = recordio.MXIndexedRecordIO(f"{prefix}.idx", f"{prefix}.rec", "r")
    found = {}
    for key in reader.keys:
        record = reader.read_idx(key)
        assert record is not None
        header, content = recordio.unpack(record)
        assert header.id == key
        found[key] = (header.label, content)
    return found


# --- lists ---


def test_a_list_of_a_folder(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["im2rec", "--list", "--no-shuffle", str(tmp_path / "a"), str(root)]) == 0
    assert lines(tmp_path / "a.lst") == ["0\t0.000000\ta.jpeg", "1\t0.000000\tx.jpg"]
    assert capsys.readouterr().out == f"{tmp_path}/a.lst: 2 pictures\n"


def test_a_list_of_folders(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["im2rec", "--list", "--recursive", str(tmp_path / "a"), str(root)]
    assert main([*words, "--no-shuffle"]) == 0
    expected = [
        "0\t0.000000\ta.jpeg",
        "1\t0.000000\tx.jpg",
        "2\t1.000000\tb/1.JPG",
        "3\t1.000000\tb/2.png",
        "4\t2.000000\tb/c/3.jpg",
        "5\t3.000000\tb/d/é 4.png",
    ]
    assert lines(tmp_path / "a.lst") == expected
    assert capsys.readouterr().out.splitlines()[:-1] == [". 0", "b 1", "b/c 2", "b/d 3"]
    assert main(words) == 0
    random.seed(100)  # as MXNet's tool does
    random.shuffle(expected)
    assert lines(tmp_path / "a.lst") == expected
    assert main([*words, "--exts", ".PNG"]) == 0
    assert len(lines(tmp_path / "a.lst")) == 2


def test_links_that_lead_round(root: Path, tmp_path: Path) -> None:
    (root / "b" / "again").symlink_to(root)
    (root / "elsewhere").symlink_to(tmp_path / "other")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "7.jpg").write_bytes((root / "x.jpg").read_bytes())
    assert main(["im2rec", "--list", "--recursive", str(tmp_path / "a"), str(root)]) == 0
    paths = {line.split("\t")[-1] for line in lines(tmp_path / "a.lst")}
    assert len(paths) == 7
    assert "elsewhere/7.jpg" in paths


def test_names_that_a_list_cannot_hold(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "a\tb.jpg").write_bytes(b"")
    os.link(root / "x.jpg", os.fsencode(root) + b"/\xff.jpg")
    assert main(["im2rec", "--list", str(tmp_path / "a"), str(root)]) == 0
    assert "'a\\tb.jpg' is left out: a list cannot hold its name" in capsys.readouterr().err
    assert (tmp_path / "a.lst").read_bytes().count(b"\xff.jpg") == 1
    assert main(["im2rec", "--pass-through", str(tmp_path / "a"), str(root)]) == 0
    assert len(records(tmp_path / "a")) == 3


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        ({}, {"": 20}),
        ({"train": 0.5}, {"_train": 10, "_val": 10}),
        ({"train": 0.5, "test": 0.25}, {"_train": 10, "_val": 5, "_test": 5}),
        ({"train": 0.75, "test": 0.25}, {"_train": 15, "_test": 5}),
        ({"chunks": 3}, {"_0": 7, "_1": 7, "_2": 6}),
        ({"chunks": 2, "train": 0.7}, {"_0_train": 7, "_0_val": 3, "_1_train": 7, "_1_val": 3}),
        ({"test": 0.5, "train": 0}, {"_test": 10, "_val": 10, "_train": 0}),
    ],
)
def test_shares(options: dict[str, float], counts: dict[str, int], tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.jpg").touch()
    words = []
    for name, value in options.items():
        words += [f"--{name}" if name == "chunks" else f"--{name}-ratio", str(value)]
    assert main(["im2rec", "--list", *words, str(tmp_path / "a"), str(folder)]) == 0
    found = {path.stem[1:]: lines(path) for path in tmp_path.glob("*.lst")}
    assert {name: len(one) for name, one in found.items()} == counts
    everything = [line.split("\t")[0] for one in found.values() for line in one]
    assert sorted(map(int, everything)) == list(range(20))


# --- records ---


def made(tmp_path: Path, root: Path, *options: str) -> dict[int, tuple[Any, bytes]]:
    words = ["--list", "--recursive", "--no-shuffle"]
    assert main(["im2rec", *words, str(tmp_path / "a"), str(root)]) == 0
    assert main(["im2rec", *options, str(tmp_path / "a"), str(root)]) == 0
    assert {path.suffix for path in tmp_path.glob("a*")} == {".lst", ".idx", ".rec"}
    return records(tmp_path / "a")


def test_files_as_they_are(root: Path, tmp_path: Path) -> None:
    found = made(tmp_path, root, "--pass-through")
    paths = [line.split("\t") for line in lines(tmp_path / "a.lst")]
    assert [*found] == list(range(6))
    for number, label, path in paths:
        assert found[int(number)] == (float(label), (root / path).read_bytes())


@pytest.mark.parametrize("threads", ["1", "3"])
def test_pictures_encoded_again(threads: str, root: Path, tmp_path: Path) -> None:
    found = made(tmp_path, root, "--encoding", ".png", "--quality", "3", "--num-thread", threads)
    for line in lines(tmp_path / "a.lst"):
        number, _, path = line.split("\t")
        ours = image.imdecode(found[int(number)][1]).asnumpy()
        onp.testing.assert_array_equal(ours, image.imread(root / path).asnumpy())


def test_sizes_and_colours(root: Path, tmp_path: Path) -> None:
    found = made(tmp_path, root, "--resize", "6", "--encoding", ".png", "--color", "0")
    sizes = []
    for line in lines(tmp_path / "a.lst"):
        number, _, path = line.split("\t")
        picture = image.imread(root / path, 0)
        expected = image.resize_short(picture, 6, 1).asnumpy()
        content = found[int(number)][1]
        assert content[25] == 0  # of one channel
        ours = image.imdecode(content, 0).asnumpy()
        onp.testing.assert_array_equal(ours, expected)
        sizes.append(ours.shape)
    assert len({*sizes}) > 2
    squares = made(tmp_path, root, "--resize", "6", "--center-crop", "--quality", "50")
    assert {image.imdecode(content).shape for _, content in squares.values()} == {(6, 6, 3)}
    large = made(tmp_path, root, "--resize", "6", "--center-crop", "--quality", "100")
    for number, (_, content) in squares.items():
        assert content[:2] == b"\xff\xd8"
        assert len(content) < len(large[number][1])


def test_labels(root: Path, tmp_path: Path) -> None:
    (tmp_path / "a.lst").write_text("7\t1.5\t2\t3\tx.jpg\n9\t4\ta.jpeg\n")
    assert main(["im2rec", "--pass-through", str(tmp_path / "a"), str(root)]) == 0
    assert [label for label, _ in records(tmp_path / "a").values()] == [1.5, 4]
    assert main(["im2rec", "--pack-label", str(tmp_path / "a"), str(root)]) == 0
    first, second = (label for label, _ in records(tmp_path / "a").values())
    assert (first.tolist(), second) == ([1.5, 2, 3], 4)


def test_several_lists_and_a_folder_as_prefix(root: Path, tmp_path: Path) -> None:
    words = ["im2rec", "--list", "--recursive", "--chunks", "2"]
    folder = tmp_path / "lists"
    folder.mkdir()
    assert main([*words, str(folder / "a"), str(root)]) == 0
    assert main(["im2rec", str(folder / "a_1"), str(root)]) == 0
    assert {path.name for path in folder.glob("*.rec")} == {"a_1.rec"}
    assert main(["im2rec", str(folder), str(root)]) == 0
    assert {path.name for path in folder.glob("*.rec")} == {"a_0.rec", "a_1.rec"}
    everything = records(folder / "a_0") | records(folder / "a_1")
    assert sorted(everything) == list(range(6))


def test_what_is_left_out_is_told(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "cut.jpg").write_bytes((root / "x.jpg").read_bytes()[:-100])
    huge = bytearray(pictures.encode(onp.zeros((4, 4, 3), "uint8"), ".png", 9))
    struct.pack_into(">2I", huge, 16, 2**30, 2**30)
    (root / "huge.png").write_bytes(huge)
    listed = ["0\t1\tx.jpg", "1\t1\tcut.jpg", "no line", "2\ta\tx.jpg", "3\t1\tgone.jpg",
              "4\t1\thuge.png", "5\t1\ta.jpeg", "-1\t1\tx.jpg"]  # fmt: skip
    (tmp_path / "a.lst").write_text("\n".join(listed) + "\n")
    assert main(["im2rec", str(tmp_path / "a"), str(root)]) == 1
    shown = capsys.readouterr()
    said = shown.err.replace("\n[", "\n\n[").splitlines()
    for text in ("cut.jpg is left out: [im2rec] it is a damaged picture",
                 f"line 3 of '{tmp_path}/a.lst' is no picture: 'no line'; a number, labels",
                 f"line 4 of '{tmp_path}/a.lst' is no picture",
                 "gone.jpg is left out: '", "huge.png is left out: [im2rec] it is damaged",
                 "x.jpg is left out: [pack]"):  # fmt: skip
        assert any(line.startswith(f"afterglow im2rec: {text}") for line in said), text
    assert "2 of 8 pictures" in shown.out
    assert shown.out.endswith("6 left out\n")
    assert [*records(tmp_path / "a")] == [0, 5]


def test_older_records_stay_until_new_ones_are_whole(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path, root)
    before = (tmp_path / "a.rec").read_bytes()
    threads = threading.active_count()

    def fails(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(im2rec, "packed", fails)
    with pytest.raises(KeyboardInterrupt):
        main(["im2rec", "--resize", "3", str(tmp_path / "a"), str(root)])
    assert (tmp_path / "a.rec").read_bytes() == before
    assert {path.suffix for path in tmp_path.glob("a*")} == {".lst", ".idx", ".rec"}
    within_tries(lambda: threading.active_count() <= threads, "threads stay")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--list", "--train-ratio", "0.8", "--test-ratio", "0.3"], "more than 1 together"),
        (["--list", "--train-ratio", "2"], "a share from 0 to 1 is needed"),
        (["--list", "--chunks", "0"], "a positive number is needed"),
        (["--resize", "-3"], "'-3' was given; a number is needed"),
        (["--encoding", ".gif"], "invalid choice"),
        ([], "there is no list"),
    ],
)
def test_mistakes(
    words: list[str], said: str, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(["im2rec", *words, str(tmp_path / "a"), str(root)])
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status in (1, 2)
    assert said in capsys.readouterr().err


def test_roots_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["im2rec", "--list", str(tmp_path / "a"), str(tmp_path / "gone")]) == 1
    assert "gone' is no folder" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(im2rec.time, "monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")
    terminal, plain = Terminal(), io.StringIO()
    for stream in (terminal, plain):
        now[0] = 0.0
        progress = im2rec.Progress(stream, "a.rec", 2500)
        for _ in range(2500):
            now[0] += 0.01
            progress.count()
        progress.end()
    lines = terminal.getvalue().split("\r\x1b[K")
    assert 200 < len(lines) < 260
    assert lines[1] == "a.rec: 11 of 2500 pictures, 100 a second, 25 s left"
    assert lines[-1] == "a.rec: 2500 of 2500 pictures, 100 a second\n"
    assert plain.getvalue().splitlines() == [
        f"a.rec: {count} of 2500 pictures, 100 a second" for count in (1000, 2000, 2500)
    ]

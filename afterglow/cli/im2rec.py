# SPDX-License-Identifier: Apache-2.0
"""``afterglow im2rec``: lists of pictures, and files of records that are made of them."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from .. import recordio
from .._formats import params as _files
from .._formats import picture_lists, pictures
from .._formats.picture_lists import Entry
from .._package.background import Background
from .._package.machine import usable_processors
from ..error import FileError, MXNetError

_NOTES = """\
First a list, then records:

  afterglow im2rec --list --recursive data/train pictures
  afterglow im2rec --resize 256 data/train pictures

The list, data/train.lst, has a line for each picture: a number, one or more
labels and the path below ROOT, with tabs between. It can be written by hand. The
second command makes data/train.rec and data/train.idx out of it, and does the
same for other lists that begin like it, such as data/train_0.lst. mx.io and
mx.image read them, and so does MXNet.

Pictures that cannot be packed are named and left out; the exit status is 1 then.
"""

#: Pictures that are packed ahead for each thread.
_AHEAD = 4
#: Where nobody looks on, a line is printed after so many.
_LINE = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what ``afterglow im2rec`` takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _NOTES
    parser.add_argument("prefix", metavar="PREFIX", help="how lists and files of records begin")
    parser.add_argument("root", metavar="ROOT", help="the folder of the pictures")
    lists = parser.add_argument_group("lists")
    lists.add_argument(
        "--list", action="store_true", help="write PREFIX.lst, of the pictures in ROOT"
    )
    lists.add_argument(
        "--recursive",
        action="store_true",
        help="with the folders below ROOT, each with a label of its own; else the label is 0",
    )
    lists.add_argument(
        "--exts",
        nargs="+",
        metavar="EXT",
        default=[".jpeg", ".jpg", ".png"],
        help="endings of pictures (default: .jpeg .jpg .png)",
    )
    lists.add_argument("--no-shuffle", action="store_true", help="keep the order of the folders")
    lists.add_argument(
        "--chunks", type=_count, default=1, metavar="N", help="so many lists, PREFIX_0.lst..."
    )
    lists.add_argument(
        "--train-ratio",
        type=_share,
        default=1.0,
        metavar="R",
        help="a share for PREFIX_train.lst; the rest goes to PREFIX_val.lst",
    )
    lists.add_argument(
        "--test-ratio", type=_share, default=0.0, metavar="R", help="a share for PREFIX_test.lst"
    )
    records = parser.add_argument_group("records")
    records.add_argument(
        "--pass-through", action="store_true", help="pack the files of pictures as they are"
    )
    records.add_argument(
        "--resize", type=_number, default=0, metavar="N", help="the shorter side (default: as is)"
    )
    records.add_argument("--center-crop", action="store_true", help="cut pictures to squares")
    records.add_argument(
        "--quality",
        type=_number,
        default=95,
        metavar="N",
        help="1 to 100 for JPEG (default: 95), 1 to 9 for PNG, the smallest last",
    )
    records.add_argument(
        "--encoding", choices=[".jpg", ".png"], default=".jpg", help="default: .jpg"
    )
    records.add_argument(
        "--color",
        type=int,
        choices=[-1, 0, 1],
        default=1,
        help="1: colour (the default), 0: gray, -1: as it is, transparency too",
    )
    records.add_argument(
        "--pack-label", action="store_true", help="all labels of a line, not the first alone"
    )
    records.add_argument(
        "--num-thread",
        type=_count,
        default=usable_processors(),
        metavar="N",
        help="threads that decode and encode (default: one for each processor, %(default)s)",
    )


def _number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} was given; a number is needed")
    return int(text)


def _count(text: str) -> int:
    if _number(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} was given; a positive number is needed")
    return int(text)


def _share(text: str) -> float:
    with suppress(ValueError):
        if 0 <= float(text) <= 1:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r} was given; a share from 0 to 1 is needed")


def run(arguments: argparse.Namespace) -> int:
    """Write lists, or records of those that are there."""
    try:
        if not os.path.isdir(arguments.root):
            raise FileError(f"{arguments.root!r} is no folder")
        return _write_lists(arguments) if arguments.list else _write_records(arguments)
    except (MXNetError, ImportError) as problem:
        _say(str(problem))
        return 1


def _say(text: str) -> None:
    print(f"afterglow im2rec: {text}", file=sys.stderr)


# --- lists ---


def _write_lists(arguments: argparse.Namespace) -> int:
    if arguments.train_ratio + arguments.test_ratio > 1:
        raise FileError("--train-ratio and --test-ratio are more than 1 together")
    endings = {ending.lower() for ending in arguments.exts}
    entries = [*_found(arguments.root, arguments.recursive, endings)]
    if not arguments.no_shuffle:
        random.Random(100).shuffle(entries)  # the order in which MXNet's tool lists them
    size = -(-len(entries) // arguments.chunks)
    for chunk in range(arguments.chunks):
        part = entries[chunk * size : (chunk + 1) * size]
        prefix = arguments.prefix + (f"_{chunk}" if arguments.chunks > 1 else "")
        test, train = (int(size * share) for share in (arguments.test_ratio, arguments.train_ratio))
        if arguments.train_ratio == 1:
            _write_list(f"{prefix}.lst", part)
            continue
        if arguments.test_ratio:
            _write_list(f"{prefix}_test.lst", part[:test])
        if arguments.train_ratio + arguments.test_ratio < 1:
            _write_list(f"{prefix}_val.lst", part[test + train :])
        _write_list(f"{prefix}_train.lst", part[test : test + train])
    return 0


def _found(root: str, is_recursive: bool, endings: set[str]) -> Iterator[Entry]:
    """Give the pictures of a folder; those below it by folders, which are printed at the end."""
    labels: dict[str, int] = {}
    count = 0
    seen = set()  # links may lead round
    for folder, below, names in os.walk(root, followlinks=True):
        place = os.stat(folder)
        if (place.st_dev, place.st_ino) in seen or not is_recursive:
            below.clear()
        if (place.st_dev, place.st_ino) in seen:
            continue
        seen.add((place.st_dev, place.st_ino))
        below.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.splitext(name)[1].lower() not in endings or not os.path.isfile(path):
                continue
            relative = os.path.relpath(path, root)
            if {*"\t\n\r"} & {*relative}:
                _say(f"{relative!r} is left out: a list cannot hold its name")
                continue
            label = labels.setdefault(folder, len(labels)) if is_recursive else 0
            yield Entry(count, [label], relative)
            count += 1
    for folder, label in labels.items():
        print(os.path.relpath(folder, root), label)


def _write_list(path: str, entries: Sequence[Entry]) -> None:
    picture_lists.write(path, entries)
    print(f"{path}: {len(entries)} pictures")


# --- records ---


def _write_records(arguments: argparse.Namespace) -> int:
    prefix = Path(arguments.prefix).absolute()
    folder = prefix if prefix.is_dir() else prefix.parent
    lists = sorted(
        path
        for path in (folder.iterdir() if folder.is_dir() else ())
        if path.suffix == ".lst" and path.is_file() and str(path).startswith(str(prefix))
    )
    if not lists:
        raise FileError(
            f"there is no list {arguments.prefix}.lst; afterglow im2rec --list writes one"
        )
    if not arguments.pass_through:
        pictures.opencv()
    left_out = sum(_write_file(path, arguments) for path in lists)
    return 1 if left_out else 0


def _write_file(path: Path, arguments: argparse.Namespace) -> int:
    """Make the records of a list, and take the places of older ones; return what is left out."""
    entries = [*picture_lists.entries_of(path)]
    targets = [path.with_suffix(ending) for ending in (".idx", ".rec")]
    temporary = [f"{target}.{os.getpid()}.tmp" for target in targets]
    threads = Background(arguments.num_thread, "im2rec")
    try:
        writer = recordio.MXIndexedRecordIO(temporary[0], temporary[1], "w")
        progress = Progress(sys.stdout, str(targets[1]), len(entries))
        coming = deque[tuple[Entry, Callable[[], bytes]]]()

        def write_next() -> None:
            entry, result = coming.popleft()
            try:
                writer.write_idx(entry.number, result())
            except MXNetError as problem:
                progress.leave_out(f"{entry.path} is left out: {problem}")
            else:
                progress.count()

        for entry in entries:
            if isinstance(entry, FileError):
                progress.leave_out(f"{entry}; it is left out")
                continue
            coming.append((entry, threads.submit(packed, entry, arguments).result))
            if len(coming) > _AHEAD * arguments.num_thread:
                write_next()
        while coming:
            write_next()
        writer.close()
        progress.end()
        for name, target in zip(temporary, targets, strict=True):
            os.replace(name, target)
    finally:
        threads.close()
        for name in temporary:
            with suppress(FileNotFoundError):
                os.unlink(name)
    return progress.left_out


def packed(entry: Entry, arguments: argparse.Namespace) -> bytes:
    """Return the record of a picture."""
    path = os.path.join(arguments.root, entry.path)
    several = arguments.pack_label and len(entry.labels) > 1
    header = recordio.IRHeader(0, entry.labels if several else entry.labels[0], entry.number, 0)
    content = _files.read(path)
    if arguments.pass_through:
        return recordio.pack(header, content)
    pixels = pictures.decode(content, arguments.color, "[im2rec] it")
    if arguments.center_crop:
        height, width = pixels.shape[:2]
        side = min(height, width)
        top, left = (height - side) // 2, (width - side) // 2
        pixels = pixels[top : top + side, left : left + side]
    if arguments.resize:
        height, width = pixels.shape[:2]
        shorter = min(height, width)
        size = (width * arguments.resize // shorter, height * arguments.resize // shorter)
        pixels = pictures.resize(pixels, *size, 1)
    return recordio.pack_img(header, pixels, arguments.quality, arguments.encoding)


class Progress:
    """Tells how many pictures are packed: in one line of a terminal, else now and then."""

    def __init__(self, stream: TextIO, target: str, total: int) -> None:
        self._stream, self._target, self._total = stream, target, total
        self._begin = time.monotonic()
        self._shown = 0.0
        self._count = self.left_out = 0
        self._is_terminal = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"

    def count(self) -> None:
        """Note one more."""
        self._count += 1
        seconds = time.monotonic() - self._begin
        if self._is_terminal and seconds > self._shown + 0.1:
            self._shown = seconds
            done = self._count + self.left_out
            rest = seconds / done * (self._total - done)
            self._stream.write(f"\r\x1b[K{self._line(seconds)}, {rest:.0f} s left"[:100])
            self._stream.flush()
        elif not self._is_terminal and self._count % _LINE == 0:
            print(self._line(seconds), file=self._stream, flush=True)

    def leave_out(self, text: str) -> None:
        """Say what is left out."""
        self._erase()
        _say(text)
        self.left_out += 1

    def end(self) -> None:
        """Say how many there are."""
        self._erase()
        out = f", {self.left_out} left out" if self.left_out else ""
        print(f"{self._line(time.monotonic() - self._begin)}{out}", file=self._stream)

    def _line(self, seconds: float) -> str:
        rate = self._count / max(seconds, 1e-3)
        return f"{self._target}: {self._count} of {self._total} pictures, {rate:.0f} a second"

    def _erase(self) -> None:
        if self._is_terminal:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

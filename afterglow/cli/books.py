# SPDX-License-Identifier: Apache-2.0
"""``afterglow books``: the data of the books, put where their chapters look for it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

from .._package.namespace import did_you_mean
from ..books.data import DATA_FOLDER, DataFile, data_sets, put_in_place
from ..trace.measures import readable_bytes

_NOTES = """\
Most chapters look for their data in ../data, from the folder in which they are
run; --data names another one. FashionMNIST and the other data sets of MXNet are
looked for in $MXNET_HOME/datasets, which is ~/.mxnet/datasets if it is not set.

What was fetched in part is taken up again. A file is put in its place when it is
whole and, where the books name a sum, has that sum. Archives stay packed: the
chapters unpack them.

examples
  afterglow books where
  afterglow books fetch FashionMNIST time_machine
  afterglow books fetch kaggle_house --from ~/Downloads
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what ``afterglow books`` takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _NOTES
    tasks = parser.add_subparsers(dest="task", metavar="TASK", required=True)
    fetch = tasks.add_parser("fetch", help="put data sets in place, from the network or a folder")
    fetch.add_argument("names", metavar="NAME", nargs="+", help="of data sets; where lists them")
    fetch.add_argument(
        "--from", dest="source", metavar="FOLDER", help="copy files from there; use no network"
    )
    where = tasks.add_parser("where", help="print files, folders, addresses, and what is there")
    where.add_argument("names", metavar="NAME", nargs="*", help="of data sets (default: all)")
    for task in (fetch, where):
        task.add_argument(
            "--data",
            metavar="FOLDER",
            default=DATA_FOLDER,
            help=f"where the chapters look for data (default: {DATA_FOLDER})",
        )


def run(arguments: argparse.Namespace) -> int:
    """Fetch files or print where they are."""
    sets = data_sets(arguments.data)
    files: list[DataFile] = []
    for name in arguments.names or sets:
        known = {_plain(one): one for one in sets}.get(_plain(name))
        if known is None:
            hint = did_you_mean(name, sets) or f"there are {', '.join(sets)}"
            print(f"afterglow books: there is no data set {name!r}; {hint}", file=sys.stderr)
            return 2
        files += sets[known]
    if arguments.task == "where":
        _print_table(files)
        return 0
    source = None if arguments.source is None else Path(arguments.source).expanduser().absolute()
    if source is not None and not source.is_dir():
        print(f"afterglow books: {source} is no folder", file=sys.stderr)
        return 2
    return _fetch(files, source)


def _plain(name: str) -> str:
    """Return a name without capital letters and what stands between words."""
    return re.sub(r"[-_ .]", "", name.lower())


def _fetch(files: list[DataFile], source: Path | None) -> int:
    """Put files in place; what could not be is told at the end, all at once."""
    failed: list[tuple[DataFile, str]] = []
    for file in files:
        try:
            done = put_in_place(file, source)
        except OSError as problem:
            failed.append((file, problem.strerror or str(problem)))
        else:
            print(f"{file.path} {done}")
    if not failed:
        return 0
    lines = [f"afterglow books: {len(failed)} of {len(files)} files could not be put in place."]
    for file, reason in failed:
        lines += [
            f"  {file.path.name}: {reason}",
            f"    folder:  {file.path.parent}",
            f"    address: {file.address}",
        ]
    lines.append("Put them into these folders yourself, or name a folder that has them: --from")
    print("\n".join(lines), file=sys.stderr)
    return 1


def _print_table(files: list[DataFile]) -> None:
    head = ("name", "file", "state", "size", "folder", "address")
    rows = [head]
    for file in files:
        size = _size(file)
        rows.append(
            (file.name, file.path.name, file.state, size, str(file.path.parent), file.address)
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{one:{width}}" for one, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def _size(file: DataFile) -> str:
    if file.state == "there":
        return readable_bytes(os.path.getsize(file.path))
    return "" if file.size is None else readable_bytes(file.size)

# SPDX-License-Identifier: Apache-2.0
"""The data sets that chapters of the books read: which files, where they look for them, from where.

Sums and addresses (``data_sets.json``) are those that the books' helper packages name. Most
chapters look in ``../data`` from the folder in which they are run; MXNet's own data sets are below
``MXNET_HOME``.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .._formats.fetching import fetch
from ..base import data_dir
from ..gluon.data.vision import CIFAR10, CIFAR100, MNIST, FashionMNIST
from ..gluon.utils import _get_repo_file_url, check_sha1

__all__ = ["DATA_FOLDER", "DataFile", "data_sets", "put_in_place"]

#: Where chapters look for data, from the folder in which they are run.
DATA_FOLDER = os.path.join("..", "data")


@dataclass(frozen=True)
class DataFile:
    """A file of a data set."""

    #: Of the data set.
    name: str
    #: Where chapters look for it.
    path: Path
    address: str
    #: Nothing where the books name none.
    sha1: str | None
    #: Nothing where it is not known before the file is fetched.
    size: int | None = None

    def is_right(self, path: Path) -> bool:
        """Tell whether there is a file with the content that it should have."""
        return path.is_file() and (self.sha1 is None or check_sha1(str(path), self.sha1))

    @property
    def state(self) -> str:
        """Whether it is there, or a part of it; the sum is not looked at."""
        if self.path.is_file():
            return "there"
        return "a part" if Path(f"{self.path}.part").is_file() else "missing"


@cache
def _stated() -> dict[str, list[dict[str, str | int]]]:
    text = Path(__file__).with_name("data_sets.json").read_text(encoding="utf-8")
    stated: dict[str, list[dict[str, str | int]]] = json.loads(text)
    return stated


def data_sets(folder: str = DATA_FOLDER) -> dict[str, list[DataFile]]:
    """Return the files of all data sets by name, for chapters that look in this folder."""
    sets: dict[str, list[DataFile]] = {}
    for dataset in (FashionMNIST, MNIST, CIFAR10, CIFAR100):
        space = dataset._namespace
        store = Path(data_dir(), "datasets", space).absolute()
        archive = getattr(dataset, "_archive", None)
        files = [archive] if archive else [*dataset._sums[True], *dataset._sums[False]]
        sets[space] = [
            DataFile(space, store / file, _get_repo_file_url(f"gluon/dataset/{space}", file), sum_)
            for file, sum_ in files
        ]
    for name, entries in _stated().items():
        sets[name] = []
        for entry in entries:
            address = str(entry["address"])
            place = Path(folder, str(entry.get("folder", "")), address.rpartition("/")[2])
            sha1, size = entry.get("sha1"), entry.get("bytes")
            sets[name].append(
                DataFile(
                    name,
                    Path(os.path.abspath(place)),
                    address,
                    None if sha1 is None else str(sha1),
                    None if size is None else int(size),
                )
            )
    return sets


def put_in_place(file: DataFile, source: Path | None, attempts: int = 5) -> str:
    """Have a file where chapters look for it, from a folder on disk or the network; say how.

    Raises OSError with the reason.
    """
    before = file.path.stat() if file.path.exists() else None
    if file.is_right(file.path):
        return "is there"
    file.path.parent.mkdir(parents=True, exist_ok=True)
    if source is None:
        fetch(file.address, str(file.path), file.sha1, attempts, instead_of=before)
        return "was fetched"
    found = next((path for path in _below(source, file) if file.is_right(path)), None)
    if found is None:
        wrong = next(_below(source, file), None)
        raise OSError(
            f"it is not in {source}"
            if wrong is None
            else f"{wrong} does not have the SHA-1 sum {file.sha1}"
        )
    part = f"{file.path}.part"
    try:
        shutil.copyfile(found, part)
        os.replace(part, file.path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise
    return f"was copied from {found}"


def _below(folder: Path, file: DataFile) -> Iterator[Path]:
    """Find the file by its name, nearest first: in the folder, in that of its set, anywhere."""
    yield from (path for path in (folder / file.path.name,) if path.is_file())
    yield from sorted(folder.glob(f"**/{file.path.parent.name}/{file.path.name}"))
    yield from sorted(folder.rglob(file.path.name))

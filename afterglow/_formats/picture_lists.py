# SPDX-License-Identifier: Apache-2.0
"""Lists of pictures (``.lst``): texts with a line for each picture.

A line has a number, one or more labels and a path, with tabs between.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..error import FileError
from .params import Path, read, replace


class Entry(NamedTuple):
    """A line of a list."""

    number: int
    labels: list[float]
    path: str


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Write a list, which replaces an older one."""
    lines = (
        "\t".join([str(one.number), *(f"{label:f}" for label in one.labels), one.path]) + "\n"
        for one in entries
    )
    text = "".join(lines).encode(errors="surrogateescape")
    replace(path, lambda file: file.write(text))


def entries_of(path: Path) -> Iterator[Entry | FileError]:
    """Give the entries of a list; for lines that are none, errors that say so."""
    text = read(path).decode(errors="surrogateescape").removesuffix("\n")
    for number, line in enumerate(text.split("\n") if text else (), 1):
        try:
            first, label, *labels, last = (field.strip() for field in line.strip().split("\t"))
            yield Entry(int(first), [float(one) for one in (label, *labels)], last)
        except ValueError:
            yield FileError(
                f"line {number} of {os.fspath(path)!r} is no picture: {line[:80]!r}; a number, "
                "labels and a path are needed, with tabs between"
            )


def checked(path: Path) -> Iterator[Entry]:
    """Give the entries of a list, of which all lines must be good."""
    for entry in entries_of(path):
        if isinstance(entry, FileError):
            raise entry
        yield entry

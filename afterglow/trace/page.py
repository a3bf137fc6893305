# SPDX-License-Identifier: Apache-2.0
"""A recording as one HTML file that needs nothing else: no network, no other file.

Its parts are in the folder ``page``. The recording is one block of bytes, compressed and written as
base64: the length of a header (4 bytes), the header as JSON, then the columns, each at a multiple
of 8 bytes. The header tells of each column its type, where it begins and how its values are stored:
``plain``; as ``steps``, differences from the value before; or as ``lengths`` beyond ``begin``.
Small numbers compress well.
"""

from __future__ import annotations

import base64
import html
import json
import os
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy

from .measures import device_spans, passes
from .recording import Recording, Table
from .summary import summarize

_Array = numpy.ndarray[Any, Any]

_PARTS = Path(__file__).with_name("page")
_SCRIPTS = "format recording series search lanes timeline describe panel main"
_TABLES = ("calls", "runs", "waits", "memory", "marks")
_INTEGERS = ("i1", "i2", "i4")


def write_page(
    recording: Recording, path: str | os.PathLike[str], *, title: str = "Afterglow trace"
) -> None:
    """Write the page that shows the recording.

    Open it in any browser of 2023 or later, from a file or a server.
    """
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(page(recording, title=title))


def page(recording: Recording, *, title: str = "Afterglow trace") -> str:
    """Return the page that shows the recording."""
    data = base64.b64encode(zlib.compress(_block(recording, title), 6)).decode("ascii")
    parts = {
        "title": html.escape(title),
        "style": (_PARTS / "page.css").read_text("utf-8"),
        "script": "\n".join(
            (_PARTS / f"{name}.js").read_text("utf-8") for name in _SCRIPTS.split()
        ),
        "data": data,
    }
    # The template is cut at its marks, so that a mark inside of a part stays as it is.
    pieces = (_PARTS / "page.html").read_text("utf-8").split("@@")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def _block(recording: Recording, title: str) -> bytes:
    summary = summarize(recording)
    columns: list[bytes] = []
    tables = {name: getattr(recording, name) for name in _TABLES}
    tables["spans"] = device_spans(recording, passes(recording))
    header = {
        "title": title,
        "headline": summary.headline(),
        "summary": asdict(summary),
        "duration": recording.duration,
        "threads": recording.threads,
        "pythonThreads": recording.python_threads,
        "texts": recording.texts,
        "tables": {name: _described(table, columns) for name, table in tables.items()},
    }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    start = len(text).to_bytes(4, "little") + text
    return b"".join([start, bytes(-len(start) % 8), *columns])


def _described(table: Table, columns: list[bytes]) -> dict[str, Any]:
    """Append the table's columns, and return what the header says of them."""
    described = {}
    for name, column in table.items():
        stored = "plain"
        if name in ("begin", "time"):
            stored, column = "steps", numpy.diff(column, prepend=column.dtype.type(0))
        elif name == "end":
            stored, column = "lengths", column - table["begin"]
        column = _smallest(column)
        data = column.tobytes()
        described[name] = {
            "stored": stored,
            "type": column.dtype.str[1:],
            "at": sum(map(len, columns)),
            "length": len(column),
        }
        columns += [data, bytes(-len(data) % 8)]
    return described


def _smallest(column: _Array) -> _Array:
    """Return the column in the smallest type that has its values; JavaScript has no 64 bits."""
    if column.dtype.kind in "iu":
        low, high = int(column.min(initial=0)), int(column.max(initial=0))
        for integer in _INTEGERS:
            limits = numpy.iinfo(integer)
            if limits.min <= low and high <= limits.max:
                return column.astype(f"<{integer}")
    return column.astype("<f8")

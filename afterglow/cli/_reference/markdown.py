# SPDX-License-Identifier: Apache-2.0
"""The reference as Markdown, a file for each namespace."""

from __future__ import annotations

from collections.abc import Iterator

from .entries import Entry, Namespace


def file_of(space: Namespace) -> str:
    """Return the name of the file of a namespace."""
    return f"{space.title}.md"


def text_of(space: Namespace) -> str:
    """Return a namespace as Markdown."""
    parts = [f"# {space.title}", space.text]
    for entry in space.entries:
        parts += _parts(entry, "##")
        for member in entry.members:
            parts += _parts(member, "###")
    return "\n\n".join(filter(None, parts)) + "\n"


def _parts(entry: Entry, level: str) -> Iterator[str]:
    yield f"{level} {entry.whole}"
    yield f"```python\n{entry.signature}\n```"
    yield entry.text
    if entry.state:
        yield f"In `np`: {entry.state}."
    if entry.kind == "module":
        yield f"See [{entry.same}]({entry.same}.md)."
    elif entry.same:
        yield f"The same as `{entry.same}`."
    if entry.bases:
        yield f"Has what {' and '.join(f'`{base}`' for base in entry.bases)} has."

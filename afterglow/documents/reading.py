# SPDX-License-Identifier: Apache-2.0
"""Reading the cells out of a file, by the ending of its name."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .cells import Document, DocumentError
from .markdown import parts_of_markdown
from .notebook import parts_of_notebook

_READERS = {
    ".ipynb": parts_of_notebook,
    ".markdown": parts_of_markdown,
    ".md": parts_of_markdown,
    ".txt": parts_of_markdown,
}


def is_script(path: str) -> bool:
    """Tell whether a file is one program instead of a document with cells."""
    return Path(path).suffix.lower() == ".py"


def read_bytes(path: str) -> bytes:
    """Return what is in a file that somebody named."""
    suffix = Path(path).suffix.lower()
    try:
        kind = os.stat(path).st_mode
        if stat.S_ISDIR(kind):
            raise DocumentError(f"{path} is a folder; a file is needed")
        if suffix != ".py" and suffix not in _READERS:
            raise DocumentError(f"{path} is no file to run; .py, .ipynb, .md and .txt are")
        if not stat.S_ISREG(kind):  # a device or a pipe may have no end
            raise DocumentError(f"{path} is no file, but a device or a pipe; a file is needed")
        return Path(path).read_bytes()
    except OSError as problem:
        raise DocumentError(f"{path} cannot be read: {problem.strerror}") from None
    except ValueError as problem:  # a name with a null character
        raise DocumentError(f"{path!r} cannot be read: {problem}") from None
    except MemoryError:
        raise DocumentError(f"{path} is larger than the memory") from None


def read(path: str) -> Document:
    """Return the cells of a notebook (``.ipynb``) or a text with fenced blocks (``.md``, ``.txt``).

    Raises :class:`DocumentError` for a file that has none.
    """
    if is_script(path):
        raise DocumentError(f"{path} is one program; a document with cells is needed")
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise DocumentError(
            f"{path} is not UTF-8: byte {problem.object[problem.start]:#04x} at {problem.start}"
        ) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    document = Document(path, _READERS[Path(path).suffix.lower()](text, path))
    if not any(cell.source.strip() for cell in document.cells):
        raise DocumentError(
            f"{path} has no cells; fenced blocks such as ```python or ```{{.python .input}}, "
            "or the code cells of a notebook, are needed"
        )
    return document

# SPDX-License-Identifier: Apache-2.0
"""Running a Python file as ``python FILE`` does."""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import os
import sys
import tokenize
import traceback
from collections.abc import Callable
from types import ModuleType

from .cells import Cell, Document, DocumentError
from .outputs import Screen, terminal
from .reading import read_bytes
from .report import without_our_frames
from .session import INTERRUPTED


def run_script(path: str, source: bytes, screen: Screen | None = None) -> int:
    """Run the content of a file as the program itself and return the exit status."""
    if screen is None:
        return _run(path, source, lambda text: None)
    screen.begin(1)
    try:
        return _run(path, source, screen.fail)
    finally:
        screen.end()


def script_as_document(path: str, source: bytes) -> Document:
    """Return a program as a document with one cell."""
    return Document(path, [Cell(1, importlib.util.decode_source(source), os.path.abspath(path))])


def _run(path: str, source: bytes, fail: Callable[[str], None]) -> int:
    filename = os.path.abspath(path)
    main = ModuleType("__main__")
    main.__dict__.update(
        __file__=filename,
        __cached__=None,
        __loader__=importlib.machinery.SourceFileLoader("__main__", filename),
        __annotations__={},
        __builtins__=sys.modules["builtins"],
    )
    sys.modules["__main__"] = main
    try:
        exec(compile(source, filename, "exec", dont_inherit=True), main.__dict__)
    except SystemExit:
        raise
    except BaseException as problem:
        trace = without_our_frames(problem.__traceback__)
        with contextlib.redirect_stderr(terminal(sys.stderr)):
            sys.excepthook(type(problem), problem.with_traceback(trace), trace)
        fail("".join(traceback.format_exception(problem)))
        return INTERRUPTED if isinstance(problem, KeyboardInterrupt) else 1
    return 0


def read_script(path: str) -> bytes:
    """Return the content of a file whose encoding is what Python expects or it says itself."""
    source = read_bytes(path)
    lines = iter(source.splitlines(keepends=True))
    try:
        encoding, _ = tokenize.detect_encoding(lambda: next(lines, b""))
        source.decode(encoding)
    except (SyntaxError, UnicodeDecodeError) as problem:
        raise DocumentError(f"{path} is not UTF-8, nor what it says it is: {problem}") from None
    return source

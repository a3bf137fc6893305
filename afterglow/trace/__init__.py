# SPDX-License-Identifier: Apache-2.0
"""What was issued, waited for and run, when and where: recorded, shown as a page, summed up.

>>> from afterglow import nd, trace
>>> trace.start()
>>> nd.ones((2, 3)).sum().wait_to_read()
>>> recording = trace.stop()
>>> [recording.texts[op] for op in recording.calls["op"]]
['full', 'sum']

``trace.write(recording, "trace.html")`` makes a page for a browser of it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from os import PathLike, fspath

from .._package.namespace import tend
from .recorder import (
    MOST_EVENTS,
    is_recording,
    pause,
    resume,
    snapshot,
    start,
    stop,
)
from .recording import Recording, Table

__all__ = [
    "MOST_EVENTS",
    "Recording",
    "Table",
    "check_writable",
    "is_recording",
    "pause",
    "record_to",
    "resume",
    "snapshot",
    "start",
    "stop",
    "write",
]


def write(
    recording: Recording, path: str | PathLike[str], *, title: str = "Afterglow trace"
) -> None:
    """Write a page if the name ends with ``.html``, and else trace events as JSON (Perfetto).

    The title is that of the page.
    """
    if fspath(path).endswith((".html", ".htm")):
        from .page import write_page

        write_page(recording, path, title=title)
    else:
        from .events import write_events

        write_events(recording, path)


def check_writable(path: str | PathLike[str]) -> None:
    """Raise :class:`OSError` now rather than when everything has been recorded."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"cannot write {fspath(path)}: there is no folder {folder}")
    if os.path.isdir(path):
        raise IsADirectoryError(f"cannot write {fspath(path)}: it is a folder")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise PermissionError(f"cannot write {fspath(path)}: permission denied")


@contextlib.contextmanager
def record_to(path: str | PathLike[str], *, title: str = "Afterglow trace") -> Iterator[None]:
    """Record in a ``with`` scope, and write the recording when it ends, also by an error.

    Calls that are unfinished then are shown as pending; ``nd.waitall()`` lets them finish before.
    Nothing is written if :func:`stop` was called meanwhile: the recording is that caller's.
    """
    path = os.path.abspath(path)
    check_writable(path)
    start()
    try:
        yield
    finally:
        if is_recording():
            write(stop(), path, title=title)


tend(__name__)

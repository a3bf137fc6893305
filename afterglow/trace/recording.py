# SPDX-License-Identifier: Apache-2.0
"""A recording of the engine's work as tables, from which pages, files and summaries are made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy

#: Columns by name, all of one length. Times are nanoseconds since the start of the recording;
#: columns of texts hold numbers of entries in :attr:`Recording.texts`.
Table = dict[str, "numpy.ndarray[Any, Any]"]

#: What became of a call, in the column ``state`` of calls.
RAN, DROPPED, PENDING = 0, 1, 2


def _table(**columns: str) -> Table:
    return {name: numpy.zeros(0, dtype) for name, dtype in columns.items()}


@dataclass
class Recording:
    """Everything that was recorded.

    A *call* is one issued op. Calls run in *passes*: alone, or fused with others into one pass over
    memory. A pass is cut into shares; each share that a thread computed is a *run*.
    """

    #: Nanoseconds from the start to the end of the recording.
    duration: int = 0
    #: The start, on the clock of :func:`time.monotonic_ns`.
    start: int = 0
    #: Names of lanes: Python threads first ("MainThread", ...), then "worker 0", "worker 1", ...
    threads: list[str] = field(default_factory=list)
    #: Lanes of Python threads: ``threads[:python_threads]``.
    python_threads: int = 0
    #: Texts that columns refer to; the first is empty.
    texts: list[str] = field(default_factory=lambda: [""])
    #: Events that were left out because there were too many.
    lost: int = 0
    #: In the order of issue. ``op``, ``site`` ("/path/file.py:42 in function"), ``layer``
    #: ("net.1.dense0") and ``shapes`` ("(2, 3) float32, (3,) float32 -> (2, 3) float32") are texts.
    #: ``begin`` and ``end`` tell when it was issued, by which ``thread``; ``bytes`` is the size of
    #: its results; ``state`` is RAN, DROPPED or PENDING; ``pass`` the pass it ran in, -1 for none;
    #: ``dropped`` when it was found to be unnecessary, -1 for never. ``cost`` is what it was
    #: estimated to take, by which the time of a fused pass is shared out among its members.
    #: ``device`` ("cpu(0)") is the text of where its result is, ``source`` that of where a copy to
    #: another device comes from, and empty for all other calls.
    calls: Table = field(
        default_factory=lambda: _table(
            op="i4",
            site="i4",
            layer="i4",
            shapes="i4",
            bytes="i8",
            thread="i4",
            begin="i8",
            end="i8",
            state="i1",
            **{"pass": "i4"},
            dropped="i8",
            cost="f8",
            device="i4",
            source="i4",
        )
    )
    #: Ordered by pass, then by ``begin``. A thread of Python runs shares too, while it waits or
    #: when the work is tiny.
    runs: Table = field(
        default_factory=lambda: _table(
            thread="i4", begin="i8", end="i8", share="i4", **{"pass": "i4"}
        )
    )
    #: Ordered by ``begin``. ``what`` is the text "read", "waitall", "run-ahead", ...
    waits: Table = field(
        default_factory=lambda: _table(thread="i4", begin="i8", end="i8", site="i4", what="i4")
    )
    #: Bytes in use by arrays, sampled.
    memory: Table = field(default_factory=lambda: _table(time="i8", bytes="i8"))
    #: What the program marked itself: ``kind`` is the text "task", "frame", "event", "marker" or
    #: "counter"; ``name`` and ``domain`` are texts; ``value`` is that of a counter.
    marks: Table = field(
        default_factory=lambda: _table(
            kind="i4", name="i4", domain="i4", thread="i4", begin="i8", end="i8", value="f8"
        )
    )

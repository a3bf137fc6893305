# SPDX-License-Identifier: Apache-2.0
"""Recordings made up from a seed: a training loop that never existed, on workers that never ran."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import numpy as onp

from afterglow.trace.recording import DROPPED, PENDING, RAN, Recording

#: Op, layer, line in /home/ada/train.py, shapes, bytes, nanoseconds of work, shares.
_STEP = [
    ("copy", "", "31 in load", "(64, 20) float32 -> (64, 20) float32", 5120, 2000, 1),
    ("dot", "net.0.dense0", "12 in forward", "(64, 20), (20, 64) -> (64, 64)", 16384, 42000, 2),
    ("add", "net.0.dense0", "12 in forward", "(64, 64), (64,) -> (64, 64)", 16384, 3000, 1),
    ("relu", "net.1.relu0", "13 in forward", "(64, 64) -> (64, 64)", 16384, 2500, 1),
    ("dot", "net.2.dense1", "14 in forward", "(64, 64), (64, 1) -> (64, 1)", 256, 30000, 2),
    ("batch_dot", "", "15 in forward", "(8, 8, 8), (8, 8, 8) -> (8, 8, 8)", 2048, 9000, 1),
    ("subtract", "", "18 in loss", "(64, 1), (64, 1) -> (64, 1)", 256, 900, 1),
    ("square", "", "18 in loss", "(64, 1) -> (64, 1)", 256, 800, 1),
    ("mean", "", "18 in loss", "(64, 1) -> (64,)", 256, 1100, 1),
]
#: Calls of a step that run as one pass, by their place in the step.
_FUSED = {2: (2, 3), 6: (6, 7, 8)}

_TABLES = ("calls", "runs", "waits", "memory", "marks")


class _Tables:
    """Rows collected by table, and texts by number."""

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self.texts = {"": 0}

    def text(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))

    def into(self, recording: Recording) -> Recording:
        recording.texts = list(self.texts)
        for name, rows in self.rows.items():
            table = getattr(recording, name)
            for column, values in zip(table, zip(*rows, strict=True), strict=True):
                table[column] = onp.array(values, table[column].dtype)
        order = onp.lexsort((recording.runs["begin"], recording.runs["pass"]))
        recording.runs = {name: column[order] for name, column in recording.runs.items()}
        for name in ("waits", "marks"):
            table = getattr(recording, name)
            order = onp.argsort(table["begin"], kind="stable")
            setattr(recording, name, {column: table[column][order] for column in table})
        return recording


def training(steps: int = 60, seed: int = 7) -> Recording:
    """Return a recording of a loop: 9 calls a step, a read each 10, a loader thread, 2 workers.

    Two groups of calls of a step run fused; every seventh step is forgotten and dropped from the
    second call on; the calls of the last step are pending.
    """
    generator = random.Random(seed)
    tables = _Tables()
    text = tables.text
    main, loader, workers = 0, 1, (2, 3)
    free = dict.fromkeys(workers, 0)
    now, passes, live = 1000, 0, 1 << 20

    def about(nanoseconds: int) -> int:
        return int(nanoseconds * generator.uniform(0.6, 1.6))

    def issue(place: int, state: int, in_pass: int) -> None:
        nonlocal now
        op, layer, line, shapes, size, work, _ = _STEP[place]
        begin, now = now, now + about(700)
        site = f"/home/ada/train.py:{line}"
        row = (text(op), text(site), text(layer), text(shapes), size, main, begin, now, state)
        dropped = now + about(9000) if state == DROPPED else -1
        tables.rows["calls"].append((*row, in_pass, dropped, work, text("cpu(0)"), 0))
        now += about(400)

    def run(places: tuple[int, ...], number: int, helped: bool = False) -> int:
        """Let the threads that are free first compute the shares; return when the last ends."""
        work, shares = sum(_STEP[place][5] for place in places), _STEP[places[0]][6]
        if helped:
            shares, free[main] = 2, now + about(300)
        ends = []
        for share in range(shares):
            thread = main if helped and share else min(workers, key=free.__getitem__)
            begin = max(free[thread], now + about(2000))
            free[thread] = begin + about(max(1, work // shares))
            tables.rows["runs"].append((thread, begin, free[thread], share, number))
            ends.append(free[thread])
        return max(ends)

    for step in range(steps):
        started = now
        dropped, pending = step % 7 == 6, step == steps - 1
        place, last = 0, now
        while place < len(_STEP):
            group = _FUSED.get(place, (place,))
            skipped = pending or (dropped and place > 0)
            state = PENDING if pending else DROPPED if skipped else RAN
            for member in group:
                issue(member, state, -1 if skipped else passes)
            reads = step % 10 == 9 and place == 6
            if not skipped:
                last = max(last, run(group, passes, helped=reads))
                passes += 1
            if reads:
                begin, now = now, max(now, last) + about(500)
                site = text("/home/ada/train.py:42 in train")
                tables.rows["waits"].append((main, begin, now, site, text("read")))
            place += len(group)
        if last - now > 200_000:
            begin, now = now, last - 100_000
            site = text("/home/ada/train.py:12 in forward")
            tables.rows["waits"].append((main, begin, now, site, text("run-ahead")))
        if step % 5 == 0:
            begin, end = started + about(1000), started + 1000 + about(4000)
            site, shapes = "/home/ada/loader.py:8 in batches", "(64, 20) -> (64, 20)"
            row = (text("array"), text(site), 0, text(shapes), 5120, loader, begin, end, RAN)
            tables.rows["calls"].append((*row, passes, -1, 2000.0, text("cpu(0)"), 0))
            tables.rows["runs"].append((loader, begin + 200, end - 200, 0, passes))
            passes += 1
        live += generator.randrange(-20000, 26000)
        tables.rows["memory"].append((now, live))
        domain = text("training")
        name = text(f"step {step % 10}")
        tables.rows["marks"].append((text("task"), name, domain, main, started, now, 0.0))
        row = (text("counter"), text("loss"), domain, main, now, now, 1.0 / (step + 1))
        tables.rows["marks"].append(row)
        if step % 10 == 9:
            row = (text("marker"), text("epoch"), domain, main, now, now, 0.0)
            tables.rows["marks"].append(row)
        now += about(1500)
    tables.rows["waits"].append(
        (main, now, max(now, *free.values()), text("/home/ada/train.py:50 in <module>"), 0)
    )
    wait = tables.rows["waits"][-1]
    tables.rows["waits"][-1] = (*wait[:4], text("waitall"))
    recording = Recording(
        duration=max(now, *free.values()) + 5000,
        start=12345,
        threads=["MainThread", "loader", "worker 0", "worker 1"],
        python_threads=2,
    )
    tables.into(recording)
    order = onp.argsort(recording.calls["begin"], kind="stable")
    recording.calls = {name: column[order] for name, column in recording.calls.items()}
    return recording


def many(events: int, seed: int = 7) -> Recording:
    """Return a recording of about this many calls, runs and waits: one loop again and again."""
    recording = training(steps=max(2, min(2000, events // 16)), seed=seed)
    tables = {name: getattr(recording, name) for name in _TABLES}
    counted = sum(len(tables[name]["begin"]) for name in ("calls", "runs", "waits"))
    times = max(1, round(events / counted))
    passes = int(recording.runs["pass"].max()) + 1
    for table in tables.values():
        for column, values in table.items():
            later = onp.repeat(onp.arange(times), len(values))
            values = onp.tile(values, times)
            if column in ("begin", "end", "time"):
                values += later * recording.duration
            elif column == "dropped":
                values += onp.where(values >= 0, later * recording.duration, 0)
            elif column == "pass":
                values += onp.where(values >= 0, later * passes, 0).astype("i4")
            table[column] = values
    recording.duration *= times
    return recording


def two_devices() -> Recording:
    """Return a recording of passes on cpu(0) and gpu(1), and copies between them.

    On cpu(0) two passes overlap. The third pass is a copy to gpu(1), the last one back.
    """
    tables = _Tables()
    text = tables.text
    passes = [
        ("dot", "cpu(0)", "", 1000, 5000),
        ("exp", "cpu(0)", "", 2000, 4000),
        ("copy", "gpu(1)", "cpu(0)", 5000, 7000),
        ("dot", "gpu(1)", "", 7000, 9000),
        ("tanh", "cpu(0)", "", 7000, 8000),
        ("copy", "cpu(0)", "gpu(1)", 9000, 9500),
    ]
    for number, (op, device, source, begin, end) in enumerate(passes):
        site, shapes = text("/home/ada/two.py:3 in step"), text("(8, 8) -> (8, 8)")
        issued = (0, 100 * number, 100 * number + 50, RAN, number, -1, 1000.0)
        row = (text(op), site, 0, shapes, 256, *issued, text(device), text(source))
        tables.rows["calls"].append(row)
        tables.rows["runs"].append((1 + number % 2, begin, end, 0, number))
    recording = Recording(
        duration=10_000, threads=["MainThread", "worker 0", "worker 1"], python_threads=1
    )
    return tables.into(recording)

# SPDX-License-Identifier: Apache-2.0
"""What follows from a recording: when passes ran, how long calls waited, how many were queued."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from .recording import DROPPED, PENDING, RAN, Recording, Table

_Array = numpy.ndarray[Any, Any]


class Passes(NamedTuple):
    """Columns by number of the pass. A pass without recorded runs begins and ends at -1."""

    #: Calls that ran in it: more than one were fused.
    members: _Array
    #: Nanoseconds of all its runs together.
    run: _Array
    begin: _Array
    end: _Array
    #: Its runs are those from ``first_run[pass]`` to ``first_run[pass + 1]``.
    first_run: _Array


def passes(recording: Recording) -> Passes:
    """Return when each pass ran and how many calls were in it."""
    of_call, of_run = recording.calls["pass"], recording.runs["pass"]
    count = 1 + int(max(of_call.max(initial=-1), of_run.max(initial=-1)))
    members = numpy.bincount(of_call[of_call >= 0], minlength=count)
    first_run = numpy.searchsorted(of_run, numpy.arange(count + 1))
    begin, end = numpy.full((2, count), -1, "i8")
    run = numpy.zeros(count, "i8")
    some = first_run[:-1] < first_run[1:]
    starts = first_run[:-1][some]
    if len(starts):
        begins, ends = recording.runs["begin"], recording.runs["end"]
        begin[some] = begins[starts]
        end[some] = numpy.maximum.reduceat(ends, starts)
        run[some] = numpy.add.reduceat(ends - begins, starts)
    return Passes(members, run, begin, end, first_run)


def ran_by(recording: Recording, by_pass: Passes) -> _Array:
    """Return which calls ran in a pass whose runs were recorded."""
    number = recording.calls["pass"]
    ran: _Array = (recording.calls["state"] == RAN) & (number >= 0)
    ran[ran] = by_pass.begin[number[ran]] >= 0
    return ran


def queue_waits(recording: Recording, by_pass: Passes) -> _Array:
    """Return how long each call lay in the queue: from the end of its issue to its first run.

    It is 0 for calls that did not run, and for those that ran while they were issued.
    """
    ran = ran_by(recording, by_pass)
    waits = numpy.zeros(len(ran), "i8")
    number = recording.calls["pass"][ran]
    waits[ran] = numpy.maximum(by_pass.begin[number] - recording.calls["end"][ran], 0)
    return waits


def queue_depth(recording: Recording, by_pass: Passes) -> tuple[_Array, _Array]:
    """Return the times at which the number of issued, unfinished calls changed, and the numbers.

    A call counts from the begin of its issue to the end of its pass or until it is dropped, a
    pending one to the end of the recording.
    """
    calls = recording.calls
    begins = calls["begin"]
    ends = numpy.where(calls["state"] == PENDING, recording.duration, calls["end"])
    ran = ran_by(recording, by_pass)
    ends[ran] = by_pass.end[calls["pass"][ran]]
    dropped = calls["state"] == DROPPED
    ends[dropped] = calls["dropped"][dropped]
    ends = numpy.maximum(ends, begins)
    times, place = numpy.unique(numpy.concatenate([begins, ends]), return_inverse=True)
    change = numpy.bincount(place[: len(begins)], minlength=len(times))
    change -= numpy.bincount(place[len(begins) :], minlength=len(times))
    return times, numpy.cumsum(change)


def device_spans(recording: Recording, by_pass: Passes) -> Table:
    """Return what devices did, as bars: nothing when there is one device only.

    A pass is a bar of the device that its results are on, from its first run to its last. A copy
    to another device is one of both; ``sent`` is then, of the device that has the copy, the number
    of the bar of the other one, and -1 for all others. Bars of a device that overlap are in
    different rows. They are ordered by ``begin``.
    """
    calls = recording.calls
    ran = numpy.flatnonzero(ran_by(recording, by_pass))
    numbers, first = numpy.unique(calls["pass"][ran], return_index=True)
    device, source = calls["device"][ran[first]], calls["source"][ran[first]]
    copies = numpy.flatnonzero(source)
    devices = numpy.concatenate([device, source[copies]])
    if len(numpy.unique(devices)) < 2:
        numbers, copies, devices = numbers[:0], copies[:0], devices[:0]
    of = numpy.concatenate([numbers, numbers[copies]])
    sent = numpy.full(len(of), -1, "i4")
    sent[copies] = numpy.arange(len(numbers), len(of))
    order = numpy.argsort(by_pass.begin[of], kind="stable")
    place = numpy.empty(len(of), "i4")
    place[order] = numpy.arange(len(of))
    sent[copies] = place[sent[copies]]
    spans = {"device": devices[order].astype("i4"), "pass": of[order].astype("i4")}
    spans |= {"begin": by_pass.begin[of[order]], "end": by_pass.end[of[order]]}
    return spans | {"sent": sent[order], "row": _rows(spans)}


def _rows(spans: Table) -> _Array:
    """Return a row for each bar, the first of its device that is free."""
    free: dict[int, list[int]] = {}
    rows = []
    columns = (spans[name].tolist() for name in ("device", "begin", "end"))
    for device, begin, end in zip(*columns, strict=True):
        ends = free.setdefault(device, [])
        row = next((row for row, last in enumerate(ends) if last <= begin), len(ends))
        ends[row : row + 1] = [end]
        rows.append(row)
    return numpy.array(rows, "i4")


def readable(nanoseconds: float) -> str:
    """Return a time with three digits and a unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= 0.9995 * size:
            return f"{_three_digits(nanoseconds / size)} {unit}"
    return f"{nanoseconds:.0f} ns"


def readable_bytes(count: float) -> str:
    """Return a number of bytes with three digits and a unit."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= 0.9995 * size:
            return f"{_three_digits(count / size)} {unit}"
    return f"{count:.0f} B"


def _three_digits(value: float) -> str:
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def short_site(site: str) -> str:
    """Return ``"file.py:42 in function"`` without the folders."""
    place, separator, function = site.rpartition(" in ")
    if not separator:
        place, function = function, ""
    return place.replace("\\", "/").rsplit("/", 1)[-1] + separator + function

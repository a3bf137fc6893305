# SPDX-License-Identifier: Apache-2.0
"""A recording in the trace-event format, which Perfetto and chrome://tracing open.

Threads are threads of one process. Issues, waits and runs are complete events (``X``), flows
(``s``, ``f``) lead from an issue to the first run. Several devices are threads of a second
process, with flows from where a copy comes from to where it goes. Queue depth, memory and counters
are counter events (``C``), dropped calls and markers instants (``i``), and tasks, frames and events
of the program asynchronous pairs (``b``, ``e``), for they may overlap. Times are microseconds.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import IO, Any, NamedTuple

import numpy

from .measures import (
    Passes,
    device_spans,
    passes,
    queue_depth,
    queue_waits,
    ran_by,
    short_site,
)
from .recording import DROPPED, Recording, Table

_Array = numpy.ndarray[Any, Any]

#: Events that are put in words at a time.
_CHUNK = 20_000
_PROCESS, _DEVICES = 1, 2
#: Members of a fused pass that are named.
_NAMED = 8


class _Source(NamedTuple):
    """Events of one sort: their times, and what turns numbers of events into texts."""

    times: _Array
    #: Of events at one time longer ones come first, so that what lies within comes later.
    lengths: _Array
    texts: Callable[[_Array], list[str]]


def write_events(recording: Recording, path: str | os.PathLike[str]) -> None:
    """Write the recording as trace events, compressed if the name ends with ``.gz``."""
    by_pass = passes(recording)
    spans = device_spans(recording, by_pass)
    with _opened(path) as file:
        file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        file.write(",\n".join(_names_of_threads(recording) + _names_of_devices(recording, spans)))
        for text in _in_order(_sources(recording, by_pass, spans)):
            file.write(",\n")
            file.write(text)
        file.write("\n]}\n")


def _opened(path: str | os.PathLike[str]) -> IO[str]:
    if os.fspath(path).endswith(".gz"):
        return gzip.open(path, "wt", 5, encoding="utf-8", newline="\n")
    return open(path, "w", encoding="utf-8", newline="\n")


def _names_of_threads(recording: Recording) -> list[str]:
    events: list[dict[str, Any]] = [{"name": "process_name", "args": {"name": "Afterglow"}}]
    for thread, name in enumerate(recording.threads):
        events.append({"name": "thread_name", "tid": thread + 1, "args": {"name": name}})
        events.append(
            {"name": "thread_sort_index", "tid": thread + 1, "args": {"sort_index": thread}}
        )
    return [json.dumps({"ph": "M", "pid": _PROCESS, "tid": 0, "ts": 0} | one) for one in events]


def _device_threads(spans: Table) -> tuple[list[tuple[int, int]], _Array]:
    """Return (text of the device, row) of each thread of devices, and the thread of each bar."""
    keys = numpy.stack([spans["device"], spans["row"]], axis=1)
    threads, of_span = numpy.unique(keys, axis=0, return_inverse=True)
    return [(device, row) for device, row in threads.tolist()], of_span.reshape(-1)


def _names_of_devices(recording: Recording, spans: Table) -> list[str]:
    threads, _ = _device_threads(spans)
    if not threads:
        return []
    events: list[dict[str, Any]] = [{"name": "process_name", "args": {"name": "devices"}}]
    names = [recording.texts[device] for device, _ in threads]
    order = sorted(range(len(threads)), key=lambda thread: (names[thread], threads[thread][1]))
    for place, thread in enumerate(order):
        row = threads[thread][1]
        name = f"{names[thread]}, row {row + 1}" if row else names[thread]
        events.append({"name": "thread_name", "tid": thread + 1, "args": {"name": name}})
        events.append(
            {"name": "thread_sort_index", "tid": thread + 1, "args": {"sort_index": place}}
        )
    return [json.dumps({"ph": "M", "pid": _DEVICES, "tid": 0, "ts": 0} | one) for one in events]


def _in_order(sources: list[_Source]) -> Iterator[str]:
    """Yield texts of all events by time, some thousands together."""
    sort = numpy.repeat(numpy.arange(len(sources)), [len(one.times) for one in sources])
    number = numpy.concatenate([numpy.arange(len(one.times)) for one in sources])
    times = numpy.concatenate([one.times for one in sources])
    lengths = numpy.concatenate([one.lengths for one in sources])
    order = numpy.lexsort((number, sort, -lengths, times))
    for start in range(0, len(order), _CHUNK):
        chunk = order[start : start + _CHUNK]
        texts = numpy.empty(len(chunk), object)
        for which, source in enumerate(sources):
            mine = sort[chunk] == which
            if mine.any():
                texts[mine] = source.texts(number[chunk[mine]])
        yield ",\n".join(texts.tolist())


def _sources(recording: Recording, by_pass: Passes, spans: Table) -> list[_Source]:
    names = [_quoted(text) for text in recording.texts]
    bars = _nested_ends(recording)
    flowing = _flowing(recording, by_pass)
    pass_names = _PassNames(recording, by_pass)
    return [
        _issues(recording, by_pass, names, bars["calls"], flowing),
        _waits(recording, names, bars["waits"]),
        _runs(recording, by_pass, names, bars["runs"], flowing, pass_names),
        *_devices(names, pass_names, spans),
        _dropped(recording, names),
        _counter(*queue_depth(recording, by_pass), "queue depth", "calls"),
        _counter(recording.memory["time"], recording.memory["bytes"], "memory", "bytes"),
        *_marks(recording, names),
    ]


#: The three digits after the point, for all nanoseconds.
_DIGITS = [f"{nanoseconds:03d}" for nanoseconds in range(1000)]


def _microseconds(nanoseconds: _Array) -> list[str]:
    whole, rest = numpy.divmod(nanoseconds, 1000)
    pairs = zip(whole.tolist(), rest.tolist(), strict=True)
    return [f"{microseconds}.{_DIGITS[digits]}" for microseconds, digits in pairs]


def _rows(number: _Array, *columns: _Array | list[str]) -> Iterator[tuple[Any, ...]]:
    """Yield these rows of columns, and with each its part of the lists, which are of these rows."""
    return zip(
        *(one if isinstance(one, list) else one[number].tolist() for one in columns), strict=True
    )


def _nested_ends(recording: Recording) -> dict[str, _Array]:
    """Return the ends of bars by table, cut where one would leave the bar it began in.

    The format wants the events of a thread to lie within one another or apart. Clocks are read one
    after the other, so a run may seem to end some nanoseconds after the wait around it.
    """
    tables = ("calls", "waits", "runs")
    ends = {name: getattr(recording, name)["end"].copy() for name in tables}
    for thread in range(len(recording.threads)):
        mine = [numpy.flatnonzero(getattr(recording, name)["thread"] == thread) for name in tables]
        begin = numpy.concatenate(
            [getattr(recording, name)["begin"][one] for name, one in zip(tables, mine, strict=True)]
        )
        end = numpy.concatenate([ends[name][one] for name, one in zip(tables, mine, strict=True)])
        sort = numpy.repeat(numpy.arange(len(tables)), [len(one) for one in mine])
        order = numpy.lexsort((sort, begin - end, begin))
        begin, end = begin[order], end[order]
        if (end[:-1] > begin[1:]).any():
            end = numpy.array(_cut(begin.tolist(), end.tolist()), "i8")
        for which, (name, one) in enumerate(zip(tables, mine, strict=True)):
            here = sort[order] == which
            ends[name][one[order[here] - (sort < which).sum()]] = end[here]
    return ends


def _cut(begins: list[int], ends: list[int]) -> list[int]:
    around: list[int] = []
    for place, begin in enumerate(begins):
        while around and around[-1] <= begin:
            around.pop()
        if around and ends[place] > around[-1]:
            ends[place] = around[-1]
        around.append(ends[place])
    return ends


def _issues(
    recording: Recording, by_pass: Passes, names: list[str], ends: _Array, flowing: _Array
) -> _Source:
    calls = recording.calls
    lines = [_quoted(short_site(text)) for text in recording.texts]
    waits = queue_waits(recording, by_pass)
    lengths = ends - calls["begin"]
    states = ("ran", "dropped", "pending")
    described = [calls[name] for name in ("op", "layer", "site", "shapes", "bytes")]
    placed = [calls[name] for name in ("thread", "state", "pass")]
    numbers = numpy.arange(len(flowing))

    def texts(number: _Array) -> list[str]:
        times = _microseconds(calls["begin"][number])
        taken, queued = _microseconds(lengths[number]), _microseconds(waits[number])
        written = []
        rows = _rows(number, *described, *placed, numbers, flowing, times, taken, queued)
        for op, layer, site, shapes, size, *rest in rows:
            thread, state, of, call, flows, time, length, wait = rest
            written.append(
                f'{{"ph":"X","cat":"issue","name":{names[op]},"pid":{_PROCESS},"tid":{thread + 1},'
                f'"ts":{time},"dur":{length},"args":{{"layer":{names[layer]},"line":{lines[site]},'
                f'"shapes":{names[shapes]},"bytes":{size},"queue wait us":{wait},'
                f'"state":"{states[state]}","pass":{of}}}}}'
            )
            if flows:
                written[-1] += _flow('"s"', call, thread, time)
        return written

    return _Source(calls["begin"], lengths, texts)


def _waits(recording: Recording, names: list[str], ends: _Array) -> _Source:
    waits = recording.waits
    lines = [_quoted(short_site(text)) for text in recording.texts]
    lengths = ends - waits["begin"]

    def texts(number: _Array) -> list[str]:
        times, taken = _microseconds(waits["begin"][number]), _microseconds(lengths[number])
        rows = _rows(number, waits["what"], waits["site"], waits["thread"], times, taken)
        return [
            f'{{"ph":"X","cat":"wait","name":"wait: {names[what][1:]},"pid":{_PROCESS},'
            f'"tid":{thread + 1},"ts":{time},"dur":{length},"args":{{"line":{lines[site]}}}}}'
            for what, site, thread, time, length in rows
        ]

    return _Source(waits["begin"], lengths, texts)


class _PassNames:
    """Names of passes, in quotes: the op, or those of the calls that were fused."""

    def __init__(self, recording: Recording, by_pass: Passes) -> None:
        calls = recording.calls
        in_pass = numpy.flatnonzero(calls["pass"] >= 0)
        #: Calls by pass, those of one pass from ``first[number]`` on.
        self.members: _Array = in_pass[numpy.argsort(calls["pass"][in_pass], kind="stable")]
        self.first: list[int] = numpy.append(0, numpy.cumsum(by_pass.members)).tolist()
        self._ops: list[int] = calls["op"][self.members].tolist()
        self._texts = recording.texts
        self._named = cache(self._name)

    def __getitem__(self, number: int) -> str:
        start, end = self.first[number], self.first[number + 1]
        return self._named(tuple(self._ops[start : min(end, start + _NAMED)]), end - start - _NAMED)

    def _name(self, ops: tuple[int, ...], more: int) -> str:
        named = [self._texts[op] for op in ops] + ([f"{more} more"] if more > 0 else [])
        return _quoted(" + ".join(named) or "pass")


def _runs(
    recording: Recording,
    by_pass: Passes,
    names: list[str],
    ends: _Array,
    flowing: _Array,
    pass_names: _PassNames,
) -> _Source:
    runs, calls = recording.runs, recording.calls
    lengths = ends - runs["begin"]
    members, first = pass_names.members, pass_names.first
    layers = calls["layer"][members].tolist()
    flows = numpy.where(flowing[members], members, -1).tolist()
    leads = by_pass.first_run[runs["pass"]] == numpy.arange(len(lengths))

    def texts(number: _Array) -> list[str]:
        times, taken = _microseconds(runs["begin"][number]), _microseconds(lengths[number])
        written = []
        rows = _rows(number, runs["pass"], runs["share"], runs["thread"], leads, times, taken)
        for of, share, thread, lead, time, length in rows:
            start, end = first[of], first[of + 1]
            layer = names[layers[start]] if end > start else '""'
            written.append(
                f'{{"ph":"X","cat":"run","name":{pass_names[of]},"pid":{_PROCESS},'
                f'"tid":{thread + 1},"ts":{time},"dur":{length},"args":{{"layer":{layer},'
                f'"share":{share},"calls":{end - start},"pass":{of}}}}}'
            )
            if lead:
                arrows = [call for call in flows[start:end] if call >= 0]
                written[-1] += "".join(_flow('"f","bp":"e"', call, thread, time) for call in arrows)
        return written

    return _Source(runs["begin"], lengths, texts)


def _devices(names: list[str], pass_names: _PassNames, spans: Table) -> Iterator[_Source]:
    """Yield the bars of devices, where arrows of copies begin, and where they end."""
    lengths = spans["end"] - spans["begin"]
    _, threads = _device_threads(spans)
    arrived = numpy.flatnonzero(spans["sent"] >= 0)
    from_device = spans["device"][spans["sent"][arrived]]

    def bars(number: _Array) -> list[str]:
        times, taken = _microseconds(spans["begin"][number]), _microseconds(lengths[number])
        rows = _rows(number, spans["pass"], spans["device"], threads, times, taken)
        return [
            f'{{"ph":"X","cat":"device","name":{pass_names[of]},"pid":{_DEVICES},'
            f'"tid":{thread + 1},"ts":{time},"dur":{length},"args":{{"device":{names[device]},'
            f'"pass":{of}}}}}'
            for of, device, thread, time, length in rows
        ]

    def ends_of_arrows(phase: str, ends: _Array, times_of: _Array) -> _Source:
        def texts(number: _Array) -> list[str]:
            rows = _rows(
                number, arrived, from_device, threads[ends], _microseconds(times_of[number])
            )
            return [
                f'{{"ph":{phase},"cat":"copy","name":"copy","id":{identity},"pid":{_DEVICES},'
                f'"tid":{thread + 1},"ts":{time},"args":{{"from":{names[device]}}}}}'
                for identity, device, thread, time in rows
            ]

        # After the bars that begin then.
        return _Source(times_of, numpy.full(len(times_of), -1), texts)

    begin, middle = spans["begin"][arrived], spans["begin"][arrived] + lengths[arrived] // 2
    yield _Source(spans["begin"], lengths, bars)
    yield ends_of_arrows('"s"', spans["sent"][arrived], begin)
    yield ends_of_arrows('"f","bp":"e"', arrived, middle)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _flowing(recording: Recording, by_pass: Passes) -> _Array:
    """Return which calls have an arrow to the first run of their pass: those issued before it."""
    flowing = ran_by(recording, by_pass)
    number = recording.calls["pass"][flowing]
    flowing[flowing] = by_pass.begin[number] > recording.calls["begin"][flowing]
    return flowing


def _flow(phase: str, call: int, thread: int, time: str) -> str:
    return (
        f',\n{{"ph":{phase},"cat":"flow","name":"issue to run","id":{call},'
        f'"pid":{_PROCESS},"tid":{thread + 1},"ts":{time}}}'
    )


def _dropped(recording: Recording, names: list[str]) -> _Source:
    calls = recording.calls
    which = numpy.flatnonzero(calls["state"] == DROPPED)

    def texts(number: _Array) -> list[str]:
        times = _microseconds(calls["dropped"][which[number]])
        rows = _rows(which[number], calls["op"], calls["thread"], times)
        return [
            f'{{"ph":"i","s":"t","cat":"dropped","name":"dropped: {names[op][1:]},'
            f'"pid":{_PROCESS},"tid":{thread + 1},"ts":{time}}}'
            for op, thread, time in rows
        ]

    return _Source(calls["dropped"][which], numpy.full(len(which), -1), texts)


def _counter(times: _Array, values: _Array, name: str, unit: str) -> _Source:
    start = f'{{"ph":"C","name":{_quoted(name)},"pid":{_PROCESS},"tid":0,"ts":'

    def texts(number: _Array) -> list[str]:
        pairs = zip(_microseconds(times[number]), values[number].tolist(), strict=True)
        return [f'{start}{time},"args":{{"{unit}":{value}}}}}' for time, value in pairs]

    return _Source(times, numpy.full(len(times), -1), texts)


def _marks(recording: Recording, names: list[str]) -> Iterator[_Source]:
    marks, texts_of = recording.marks, recording.texts
    kinds = numpy.array(texts_of, object)[marks["kind"]]
    counters = numpy.flatnonzero(kinds == "counter")
    keys = marks["domain"].astype("i8") * len(texts_of) + marks["name"]
    for key in numpy.unique(keys[counters]).tolist():
        mine = counters[keys[counters] == key]
        domain, name = texts_of[key // len(texts_of)], texts_of[key % len(texts_of)]
        title = f"{domain}: {name}" if domain else name
        # JSON has no words for these.
        mine = mine[numpy.isfinite(marks["value"][mine])]
        yield _counter(marks["begin"][mine], marks["value"][mine], title, "value")
    yield _instants(recording, names, numpy.flatnonzero(kinds == "marker"))
    numbers = numpy.arange(len(kinds))
    spans = numpy.flatnonzero((kinds != "counter") & (kinds != "marker"))
    for phase, column in (("b", "begin"), ("e", "end")):

        def texts(number: _Array, phase: str = phase, column: str = column) -> list[str]:
            times = _microseconds(marks[column][spans[number]])
            columns = (marks["kind"], marks["name"], marks["domain"], marks["thread"])
            rows = _rows(spans[number], numbers, *columns, times)
            return [
                f'{{"ph":"{phase}","cat":{names[kind]},"name":{names[name]},"id":{identity},'
                f'"pid":{_PROCESS},"tid":{thread + 1},"ts":{time},'
                f'"args":{{"domain":{names[domain]}}}}}'
                for identity, kind, name, domain, thread, time in rows
            ]

        yield _Source(marks[column][spans], numpy.full(len(spans), -1), texts)


def _instants(recording: Recording, names: list[str], which: _Array) -> _Source:
    marks = recording.marks

    def texts(number: _Array) -> list[str]:
        times = _microseconds(marks["begin"][which[number]])
        rows = _rows(which[number], marks["name"], marks["domain"], marks["thread"], times)
        return [
            f'{{"ph":"i","s":"p","cat":"marker","name":{names[name]},"pid":{_PROCESS},'
            f'"tid":{thread + 1},"ts":{time},"args":{{"domain":{names[domain]}}}}}'
            for name, domain, thread, time in rows
        ]

    return _Source(marks["begin"][which], numpy.full(len(which), -1), texts)

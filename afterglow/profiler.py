# SPDX-License-Identifier: Apache-2.0
"""MXNet's profiler over :mod:`afterglow.trace`: what ran when, and a table of what took how long.

>>> from afterglow import nd, profiler
>>> profiler.set_config(profile_all=True, filename="profile.html")
>>> profiler.set_state("run")
>>> nd.ones((2, 3)).sum().wait_to_read()
>>> profiler.set_state("stop")
>>> "sum" in profiler.dumps()
True

``profiler.dump()`` then writes the file: a page for a browser if its name ends with ``.html``, and
otherwise events that Perfetto and chrome://tracing load.
"""

from __future__ import annotations

import atexit
import json
import time
from typing import Any, NamedTuple

import numpy

from . import _core, trace
from ._package.namespace import tend
from .error import MXNetError
from .trace import Recording, recorder

__all__ = [
    "Counter",
    "Domain",
    "Event",
    "Frame",
    "Marker",
    "Task",
    "dump",
    "dump_profile",
    "dumps",
    "pause",
    "profiler_set_config",
    "profiler_set_state",
    "resume",
    "scope",
    "set_config",
    "set_kvstore_handle",
    "set_state",
    "start",
    "stop",
]

#: What set_config() takes; all but the file name and the limit are accepted and change nothing:
#: everything is recorded, and shown when asked for.
_SETTINGS: dict[str, Any] = {
    "filename": "profile.json",
    "most_events": recorder.MOST_EVENTS,
    "profile_all": False,
    "profile_symbolic": True,
    "profile_imperative": True,
    "profile_memory": False,
    "profile_api": False,
    "profile_process": "worker",
    "contiguous_dump": True,
    "continuous_dump": False,
    "dump_period": 1.0,
    "aggregate_stats": False,
    "gpu_memory_profile_filename_prefix": "gpu_memory_profile",
}
_settings = dict(_SETTINGS)


#: Which process may be meant; servers do not exist here.
_PROCESSES = {"worker": 0, "server": 1}

#: Where a marker holds, by MXNet's names.
_MARKER_SCOPES = ("global", "process", "thread", "task", "marker")


class _State:
    """What the profiler remembers of its own recordings."""

    #: The number of the profiler's own recording; another belongs to ``afterglow trace``.
    own = 0
    #: What was written last: its tables can still be asked for.
    written: Recording | None = None


def _start_own() -> None:
    recorder.start(_settings["most_events"])
    _State.own = recorder.current()


def _owns_recording() -> bool:
    return 0 < recorder.current() == _State.own


def set_config(**kwargs: Any) -> None:
    """Say where to write; ``filename`` may end with ``.json`` or ``.html``.

    MXNet's other settings are accepted: everything is recorded. ``most_events`` limits the memory
    that a recording takes, 40 bytes each.
    """
    checked = {name: _checked(name, value) for name, value in kwargs.items()}
    _settings.update(checked)


def _checked(name: str, value: Any) -> Any:
    """Return a setting in its type; texts are taken too, as MXNet does."""
    if name not in _SETTINGS:
        raise MXNetError(
            f"Cannot find argument '{name}', Possible Arguments: {', '.join(_SETTINGS)}"
        )
    default = _SETTINGS[name]
    text = str(value)
    if isinstance(default, bool):
        known = {"true": True, "1": True, "false": False, "0": False}
        if text.lower() in known:
            return known[text.lower()]
        kind = "boolean"
    elif isinstance(default, (int, float)):
        try:
            return type(default)(text)
        except ValueError:
            kind = type(default).__name__
    elif name == "profile_process" and text not in _PROCESSES:
        kind = " or ".join(_PROCESSES)
    else:
        return text
    raise MXNetError(f"Invalid Parameter format for {name} expect {kind} but value='{text}'")


def profiler_set_config(mode: str = "symbolic", filename: str = "profile.json") -> None:
    """Set the file name, as old programs do."""
    set_config(**{f"profile_{mode}": True, "filename": filename})


def set_state(state: str = "stop", profile_process: str = "worker") -> None:
    """Begin to record with "run" (or go on), and "stop"."""
    begin = {"run": True, "stop": False}[state]
    _check_process(profile_process)
    if begin:
        if not recorder.is_recording():
            _start_own()
            _State.written = None
        recorder.resume()
    elif _owns_recording():
        recorder.pause()


def _check_process(name: str) -> None:
    if _PROCESSES[name]:
        raise MXNetError("profile_process='server' was given; there are no servers to profile")


def profiler_set_state(state: str = "stop") -> None:
    """Do what :func:`set_state` does, as old programs spell it."""
    set_state(state)


def start() -> None:
    """Begin to record."""
    set_state("run")


def stop() -> None:
    """End recording; :func:`dump` and :func:`dumps` tell what was recorded."""
    set_state("stop")


def pause(profile_process: str = "worker") -> None:
    """Record nothing until :func:`resume`."""
    _check_process(profile_process)
    recorder.pause()


def resume(profile_process: str = "worker") -> None:
    """Go on after :func:`pause`."""
    _check_process(profile_process)
    recorder.resume()


def dump(finished: bool = True, profile_process: str = "worker") -> None:
    """Write what was recorded to the file of :func:`set_config`, and end it if ``finished``.

    :func:`dumps` still tells of it until the profiler runs again.
    """
    _check_process(profile_process)
    if not recorder.is_recording():
        raise MXNetError("Profiler hasn't been run. Config and start profiler first")
    recording = recorder.snapshot()
    trace.write(recording, _settings["filename"])
    if finished and _owns_recording():
        recorder.clear()
        _State.written = recording


def dump_profile() -> None:
    """Do what :func:`dump` does, as old programs spell it."""
    dump(True)


def _recorded() -> Recording:
    if recorder.is_recording():
        return recorder.snapshot()
    return _State.written or Recording()


def set_kvstore_handle(handle: Any) -> None:
    """Accept the handle of a store; there are no servers whose work could be recorded."""


def scope(name: str = "<unk>:", append_mode: bool = True) -> Any:
    """Let calls that this thread issues in a ``with`` scope belong to a layer of that name."""
    outer = _core.current_layer()
    text = name.rstrip(":")
    if append_mode and outer:
        text = f"{_core.layer_name(outer)}.{text}"
    return _core.LayerScope(_core.add_layer(text))


# --- tables ---


class _Row(NamedTuple):
    """Durations (or bytes) of all that has one name."""

    name: str
    values: numpy.ndarray[Any, Any]

    def figures(self) -> dict[str, float]:
        """Return what a table shows."""
        shown = {"Total": "sum", "Min": "min", "Max": "max", "Avg": "mean"}
        figures = {title: float(getattr(self.values, name)()) for title, name in shown.items()}
        return {"Count": len(self.values), **figures}


def _rows(names: list[str], values: numpy.ndarray[Any, Any]) -> list[_Row]:
    """Sort values by name."""
    different, places = numpy.unique(numpy.array(names, object), return_inverse=True)
    return [_Row(str(name), values[places == index]) for index, name in enumerate(different)]


def _operators(recording: Recording) -> list[_Row]:
    """Return the time that passes took; a fused pass is named after all its calls."""
    runs, calls = recording.runs, recording.calls
    if not len(runs["pass"]):
        return []
    times = numpy.bincount(runs["pass"], weights=(runs["end"] - runs["begin"]) / 1e6)
    names: list[list[str]] = [[] for _ in times]
    for ran_in, op in zip(calls["pass"].tolist(), calls["op"].tolist(), strict=True):
        if ran_in >= 0:
            names[ran_in].append(recording.texts[op])
    known = [index for index, ops in enumerate(names) if ops]  # issued while it was recorded
    return _rows(["+".join(names[index]) for index in known], times[known])


def _sections(recording: Recording) -> dict[str, list[_Row]]:
    """Return the tables of durations in milliseconds."""
    texts, waits, marks = recording.texts, recording.waits, recording.marks
    sections = {"operator": _operators(recording)}
    places = [
        f"{texts[what]} at {texts[site]}"
        for what, site in zip(waits["what"].tolist(), waits["site"].tolist(), strict=True)
    ]
    sections["wait"] = _rows(places, (waits["end"] - waits["begin"]) / 1e6)
    owners = [
        texts[domain] + ("" if texts[kind] in ("task", "counter") else f",{texts[kind]}")
        for domain, kind in zip(marks["domain"].tolist(), marks["kind"].tolist(), strict=True)
    ]
    names = [texts[name] for name in marks["name"].tolist()]
    values = numpy.where(
        marks["kind"] == (texts.index("counter") if "counter" in texts else -1),
        marks["value"],
        (marks["end"] - marks["begin"]) / 1e6,
    )
    for owner in dict.fromkeys(owners):
        chosen = [index for index, one in enumerate(owners) if one == owner]
        sections[owner.removeprefix(",")] = _rows([names[one] for one in chosen], values[chosen])
    return {title: rows for title, rows in sections.items() if rows}


def dumps(
    reset: bool = False, format: str = "table", sort_by: str = "total", ascending: bool = False
) -> str:
    """Return tables of what took how long, in milliseconds; of counters, their values."""
    for name, given, known in (
        ("format", format, ("table", "json")),
        ("sort_by", sort_by, ("total", "avg", "min", "max", "count")),
        ("ascending", ascending, (False, True)),
    ):
        supported = ", ".join(map(repr, known))
        assert given in known, f"Invalid value provided for {name}: {given}. Support: {supported}"
    recording = _recorded()
    if reset:
        _reset()
    sections = _sections(recording)
    memory = _rows(["cpu/0"] * len(recording.memory["bytes"]), recording.memory["bytes"] / 1e3)
    for rows in (*sections.values(), memory):
        rows.sort(key=lambda row: row.figures()[sort_by.capitalize()], reverse=not ascending)
    if format == "json":
        return json.dumps(
            {
                "Time": {
                    title: {row.name: row.figures() for row in rows}
                    for title, rows in sections.items()
                },
                "Memory": {"Device Storage": {row.name: row.figures() for row in memory}},
                "Unit": {"Time": "ms", "Memory": "kB"},
            },
            indent=4,
        )
    return _tables(sections, memory)


def _reset() -> None:
    """Forget what was recorded, and go on as before: running or stopped."""
    _State.written = None
    if _owns_recording():
        paused = recorder.is_paused()
        recorder.clear()
        _start_own()
        if paused:
            recorder.pause()


def _tables(sections: dict[str, list[_Row]], memory: list[_Row]) -> str:
    lines = ["", "Profile Statistics:", "\tNote the difference in units for different entries."]

    def table(title: str, rows: list[_Row], unit: str, columns: tuple[str, ...]) -> None:
        heads = ["Total Count", *(f"{column} ({unit})" for column in columns)]
        width = max(30, *(len(row.name) + 1 for row in rows))
        lines.extend([title, "=" * 17])
        lines.append(f"{'Name':<{width}}" + "".join(f"{head:>17}" for head in heads))
        lines.append(f"{'----':<{width}}" + "".join(f"{'-' * len(head):>17}" for head in heads))
        for row in rows:
            figures = row.figures()
            cells = [figures[column.split()[0].replace("Time", "Total")] for column in columns]
            numbers = [f"{figures['Count']:>17}", *(f"{cell:>17.4f}" for cell in cells)]
            lines.append(f"{row.name:<{width}}" + "".join(numbers))
        lines.append("")

    if memory:
        table("Device Storage", memory, "kB", ("Min Use", "Max Use", "Avg Use"))
    for title, rows in sections.items():
        table(title, rows, "ms", ("Time", "Min Time", "Max Time", "Avg Time"))
    return "\n".join(lines) + "\n"


# --- what programs mark themselves ---


class Domain:
    """A name that tasks, frames, counters and markers belong to."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name

    def new_task(self, name: str) -> Task:
        """Make a task of this domain."""
        return Task(self, name)

    def new_frame(self, name: str) -> Frame:
        """Make a frame of this domain."""
        return Frame(self, name)

    def new_counter(self, name: str, value: float | None = None) -> Counter:
        """Make a counter of this domain."""
        return Counter(self, name, value)

    def new_marker(self, name: str) -> Marker:
        """Make a marker of this domain."""
        return Marker(self, name)


class _Named:
    """Something that belongs to a domain, if to any."""

    def __init__(self, domain: Domain | None, name: str) -> None:
        self.name = name
        self._domain = str(domain) if domain else ""

    def __str__(self) -> str:
        return self.name

    def _mark_now(self, kind: str, *value: float) -> None:
        now = time.monotonic_ns()
        recorder.mark(kind, self.name, self._domain, now, now, *value)


class _Span(_Named):
    """Something with a beginning and an end; a ``with`` scope is both."""

    _kind = ""
    _began: int | None = None

    def start(self) -> None:
        """Begin."""
        self._began = time.monotonic_ns()

    def stop(self) -> None:
        """End; without a beginning nothing happens."""
        if self._began is not None:
            recorder.mark(self._kind, self.name, self._domain, self._began, time.monotonic_ns())
            self._began = None

    def __enter__(self) -> _Span:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Task(_Span):
    """A piece of work of the program."""

    _kind = "task"


class Frame(_Span):
    """One round of something that comes again and again, such as a batch."""

    _kind = "frame"


class Event(_Span):
    """A piece of work that belongs to no domain."""

    _kind = "event"

    def __init__(self, name: str) -> None:
        super().__init__(None, name)


class Counter(_Named):
    """A number that changes over time."""

    def __init__(self, domain: Domain, name: str, value: float | None = None) -> None:
        super().__init__(domain, name)
        self._value: float = 0
        if value is not None:
            self.set_value(value)

    def set_value(self, value: float) -> None:
        """Give it a value."""
        self._value = value
        self._mark_now("counter", float(value))

    def increment(self, delta: float = 1) -> None:
        """Add to it."""
        self.set_value(self._value + delta)

    def decrement(self, delta: float = 1) -> None:
        """Take from it."""
        self.set_value(self._value - delta)

    def __iadd__(self, delta: float) -> Counter:
        self.increment(delta)
        return self

    def __isub__(self, delta: float) -> Counter:
        self.decrement(delta)
        return self


class Marker(_Named):
    """A moment."""

    def mark(self, scope: str = "process") -> None:
        """Mark this moment."""
        if scope not in _MARKER_SCOPES:
            raise MXNetError(
                f"Invalid Input: {scope!r}, valid values are: {', '.join(_MARKER_SCOPES)}"
            )
        self._mark_now("marker")


def start_with_process() -> None:
    """Record from now on and write the file when the process ends (MXNET_PROFILER_AUTOSTART)."""
    set_state("run")
    atexit.register(_dump_the_rest)


def _dump_the_rest() -> None:
    if recorder.is_recording():  # else the program wrote the file itself
        dump()


tend(__name__)

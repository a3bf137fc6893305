# SPDX-License-Identifier: Apache-2.0
"""Honest timing: statements return before their work is done, so a clock around them lies.

:func:`timer` and :func:`benchmark` wait for the work that was issued, and tell apart how long
Python took to issue it and how long threads took to compute it.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from . import _core
from .error import ArrayTypeError, ArrayValueError

__all__ = ["Measurement", "Timer", "benchmark", "timer"]

#: A sample of :func:`benchmark` takes at least so long: the clock and the wait cost microseconds.
_SHORTEST_SAMPLE = 1e-3
#: Even a function that takes longer than the time allowed is measured so many times.
_FEWEST_SAMPLES = 3


class Timer:
    """Times a ``with`` block and the work that this thread issues in it.

    ::

        with mx.timer() as t:
            y = mx.nd.dot(x, x)
        print(t)  # issued in 0.02 ms, finished after 84.1 ms, 163 ms of computing

    The end of the block waits for that work, and for no other. Failures are kept as always, for
    whoever reads the array. A block that raises is not waited for. A timer can be used again, and
    timers can be nested. All times are seconds, ``nan`` until they are known.
    """

    #: That Python spent in the block. If the block reads values, this contains the waiting.
    issue: float
    #: From the start of the block until everything issued in it was finished.
    total: float
    #: That threads spent computing what was issued in the block, added up over threads.
    run: float

    def __init__(self) -> None:
        self.issue = self.total = self.run = math.nan
        self._batch: _core.Batch | None = None

    def __enter__(self) -> Self:
        if self._batch is not None:
            raise RuntimeError("this timer is running already; nested blocks need one each")
        self.issue = self.total = self.run = math.nan
        self._batch = _core.Batch()
        self._batch.begin()
        self._start = time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.issue = time.perf_counter() - self._start
        batch, self._batch = self._batch, None
        assert batch is not None
        batch.end()
        if kind is None:
            batch.wait()
            self.total = time.perf_counter() - self._start
            self.run = batch.computing_nanoseconds() * 1e-9

    def __str__(self) -> str:
        if math.isnan(self.issue):
            return "not finished"
        issued = f"issued in {_duration(self.issue)}"
        if math.isnan(self.total):
            return f"{issued}, not finished"
        return (
            f"{issued}, finished after {_duration(self.total)}, {_duration(self.run)} of computing"
        )

    def __repr__(self) -> str:
        return f"<Timer: {self}>"

    def _repr_html_(self) -> str:
        from .notebooks.display import figures_html

        times = {"issued in": self.issue, "finished after": self.total, "computing": self.run}
        return figures_html("Timer", ((name, _known(one)) for name, one in times.items()))


def timer() -> Timer:
    """Return a timer for a ``with`` block; see :class:`Timer`."""
    return Timer()


class Measurement:
    """What :func:`benchmark` found. All times are seconds per call."""

    def __init__(self, name: str, calls: int, timers: list[Timer]) -> None:
        #: The name of the function.
        self.name = name
        #: How many calls each sample is made of.
        self.calls = calls
        #: From the issue of a call until its work was finished, one number per sample.
        self.samples = [timer.total / calls for timer in timers]
        #: Their median.
        self.median = statistics.median(self.samples)
        #: The lower and the upper quartile: half of the samples lie between them.
        self.quartiles = _quartiles(self.samples)
        #: That Python spent in a call, the median.
        self.issue = statistics.median(timer.issue / calls for timer in timers)
        #: That threads spent computing for a call, added up over threads, the median.
        self.run = statistics.median(timer.run / calls for timer in timers)

    def __str__(self) -> str:
        low, high = self.quartiles
        samples = f"{len(self.samples)} sample{'s' if len(self.samples) > 1 else ''}"
        calls = f"{self.calls} call{'s' if self.calls > 1 else ''}"
        return (
            f"{self.name}: {_duration(self.median)} ({_duration(low)} to {_duration(high)}), "
            f"issued in {_duration(self.issue)}, {_duration(self.run)} of computing; "
            f"{samples} of {calls}"
        )

    def __repr__(self) -> str:
        return f"<Measurement of {self}>"

    def _repr_html_(self) -> str:
        from .notebooks.display import figures_html

        times = {"median": self.median, "lower quartile": self.quartiles[0]}
        times |= {"upper quartile": self.quartiles[1], "issued in": self.issue}
        times |= {"computing": self.run}
        counts = {"samples": len(self.samples), "calls in each": self.calls}
        rows = {name: _duration(one) for name, one in times.items()}
        rows |= {name: str(count) for name, count in counts.items()}
        return figures_html(f"benchmark of {self.name}", rows.items())


def benchmark(
    function: Callable[..., Any],
    *arguments: Any,
    samples: int = 21,
    seconds: float = 5.0,
    calls: int | None = None,
) -> Measurement:
    """Call ``function(*arguments)`` again and again and tell how long it takes.

    The time of a sample ends when everything that its calls have issued is finished, also work in
    place, and when the arrays in the last result are ready. All results of a sample are kept until
    then, so that none is dropped uncomputed. After calls to warm up there are as many ``calls`` in
    each sample as take a millisecond, and as many ``samples`` as fit into the ``seconds``, but at
    least three. A failure is raised.
    """
    if not callable(function):
        raise ArrayTypeError(
            f"[benchmark] got {type(function).__name__}; needed is a function. The result of a "
            "call is computed already, or queued: write benchmark(lambda: ...)"
        )
    for name, count in {"samples": samples, "calls": 1 if calls is None else calls}.items():
        if not isinstance(count, int) or count < 1:
            raise ArrayValueError(f"[benchmark] {name} must be a positive integer, got {count!r}")
    if not isinstance(seconds, (int, float)) or not seconds > 0:
        raise ArrayValueError(f"[benchmark] seconds must be a positive number, got {seconds!r}")

    first = _sample(function, arguments, 1)
    if calls is None:
        slow = first.total >= 10 * _SHORTEST_SAMPLE  # once is enough to warm up
        calls = 1 if slow else _calls_per_sample(function, arguments)
    end = time.perf_counter() + seconds
    timers: list[Timer] = []
    while len(timers) < samples and (len(timers) < _FEWEST_SAMPLES or time.perf_counter() < end):
        timers.append(_sample(function, arguments, calls))
    return Measurement(_name(function), calls, timers)


def _sample(function: Callable[..., Any], arguments: tuple[Any, ...], calls: int) -> Timer:
    collecting = gc.isenabled()
    gc.disable()  # or its runs would be among the times, now and then
    try:
        timer = Timer()
        with timer:
            results = [function(*arguments) for _ in range(calls)]
        # What a call let other threads issue is ready when its result is.
        for array in _arrays_in(results[-1]):
            array.wait_to_read()
        timer.total = time.perf_counter() - timer._start
        return timer
    finally:
        if collecting:
            gc.enable()


def _calls_per_sample(function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    """Return how many calls take long enough to be timed; trying them out warms up as well."""
    calls = 1
    while True:
        taken = min(_sample(function, arguments, calls).total for _ in range(2))
        if taken >= _SHORTEST_SAMPLE:
            return calls
        # Not many more at once: these calls may have been slow by accident.
        calls *= min(10, max(2, math.ceil(1.2 * _SHORTEST_SAMPLE / max(taken, 1e-9))))


def _arrays_in(result: Any) -> Iterator[_core.Array]:
    if isinstance(result, _core.Array):
        yield result
    elif isinstance(result, Mapping):
        for value in result.values():
            yield from _arrays_in(value)
    elif isinstance(result, (list, tuple)):
        for value in result:
            yield from _arrays_in(value)


def _quartiles(samples: list[float]) -> tuple[float, float]:
    if len(samples) < 2:
        return samples[0], samples[0]
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return low, high


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", type(function).__name__)


def _known(seconds: float) -> str:
    return "not finished" if math.isnan(seconds) else _duration(seconds)


def _duration(seconds: float) -> str:
    """Write a time with three digits in the unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 0.9995:
            return f"{_digits(seconds * scale)} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def _digits(number: float) -> str:
    return f"{number:.0f}" if number >= 99.95 else f"{number:.3g}"

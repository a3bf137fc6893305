# SPDX-License-Identifier: Apache-2.0
"""What becomes of wrong calls: the class and the text of the error, or the answer."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as onp

import afterglow as mx
from afterglow import autograd

from .lines import Line, of_unwritten, outcome
from .more import MORE
from .tables import RECORDS, Record, Sample, public_names
from .ways import parameters_of

#: In place of an array.
NO_ARRAYS: dict[str, Any] = {
    "None": None,
    "text": "text",
    "a dict": {"a": 1},
    "a list": [1.5, 2.5],
    "a ragged list": [[1], [2, 3]],
    "a number": 2.5,
    "NumPy's array": onp.ones((3, 4), "float32"),
    "NumPy's complex array": onp.ones((2,), "complex64"),
}
#: In place of any other argument.
NO_PARAMETERS: dict[str, Any] = {
    "None": None,
    "text": "text",
    "-57": -57,
    "2.5": 2.5,
    "()": (),
    "(0, 0)": (0, 0),
    "an array": mx.nd.ones((2,)),
    "2**70": 2**70,
}
VARIADIC = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
SHAPES: tuple[tuple[int, ...], ...] = ((), (0,), (7,), (5, 7), (2, 1, 3, 2, 2))


def lines(wanted: Callable[[str], bool]) -> Iterator[Line]:
    """Yield the lines of all functions that are wanted."""
    seen: set[str] = set()
    for record in [*RECORDS, *MORE]:
        if wanted(record.name) and record.name not in seen:
            seen.add(record.name)
            for case, call in _wrong(record):
                mx.random.seed(7)
                found = outcome(call)
                text = of_unwritten(found) if "empty" in record.name else found
                yield Line("errors", record.name, case, text)
    for name in public_names():
        function = _find(name)
        if wanted(name) and name not in seen and inspect.isroutine(function) and _is_safe(name):
            yield Line("errors", name, "no argument", outcome(function))
            yield Line("errors", name, "text", outcome(function, "text"))
            yield Line("errors", name, "unknown keyword", outcome(function, no_such_keyword=1))


def _find(name: str) -> Any:
    found: Any = mx
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _is_safe(name: str) -> bool:
    """Whether a name can be called without an effect on the process or its files."""
    return not any(part in name for part in ("np_", "_np", "seed", "save", "printoptions", "gpu"))


def _wrong(record: Record) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield wrong calls, and what is wrong with them."""
    dtype = record.types[0]
    hosts = record.hosts(dtype)

    def with_hosts(hosts: list[Any], **more: Any) -> Callable[[], Any]:
        return lambda: record.call(record.arrays(hosts), **more)

    def with_arrays(change: Callable[[list[Any]], None], recording: bool = False) -> Any:
        def run() -> Any:
            arrays = record.arrays(hosts)
            change(arrays)
            with autograd.record() if recording else autograd.pause():
                return record.call(arrays)

        return run

    yield "no argument", record.function
    yield "unknown keyword", with_hosts(hosts, no_such_keyword=1)
    yield "one argument too many", lambda: _with_more(record, hosts, 40)
    for number, host in enumerate(hosts):
        for shape in SHAPES:
            other = [*hosts]
            other[number] = onp.ones(shape, host.dtype)
            yield f"array {number} of {shape}", with_hosts(other)
        for name, value in NO_ARRAYS.items():
            yield f"array {number} is {name}", with_arrays(_setter(number, value))
        yield f"array {number} of the other world", with_arrays(_to_other_world(number))
        yield (
            f"array {number} of the other world, recorded",
            with_arrays(_to_other_world(number), recording=True),
        )
        yield f"array {number} as a symbol", with_arrays(_setter(number, mx.sym.var("x")))
    yield from _wrong_parameters(record, hosts)


def _wrong_parameters(record: Record, hosts: list[Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield calls with wrong arguments that are no arrays."""

    def call(place: int | str, wrong: Any) -> Any:
        args, keywords = record.filled(record.arrays(hosts))
        if isinstance(place, int):
            args[place] = wrong
        else:
            keywords[place] = wrong
        return record.function(*args, **keywords)

    parameters = list(parameters_of(record.function).items())
    optional = [name for name, one in parameters[len(record.args) :] if one.kind not in VARIADIC]
    places = [place for place, value in enumerate(record.args) if not _has_arrays(value)]
    keywords = [name for name in optional if not _has_arrays(record.keywords.get(name))]
    anywhere: list[int | str] = [*places, *keywords]
    for place in anywhere:
        for name, wrong in NO_PARAMETERS.items():
            yield f"argument {place} is {name}", functools.partial(call, place, wrong)


def _has_arrays(value: Any) -> bool:
    return isinstance(value, (Sample, list))


def _with_more(record: Record, hosts: list[Any], count: int) -> Any:
    args, keywords = record.filled(record.arrays(hosts))
    return record.function(*args, *range(count), **keywords)


def _setter(number: int, value: Any) -> Callable[[list[Any]], None]:
    def change(arrays: list[Any]) -> None:
        arrays[number] = value

    return change


def _to_other_world(number: int) -> Callable[[list[Any]], None]:
    def change(arrays: list[Any]) -> None:
        one = arrays[number]
        is_np = isinstance(one, mx.np.ndarray)
        arrays[number] = one.as_nd_ndarray() if is_np else one.as_np_ndarray()

    return change

# SPDX-License-Identifier: Apache-2.0
"""The records: all types and ways of calling, mixed types, other shapes, other parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from .lines import Line, of_unwritten, outcome
from .more import MORE
from .tables import RECORDS, Record, Sample
from .ways import WAYS, Call, parameters_of

TYPES = ("float32", "float64", "float16", "int32", "int64", "int8", "uint8", "bool")
#: Types of the first array and of all others.
MIXED = (
    ("float32", "int32"),
    ("int32", "float32"),
    ("float16", "float32"),
    ("float64", "float16"),
    ("uint8", "int8"),
    ("bool", "float32"),
)
SHAPES = ((), (0,), (1,), (0, 3), (5,), (2, 3), (2, 3, 2), (1, 2, 3, 2))
#: Values of parameters of any name, and those that are words.
VALUES = (True, False, 0, 1, 2, -1, 0.5, (0, 1), (1, 0))
WORDS = {
    "act_type": ("relu", "sigmoid", "tanh", "softrelu", "softsign", "selu", "gelu", "rrelu"),
    "blank_label": ("first", "last"),
    "indexing": ("xy", "ij"),
    "interpolation": ("linear", "lower", "higher", "midpoint", "nearest"),
    "mode": ("clip", "wrap", "raise", "constant", "edge", "reflect", "instance", "channel"),
    "normalization": ("null", "batch", "valid"),
    "ord": ("fro", "nuc", "inf"),
    "out_dtype": ("float64", "int32"),
    "ret_typ": ("value", "indices", "mask", "both"),
    "side": ("left", "right"),
}
#: Parameters that have lines of their own.
TOLD = ("out", "dtype", "ctx", "device", "name")


def lines(wanted: Callable[[str], bool]) -> Iterator[Line]:
    """Yield the lines of all functions that are wanted."""
    seen: set[str] = set()
    for record in [*RECORDS, *MORE]:
        if not wanted(record.name):
            continue
        cases = _of_record(record)
        if record.name not in seen:
            cases = [*cases, *_of_parameters(record)]
        seen.add(record.name)
        for case, found in cases:
            text = of_unwritten(found) if "empty" in record.name else found
            yield Line("bits", record.name, case, text)


def free_of(record: Record) -> list[int]:
    """Return the numbers of the arrays whose type may be another one."""
    return [number for number, sample in enumerate(record.samples()) if sample.dtype is None]


def _of_record(record: Record) -> list[tuple[str, str]]:
    """Return what becomes of a record with all types, mixed types and other shapes."""
    found: list[tuple[str, str]] = []

    def add(case: str, hosts: list[Any], ways: Iterator[str]) -> None:
        call = Call(record, hosts, free)
        for way in ways:
            text = WAYS[way](call)
            if text is not None:
                found.append((f"{text_of(record)} {case} {way}", text))

    samples, free = record.samples(), free_of(record)
    for dtype in TYPES if free else ("float32",):
        add(dtype, record.hosts(dtype), iter(WAYS))
    for one, other in MIXED if len(free) > 1 else ():
        hosts, others = record.hosts(one), record.hosts(other)
        for number in free[1:]:
            hosts[number] = others[number]
        add(f"{one} and {other}", hosts, iter(("value", "gradient")))
    if samples and all(sample.values is None for sample in samples):
        for shape in SHAPES:
            hosts = record.hosts("float32", shape)
            add(f"of {shape}", hosts, iter(("value", "gradient")))
    if "dtype" in parameters_of(record.function) and "dtype" not in record.keywords:
        call = Call(record, record.hosts("float32"), free)
        for result_type in (*TYPES, None):
            text = outcome(call.apply, call.arrays(), dtype=result_type)
            found.append((f"{text_of(record)} dtype={result_type}", text))
    return found


def _of_parameters(record: Record) -> list[tuple[str, str]]:
    """Return what each parameter that the record leaves alone does with a few values."""
    found: list[tuple[str, str]] = []
    hosts, free = record.hosts(record.types[0]), free_of(record)
    for name, parameter in [*parameters_of(record.function).items()][len(record.args) :]:
        if name in TOLD or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        for value in (*VALUES, *WORDS.get(name, ())):
            changed = dataclasses.replace(record, keywords={**record.keywords, name: value})
            if len(changed.samples()) == len(hosts):
                call = Call(changed, hosts, free)
                found.append((f"{name}={value!r}", call.gradient() or call.value()))
    return found


def text_of(record: Record) -> str:
    """Return how a record calls its function."""
    parts = [_argument(value) for value in record.args]
    parts += [f"{name}={_argument(value)}" for name, value in record.keywords.items()]
    return f"({', '.join(parts)})"


def _argument(value: Any) -> str:
    if isinstance(value, Sample):
        return f"{'x'.join(map(str, value.shape))}{f':{value.dtype}' if value.dtype else ''}"
    if isinstance(value, list):
        return f"[{', '.join(map(_argument, value))}]"
    return repr(value)

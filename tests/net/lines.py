# SPDX-License-Identifier: Apache-2.0
"""The lines of a recording: outcomes as text, and files of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as onp

import afterglow as mx

#: The folder of the project, which texts do not name.
ROOT = Path(__file__).parents[2]

#: What is different in every run, in every place or after every edit, and what is written for it.
_PASSING = [
    (re.compile(r"\n\s*issued at [^\n]*"), ""),
    (re.compile(re.escape(str(ROOT)) + r"/?"), ""),
    (re.compile(r"\b0x[0-9a-f]+"), "0x..."),
    (re.compile(r"\bline \d+"), "line ..."),
    (re.compile(r"\.py:\d+"), ".py:..."),
    (re.compile(r"\b([a-z]+)\d+(?=_)"), r"\1..."),  # blocks are counted as they are made
]


class Seen(str):
    """What was shown of a result before it may have changed."""

    __slots__ = ()


class Line(NamedTuple):
    """What became of one case."""

    kind: str
    subject: str
    case: str
    outcome: str

    @property
    def key(self) -> tuple[str, str, str]:
        """All but the outcome."""
        return self[:3]


def without_what_passes(text: str) -> str:
    """Return a text without addresses, places and line numbers, in one line."""
    for pattern, replacement in _PASSING:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def digest(content: bytes) -> str:
    """Return 16 digits that stand for the content."""
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _of_host(kind: str, host: Any) -> str:
    """Return the type, the shape and a digest of the bits, and about how large the values are.

    The size lets a comparison tell other values from other last bits. The bits of nan are free.
    """
    host = onp.ascontiguousarray(host).reshape(onp.shape(host))
    size = ""
    if host.dtype.kind in "fc":
        host = onp.where(onp.isnan(host), onp.array(onp.nan, host.dtype), host)
    if host.dtype.kind in "fiub":
        wide = onp.nan_to_num(host.astype("float64"), nan=7.0, posinf=11.0, neginf=-13.0).reshape(
            -1
        )
        weights = onp.linspace(1, 2, wide.size) * onp.where(wide < 0, 1.5, 1)
        size = f" ~{float((onp.abs(wide) * weights).sum()):.6g}"
    return f"{kind} {host.dtype} {host.shape} {digest(host.tobytes())}{size}"


def shown(value: Any) -> Seen:
    """Return what can be seen of a result."""
    return value if isinstance(value, Seen) else Seen(_shown(value))


def _shown(value: Any) -> str:
    if isinstance(value, mx.nd.NDArray):
        return _of_host(type(value).__name__, value.asnumpy())
    if isinstance(value, (onp.ndarray, onp.generic)):
        return _of_host("numpy", onp.asarray(value))
    if isinstance(value, mx.sym.Symbol):
        return f"{type(value).__name__} {digest(value.tojson().encode())}"
    if isinstance(value, (list, tuple)):
        brackets = "[]" if isinstance(value, list) else "()"
        return f"{brackets[0]}{'; '.join(map(shown, value))}{brackets[1]}"
    if isinstance(value, dict):
        return "{" + "; ".join(f"{key}: {shown(part)}" for key, part in value.items()) + "}"
    return without_what_passes(repr(value))


def outcome(call: Callable[..., Any], *args: Any, **keywords: Any) -> Seen:
    """Return what a call gives when it is read, or which error it raises."""
    try:
        return shown(call(*args, **keywords))
    except Exception as error:
        return problem(error)


def problem(error: Exception) -> Seen:
    """Return the classes and the text of an error."""
    classes = [kind.__name__ for kind in type(error).__mro__[:-2] if kind is not Exception]
    return Seen(f"{'/'.join(classes)}: {without_what_passes(str(error))}")


def of_unwritten(text: str) -> str:
    """Return an outcome without the values, which are those of memory that nobody has written."""
    return re.sub(r" [0-9a-f]{16}( ~\S+?)?(?=[];)]|$)", "", text)


def write(path: Path, lines: Iterator[Line]) -> dict[str, int]:
    """Write a recording, and return how many lines of each kind there are."""
    counts: dict[str, int] = {}
    seen: dict[tuple[str, str, str], int] = {}
    # A line at a time: the last one tells where a process ended.
    with path.open("w", encoding="utf-8", buffering=1) as file:
        for line in lines:
            seen[line.key] = seen.get(line.key, 0) + 1
            if seen[line.key] > 1:
                line = line._replace(case=f"{line.case} #{seen[line.key]}")
            print(*line, sep="\t", file=file)
            counts[line.kind] = counts.get(line.kind, 0) + 1
    return counts


def read(path: Path) -> dict[tuple[str, str, str], str]:
    """Return the outcomes of a recording by what they are outcomes of."""
    lines = (Line(*text.split("\t")) for text in path.read_text(encoding="utf-8").splitlines())
    return {line.key: line.outcome for line in lines}
